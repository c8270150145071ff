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

static void ticker_arm(struct queue *queue, double seconds)
{
    bool never = seconds < 0 || !queue->config;

    queue->tick.at = never ? INFINITY : later_clock() + seconds;
    if (never) {
        timer_stop(queue->tick.timer);
        return;
    }
    seconds += queue->tick.was_first ? 0 : by_chance();
    timer_in(queue->tick.timer, seconds > LEAST_WAIT ? seconds : LEAST_WAIT);
}

void ticker_told(struct queue *queue, const struct later_migrated *migrated)
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
    if (strcmp(fired->outcome, "FIRED") == 0)
        log_line(LOG_DEBUG, "queue %s: pushed %s", queue->keys.queue, fired->id);
    else if (strcmp(fired->outcome, "MOVED") != 0)
        log_line(LOG_DEBUG, "queue %s: a tick was not pushed: %s", queue->keys.queue,
                 fired->outcome);
}

static void on_fired(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct later_fired fired;

    queue->tick.firing--;
    if (answer->outcome == LATER_REFUSED)
        fault_note(&queue->tick.fault, LOG_WARN, "redis refuses to fire schedules of queue %s: %s",
                   queue->keys.queue, answer->text);
    if (answer->outcome != LATER_ANSWERED) {
        if (queue->tick.firing == 0)
            ticker_arm(queue, AFTER_FAULT);
        return;
    }
    fault_over(&queue->tick.fault);
    later_crontab_fired(answer->reply, &fired);
    ticker_tell(queue, &fired);
    queue->tick.was_first = strcmp(fired.outcome, "MOVED") != 0;
    queue->tick.now = fired.now - later_clock();
    if (queue->tick.firing == 0)
        ticker_arm(queue, fired.next);
}

/* Works out what a schedule has to do, and has it done. False: that is not possible. */
static bool fire(struct queue *queue, const struct later_crontab_row *row, double now)
{
    struct later_schedule schedule;
    struct later_firing firing;
    struct later_error err;
    struct later_command cmd = { 0 };
    struct later_zone *zone = NULL;
    bool own = false, sent;

    if (later_schedule_read(&schedule, row->lines, &err) == 0)
        zone = zone_of(queue->queues->ticker, later_schedule_zone(&schedule), &own, &err);
    if (!zone) {
        fault_note(&queue->tick.fault, LOG_WARN, "queue %s: schedule %.64s is not fired here: %s",
                   queue->keys.queue, row->name, err.text);
        return false;
    }
    later_schedule_fire(&schedule, zone, row->name, (int64_t)row->next, (int64_t)now, &firing);
    if (firing.missed > 0)
        log_line(LOG_WARN, "queue %s: schedule %.64s was late and missed %u ticks",
                 queue->keys.queue, row->name, (unsigned)firing.missed);
    later_crontab_fire(&cmd, &queue->keys, row, &firing);
    sent = queue_send(queue, &cmd, on_fired, queue) == 0;
    queue->tick.firing += sent;
    if (own)
        later_zone_free(zone);
    return sent;
}

static void ticker_on_look(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct later_crontab crontab;
    struct later_crontab_row row;
    bool stuck = false;

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
        stuck = !fire(queue, &row, crontab.now) || stuck;
    }
    if (queue->tick.firing == 0)
        ticker_arm(queue, stuck ? AFTER_FAULT : crontab.next);
    link_flush(queue->queues->link);
}

static void ticker_on_timer(void *arg)
{
    struct queue *queue = arg;
    struct later_command cmd = { 0 };

    queue->tick.at = INFINITY;
    if (queue->queues->paused || !link_is_up(queue->queues->link)) {
        ticker_arm(queue, AFTER_FAULT);
        return;
    }
    later_crontab_look(&cmd, &queue->keys, "due", FIRE_MAX);
    queue->tick.looking = queue_send(queue, &cmd, ticker_on_look, queue) == 0;
    link_flush(queue->queues->link);
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

void ticker_link_up(struct queues *queues)
{
    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (ticker_is_ours(queues_at(queues, i)))
            ticker_load(queues_at(queues, i));
    }
    timer_in(queues->ticker->minute, MINUTE);
}

void ticker_configure(struct queues *queues)
{
    if (link_is_up(queues->link))
        ticker_link_up(queues);
}

/* A schedule is never of a shard. */
int ticker_begin(struct queue *queue)
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

void ticker_end(struct queue *queue)
{
    if (queue->tick.timer)
        timer_stop(queue->tick.timer);
}

void ticker_drop(struct queue *queue)
{
    timer_free(queue->tick.timer);
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

void ticker_free(struct queues *queues)
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
