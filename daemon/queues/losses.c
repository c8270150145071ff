/* losses.c: notices a Redis that came back with less than it had. */
#include "queues/losses_inner.h"

#include "log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_EVERY  5    /* beats between two looks at a queue that rests, */
#define SAVE_EVERY  5    /* and between two files */
#define QUEUES_MAX  8704 /* twice as many as are served, since names of before stay */
#define TOLD        3    /* queues in the line of the log */
#define NOTED       100  /* and in later:lost, for each loss */
#define CLOCK_SLACK 5.0  /* seconds by which our notion of Redis's clock may be ahead */

/* --- queues --- */

struct losses_queue *losses_find(struct losses *losses, const char *name)
{
    struct losses_queue *queue = later_names_find(&losses->queues, name);

    if (queue || losses->queues.count == QUEUES_MAX || !(queue = calloc(1, sizeof *queue)))
        return queue;
    queue->losses = losses;
    snprintf(queue->name, sizeof queue->name, "%s", name);
    if (later_names_add(&losses->queues, queue->name, queue))
        return queue;
    free(queue);
    return NULL;
}

static void losses_take(struct losses_queue *queue, const struct later_sums *sums)
{
    struct losses *losses = queue->losses;

    losses->changed =
        losses->changed || !queue->known || memcmp(&queue->sums, sums, sizeof queue->sums) != 0;
    queue->known = config_serves(losses->config, queue->name) != NULL;
    queue->sums = *sums;
    queue->at = losses->now;
    queue->lost = false;
}

/* --- what was lost --- */

/* Lists the next queue from *i on that has lost something; NULL: there is none. */
static struct losses_queue *next_lost(const struct losses *losses, uint32_t *i)
{
    while (*i < losses->queues.count) {
        struct losses_queue *queue = losses->queues.items[(*i)++];

        if (queue->lost)
            return queue;
    }
    return NULL;
}

static void losses_describe(const struct losses_queue *queue, struct later_lost *lost)
{
    enum later_sum sum = later_lost_back(&queue->sums, &queue->news);

    *lost = (struct later_lost){ .sum = sum,
                                 .before = queue->sums.of[sum],
                                 .after = queue->news.of[sum],
                                 .at = queue->losses->now };
    snprintf(lost->queue, sizeof lost->queue, "%s", queue->name);
    snprintf(lost->host, sizeof lost->host, "%s", queue->losses->host);
}

static void losses_note(struct losses *losses, const struct later_lost *lost)
{
    struct later_command cmd = { 0 }, keep = { 0 };

    later_lost_note(&cmd, losses->config->redis.prefix, lost);
    later_lost_keep(&keep, losses->config->redis.prefix);
    link_send(losses->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    link_send(losses->link, &keep, LINK_TIMEOUT, NULL, NULL);
}

/* One line for all queues; then what they have now is what counts. */
static void losses_tell(struct losses *losses)
{
    char words[600] = "", more[40] = "";
    struct losses_queue *queue;
    unsigned count = 0;

    for (uint32_t i = 0; (queue = next_lost(losses, &i)); count++) {
        struct later_lost lost;
        size_t len = strlen(words);

        losses_describe(queue, &lost);
        if (count < TOLD)
            snprintf(words + len, sizeof words - len,
                     "%s queue %s: %" PRIu64 " jobs had been %s, now %" PRIu64, count ? ";" : "",
                     lost.queue, lost.before, later_sum_words(lost.sum), lost.after);
        if (count < NOTED)
            losses_note(losses, &lost);
        losses_take(queue, &queue->news);
    }
    if (count > TOLD)
        snprintf(more, sizeof more, "; and %u more queues", count - TOLD);
    if (count > 0)
        log_line(LOG_ERROR,
                 "Redis has lost writes:%s%s; see its own log, and operations.md, \"Lost writes\"",
                 words, more);
    link_flush(losses->link);
}

/* Those that were forgotten after our last look have begun anew. */
static void on_forgotten(void *arg, struct later_answer *answer)
{
    struct losses *losses = arg;
    struct losses_queue *queue;
    size_t n = 0;

    losses->judging = false;
    if (answer->outcome != LATER_ANSWERED && answer->outcome != LATER_REFUSED)
        return; /* the next look finds them again */
    for (uint32_t i = 0; (queue = next_lost(losses, &i)); n++) {
        double at = later_reply_seconds(later_reply_at(answer->reply, n), -1);

        if (at >= 0 && at >= queue->at - CLOCK_SLACK)
            losses_take(queue, &queue->news);
    }
    losses_tell(losses);
}

/* All looks have their answers. */
static void losses_judge(struct losses *losses)
{
    struct later_command cmd = { 0 };
    struct losses_queue *queue;
    size_t count = 0;

    for (uint32_t i = 0; next_lost(losses, &i);)
        count++;
    if (count == 0 || losses->judging)
        return;
    later_forgotten_ask(&cmd, losses->config->redis.prefix, count);
    for (uint32_t i = 0; (queue = next_lost(losses, &i));)
        later_command_text(&cmd, queue->name);
    losses->judging = link_send(losses->link, &cmd, LINK_TIMEOUT, on_forgotten, losses) == 0;
    link_flush(losses->link);
}

/* --- looks --- */

static void on_sums(void *arg, struct later_answer *answer)
{
    struct losses_queue *queue = arg;
    struct losses *losses = queue->losses;
    struct later_sums sums;

    queue->asked = false;
    losses->open--;
    if (answer->outcome == LATER_ANSWERED) {
        later_lost_summed(answer->reply, &sums);
        queue->lost = queue->known && later_lost_back(&queue->sums, &sums) != LATER_SUMS;
        queue->news = sums;
        if (!queue->lost)
            losses_take(queue, &sums);
    }
    if (losses->open == 0)
        losses_judge(losses);
}

static void losses_ask(struct losses *losses, const char *name)
{
    struct losses_queue *queue = losses_find(losses, name);
    struct later_command cmd = { 0 };
    struct later_keys keys;

    if (!queue || queue->asked || losses->judging)
        return;
    later_keys_init(&keys, losses->config->redis.prefix, name);
    later_lost_ask(&cmd, &keys);
    queue->asked = link_send(losses->link, &cmd, LINK_TIMEOUT, on_sums, queue) == 0;
    queue->stirred = queue->stirred && !queue->asked;
    losses->open += queue->asked;
}

static const char *served(const struct losses *losses, uint32_t i)
{
    const struct config_queue *queue = losses->config->served.items[i];

    return queue->name;
}

void losses_compare(struct losses *losses, double now)
{
    losses->compare = now <= 0;
    if (now <= 0)
        return;
    losses->now = now;
    for (uint32_t i = 0; i < losses->config->served.count; i++)
        losses_ask(losses, served(losses, i));
    link_flush(losses->link);
}

void losses_stirred(struct losses *losses, const char *name)
{
    struct losses_queue *queue = losses_find(losses, name);

    if (queue)
        queue->stirred = true;
}

void losses_beat(struct losses *losses, double now)
{
    uint32_t count = losses->config->served.count;

    if (now <= 0 || !link_is_up(losses->link))
        return;
    if (losses->compare)
        losses_compare(losses, now);
    losses->now = now;
    for (uint32_t i = 0; i < losses->queues.count; i++) {
        const struct losses_queue *queue = losses->queues.items[i];

        if (queue->stirred)
            losses_ask(losses, queue->name);
    }
    if (losses->beats++ % REST_EVERY == 0 && count > 0)
        losses_ask(losses, served(losses, losses->turn++ % count));
    if (losses->beats % SAVE_EVERY == 0 && losses->changed)
        losses_save(losses);
    link_flush(losses->link);
}

/* --- the whole --- */

void losses_configure(struct losses *losses, const struct config *config)
{
    losses->config = config;
    for (uint32_t i = 0; i < losses->queues.count; i++) {
        struct losses_queue *queue = losses->queues.items[i];

        queue->known = queue->known && config_serves(config, queue->name);
    }
}

struct losses *losses_new(const struct config *config, struct link *link, const char *host)
{
    struct losses *losses = calloc(1, sizeof *losses);

    if (!losses)
        return NULL;
    *losses = (struct losses){ .config = config, .link = link, .host = host };
    losses_load(losses);
    return losses;
}

void losses_free(struct losses *losses)
{
    if (!losses)
        return;
    if (losses->changed)
        losses_save(losses);
    later_names_free(&losses->queues, free);
    free(losses);
}
