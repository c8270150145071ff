/* bulk_batch.c: a batch of bulk.c. */
#include "client/bulk_batch.h"

#include "job/document.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_AT_ONCE (16 * 1024)

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

struct later_batch *later_batch_new(struct later_bulk *bulk, const struct later_keys *keys)
{
    struct later_batch *batch = calloc(1, sizeof *batch);

    if (!batch)
        return NULL;
    batch->bulk = bulk;
    batch->keys = *keys;
    batch->slots = calloc(LATER_BATCH_MAX, sizeof *batch->slots);
    later_document_uuid(batch->call);
    if (!batch->slots) {
        later_batch_free(batch);
        return NULL;
    }
    return batch;
}

/* Appends len bytes and a NUL; returns their offset, or SIZE_MAX without memory. */
static size_t put(struct later_batch *batch, const char *bytes, size_t len)
{
    size_t at = batch->len, need = batch->len + len + 1;

    if (need > batch->room) {
        size_t room = need + (batch->room ? batch->room : ROOM_AT_ONCE);
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

struct later_batch_slot *later_batch_add(struct later_batch *batch,
                                         const struct later_batch_slot *from)
{
    struct later_batch_slot *slot = &batch->slots[batch->count];

    *slot = *from;
    slot->id = put(batch, from->item.id, strlen(from->item.id));
    slot->document = put(batch, from->item.document, from->item.document_len);
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

void later_batch_call(const struct later_batch *batch, bool replace, struct later_command *cmd)
{
    static _Thread_local struct later_push_item items[LATER_BATCH_MAX];

    for (size_t i = 0; i < batch->count; i++)
        items[i] = later_batch_item(batch, &batch->slots[i]);
    later_queue_push(cmd, &batch->keys, batch->call,
                     (batch->again ? LATER_PUSH_AGAIN
                      : replace    ? LATER_PUSH_REPLACE
                                   : 0) |
                         (batch->seeks ? LATER_PUSH_SEEK : 0),
                     batch->epoch, items, batch->count);
}

void later_batch_tell(struct later_batch *batch, struct later_batch_slot *slot,
                      const struct later_bulk_told *how, later_bulk_fn *fn, void *arg)
{
    struct later_bulk_told told = *how;

    told.mark = slot->mark;
    told.queue = batch->queue;
    told.id = batch->bytes + slot->id;
    slot->told = true;
    if (fn)
        fn(arg, &told);
}

bool later_batch_report(struct later_batch *batch, const struct later_reply *reply,
                        const struct later_error *err, later_bulk_fn *fn, void *arg)
{
    bool all = true;

    for (size_t i = 0; i < batch->count; i++) {
        struct later_bulk_told told = { .state = "", .err = err };
        struct later_error full;

        if (!err)
            told.how = later_queue_pushed(reply, i, &told.state);
        if (told.how == LATER_PUSH_FULL) {
            later_queue_full(batch->queue, &full);
            told.err = &full;
        }
        if (told.how != LATER_PUSH_ABSENT)
            later_batch_tell(batch, &batch->slots[i], &told, fn, arg);
        all = all && told.how != LATER_PUSH_ABSENT;
    }
    return all;
}
