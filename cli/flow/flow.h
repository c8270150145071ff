/* flow.h: what the files of `later flow` share. */
#ifndef LATER_CLI_FLOW_H
#define LATER_CLI_FLOW_H

#include "cli.h"
#include "queue/flow.h"

/* In flow_act.c. Finds the flow's sizes in the queue of -q, or in any queue that has it. Returns 0,
 * or -1 with *err: LATER_E_NONE if there is none, LATER_E_USAGE if several queues have one. */
struct flow_found {
    struct later_keys keys;
    struct later_flow_sizes sizes;
};
int flow_find(struct cli *cli, const char *name, struct flow_found *found, struct later_error *err);

/* Reads the sizes of a flow in the queue whose keys are set. Returns whether it exists, or -1 with
 * *err. */
int flow_look(struct cli *cli, const char *name, struct flow_found *found, struct later_error *err);

/* Calls fn for each job of the flow, in no order. If fn returns non-zero, it stops. Returns what fn
 * returned last, or -1 with *err. */
typedef int flow_member_fn(void *arg, const struct later_flow_member *member);
int flow_each(struct cli *cli, const struct later_keys *keys, const char *name, flow_member_fn *fn,
              void *arg, struct later_error *err);

/* In flow_list.c: the command without a verb, and `show`. Return what a command returns. */
int flow_list(struct cli *cli, struct later_error *err);
int flow_show(struct cli *cli, char **words, struct later_error *err);

/* Begins a table of flows, and adds one, or prints its JSON. now: Redis's clock. */
void flow_table(const struct cli *cli, struct table *table);
void flow_tell(struct cli *cli, struct table *table, const char *name,
               const struct flow_found *found, double now);

#endif
