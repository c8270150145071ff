/* admission_hold.c: what a job holds, in the slot page: entered, given back. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/worker.h"

#include "client/call.h"
#include "base/clock.h"
#include "keeper/lock_leases.h"
#include "client/lock_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool still_free(const struct slot_hold *hold)
{
    return atomic_load_explicit(&hold->state, memory_order_acquire) == HOLD_NONE;
}

struct slot_hold *admission_hold_enter(const struct later_job *job, enum hold_kind kind,
                                       const char *name, uint32_t max, double ttl)
{
    struct slots_page *page = job->worker->slots->page;
    struct slot_hold *hold;
    uint32_t i = 0;

    while (i < SLOTS_HOLDS && !still_free(&page->held[i]))
        i++;
    if (i == SLOTS_HOLDS)
        return NULL;
    hold = &page->held[i];
    hold->kind = (uint32_t)kind;
    hold->slot = (uint32_t)(job->slot - page->slots);
    hold->slot_serial = atomic_load(&job->slot->serial);
    hold->max = max;
    hold->ttl = ttl;
    hold->fence = 0;
    snprintf(hold->name, sizeof hold->name, "%s", name);
    later_token(hold->token);
    atomic_fetch_add_explicit(&hold->serial, 1, memory_order_relaxed);
    atomic_store(&hold->touched, (int64_t)(later_clock() * 1e6));
    atomic_store(&hold->again, 0);
    if (i >= atomic_load(&page->holds))
        atomic_store(&page->holds, i + 1);
    atomic_store_explicit(&hold->state, HOLD_ASKED, memory_order_release);
    job->worker->admission->holding++;
    return hold;
}

void admission_hold_leave(struct admission *admission, struct slot_hold *hold,
                          enum hold_state state)
{
    struct slots_page *page = admission->worker->slots->page;
    uint32_t used = slots_holds(admission->worker->slots);

    atomic_store_explicit(&hold->state, (uint32_t)state, memory_order_release);
    if (state == HOLD_LEFT)
        worker_busy(admission->worker);
    if (--admission->holding > 0)
        return;
    while (used > 0 && still_free(&page->held[used - 1]))
        used--;
    atomic_store(&page->holds, used);
}

/* --- giving back --- */

struct freeing {
    struct admission *admission;
    struct slot_hold *hold;
};

static void on_freed(void *arg, struct later_answer *answer)
{
    struct freeing *freeing = arg;
    bool done = answer->outcome == LATER_ANSWERED;

    admission_hold_leave(freeing->admission, freeing->hold, done ? HOLD_NONE : HOLD_LEFT);
    free(freeing);
}

/* Frees a hold; who waits for it comes next. What cannot be sent the keeper frees. */
static void let_go(struct admission *admission, struct slot_hold *hold)
{
    const struct worker *worker = admission->worker;
    struct freeing *freeing = malloc(sizeof *freeing);
    struct later_command cmd = { 0 };
    int script;

    hold_call_next(hold, admission->line);
    atomic_store_explicit(&hold->state, HOLD_ENDING, memory_order_release);
    if (freeing)
        *freeing = (struct freeing){ admission, hold };
    if (freeing && hold_free_command(hold, worker->config->redis.prefix, &cmd, &script) &&
        link_send(worker->main, &cmd, script, LINK_TIMEOUT, on_freed, freeing) == 0)
        return;
    free(freeing);
    admission_hold_leave(admission, hold, HOLD_LEFT);
}

static bool is_of(const struct slot_hold *hold, const struct later_job *job)
{
    uint32_t state = atomic_load(&hold->state);

    return (state == HOLD_TAKEN || state == HOLD_LOST) &&
           hold->slot == (uint32_t)(job->slot - job->worker->slots->page->slots) &&
           hold->slot_serial == atomic_load(&job->slot->serial);
}

void admission_leave(struct later_job *job)
{
    struct admission *admission = job->worker->admission;

    for (uint32_t i = 0; admission->holding && i < slots_holds(job->worker->slots); i++) {
        struct slot_hold *hold = &job->worker->slots->page->held[i];

        if (is_of(hold, job))
            let_go(admission, hold);
    }
}

/* --- for handlers --- */

int admission_lock(struct later_job *job, const char *name, double ttl, double wait,
                   struct later_error *err)
{
    struct worker *worker = job->worker;
    struct slot_hold *hold = admission_hold_enter(job, HOLD_LOCK, name, 1, ttl);
    char owner[LATER_LOCK_OWNER_MAX + 1];
    struct later_lock_wish wish = { .name = name, .owner = owner, .ttl = ttl, .wait = wait };
    struct later_locked locked;
    int taken;

    if (!hold)
        return later_fail(err, LATER_E_LATER, "this worker's jobs hold %d locks and places already",
                          SLOTS_HOLDS);
    snprintf(owner, sizeof owner, "%s %s %s", worker->start->host, job->queue, job->id);
    wish.token = hold->token;
    wish.stop = -1;
    taken = later_lock_wait(worker->client, &wish, &locked, err);
    if (taken != LATER_LOCK_YES) {
        admission_hold_leave(worker->admission, hold, taken < 0 ? HOLD_LEFT : HOLD_NONE);
        return taken;
    }
    hold->fence = locked.fence;
    atomic_store(&hold->touched, (int64_t)(locked.since * 1e6));
    atomic_store_explicit(&hold->state, HOLD_TAKEN, memory_order_release);
    return taken;
}

struct slot_hold *admission_held(const struct later_job *job, const char *name)
{
    uint32_t used = job->worker->admission->holding ? slots_holds(job->worker->slots) : 0;

    for (uint32_t i = 0; i < used; i++) {
        struct slot_hold *hold = &job->worker->slots->page->held[i];

        if (hold->kind == HOLD_LOCK && is_of(hold, job) && strcmp(hold->name, name) == 0)
            return hold;
    }
    return NULL;
}

/* At once, since the handler may take it again; who comes next is asked when the loop turns. */
void admission_unlock(struct later_job *job, struct slot_hold *hold)
{
    struct admission *admission = job->worker->admission;
    struct later_command cmd = { 0 };
    struct later_reply *reply = NULL;
    struct later_error err = { 0 };
    int script;

    hold_call_next(hold, admission->line);
    atomic_store_explicit(&hold->state, HOLD_ENDING, memory_order_release);
    if (hold_free_command(hold, job->worker->config->redis.prefix, &cmd, &script))
        reply = later_call(job->worker->client, &cmd, script, 0, true, &err);
    admission_hold_leave(admission, hold,
                         reply || err.code == LATER_E_DATA ? HOLD_NONE : HOLD_LEFT);
    later_reply_free(reply);
}
