/* look.c: reads all queues and daemons. */
#include "top/look.h"

#include "base/clock.h"
#include "base/printable.h"
#include "queue_list.h"
#include "sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- queues --- */

static int look_by_name(const void *a, const void *b)
{
    return strcmp(((const struct top_queue *)a)->name, ((const struct top_queue *)b)->name);
}

static const struct top_queue *look_find(const struct top *top, const char *name)
{
    struct top_queue key;

    snprintf(key.name, sizeof key.name, "%s", name);
    return top->queue_count ? bsearch(&key, top->queues, top->queue_count, sizeof key, look_by_name)
                            : NULL;
}

/* A counter may have started again from 0. */
static double look_rate(uint64_t now, uint64_t before, double seconds)
{
    return now >= before ? (double)(now - before) / seconds : 0;
}

static void look_take(const struct top *before, struct top_queue *queue, const struct sized *sized,
                      const struct served *served, double now)
{
    const struct top_queue *old = look_find(before, sized->name);
    const uint64_t *is = sized->sizes.counters, *was = old ? old->sizes.counters : NULL;
    double seconds = now - before->at;

    *queue = (struct top_queue){ .sizes = sized->sizes,
                                 .paused = sized->paused == sized->parts,
                                 .partly = sized->paused > 0 && sized->paused < sized->parts,
                                 .served = served_by(served, sized->name),
                                 .in = -1,
                                 .out = -1 };
    snprintf(queue->name, sizeof queue->name, "%s", sized->name);
    if (!was || before->at <= 0 || seconds <= 0)
        return;
    queue->in = look_rate(is[LATER_COUNT_PUSHED] + is[LATER_COUNT_ADOPTED],
                          was[LATER_COUNT_PUSHED] + was[LATER_COUNT_ADOPTED], seconds);
    queue->out = look_rate(is[LATER_COUNT_DONE], was[LATER_COUNT_DONE], seconds);
}

static int look_at_queues(struct cli *cli, const struct top *before, struct top *top,
                          const struct served *served, const struct queue_list *list,
                          struct later_error *err)
{
    struct sized *sized = calloc(list->count + 1, sizeof *sized);
    int ok = 0;

    top->queues = calloc(list->count + 1, sizeof *top->queues);
    if (!sized || !top->queues)
        ok = later_fail(err, LATER_E_SYSTEM, "no memory");
    for (size_t i = 0; ok == 0 && i < list->count; i++)
        sized[i] = (struct sized){ .name = list->names[i] };
    if (ok == 0)
        ok = sizes_ask(cli, sized, list->count, false, served_at(served), err);
    for (size_t i = 0; ok == 0 && i < list->count; i++) {
        if (sized[i].err.code == LATER_OK) {
            look_take(before, &top->queues[top->queue_count++], &sized[i], served, top->at);
        } else {
            *err = sized[i].err;
            ok = -1;
        }
    }
    free(sized);
    if (top->queue_count)
        qsort(top->queues, top->queue_count, sizeof *top->queues, look_by_name);
    return ok;
}

/* --- queues and daemons --- */

static void add_rates(const struct top *before, struct top *top)
{
    top->in = top->out = -1;
    for (size_t i = 0; i < top->queue_count; i++) {
        const struct top_queue *queue = &top->queues[i];

        if (queue->in < 0)
            continue;
        top->in = (top->in < 0 ? 0 : top->in) + queue->in;
        top->out = (top->out < 0 ? 0 : top->out) + queue->out;
    }
    top->rate_count = before->rate_count;
    memcpy(top->rates, before->rates, sizeof top->rates);
    if (top->out < 0)
        return;
    if (top->rate_count == TOP_RATES)
        memmove(top->rates, top->rates + 1, (--top->rate_count) * sizeof *top->rates);
    top->rates[top->rate_count++] = top->out;
}

static int look_look(struct cli *cli, const struct top *before, struct top *top,
                     struct later_error *err)
{
    struct served *served = served_read(cli, err);
    struct queue_list list = { 0 };
    int ok = served ? queue_list_find(cli, &list, err) : -1;

    top->at = later_clock();
    top->clock = time(NULL);
    if (ok == 0)
        ok = look_at_queues(cli, before, top, served, &list, err);
    if (ok == 0)
        top->host_count = hosts_list(served, &top->hosts);
    queue_list_free(&list);
    served_free(served);
    return ok;
}

int top_look(struct cli *cli, struct top *top, struct later_error *err)
{
    struct top next = { 0 };

    if (look_look(cli, top, &next, err) < 0) {
        top_free(&next);
        snprintf(top->away, sizeof top->away, "%s", err->text);
        later_make_printable(top->away);
        return -1;
    }
    add_rates(top, &next);
    top_free(top);
    *top = next;
    return 0;
}

void top_free(struct top *top)
{
    free(top->queues);
    free(top->hosts);
    top->queues = NULL;
    top->hosts = NULL;
    top->queue_count = top->host_count = 0;
}
