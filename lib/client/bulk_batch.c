/* bulk_batch.c: a batch of a bulk push. */
#include "client/bulk_batch.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_AT_ONCE 512 /* bytes; most batches are one job, and others soon have more */

void later_batch_free(struct later_batch *batch)
{
    if (!batch)
        return;
    free(batch->slots);
    free(batch->bytes);
    free(batch);
}

void later_batch_free_all(struct later_batch *list)
{
    for (struct later_batch *batch = list, *next; batch; batch = next) {
        next = batch->next;
        later_batch_free(batch);
    }
}

struct later_batch *later_batch_new(struct later_bulk *bulk)
{
    struct later_batch *batch = malloc(sizeof *batch);

    if (!batch)
        return NULL;
    memset(batch, 0, offsetof(struct later_batch, keys));
    batch->bulk = bulk;
    return batch;
}

/* Appends len bytes and a NUL; returns their offset, or SIZE_MAX without memory. */
static size_t bulk_batch_put(struct later_batch *batch, const char *bytes, size_t len)
{
    size_t at = batch->len, need = batch->len + len + 1;

    if (need > batch->room) {
        size_t room = need + batch->room + ROOM_AT_ONCE;
        char *grown = realloc(batch->bytes, room);

        if (!grown)
            return SIZE_MAX;
        batch->bytes = grown;
        batch->room = room;
    }
    memcpy(batch->bytes + at, bytes, len);
    batch->bytes[at + len] = '\0';
    batch->len = need;
    return at;
}

/* Makes room for one more: at first for one, which is all that most have, then for the most that
 * there may be. */
static bool bulk_batch_grow(struct later_batch *batch)
{
    size_t room = batch->slots_room ? LATER_BATCH_MAX : 1;
    struct later_batch_slot *grown;

    if (batch->count < batch->slots_room)
        return true;
    grown = realloc(batch->slots, room * sizeof *grown);
    if (!grown)
        return false;
    batch->slots = grown;
    batch->slots_room = room;
    return true;
}

struct later_batch_slot *later_batch_add(struct later_batch *batch,
                                         const struct later_batch_slot *from)
{
    struct later_batch_slot *slot;

    if (!bulk_batch_grow(batch))
        return NULL;
    slot = &batch->slots[batch->count];
    *slot = *from;
    slot->id = bulk_batch_put(batch, from->item.id, strlen(from->item.id));
    slot->document = bulk_batch_put(batch, from->item.document, from->item.document_len);
    if (slot->id == SIZE_MAX || slot->document == SIZE_MAX)
        return NULL;
    batch->count++;
    return slot;
}

struct later_push_item later_batch_item(const struct later_batch *batch,
                                        const struct later_batch_slot *slot)
{
    struct later_push_item item = slot->item;

    item.id = batch->bytes + slot->id;
    item.document = batch->bytes + slot->document;
    return item;
}

void later_batch_call(const struct later_batch *batch, struct later_command *cmd)
{
    static _Thread_local struct later_push_item items[LATER_BATCH_MAX];

    items[0] = later_batch_item(batch, &batch->slots[0]);
    if (batch->shortly) {
        later_queue_push_now(cmd, &batch->keys, batch->number.set, batch->number.number,
                             batch->epoch, items);
        return;
    }
    for (size_t i = 0; i < batch->count; i++)
        items[i] = later_batch_item(batch, &batch->slots[i]);
    later_queue_push(cmd, &batch->keys, batch->call, batch->flags, batch->epoch, items,
                     batch->count);
}

void later_batch_tell(struct later_batch *batch, struct later_batch_slot *slot,
                      const struct later_bulk_told *how, later_bulk_fn *fn, void *arg)
{
    struct later_bulk_told told = *how;

    told.mark = slot->mark;
    told.queue = batch->queue;
    told.id = batch->bytes + slot->id;
    slot->told = true;
    fn(arg, &told);
}

bool later_batch_report(struct later_batch *batch, const struct later_reply *reply,
                        const struct later_error *err, later_bulk_fn *fn, void *arg)
{
    bool all = true;

    for (size_t i = 0; i < batch->count; i++) {
        struct later_bulk_told told = { .state = "", .err = err };
        int how = err ? LATER_IS_PUSHED : later_queue_pushed(reply, i, &told.state);
        struct later_error refused;

        if (later_queue_refused(how, batch->queue, &refused) < 0) {
            told.err = &refused;
        } else if (how == LATER_IS_ABSENT) {
            all = false;
            continue;
        }
        told.how = (enum later_push_result)how;
        later_batch_tell(batch, &batch->slots[i], &told, fn, arg);
    }
    return all;
}
