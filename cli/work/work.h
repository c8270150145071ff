/*
 * work.h: `later work`, which is in four files: work.c (the command), work_queues.c (which queues),
 * work_take.c (taking jobs), work_loop.c (signals, runners, the loop).
 *
 * Two connections: one waits for a wake (wake_listener.h), the other does all else, in calls that
 * take no time to speak of. So the loop is poll(2) on signals and the first connection.
 *
 * A queue of several shards is several here, which are looked into in turn. Their plan is read anew
 * every few seconds, since shards may be added.
 */
#ifndef LATER_CLI_WORK_H
#define LATER_CLI_WORK_H

#include "work/runner.h"
#include "work/wake_listener.h"

#define WORK_QUEUES_MAX WAKE_LISTENER_MAX /* with their shards */

/* A queue, or one of its shards. It stays where it is: runners borrow its keys. */
struct work_queue {
    struct later_keys keys;
    size_t word; /* of the command line: the queue that it is of */
};

struct work {
    struct cli *cli;
    struct taker taker;
    struct runner_shared shared;
    struct work_queue queues[WORK_QUEUES_MAX];
    size_t queue_count;
    size_t turn;    /* rounds so far: among the shards of a queue another one begins each time */
    double plan_at; /* later_clock(): then the plans of shards are read anew */
    struct runner *runners;
    size_t runner_count;
    int64_t left; /* jobs that may still be begun; < 0 = any number */
    bool until_empty;

    int signals; /* signalfd */
    int stop;    /* signals that asked for it so far */
    bool more;   /* there may be jobs that are ready */
    bool broken; /* going on makes no sense: *failure */
    struct later_error failure;
    double look_at;    /* later_clock() of the next look */
    double retry_at;   /* Redis is away: nothing before then; 0 = it is there */
    double give_up_at; /* stopping, and Redis is away: then we leave */

    struct wake_listener listener; /* one for each queue, in their order */
};

/* How many jobs may be begun now; how many runners are in a state. */
size_t work_wanted(const struct work *work);
size_t work_count(const struct work *work, enum runner_state state);

/* Enters the queues of the command line with their shards, those that are not entered yet, and what
 * waits for their wakes. Returns 0, or -1 with *err. */
int work_find_queues(struct work *work, struct later_error *err);

/* The same, but only where the plans are some seconds old. */
int work_refresh_queues(struct work *work, struct later_error *err);

/* The entries of one word of the command line: where they are in work->queues. Returns how many. */
size_t work_queues_of(const struct work *work, size_t word, size_t queues[WORK_QUEUES_MAX]);

/* Redis failed. If it is only away, everything is tried again; else this is the end. */
void work_note_failure(struct work *work, const struct later_error *err);
bool work_redis_is_away(const struct work *work);

/* Makes ready what is due. Returns 0, or -1 with *err. */
int work_promote(struct work *work, struct later_error *err);

/* Takes until the runners are full or nothing more comes. */
void work_take(struct work *work);

/* From now on signals come to the loop. Returns 0, or -1 with *err. */
int work_catch_signals(struct work *work, struct later_error *err);

/* Until there is nothing left to do. */
void work_loop(struct work *work);

#endif
