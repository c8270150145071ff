/* ticker_load.c: writes the schedules of the configuration, and drops those that it no longer has.
 */
#include "queues/ticker_inner.h"

#include "base/clock.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN_SECONDS 120 /* twice the time between two refreshes */

static bool ticker_load_is_of(const struct queue *queue, const struct config_cron *cron)
{
    return strcmp(cron->queue, queue->keys.queue) == 0;
}

static const struct config_cron *ticker_load_find(const struct queue *queue, const char *name)
{
    const struct config *config = queue->queues->config;

    for (uint32_t i = 0; i < config->cron_count; i++) {
        if (ticker_load_is_of(queue, &config->crons[i]) && strcmp(config->crons[i].name, name) == 0)
            return &config->crons[i];
    }
    return NULL;
}

/* --- put --- */

static void on_put(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;

    if (answer->outcome == LATER_REFUSED)
        log_line(LOG_WARN, "redis refuses a schedule of queue %s: %s", queue->keys.queue,
                 answer->text);
    if (answer->outcome != LATER_ANSWERED ||
        later_crontab_was_put(answer->reply) == LATER_CRON_AGAIN)
        queue->tick.again = true;
}

static void ticker_load_put(struct queue *queue, const struct config_cron *cron)
{
    struct later_schedule schedule;
    struct later_command cmd = { 0 };
    struct later_error err;
    struct later_zone *zone = NULL;

    if (later_schedule_read(&schedule, cron->definition, &err) == 0)
        zone = later_zone_open(later_schedule_zone(&schedule), &err);
    if (!zone) {
        log_line(LOG_WARN, "schedule %s: %s", cron->name, err.text);
        return;
    }
    later_crontab_put(&cmd, &queue->keys, cron->name, cron->definition, cron->definition_len,
                      later_crontab_first(&schedule, zone, "", later_clock() + queue->tick.now),
                      queue->queues->ticker->origin);
    queue_send(queue, &cmd, on_put, queue);
    later_zone_free(zone);
}

static void put_all(struct queue *queue)
{
    const struct config *config = queue->queues->config;

    queue->tick.again = false;
    for (uint32_t i = 0; i < config->cron_count; i++) {
        if (ticker_load_is_of(queue, &config->crons[i]))
            ticker_load_put(queue, &config->crons[i]);
    }
}

/* --- drop --- */

/* Have we said that our configuration has it? */
static bool ticker_load_is_ours(const struct ticker *ticker, const struct later_crontab_row *row)
{
    char origin[320], mark[330];

    later_schedule_value(row->state, "origin", origin, sizeof origin);
    snprintf(mark, sizeof mark, "%s@", ticker->origin); /* in `by` */
    return strcmp(origin, ticker->origin) == 0 || strstr(row->state, mark);
}

/* Drops a schedule that this laterd has written and its configuration no longer has. Returns
 * whether it does. */
static bool ticker_load_drop(struct queue *queue, const struct later_crontab_row *row)
{
    struct later_command cmd = { 0 };

    if (!ticker_load_is_ours(queue->queues->ticker, row) || ticker_load_find(queue, row->name))
        return false;
    log_line(LOG_INFO,
             "queue %s: schedule %.64s is no longer in the configuration: dropped, unless another "
             "laterd has it",
             queue->keys.queue, row->name);
    later_crontab_move(&cmd, &queue->keys, LATER_CRON_DROP, &row->name,
                       queue->queues->ticker->origin, 1);
    return queue_send(queue, &cmd, NULL, NULL) == 0;
}

/* --- page by page --- */

static void ticker_load_look(struct queue *queue);

static void ticker_load_on_page(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct later_crontab crontab;
    struct later_crontab_row row;
    size_t gone = 0;

    queue->tick.loading = false;
    if (!queue->config) /* it is not served any more */
        return;
    if (answer->outcome != LATER_ANSWERED) {
        queue->tick.again = true;
        return;
    }
    if (queue->tick.anew) { /* by what the configuration has now */
        ticker_load(queue);
        return;
    }
    later_crontab_looked(answer->reply, &crontab);
    queue->tick.now = crontab.now - later_clock();
    for (size_t i = 0; i < crontab.count; i++) {
        later_crontab_row(answer->reply, i, &row);
        gone += ticker_load_drop(queue, &row);
    }
    queue->tick.rank += crontab.count - gone;
    if (crontab.count > 0)
        ticker_load_look(queue);
    else
        put_all(queue);
    link_flush(queue->queues->link);
}

static void ticker_load_look(struct queue *queue)
{
    struct later_command cmd = { 0 };
    char rank[24];

    snprintf(rank, sizeof rank, "%zu", queue->tick.rank);
    later_crontab_look(&cmd, &queue->keys, rank, LATER_BATCH_MAX);
    queue->tick.loading = queue_send(queue, &cmd, ticker_load_on_page, queue) == 0;
    queue->tick.again = !queue->tick.loading;
}

void ticker_load(struct queue *queue)
{
    queue->tick.anew = queue->tick.loading;
    if (queue->tick.loading)
        return;
    queue->tick.rank = 0;
    ticker_load_look(queue);
    link_flush(queue->queues->link);
}

/* --- once a minute --- */

/* If any of them is gone (another host may have dropped it), all are written again. */
static void on_seen(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    size_t count = later_reply_count(answer->reply);

    for (size_t i = 0; answer->outcome == LATER_ANSWERED && i < count && !queue->tick.again; i++)
        queue->tick.again = later_reply_int(later_reply_at(answer->reply, i)) == 0;
    if (queue->tick.again)
        ticker_load(queue);
}

static void say_seen(struct queue *queue, const char *const *names, size_t count)
{
    struct later_command cmd = { 0 };

    if (count == 0)
        return;
    later_crontab_move(&cmd, &queue->keys, LATER_CRON_SEEN, names, queue->queues->ticker->origin,
                       count);
    queue_send(queue, &cmd, on_seen, queue);
}

void ticker_refresh(struct queue *queue)
{
    const struct config *config = queue->queues->config;
    const char *names[LATER_BATCH_MAX];
    size_t count = 0;

    if (queue->tick.again) {
        ticker_load(queue);
        return;
    }
    for (uint32_t i = 0; i < config->cron_count; i++) {
        if (!ticker_load_is_of(queue, &config->crons[i]))
            continue;
        names[count++] = config->crons[i].name;
        if (count == LATER_BATCH_MAX) {
            say_seen(queue, names, count);
            count = 0;
        }
    }
    say_seen(queue, names, count);
}

/* --- after a standstill --- */

void ticker_renew(struct queue *queue, const struct later_reply *rows,
                  const struct later_crontab *crontab)
{
    const char *names[LATER_BATCH_MAX];
    size_t count = 0;

    for (size_t i = 0; i < crontab->count && count < LATER_BATCH_MAX; i++) {
        struct later_crontab_row row;
        char seen[32];

        later_crontab_row(rows, i, &row);
        later_schedule_value(row.state, "seen", seen, sizeof seen);
        if (crontab->now - strtod(seen, NULL) > UNSEEN_SECONDS && ticker_load_find(queue, row.name))
            names[count++] = row.name;
    }
    say_seen(queue, names, count);
}
