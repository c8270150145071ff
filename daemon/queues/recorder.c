/* recorder.c: adds what workers have counted to the present periods of their queues. */
#include "queues/recorder_inner.h"

#include "base/clock.h"
#include "base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLD_FIRST 60.0  /* seconds: after the start, */
#define FOLD_EVERY 600.0 /* and between two looks for totals of the dead */
#define FOLD_AFTER 3600  /* from a period's end until its fields are merged */

/* The name is HOST:PID as in later:hosts, and a random part. In a container HOST and PID are the
 * same at each start, and a new laterd must not overwrite what an earlier one has counted. */
static void name_field(struct recorder *recorder, const char *host)
{
    uint32_t random = 0;
    int len = snprintf(recorder->field, sizeof recorder->field, "%s:%ld", host, (long)getpid());

    recorder->id_len = (size_t)len;
    later_random(&random, sizeof random);
    snprintf(recorder->field + len, sizeof recorder->field - (size_t)len, ":%08" PRIx32, random);
}

int recorder_new(struct queues *queues, struct later_error *err)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);

    queues->recorder = recorder;
    if (!recorder)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    recorder->queues = queues;
    recorder->fold_at = later_clock() + FOLD_FIRST;
    later_history_besides(&recorder->besides, queues->prefix);
    name_field(recorder, queues->options.host);
    return 0;
}

static void free_page(struct recorder_page *page)
{
    for (size_t i = 0; i < COUNTS_ROWS; i++)
        free(page->rows[i]);
    free(page);
}

static void recorder_free_queue(struct recorder_queue *queue)
{
    for (int i = 0; i < RECORDER_PARTS; i++) {
        later_tallies_free(&queue->parts[i].tallies);
        free(queue->parts[i].told);
        free(queue->parts[i].telling);
    }
    free(queue);
}

void recorder_free(struct queues *queues)
{
    struct recorder *recorder = queues->recorder;
    struct recorder_page *next_page;
    struct recorder_queue *next_queue;

    if (!recorder)
        return;
    for (struct recorder_page *page = recorder->pages; page; page = next_page) {
        next_page = page->next;
        free_page(page);
    }
    recorder_free_past(recorder);
    for (struct recorder_queue *queue = recorder->first; queue; queue = next_queue) {
        next_queue = queue->next;
        recorder_free_queue(queue);
    }
    later_reply_free(recorder->hosts);
    free(recorder);
    queues->recorder = NULL;
}

static bool recorder_busy(const struct queue *queue)
{
    return queue->record;
}

/* --- queues --- */

/* Makes a part. NULL: no memory, or too many. */
static struct recorder_queue *recorder_add_queue(struct recorder *recorder,
                                                 const struct later_keys *keys)
{
    struct recorder_queue *queue =
        recorder->queue_count < RECORDER_QUEUES ? calloc(1, sizeof *queue) : NULL;

    if (!queue)
        return NULL;
    queue->recorder = recorder;
    queue->keys = keys;
    for (int i = 0; i < RECORDER_PARTS; i++) {
        queue->parts[i].queue = queue;
        queue->parts[i].scale = i;
        queue->parts[i].period = -1;
    }
    queue->next = recorder->first;
    recorder->queue_count++;
    return recorder->first = queue;
}

/* Returns the queue of a shard; NULL: none. */
static struct recorder_queue *queue_of(struct recorder *recorder, const char *name)
{
    later_queue_name whole;
    struct queue *queue;

    if (!later_key_shard_valid(name))
        return NULL;
    later_shard_whole(whole, name);
    queue = queues_need(recorder->queues, whole);
    if (queue && !queue->record)
        queue->record = recorder_add_queue(recorder, &queue->keys);
    return queue ? queue->record : NULL;
}

/* --- pages --- */

static struct recorder_page *recorder_find_page(const struct recorder *recorder,
                                                const struct slots *slots)
{
    struct recorder_page *page = recorder->pages;

    while (page && page->slots != slots)
        page = page->next;
    return page;
}

/* Adds the queues of its pool; there may be more later (config_follow()). */
static void recorder_add_queues(struct recorder *recorder, struct recorder_page *page,
                                const struct config_pool *pool)
{
    while (page->queue_count < pool->queue_count) {
        uint32_t i = page->queue_count++;

        page->queues[i] = queue_of(recorder, pool->queues[i].name);
    }
}

static struct recorder_page *make_page(struct recorder *recorder, const struct slots *slots,
                                       const struct config_pool *pool)
{
    struct recorder_page *page = calloc(1, sizeof *page);

    if (!page)
        return NULL;
    page->slots = slots;
    if (pool)
        recorder_add_queues(recorder, page, pool);
    else
        page->queue_count = slots_queues(slots);
    for (uint32_t i = 0; i < page->queue_count && !pool; i++) {
        char name[LATER_QUEUE_MAX + 1];

        if (slots_queue_name(slots, i, name))
            page->queues[i] = queue_of(recorder, name);
    }
    page->next = recorder->pages;
    recorder->pages = page;
    return page;
}

/* Begins with a row that was not read before. NULL: no memory, or not a queue of ours. */
static struct counts_seen *row_of(struct recorder_page *page, uint32_t index)
{
    struct counts_seen *seen = page->rows[index];

    if (seen)
        return seen;
    seen = malloc(sizeof *seen);
    if (!seen)
        return NULL;
    counts_begin(&page->slots->page->counts.rows[index], index, seen);
    if (seen->queue >= page->queue_count || !page->queues[seen->queue]) {
        free(seen);
        return NULL;
    }
    page->rows[index] = seen;
    return seen;
}

/* Adds it to a type's row of a part; if there are too many types, to the row without a name. */
static void recorder_add(struct recorder *recorder, struct recorder_part *part, const char *type,
                         const struct later_tally *news)
{
    size_t before = part->tallies.count;
    bool full = recorder->row_count >= RECORDER_ROWS && !later_tallies_find(&part->tallies, type);
    struct later_tally *row = later_tallies_row(&part->tallies, full ? "" : type);

    recorder->row_count += part->tallies.count - before;
    if (!row)
        return;
    later_tally_add(row, news);
    part->changed = true;
}

static void recorder_read_row(struct recorder *recorder, struct recorder_page *page, uint32_t index)
{
    const struct counts *row = &page->slots->page->counts.rows[index];
    struct counts_seen *seen;
    struct later_tally news;

    if (!page->rows[index] && !atomic_load_explicit(&row->changes, memory_order_relaxed))
        return;
    seen = row_of(page, index);
    memset(&news, 0, sizeof news);
    if (!seen || !counts_new(row, seen, &news))
        return;
    for (int i = 0; i < RECORDER_PARTS; i++)
        recorder_add(recorder, &page->queues[seen->queue]->parts[i], seen->type, &news);
}

void recorder_read(struct recorder *recorder, const struct slots *slots,
                   const struct config_pool *pool)
{
    struct recorder_page *page = recorder_find_page(recorder, slots);
    uint32_t used;

    if (!recorder->queues->config->history)
        return;
    if (!page)
        page = make_page(recorder, slots, pool);
    if (page && pool)
        recorder_add_queues(recorder, page, pool);
    used = page ? counts_used(&slots->page->counts) : 0;
    for (uint32_t i = 0; i < used; i++)
        recorder_read_row(recorder, page, i);
}

void recorder_leave(struct recorder *recorder, const struct slots *slots)
{
    struct recorder_page **link = &recorder->pages, *page;

    recorder_read(recorder, slots, NULL);
    while (*link && (*link)->slots != slots)
        link = &(*link)->next;
    page = *link;
    if (!page)
        return;
    *link = page->next;
    free_page(page);
}

void recorder_crashed(struct recorder *recorder)
{
    static const struct later_tally one = { .outcomes = { [LATER_OUTCOME_CRASH] = 1 } };

    if (!recorder->outside)
        recorder->outside = recorder_add_queue(recorder, &recorder->besides);
    if (recorder->outside && recorder->queues->config->history)
        recorder_add(recorder, &recorder->outside->parts[RECORDER_TOTALS], "", &one);
}

/* --- periods --- */

/* What was counted so far belongs to the last period. Redis's clock may go back in a failover; then
 * the present period goes on. */
static void recorder_turn(struct recorder_queue *queue, int scale, double now)
{
    struct recorder_part *part = &queue->parts[scale];
    int64_t period = later_period((enum later_scale)scale, now);
    uint32_t seconds = later_scales[scale].seconds;

    if (period <= part->period)
        return;
    if (part->period >= 0) {
        recorder_put_by(part);
        recorder_fold(queue, scale, period - FOLD_AFTER / seconds - 1);
    }
    part->period = period;
}

static void turn_all(struct recorder *recorder, double now)
{
    recorder->now = now;
    for (struct recorder_queue *queue = recorder->first; queue; queue = queue->next) {
        for (int scale = 0; scale < LATER_SCALES && queue->keys->queue[0]; scale++)
            recorder_turn(queue, scale, now);
    }
}

void recorder_write(struct recorder *recorder, double now)
{
    if (now <= 0 || !recorder->queues->config->history)
        return;
    turn_all(recorder, now);
    recorder_send(recorder, false);
    if (later_clock() >= recorder->fold_at && link_is_up(recorder->queues->link)) {
        recorder->fold_at = later_clock() + FOLD_EVERY;
        recorder_fold_totals(recorder);
    }
    link_flush(recorder->queues->link);
}

bool recorder_lacks_time(const struct recorder *recorder)
{
    for (const struct recorder_queue *queue = recorder->first; queue; queue = queue->next) {
        for (int scale = 0; scale < LATER_SCALES && queue->keys->queue[0]; scale++) {
            if (queue->parts[scale].changed && queue->parts[scale].period < 0)
                return true;
        }
    }
    return false;
}

void recorder_end(struct recorder *recorder, double now)
{
    if (now > 0 && recorder_lacks_time(recorder))
        turn_all(recorder, now);
    recorder_send(recorder, true);
    link_flush(recorder->queues->link);
}

bool recorder_open(const struct recorder *recorder)
{
    if (!link_is_up(recorder->queues->link))
        return false;
    for (const struct recorder_queue *queue = recorder->first; queue; queue = queue->next) {
        for (int i = 0; i < RECORDER_PARTS; i++) {
            if (queue->parts[i].asked)
                return true;
        }
    }
    return recorder->past != NULL;
}

static bool recorder_is_written(const struct recorder_queue *queue)
{
    for (int i = 0; i < RECORDER_PARTS; i++) {
        if (queue->parts[i].changed || queue->parts[i].asked)
            return false;
    }
    for (const struct recorder_past *past = queue->recorder->past; past; past = past->next) {
        if (past->keys == queue->keys)
            return false;
    }
    return true;
}

size_t recorder_unwritten(const struct recorder *recorder)
{
    size_t count = 0;

    for (const struct recorder_queue *queue = recorder->first; queue; queue = queue->next)
        count += !recorder_is_written(queue);
    return count;
}

const struct service recorder_service = {
    .unmake = recorder_free,
    .busy = recorder_busy,
};
