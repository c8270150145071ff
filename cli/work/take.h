/*
 * take.h: taking jobs by hand: what `later reserve` and `later work` share.
 *
 * Without a laterd nobody migrates, so these do it: a job whose time has come is ready.
 */
#ifndef LATER_CLI_TAKE_H
#define LATER_CLI_TAKE_H

#include "cli.h"
#include "job/document.h"
#include "job/verdict.h"
#include "queue/queue.h"

#define TAKE_LEASE 30.0 /* seconds, unless --lease says another */
#define TAKE_LOOK  0.8  /* seconds between two looks for jobs that nobody woke us for */

/* Patience with leases that ran out: for a third of a lease after a connection was made nothing
 * lapses, so that holders touch first who could not reach Redis either. But in a queue that no
 * laterd serves, what ran out is taken at once: `later reserve` is over before that time. */
struct taker {
    struct cli *cli;
    struct served *served; /* read once; owned */
    double since;          /* later_redis_since() of the first connection; 0 = not asked yet */
    bool redis_is_new;     /* it was started less than a third of a lease before */
    double lease;          /* seconds */
    char *lapse;           /* the error of a lapsed lease; owned */
    struct config *config; /* what the daemon here allows jobs; owned */
};

/* Returns 0, or -1 with *err where there is no memory or the configuration is wrong. What was
 * begun, or zeroed, is to be ended. */
int taker_begin(struct taker *taker, struct cli *cli, double lease, struct later_error *err);
void taker_end(struct taker *taker);

/* Makes ready what is due or lapsed; *next gets the seconds until there may be more, < 0 = nothing.
 * Returns 0, or -1 with *err. */
int take_due(struct taker *taker, const struct later_keys *keys, double *next,
             struct later_error *err);

/* One reserve under a new token (into `token`, with its NUL) of at most limit jobs. Where the
 * answer is lost, what it took is given back. NULL with *err. */
struct later_reply *take_jobs(struct taker *taker, const struct later_keys *keys, size_t limit,
                              char token[LATER_TOKEN_LEN + 1], struct later_error *err);

/* Puts back a wake that was eaten, best effort. */
void take_wake_back(struct cli *cli, const struct later_keys *keys);

/* May it run? A document that is none is buried, one over its attempts or crashes too, one over its
 * time expires: then it has been settled and said, and *runs is false. doc gets the document,
 * policy what it is allowed. Returns 0, or -1 with *err where settling failed. */
int take_screen(struct taker *taker, const struct later_keys *keys, const char *token,
                const struct later_reserved *job, double now, struct later_document *doc,
                struct later_policy *policy, bool *runs, struct later_error *err);

/* One settlement. Returns 0; LATER_E_TOKEN where the token was no longer valid; or -1 with *err. */
int take_settle(struct cli *cli, const struct later_keys *keys, enum later_verb verb, double lease,
                const struct later_settlement *job, struct later_error *err);

/* later_queue_error() from this host. */
char *take_error(const char *kind, const char *text);

#endif
