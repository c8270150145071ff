/*
 * flow_send.h: jobs on their way into a flow, wherever their queues lie.
 *
 * A flow lies in one queue, its home. Jobs of that queue go there by flow_push. Those of other
 * queues, and of a queue that has ever had shards, are announced to the flow first, by flow_join,
 * and then put into their queue or shard, by flow_park. There they wait until the flow has them
 * run. To do all of it again adds what is missing.
 */
#ifndef LATER_CLI_FLOW_SEND_H
#define LATER_CLI_FLOW_SEND_H

#include "cli.h"
#include "queue/flow.h"

#define FLOW_QUEUES 64 /* that its jobs may lie in; a queue with shards is one */

/* What became of a job. state: where it is, if it is known. */
typedef void flow_sent_fn(void *arg, const char *queue, const char *id, uint64_t line, bool is_new,
                          const char *state);

struct flow_send;

/* home: the queue of the flow. name and adder ("" = none) are borrowed. NULL with *err. */
struct flow_send *flow_send_new(struct cli *cli, const char *home, const char *name,
                                const char *adder, flow_sent_fn *fn, void *arg,
                                struct later_error *err);

/* Adds a job, which is copied. It may be sent now, or with others later. line: for fn. Returns 0,
 * or -1 with *err. */
int flow_send_add(struct flow_send *send, const char *queue, const struct later_flow_job *job,
                  uint64_t line, struct later_error *err);

/* All that wait have been added; now come the others, which are sent after them. Returns 0, or -1
 * with *err. */
int flow_send_turn(struct flow_send *send, struct later_error *err);

/* Sends what is left. Returns 0, or -1 with *err. */
int flow_send_all(struct flow_send *send, struct later_error *err);

/* Closes the flow. Returns 0, or -1 with *err. */
int flow_send_close(struct flow_send *send, struct later_error *err);

/* NULL is fine. */
void flow_send_free(struct flow_send *send);

#endif
