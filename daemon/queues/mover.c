/* mover.c: news of flows. */
#include "queues/mover.h"

#include "base/names.h"
#include "fault.h"
#include "link/calls.h"
#include "queue/flow.h"

#include <stdlib.h>
#include <string.h>

#define FURTHEST 10000 /* the rank up to which news is read past what cannot be moved */
#define DEAF_MAX 16    /* queues that do not hear, in one round */

typedef char queue_name[LATER_QUEUE_MAX + 1];

/* One piece of news. The first one for a queue stands for all that go there. */
struct item {
    struct source *source;
    char *text; /* owned */
    queue_name to;
    bool sent, heard;
};

/* A queue whose news is moved, piece by piece until there is none. */
struct source {
    struct mover *mover;
    struct later_keys keys;
    bool busy;
    struct item items[LATER_NEWS_MAX];
    size_t count, open; /* calls that are not answered */
    size_t kept;        /* news at the front that nobody hears */
    queue_name deaf[DEAF_MAX];
    size_t deaf_count;
};

struct mover {
    const struct config *config;
    struct link *link; /* outlives us */
    struct calls *calls;
    struct later_names sources; /* that have had news */
    struct fault refused;
};

static bool mover_send(struct mover *mover, struct later_command *cmd, later_answer_fn *fn,
                       void *arg)
{
    return calls_send(mover->calls, cmd, fn, arg) == 0;
}

static void mover_read(struct source *source);

/* ---- the end of a round */

static void source_clear(struct source *source)
{
    for (size_t i = 0; i < source->count; i++)
        free(source->items[i].text);
    source->count = 0;
}

/* Whatever the answer: news that is there still is moved again. */
static void mover_on_removed(void *arg, struct later_answer *answer)
{
    struct source *source = arg;

    if (answer->outcome == LATER_ANSWERED)
        mover_read(source);
    else
        source->busy = false;
    link_flush(source->mover->link);
}

/* All have answered: removes what was heard, and goes on behind what was not. */
static void mover_remove(struct source *source)
{
    struct later_command cmd = { 0 };
    const char *heard[LATER_NEWS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < source->count; i++) {
        if (source->items[i].heard)
            heard[count++] = source->items[i].text;
    }
    source->kept += source->count - count;
    if (count > 0) {
        later_flow_heard(&cmd, &source->keys, heard, count);
        source->busy = mover_send(source->mover, &cmd, mover_on_removed, source);
        source_clear(source);
    } else {
        source_clear(source);
        mover_read(source);
    }
}

/* ---- one queue hears */

static bool is_deaf(const struct source *source, const char *to)
{
    for (size_t i = 0; i < source->deaf_count; i++) {
        if (strcmp(source->deaf[i], to) == 0)
            return true;
    }
    return source->deaf_count == DEAF_MAX;
}

static void mover_deafen(struct source *source, const char *to)
{
    if (source->deaf_count < DEAF_MAX)
        strcpy(source->deaf[source->deaf_count++], to);
}

static void mover_on_heard(void *arg, struct later_answer *answer)
{
    const struct item *first = arg;
    struct source *source = first->source;
    bool heard = answer->outcome == LATER_ANSWERED;

    fault_judge(&source->mover->refused, answer, LOG_WARN,
                "redis refuses to take news of flows from queue %s to queue %s: %s",
                source->keys.queue, first->to, answer->text);
    for (size_t i = 0; i < source->count; i++) {
        if (strcmp(source->items[i].to, first->to) == 0)
            source->items[i].heard = heard;
    }
    if (!heard)
        mover_deafen(source, first->to);
    if (--source->open == 0)
        mover_remove(source);
    link_flush(source->mover->link);
}

/* Sends all news that is for the same queue, in its order. */
static void mover_tell(struct source *source, struct item *first)
{
    struct mover *mover = source->mover;
    struct later_command cmd = { 0 };
    const char *texts[LATER_NEWS_MAX];
    struct later_keys keys;
    size_t count = 0;

    for (size_t i = 0; i < source->count; i++) {
        if (strcmp(source->items[i].to, first->to) != 0)
            continue;
        source->items[i].sent = true;
        texts[count++] = source->items[i].text;
    }
    later_keys_init(&keys, mover->config->redis.prefix, first->to);
    later_flow_hear(&cmd, &keys, source->keys.queue, texts, count);
    source->open += mover_send(mover, &cmd, mover_on_heard, first);
}

/* ---- reading */

/* What no queue can hear is heard by nobody. */
static bool mover_take(struct source *source, const char *text)
{
    struct item *item = &source->items[source->count];

    *item = (struct item){ .source = source, .text = strdup(text) };
    if (!item->text)
        return false;
    item->heard = item->sent = !later_flow_news_for(text, item->to);
    if (item->heard)
        item->to[0] = '\0';
    source->count++;
    return true;
}

static void mover_on_read(void *arg, struct later_answer *answer)
{
    struct source *source = arg;
    size_t count = later_reply_count(answer->reply);

    source->open = 1; /* ours, until all are sent */
    for (size_t i = 0; i < count && i < LATER_NEWS_MAX; i++) {
        if (!mover_take(source, later_reply_text(later_reply_at(answer->reply, i), NULL)))
            break;
    }
    if (source->count == 0) {
        source->busy = false;
        return;
    }
    for (size_t i = 0; i < source->count; i++) {
        if (!source->items[i].sent && !is_deaf(source, source->items[i].to))
            mover_tell(source, &source->items[i]);
    }
    if (--source->open == 0)
        mover_remove(source);
    link_flush(source->mover->link);
}

static void mover_read(struct source *source)
{
    struct later_command cmd = { 0 };

    if (source->kept >= FURTHEST) {
        source->busy = false;
        return;
    }
    later_flow_news(&cmd, &source->keys, source->kept);
    source->busy = mover_send(source->mover, &cmd, mover_on_read, source);
}

static struct source *mover_add(struct mover *mover, const char *queue)
{
    struct source *source = calloc(1, sizeof *source);

    if (!source)
        return NULL;
    source->mover = mover;
    later_keys_init(&source->keys, mover->config->redis.prefix, queue);
    if (later_names_add(&mover->sources, source->keys.queue, source))
        return source;
    free(source);
    return NULL;
}

static void mover_seek(struct mover *mover, const struct later_keys *keys)
{
    struct later_command cmd = { 0 };

    later_flow_seek(&cmd, keys);
    mover_send(mover, &cmd, NULL, NULL);
}

void mover_told(struct mover *mover, const char *queue, const struct later_migrated *migrated)
{
    struct source *source;

    if (!migrated->has_news)
        return;
    source = later_names_find(&mover->sources, queue);
    if (!source)
        source = mover_add(mover, queue);
    if (!source)
        return;
    if (migrated->seeks)
        mover_seek(mover, &source->keys);
    if (!source->busy) {
        source->kept = source->deaf_count = 0;
        mover_read(source);
    }
    link_flush(mover->link);
}

const char *mover_fault(const struct mover *mover)
{
    return fault_text(&mover->refused);
}

/* ---- making and unmaking */

struct mover *mover_new(const struct config *config, struct link *link, struct later_error *err)
{
    struct mover *mover = calloc(1, sizeof *mover);

    if (mover)
        *mover = (struct mover){ .config = config, .link = link, .calls = calls_new(link) };
    if (mover && mover->calls)
        return mover;
    free(mover);
    later_fail(err, LATER_E_SYSTEM, "no memory");
    return NULL;
}

static void mover_free_source(void *item)
{
    source_clear(item);
    free(item);
}

void mover_free(struct mover *mover)
{
    if (!mover)
        return;
    calls_free(mover->calls);
    later_names_free(&mover->sources, mover_free_source);
    free(mover);
}
