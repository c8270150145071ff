/*
 * trouble.h: what is wrong now: `later status --trouble`, and the same for metrics. The facts are
 * read here; what is trouble is decided by trouble/trouble.h.
 *
 * It takes four commands, one for each server, and for each queue those of its sizes and at most 13
 * more, and one for each type that only some hosts have; for one who looks again and again (kept.h)
 * and a queue that has not changed, at most two.
 */
#ifndef LATER_CLI_TROUBLE_H
#define LATER_CLI_TROUBLE_H

#include "queue_list.h"
#include "sizes.h"
#include "status/served.h"
#include "trouble/trouble.h"

#define TROUBLES_MAX 1000 /* that are named; more are only counted */

/* Looks for troubles of these queues, of all daemons and of Redis. known: the sizes of these queues
 * with their totals; NULL: they are asked for. troubles->rows is to be freed. Returns 0, or -1 with
 * *err. */
int trouble_look(struct cli *cli, const struct queue_list *list, const struct sized *known,
                 struct later_troubles *troubles, struct later_error *err);

/* Adds what is wrong with server `node`: it is full, cannot write, or (told of the first) has lost
 * writes. info: its answer to later_inspect_state(), losses: Redis's to later_lost_look(); NULL:
 * nothing is known. */
void trouble_server(struct cli *cli, size_t node, const struct later_reply *info,
                    const struct later_reply *losses, struct later_troubles *troubles);

/* Prints these, as a table or as JSON. */
void trouble_show(struct cli *cli, const struct later_troubles *troubles);

/* Looks and prints. Returns the exit status: 0 if there is none, 1 if there are some; or -1 with
 * *err.
 */
int trouble_print(struct cli *cli, struct later_error *err);

#endif
