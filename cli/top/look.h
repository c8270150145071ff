/*
 * look.h: what `later top` shows: all queues and daemons at one moment, and what happened since the
 * moment before.
 */
#ifndef LATER_CLI_TOP_LOOK_H
#define LATER_CLI_TOP_LOOK_H

#include "cli.h"
#include "queue/inspect.h"
#include "status/hosts.h"

#include <time.h>

#define TOP_RATES 300 /* the latest ones, for the curve */

struct top_queue {
    later_queue_name name;
    struct later_sizes sizes;
    bool paused;    /* all of the queue */
    bool partly;    /* some of its shards */
    int served;     /* number of daemons */
    double in, out; /* jobs per second that came, and that were done; < 0 = not known yet */
};

struct top {
    struct top_queue *queues; /* sorted by name; owned */
    size_t queue_count;
    struct host *hosts; /* owned */
    size_t host_count;
    double at;               /* time of the look, monotonic; 0 = never */
    time_t clock;            /* the same, as a wall clock for people */
    char away[600];          /* why there is nothing newer; "" = all is well */
    double in, out;          /* per second, over all queues; < 0 = not known yet */
    double rates[TOP_RATES]; /* earlier values of `out`, the latest last */
    size_t rate_count;
};

/* Looks again. *top begins zeroed. If Redis is away it keeps the last numbers. Returns 0, or -1
 * with *err, which is also in top->away. */
int top_look(struct cli *cli, struct top *top, struct later_error *err);
void top_free(struct top *top);

#endif
