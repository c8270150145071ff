/*
 * intake.h: what a worker reserves, and when; how it waits if there is nothing.
 *
 *     intake.c         which queues to ask, and when
 *     intake_queues.c  which there are, whose turn it is, how many of their jobs have room
 *     intake_ask.c     one reserve: the question, the answer, one that was lost
 *     intake_keep.c    the jobs that a reserve brought
 *     intake_wake.c    waiting for a wake
 *
 * A struct intake owns the queues and the jobs that have come and not begun (held), with the
 * answers that they are part of. It reads in worker->load how much room the running ones leave.
 */
#ifndef LATERD_INTAKE_H
#define LATERD_INTAKE_H

#include "queue/queue.h"
#include "worker/state.h"

/* A reserved job that has not begun. */
struct held {
    struct slot *slot;
    const struct worker_queue *from;
    struct batch *batch;             /* whoever takes the job releases it */
    struct later_reserved job;       /* borrowed from the batch, but its id is in the slot */
    double score;                    /* the job's score in ready; NAN: not known */
    const struct later_reply *given; /* what it gets from its flow, of the batch; NULL: not known */
};

/* Makes the stage, with the queues of the pool. The worker must have its event base. NULL: no
 * memory. */
struct intake *intake_new(struct worker *worker);
/* To be freed after the links and before the event base. NULL is fine. */
void intake_free(struct intake *intake);

/* Asks for work if that is due, or waits for it, and sends what is settled. Called whenever
 * something has changed. */
void intake_go_on(struct intake *intake);
/* The next batch, while this one runs. */
void intake_ahead(struct intake *intake);
/* Sends what is settled and asked for. */
void intake_flush(struct intake *intake);
/* A link is up: looks for reserves whose answer was lost, and looks once at each queue, since wakes
 * may have been lost with the connection. With many queues, the migrators find them. */
void intake_link_up(struct intake *intake);
/* Ends a waiting BLPOP. */
void intake_unblock(struct intake *intake);
/* Perhaps the connection on which it waits is gone, and Redis has not said so: a long wait is begun
 * anew on a new one. */
void intake_doubt(struct intake *intake);
/* The worker may go without connections, which it does when it has waited long: ends a long BLPOP.
 */
void intake_end_long_wait(struct intake *intake);
/* The supervisor wants a worker that is without connections to make them again, and to look. */
void intake_rouse(struct intake *intake);
/* The supervisor has called: there is work in this queue. */
void intake_called(struct intake *intake, const char *queue);

/* Takes the first held job, which is running from now on; false if there is none. The keeper may
 * give back jobs behind one that runs for long: whoever moves a slot on owns it. Then: how many
 * there are, with those. */
bool intake_take(struct intake *intake, struct held *held);
size_t intake_held(const struct intake *intake);
/* Forgets one job that was held. NULL is fine. */
void batch_release(struct batch *batch);

/* Notes how long a job of this queue took; that one was settled without a run. */
void intake_learn(struct intake *intake, const struct worker_queue *from, double seconds);
void intake_pass_by(struct intake *intake);
/* Notes whether the plugin of its last job has limited room for its type. */
void intake_limit(struct intake *intake, const struct later_job *job);
/* Jobs of this queue were given back, so it has more. */
void intake_has_more(struct intake *intake, const struct worker_queue *from);

/* A step of a flow is done: jobs of its queue may become ready by that. */
void intake_freed(struct intake *intake, const struct worker_queue *from);

/* Returns the queue with this index in the slot page. */
const struct worker_queue *intake_queue(const struct intake *intake, uint32_t index);
/* Is an answer on its way whose documents are then asked for? */
bool intake_awaits_ids(const struct intake *intake);
/* Has the worker jobs: held, running, or in admission? */
bool intake_has_jobs(const struct intake *intake);
/* Has it nothing in hand: no job, and none to settle? */
bool intake_is_idle(const struct intake *intake);
/* Has it, besides, an answer to all that it has asked? */
bool intake_is_still(const struct intake *intake);

#endif
