/* losses_inner.h: what losses.c and losses_file.c share, and nobody else. */
#ifndef LATERD_LOSSES_INNER_H
#define LATERD_LOSSES_INNER_H

#include "queues/losses.h"

#include "base/names.h"
#include "queue/lost.h"

/* What was seen of a queue or a shard. */
struct losses_queue {
    struct losses *losses;
    char name[LATER_QUEUE_MAX + 1];
    bool known;             /* `sums` and `at` count */
    struct later_sums sums; /* as of the last look */
    double at;              /* Redis's clock then; 0 = it was not known */
    bool stirred, asked;
    bool lost;              /* they have gone back */
    struct later_sums news; /* to this */
};

struct losses {
    const struct config *config;
    struct link *link;
    const char *host;
    struct later_names queues;
    uint32_t open; /* looks without an answer */
    uint32_t turn; /* which queue that rests is read next */
    unsigned beats;
    double now;   /* Redis's clock */
    bool compare; /* all, when the clock is known */
    bool changed; /* since the file was written */
    bool judging; /* it is being asked which queues were forgotten on purpose */
};

/* Returns the queue, making it if need be. NULL: no memory. */
struct losses_queue *losses_find(struct losses *losses, const char *name);

/* losses_file.c: reads state_dir/counters; writes it. Both do what they can: without the file
 * nothing is known. */
void losses_load(struct losses *losses);
void losses_save(struct losses *losses);

#endif
