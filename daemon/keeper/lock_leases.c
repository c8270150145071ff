/* lock_leases.c: locks and places of jobs, renewed and freed. */
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

#define AGAIN_SECONDS 0.5 /* before what Redis refused is tried again */

struct lock_leases {
    struct link *link;
    struct line *line;
    bool (*watched)(const void *arg, const struct slots *slots);
    const void *arg;
    char prefix[LATER_PREFIX_MAX + 1];
    struct fault refused;
};

/* A copy that ends where it must, whatever a handler has written over it. */
struct clean {
    char name[201], token[LATER_TOKEN_LEN + 1];
    bool lock;
    uint32_t max;
    double ttl;
};

static bool clean(const struct slot_hold *hold, struct clean *copy)
{
    memcpy(copy->name, hold->name, sizeof copy->name);
    memcpy(copy->token, hold->token, sizeof copy->token);
    copy->name[sizeof copy->name - 1] = copy->token[LATER_TOKEN_LEN] = '\0';
    copy->lock = hold->kind == HOLD_LOCK;
    copy->max = hold->max;
    copy->ttl = hold->ttl;
    return later_key_name_valid(copy->name) && copy->ttl >= LATER_LOCK_TTL_MIN &&
           copy->ttl <= LATER_LOCK_TTL_MAX;
}

static enum hold_state state_of(const struct slot_hold *hold)
{
    return (enum hold_state)atomic_load_explicit(&hold->state, memory_order_acquire);
}

bool hold_free_command(const struct slot_hold *hold, const char *prefix, struct later_command *cmd,
                       int *script)
{
    struct clean copy;

    if (!clean(hold, &copy))
        return false;
    if (copy.lock)
        later_lock_free(cmd, prefix, copy.name, copy.token);
    else
        later_permit_free(cmd, prefix, copy.name, (const char *const[]){ copy.token }, 1);
    *script = copy.lock ? LATER_SCRIPT_LOCK_FREE : LATER_SCRIPT_PERMIT_FREE;
    return true;
}

void hold_call_next(const struct slot_hold *hold, struct line *line)
{
    struct clean copy;

    if (clean(hold, &copy))
        line_call_next(line, &(struct line_key){ copy.lock, copy.max, copy.name });
}

/* --- a call without an answer --- */

struct item {
    struct slot_hold *hold;
    uint32_t serial;
};

struct call {
    struct lock_leases *holds;
    struct slots *slots;
    double sent;
    bool lock;
    size_t count;
    struct item items[LATER_BATCH_MAX];
};

static struct call *call_new(struct lock_leases *holds, struct slots *slots, bool lock)
{
    struct call *call = malloc(sizeof *call);

    if (call)
        *call = (struct call){ .holds = holds, .slots = slots, .lock = lock };
    return call;
}

/* No other call asks for it until this one is answered. On a Redis Cluster that may take a while,
 * and the others go on. */
static void add(struct call *call, struct slot_hold *hold)
{
    call->items[call->count++] = (struct item){ hold, atomic_load(&hold->serial) };
    atomic_store(&hold->again, INT64_MAX);
}

/* From then on they may be asked for again. */
static void let_go(const struct call *call, double when)
{
    for (size_t i = 0; i < call->count; i++) {
        struct slot_hold *hold = call->items[i].hold;

        if (atomic_load(&hold->serial) == call->items[i].serial)
            atomic_store(&hold->again, (int64_t)(when * 1e6));
    }
}

static void ask(struct lock_leases *holds, struct later_command *cmd, int script,
                later_answer_fn *fn, struct call *call)
{
    call->sent = later_clock();
    if (link_send(holds->link, cmd, script, LINK_TIMEOUT, fn, call) < 0) {
        let_go(call, 0);
        free(call);
    }
}

/* Its answer is there. Returns whether the page, and Redis's word, are. */
static bool answered(struct call *call, const struct later_answer *answer, const char *what)
{
    struct lock_leases *holds = call->holds;
    bool mapped = holds->watched(holds->arg, call->slots);

    if (answer->outcome == LATER_REFUSED)
        fault_note(&holds->refused, LOG_WARN, "redis refuses to %s: %s", what, answer->text);
    else if (answer->outcome == LATER_ANSWERED)
        fault_over(&holds->refused);
    if (mapped)
        let_go(call, answer->outcome == LATER_ANSWERED ? 0 : later_clock() + AGAIN_SECONDS);
    return answer->outcome == LATER_ANSWERED && mapped;
}

/* --- renewing --- */

static void lose(struct slots *slots, struct slot_hold *hold)
{
    uint32_t expected = HOLD_TAKEN, index = hold->slot;
    struct slot *slot = index < slots->capacity ? &slots->page->slots[index] : NULL;
    struct slot_words words;

    if (!atomic_compare_exchange_strong(&hold->state, &expected, (uint32_t)HOLD_LOST))
        return; /* the job ends just now */
    if (!slot || atomic_load(&slot->serial) != hold->slot_serial)
        return;
    log_job(LOG_WARN, slot_log_fields(slots, slot, &words),
            "it has lost its %s %.200s: ended, since another may have it by now",
            hold->kind == HOLD_LOCK ? "lock" : "place under", hold->name);
    expected = 0;
    atomic_compare_exchange_strong(&slot->cancelled, &expected, (uint32_t)SLOT_UNLOCKED);
}

static void on_renewed(void *arg, struct later_answer *answer)
{
    struct call *call = arg;
    bool known = answered(call, answer, "renew locks and places");
    size_t cursor = 0;

    for (size_t i = 0; known && i < call->count; i++) {
        struct slot_hold *hold = call->items[i].hold;
        bool gone = call->lock ? !later_lock_still(answer->reply)
                               : later_queue_lost(answer->reply, i, &cursor);

        if (atomic_load(&hold->serial) != call->items[i].serial || state_of(hold) != HOLD_TAKEN)
            continue;
        if (gone)
            lose(call->slots, hold);
        else
            atomic_store(&hold->touched, (int64_t)(call->sent * 1e6));
    }
    free(call);
}

static double age(const struct slot_hold *hold, double now)
{
    return now - (double)atomic_load(&hold->touched) / 1e6;
}

static void renew_lock(struct lock_leases *holds, struct slots *slots, struct slot_hold *hold,
                       const struct clean *copy)
{
    struct call *call = call_new(holds, slots, true);
    struct later_command cmd = { 0 };

    if (!call)
        return; /* no memory: at the next look */
    add(call, hold);
    later_lock_touch(&cmd, holds->prefix, copy->name, copy->token, copy->ttl);
    ask(holds, &cmd, LATER_SCRIPT_LOCK_TOUCH, on_renewed, call);
}

/* All places of one name from `first` on, up to 500 in a call. All of a page have one ttl. */
static void renew_places(struct lock_leases *holds, struct slots *slots, uint32_t first,
                         const struct clean *copy)
{
    struct call *call = call_new(holds, slots, false);
    char tokens[LATER_BATCH_MAX][LATER_TOKEN_LEN + 1];
    const char *list[LATER_BATCH_MAX];
    struct later_command cmd = { 0 };

    for (uint32_t i = first; call && i < slots_holds(slots) && call->count < LATER_BATCH_MAX; i++) {
        struct slot_hold *hold = &slots->page->held[i];
        struct clean other;

        if (state_of(hold) != HOLD_TAKEN || !clean(hold, &other) || other.lock ||
            strcmp(other.name, copy->name) != 0 || atomic_load(&hold->again) == INT64_MAX)
            continue;
        memcpy(tokens[call->count], other.token, sizeof other.token);
        list[call->count] = tokens[call->count];
        add(call, hold);
    }
    if (!call)
        return;
    later_permit_touch(&cmd, holds->prefix, copy->name, copy->ttl, list, call->count);
    ask(holds, &cmd, LATER_SCRIPT_PERMIT_TOUCH, on_renewed, call);
}

/* --- what a living worker could not free --- */

static void on_freed(void *arg, struct later_answer *answer)
{
    struct call *call = arg;
    struct slot_hold *hold = call->items[0].hold;
    bool refused = answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON;
    bool known = answered(call, answer, "free a lock or place");

    if ((known || (refused && call->holds->watched(call->holds->arg, call->slots))) &&
        atomic_load(&hold->serial) == call->items[0].serial && state_of(hold) == HOLD_LEFT)
        atomic_store(&hold->state, HOLD_NONE);
    free(call);
}

static void free_left(struct lock_leases *holds, struct slots *slots, struct slot_hold *hold)
{
    struct call *call = call_new(holds, slots, false);
    struct later_command cmd = { 0 };
    int script;

    if (!call)
        return;
    if (!hold_free_command(hold, holds->prefix, &cmd, &script)) {
        atomic_store(&hold->state, HOLD_NONE);
        free(call);
        return;
    }
    add(call, hold);
    ask(holds, &cmd, script, on_freed, call);
    hold_call_next(hold, holds->line);
    line_flush(holds->line);
}

/* One hold of a living worker. A lock that could not be renewed for all of its ttl is lost,
 * whatever Redis will say; a place is ours until another took it. */
static void look_at(struct lock_leases *holds, struct slots *slots, uint32_t i, double now,
                    bool may_send)
{
    struct slot_hold *hold = &slots->page->held[i];
    enum hold_state state = state_of(hold);
    struct clean copy;

    may_send = may_send && (double)atomic_load(&hold->again) <= now * 1e6;

    if (state == HOLD_LEFT && may_send)
        free_left(holds, slots, hold);
    if (state != HOLD_TAKEN || !clean(hold, &copy))
        return;
    if (copy.lock && age(hold, now) > copy.ttl)
        lose(slots, hold);
    else if (may_send && age(hold, now) >= copy.ttl / 3 && copy.lock)
        renew_lock(holds, slots, hold, &copy);
    else if (may_send && age(hold, now) >= copy.ttl / 3)
        renew_places(holds, slots, i, &copy);
}

void lock_leases_renew(struct lock_leases *holds, struct slots *slots, double now)
{
    uint32_t used = slots_holds(slots);
    bool may_send = link_is_up(holds->link);

    for (uint32_t i = 0; i < used; i++)
        look_at(holds, slots, i, now, may_send);
}

struct lock_leases *lock_leases_new(struct link *link, const char *prefix,
                                    bool (*watched)(const void *arg, const struct slots *slots),
                                    const void *arg)
{
    struct lock_leases *holds = calloc(1, sizeof *holds);

    if (!holds)
        return NULL;
    *holds = (struct lock_leases){ .link = link, .watched = watched, .arg = arg };
    snprintf(holds->prefix, sizeof holds->prefix, "%s", prefix);
    holds->line = line_new(link, holds->prefix, NULL, NULL);
    if (holds->line)
        return holds;
    lock_leases_free(holds);
    return NULL;
}

void lock_leases_free(struct lock_leases *holds)
{
    if (holds)
        line_free(holds->line);
    free(holds);
}
