/* reshard.c: how many shards queues have. */
#include "queues/reshard.h"

#include "base/clock.h"
#include "base/names.h"
#include "log.h"
#include "queue/inspect.h"
#include "queues/sweep.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS  10
#define SOON_SECONDS  3     /* while former counts are to be swept away */
#define SWEEP_SECONDS 5.0   /* after a change; then twice as long each time, */
#define SWEEP_MOST    300.0 /* but no longer */
#define TOGETHER      500   /* plans read by one command */

/* A queue of the present configuration, or of an earlier one. */
struct watched {
    struct reshard *reshard;
    struct later_keys keys;
    bool configured;
    uint32_t wanted; /* 0: what Redis says */
    uint32_t served;
    bool asserted; /* what is wanted was compared with the plan, and written where it differed */
    char text[SWEEP_PLAN_SIZE];
    struct later_plan plan;
    struct later_plan newest; /* of all that were seen: Redis may lose one in a failover */
    bool asked;
    uint32_t changing_to;
    struct sweep *sweep;
    double sweep_at, sweep_wait;
};

struct reshard {
    char prefix[LATER_PREFIX_MAX + 1];
    struct link *link;
    struct timer *look;
    struct later_names queues; /* that are watched */
    bool one_by_one;
    void (*grown)(void *arg);
    void *arg;
};

static struct watched *watched_at(const struct reshard *reshard, uint32_t i)
{
    return reshard->queues.items[i];
}

/* --- the pause of the whole goes for shards that are new --- */

static void on_paused(void *arg, struct later_answer *answer)
{
    const struct watched *watched = arg;
    struct link *link = watched->reshard->link;
    later_queue_name names[LATER_WHOLE_MAX];
    size_t count = later_shards_all(watched->keys.queue, later_plan_span(&watched->plan), names);
    int64_t left = answer->outcome == LATER_ANSWERED ? later_reply_int(answer->reply) : 0;

    if (left == 0 || left == -2) /* over, or none; -1 has no end */
        return;
    for (size_t i = 1; i < count; i++) {
        struct later_command cmd = { 0 };
        struct later_keys keys;

        later_keys_init(&keys, watched->reshard->prefix, names[i]);
        later_inspect_pause(&cmd, &keys, left > 0 ? (double)left / 1000 : 0, "");
        link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    link_flush(link);
}

/* After the change, since `later pause` pauses the plain queue first and then reads the plan. */
static void copy_pause(struct watched *watched)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "PTTL %s", watched->keys.name[LATER_KEY_PAUSED]);
    link_send(watched->reshard->link, &cmd, LINK_TIMEOUT, on_paused, watched);
}

/* --- plans --- */

static void reshard_look_at(struct watched *watched);
static void use_plan(struct watched *watched);

static void take_plan(struct watched *watched, const char *text)
{
    snprintf(watched->text, sizeof watched->text, "%s", text);
    watched->plan = later_plan_parse(text);
    if (watched->plan.epoch >= watched->newest.epoch)
        watched->newest = watched->plan;
}

static void on_changed(void *arg, struct later_answer *answer)
{
    struct watched *watched = arg;
    const char *text = later_reply_text(answer->reply, NULL);

    watched->asked = false;
    if (answer->outcome == LATER_REFUSED)
        log_line(LOG_WARN, "redis refuses to change the shards of queue %s: %s",
                 watched->keys.queue, answer->text);
    if (answer->outcome != LATER_ANSWERED || !watched->configured) /* the next look tells */
        return;
    take_plan(watched, text);
    if (watched->plan.count == watched->changing_to) {
        log_line(LOG_INFO, "queue %s: %u shards from now on", watched->keys.queue,
                 (unsigned)watched->plan.count);
        watched->asserted = true;
        watched->sweep_wait = SWEEP_SECONDS;
        watched->sweep_at = later_clock() + SWEEP_SECONDS;
        copy_pause(watched);
    }
    use_plan(watched);
    link_flush(watched->reshard->link);
}

/* `from` is the plan that was read, or a newer one that Redis has lost. If somebody has changed the
 * plan meanwhile, the next look tells. */
static void reshard_change(struct watched *watched, const struct later_plan *from, uint32_t count)
{
    struct later_command cmd = { 0 };
    char counts[LATER_PLAN_SIZE];

    if (!later_plan_change(from, count, counts)) {
        log_line(LOG_ERROR,
                 "queue %s: its number of shards cannot change again while jobs lie under %d "
                 "former ones",
                 watched->keys.queue, LATER_COUNTS_MAX - 1);
        watched->asserted = true;
        return;
    }
    watched->changing_to = count;
    sweep_script(&cmd, &watched->keys, watched->text, counts);
    watched->asked =
        link_send(watched->reshard->link, &cmd, LINK_TIMEOUT, on_changed, watched) == 0;
}

static void on_swept(void *arg, bool dropped, uint64_t newer)
{
    struct watched *watched = arg;

    sweep_free(watched->sweep);
    watched->sweep = NULL;
    if (newer > watched->newest.epoch) { /* nobody here knew that plan, so this one shall do */
        watched->newest = watched->plan;
        watched->newest.epoch = newer;
    }
    watched->sweep_wait = dropped || newer        ? SWEEP_SECONDS
                          : watched->plan.formers ? fmin(2 * watched->sweep_wait, SWEEP_MOST)
                                                  : SWEEP_MOST;
    watched->sweep_at = later_clock() + (dropped ? 0 : watched->sweep_wait);
    if (dropped || newer) { /* there may be more of them; the plan has to be written */
        reshard_look_at(watched);
        link_flush(watched->reshard->link);
    }
}

static void reshard_sweep(struct watched *watched)
{
    if (watched->sweep || later_clock() < watched->sweep_at)
        return;
    if (watched->sweep_wait < SWEEP_SECONDS)
        watched->sweep_wait = SWEEP_SECONDS;
    watched->sweep = sweep_start(watched->reshard->link, watched->reshard->prefix, &watched->keys,
                                 watched->text, on_swept, watched);
}

/* What the plan asks of us. */
static void use_plan(struct watched *watched)
{
    uint32_t span = later_plan_span(&watched->plan);

    if (span > watched->served) {
        log_line(LOG_INFO, "queue %s has %u shards in Redis, %u here: reloading",
                 watched->keys.queue, (unsigned)span, (unsigned)watched->served);
        watched->reshard->grown(watched->reshard->arg);
    } else if (span > 1) {
        reshard_sweep(watched);
    }
}

/* Decides whether to change the plan. If Redis has lost a plan, shards that have heard of it refuse
 * all pushes by an older one, until there is a newer plan. */
static void decide(struct watched *watched)
{
    bool lost = watched->plan.epoch < watched->newest.epoch;

    if (lost) {
        log_line(LOG_WARN, "queue %s: Redis has lost a change of its shards; written again",
                 watched->keys.queue);
        reshard_change(watched, &watched->newest,
                       watched->wanted ? watched->wanted : watched->newest.count);
    } else if (watched->wanted && watched->wanted != watched->plan.count && !watched->asserted) {
        reshard_change(watched, &watched->plan, watched->wanted);
    } else {
        watched->asserted = true;
        use_plan(watched);
    }
}

/* Plans that were asked for together; one alone by GET. */
struct reading {
    size_t count;
    struct watched *list[];
};

static const char *plan_of(const struct later_reply *reply, const struct reading *reading, size_t i)
{
    return later_reply_text(reading->count > 1 ? later_reply_at(reply, i) : reply, NULL);
}

static void on_plans(void *arg, struct later_answer *answer)
{
    struct reading *reading = arg;
    struct reshard *reshard = reading->list[0]->reshard;

    if (answer->outcome == LATER_REFUSED && reading->count > 1)
        reshard->one_by_one = true; /* rights of before: without MGET */
    for (size_t i = 0; i < reading->count; i++) {
        struct watched *watched = reading->list[i];

        watched->asked = false;
        if (answer->outcome != LATER_ANSWERED || !watched->configured)
            continue;
        take_plan(watched, plan_of(answer->reply, reading, i));
        decide(watched);
    }
    link_flush(reshard->link);
    free(reading);
}

static void read_plans(struct reshard *reshard, struct watched *const *list, size_t count)
{
    struct reading *reading = malloc(sizeof *reading + count * sizeof(struct watched *));
    struct later_command cmd = { 0 };
    bool sent;

    if (!reading || count == 0) {
        free(reading);
        return;
    }
    reading->count = count;
    later_command_begin(&cmd, 1 + count);
    later_command_text(&cmd, count > 1 ? "MGET" : "GET");
    for (size_t i = 0; i < count; i++) {
        reading->list[i] = list[i];
        later_command_text(&cmd, list[i]->keys.name[LATER_KEY_SHARDS]);
    }
    sent = link_send(reshard->link, &cmd, LINK_TIMEOUT, on_plans, reading) == 0;
    for (size_t i = 0; i < count; i++)
        list[i]->asked = sent;
    if (!sent)
        free(reading);
}

static bool may_read(const struct watched *watched)
{
    return watched->configured && !watched->asked;
}

static void reshard_look_at(struct watched *watched)
{
    if (may_read(watched))
        read_plans(watched->reshard, &watched, 1);
}

/* Many by one command; of a Cluster each has a slot of its own. */
static void reshard_look_at_all(struct reshard *reshard)
{
    bool apart = reshard->one_by_one || later_redis_is_cluster(link_redis(reshard->link));
    struct watched *list[TOGETHER];
    size_t count = 0;

    for (uint32_t i = 0; i < reshard->queues.count; i++) {
        if (!may_read(watched_at(reshard, i)))
            continue;
        list[count++] = watched_at(reshard, i);
        if (apart || count == TOGETHER) {
            read_plans(reshard, list, count);
            count = 0;
        }
    }
    read_plans(reshard, list, count);
}

static void reshard_on_look(void *arg)
{
    struct reshard *reshard = arg;
    double next = LOOK_SECONDS;

    reshard_look_at_all(reshard);
    for (uint32_t i = 0; i < reshard->queues.count; i++) {
        if (watched_at(reshard, i)->configured && watched_at(reshard, i)->plan.formers)
            next = SOON_SECONDS;
    }
    timer_in(reshard->look, next);
    link_flush(reshard->link);
}

void reshard_link_up(struct reshard *reshard)
{
    reshard_on_look(reshard);
}

/* --- queues --- */

static struct watched *reshard_add(struct reshard *reshard, const char *queue)
{
    struct watched *watched = calloc(1, sizeof *watched);

    if (!watched)
        return NULL;
    watched->reshard = reshard;
    watched->plan.count = watched->newest.count = 1;
    later_keys_init(&watched->keys, reshard->prefix, queue);
    if (later_names_add(&reshard->queues, watched->keys.queue, watched))
        return watched;
    free(watched);
    return NULL;
}

/* Without memory a queue is not watched: it stays as it is. */
static struct watched *reshard_watch(struct reshard *reshard, const struct config_queue *queue)
{
    struct watched *watched = later_names_find(&reshard->queues, queue->name);

    if (!watched)
        watched = reshard_add(reshard, queue->name);
    if (!watched)
        return NULL;
    watched->asserted = watched->asserted && watched->wanted == queue->shards;
    watched->wanted = queue->shards;
    watched->configured = true;
    watched->served = queue->served ? queue->served : 1;
    return watched;
}

/* Nobody may forget a queue that is served. One that is not may be forgotten with its plan, which
 * is not to be written again when it is served once more. */
static void unlearn(struct watched *watched)
{
    watched->plan = watched->newest = (struct later_plan){ .count = 1 };
    watched->text[0] = '\0';
    watched->asserted = false;
}

void reshard_configure(struct reshard *reshard, const struct config *config)
{
    for (uint32_t i = 0; i < reshard->queues.count; i++)
        watched_at(reshard, i)->configured = false;
    for (uint32_t i = 0; i < config->served.count; i++) {
        const struct config_queue *queue = config->served.items[i];

        if (!strchr(queue->name, '/'))
            (void)reshard_watch(reshard, queue);
    }
    for (uint32_t i = 0; i < reshard->queues.count; i++) {
        if (!watched_at(reshard, i)->configured)
            unlearn(watched_at(reshard, i));
    }
    if (link_is_up(reshard->link))
        reshard_on_look(reshard);
}

void reshard_follow(struct reshard *reshard, const struct config_queue *queue)
{
    struct watched *watched = reshard_watch(reshard, queue);

    if (watched && link_is_up(reshard->link))
        reshard_look_at(watched);
}

static uint32_t span_of(void *arg, const struct config_queue *queue)
{
    const struct reshard *reshard = arg;
    const struct watched *watched = later_names_find(&reshard->queues, queue->name);

    return watched ? later_plan_span(&watched->plan) : 0;
}

int reshard_widen(struct reshard *reshard, struct config *next, struct later_error *err)
{
    return config_widen(next, span_of, reshard, err);
}

/* --- making and unmaking --- */

struct reshard *reshard_new(struct event_base *base, const struct config *config, struct link *link,
                            void (*grown)(void *arg), void *arg)
{
    struct reshard *reshard = calloc(1, sizeof *reshard);

    if (!reshard)
        return NULL;
    *reshard = (struct reshard){ .link = link, .grown = grown, .arg = arg };
    snprintf(reshard->prefix, sizeof reshard->prefix, "%s", config->redis.prefix);
    reshard->look = timer_new(base, reshard_on_look, reshard);
    if (!reshard->look) {
        reshard_free(reshard);
        return NULL;
    }
    reshard_configure(reshard, config);
    reshard_on_look(reshard);
    return reshard;
}

static void free_watched(void *item)
{
    struct watched *watched = item;

    sweep_free(watched->sweep);
    free(watched);
}

void reshard_free(struct reshard *reshard)
{
    if (!reshard)
        return;
    timer_free(reshard->look);
    later_names_free(&reshard->queues, free_watched);
    free(reshard);
}
