/* intake_keep.c: the jobs that a reserve brought: a slot for each, and their documents for as long
 * as any needs them. */
#include "worker/intake_inner.h"

#include "base/uncleared.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

void batch_release(struct batch *batch)
{
    if (!batch || --batch->users > 0)
        return;
    later_reply_free(batch->reply);
    later_reply_free(batch->documents);
    free(batch);
}

/* Slots are taken in a circle, so that a free one is found quickly. If nothing is in hand, it
 * begins at the first again, so that the keeper has few to look at. */
static struct slot *free_slot(struct intake *intake)
{
    struct slots_page *page = intake->worker->slots->page;

    if (intake_is_idle(intake))
        intake->next_slot = 0;
    for (uint32_t i = 0; i < page->capacity; i++) {
        uint32_t at = (intake->next_slot + i) % page->capacity;

        if (slot_state(&page->slots[at]) != SLOT_FREE)
            continue;
        intake->next_slot = at + 1;
        if (at >= atomic_load(&page->used))
            atomic_store(&page->used, at + 1);
        return &page->slots[at];
    }
    return NULL;
}

static bool held_room(struct intake *intake)
{
    size_t room = intake->held_room ? intake->held_room * 2 : 64;
    struct held *held;

    if (intake->held_count < intake->held_room)
        return true;
    held = calloc(room, sizeof *held);
    if (!held)
        return false;
    for (size_t i = 0; i < intake->held_count; i++)
        held[i] = intake->held[(intake->held_first + i) % intake->held_room];
    free(intake->held);
    intake->held = held;
    intake->held_first = 0;
    intake->held_room = room;
    return true;
}

/* Enters one job into a slot: first its contents, last its state. */
static bool intake_keep_one(struct intake *intake, struct batch *batch,
                            const struct later_reserved *job, double score)
{
    const struct worker_queue *from = &batch->queue->known;
    struct slot *slot = free_slot(intake);
    double lease_end = (batch->sent + intake->worker->config->lease) * 1e6;

    if (!slot || job->id_len > LATER_ID_MAX || !held_room(intake))
        return false;
    slot->queue = from->index;
    memcpy(slot->token, batch->call->token, sizeof slot->token);
    memcpy(slot->id, job->id, job->id_len + 1);
    slot->given = batch->given;
    slot->crashes = job->crashes;
    slot->attempt = job->attempts + 1;
    slot->max_attempts = slot->event = 0;
    slot->began = slot->deadline = slot->retry_in = slot->retry_until = slot->told_cancel = 0;
    slot->timed = 0;
    slot->kept = slot->keep = slot->ran = 0;
    slot->waited = -1;
    slot->ends_kept = from->config->events_kept;
    slot->logs_kept = from->config->logs_kept;
    slot->value_len = slot->progress_told = slot->checkpoint_told = slot->logged_told = 0;
    slot->on_dead[0] = slot->on_done[0] = '\0';
    atomic_store_explicit(&slot->progress, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->checkpoint, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->logged, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->log_len, 0, memory_order_relaxed);
    slot->text[0] = slot->type[0] = slot->trace[0] = '\0';
    atomic_fetch_add_explicit(&slot->serial, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->cancelled, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->lease_end, (int64_t)lease_end, memory_order_relaxed);
    atomic_store_explicit(&slot->state, SLOT_HELD, memory_order_release);
    intake->held[(intake->held_first + intake->held_count++) % intake->held_room] =
        (struct held){ .slot = slot,
                       .from = from,
                       .batch = batch,
                       .job = *job,
                       .given = later_queue_given(batch->reply),
                       .score = job->since > 0 ? job->since : score };
    batch->users++;
    return true;
}

/* Returns the i-th job of a batch; false if its document is gone. Then it was cancelled before that
 * was read, and is not ours. */
static bool intake_keep_job_of(const struct batch *batch, size_t i, struct later_reserved *job)
{
    const struct later_reply *document = later_reply_at(batch->documents, i);

    later_queue_reserved(batch->reply, i, job);
    if (!batch->documents)
        return true;
    job->document = later_reply_text(document, &job->document_len);
    return !later_reply_is_nil(document);
}

/* Gives back jobs that could not be kept: by their ids, since the others of their token are ours.
 * If that does not arrive, their lease runs out. */
static void intake_keep_give_back(struct link *link, const struct later_keys *keys,
                                  const struct later_settlement *jobs, size_t count)
{
    struct later_command cmd = { 0 };

    if (!count)
        return;
    log_line(LOG_ERROR, "no memory for %zu jobs of queue %s: given back", count, keys->queue);
    later_queue_settle(&cmd, keys, LATER_VERB_RETURN, 0, jobs, count);
    if (link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL) == 0)
        link_flush(link);
}

void intake_keep(struct intake *intake, struct batch *batch)
{
    size_t count = later_queue_reserved_count(batch->reply), refused = 0;
    struct later_settlement unkept[LATER_BATCH_MAX] LATER_UNCLEARED;
    struct later_scores scores;

    batch->users = 1;
    batch->given = (uint32_t)count;
    later_scores_begin(&scores, batch->reply);
    for (size_t i = 0; i < count; i++) {
        double score = later_scores_next(&scores);
        struct later_reserved job;

        if (intake_keep_job_of(batch, i, &job) && !intake_keep_one(intake, batch, &job, score))
            unkept[refused++] =
                (struct later_settlement){ .token = batch->call->token, .id = job.id };
    }
    intake_keep_give_back(intake->worker->main, &batch->queue->known.keys, unkept, refused);
    batch_release(batch);
}
