/* pulse.c: asks workers whether their loop turns. */
#include "supervisor/pulse.h"

#include "base/clock.h"

static bool pulse_owed(const struct process *process)
{
    return process->asked > 0 && !slots_has_beaten(process->slots, process->asked);
}

static void pulse_count(struct process *process, void *arg)
{
    const struct slots_page *page = process->slots->page;

    (void)arg;
    if (pulse_owed(process) && (atomic_load(&page->waits) || !atomic_load(&page->running)))
        process->unanswered++;
    else
        process->unanswered = 0;
}

void pulse_look(const struct workers *workers)
{
    workers_each(workers, pulse_count, NULL);
}

void pulse_ask(struct process *process, double seconds)
{
    double now = later_clock();

    if (pulse_owed(process) || (process->asked > 0 && now - process->asked < seconds))
        return;
    process->asked = now;
    process_order(process, WORKER_BEAT);
}
