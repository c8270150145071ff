/* mover.c: news of flows. */
#include "queues/mover.h"

#include "queue/flow.h"
#include "queues/queues.h"
#include "queues/registry.h"

#include <stdlib.h>
#include <string.h>

#define FURTHEST 10000   /* the rank up to which news is read past what cannot be moved */
#define DEAF_MAX 16      /* queues that do not hear, in one round */
#define FEW      50      /* pieces in the first round */
#define BYTES    1048576 /* of a round, about: steps may have left much */

/* One piece of news. The first one for a queue stands for all that go there. */
struct item {
    struct mover_news *news;
    char *text; /* owned */
    struct later_news is;
    bool sent, heard;
};

/* A queue's part: its news is moved, piece by piece until there is none. */
struct mover_news {
    struct queue *queue;
    bool busy;
    struct item items[LATER_NEWS_MAX];
    size_t count, open; /* calls that are not answered */
    size_t kept;        /* news at the front that nobody hears; */
    uint64_t read;      /* up to this number. What is put there later has a higher one */
    size_t most;        /* pieces in the next round */
    later_queue_name deaf[DEAF_MAX];
    size_t deaf_count;
};

struct mover {
    struct fault refused;
};

static void mover_read(struct mover_news *news);

/* ---- the end of a round */

static void mover_clear(struct mover_news *news)
{
    for (size_t i = 0; i < news->count; i++)
        free(news->items[i].text);
    news->count = 0;
}

/* Whatever the answer: news that is there still is moved again. */
static void mover_on_removed(void *arg, struct later_answer *answer)
{
    struct mover_news *news = arg;

    if (answer->outcome == LATER_ANSWERED)
        mover_read(news);
    else
        news->busy = false;
    link_flush(news->queue->queues->link);
}

/* All have answered: removes what was heard, and goes on behind what was not. */
static void mover_remove(struct mover_news *news)
{
    struct later_command cmd = { 0 };
    const char *heard[LATER_NEWS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < news->count; i++) {
        if (news->items[i].heard)
            heard[count++] = news->items[i].text;
    }
    news->kept += news->count - count;
    if (count > 0) {
        later_flow_heard(&cmd, &news->queue->keys, heard, count);
        news->busy = queue_send(news->queue, &cmd, mover_on_removed, news) == 0;
        mover_clear(news);
    } else {
        mover_clear(news);
        mover_read(news);
    }
}

/* ---- one queue hears */

static bool is_deaf(const struct mover_news *news, const char *to)
{
    for (size_t i = 0; i < news->deaf_count; i++) {
        if (strcmp(news->deaf[i], to) == 0)
            return true;
    }
    return news->deaf_count == DEAF_MAX;
}

static void mover_deafen(struct mover_news *news, const char *to)
{
    if (news->deaf_count < DEAF_MAX)
        strcpy(news->deaf[news->deaf_count++], to);
}

static void mover_on_heard(void *arg, struct later_answer *answer)
{
    const struct item *first = arg;
    struct mover_news *news = first->news;
    bool heard = answer->outcome == LATER_ANSWERED;

    fault_judge(&news->queue->queues->mover->refused, answer, LOG_WARN,
                "redis refuses to take news of flows from queue %s to queue %s: %s",
                news->queue->keys.queue, first->is.queue, answer->text);
    for (size_t i = 0; i < news->count; i++) {
        if (strcmp(news->items[i].is.queue, first->is.queue) == 0)
            news->items[i].heard = heard;
    }
    if (!heard)
        mover_deafen(news, first->is.queue);
    if (--news->open == 0)
        mover_remove(news);
    link_flush(news->queue->queues->link);
}

/* Sends all news that is for the same queue, in its order. */
static void mover_tell(struct mover_news *news, struct item *first)
{
    struct later_command cmd = { 0 };
    const char *texts[LATER_NEWS_MAX];
    const struct queues *queues = news->queue->queues;
    struct later_keys keys;
    bool has_jobs = false;
    size_t count = 0;

    for (size_t i = 0; i < news->count; i++) {
        struct item *item = &news->items[i];

        if (strcmp(item->is.queue, first->is.queue) != 0)
            continue;
        item->sent = true;
        has_jobs = has_jobs || item->is.is_job;
        texts[count++] = item->text;
    }
    if (has_jobs)
        registry_name(queues->prefix, queues->link, first->is.queue);
    later_keys_init(&keys, queues->prefix, first->is.queue);
    later_flow_hear(&cmd, &keys, news->queue->keys.queue, texts, count);
    if (queue_send(news->queue, &cmd, mover_on_heard, first) == 0)
        news->open++;
    else /* what comes behind these may not be heard before them */
        mover_deafen(news, first->is.queue);
}

/* ---- reading */

/* What no queue can hear is heard by nobody. */
static bool mover_take(struct mover_news *news, const char *text)
{
    struct item *item = &news->items[news->count];

    *item = (struct item){ .news = news, .text = strdup(text) };
    if (!item->text)
        return false;
    item->heard = item->sent = !later_flow_news_read(&item->is, text);
    if (item->is.number > news->read)
        news->read = item->is.number;
    news->count++;
    return true;
}

/* Twice as many in the next round, but no more than fit. */
static void mover_adapt(struct mover_news *news, size_t bytes)
{
    news->most *= 2;
    if (bytes > BYTES)
        news->most = news->most * BYTES / bytes / 2;
    if (news->most > LATER_NEWS_MAX)
        news->most = LATER_NEWS_MAX;
    if (news->most == 0)
        news->most = 1;
}

static void mover_on_read(void *arg, struct later_answer *answer)
{
    struct mover_news *news = arg;
    size_t count = later_reply_count(answer->reply), bytes = 0, len;

    news->open = 1; /* ours, until all are sent */
    for (size_t i = 0; i < count && i < LATER_NEWS_MAX; i++) {
        if (!mover_take(news, later_reply_text(later_reply_at(answer->reply, i), &len)))
            break;
        bytes += len;
    }
    mover_adapt(news, bytes);
    if (news->count == 0) {
        news->busy = false;
        return;
    }
    for (size_t i = 0; i < news->count; i++) {
        if (!news->items[i].sent && !is_deaf(news, news->items[i].is.queue))
            mover_tell(news, &news->items[i]);
    }
    if (--news->open == 0)
        mover_remove(news);
    link_flush(news->queue->queues->link);
}

static void mover_read(struct mover_news *news)
{
    struct later_command cmd = { 0 };

    if (news->kept >= FURTHEST) {
        news->busy = false;
        return;
    }
    later_flow_news(&cmd, &news->queue->keys, news->read, news->most);
    news->busy = queue_send(news->queue, &cmd, mover_on_read, news) == 0;
}

static struct mover_news *mover_add(struct queue *queue)
{
    queue->news = calloc(1, sizeof *queue->news);
    if (queue->news)
        *queue->news = (struct mover_news){ .queue = queue, .most = FEW };
    return queue->news;
}

static void mover_seek(struct queue *queue)
{
    struct later_command cmd = { 0 };

    later_flow_seek(&cmd, &queue->keys);
    queue_send(queue, &cmd, NULL, NULL);
}

static void mover_told(struct queue *queue, const struct later_migrated *migrated)
{
    struct mover_news *news = queue->news;

    if (!migrated->has_news)
        return;
    if (!news && !(news = mover_add(queue)))
        return;
    if (migrated->seeks)
        mover_seek(queue);
    if (!news->busy) {
        news->kept = news->deaf_count = 0;
        news->read = 0;
        mover_read(news);
    }
    link_flush(queue->queues->link);
}

/* ---- the service */

static void mover_drop(struct queue *queue)
{
    if (queue->news)
        mover_clear(queue->news);
    free(queue->news);
}

static const char *mover_fault(const struct queues *queues)
{
    return fault_text(&queues->mover->refused);
}

int mover_new(struct queues *queues, struct later_error *err)
{
    queues->mover = calloc(1, sizeof *queues->mover);
    return queues->mover ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory");
}

static void mover_free(struct queues *queues)
{
    if (queues->mover)
        fault_free(&queues->mover->refused);
    free(queues->mover);
    queues->mover = NULL;
}

const struct service mover_service = {
    .unmake = mover_free,
    .drop = mover_drop,
    .told = mover_told,
    .fault = mover_fault,
};
