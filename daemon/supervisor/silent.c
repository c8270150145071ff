/* silent.c: says which workers do not answer. */
#include "supervisor/silent.h"

#include "supervisor/heartbeat.h"

#define ASK_SECONDS 5.0 /* between two questions */
#define MOST_LOOKS  10  /* without an answer */

struct silent {
    size_t all, count;
    const struct process *longest;
};

static bool silent_may_be(const struct process *process)
{
    return process->ready && !process->draining && atomic_load(&process->slots->page->running) == 0;
}

static void silent_count(struct process *process, void *arg)
{
    struct silent *look = arg;

    look->all++;
    if (!silent_may_be(process))
        return;
    heartbeat_ask(process, ASK_SECONDS);
    if (process->unanswered < MOST_LOOKS)
        return;
    look->count++;
    if (!look->longest || process->unanswered > look->longest->unanswered)
        look->longest = process;
}

bool silent_look(struct fault *fault, const struct workers *workers)
{
    struct silent look = { 0 };

    workers_each(workers, silent_count, &look);
    if (look.longest)
        fault_note(fault, LOG_WARN,
                   "%zu of %zu workers do not answer, process %ld for %u s: stopped, or held by a "
                   "plugin between two jobs",
                   look.count, look.all, (long)look.longest->pid, look.longest->unanswered);
    else
        fault_over(fault);
    return look.count > 0 && look.count == look.all;
}
