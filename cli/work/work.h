/*
 * work.h: `later work`: work.c (the command), work_take.c (which queues, taking jobs), work_loop.c
 * (signals, runners, the loop).
 *
 * There are two connections. One waits for a wake (wake_listener.h). The other does all else, in
 * calls that return at once. So the loop is poll(2) on the signals and the first connection.
 *
 * A queue with shards is several queues here, which are looked into in turn. Their plan is read
 * again every few seconds, since shards may be added.
 */
#ifndef LATER_CLI_WORK_H
#define LATER_CLI_WORK_H

#include "work/runner.h"
#include "work/wake_listener.h"

#define WORK_QUEUES_MAX WAKE_LISTENER_MAX /* shards included */

/* A queue, or one of its shards. It is never moved, since runners borrow its keys. */
struct work_queue {
    struct later_keys keys;
    size_t word; /* index of its queue on the command line */
};

struct work {
    struct cli *cli;
    struct taker taker;
    struct runner_shared shared;
    struct work_queue queues[WORK_QUEUES_MAX];
    size_t queue_count;
    size_t turn;    /* rounds so far: each round begins with another shard */
    double plan_at; /* later_clock(): when to read the plans of shards again */
    struct runner *runners;
    size_t runner_count;
    int64_t left; /* jobs that may still be started; < 0 = no limit */
    bool until_empty;

    int signals; /* signalfd */
    int stop;    /* signals so far that asked us to stop */
    bool more;   /* there may be ready jobs */
    bool broken; /* we cannot go on: *failure says why */
    struct later_error failure;
    double look_at;    /* later_clock() of the next look */
    double retry_at;   /* if Redis is away, when to try again; 0 = it is there */
    double give_up_at; /* if we are stopping and Redis is away, when to leave */

    struct wake_listener listener; /* has one queue for each of ours, in the same order */
};

/* work_wanted(): how many jobs may be started now. work_count(): how many runners are in a
 * state. */
size_t work_wanted(const struct work *work);
size_t work_count(const struct work *work, enum runner_state state);

/* Adds the queues of the command line with their shards, as far as they are new, and listens for
 * their wakes. Returns 0, or -1 with *err. */
int work_find_queues(struct work *work, struct later_error *err);

/* Notes that Redis failed. If it is only away, everything is tried again. Otherwise this is the
 * end. */
void work_note_failure(struct work *work, const struct later_error *err);
bool work_redis_is_away(const struct work *work);

/* Makes due jobs ready. Returns 0, or -1 with *err. */
int work_promote(struct work *work, struct later_error *err);

/* Takes jobs until the runners are full or there are no more. */
void work_take(struct work *work);

/* From now on, signals are read by the loop. Returns 0, or -1 with *err. */
int work_catch_signals(struct work *work, struct later_error *err);

/* Runs until there is nothing left to do. */
void work_loop(struct work *work);

#endif
