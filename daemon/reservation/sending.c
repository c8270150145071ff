/* sending.c: which settlements go in one call, and its encoding. */
#include "reservation/sending.h"

#include "base/uncleared.h"
#include "queue/shards.h"
#include "reservation/logbook.h"
#include "reservation/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 262144 /* bytes of values in a call, as of documents in a reserve */
#define NOTED_MAX  16     /* jobs in a call whose notes go before it: at most 80 KiB each */

/* Of a job that leaves something, or is kept, the call is another one. */
enum later_verb sending_verb(const struct slot *slot)
{
    enum later_verb verb = slot_verb(slot);
    char hook[LATER_HOOK_MAX + 1], of[LATER_TYPE_MAX + 1];
    struct later_kept kept;

    if (verb != LATER_VERB_ACK && verb != LATER_VERB_BURY)
        return verb;
    if (slot_kept(slot) > 0 || slot_hook(slot, hook, of) ||
        (verb == LATER_VERB_ACK && (slot->value_len > 0 || slot_keeps(slot, &kept))))
        return LATER_VERB_FINISH;
    return verb;
}

/* --- what goes together --- */

/* A call that is being filled from the items of a group. */
struct filling {
    char token[LATER_TOKEN_LEN + 1];
    struct later_kept kept; /* how the first one is kept; most 0: not at all */
    bool alone;             /* it goes by itself */
    size_t count, bytes, noted;
};

/* Does its job run again, or might it? */
static bool sending_goes_on(const struct slot *slot)
{
    enum later_verb verb = slot_verb(slot);

    return verb == LATER_VERB_RELEASE || verb == LATER_VERB_RETURN || verb == LATER_VERB_BURY;
}

static bool has_checkpoint(const struct slot *slot)
{
    return atomic_load_explicit(&slot->checkpoint, memory_order_relaxed) > 0 &&
           sending_goes_on(slot);
}

/* Has it logged something that stays with it? */
static bool has_log(const struct slot *slot)
{
    struct later_kept kept;

    return atomic_load_explicit(&slot->logged, memory_order_relaxed) > 0 &&
           (sending_goes_on(slot) ||
            (slot_verb(slot) == LATER_VERB_ACK && slot_keeps(slot, &kept)));
}

static bool has_notes(const struct slot *slot)
{
    return has_checkpoint(slot) || has_log(slot);
}

/* Of what leaves something, only jobs that are done go together, and none that has a hook. */
static bool leaves_alone(const struct slot *slot)
{
    char hook[LATER_HOOK_MAX + 1], of[LATER_TYPE_MAX + 1];

    return slot_verb(slot) != LATER_VERB_ACK || slot_hook(slot, hook, of);
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
static bool sending_goes_with(enum later_verb verb, struct filling *filling,
                              const struct sending_item *item)
{
    bool notes = has_notes(item->slot);

    if (!filling->count)
        memcpy(filling->token, item->token, sizeof filling->token);
    if (filling->count == LATER_BATCH_MAX || strcmp(filling->token, item->token) != 0 ||
        (notes && filling->noted == NOTED_MAX) ||
        (verb == LATER_VERB_FINISH && !leaves_with_first(filling, item->slot)))
        return false;
    filling->noted += notes;
    filling->count++;
    return true;
}

size_t sending_count(enum later_verb verb, const struct sending_item *items, size_t count)
{
    struct filling filling = { 0 };

    for (size_t i = 0; i < count; i++)
        sending_goes_with(verb, &filling, &items[i]);
    return filling.count;
}

/* A page may have changed since they were counted: there may be fewer now, and no more are taken
 * than there is room for. */
static void sending_fill(struct sending *sending, size_t room, struct sending_item *items,
                         size_t *count)
{
    struct filling filling = { 0 };
    size_t left = 0;

    for (size_t i = 0; i < *count; i++) {
        struct sending_item item = items[i];

        if (sending->count < room && sending_goes_with(sending->verb, &filling, &item))
            sending->items[sending->count++] = item;
        else
            items[left++] = item;
    }
    *count = left;
}

/* Are these all the jobs that the token was ever given? Then Redis takes their ids from its own
 * set. A worker mostly ends all jobs of a reserve before it acks the first of them. Of one job by
 * its id there is nothing to save. */
static bool sending_is_whole(const struct sending *sending)
{
    return sending->verb == LATER_VERB_ACK && sending->count > 1 &&
           sending->items[0].slot->given == sending->count;
}

size_t sending_joins(enum later_verb verb, const struct sending_item *items, size_t count)
{
    struct later_kept kept;

    if (verb == LATER_VERB_ACK)
        return sending_count(verb, items, count);
    return verb == LATER_VERB_FINISH && count == 1 && !leaves_alone(items[0].slot) &&
           !slot_keeps(items[0].slot, &kept);
}

struct sending *sending_take(const struct later_keys *keys, enum later_verb verb,
                             struct sending_item *items, size_t *count)
{
    size_t room = sending_count(verb, items, *count);
    struct sending *sending = malloc(sizeof *sending + room * sizeof *sending->items);

    if (!sending)
        return NULL;
    *sending = (struct sending){ .keys = keys, .verb = verb };
    sending_fill(sending, room, items, count);
    sending->whole = sending_is_whole(sending);
    return sending;
}

/* --- the call --- */

/* For what it waits: in which line, or for which pause of its type. The script takes any text.
 * NULL: no memory. */
static char *sending_waits_for(const char *how, const char *text)
{
    char *waits;

    return asprintf(&waits, "%s:%s", how, text) < 0 ? NULL : waits;
}

static bool sending_waits(const struct slot_copy *copy)
{
    return copy->how && (strcmp(copy->how, later_endings[LATER_ENDED_LINE].how) == 0 ||
                         strcmp(copy->how, later_endings[LATER_ENDED_PAUSED].how) == 0);
}

/* NULL: none is to be noted. */
static char *error_of(const struct slot *slot, const struct slot_copy *copy, const char *host)
{
    char text[SLOT_TEXT + 1];
    bool waits = sending_waits(copy);

    if (!copy->kind && !waits)
        return NULL;
    slot_copy_text(slot, text);
    if (waits)
        return sending_waits_for(copy->how, text);
    return *text ? later_queue_error(copy->kind, text, host, slot_ran(slot)) : NULL;
}

/* Encodes the settlements by way of `copies`, one for each: whoever has a page mapped may write
 * there meanwhile. Errors are made here, not when the job ended: most have none. take: of a reserve
 * in the same call; or NULL. left: what a single one leaves that goes with it; or NULL. */
static void encode_each(const struct sending *sending, struct slot_copy *copies,
                        const struct later_take *take, const struct later_remains *left,
                        struct later_command *cmd)
{
    struct later_settlement jobs[LATER_BATCH_MAX] LATER_UNCLEARED;
    char *errors[LATER_BATCH_MAX] LATER_UNCLEARED;

    for (size_t i = 0; i < sending->count; i++) {
        const struct slot *slot = sending->items[i].slot;
        struct slot_copy *copy = &copies[i];

        slot_copy(slot, left ? LATER_VERB_ACK : sending->verb, copy);
        errors[i] = error_of(slot, copy, sending->host);
        jobs[i] = (struct later_settlement){ .token = sending->items[0].token,
                                             .id = copy->id,
                                             .wait = copy->wait,
                                             .how = copy->how,
                                             .error = errors[i] };
    }
    if (take)
        later_queue_step(cmd, sending->keys, take, jobs, sending->count, left);
    else
        later_queue_settle(cmd, sending->keys, sending->verb, 0, jobs, sending->count);
    for (size_t i = 0; i < sending->count; i++)
        free(errors[i]);
}

/* --- what is told --- */

/* Does Redis tell of these ends in the queue's stream? Then how many it keeps. All jobs of a call
 * are of one queue. */
static uint32_t sending_ends_kept(const struct sending *sending)
{
    return later_event_is_told(sending->verb) ? slot_ends_kept(sending->items[0].slot) : 0;
}

/* Adds what is told to a call of which later_script_tell() was said before: of those that are LOST
 * the script will say nothing. */
static void sending_tell(const struct sending *sending, uint32_t kept, struct later_command *cmd)
{
    for (size_t i = 0; i < sending->count; i++) {
        const struct slot *slot = sending->items[i].slot;
        char type[LATER_TYPE_MAX + 1];
        struct later_event event;
        struct slot_copy copy;

        slot_copy(slot, LATER_VERB_TOUCH, &copy);
        slot_event(slot, &event, type);
        event.id = copy.id;
        later_event_add(cmd, &event);
    }
    later_events_end(cmd, sending->host, kept);
}

/* --- what is left --- */

/* What a slot's job leaves, and where its parts are. */
struct sending_left {
    struct later_remains left;
    struct later_kept kept;
    struct later_hook hook;
    char said[LATER_HOOK_MAX + 1], of[LATER_TYPE_MAX + 1];
    later_queue_name queue;
};

/* value: room for one, or NULL; the caller's. */
static void sending_leave(const struct sending *sending, struct sending_left *it, char *value)
{
    const struct sending_item *item = &sending->items[0];

    it->left = (struct later_remains){ .result = slot_kept(item->slot), .value = value };
    if (value)
        it->left.value_len = value_read(item->slots, item->slot, value);
    if (slot_verb(item->slot) == LATER_VERB_ACK && slot_keeps(item->slot, &it->kept)) {
        it->kept.host = sending->host;
        it->left.kept = &it->kept;
    }
    if (slot_hook(item->slot, it->said, it->of)) {
        later_shard_whole(it->queue, sending->keys->queue);
        it->hook = (struct later_hook){ .said = it->said, .of = it->of, .queue = it->queue };
        it->left.hook = &it->hook;
    }
}

/* Several that leave something. */
static bool encode_finish_all(const struct sending *sending, struct later_command *cmd)
{
    const struct sending_item *items = sending->items;
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
            kept.host = sending->host;
            left.kept = &kept;
        }
        later_queue_finish_add(cmd, copy.id, &left);
    }
    free(value);
    return true;
}

/* One that leaves something. */
static bool encode_finish(const struct sending *sending, struct later_command *cmd)
{
    const struct sending_item *item = &sending->items[0];
    bool dead = slot_verb(item->slot) == LATER_VERB_BURY;
    struct later_settlement job = { .token = item->token, .how = "done" };
    char *value = dead ? NULL : malloc(LATER_VALUE_MAX), *error = NULL;
    struct sending_left it;
    struct slot_copy copy;

    if (!value && !dead)
        return false;
    slot_copy(item->slot, dead ? LATER_VERB_BURY : LATER_VERB_ACK, &copy);
    job.id = copy.id;
    if (dead) {
        error = error_of(item->slot, &copy, sending->host);
        job.how = copy.how ? copy.how : "ran";
        job.error = error;
    }
    sending_leave(sending, &it, value);
    later_queue_finish(cmd, sending->keys, &job, &it.left);
    free(value);
    free(error);
    return true;
}

static bool encode_by_job(const struct sending *sending, const struct later_take *take,
                          struct later_command *cmd)
{
    struct slot_copy *copies = malloc(sending->count * sizeof *copies);
    bool leaves = sending->verb == LATER_VERB_FINISH;
    char *value = leaves ? malloc(LATER_VALUE_MAX) : NULL;
    struct sending_left it;
    bool ok = copies && (value || !leaves);

    if (ok && leaves)
        sending_leave(sending, &it, value);
    if (ok)
        encode_each(sending, copies, take, leaves ? &it.left : NULL, cmd);
    free(copies);
    free(value);
    return ok;
}

/* The notes of a job, for a call. */
struct sending_note {
    struct slot_copy copy;
    char *checkpoint, *log;
};

/* Returns false if there are none. */
static bool sending_note(const struct sending_item *item, struct sending_note *note,
                         struct later_progress *job)
{
    note->checkpoint = has_checkpoint(item->slot) ? malloc(LATER_VALUE_MAX) : NULL;
    note->log = has_log(item->slot) ? malloc(LOGBOOK_SIZE) : NULL;
    slot_copy(item->slot, LATER_VERB_TOUCH, &note->copy);
    *job = (struct later_progress){ .id = note->copy.id,
                                    .checkpoint = note->checkpoint,
                                    .log = note->log };
    if (note->checkpoint)
        job->checkpoint_len = value_read_checkpoint(item->slots, item->slot, note->checkpoint);
    if (note->log)
        job->log_len = logbook_read(item->slots, item->slot, note->log);
    return job->checkpoint_len || job->log_len;
}

bool sending_encode_notes(const struct sending *sending, struct later_command *cmd)
{
    struct sending_note notes[NOTED_MAX] LATER_UNCLEARED;
    struct later_progress jobs[NOTED_MAX] LATER_UNCLEARED;
    size_t tried = 0, count = 0;

    for (size_t i = 0; i < sending->count && tried < NOTED_MAX; i++) {
        if (has_notes(sending->items[i].slot))
            count += sending_note(&sending->items[i], &notes[tried++], &jobs[count]);
    }
    if (count)
        later_queue_progress(cmd, sending->keys, sending->items[0].token, jobs, count);
    while (tried-- > 0) {
        free(notes[tried].checkpoint);
        free(notes[tried].log);
    }
    return count > 0;
}

/* A call of its own. */
static bool encode_alone(const struct sending *sending, struct later_command *cmd)
{
    if (sending->whole) {
        later_queue_ack_all(cmd, sending->keys, sending->items[0].token, sending->count);
        return true;
    }
    if (sending->verb == LATER_VERB_FINISH)
        return sending->count > 1 ? encode_finish_all(sending, cmd) : encode_finish(sending, cmd);
    return encode_by_job(sending, NULL, cmd);
}

bool sending_encode(const struct sending *sending, const struct later_take *take,
                    struct later_command *cmd)
{
    uint32_t kept = sending_ends_kept(sending);
    bool ok;

    if (kept)
        later_script_tell(cmd, sending->count);
    ok = take ? encode_by_job(sending, take, cmd) : encode_alone(sending, cmd);
    if (!ok)
        later_command_free(cmd);
    else if (kept)
        sending_tell(sending, kept, cmd);
    return ok;
}
