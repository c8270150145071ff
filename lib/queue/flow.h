/*
 * flow.h: flows, jobs that wait for jobs, as pure encoders and decoders (queue.h says how they are
 * used). doc/protocol.md says what a flow is and what its hash holds.
 */
#ifndef LATER_FLOW_H
#define LATER_FLOW_H

#include "queue/queue.h"

#define LATER_FLOW_MAX   64      /* bytes of the name of a flow or a step */
#define LATER_FLOW_JOBS  1000000 /* jobs of a flow */
#define LATER_FLOW_BATCH 200     /* jobs in one push */
#define LATER_FLOW_KEPT  86400   /* seconds that a flow is kept after its end */

/* --- push --- */

/* One job. All is borrowed. `item` has no options but in, at and priority. */
struct later_flow_job {
    const char *step;  /* "" = none */
    const char *after; /* steps with commas between, or "*"; "" = it waits for nothing */
    const char *when;  /* "done", "ended", "failed" */
    struct later_push_item item;
};

/* What is said of the flow itself. keep: for how many seconds it is kept after its end. */
struct later_flow_call {
    const char *name;
    const char *adder; /* the running job of the flow that adds to it; "" = none */
    bool close;        /* no more is added after this call */
    double keep;
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
    char state; /* w o x d g s: doc/protocol.md */
    char id[LATER_ID_SIZE];
    char step[LATER_FLOW_MAX + 1]; /* "" = none */
    char when[8];
    const char *after; /* borrowed from the value; "" = none */
};

/* Asks for fields of the hash from a cursor on (HSCAN): a new cursor, and fields with values. */
void later_flow_scan(struct later_command *cmd, const struct later_keys *keys, const char *name,
                     const char *cursor);

/* Reads a field and its value. False: it tells of no job. */
bool later_flow_member(const char *field, const char *value, struct later_flow_member *member);

/* The word for a state: waiting, open, dead, done, gone, skipped. */
const char *later_flow_word(char state);

#endif
