/*
 * look.h: what `later top` shows: all queues and daemons at one moment, and what happened since the
 * moment before.
 */
#ifndef LATER_CLI_TOP_LOOK_H
#define LATER_CLI_TOP_LOOK_H

#include "cli.h"
#include "queue/inspect.h"

#define TOP_RATES 300 /* the latest ones, for the curve */

struct top_queue {
    later_queue_name name;
    struct later_sizes sizes;
    bool paused;    /* all of it */
    bool partly;    /* some of its shards are */
    int served;     /* by how many daemons */
    double in, out; /* jobs a second that came, and that were done; < 0 = not known yet */
};

struct top_host {
    char name[64], fault[128];
    bool gone;
    uint64_t workers, running, performed, failed;
    double rate, up;
};

struct top {
    struct top_queue *queues; /* in the order of their names; owned */
    size_t queue_count;
    struct top_host *hosts; /* owned */
    size_t host_count;
    double at;               /* monotonic: when that was; 0 = never */
    time_t clock;            /* the same for people */
    char away[600];          /* why there is nothing newer; "" = nothing is wrong */
    double in, out;          /* a second, of all queues; < 0 = not known yet */
    double rates[TOP_RATES]; /* what `out` was, the latest last */
    size_t rate_count;
};

/* Looks again. *top begins zeroed, and keeps what was known where Redis is away. Returns 0; or -1
 * with *err, which is in top->away as well. */
int top_look(struct cli *cli, struct top *top, struct later_error *err);
void top_free(struct top *top);

#endif
