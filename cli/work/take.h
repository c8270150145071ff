/*
 * take.h: takes jobs by hand, for `later reserve`.
 *
 * Without a laterd nobody migrates, so it does: it makes due jobs ready.
 */
#ifndef LATER_CLI_TAKE_H
#define LATER_CLI_TAKE_H

#include "cli.h"
#include "job/document.h"
#include "job/verdict.h"
#include "queue/queue.h"

/* After a connection is made, nothing lapses for a third of a lease: holders that could not reach
 * Redis either must get the chance to renew first. But if no laterd serves the queue, lapsed jobs
 * are taken at once, since `later reserve` would be over before that time. */
struct taker {
    struct cli *cli;
    struct served *served; /* read once; owned */
    double since;          /* later_redis_since() of the first connection; 0 = not asked yet */
    bool redis_is_new;     /* Redis was started less than a third of a lease before */
    double lease;          /* seconds */
    char *lapse;           /* the error of a lapsed job; owned */
    struct config *config; /* what the local daemon's configuration allows jobs; owned */
};

/* Reads --lease. Returns 0, or -1 with *err. */
int take_lease(const struct cli *cli, double *lease, struct later_error *err);

/* Returns 0, or -1 with *err if there is no memory or the configuration is wrong. taker_end() is
 * due once it was begun or zeroed. */
int taker_begin(struct taker *taker, struct cli *cli, double lease, struct later_error *err);
void taker_end(struct taker *taker);

/* Makes due jobs ready and lapses leases. *next becomes the seconds until there may be more; < 0 =
 * nothing known. Returns 0, or -1 with *err. */
int take_due(struct taker *taker, const struct later_keys *keys, double *next,
             struct later_error *err);

/* Reserves at most `limit` jobs under a new token, and calls fn for each, which returns 0 to go on,
 * or -1 with *err. now: Redis's clock. If the answer is lost, what was taken is returned to the
 * queue. Returns how many jobs Redis gave, or -1 with *err. */
typedef int take_fn(void *arg, const struct later_keys *keys, const char *token,
                    const struct later_reserved *job, double now, struct later_error *err);
int take_jobs(struct taker *taker, const struct later_keys *keys, size_t limit, take_fn *fn,
              void *arg, struct later_error *err);

/* Puts back a wake that was taken. Best effort. */
void take_wake_back(struct cli *cli, const struct later_keys *keys);

/* May the job run? A bad document is buried, as is a job with too many attempts or crashes. A job
 * whose time is over expires. These are settled and reported here, and *runs is false. doc becomes
 * the document, policy what the job is allowed. Returns 0, or -1 with *err if settling failed. */
int take_screen(struct taker *taker, const struct later_keys *keys, const char *token,
                const struct later_reserved *job, double now, struct later_document *doc,
                struct later_policy *policy, bool *runs, struct later_error *err);

/* Settles one job. Returns 0; LATER_E_TOKEN if the token was no longer valid; or -1 with *err. */
int take_settle(struct cli *cli, const struct later_keys *keys, enum later_verb verb, double lease,
                const struct later_settlement *job, struct later_error *err);

/* Calls later_queue_error() with the ending's kind and this host's name; NULL if it has none. */
char *take_error(enum later_ending ending, const char *text);

#endif
