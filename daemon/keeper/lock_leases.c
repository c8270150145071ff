/* lock_leases.c: renews and frees the locks and permits of jobs. */
#include "keeper/lock_leases.h"

#include "base/clock.h"
#include "queue/lock.h"
#include "fault.h"
#include "log.h"
#include "queue/permit.h"
#include "redis/script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_SECONDS 0.5 /* before trying again what Redis refused */

struct lock_leases {
    struct link *link;
    struct line *line;
    bool (*watched)(const void *arg, uint64_t page);
    const void *arg;
    char prefix[LATER_PREFIX_MAX + 1];
    struct fault refused;
};

/* A copy whose strings end, whatever a handler has written over the original. */
struct clean {
    char name[201], token[LATER_TOKEN_LEN + 1];
    bool lock;
    uint32_t max;
    double ttl;
};

static bool clean(const struct lock_lease *lease, struct clean *copy)
{
    memcpy(copy->name, lease->name, sizeof copy->name);
    memcpy(copy->token, lease->token, sizeof copy->token);
    copy->name[sizeof copy->name - 1] = copy->token[LATER_TOKEN_LEN] = '\0';
    copy->lock = lease->kind == LEASE_LOCK;
    copy->max = lease->max;
    copy->ttl = lease->ttl;
    return later_key_name_valid(copy->name) && copy->ttl >= LATER_LOCK_TTL_MIN &&
           copy->ttl <= LATER_LOCK_TTL_MAX;
}

static enum lock_lease_state lock_leases_state_of(const struct lock_lease *lease)
{
    return (enum lock_lease_state)atomic_load_explicit(&lease->state, memory_order_acquire);
}

bool lock_lease_free_command(const struct lock_lease *lease, const char *prefix,
                             struct later_command *cmd)
{
    struct clean copy;

    if (!clean(lease, &copy))
        return false;
    if (copy.lock)
        later_lock_free(cmd, prefix, copy.name, copy.token);
    else
        later_permit_free(cmd, prefix, copy.name, copy.token);
    return true;
}

void lock_lease_call_next(const struct lock_lease *lease, struct line *line)
{
    struct clean copy;

    if (clean(lease, &copy))
        line_call_next(
            line, &(struct later_line){ .what = copy.lock ? LATER_LINE_LOCK : LATER_LINE_PERMIT,
                                        .max = copy.max,
                                        .name = copy.name });
}

/* --- a call without an answer --- */

struct item {
    struct lock_lease *lease;
    uint32_t serial;
};

struct call {
    struct lock_leases *leases;
    struct slots *slots; /* valid only while `page`, its number, is watched */
    uint64_t page;
    double sent;
    bool lock;
    size_t count;
    struct item items[LATER_BATCH_MAX];
};

static struct call *call_new(struct lock_leases *leases, struct slots *slots, bool lock)
{
    struct call *call = malloc(sizeof *call);

    if (call)
        *call =
            (struct call){ .leases = leases, .slots = slots, .page = slots->number, .lock = lock };
    return call;
}

/* Adds a lease to the call. Until the call is answered, no other call asks for it. On a Redis
 * Cluster that may take a while, and other leases go on. */
static void lock_leases_add(struct call *call, struct lock_lease *lease)
{
    call->items[call->count++] = (struct item){ lease, atomic_load(&lease->serial) };
    atomic_store(&lease->again, INT64_MAX);
}

/* Its leases may be asked for again from `when` on. */
static void lock_leases_let_go(const struct call *call, double when)
{
    for (size_t i = 0; i < call->count; i++) {
        struct lock_lease *lease = call->items[i].lease;

        if (atomic_load(&lease->serial) == call->items[i].serial)
            atomic_store(&lease->again, (int64_t)(when * 1e6));
    }
}

static void lock_leases_ask(struct lock_leases *leases, struct later_command *cmd,
                            later_answer_fn *fn, struct call *call)
{
    call->sent = later_clock();
    if (link_send(leases->link, cmd, LINK_TIMEOUT, fn, call) < 0) {
        lock_leases_let_go(call, 0);
        free(call);
    }
}

/* The answer is there. Returns whether the page still is, and whether Redis has answered. */
static bool lock_leases_answered(struct call *call, const struct later_answer *answer,
                                 const char *what)
{
    struct lock_leases *leases = call->leases;
    bool mapped = leases->watched(leases->arg, call->page);

    fault_judge(&leases->refused, answer, LOG_WARN, "redis refuses to %s: %s", what, answer->text);
    if (mapped)
        lock_leases_let_go(call,
                           answer->outcome == LATER_ANSWERED ? 0 : later_clock() + AGAIN_SECONDS);
    return answer->outcome == LATER_ANSWERED && mapped;
}

/* --- renewing --- */

static void lock_leases_lose(struct slots *slots, struct lock_lease *lease)
{
    uint32_t expected = LEASE_TAKEN, index = lease->slot;
    struct slot *slot = index < slots->capacity ? &slots->page->slots[index] : NULL;
    struct slot_words words;

    if (!atomic_compare_exchange_strong(&lease->state, &expected, (uint32_t)LEASE_LOST))
        return; /* the job is just ending */
    if (!slot || atomic_load(&slot->serial) != lease->slot_serial)
        return;
    log_job(LOG_WARN, slot_log_fields(slots, slot, &words),
            "it has lost its %s %.200s: ended, since another may have it by now",
            lease->kind == LEASE_LOCK ? "lock" : "permit of", lease->name);
    expected = 0;
    atomic_compare_exchange_strong(&slot->cancelled, &expected, (uint32_t)SLOT_UNLOCKED);
}

static void on_renewed(void *arg, struct later_answer *answer)
{
    struct call *call = arg;
    bool known = lock_leases_answered(call, answer, "renew locks and permits");
    size_t cursor = 0;

    for (size_t i = 0; known && i < call->count; i++) {
        struct lock_lease *lease = call->items[i].lease;
        bool gone = call->lock ? !later_lock_still(answer->reply)
                               : later_queue_lost(answer->reply, i, &cursor);

        if (atomic_load(&lease->serial) != call->items[i].serial ||
            lock_leases_state_of(lease) != LEASE_TAKEN)
            continue;
        if (gone)
            lock_leases_lose(call->slots, lease);
        else
            atomic_store(&lease->touched, (int64_t)(call->sent * 1e6));
    }
    free(call);
}

static double age(const struct lock_lease *lease, double now)
{
    return now - (double)atomic_load(&lease->touched) / 1e6;
}

static void renew_lock(struct lock_leases *leases, struct slots *slots, struct lock_lease *lease,
                       const struct clean *copy)
{
    struct call *call = call_new(leases, slots, true);
    struct later_command cmd = { 0 };

    if (!call)
        return; /* no memory: it is tried at the next look */
    lock_leases_add(call, lease);
    later_lock_touch(&cmd, leases->prefix, copy->name, copy->token, copy->ttl);
    lock_leases_ask(leases, &cmd, on_renewed, call);
}

/* Renews all permits of one name from `first` on, up to 500 in a call. All permits of a page have
 * the same ttl. */
static void renew_permits(struct lock_leases *leases, struct slots *slots, uint32_t first,
                          const struct clean *copy)
{
    struct call *call = call_new(leases, slots, false);
    char tokens[LATER_BATCH_MAX][LATER_TOKEN_LEN + 1];
    const char *list[LATER_BATCH_MAX];
    struct later_command cmd = { 0 };

    for (uint32_t i = first; call && i < slots_lock_leases(slots) && call->count < LATER_BATCH_MAX;
         i++) {
        struct lock_lease *lease = &slots->page->lock_leases[i];
        struct clean other;

        if (lock_leases_state_of(lease) != LEASE_TAKEN || !clean(lease, &other) || other.lock ||
            strcmp(other.name, copy->name) != 0 || atomic_load(&lease->again) == INT64_MAX)
            continue;
        memcpy(tokens[call->count], other.token, sizeof other.token);
        list[call->count] = tokens[call->count];
        lock_leases_add(call, lease);
    }
    if (!call)
        return;
    later_permit_touch(&cmd, leases->prefix, copy->name, copy->ttl, list, call->count);
    lock_leases_ask(leases, &cmd, on_renewed, call);
}

/* --- what a living worker could not free --- */

static void lock_leases_on_freed(void *arg, struct later_answer *answer)
{
    struct call *call = arg;
    struct lock_lease *lease = call->items[0].lease;
    bool refused = answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON;
    bool known = lock_leases_answered(call, answer, "free a lock or permit");

    if ((known || (refused && call->leases->watched(call->leases->arg, call->page))) &&
        atomic_load(&lease->serial) == call->items[0].serial &&
        lock_leases_state_of(lease) == LEASE_LEFT)
        atomic_store(&lease->state, LEASE_NONE);
    free(call);
}

static void free_left(struct lock_leases *leases, struct slots *slots, struct lock_lease *lease)
{
    struct call *call = call_new(leases, slots, false);
    struct later_command cmd = { 0 };

    if (!call)
        return;
    if (!lock_lease_free_command(lease, leases->prefix, &cmd)) {
        atomic_store(&lease->state, LEASE_NONE);
        free(call);
        return;
    }
    lock_leases_add(call, lease);
    lock_leases_ask(leases, &cmd, lock_leases_on_freed, call);
    lock_lease_call_next(lease, leases->line);
    line_flush(leases->line);
}

/* Looks at one lease of a living worker. A lock that could not be renewed for all of its ttl is
 * lost, whatever Redis will say. A permit is ours until another takes it. */
static void lock_leases_look_at(struct lock_leases *leases, struct slots *slots, uint32_t i,
                                double now, bool may_send)
{
    struct lock_lease *lease = &slots->page->lock_leases[i];
    enum lock_lease_state state = lock_leases_state_of(lease);
    struct clean copy;

    may_send = may_send && (double)atomic_load(&lease->again) <= now * 1e6;

    if (state == LEASE_LEFT && may_send)
        free_left(leases, slots, lease);
    if (state != LEASE_TAKEN || !clean(lease, &copy))
        return;
    if (copy.lock && age(lease, now) > copy.ttl)
        lock_leases_lose(slots, lease);
    else if (may_send && age(lease, now) >= copy.ttl / 3 && copy.lock)
        renew_lock(leases, slots, lease, &copy);
    else if (may_send && age(lease, now) >= copy.ttl / 3)
        renew_permits(leases, slots, i, &copy);
}

void lock_leases_renew(struct lock_leases *leases, struct slots *slots, double now)
{
    uint32_t used = slots_lock_leases(slots);
    bool may_send = link_is_up(leases->link);

    for (uint32_t i = 0; i < used; i++)
        lock_leases_look_at(leases, slots, i, now, may_send);
}

struct lock_leases *lock_leases_new(struct event_base *base, struct link *link, const char *prefix,
                                    bool (*watched)(const void *arg, uint64_t page),
                                    const void *arg)
{
    struct lock_leases *leases = calloc(1, sizeof *leases);

    if (!leases)
        return NULL;
    *leases = (struct lock_leases){ .link = link, .watched = watched, .arg = arg };
    snprintf(leases->prefix, sizeof leases->prefix, "%s", prefix);
    leases->line = line_new(base, link, leases->prefix, NULL, NULL);
    if (leases->line)
        return leases;
    lock_leases_free(leases);
    return NULL;
}

void lock_leases_free(struct lock_leases *leases)
{
    if (!leases)
        return;
    line_free(leases->line);
    fault_free(&leases->refused);
    free(leases);
}
