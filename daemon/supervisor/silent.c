/* silent.c: says which workers do not answer. */
#include "supervisor/silent.h"

#include "base/clock.h"

#define ASK_SECONDS 5.0 /* between two questions: each wakes a worker */
#define MOST_LOOKS  10  /* without an answer, a second each */

struct silent {
    size_t all, count;
    const struct process *longest;
};

/* A job of a blocking handler keeps the loop from turning, which is as it should be. */
static bool silent_may_be(const struct process *process)
{
    return process->ready && !process->draining && atomic_load(&process->slots->page->running) == 0;
}

/* Returns for how many looks it has not answered. */
static unsigned silent_looks(struct process *process)
{
    double now = later_clock();

    if (!silent_may_be(process))
        return 0;
    if (process->asked > 0 && !slots_has_beaten(process->slots, process->asked))
        return process->unanswered + 1;
    if (process->asked <= 0 || now - process->asked >= ASK_SECONDS) {
        process->asked = now;
        process_order(process, WORKER_BEAT);
    }
    return 0;
}

static void silent_count(struct process *process, void *arg)
{
    struct silent *look = arg;

    process->unanswered = silent_looks(process);
    look->all++;
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
