/* heartbeat.c: asks workers whether their loop turns. */
#include "supervisor/heartbeat.h"

#include "base/clock.h"

static bool heartbeat_owed(const struct process *process)
{
    return process->asked > 0 && !slots_has_beaten(process->slots, process->asked);
}

static void heartbeat_count(struct process *process, void *arg)
{
    const struct slots_page *page = process->slots->page;

    (void)arg;
    if (heartbeat_owed(process) && (atomic_load(&page->waits) || !atomic_load(&page->running)))
        process->unanswered++;
    else
        process->unanswered = 0;
}

void heartbeat_look(const struct workers *workers)
{
    workers_each(workers, heartbeat_count, NULL);
}

void heartbeat_ask(struct process *process, double seconds)
{
    double now = later_clock();

    if (heartbeat_owed(process) || (process->asked > 0 && now - process->asked < seconds))
        return;
    process->asked = now;
    process_order(process, WORKER_BEAT);
}
