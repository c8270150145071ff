/* outbox.c: settlements on their way. */
#include "reservation/outbox.h"

#include "fault.h"
#include "log.h"
#include "reservation/sending.h"
#include "reservation/value.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

#define RETRY_SECONDS 0.5 /* after a refusal that may pass: full, busy, read-only */

/* Slots of one queue for one verb. */
struct group {
    const struct later_keys *keys;
    enum later_verb verb;
    struct sending_item *items;
    size_t count, room;
    bool refused; /* by Redis: not again before the timer says so, however often it is flushed */
};

struct outbox {
    struct link *link;
    const char *host;
    outbox_keys_fn *keys;
    outbox_done_fn *done;
    void *arg;
    struct group *groups;
    size_t group_count, latest; /* latest: found last, and mostly the next one, too */
    size_t waiting, open;
    struct timer *retry;
    struct fault refused;
    const struct later_keys *refused_by; /* the queue whose answer ends that fault */
    bool reconnect;                      /* before the next try: this Redis will not do */
};

static void on_retry(void *arg)
{
    struct outbox *outbox = arg;

    for (size_t i = 0; i < outbox->group_count; i++)
        outbox->groups[i].refused = false;
    if (outbox->reconnect) {
        outbox->reconnect = false;
        link_break(outbox->link, "this Redis takes no writes");
    }
    outbox_flush(outbox);
    link_flush(outbox->link);
}

struct outbox *outbox_new(struct event_base *base, struct link *link, const char *host,
                          outbox_keys_fn *keys, outbox_done_fn *done, void *arg)
{
    struct outbox *outbox = calloc(1, sizeof *outbox);

    if (!outbox)
        return NULL;
    *outbox = (struct outbox){ .link = link, .host = host, .keys = keys, .done = done, .arg = arg };
    outbox->retry = timer_new(base, on_retry, outbox);
    if (!outbox->retry) {
        free(outbox);
        return NULL;
    }
    return outbox;
}

void outbox_free(struct outbox *outbox)
{
    if (!outbox)
        return;
    for (size_t i = 0; i < outbox->group_count; i++)
        free(outbox->groups[i].items);
    free(outbox->groups);
    timer_free(outbox->retry);
    fault_free(&outbox->refused);
    free(outbox);
}

static bool outbox_is_of(const struct group *group, const struct later_keys *keys,
                         enum later_verb verb)
{
    return group->keys == keys && group->verb == verb;
}

static struct group *find_group(struct outbox *outbox, const struct later_keys *keys,
                                enum later_verb verb)
{
    struct group *groups;

    if (outbox->group_count && outbox_is_of(&outbox->groups[outbox->latest], keys, verb))
        return &outbox->groups[outbox->latest];
    for (size_t i = 0; i < outbox->group_count; i++) {
        if (!outbox_is_of(&outbox->groups[i], keys, verb))
            continue;
        outbox->latest = i;
        return &outbox->groups[i];
    }
    groups = realloc(outbox->groups, (outbox->group_count + 1) * sizeof *groups);
    if (!groups)
        return NULL;
    outbox->groups = groups;
    groups[outbox->group_count] = (struct group){ .keys = keys, .verb = verb };
    return &groups[outbox->group_count++];
}

static bool outbox_put(struct outbox *outbox, const struct later_keys *keys, enum later_verb verb,
                       struct sending_item item)
{
    struct group *group = find_group(outbox, keys, verb);

    if (!group)
        return false;
    if (group->count == group->room) {
        size_t room = group->room ? group->room * 2 : 64;
        struct sending_item *items = realloc(group->items, room * sizeof *items);

        if (!items)
            return false;
        group->items = items;
        group->room = room;
    }
    group->items[group->count++] = item;
    outbox->waiting++;
    return true;
}

/* Nobody renews the lease of a FREE slot's job: it will lapse. */
static void let_lapse(struct slot *slot)
{
    log_line(LOG_ERROR, "job %.*s cannot be settled: no memory, or no queue; its lease will lapse",
             LATER_ID_MAX, slot->id);
    atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
}

bool outbox_add(struct outbox *outbox, struct slots *slots, struct slot *slot)
{
    const struct later_keys *keys = outbox->keys(outbox->arg, slots, slot->queue);
    struct sending_item item = { .slots = slots, .slot = slot };

    memcpy(item.token, slot->token, LATER_TOKEN_LEN);
    if (!keys || !outbox_put(outbox, keys, sending_verb(slot), item)) {
        let_lapse(slot);
        return false;
    }
    outbox->open++;
    slots->in_outbox++;
    return true;
}

/* The outbox knows nothing of this item any more. `done` may unmap its page. */
static void outbox_let_go(struct outbox *outbox, const struct sending_item *item, bool lost)
{
    outbox->open--;
    item->slots->in_outbox--;
    outbox->done(outbox->arg, item->slots, item->slot, lost);
}

/* Everything goes back to its group, to be sent again. */
static void outbox_put_back(struct sending *sending, bool refused, bool unknown)
{
    struct outbox *outbox = sending->outbox;
    struct group *group = find_group(outbox, sending->keys, sending->verb);

    if (group && refused)
        group->refused = true;
    for (size_t i = 0; i < sending->count; i++) {
        struct sending_item item = sending->items[i];

        item.unknown = item.unknown || unknown;
        if (outbox_put(outbox, sending->keys, sending->verb, item))
            continue;
        let_lapse(item.slot);
        outbox_let_go(outbox, &item, true);
    }
    timer_soon(outbox->retry, RETRY_SECONDS);
}

static void settled(struct sending *sending, const struct later_reply *reply)
{
    struct outbox *outbox = sending->outbox;
    size_t cursor = 0;

    for (size_t i = 0; i < sending->count; i++) {
        struct sending_item item = sending->items[i];
        bool lost = later_queue_lost(reply, i, &cursor) && !item.unknown;

        value_drop(item.slots, item.slot);
        if (slot_ending(item.slot) != LATER_ENDED_LINE)
            atomic_store_explicit(&item.slot->state, SLOT_FREE, memory_order_release);
        outbox_let_go(outbox, &item, lost);
    }
}

static void outbox_take_answer(void *arg, struct later_answer *answer);

/* Returns false when that is not possible now. */
static bool send_call(struct sending *sending)
{
    struct later_command cmd = { 0 };

    if (!sending->noted && sending_encode_notes(sending, &cmd))
        return link_send(sending->outbox->link, &cmd, LINK_TIMEOUT, outbox_take_answer, sending) ==
               0;
    sending->noted = true;
    return sending_encode(sending, NULL, &cmd) &&
           link_send(sending->outbox->link, &cmd, LINK_TIMEOUT, outbox_take_answer, sending) == 0;
}

/* Redis has the notes; or the token does not hold all jobs any more, and it looks at each. */
static void send_next(struct sending *sending)
{
    if (send_call(sending)) {
        link_flush(sending->outbox->link);
        return;
    }
    outbox_put_back(sending, false, false);
    free(sending);
}

/* Was this the answer to another call than the one that settles? Then that is sent now. */
static bool goes_on(struct sending *sending, const struct later_reply *reply)
{
    if (sending->noted && !(sending->whole && later_queue_wants_ids(reply)))
        return false;
    sending->noted = true;
    sending->whole = false;
    send_next(sending);
    return true;
}

static void outbox_take_answer(void *arg, struct later_answer *answer)
{
    struct sending *sending = arg;
    struct outbox *outbox = sending->outbox;

    if (answer->outcome == LATER_ANSWERED) {
        if (outbox->refused_by == sending->keys)
            fault_over(&outbox->refused);
        if (goes_on(sending, answer->reply))
            return;
        settled(sending, answer->reply);
    } else {
        bool refused = answer->outcome == LATER_REFUSED;

        if (refused) {
            outbox->refused_by = sending->keys;
            fault_note(&outbox->refused, LOG_WARN,
                       "redis refuses to %s %zu jobs of queue %s: %s; trying again",
                       later_verb_name(sending->verb), sending->count, sending->keys->queue,
                       answer->text);
        }
        if (refused && answer->remedy == LATER_REMEDY_RECONNECT)
            outbox->reconnect = true;
        outbox_put_back(sending, refused, sending->noted && answer->outcome == LATER_UNKNOWN);
    }
    free(sending);
}

/* Takes up to 500 out of a group, all of one token. NULL: no memory. */
static struct sending *begin_sending(struct outbox *outbox, struct group *group)
{
    struct sending *sending = sending_take(group->keys, group->verb, group->items, &group->count);

    if (!sending)
        return NULL;
    sending->outbox = outbox;
    sending->host = outbox->host;
    outbox->waiting -= sending->count;
    return sending;
}

/* Sends some of a group. Returns false when that is not possible now. */
static bool send_some(struct outbox *outbox, struct group *group)
{
    struct sending *sending = begin_sending(outbox, group);

    if (!sending)
        return false;
    if (send_call(sending))
        return true;
    memcpy(&group->items[group->count], sending->items, sending->count * sizeof *group->items);
    group->count += sending->count;
    outbox->waiting += sending->count;
    free(sending);
    return false;
}

/* Are these acks only of the token that came last, and were there more jobs? */
static bool comes_on(const struct group *group)
{
    const struct sending_item *first = &group->items[0], *last = &group->items[group->count - 1];

    return group->verb == LATER_VERB_ACK && strcmp(first->token, last->token) == 0 &&
           first->slot->given > group->count;
}

static bool may_join(const struct group *group)
{
    return sending_joins(group->verb, group->items, group->count) > 0;
}

/* stays: what is left for now; NULL: nothing. */
static void outbox_flush_groups(struct outbox *outbox, bool (*stays)(const struct group *))
{
    if (!link_is_up(outbox->link))
        return;
    for (size_t i = 0; i < outbox->group_count; i++) {
        struct group *group = &outbox->groups[i];

        while (group->count && !group->refused && !(stays && stays(group)) &&
               send_some(outbox, group))
            ;
    }
}

void outbox_flush(struct outbox *outbox)
{
    outbox_flush_groups(outbox, NULL);
}

void outbox_flush_early(struct outbox *outbox)
{
    outbox_flush_groups(outbox, comes_on);
}

void outbox_flush_but_joining(struct outbox *outbox)
{
    outbox_flush_groups(outbox, may_join);
}

/* --- with a reserve --- */

struct sending *outbox_join(struct outbox *outbox, const struct later_keys *keys, size_t most,
                            bool early)
{
    static const enum later_verb verbs[] = { LATER_VERB_ACK, LATER_VERB_FINISH };

    for (int i = 0; i < (early ? 1 : 2); i++) {
        struct group *group = find_group(outbox, keys, verbs[i]);
        size_t count = group ? sending_joins(verbs[i], group->items, group->count) : 0;

        if (count && count <= most && !group->refused && !(early && comes_on(group)))
            return begin_sending(outbox, group);
    }
    return NULL;
}

/* A refusal may be of the reserve alone: they go again at once, by themselves. */
void outbox_joined(struct sending *sending, const struct later_answer *answer)
{
    if (answer && answer->outcome == LATER_ANSWERED) {
        if (sending->outbox->refused_by == sending->keys)
            fault_over(&sending->outbox->refused);
        settled(sending, later_queue_stepped(answer->reply));
    } else {
        outbox_put_back(sending, false, answer && answer->outcome != LATER_UNSENT);
    }
    free(sending);
}

size_t outbox_waiting(const struct outbox *outbox)
{
    return outbox->waiting;
}

size_t outbox_open(const struct outbox *outbox)
{
    return outbox->open;
}
