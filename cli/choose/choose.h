/*
 * choose.h: finds the jobs of a queue that match a filter (filter.h). It has the options that
 * describe the filter, and the walk that finds the jobs page by page while the queue is in use.
 *
 * A job that keeps its state during the walk is found exactly once. A job that entered its state
 * after the walk began is left out if its score shows that; a score beyond Redis's clock, as a
 * program's own clock may give it, does not.
 */
#ifndef LATER_CLI_CHOOSE_H
#define LATER_CLI_CHOOSE_H

#include "job/filter.h"
#include "choose/pace.h"
#include "output/progress.h"
#include "queue/inspect.h"
#include "queue/queue.h"
#include "queue_list.h"

/* Rows for a table of options: the conditions, and then the other options of commands that
 * choose. */
#define CHOOSE_OPTIONS                                                                             \
    { "state", 0, "STATE", "in this state (any but done)" },                                       \
        { "type", 0, "GLOB", "of types such as 'mail.*'; several: of any" },                       \
        { "older", 0, "DURATION", "ready, dead or done for longer than this" },                    \
        { "newer", 0, "DURATION", "ready, dead or done for less than this" },                      \
        { "error", 0, "REGEX", "whose last error matches" },                                       \
        { "kind", 0, "KIND", "of error, such as timeout; several: of any; see later(1)" },         \
        { "host", 0, "NAME", "whose last error is from this host" },                               \
        { "attempts", 0, "N", "with this many attempts: 3, '>3', '<=3'" },                         \
        { "priority", 0, "N", "of this priority: 5, '>0', '<=-1'" },                               \
        { "where", 0, "PATH=VALUE",                                                                \
          "with this value: payload.tenant=42; several must all match" },                          \
        { "text", 0, "STRING", "with this text in the document" },                                 \
        { "not", 0, "NAME:VALUE", "that do not meet this: type:mail.*; several: none of them" },   \
        { "number", 'n', "N", "at most N jobs, the first ones" },                                  \
        { "queue", 'q', "Q", "of this queue" }, { "all-queues", 'A', NULL, "of all queues" },      \
    {                                                                                              \
        "progress", 0, NULL, "with --json: lines that report progress"                             \
    }

#define CHOOSE_RATE_MAX 1000000 /* jobs a second */

/* For a command that takes either ids or conditions: are there conditions? reason: beside ids
 * --error is no condition. -q or -A alone is not enough; --all stands for a condition. Returns 1 or
 * 0, or -1 with *err if there is neither, or both, or if options would be ignored. */
int choose_is_asked(const struct cli *cli, bool reason, struct later_error *err);

/* Is a condition given, or what stands for one? reason: as above. */
bool choose_has_condition(const struct cli *cli, bool reason);

/* Reads the set of --state, which is required and may not be reserved. Returns 0, or -1 with
 * *err. */
int choose_state(const struct cli *cli, enum later_key *set, struct later_error *err);

struct chosen;
struct walk;

struct choice {
    struct cli *cli;
    struct later_filter *filter;
    struct pace pace;
    struct progress progress;
    bool reads;     /* read records and documents, not only ids and scores */
    uint64_t left;  /* still to be found */
    uint64_t seen;  /* jobs looked at */
    uint64_t total; /* all jobs there are, for the progress */
    bool walked;    /* the last set was walked through, or it has found enough */
    bool counted;   /* `total` is complete; otherwise each set is added when its turn comes */
    double began;   /* Redis's clock, read at `began_here` or a moment later */
    double began_here;
    double told;                          /* time of the last line of progress */
    bool back;                            /* walk from the last job to the first */
    const char *from_score, *from_member; /* the next set begins after these; NULL = at its start */
    uint64_t from_equals; /* > 0: from_member is a digest; see walk_behind_digest() */
    /* Called now and then: everything up to *last has been looked at. Only member, score, keys and
     * set of *last are filled in. May be NULL. */
    void (*passed)(void *arg, const struct chosen *last);
};

/* Reads the options. choose_end() also says that there is no such queue, if no job was seen for
 * that reason. reads: documents are needed even if the filter does not ask for them. rate: see
 * pace.h. Returns 0, and then choose_end() is due; or -1 with *err. */
int choose_begin(struct choice *choice, struct cli *cli, bool reads, double rate,
                 struct later_error *err);
void choose_end(struct choice *choice);

/* Is there more to find, and was it not stopped? */
bool choose_goes_on(const struct choice *choice);

/* Lists the queues: that of -q, or with -A all, each with its shards as a whole. Returns 0, or -1
 * with *err. */
int choose_queues(const struct choice *choice, struct queue_list *list, struct later_error *err);

/* If --progress was given, prints a line at most twice a second, and always at the end:
 * {"searched":…,"of":…,"found":…,"next":"…","ended":false}. next may be NULL. */
void choose_tell(struct choice *choice, uint64_t found, const char *next, bool last);

/* The same for an action: {"acted":…,"of":…,"ended":false}. */
void choose_tell_acted(struct choice *choice, uint64_t acted, uint64_t of, bool last);

/* One job that matches. */
struct chosen {
    const struct later_keys *keys;
    enum later_key set;
    const char *token;  /* of a reserved job, otherwise "" */
    const char *member; /* its id, or a document that has none yet; a NUL follows */
    size_t len;
    const char *score;
    const struct later_seen *seen; /* NULL if neither record nor document was read */
    const struct walk *walk;       /* the page that it is on, and its place there */
    size_t at;
};

/* Can jobs of this set match the conditions? Done jobs are only looked at if --state asks for them,
 * since they are not part of a queue's size. */
bool choose_is_asked_of(const struct choice *choice, enum later_key set);

/* Calls fn for each matching job in one set (ready, delayed, reserved, dead, done) of one part. fn
 * returns 0 to go on, or -1 with *err. Returns 0, even if it was stopped (choice->pace.stopped) or
 * has found enough; or -1 with *err. */
typedef int chosen_fn(void *arg, const struct chosen *chosen, struct later_error *err);
int choose_in(struct choice *choice, const struct later_keys *keys, enum later_key set,
              chosen_fn *fn, void *arg, struct later_error *err);

/* The same for those of these sets that --state asks for, set by set, and all parts of a queue. */
int choose_in_queue(struct choice *choice, const char *queue, const enum later_key *sets,
                    size_t set_count, chosen_fn *fn, void *arg, struct later_error *err);

#endif
