/* ticker.c: pushes the jobs of schedules when they are due. */
#include "queues/ticker.h"

#include "base/clock.h"
#include "base/random.h"
#include "log.h"
#include "queue/crontab.h"
#include "queues/queues.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRE_MAX         100  /* schedules in one look */
#define CHANCE           0.05 /* seconds that hosts wait by chance */
#define LEAST_WAIT       0.005
#define AFTER_FAULT      1.0
#define MINUTE           60.0
#define UNSEEN_SECONDS   120 /* twice the time between two refreshes */
#define TICKER_ZONES_MAX 64  /* are kept open; others are read each time */

struct ticker {
    char *origin; /* config:HOST:ID */
    struct timer *minute;
    struct {
        char name[LATER_ZONE_MAX + 1];
        struct later_zone *zone;
    } zones[TICKER_ZONES_MAX];
    size_t zone_count;
};

/* --- the schedules of the configuration: written, and dropped --- */

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

static void ticker_load(struct queue *queue);
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

/* Writes the queue's schedules of the configuration, and drops those that it no longer has. */
static void ticker_load(struct queue *queue)
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

static void ticker_refresh(struct queue *queue)
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

/* Says so of those rows of a look of which nobody has for two minutes: we stood still, or Redis's
 * clock jumped. Calls that are sent after this see them as seen. */
static void ticker_renew(struct queue *queue, const struct later_reply *rows,
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

/* --- when --- */

static double by_chance(void)
{
    uint16_t random;

    later_random(&random, sizeof random);
    return CHANCE * random / UINT16_MAX;
}

static void ticker_arm(struct queue *queue, double seconds)
{
    bool never;

    if (queue->tick.held > 0 && (seconds < 0 || seconds > LATER_CRON_HELD)) /* is it still? */
        seconds = LATER_CRON_HELD;
    never = seconds < 0 || !queue->config;
    queue->tick.at = never ? INFINITY : later_clock() + seconds;
    if (never) {
        timer_stop(queue->tick.timer);
        return;
    }
    seconds += queue->tick.was_first ? 0 : by_chance();
    timer_in(queue->tick.timer, seconds > LEAST_WAIT ? seconds : LEAST_WAIT);
}

static void ticker_told(struct queue *queue, const struct later_migrated *migrated)
{
    double seconds = migrated->next_tick;

    /* The same tick is told often, and must not be put off each time. */
    if (queue->tick.timer && !queue->tick.looking && queue->tick.firing == 0 &&
        (seconds < 0 || later_clock() + seconds < queue->tick.at - CHANCE))
        ticker_arm(queue, seconds);
}

/* --- firing --- */

/* Those that are kept are the ticker's; *own is set for one that the caller has to free. */
static struct later_zone *zone_of(struct ticker *ticker, const char *name, bool *own,
                                  struct later_error *err)
{
    struct later_zone *zone;

    *own = false;
    for (size_t i = 0; i < ticker->zone_count; i++) {
        if (strcmp(ticker->zones[i].name, name) == 0)
            return ticker->zones[i].zone;
    }
    zone = later_zone_open(name, err);
    if (zone && ticker->zone_count < TICKER_ZONES_MAX) {
        snprintf(ticker->zones[ticker->zone_count].name, LATER_ZONE_MAX + 1, "%s", name);
        ticker->zones[ticker->zone_count++].zone = zone;
    } else {
        *own = zone != NULL;
    }
    return zone;
}

static void ticker_tell(const struct queue *queue, const struct later_fired *fired)
{
    if (fired->as == LATER_FIRED_JOB)
        log_line(LOG_DEBUG, "queue %s: pushed %s", queue->keys.queue, fired->id);
    else if (fired->as == LATER_FIRED_NOT)
        log_line(LOG_DEBUG, "queue %s: a tick was not pushed: %s", queue->keys.queue,
                 fired->outcome);
}

static void on_fired(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct later_fired fired;

    queue->tick.firing--;
    if (answer->outcome == LATER_REFUSED)
        fault_note(&queue->tick.refused, LOG_WARN,
                   "redis refuses to fire schedules of queue %s: %s", queue->keys.queue,
                   answer->text);
    if (answer->outcome != LATER_ANSWERED) {
        if (queue->tick.firing == 0)
            ticker_arm(queue, AFTER_FAULT);
        return;
    }
    fault_over(&queue->tick.refused);
    later_crontab_fired(answer->reply, &fired);
    ticker_tell(queue, &fired);
    queue->tick.was_first = fired.as != LATER_FIRED_MOVED;
    queue->tick.now = fired.now - later_clock();
    if (queue->tick.firing == 0)
        ticker_arm(queue, fired.next);
}

/* Works out what a schedule has to do. False: it cannot be read here, which is noted. */
static bool ticker_read(struct queue *queue, const struct later_crontab_row *row, double now,
                        struct later_firing *firing)
{
    struct later_schedule schedule;
    struct later_error err;
    struct later_zone *zone = NULL;
    bool own = false;

    if (later_schedule_read(&schedule, row->lines, &err) == 0)
        zone = zone_of(queue->queues->ticker, later_schedule_zone(&schedule), &own, &err);
    if (!zone) {
        fault_note(&queue->tick.unread, LOG_WARN, "queue %s: schedule %.64s is not fired here: %s",
                   queue->keys.queue, row->name, err.text);
        queue->tick.held = later_clock();
        return false;
    }
    if (later_crontab_asks(row))
        later_schedule_answer(&schedule, zone, row->name, (int64_t)row->next, (int64_t)now, firing);
    else
        later_schedule_fire(&schedule, zone, row->name, (int64_t)row->next, (int64_t)now, firing);
    if (own)
        later_zone_free(zone);
    return true;
}

static void fire(struct queue *queue, const struct later_crontab_row *row, double now)
{
    struct later_firing firing = { 0 };
    struct later_command cmd = { 0 };
    bool known = ticker_read(queue, row, now, &firing);

    if (firing.missed > 0)
        log_line(LOG_WARN, "queue %s: schedule %.64s was late and missed %u ticks",
                 queue->keys.queue, row->name, (unsigned)firing.missed);
    later_crontab_fire(&cmd, &queue->keys, row, known ? &firing : NULL);
    queue->tick.firing += queue_send(queue, &cmd, on_fired, queue) == 0;
}

/* None is held any more, or others see to it. */
static void ticker_held_over(struct queue *queue)
{
    if (queue->tick.held > 0)
        fault_over(&queue->tick.unread);
    queue->tick.held = 0;
}

static void ticker_on_look(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct later_crontab crontab;
    struct later_crontab_row row;

    queue->tick.looking = false;
    if (answer->outcome != LATER_ANSWERED || !queue->config) {
        ticker_arm(queue, AFTER_FAULT);
        return;
    }
    later_crontab_looked(answer->reply, &crontab);
    queue->tick.now = crontab.now - later_clock();
    queue->tick.was_first = queue->tick.was_first && crontab.count > 0;
    ticker_renew(queue, answer->reply, &crontab);
    for (size_t i = 0; i < crontab.count; i++) {
        later_crontab_row(answer->reply, i, &row);
        fire(queue, &row, crontab.now);
    }
    if (later_clock() - queue->tick.held > LATER_CRON_HELD * 1.5) /* it would have come again */
        ticker_held_over(queue);
    if (queue->tick.firing == 0)
        ticker_arm(queue, crontab.count > 0 ? AFTER_FAULT : crontab.next);
    link_flush(queue->queues->link);
}

static void ticker_on_timer(void *arg)
{
    struct queue *queue = arg;
    struct later_command cmd = { 0 };

    queue->tick.at = INFINITY;
    if (queue->queues->others_look) { /* if it does again, migrate tells of the tick */
        ticker_held_over(queue);
        return;
    }
    if (queue->queues->paused || !link_is_up(queue->queues->link)) {
        ticker_arm(queue, AFTER_FAULT);
        return;
    }
    later_crontab_look(&cmd, &queue->keys, "due", FIRE_MAX);
    queue->tick.looking = queue_send(queue, &cmd, ticker_on_look, queue) == 0;
    link_flush(queue->queues->link);
}

static const struct fault *ticker_refused_of(const struct queue *queue)
{
    return &queue->tick.refused;
}

static const struct fault *ticker_unread_of(const struct queue *queue)
{
    return &queue->tick.unread;
}

const char *ticker_fault(const struct queues *queues)
{
    const char *refused = queues_fault(queues, ticker_refused_of);

    return refused ? refused : queues_fault(queues, ticker_unread_of);
}

/* --- the service --- */

static bool ticker_is_ours(const struct queue *queue)
{
    return queue->config && queue->tick.timer;
}

static void ticker_on_minute(void *arg)
{
    const struct queues *queues = arg;

    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (ticker_is_ours(queues_at(queues, i)))
            ticker_refresh(queues_at(queues, i));
    }
    link_flush(queues->link);
    timer_in(queues->ticker->minute, MINUTE);
}

static void ticker_link_up(struct queues *queues)
{
    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (ticker_is_ours(queues_at(queues, i)))
            ticker_load(queues_at(queues, i));
    }
    timer_in(queues->ticker->minute, MINUTE);
}

static void ticker_configure(struct queues *queues)
{
    if (link_is_up(queues->link))
        ticker_link_up(queues);
}

/* A schedule is never of a shard. */
static int ticker_begin(struct queue *queue)
{
    if (queue_is_shard(queue))
        return 0;
    if (!queue->tick.timer)
        queue->tick.timer = timer_new(queue->queues->base, ticker_on_timer, queue);
    if (!queue->tick.timer)
        return -1;
    queue->tick.at = INFINITY;
    if (link_is_up(queue->queues->link))
        ticker_load(queue);
    return 0;
}

static void ticker_end(struct queue *queue)
{
    if (queue->tick.timer)
        timer_stop(queue->tick.timer);
}

static void ticker_drop(struct queue *queue)
{
    timer_free(queue->tick.timer);
    fault_free(&queue->tick.refused);
    fault_free(&queue->tick.unread);
}

int ticker_new(struct queues *queues, struct later_error *err)
{
    struct ticker *ticker = calloc(1, sizeof *ticker);

    queues->ticker = ticker;
    if (!ticker || asprintf(&ticker->origin, "config:%s", queues->options.identity) < 0 ||
        !(ticker->minute = timer_new(queues->base, ticker_on_minute, queues)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    return 0;
}

static void ticker_free(struct queues *queues)
{
    struct ticker *ticker = queues->ticker;

    if (!ticker)
        return;
    timer_free(ticker->minute);
    for (size_t i = 0; i < ticker->zone_count; i++)
        later_zone_free(ticker->zones[i].zone);
    free(ticker->origin);
    free(ticker);
    queues->ticker = NULL;
}

const struct service ticker_service = {
    .unmake = ticker_free,
    .begin = ticker_begin,
    .end = ticker_end,
    .drop = ticker_drop,
    .configure = ticker_configure,
    .link_up = ticker_link_up,
    .told = ticker_told,
};
