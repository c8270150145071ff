/* ticker.c: pushes the jobs of schedules when they are due. */
#include "queues/ticker_inner.h"

#include "base/clock.h"
#include "base/random.h"
#include "log.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRE_MAX    100  /* schedules in one look */
#define CHANCE      0.05 /* seconds that hosts wait by chance */
#define LEAST_WAIT  0.005
#define AFTER_FAULT 1.0
#define MINUTE      60.0

/* --- when --- */

static double by_chance(void)
{
    uint16_t random;

    later_random(&random, sizeof random);
    return CHANCE * random / UINT16_MAX;
}

static void ticker_arm(struct ticker_queue *queue, double seconds)
{
    queue->tick = seconds < 0 ? INFINITY : later_clock() + seconds;
    if (seconds < 0) {
        timer_stop(queue->timer);
        return;
    }
    seconds += queue->was_first ? 0 : by_chance();
    timer_in(queue->timer, seconds > LEAST_WAIT ? seconds : LEAST_WAIT);
}

void ticker_told(struct ticker *ticker, const char *name, double seconds)
{
    struct ticker_queue *queue = later_names_find(&ticker->queues, name);

    /* The same tick is told often, and must not be put off each time. */
    if (queue && !queue->looking && queue->firing == 0 &&
        (seconds < 0 || later_clock() + seconds < queue->tick - CHANCE))
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

static void ticker_tell(const struct ticker_queue *queue, const struct later_fired *fired)
{
    if (strcmp(fired->outcome, "FIRED") == 0)
        log_line(LOG_DEBUG, "queue %s: pushed %s", queue->keys.queue, fired->id);
    else if (strcmp(fired->outcome, "MOVED") != 0)
        log_line(LOG_DEBUG, "queue %s: a tick was not pushed: %s", queue->keys.queue,
                 fired->outcome);
}

static void on_fired(void *arg, struct later_answer *answer)
{
    struct ticker_queue *queue = arg;
    struct later_fired fired;

    queue->firing--;
    if (answer->outcome == LATER_REFUSED)
        fault_note(&queue->fault, LOG_WARN, "redis refuses to fire schedules of queue %s: %s",
                   queue->keys.queue, answer->text);
    if (answer->outcome != LATER_ANSWERED) {
        if (queue->firing == 0)
            ticker_arm(queue, AFTER_FAULT);
        return;
    }
    fault_over(&queue->fault);
    later_crontab_fired(answer->reply, &fired);
    ticker_tell(queue, &fired);
    queue->was_first = strcmp(fired.outcome, "MOVED") != 0;
    queue->now = fired.now - later_clock();
    if (queue->firing == 0)
        ticker_arm(queue, fired.next);
}

/* Works out what a schedule has to do, and has it done. False: that is not possible. */
static bool fire(struct ticker_queue *queue, const struct later_crontab_row *row, double now)
{
    struct later_schedule schedule;
    struct later_firing firing;
    struct later_error err;
    struct later_command cmd = { 0 };
    struct later_zone *zone = NULL;
    bool own = false, sent;

    if (later_schedule_read(&schedule, row->lines, &err) == 0)
        zone = zone_of(queue->ticker, later_schedule_zone(&schedule), &own, &err);
    if (!zone) {
        fault_note(&queue->fault, LOG_WARN, "queue %s: schedule %.64s is not fired here: %s",
                   queue->keys.queue, row->name, err.text);
        return false;
    }
    later_schedule_fire(&schedule, zone, row->name, (int64_t)row->next, (int64_t)now, &firing);
    if (firing.missed > 0)
        log_line(LOG_WARN, "queue %s: schedule %.64s was late and missed %u ticks",
                 queue->keys.queue, row->name, (unsigned)firing.missed);
    later_crontab_fire(&cmd, &queue->keys, row, &firing);
    sent = calls_send(queue->ticker->calls, &cmd, on_fired, queue) == 0;
    queue->firing += sent;
    if (own)
        later_zone_free(zone);
    return sent;
}

static void ticker_on_look(void *arg, struct later_answer *answer)
{
    struct ticker_queue *queue = arg;
    struct later_crontab crontab;
    struct later_crontab_row row;
    bool stuck = false;

    queue->looking = false;
    if (answer->outcome != LATER_ANSWERED) {
        ticker_arm(queue, AFTER_FAULT);
        return;
    }
    later_crontab_looked(answer->reply, &crontab);
    queue->now = crontab.now - later_clock();
    queue->was_first = queue->was_first && crontab.count > 0;
    ticker_renew(queue, answer->reply, &crontab);
    for (size_t i = 0; i < crontab.count; i++) {
        later_crontab_row(answer->reply, i, &row);
        stuck = !fire(queue, &row, crontab.now) || stuck;
    }
    if (queue->firing == 0)
        ticker_arm(queue, stuck ? AFTER_FAULT : crontab.next);
    link_flush(queue->ticker->link);
}

static void ticker_on_timer(void *arg)
{
    struct ticker_queue *queue = arg;
    struct later_command cmd = { 0 };

    queue->tick = INFINITY;
    if (queue->ticker->paused || !link_is_up(queue->ticker->link)) {
        ticker_arm(queue, AFTER_FAULT);
        return;
    }
    later_crontab_look(&cmd, &queue->keys, "due", FIRE_MAX);
    queue->looking = calls_send(queue->ticker->calls, &cmd, ticker_on_look, queue) == 0;
    link_flush(queue->ticker->link);
}

/* --- the whole --- */

void ticker_link_up(struct ticker *ticker)
{
    for (size_t i = 0; i < ticker->queues.count; i++)
        ticker_load(ticker->queues.items[i]);
    timer_in(ticker->minute, MINUTE);
}

static void on_minute(void *arg)
{
    struct ticker *ticker = arg;

    for (size_t i = 0; i < ticker->queues.count; i++)
        ticker_refresh(ticker->queues.items[i]);
    link_flush(ticker->link);
    timer_in(ticker->minute, MINUTE);
}

void ticker_pause(struct ticker *ticker, bool paused)
{
    ticker->paused = paused;
}

static void ticker_free_queue(void *item)
{
    struct ticker_queue *queue = item;

    timer_free(queue->timer);
    free(queue);
}

/* Returns 0, or -1 without memory. */
static int ticker_add(struct ticker *ticker, const char *name)
{
    struct ticker_queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return -1;
    queue->ticker = ticker;
    queue->tick = INFINITY;
    queue->timer = timer_new(ticker->base, ticker_on_timer, queue);
    later_keys_init(&queue->keys, ticker->config->redis.prefix, name);
    if (queue->timer && later_names_add(&ticker->queues, queue->keys.queue, queue))
        return 0;
    ticker_free_queue(queue);
    return -1;
}

/* A schedule is never of a shard. */
static bool ticker_is_new(const struct ticker *ticker, const char *queue)
{
    return !strchr(queue, '/') && !later_names_find(&ticker->queues, queue);
}

int ticker_follow(struct ticker *ticker, const char *queue)
{
    if (!ticker_is_new(ticker, queue))
        return 0;
    if (ticker_add(ticker, queue) < 0)
        return -1;
    if (link_is_up(ticker->link))
        ticker_load(ticker->queues.items[ticker->queues.count - 1]);
    return 0;
}

static int ticker_add_queues(struct ticker *ticker)
{
    const struct later_names *served = &ticker->config->served;

    for (uint32_t i = 0; i < served->count; i++) {
        const struct config_queue *queue = served->items[i];

        if (ticker_is_new(ticker, queue->name) && ticker_add(ticker, queue->name) < 0)
            return -1;
    }
    return 0;
}

struct ticker *ticker_new(struct event_base *base, const struct config *config, struct link *link,
                          const char *identity, struct later_error *err)
{
    struct ticker *ticker = calloc(1, sizeof *ticker);
    bool ok = ticker != NULL;

    if (ok) {
        *ticker = (struct ticker){ .base = base, .config = config, .link = link };
        ok = asprintf(&ticker->origin, "config:%s", identity) >= 0 &&
             (ticker->calls = calls_new(link)) != NULL && ticker_add_queues(ticker) == 0 &&
             (ticker->minute = timer_new(base, on_minute, ticker)) != NULL;
    }
    if (ok)
        return ticker;
    later_fail(err, LATER_E_SYSTEM, "no memory");
    ticker_free(ticker);
    return NULL;
}

void ticker_free(struct ticker *ticker)
{
    if (!ticker)
        return;
    calls_free(ticker->calls);
    timer_free(ticker->minute);
    later_names_free(&ticker->queues, ticker_free_queue);
    for (size_t i = 0; i < ticker->zone_count; i++)
        later_zone_free(ticker->zones[i].zone);
    free(ticker->origin);
    free(ticker);
}
