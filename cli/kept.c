/* kept.c: what is known of queues. */
#include "kept.h"

#include "base/clock.h"
#include "base/names.h"

#include <stdio.h>
#include <stdlib.h>

#define QUEUES_MAX 20000
#define LATELY     10.0  /* seconds for which a queue that has changed is looked at closely */
#define FULL_EVERY 600.0 /* seconds */
#define OVER_EVERY 4.0   /* seconds: less than TROUBLES_SOON of later-web, whose looks each ask */
#define TOGETHER   12    /* commands for all queues of a look */

#define SELDOM_AFTER 2.0 /* seconds between two looks */

#define BIT(n) LATER_GLANCE_BIT(LATER_GLANCE_##n)

struct kept {
    struct later_names queues;
};

struct kept *kept_new(void)
{
    return calloc(1, sizeof(struct kept));
}

static void kept_free_queue(void *item)
{
    struct kept_queue *queue = item;

    later_tallies_free(&queue->recent);
    free(queue);
}

void kept_free(struct kept *kept)
{
    if (kept)
        later_names_free(&kept->queues, kept_free_queue);
    free(kept);
}

struct kept_queue *kept_find(struct kept *kept, const char *name)
{
    struct kept_queue *queue = later_names_find(&kept->queues, name);

    if (queue || kept->queues.count >= QUEUES_MAX)
        return queue;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    snprintf(queue->name, sizeof queue->name, "%s", name);
    queue->turn = (uint32_t)kept->queues.count; /* so that looks cost the same */
    if (later_names_add(&kept->queues, queue->name, queue))
        return queue;
    free(queue);
    return NULL;
}

static bool kept_is_busy(const struct kept_queue *queue, double now)
{
    return queue->changed > 0 && now - queue->changed < LATELY;
}

unsigned kept_share(struct kept_queue *const *some, size_t count)
{
    double now = later_clock();
    size_t busy = 0, quiet = 0, share;

    for (size_t i = 0; i < count; i++) {
        if (some[i] && kept_is_busy(some[i], now))
            busy++;
        else
            quiet++;
    }
    share = quiet && 4 * busy < TOGETHER ? (TOGETHER - 4 * busy) / quiet : 1;
    return share < 1 ? 1 : share > 3 ? 3 : (unsigned)share;
}

uint32_t kept_wants(struct kept_queue *queue, unsigned share)
{
    enum { CLOSELY = 3, SELDOM = 0 };
    static const uint32_t turns[][4] = {
        [SELDOM] = { BIT(STATS) | BIT(READY), BIT(STATS), BIT(STATS) | BIT(DELAYED), BIT(STATS) },
        [1] = { BIT(STATS), BIT(READY), BIT(STATS), BIT(DELAYED) },
        [2] = { BIT(STATS) | BIT(READY), BIT(STATS) | BIT(DELAYED), BIT(STATS) | BIT(READY),
                BIT(STATS) | BIT(DELAYED) },
        [CLOSELY] = { BIT(STATS) | BIT(READY) | BIT(DELAYED),
                      BIT(STATS) | BIT(READY) | BIT(DELAYED),
                      BIT(STATS) | BIT(READY) | BIT(DELAYED),
                      BIT(STATS) | BIT(READY) | BIT(DELAYED) },
    };
    double now = later_clock(), apart = now - queue->looked;
    uint32_t want;

    queue->looked = now;
    if (queue->full <= 0 || now - queue->full > FULL_EVERY)
        return LATER_GLANCE_FULL;
    if (kept_is_busy(queue, now))
        share = CLOSELY;
    else if (apart > SELDOM_AFTER)
        share = SELDOM;
    want = turns[share][queue->turn++ % 4];
    if (queue->glance.sizes.reserved > 0 && now - queue->over > OVER_EVERY)
        want |= BIT(OVERDUE);
    return want;
}

bool kept_stays(double read, double settled, double still)
{
    return read > 0 && still >= later_clock() - read + settled;
}
