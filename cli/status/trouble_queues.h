/*
 * trouble_queues.h: the part of a look for troubles (trouble.h) that is about queues. A queue is
 * asked only for what its sizes leave open.
 */
#ifndef LATER_CLI_TROUBLE_QUEUES_H
#define LATER_CLI_TROUBLE_QUEUES_H

#include "status/trouble.h"

/* One look. All is borrowed. */
struct trouble_look {
    struct cli *cli;
    const struct served *served;
    const struct sized *known; /* the sizes of all queues; NULL: they are asked for */
    struct later_troubles *troubles;
    int alive;
    int64_t waiting;
    double now;
    bool sends;              /* the questions are being sent; the answers are read later */
    bool away, no_schedules; /* none of these queues has any */
    struct later_error *err;
};

/* Adds the troubles of these queues, and their waiting jobs to look->waiting. Returns 0, or -1 with
 * *look->err. */
int trouble_queues(struct trouble_look *look, const struct queue_list *list);

#endif
