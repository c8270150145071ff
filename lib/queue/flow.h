/*
 * flow.h: flows, jobs that wait for jobs, as pure encoders and decoders (queue.h says how they are
 * used). doc/protocol.md says what a flow is and what its hash holds.
 */
#ifndef LATER_FLOW_H
#define LATER_FLOW_H

#include "job/document.h"
#include "queue/queue.h"

/* clang-format off */
/* @bounds part_max,flow_max: #define {constant} {number} /@ {help} @/ */
#define LATER_FLOW_BATCH 200 /* jobs of a flow in one call */
#define LATER_FLOW_JOBS 1000000 /* jobs of a flow */
/* @end */
/* clang-format on */
#define LATER_FLOW_KEPT 86400 /* seconds for which a flow that has ended is kept */

/* --- push --- */

/* One job. All is borrowed. `item` has no options but in, at and priority. */
struct later_flow_job {
    const char *step;  /* "" = none */
    const char *after; /* steps with commas between, or "*"; "" = it waits for nothing */
    const char *when;  /* "done", "ended", "failed" */
    struct later_push_item item;
};

/* What is said of the flow itself. */
struct later_flow_call {
    const char *name;
    const char *adder; /* the running job of the flow that adds to it; "" = none */
    bool close;        /* no more is added after this call */
};

/* At most LATER_FLOW_BATCH jobs; none only closes the flow. To repeat it is safe. */
void later_flow_push(struct later_command *cmd, const struct later_keys *keys,
                     const struct later_flow_call *call, const struct later_flow_job *jobs,
                     size_t count);

/* Was nothing pushed, since the flow is closed? */
bool later_flow_was_closed(const struct later_reply *reply);

/* How job i went: as later_queue_pushed(), with the state "waiting" for a new job that waits. */
int later_flow_pushed(const struct later_reply *reply, size_t i, const char **state);

/* --- what a job gets from those that it has waited for --- */

/* Asks for what the job `id` gets that waited in the flow `name`: values of at most `most` bytes,
 * up to LATER_FLOW_VALUES, all together. */
#define LATER_FLOW_VALUES 1048576
void later_flow_values(struct later_command *cmd, const struct later_keys *keys, const char *name,
                       const char *id, size_t most);

/* Returns the value of a step, JSON, borrowed from the reply; NULL if it gave none, if the job did
 * not wait for it, or if it is not JSON. */
const char *later_flow_value(const struct later_reply *reply, const char *step, size_t *len);

/* Returns the counts of the flow and the ids that failed, JSON, borrowed; NULL if the job did not
 * wait for all others. */
const char *later_flow_all(const struct later_reply *reply, size_t *len);

/* Makes {"STEP":VALUE,…}, without line ends, of all steps whose values fitted: `null` for one that
 * gave none. Returns malloc'ed bytes; NULL without memory. */
char *later_flow_values_text(const struct later_reply *reply, size_t *len);

/* Returns the first step whose value did not fit, borrowed; NULL if all did. */
const char *later_flow_left_out(const struct later_reply *reply);
/* --- jobs in other queues: each is announced in the queue of the flow, then parked in its own ---
 */

/* Announces jobs to the flow; jobs[i] will be in queues[i], a queue or a shard. Otherwise as
 * later_flow_push(). */
void later_flow_join(struct later_command *cmd, const struct later_keys *keys,
                     const struct later_flow_call *call, const struct later_flow_job *jobs,
                     const char *const *queues, size_t count);

/* How job i went: LATER_IS_PUSHED if it is to be parked, with its number; else
 * LATER_IS_KNOWN with its state in the flow. Both texts are the reply's. */
int later_flow_joined(const struct later_reply *reply, size_t i, const char **state);

/* Where jobs are parked, and for which flow. home: its queue. */
struct later_flow_park {
    const char *name, *home;
    bool seek;      /* only those that are there already */
    uint64_t epoch; /* of the plan of shards */
};

/* Parks jobs in the queue or shard of `keys`; numbers[i]: from later_flow_joined(). The reply is
 * for later_flow_pushed(). To repeat it is safe. */
void later_flow_park(struct later_command *cmd, const struct later_keys *keys,
                     const struct later_flow_park *park, const struct later_flow_job *jobs,
                     const char *const *numbers, size_t count);

/* --- news of flows, on its way between queues (the script flow_hear) --- */

#define LATER_NEWS_MAX 500 /* in one call */

/* Asks for the first news of a queue with a number above this one, at most `most` pieces up to
 * LATER_NEWS_MAX. */
void later_flow_news(struct later_command *cmd, const struct later_keys *keys, uint64_t above,
                     size_t most);

/* What a mover has to know of a piece of news. */
struct later_news {
    uint64_t number;
    char queue[LATER_QUEUE_MAX + 1]; /* the one that is to hear it */
    bool is_job;                     /* for that queue, which may have had none before */
};

/* False: it is none of ours, and has no queue. It may have a number. */
bool later_flow_news_read(struct later_news *news, const char *text);

/* Tells a queue (keys) the news of another one. */
void later_flow_hear(struct later_command *cmd, const struct later_keys *keys, const char *from,
                     const char *const *news, size_t count);

/* Removes it where it was. */
void later_flow_heard(struct later_command *cmd, const struct later_keys *keys,
                      const char *const *news, size_t count);

/* Has flows of the queue look after jobs of other queues. */
void later_flow_seek(struct later_command *cmd, const struct later_keys *keys);

/* --- how long flows are kept --- */

/* Sets for how many seconds flows that the queue will have are kept when they have ended
 * (`flows_kept` of `stats`): HSET; or HDEL if it is LATER_FLOW_KEPT, which holds without it. */
void later_flow_keep(struct later_command *cmd, const struct later_keys *keys, double seconds);

/* --- look --- */

/* How many jobs of a flow there are in each state, those with `*` among them. */
struct later_flow_sizes {
    bool exists, closed;
    double made; /* UNIX seconds */
    uint64_t total, open, waiting, dead, done, gone, skipped;
};

void later_flow_look(struct later_command *cmd, const struct later_keys *keys, const char *name);
void later_flow_looked(const struct later_reply *reply, struct later_flow_sizes *sizes);

/* In a word: open (more may be added), running, blocked (all that is left waits for a dead job),
 * done, or ended (some jobs are gone). */
const char *later_flow_state(const struct later_flow_sizes *sizes);

/* Asks for the names of flows from this rank on, at most `limit`, oldest end first: name, score …
 */
void later_flow_names(struct later_command *cmd, const struct later_keys *keys, uint64_t rank,
                      size_t limit);

/* One job, as a field `j:ID` of the flow's hash and its value tell it. */
struct later_flow_member {
    char state; /* w o x d g l s: doc/protocol.md */
    char id[LATER_ID_SIZE];
    char step[LATER_FLOW_MAX + 1]; /* "" = none */
    char when[8];
    const char *after;               /* borrowed from the value, after_len bytes */
    size_t after_len;                /* 0: it waits for nothing */
    char queue[LATER_QUEUE_MAX + 1]; /* the one that it lies in; "" = that of the flow */
};

/* Asks for fields of the hash from a cursor on (HSCAN): a new cursor, and fields with values. */
void later_flow_scan(struct later_command *cmd, const struct later_keys *keys, const char *name,
                     const char *cursor);

/* Reads a field and its value. False: it tells of no job. */
bool later_flow_member(const char *field, const char *value, struct later_flow_member *member);

/* The word for a state: waiting, open, dead, done, gone, lost, skipped. */
const char *later_flow_word(char state);

#endif
