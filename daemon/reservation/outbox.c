/* outbox.c: settlements on their way. */
#include "reservation/outbox.h"

#include "base/uncleared.h"
#include "fault.h"
#include "log.h"
#include "queue/shards.h"
#include "reservation/value.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

#define RETRY_SECONDS 0.5    /* after a refusal that may pass: full, busy, read-only */
#define VALUES_MAX    262144 /* bytes of values in a call, as of documents in a reserve */

struct item {
    struct slots *slots;
    struct slot *slot;
    char token[LATER_TOKEN_LEN + 1]; /* the slot's: its writer may change it meanwhile */
    bool unknown;                    /* an earlier call may have settled it */
};

/* One call without an answer. */
struct sending {
    struct outbox *outbox;
    const struct later_keys *keys;
    enum later_verb verb;
    bool whole; /* it goes by the token and the number of its jobs */
    size_t count;
    struct item items[];
};

/* Slots of one queue for one verb. */
struct group {
    const struct later_keys *keys;
    enum later_verb verb;
    struct item *items;
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
                       struct item item)
{
    struct group *group = find_group(outbox, keys, verb);

    if (!group)
        return false;
    if (group->count == group->room) {
        size_t room = group->room ? group->room * 2 : 64;
        struct item *items = realloc(group->items, room * sizeof *items);

        if (!items)
            return false;
        group->items = items;
        group->room = room;
    }
    group->items[group->count++] = item;
    outbox->waiting++;
    return true;
}

/* Of a job that leaves something, or is kept, the call is another one. */
static enum later_verb verb_of(const struct slot *slot)
{
    enum later_verb verb = slot_verb(slot);
    char hook[LATER_TYPE_MAX + 1], of[LATER_TYPE_MAX + 1];
    struct later_kept kept;

    if (verb != LATER_VERB_ACK && verb != LATER_VERB_BURY)
        return verb;
    if (slot_kept(slot) > 0 || slot_hook(slot, hook, of) ||
        (verb == LATER_VERB_ACK && (slot->value_len > 0 || slot_keeps(slot, &kept))))
        return LATER_VERB_FINISH;
    return verb;
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
    struct item item = { .slots = slots, .slot = slot };

    memcpy(item.token, slot->token, LATER_TOKEN_LEN);
    if (!keys || !outbox_put(outbox, keys, verb_of(slot), item)) {
        let_lapse(slot);
        return false;
    }
    outbox->open++;
    slots->in_outbox++;
    return true;
}

/* The outbox knows nothing of this item any more. `done` may unmap its page. */
static void outbox_let_go(struct outbox *outbox, const struct item *item, bool lost)
{
    outbox->open--;
    item->slots->in_outbox--;
    if (outbox->done)
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
        struct item item = sending->items[i];

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
        struct item item = sending->items[i];
        bool lost = later_queue_lost(reply, i, &cursor) && !item.unknown;

        value_drop(item.slots, item.slot);
        atomic_store_explicit(&item.slot->state, SLOT_FREE, memory_order_release);
        outbox_let_go(outbox, &item, lost);
    }
}

/* --- the call --- */

/* NULL: none is to be noted. */
static char *error_of(const struct slot *slot, const struct slot_copy *copy, const char *host)
{
    char text[SLOT_TEXT + 1];

    if (!copy->kind)
        return NULL;
    slot_copy_text(slot, text);
    return *text ? later_queue_error(copy->kind, text, host, slot_ran(slot)) : NULL;
}

/* Encodes the settlements by way of `copies`, one for each: whoever has a page mapped may write
 * there meanwhile. Errors are made here, not when the job ended: most have none. take: of a reserve
 * in the same call; or NULL. */
static void encode_each(const struct sending *sending, struct slot_copy *copies,
                        const struct later_take *take, struct later_command *cmd)
{
    struct later_settlement jobs[LATER_BATCH_MAX] LATER_UNCLEARED;
    char *errors[LATER_BATCH_MAX] LATER_UNCLEARED;

    for (size_t i = 0; i < sending->count; i++) {
        const struct slot *slot = sending->items[i].slot;
        struct slot_copy *copy = &copies[i];

        slot_copy(slot, sending->verb, copy);
        errors[i] = error_of(slot, copy, sending->outbox->host);
        jobs[i] = (struct later_settlement){ .token = sending->items[0].token,
                                             .id = copy->id,
                                             .wait = copy->wait,
                                             .how = copy->how,
                                             .error = errors[i] };
    }
    if (take)
        later_queue_step(cmd, sending->keys, take, jobs, sending->count);
    else
        later_queue_settle(cmd, sending->keys, sending->verb, 0, jobs, sending->count);
    for (size_t i = 0; i < sending->count; i++)
        free(errors[i]);
}

/* What a slot's job leaves, and where its parts are. */
struct outbox_left {
    struct later_remains left;
    struct later_kept kept;
    struct later_hook hook;
    char type[LATER_TYPE_MAX + 1], of[LATER_TYPE_MAX + 1];
    later_queue_name queue;
};

/* value: room for one, or NULL; the caller's. */
static void outbox_leave(const struct sending *sending, struct outbox_left *it, char *value)
{
    const struct item *item = &sending->items[0];

    it->left = (struct later_remains){ .result = slot_kept(item->slot), .value = value };
    if (value)
        it->left.value_len = value_read(item->slots, item->slot, value);
    if (slot_verb(item->slot) == LATER_VERB_ACK && slot_keeps(item->slot, &it->kept)) {
        it->kept.host = sending->outbox->host;
        it->left.kept = &it->kept;
    }
    if (slot_hook(item->slot, it->type, it->of)) {
        later_shard_whole(it->queue, sending->keys->queue);
        it->hook = (struct later_hook){ .type = it->type, .of = it->of, .queue = it->queue };
        it->left.hook = &it->hook;
    }
}

/* Several that leave something. */
static bool encode_finish_all(const struct sending *sending, struct later_command *cmd)
{
    const struct item *items = sending->items;
    struct later_kept kept;
    bool keeps = slot_keeps(items[0].slot, &kept);
    char *value = malloc(LATER_VALUE_MAX);

    if (!value)
        return false;
    later_queue_finish_all(cmd, sending->keys, items[0].token, sending->count,
                           keeps ? &kept : NULL);
    for (size_t i = 0; i < sending->count; i++) {
        struct later_remains left = { .result = slot_kept(items[i].slot), .value = value };
        struct slot_copy copy;

        slot_copy(items[i].slot, LATER_VERB_ACK, &copy);
        left.value_len = value_read(items[i].slots, items[i].slot, value);
        if (keeps) {
            kept.ms = slot_ran(items[i].slot) * 1000;
            kept.host = sending->outbox->host;
            left.kept = &kept;
        }
        later_queue_finish_add(cmd, copy.id, &left);
    }
    free(value);
    return true;
}

/* One that leaves something. */
static void encode_finish(const struct sending *sending, struct later_command *cmd)
{
    const struct item *item = &sending->items[0];
    bool dead = slot_verb(item->slot) == LATER_VERB_BURY;
    struct later_settlement job = { .token = item->token, .how = "done" };
    char *value = dead ? NULL : malloc(LATER_VALUE_MAX), *error = NULL;
    struct outbox_left it;
    struct slot_copy copy;

    slot_copy(item->slot, dead ? LATER_VERB_BURY : LATER_VERB_ACK, &copy);
    job.id = copy.id;
    if (dead) {
        error = error_of(item->slot, &copy, sending->outbox->host);
        job.how = copy.how ? copy.how : "ran";
        job.error = error;
    }
    outbox_leave(sending, &it, value);
    later_queue_finish(cmd, sending->keys, &job, &it.left);
    free(value);
    free(error);
}

/* Are these all the jobs that the token was ever given? Then Redis takes their ids from its own
 * set. A worker mostly ends all jobs of a reserve before it acks the first of them. Of one job by
 * its id there is nothing to save. */
static bool is_whole(const struct sending *sending)
{
    return sending->verb == LATER_VERB_ACK && sending->count > 1 &&
           sending->items[0].slot->given == sending->count;
}

static bool encode_by_ids(const struct sending *sending, const struct later_take *take,
                          struct later_command *cmd)
{
    struct slot_copy *copies = malloc(sending->count * sizeof *copies);

    if (!copies)
        return false;
    encode_each(sending, copies, take, cmd);
    free(copies);
    return true;
}

/* Encodes the call; returns false, with nothing in *cmd, without memory. */
static bool outbox_encode(const struct sending *sending, struct later_command *cmd)
{
    if (sending->whole) {
        later_queue_ack_all(cmd, sending->keys, sending->items[0].token, sending->count);
        return true;
    }
    if (sending->verb == LATER_VERB_FINISH && sending->count > 1)
        return encode_finish_all(sending, cmd);
    if (sending->verb == LATER_VERB_FINISH) {
        encode_finish(sending, cmd);
        return true;
    }
    return encode_by_ids(sending, NULL, cmd);
}

static void outbox_take_answer(void *arg, struct later_answer *answer);

/* Returns false when that is not possible now. */
static bool send_call(struct sending *sending)
{
    struct later_command cmd = { 0 };

    return outbox_encode(sending, &cmd) &&
           link_send(sending->outbox->link, &cmd, LINK_TIMEOUT, outbox_take_answer, sending) == 0;
}

/* The token does not hold all of them any more: Redis looks at each. */
static void send_by_ids(struct sending *sending)
{
    sending->whole = false;
    if (send_call(sending)) {
        link_flush(sending->outbox->link);
        return;
    }
    outbox_put_back(sending, false, false);
    free(sending);
}

static void outbox_take_answer(void *arg, struct later_answer *answer)
{
    struct sending *sending = arg;
    struct outbox *outbox = sending->outbox;

    if (answer->outcome == LATER_ANSWERED) {
        if (outbox->refused_by == sending->keys)
            fault_over(&outbox->refused);
        if (sending->whole && later_queue_wants_ids(answer->reply)) {
            send_by_ids(sending);
            return;
        }
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
        outbox_put_back(sending, refused, answer->outcome == LATER_UNKNOWN);
    }
    free(sending);
}

/* A call that is being filled from the items of a group. */
struct filling {
    char token[LATER_TOKEN_LEN + 1];
    struct later_kept
        kept; /* how the first one is kept, if its call may have others; most 0: not */
    bool alone;
    size_t count, bytes;
};

/* Of what leaves something, only jobs that are done go together, and none that has a hook. */
static bool leaves_alone(const struct slot *slot)
{
    char type[LATER_TYPE_MAX + 1], of[LATER_TYPE_MAX + 1];

    return slot_verb(slot) != LATER_VERB_ACK || slot_hook(slot, type, of);
}

static bool leaves_with_first(struct filling *filling, const struct slot *slot)
{
    size_t len = *(const volatile uint32_t *)&slot->value_len; /* read once: it may change */
    struct later_kept kept = { 0 };
    bool alone = leaves_alone(slot);

    slot_keeps(slot, &kept);
    if (!filling->count) {
        filling->kept = kept;
        filling->alone = alone;
    } else if (filling->alone || alone || kept.most != filling->kept.most ||
               kept.life != filling->kept.life || filling->bytes + len > VALUES_MAX) {
        return false;
    }
    filling->bytes += len;
    return true;
}

/* Is this one of a call that begins with the first: of the same token? Then it is counted. */
static bool outbox_goes_with(const struct group *group, struct filling *filling,
                             const struct item *item)
{
    if (!filling->count)
        memcpy(filling->token, item->token, sizeof filling->token);
    if (filling->count == LATER_BATCH_MAX || strcmp(filling->token, item->token) != 0 ||
        (group->verb == LATER_VERB_FINISH && !leaves_with_first(filling, item->slot)))
        return false;
    filling->count++;
    return true;
}

static size_t count_first(const struct group *group)
{
    struct filling filling = { 0 };

    for (size_t i = 0; i < group->count; i++)
        outbox_goes_with(group, &filling, &group->items[i]);
    return filling.count;
}

/* Moves them out of the group, at most `room`. Returns how many: a page may have changed since they
 * were counted. */
static size_t take_first(struct group *group, struct item *items, size_t room)
{
    struct filling filling = { 0 };
    size_t taken = 0, left = 0;

    for (size_t i = 0; i < group->count; i++) {
        struct item item = group->items[i];

        if (taken < room && outbox_goes_with(group, &filling, &item))
            items[taken++] = item;
        else
            group->items[left++] = item;
    }
    group->count = left;
    return taken;
}

/* Takes up to 500 out of a group, all of one token. NULL: no memory. */
static struct sending *begin_sending(struct outbox *outbox, struct group *group)
{
    size_t count = count_first(group);
    struct sending *sending = malloc(sizeof *sending + count * sizeof *sending->items);

    if (!sending)
        return NULL;
    *sending = (struct sending){ .outbox = outbox, .keys = group->keys, .verb = group->verb };
    sending->count = take_first(group, sending->items, count);
    outbox->waiting -= sending->count;
    return sending;
}

/* Sends some of a group. Returns false when that is not possible now. */
static bool send_some(struct outbox *outbox, struct group *group)
{
    struct sending *sending = begin_sending(outbox, group);

    if (!sending)
        return false;
    sending->whole = is_whole(sending);
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
    const struct item *first = &group->items[0], *last = &group->items[group->count - 1];

    return group->verb == LATER_VERB_ACK && strcmp(first->token, last->token) == 0 &&
           first->slot->given > group->count;
}

static void outbox_flush_groups(struct outbox *outbox, bool all)
{
    if (!link_is_up(outbox->link))
        return;
    for (size_t i = 0; i < outbox->group_count; i++) {
        struct group *group = &outbox->groups[i];

        while (group->count && !group->refused && (all || !comes_on(group)) &&
               send_some(outbox, group))
            ;
    }
}

void outbox_flush(struct outbox *outbox)
{
    outbox_flush_groups(outbox, true);
}

void outbox_flush_early(struct outbox *outbox)
{
    outbox_flush_groups(outbox, false);
}

/* --- with a reserve --- */

struct sending *outbox_join(struct outbox *outbox, const struct later_keys *keys, size_t most,
                            bool early)
{
    struct group *group = find_group(outbox, keys, LATER_VERB_ACK);

    if (!group || !group->count || group->refused || (early && comes_on(group)) ||
        count_first(group) > most)
        return NULL;
    return begin_sending(outbox, group);
}

bool outbox_join_encode(const struct sending *sending, const struct later_take *take,
                        struct later_command *cmd)
{
    return encode_by_ids(sending, take, cmd);
}

/* A refusal may be of the reserve alone: the acks go again at once, by themselves. */
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
