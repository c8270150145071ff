/* wake_dispatch.c: chooses the worker that is called. */
#include "supervisor/wake_dispatch.h"

struct choice {
    uint32_t pools;
    bool idle; /* is any? */
    struct process *best;
    uint32_t running;
};

static bool serves(const struct process *process, uint32_t pools)
{
    size_t pool = (size_t)(process->pool - process->generation->config->pools);

    return !process->draining && (pools >> pool & 1);
}

/* Asks every worker, so that each busy one reports when it is idle. */
static void wake_dispatch_ask_one(struct process *process, void *arg)
{
    struct choice *choice = arg;

    if (serves(process, choice->pools) && slots_is_idle(process->slots))
        choice->idle = true;
}

bool wake_dispatch_idle(void *workers, uint32_t pools)
{
    struct choice choice = { .pools = pools };

    workers_each(workers, wake_dispatch_ask_one, &choice);
    return choice.idle;
}

static void compare_one(struct process *process, void *arg)
{
    struct choice *choice = arg;
    uint32_t running = atomic_load(&process->slots->page->running);

    if (!serves(process, choice->pools) ||
        atomic_load(&process->slots->page->idle) != SLOTS_IDLE_FREE)
        return;
    if (choice->best &&
        (running > choice->running ||
         (running == choice->running && process->called_at >= choice->best->called_at)))
        return;
    choice->best = process;
    choice->running = running;
}

/* This is for large pools, whose workers ask several queues at once. */
static void compare_called(struct process *process, void *arg)
{
    struct choice *choice = arg;

    if (serves(process, choice->pools) && config_pool_is_large(process->pool) &&
        slots_takes_more(process->slots) &&
        (!choice->best || process->called_more < choice->best->called_more))
        choice->best = process;
}

/* Wakes of the same moment go to the worker that was called for the first of them. To put them back
 * and hear of them again would cost Redis more than their jobs. */
static bool call_another(const struct workers *workers, uint32_t pools, const char *queue)
{
    struct choice choice = { .pools = pools };

    workers_each(workers, compare_called, &choice);
    return choice.best && process_wake_more(choice.best, queue);
}

/* The best worker may have just begun something; then the next is tried. */
bool wake_dispatch_call(void *workers, uint32_t pools, const char *queue)
{
    struct choice choice;

    do {
        choice = (struct choice){ .pools = pools };
        workers_each(workers, compare_one, &choice);
    } while (choice.best && !process_wake(choice.best, queue));
    return choice.best || call_another(workers, pools, queue);
}
