/* flow_verbs.h: what the files of `later flow` share. */
#ifndef LATER_CLI_FLOW_VERBS_H
#define LATER_CLI_FLOW_VERBS_H

#include "flow/flow.h"

/* In flow_list.c: the command without a verb, and `show`. Return what a command returns. */
int flow_list(struct cli *cli, struct later_error *err);
int flow_show(struct cli *cli, char **words, struct later_error *err);

/* Begins a table of flows, and adds one, or prints its JSON. now: Redis's clock. */
void flow_table(const struct cli *cli, struct table *table);
void flow_tell(struct cli *cli, struct table *table, const char *name,
               const struct flow_found *found, double now);

#endif
