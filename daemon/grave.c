/* grave.c: settling for the dead. */
#include "grave.h"

#include "find.h"
#include "holds.h"
#include "log.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

#define PASSES       2
#define PASS_SECONDS 1 /* between looks for lost reserves */

struct grave {
    struct graves *graves;
    struct slots *slots;
    size_t jobs;  /* in the outbox */
    size_t finds; /* looks for lost reserves, and freeings, under way */
    int pass;     /* those that are complete */
    bool failed;  /* one of this pass was not */
    struct event *timer;
    struct grave *next;
};

struct graves {
    struct event_base *base;
    struct link *link;
    char prefix[LATER_PREFIX_MAX + 1];
    struct outbox *outbox;
    outbox_keys_fn *keys;
    void (*buried)(void *arg, struct slots *slots);
    void *arg;
    struct grave *list;
};

void grave_judge(struct slot *slot, bool others, enum keeper_cause cause, const char *text,
                 uint32_t crash_max)
{
    bool crash = cause == KEEPER_CRASH;
    bool last = slot->max_attempts && slot->attempt >= slot->max_attempts;
    const char *how = crash ? "crashed" : "ran";
    const char *kind = cause == KEEPER_TIMEOUT ? "timeout" : "crash";
    uint32_t crashes = slot->crashes > 0 ? (uint32_t)slot->crashes : 0;

    if (cause == KEEPER_INTERRUPTED) {
        slot_finish(slot, LATER_VERB_RETURN, 0, "interrupted", "", "");
    } else if (others && slot->event) {
        slot_finish(slot, LATER_VERB_RETURN, 0, "suspect", "", "");
    } else if (last || (crash && crashes + 1 >= crash_max)) {
        slot_finish(slot, LATER_VERB_BURY, 0, how, kind, text);
    } else {
        /* The first crash of a job has no backoff: it may have been its neighbour's, or ours. */
        bool at_once = cause == KEEPER_LEFT || (crash && crashes == 0);

        slot_finish(slot, LATER_VERB_RELEASE, at_once ? 0 : slot->retry_in, how, kind, text);
    }
}

static void check(struct grave *grave);

static void on_found(void *arg, bool ok)
{
    struct grave *grave = arg;

    grave->finds--;
    grave->failed = grave->failed || !ok;
    if (grave->finds == 0 && !grave->failed)
        grave->pass++;
    check(grave);
}

/* --- locks and places --- */

struct freeing {
    struct grave *grave;
    struct slot_hold *hold;
};

static void on_freed(void *arg, struct later_answer *answer)
{
    struct freeing *freeing = arg;
    struct grave *grave = freeing->grave;
    bool refused = answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON;
    bool asked = atomic_load(&freeing->hold->state) == HOLD_ASKED;

    if (refused) /* a key of another kind: its time ends it, if it has any */
        log_line(LOG_WARN, "redis refuses to free what a dead job held: %s", answer->text);
    if (refused || (answer->outcome == LATER_ANSWERED && !(asked && grave->pass == 0)))
        atomic_store(&freeing->hold->state, HOLD_NONE);
    free(freeing);
    on_found(grave, refused || answer->outcome == LATER_ANSWERED);
}

static int free_hold(struct grave *grave, struct slot_hold *hold)
{
    struct freeing *freeing = malloc(sizeof *freeing);
    struct later_command cmd = { 0 };
    int script;

    if (!freeing)
        return -1;
    *freeing = (struct freeing){ grave, hold };
    if (!hold_free_command(hold, grave->graves->prefix, &cmd, &script)) {
        atomic_store(&hold->state, HOLD_NONE); /* nobody knows its name: its time ends it */
        free(freeing);
        return 0;
    }
    if (link_send(grave->graves->link, &cmd, script, LINK_TIMEOUT, on_freed, freeing) < 0) {
        free(freeing);
        return -1;
    }
    grave->finds++;
    return 0;
}

/* Returns whether there is any. */
static bool free_holds(struct grave *grave)
{
    uint32_t used = slots_holds(grave->slots);
    bool any = false;

    for (uint32_t i = 0; i < used; i++) {
        struct slot_hold *hold = &grave->slots->page->held[i];

        if (atomic_load(&hold->state) == HOLD_NONE)
            continue;
        any = true;
        if (free_hold(grave, hold) < 0)
            grave->failed = true;
    }
    if (any)
        link_flush(grave->graves->link);
    return any;
}

/* --- reserves without an answer --- */

/* Looks for every reserve without an answer; with none, and nothing to free, the passes are over.
 */
static void look(struct grave *grave)
{
    struct slots_page *page = grave->slots->page;
    bool any = false;

    grave->failed = false;
    any = free_holds(grave);
    for (uint32_t i = 0; i < SLOTS_CALLS; i++) {
        struct slot_call *call = &page->calls[i];
        const struct later_keys *keys;

        if (!atomic_load(&call->asked))
            continue;
        keys = grave->graves->keys(grave->graves->arg, grave->slots, call->queue);
        if (!keys)
            continue; /* no such queue, or no memory: it will lapse */
        any = true;
        if (find_and_return(grave->graves->link, keys, call->token, on_found, grave) == 0)
            grave->finds++;
        else
            grave->failed = true;
    }
    if (!any)
        grave->pass = PASSES;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct grave *grave = arg;

    (void)fd;
    (void)what;
    if (grave->finds == 0)
        look(grave);
    check(grave);
}

static void bury(struct grave *grave)
{
    struct graves *graves = grave->graves;
    struct grave **link = &graves->list;

    while (*link != grave)
        link = &(*link)->next;
    *link = grave->next;
    event_free(grave->timer);
    graves->buried(graves->arg, grave->slots);
    free(grave);
}

/* Done, or what is next? */
static void check(struct grave *grave)
{
    const struct timeval wait = { PASS_SECONDS, 0 };

    if (grave->jobs == 0 && grave->finds == 0 && grave->pass >= PASSES)
        bury(grave);
    else if (grave->finds == 0 && grave->pass < PASSES)
        evtimer_add(grave->timer, &wait);
}

/* What it wrote to the log last may say why it died. */
static void judge_with_log(struct slot *slot, bool others, enum keeper_cause cause,
                           const char *text, uint32_t crash_max)
{
    char words[SLOT_TEXT + 1];

    slot->text[SLOT_TEXT] = '\0'; /* a SIGKILL may have come in the middle of it */
    snprintf(words, sizeof words, "%.160s%s%.800s", text, slot->text[0] ? "; last log line: " : "",
             slot->text);
    grave_judge(slot, others, cause, words, crash_max);
}

/* What is to be done about one slot; returns whether it is the outbox's now. */
static bool settle(struct slot *slot, bool others, enum keeper_cause cause, const char *text,
                   uint32_t crash_max)
{
    switch (slot_state(slot)) {
    case SLOT_HELD:
        slot_finish(slot, LATER_VERB_RETURN, 0, "held", "", "");
        break;
    case SLOT_RUNNING:
        if (slot->began <= 0) /* not in its handler yet */
            slot_finish(slot, LATER_VERB_RETURN, 0, "held", "", "");
        else
            judge_with_log(slot, others, cause, text, crash_max);
        break;
    case SLOT_FINISHED:
        break;
    case SLOT_RETURNING:
        if (cause != KEEPER_LEFT)
            return false; /* it is in the outbox already */
        /* That keeper may have died between the state and the verb: the one that is there may be
         * of the slot's job before, an ack. */
        slot_finish(slot, LATER_VERB_RETURN, 0, "held", "", "");
        break;
    case SLOT_FREE:
        return false;
    }
    slot_mend(slot);
    atomic_store(&slot->state, SLOT_FINISHED);
    return true;
}

static size_t count(struct slots *slots, enum slot_state state)
{
    size_t found = 0;

    for (uint32_t i = 0; i < slots->capacity; i++)
        found += slot_state(&slots->page->slots[i]) == state;
    return found;
}

void grave_dig(struct graves *graves, struct slots *slots, enum keeper_cause cause,
               const char *text, uint32_t crash_max)
{
    struct grave *grave = calloc(1, sizeof *grave);
    bool others = count(slots, SLOT_RUNNING) > 1;

    if (!grave || !(grave->timer = evtimer_new(graves->base, on_timer, grave))) {
        log_line(LOG_ERROR, "no memory to settle %s: its leases will lapse", slots->path);
        free(grave);
        graves->buried(graves->arg, slots);
        return;
    }
    grave->graves = graves;
    grave->slots = slots;
    grave->next = graves->list;
    graves->list = grave;
    grave->jobs = cause == KEEPER_LEFT ? 0 : count(slots, SLOT_RETURNING);
    for (uint32_t i = 0; i < slots->capacity; i++) {
        struct slot *slot = &slots->page->slots[i];

        if (settle(slot, others, cause, text, crash_max) && outbox_add(graves->outbox, slots, slot))
            grave->jobs++;
    }
    look(grave);
    check(grave);
}

void graves_settled(struct graves *graves, struct slots *slots)
{
    for (struct grave *grave = graves->list; grave; grave = grave->next) {
        if (grave->slots != slots)
            continue;
        if (grave->jobs)
            grave->jobs--;
        check(grave);
        return;
    }
}

void graves_link_up(struct graves *graves)
{
    for (struct grave *grave = graves->list; grave; grave = grave->next) {
        if (grave->finds == 0 && grave->pass < PASSES)
            event_active(grave->timer, EV_TIMEOUT, 0);
    }
}

size_t graves_open(const struct graves *graves)
{
    size_t open = 0;

    for (const struct grave *grave = graves->list; grave; grave = grave->next)
        open++;
    return open;
}

struct graves *graves_new(struct event_base *base, struct link *link, const char *prefix,
                          struct outbox *outbox, outbox_keys_fn *keys,
                          void (*buried)(void *arg, struct slots *slots), void *arg)
{
    struct graves *graves = calloc(1, sizeof *graves);

    if (!graves)
        return NULL;
    *graves = (struct graves){
        .base = base, .link = link, .outbox = outbox, .keys = keys, .buried = buried, .arg = arg
    };
    snprintf(graves->prefix, sizeof graves->prefix, "%s", prefix);
    return graves;
}

void graves_free(struct graves *graves)
{
    struct grave *next;

    if (!graves)
        return;
    for (struct grave *grave = graves->list; grave; grave = next) {
        next = grave->next;
        event_free(grave->timer);
        free(grave);
    }
    free(graves);
}
