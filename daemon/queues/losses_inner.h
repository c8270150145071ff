/* losses_inner.h: what losses.c and losses_file.c share, and nobody else. */
#ifndef LATERD_LOSSES_INNER_H
#define LATERD_LOSSES_INNER_H

#include "queues/losses.h"

#include "queues/queues.h"

struct losses {
    struct queues *queues;
    bool loaded;   /* the file was read */
    uint32_t open; /* looks without an answer */
    uint32_t turn; /* which queue that rests is read next */
    unsigned beats;
    double now;   /* Redis's clock */
    bool compare; /* all, when the clock is known */
    bool changed; /* since the file was written */
    bool judging; /* it is being asked which queues were forgotten on purpose */
};

/* Returns the queue, making it if need be. NULL: no memory, or too many names of before. */
struct queue *losses_need(struct losses *losses, const char *name);

/* losses_file.c: reads state_dir/counters; writes it. Both do what they can: without the file
 * nothing is known. */
void losses_load(struct losses *losses);
void losses_save(struct losses *losses);

#endif
