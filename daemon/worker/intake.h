/*
 * intake.h: what a worker reserves, and when; how it waits where there is nothing.
 *
 *     intake.c         what to ask for, and what came
 *     intake_queues.c  which queues there are
 *     intake_room.c    how many jobs to ask a queue for
 *     intake_turn.c    whose turn it is
 *     intake_many.c    which of very many queues to look at
 *     intake_wake.c    waiting for a wake
 */
#ifndef LATERD_INTAKE_H
#define LATERD_INTAKE_H

#include "worker/state.h"

#define INTAKE_SECONDS 0.010 /* of work in a batch */
#define INTAKE_SOME    4     /* queues with work at once: worth a look for more of them */

/* Enters the queues of the pool. Returns 0, or -1 without memory. */
int intake_serve(struct worker *worker);
/* Asks for work where that is due; called whenever something has changed. */
void intake(struct worker *worker);
/* The next batch, while this one runs. */
void intake_ahead(struct worker *worker);
/* Sends what is settled and asked for. */
void intake_flush(struct worker *worker);
/* The links came up, or a while has passed: looks for reserves whose answer was lost. */
void intake_recover(struct worker *worker);
/* Notes whether a queue's jobs are of a type with bounded room, by its last one. */
void intake_limit(struct worker_queue *queue, const struct later_job *job);
/* Reserves that have no answer yet hold up the other queues no longer. */
void intake_late(struct worker *worker);
/* Notes whether there is work in a queue. */
void intake_live(struct worker *worker, struct worker_queue *queue, bool live);
/* How long its jobs take, as far as is known. */
double intake_average(const struct worker *worker, const struct worker_queue *queue);
/* Makes a waiting BLPOP come back. */
void intake_unblock(struct worker *worker);
/* The supervisor has called: there is work in this queue. */
void intake_called(struct worker *worker, const char *queue);
/* Forgets one job that was held. */
void batch_release(struct batch *batch);

/* --- between the files of intake --- */

/* Asks a queue for its share of a batch: a `share`-th. Returns whether it was asked. */
bool intake_look_at(struct worker *worker, struct worker_queue *queue, size_t share);
/* A few jobs of the only queue, by a reserve right behind a BLPOP on `wake`, which takes nothing
 * after `until` (seconds by Redis's clock). */
void intake_behind(struct worker *worker, struct worker_queue *queue, double until, double timeout);
/* A BLPOP was refused: the next one after a while. */
void intake_deaf(struct worker *worker);
/* How many jobs of this queue make a batch, and fit. */
size_t intake_room(const struct worker *worker, const struct worker_queue *queue);
/* Is there no room for the jobs of some queue? Then the worker waits for no wake. */
bool intake_full(const struct worker *worker);

/* May it be asked now? It holds up nobody if not. And has it work besides? Has any? */
bool intake_is_open(const struct worker_queue *queue);
bool intake_is_ready(const struct worker_queue *queue);
bool intake_any_ready(const struct worker *worker);
/* The average time of a job in the slowest of the queues that are ready, as of a moment ago. */
double intake_slowest(struct worker *worker);
/* The n-th queue to look at: in their order, those of a group in turn. */
struct worker_queue *intake_in_turn(struct worker *worker, uint32_t n);
/* Of its group, this one comes first for a while, since what is settled goes to Redis in one write
 * with the next reserve of the same shard; then it is the turn of the next. */
void intake_turn(struct worker *worker, const struct worker_queue *queue, double now);
/* Of a group the first in turn that is ready, and those behind it, at most so many. Returns how
 * many. And those of the groups in their order. */
size_t intake_ready_of(struct worker *worker, const struct worker_group *group,
                       struct worker_queue **list, size_t most);
size_t intake_ready(struct worker *worker, struct worker_queue **list, size_t most);
/* The group whose turn it is by weight, NULL if none has a ready queue: of the jobs each gets its
 * share, one with shards as much as if it had none. Then: how many jobs it gave; and how many may
 * be asked for at once while others have jobs, too. */
struct worker_group *intake_choose(struct worker *worker);
void intake_count(struct worker *worker, const struct worker_queue *queue, size_t jobs);
size_t intake_share(const struct worker *worker, const struct worker_queue *queue);

/* Asks some of the queues that have work, and which of the others have; then: it is to be known
 * before the worker may be idle. */
void intake_many(struct worker *worker);
bool intake_many_first(struct worker *worker);

/* The queues that the patterns of the pool have come to mean (config_follow()). */
void intake_follow(struct worker *worker);

/* There is nothing to do, so wait; or there is something, so that nobody shall call. */
void intake_wait(struct worker *worker, bool idle);

#endif
