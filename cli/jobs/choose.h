/*
 * choose.h: the jobs of a queue that a filter means (filter.h): the options that say which, and the
 * walk that finds them, page by page, while the queue is in use.
 *
 * A job that keeps its state meanwhile is found exactly once. One that came into its state after
 * the walk began is left out, as far as its score tells.
 */
#ifndef LATER_CLI_CHOOSE_H
#define LATER_CLI_CHOOSE_H

#include "job/filter.h"
#include "jobs/pace.h"
#include "output/progress.h"
#include "queue/inspect.h"
#include "queue/queue.h"
#include "queue_list.h"

/* Rows for a table of options: the conditions; the rest of what all that choose have. */
#define CHOOSE_OPTIONS                                                                             \
    { "state", 0, "STATE", "in this state (any but done)" },                                       \
        { "type", 0, "GLOB", "of types such as 'mail.*'" },                                        \
        { "older", 0, "DURATION", "ready, dead or done for longer than this" },                    \
        { "newer", 0, "DURATION", "ready, dead or done for less than this" },                      \
        { "error", 0, "REGEX", "whose last error matches" },                                       \
        { "kind", 0, "KIND", "of error: retry timeout crash lapse bad buried unknown return" },    \
        { "attempts", 0, "N", "with this many attempts: 3, '>3', '<=3'" },                         \
        { "where", 0, "PATH=VALUE",                                                                \
          "with this value: payload.tenant=42; several must all match" },                          \
        { "text", 0, "STRING", "with this text in the document" },                                 \
        { "limit", 0, "N", "at most N jobs, the first ones" },                                     \
        { "all-queues", 0, NULL, "in all queues" },                                                \
    {                                                                                              \
        "progress", 0, NULL, "with --json: lines that report progress"                             \
    }

#define CHOOSE_RATE_MAX 1000000 /* jobs a second */

/* Has any of these been given; any but --state? */
bool choose_is_asked(const struct cli *cli);
bool choose_is_picky(const struct cli *cli);

/* Of a command that has --queue for ids: it names the queue here, too, where no word does. */
void choose_take_queue(struct cli *cli);

/* The set that --state names, which must be given: any but reserved. Returns 0, or -1 with *err. */
int choose_state(const struct cli *cli, enum later_key *set, struct later_error *err);

struct chosen;

struct choice {
    struct cli *cli;
    struct later_filter *filter;
    struct pace pace;
    struct progress progress;
    bool reads;     /* records and documents; else only ids and scores */
    uint64_t left;  /* to be found still */
    uint64_t seen;  /* jobs looked at */
    uint64_t total; /* that there are, for the progress */
    bool counted;   /* all of them are in `total`; else each set is added as its turn comes */
    double began;   /* by Redis's clock */
    double told;    /* when the last line of progress was */
    bool back;      /* the last ones first */
    const char *from_score, *from_member; /* the next set begins behind these; NULL = at its end */
    /* Called now and then: all up to *last, of which only member, score, keys and set are there,
     * have been looked at. NULL = nobody asks. */
    void (*passed)(void *arg, const struct chosen *last);
};

/* Reads the options. reads: documents are wanted, whatever the filter asks. rate: as pace.h.
 * Returns 0, choose_end() is due then; or -1 with *err. */
int choose_begin(struct choice *choice, struct cli *cli, bool reads, double rate,
                 struct later_error *err);
void choose_end(struct choice *choice);

/* The queues: the one that is named, or all; in wholes. Returns 0, or -1 with *err. */
int choose_queues(const struct choice *choice, struct queue_list *list, struct later_error *err);

/* A line of progress, at most twice a second but for the last one, where --progress was given:
 * {"searched":…,"of":…,"found":…,"next":"…","ended":false}; next: NULL = none. */
void choose_tell(struct choice *choice, uint64_t found, const char *next, bool last);

/* Of an action: {"acted":…,"of":…,"ended":false}, likewise. */
void choose_tell_acted(struct choice *choice, uint64_t acted, uint64_t of, bool last);

/* One job that is meant. */
struct chosen {
    const struct later_keys *keys;
    enum later_key set;
    const char *token;  /* of a reserved one, else "" */
    const char *member; /* its id, or the document that is one; NUL-terminated beyond len */
    size_t len;
    const char *score;
    const struct later_seen *seen; /* NULL where neither record nor document was read */
};

/* Do the conditions leave room for jobs of this set? Done ones stand outside of the sums: they are
 * looked at where their state is asked for. */
bool choose_is_asked_of(const struct choice *choice, enum later_key set);

/* Calls fn for each in one set of one part: ready, delayed, reserved, dead, done; fn returns 0 to
 * go on, -1 with *err. Returns 0, also where it was stopped (choice->pace.stopped) or enough was
 * found; or -1 with *err. */
typedef int chosen_fn(void *arg, const struct chosen *chosen, struct later_error *err);
int choose_in(struct choice *choice, const struct later_keys *keys, enum later_key set,
              chosen_fn *fn, void *arg, struct later_error *err);

#endif
