/*
 * runner.h: a job of `later work` and the program that runs for it.
 *
 *     free ─ begin ─► running ─ its end ─► ended ─ settled ─► free
 */
#ifndef LATER_CLI_RUNNER_H
#define LATER_CLI_RUNNER_H

#include "work/take.h"

#include <sys/types.h>

#define RUNNER_GRACE 10.0 /* seconds from TERM to KILL */

enum runner_state { RUNNER_FREE, RUNNER_RUNNING, RUNNER_ENDED };
enum runner_reason { RUNNER_NOT_STOPPED, RUNNER_TIMED_OUT, RUNNER_LOST, RUNNER_INTERRUPTED };

struct runner {
    enum runner_state state;
    const struct later_keys *keys; /* keys of its queue, or of its shard */
    char id[LATER_ID_MAX + 1];
    char token[LATER_TOKEN_LEN + 1];
    struct later_policy policy;
    char type[LATER_TYPE_MAX + 1];
    uint32_t attempt;
    int32_t crashes; /* before this attempt; -1 = none */
    pid_t pid;
    double begun;              /* later_clock(), as are those below */
    double touch_at;           /* the next renewal */
    double timeout_at;         /* when the job's timeout stops it */
    double kill_at;            /* when to kill it; INFINITY = not stopped yet */
    enum runner_reason reason; /* why it was stopped */
    int status;                /* of waitpid(), once ended */
    bool again;                /* settling failed once, so a LOST may come from our own first try */
};

/* What all runners share. */
struct runner_shared {
    struct cli *cli;
    struct taker *taker;
    char *const *program;
    double timeout; /* seconds, for documents without one; 0 = as configured */
};

/* Starts the program for a job that was screened. Returns 0; or -1 with *err, and then the runner
 * is still free and the caller returns the job. */
int runner_begin(struct runner *runner, const struct runner_shared *shared,
                 const struct later_keys *keys, const char *token, const struct later_reserved *job,
                 const struct later_document *doc, const struct later_policy *policy,
                 struct later_error *err);

/* Stops the program: TERM now, KILL after the grace. The first reason counts. */
void runner_stop(struct runner *runner, enum runner_reason reason);

/* Does what is due by the clock, except renewal. */
void runner_tick(struct runner *runner, double now);

/* Renews the lease of a running job. If the job is lost, stops it. Returns 0, or -1 with *err. */
int runner_renew(struct runner *runner, const struct runner_shared *shared,
                 struct later_error *err);

/* Settles an ended job and frees the runner. Returns 0; or -1 with *err, and then the job is still
 * ended and this must be called again. */
int runner_settle(struct runner *runner, const struct runner_shared *shared,
                  struct later_error *err);

/* Returns when something is due by the clock, INFINITY = never. away: Redis is away, so nothing is
 * renewed. */
double runner_next(const struct runner *runner, bool away);

#endif
