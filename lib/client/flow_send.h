/*
 * flow_send.h: jobs on their way into a flow, wherever their queues lie.
 *
 * A flow lies in one queue, its home. Jobs of that queue go there by flow_push. Those of other
 * queues, and of a queue that has ever had shards, are announced to the flow first, by flow_join,
 * and then put into their queue or shard, by flow_park. There they wait until the flow has them
 * run. To do all of it again adds what is missing.
 */
#ifndef LATER_FLOW_SEND_H
#define LATER_FLOW_SEND_H

#include "client/call.h"
#include "queue/flow.h"

#define LATER_FLOW_QUEUES 64 /* that its jobs may lie in; a queue with shards is one */

/* A flow as its pusher says it. All is borrowed, until it is freed. */
struct later_flow_goal {
    const char *home; /* the queue that it lies in */
    const char *name;
    const char *adder; /* the running job of the flow that adds to it; "" = none */
};

/* What became of a job. state: where it is, if it is known. */
struct later_flow_sent {
    const char *queue, *id, *state;
    uint64_t mark; /* of the caller */
    enum later_push_result how;
};
typedef void later_flow_sent_fn(void *arg, const struct later_flow_sent *sent);

struct later_flow_send;

/* NULL with *err. */
struct later_flow_send *later_flow_send_new(struct later_client *client,
                                            const struct later_flow_goal *goal,
                                            later_flow_sent_fn *fn, void *arg,
                                            struct later_error *err);

/* Adds a job, which is copied. It may be sent now, or with others later. mark: for fn. Returns 0,
 * or -1 with *err. */
int later_flow_send_add(struct later_flow_send *send, const char *queue,
                        const struct later_flow_job *job, uint64_t mark, struct later_error *err);

/* All that wait have been added; now come the others, which are sent after them. Returns 0, or -1
 * with *err. */
int later_flow_send_turn(struct later_flow_send *send, struct later_error *err);

/* Sends what is left. close: no more comes after that. Returns 0, or -1 with *err. */
int later_flow_send_end(struct later_flow_send *send, bool close, struct later_error *err);

/* NULL is fine. */
void later_flow_send_free(struct later_flow_send *send);

#endif
