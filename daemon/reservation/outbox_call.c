/* outbox_call.c: settlements of one token as a command. */
#include "reservation/outbox_call.h"

#include "base/uncleared.h"
#include "reservation/value.h"

#include <stdlib.h>

static char *error_of(const struct slot *slot, const char *kind, const char *host)
{
    char text[SLOT_TEXT + 1];

    slot_copy_text(slot, text);
    return later_queue_error(kind, text, host, slot_ran(slot));
}

/* Encodes the settlements by way of `copies`, one for each: whoever has a page mapped may write
 * there meanwhile. Errors are made here, not when the job ended: most have none. */
static void encode_each(const struct sending *sending, struct slot_copy *copies,
                        struct later_command *cmd)
{
    struct later_settlement jobs[LATER_BATCH_MAX] LATER_UNCLEARED;
    char *errors[LATER_BATCH_MAX] LATER_UNCLEARED;

    for (size_t i = 0; i < sending->count; i++) {
        const struct slot *slot = sending->items[i].slot;
        struct slot_copy *copy = &copies[i];

        slot_copy(slot, sending->verb, copy);
        errors[i] = copy->kind[0] ? error_of(slot, copy->kind, sending->host) : NULL;
        jobs[i] = (struct later_settlement){ .token = sending->items[0].token,
                                             .id = copy->id,
                                             .wait = copy->wait,
                                             .how = copy->how[0] ? copy->how : NULL,
                                             .error = errors[i] };
    }
    later_queue_settle(cmd, sending->keys, sending->verb, 0, jobs, sending->count);
    for (size_t i = 0; i < sending->count; i++)
        free(errors[i]);
}

/* One that leaves something. */
static void encode_finish(const struct sending *sending, struct later_command *cmd)
{
    const struct item *item = &sending->items[0];
    bool dead = slot_verb(item->slot) == LATER_VERB_BURY;
    struct later_settlement job = { .token = item->token, .how = "done" };
    char *value = dead ? NULL : malloc(LATER_VALUE_MAX), *error = NULL;
    struct later_kept kept;
    struct slot_copy copy;
    bool keeps = !dead && slot_keeps(item->slot, &kept);

    kept.host = sending->host;
    slot_copy(item->slot, dead ? LATER_VERB_BURY : LATER_VERB_ACK, &copy);
    job.id = copy.id;
    if (dead) {
        error = copy.kind[0] ? error_of(item->slot, copy.kind, sending->host) : NULL;
        job.how = copy.how[0] ? copy.how : "ran";
        job.error = error;
    }
    later_queue_finish(cmd, sending->keys, &job, slot_kept(item->slot), value,
                       value ? value_read(item->slots, item->slot, value) : 0,
                       keeps ? &kept : NULL);
    free(value);
    free(error);
}

/* Of one job by its id there is nothing to save. */
bool outbox_call_whole(const struct sending *sending)
{
    return sending->verb == LATER_VERB_ACK && sending->count > 1 &&
           sending->items[0].slot->given == sending->count;
}

bool outbox_call(const struct sending *sending, struct later_command *cmd)
{
    struct slot_copy *copies;

    if (sending->whole) {
        later_queue_ack_all(cmd, sending->keys, sending->items[0].token, sending->count);
        return true;
    }
    if (sending->verb == LATER_VERB_FINISH) {
        encode_finish(sending, cmd);
        return true;
    }
    copies = malloc(sending->count * sizeof *copies);
    if (!copies)
        return false;
    encode_each(sending, copies, cmd);
    free(copies);
    return true;
}
