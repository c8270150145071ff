/*
 * intake.h: what a worker reserves, and when; how it waits if there is nothing.
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
/* Asks for work if that is due. Called whenever something has changed. */
void intake(struct worker *worker);
/* The next batch, while this one runs. */
void intake_ahead(struct worker *worker);
/* Sends what is settled and asked for. */
void intake_flush(struct worker *worker);
/* Looks for reserves whose answer was lost. Called when the links come up, and after a while. */
void intake_recover(struct worker *worker);
/* Notes whether the plugin of a queue's last job has limited room for its type. */
void intake_limit(struct worker_queue *queue, const struct later_job *job);
/* Lets the other queues go on without the reserves that have no answer yet. */
void intake_late(struct worker *worker);
/* Notes whether there is work in a queue. */
void intake_live(struct worker *worker, struct worker_queue *queue, bool live);
/* Returns how long its jobs take, as far as is known. */
double intake_average(const struct worker *worker, const struct worker_queue *queue);
/* Ends a waiting BLPOP. */
void intake_unblock(struct worker *worker);
/* The supervisor has called: there is work in this queue. */
void intake_called(struct worker *worker, const char *queue);
/* Forgets one job that was held. */
void batch_release(struct batch *batch);

/* --- between the files of intake --- */

/* Asks a queue for a batch, but for at most so many jobs; for one at least, if there is room and no
 * other queue is asked. Returns whether it was asked. */
bool intake_look_at(struct worker *worker, struct worker_queue *queue, size_t most);
/* Reserves a few jobs of the only queue right after a BLPOP on `wake`; takes nothing after `until`
 * (seconds by Redis's clock). */
void intake_behind(struct worker *worker, struct worker_queue *queue, double until, double timeout);
/* A BLPOP was refused: the next one follows after a while. */
void intake_deaf(struct worker *worker);
/* Returns how many slots are neither in use nor promised to a reserve without an answer. As nothing
 * is asked for beyond that, each job that comes has a slot. */
size_t intake_free(const struct worker *worker);
/* Returns how many jobs of this queue make a batch and have room, also beside what is promised. */
size_t intake_room(const struct worker *worker, const struct worker_queue *queue);
/* Is there no room for the jobs of some queue? Then the worker does not wait for wakes. */
bool intake_full(const struct worker *worker);

/* May the queue be asked now? (If not, it holds up nobody.) May it, and has it work? Has any queue?
 */
bool intake_is_open(const struct worker_queue *queue);
bool intake_is_ready(const struct worker_queue *queue);
bool intake_any_ready(const struct worker *worker);
/* Returns the average time of a job in the slowest of the queues that are ready, as of a moment
 * ago. */
double intake_slowest(struct worker *worker);
/* Returns the n-th queue to look at: groups in their order, the queues of a group in turn. */
struct worker_queue *intake_in_turn(struct worker *worker, uint32_t n);
/* This queue comes first in its group for a while, since settlements go to Redis in one write with
 * the next reserve of the same shard. Then it is the next one's turn. */
void intake_turn(struct worker *worker, const struct worker_queue *queue, double now);
/* Lists the queues of a group that are ready, in turn, at most `most`; returns how many. The second
 * does the same for all groups in their order. */
size_t intake_ready_of(struct worker *worker, const struct worker_group *group,
                       struct worker_queue **list, size_t most);
size_t intake_ready(struct worker *worker, struct worker_queue **list, size_t most);
/* Returns the group whose turn it is by weight, NULL if none has a ready queue. Each group gets its
 * share of the jobs, with shards as much as without. Then: notes how many jobs a group gave; and
 * how many may be asked for at once while others have jobs, too. */
struct worker_group *intake_choose(struct worker *worker);
void intake_count(struct worker *worker, const struct worker_queue *queue, size_t jobs);
size_t intake_share(const struct worker *worker, const struct worker_queue *queue);

/* In strict order, asks the queues from the top to the first live one; with weights, one live
 * queue. Queues without work are looked at again after a while. As any of them may have a whole
 * batch by now, they share the free slots. */
void intake_few(struct worker *worker);
/* Asks some of the queues that have work, and finds out which of the others have. Then: must that
 * be found out before the worker may be idle? */
void intake_many(struct worker *worker);
bool intake_many_first(struct worker *worker);

/* Adds the queues that the patterns of the pool match by now (config_follow()). */
void intake_follow(struct worker *worker);

/* If idle, there is nothing to do: waits. Otherwise there is, and nobody should call. */
void intake_wait(struct worker *worker, bool idle);

#endif
