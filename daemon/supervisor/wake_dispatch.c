/* wake_dispatch.c: who is called. */
#include "supervisor/wake_dispatch.h"

#include <string.h>

struct choice {
    const char *queue;
    bool idle; /* is any? */
    struct process *best;
    uint32_t running;
};

static bool serves(const struct process *process, const char *queue)
{
    const struct config_pool *pool = process->pool;

    for (uint32_t i = 0; i < pool->queue_count; i++) {
        if (strcmp(pool->queues[i].name, queue) == 0)
            return !process->draining;
    }
    return false;
}

/* All are asked, so that all that are not will tell. */
static void ask_one(struct process *process, void *arg)
{
    struct choice *choice = arg;

    if (serves(process, choice->queue) && slots_is_idle(process->slots))
        choice->idle = true;
}

bool wake_dispatch_idle(const struct workers *workers, const char *queue)
{
    struct choice choice = { .queue = queue };

    workers_each(workers, ask_one, &choice);
    return choice.idle;
}

static void compare_one(struct process *process, void *arg)
{
    struct choice *choice = arg;
    uint32_t running = atomic_load(&process->slots->page->running);

    if (!serves(process, choice->queue) ||
        atomic_load(&process->slots->page->idle) != SLOTS_IDLE_FREE)
        return;
    if (choice->best &&
        (running > choice->running ||
         (running == choice->running && process->called_at >= choice->best->called_at)))
        return;
    choice->best = process;
    choice->running = running;
}

/* The best may begin something just now: then the next. */
bool wake_dispatch_call(const struct workers *workers, const char *queue)
{
    struct choice choice;

    do {
        choice = (struct choice){ .queue = queue };
        workers_each(workers, compare_one, &choice);
    } while (choice.best && !process_wake(choice.best, queue));
    return choice.best != NULL;
}
