/* workload.c: what a worker does at the moment. */
#include "supervisor/workload.h"

#include "base/clock.h"
#include "memory.h"

#include <stdio.h>

/* What is in the slot may change at any moment, and may be anything. */
static void workload_add_job(struct announce_state *state, const struct process *process,
                             const struct slot *slot, const char *queue)
{
    double now = later_clock(), began = *(volatile const double *)&slot->began;
    double deadline = *(volatile const double *)&slot->deadline;
    struct announce_job job;
    struct slot_words words;
    const struct log_job *fields;

    if (!announce_jobs_wants(&state->jobs, began, now))
        return;
    fields = slot_log_fields(process->slots, slot, &words);
    job = (struct announce_job){ .began = began,
                                 .timeout = deadline > began && deadline < now + LATER_DELAY_MAX
                                                ? deadline - began
                                                : 0,
                                 .worker = (uint32_t)process->number,
                                 .attempt = fields->attempt };
    snprintf(job.id, sizeof job.id, "%s", fields->id ? fields->id : "");
    snprintf(job.type, sizeof job.type, "%s", fields->type ? fields->type : "");
    snprintf(job.queue, sizeof job.queue, "%s", queue);
    announce_jobs_add(&state->jobs, &job);
}

void workload_add(const struct process *process, struct announce_state *state)
{
    struct slots_page *page = process->slots->page;
    later_queue_name name, whole;

    state->workers++;
    if (state->weighs)
        state->memory += memory_own(process->pid);
    state->running += atomic_load(&page->running);
    state->busy += atomic_load(&page->running) > 0;
    state->performed += atomic_load(&page->performed);
    state->failed += atomic_load(&page->failed);
    connections_add_all(&state->connections, &page->connections);
    for (uint32_t i = 0; i < slots_used(process->slots); i++) {
        struct slot *slot = &page->slots[i];
        uint32_t queue = *(volatile uint32_t *)&slot->queue; /* read once: it may change */

        if (slot_state(slot) == SLOT_RUNNING && slots_queue_name(process->slots, queue, name) &&
            later_key_shard_valid(name)) {
            later_shard_whole(whole, name);
            announce_count(state, whole);
            workload_add_job(state, process, slot, whole);
        }
    }
}
