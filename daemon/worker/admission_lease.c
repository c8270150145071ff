/* admission_lease.c: the locks and permits of jobs in the slot page: entered, given back. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/state.h"

#include "client/call.h"
#include "base/clock.h"
#include "keeper/lock_leases.h"
#include "client/lock_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool still_free(const struct lock_lease *lease)
{
    return atomic_load_explicit(&lease->state, memory_order_acquire) == LEASE_NONE;
}

struct lock_lease *admission_lease_enter(const struct later_job *job, enum lock_lease_kind kind,
                                         const char *name, uint32_t max, double ttl)
{
    struct slots_page *page = job->worker->slots->page;
    struct lock_lease *lease;
    uint32_t i = 0;

    while (i < SLOTS_LOCK_LEASES && !still_free(&page->lock_leases[i]))
        i++;
    if (i == SLOTS_LOCK_LEASES)
        return NULL;
    lease = &page->lock_leases[i];
    lease->kind = (uint32_t)kind;
    lease->slot = (uint32_t)(job->slot - page->slots);
    lease->slot_serial = atomic_load(&job->slot->serial);
    lease->max = max;
    lease->ttl = ttl;
    lease->fence = 0;
    snprintf(lease->name, sizeof lease->name, "%s", name);
    later_token(lease->token);
    atomic_fetch_add_explicit(&lease->serial, 1, memory_order_relaxed);
    atomic_store(&lease->touched, (int64_t)(later_clock() * 1e6));
    atomic_store(&lease->again, 0);
    if (i >= atomic_load(&page->lock_leases_used))
        atomic_store(&page->lock_leases_used, i + 1);
    atomic_store_explicit(&lease->state, LEASE_ASKED, memory_order_release);
    job->worker->admission->leases++;
    return lease;
}

void admission_lease_leave(struct admission *admission, struct lock_lease *lease,
                           enum lock_lease_state state)
{
    struct slots_page *page = admission->worker->slots->page;
    uint32_t used = slots_lock_leases(admission->worker->slots);

    atomic_store_explicit(&lease->state, (uint32_t)state, memory_order_release);
    if (state == LEASE_LEFT)
        worker_busy(admission->worker);
    if (--admission->leases > 0)
        return;
    while (used > 0 && still_free(&page->lock_leases[used - 1]))
        used--;
    atomic_store(&page->lock_leases_used, used);
}

/* --- giving back --- */

struct freeing {
    struct admission *admission;
    struct lock_lease *lease;
};

static void admission_lease_on_freed(void *arg, struct later_answer *answer)
{
    struct freeing *freeing = arg;
    struct admission *admission = freeing->admission;
    bool done = answer->outcome == LATER_ANSWERED;

    admission->freeing--;
    if (done)
        lock_lease_call_next(freeing->lease, admission->line);
    admission_lease_leave(admission, freeing->lease, done ? LEASE_NONE : LEASE_LEFT);
    worker_pump_soon(admission->worker); /* which flushes */
    free(freeing);
}

/* Frees a lease, and then asks who comes next: not before the answer, since a call whose script
 * Redis does not know yet is overtaken by the next one. If that cannot be sent, the keeper frees
 * it. */
static void admission_lease_let_go(struct admission *admission, struct lock_lease *lease)
{
    const struct worker *worker = admission->worker;
    struct freeing *freeing = malloc(sizeof *freeing);
    struct later_command cmd = { 0 };

    atomic_store_explicit(&lease->state, LEASE_ENDING, memory_order_release);
    admission->freeing++;
    if (freeing)
        *freeing = (struct freeing){ admission, lease };
    if (freeing && lock_lease_free_command(lease, worker->config->redis.prefix, &cmd) &&
        link_send(worker->main, &cmd, LINK_TIMEOUT, admission_lease_on_freed, freeing) == 0)
        return;
    free(freeing);
    admission->freeing--;
    admission_lease_leave(admission, lease, LEASE_LEFT);
}

static bool admission_lease_is_of(const struct lock_lease *lease, const struct later_job *job)
{
    uint32_t state = atomic_load(&lease->state);

    return (state == LEASE_TAKEN || state == LEASE_LOST) &&
           lease->slot == (uint32_t)(job->slot - job->worker->slots->page->slots) &&
           lease->slot_serial == atomic_load(&job->slot->serial);
}

void admission_leave(struct later_job *job)
{
    struct admission *admission = job->worker->admission;

    admission_uncount(job);
    for (uint32_t i = 0; admission->leases && i < slots_lock_leases(job->worker->slots); i++) {
        struct lock_lease *lease = &job->worker->slots->page->lock_leases[i];

        if (admission_lease_is_of(lease, job))
            admission_lease_let_go(admission, lease);
    }
}

/* --- for handlers --- */

int admission_lock(struct later_job *job, const char *name, double ttl, double wait,
                   struct later_error *err)
{
    struct worker *worker = job->worker;
    struct lock_lease *lease = admission_lease_enter(job, LEASE_LOCK, name, 1, ttl);
    char owner[LATER_LOCK_OWNER_MAX + 1];
    struct later_lock_wish wish = { .name = name, .owner = owner, .ttl = ttl, .wait = wait };
    struct later_locked locked;
    int taken;

    if (!lease)
        return later_fail(err, LATER_E_LATER,
                          "this worker's jobs hold %d locks and permits already",
                          SLOTS_LOCK_LEASES);
    snprintf(owner, sizeof owner, "%s %s %s", worker->start->host, job->queue, job->id);
    wish.token = lease->token;
    wish.stop = -1;
    taken = later_lock_wait(worker->client, &wish, &locked, err);
    if (taken != LATER_LOCK_YES) {
        admission_lease_leave(worker->admission, lease, taken < 0 ? LEASE_LEFT : LEASE_NONE);
        return taken;
    }
    lease->fence = locked.fence;
    atomic_store(&lease->touched, (int64_t)(locked.since * 1e6));
    atomic_store_explicit(&lease->state, LEASE_TAKEN, memory_order_release);
    return taken;
}

struct lock_lease *admission_held(const struct later_job *job, const char *name)
{
    uint32_t used = job->worker->admission->leases ? slots_lock_leases(job->worker->slots) : 0;

    for (uint32_t i = 0; i < used; i++) {
        struct lock_lease *lease = &job->worker->slots->page->lock_leases[i];

        if (lease->kind == LEASE_LOCK && admission_lease_is_of(lease, job) &&
            strcmp(lease->name, name) == 0)
            return lease;
    }
    return NULL;
}

/* The lock is freed at once, since the handler may take it again. Who comes next is asked when the
 * loop turns. */
void admission_unlock(struct later_job *job, struct lock_lease *lease)
{
    struct admission *admission = job->worker->admission;
    struct later_command cmd = { 0 };
    struct later_reply *reply = NULL;
    struct later_error err = { 0 };

    lock_lease_call_next(lease, admission->line);
    atomic_store_explicit(&lease->state, LEASE_ENDING, memory_order_release);
    if (lock_lease_free_command(lease, job->worker->config->redis.prefix, &cmd))
        reply = later_call(job->worker->client, &cmd, 0, true, &err);
    admission_lease_leave(admission, lease,
                          reply || err.code == LATER_E_DATA ? LEASE_NONE : LEASE_LEFT);
    later_reply_free(reply);
}
