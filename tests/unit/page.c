/* page.c: slot pages for a test. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGES 64

static struct slots *made[PAGES];
static size_t made_count;

struct slots *page_new(uint32_t capacity)
{
    char folder[] = "/tmp/later-page-XXXXXX", path[64];
    struct later_error err;
    struct slots *slots;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/page", folder);
    slots = slots_create(path, capacity, &err);
    ck_assert_msg(slots != NULL, "%s", err.text);
    unlink(path); /* the mapping is enough */
    rmdir(folder);
    slots->page->pid = getpid();
    strcpy(slots->page->prefix, "later");
    strcpy(slots->page->queues[0], "q");
    strcpy(slots->page->queues[1], "r");
    slots->page->queue_count = 2;
    ck_assert_uint_lt(made_count, PAGES);
    made[made_count++] = slots;
    return slots;
}

void page_free(struct slots *slots)
{
    for (size_t i = 0; i < made_count; i++) {
        if (made[i] == slots)
            made[i--] = made[--made_count];
    }
    slots_close(slots, false);
}

void page_free_all(void)
{
    while (made_count > 0)
        slots_close(made[--made_count], false);
}

struct slot *page_hold(struct slots *slots, uint32_t i, const char *queue, const char *id,
                       enum slot_state state, double lease)
{
    return page_hold_by(slots, i, queue, id, PAGE_TOKEN, state, lease);
}

struct slot *page_hold_by(struct slots *slots, uint32_t i, const char *queue, const char *id,
                          const char *token, enum slot_state state, double lease)
{
    struct slot *slot = &slots->page->slots[i];

    live_hold(queue, id, token, lease);
    *slot = (struct slot){ .queue = queue[0] == 'r', .crashes = -1, .attempt = 1 };
    strcpy(slot->token, token);
    snprintf(slot->id, sizeof slot->id, "%s", id);
    live_do("ZADD later:{%s}:reserved:%s %u %s", queue, token, 1000 + i, id);
    atomic_store(&slot->lease_end, (int64_t)((later_clock() + lease) * 1e6));
    if (state == SLOT_RUNNING)
        slot->began = later_clock();
    if (atomic_load(&slots->page->used) <= i)
        atomic_store(&slots->page->used, i + 1);
    atomic_store(&slot->state, (uint32_t)state);
    atomic_store(&slots->page->busy, 1);
    return slot;
}

struct slot *page_finished(struct slots *slots, uint32_t i, const char *queue, const char *id,
                           enum later_ending ending, bool last, double wait, const char *text)
{
    struct slot *slot = page_hold(slots, i, queue, id, SLOT_RUNNING, 1000);

    slot_finish(slot, (struct later_verdict){ ending, last, wait }, text);
    atomic_store(&slot->state, SLOT_FINISHED);
    return slot;
}
