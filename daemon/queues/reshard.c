/* reshard.c: how many shards queues have. */
#include "queues/reshard.h"

#include "base/clock.h"
#include "log.h"
#include "queue/inspect.h"
#include "queue/override.h"
#include "queues/migrator.h"
#include "queues/queues.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS  9.5   /* after the last look, at a beat */
#define SOON_SECONDS  3     /* while former counts are to be swept away */
#define SWEEP_SECONDS 5.0   /* after a change; then twice as long each time, */
#define SWEEP_MOST    300.0 /* but no longer */
#define TOGETHER      500   /* plans read by one command */

struct reshard {
    struct timer *soon; /* set while former counts are to be swept away */
    double looked;
    bool one_by_one;
};

/* --- the pause of the whole goes for shards that are new --- */

static void on_paused(void *arg, struct later_answer *answer)
{
    const struct queue *queue = arg;
    struct link *link = queue->queues->link;
    later_queue_name names[LATER_WHOLE_MAX];
    size_t count = later_shards_all(queue->keys.queue, later_plan_span(&queue->shards.plan), names);
    int64_t left = answer->outcome == LATER_ANSWERED ? later_reply_int(answer->reply) : 0;

    if (left == 0 || left == -2) /* over, or none; -1 has no end */
        return;
    for (size_t i = 1; i < count; i++) {
        struct later_command cmd = { 0 };
        struct later_keys keys;

        later_keys_init(&keys, queue->queues->prefix, names[i]);
        later_inspect_pause(&cmd, &keys, left > 0 ? (double)left / 1000 : 0, "");
        link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    link_flush(link);
}

static void lay_over_shards(const struct queue *queue, const struct later_override *one, double now)
{
    later_queue_name names[LATER_WHOLE_MAX];
    size_t count = later_shards_all(queue->keys.queue, later_plan_span(&queue->shards.plan), names);
    double left = one->until > 0 ? fmax(one->until - now, 0.001) : 0;

    for (size_t i = 1; i < count; i++) {
        struct later_command cmd = { 0 };
        struct later_keys keys;

        later_keys_init(&keys, queue->queues->prefix, names[i]);
        later_override_pause(&cmd, &keys, later_override_type(one), left, one->who, one->words);
        link_send(queue->queues->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
}

/* The same for what is laid over it. */
static void on_overrides(void *arg, struct later_answer *answer)
{
    const struct queue *queue = arg;
    double now = migrator_redis_now(queue->queues->migrator);
    size_t count = answer->outcome == LATER_ANSWERED ? later_reply_count(answer->reply) / 2 : 0;

    for (size_t i = 0; i < count; i++) {
        struct later_override one;

        if (later_override_read(answer->reply, i, now, &one))
            lay_over_shards(queue, &one, now);
    }
    link_flush(queue->queues->link);
}

/* After the change, since `later pause` pauses the plain queue first and then reads the plan. */
static void copy_pause(struct queue *queue)
{
    struct later_command cmd = { 0 }, laid = { 0 };

    later_command_say(&cmd, "PTTL %s", queue->keys.name[LATER_KEY_PAUSED]);
    queue_send(queue, &cmd, on_paused, queue);
    later_override_ask(&laid, &queue->keys);
    queue_send(queue, &laid, on_overrides, queue);
}

/* --- plans --- */

static void reshard_look_at(struct queue *queue);
static void use_plan(struct queue *queue);

static void take_plan(struct queue *queue, const char *text)
{
    snprintf(queue->shards.text, sizeof queue->shards.text, "%s", text);
    queue->shards.plan = later_plan_parse(text);
    if (queue->shards.plan.epoch >= queue->shards.newest.epoch)
        queue->shards.newest = queue->shards.plan;
}

static void on_changed(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    const char *text = later_reply_text(answer->reply, NULL);

    queue->shards.asked = false;
    if (answer->outcome == LATER_REFUSED)
        log_line(LOG_WARN, "redis refuses to change the shards of queue %s: %s", queue->keys.queue,
                 answer->text);
    if (answer->outcome != LATER_ANSWERED || !queue->config) /* the next look tells */
        return;
    take_plan(queue, text);
    if (queue->shards.plan.count == queue->shards.changing_to) {
        log_line(LOG_INFO, "queue %s: %u shards from now on", queue->keys.queue,
                 (unsigned)queue->shards.plan.count);
        queue->shards.asserted = true;
        queue->shards.sweep_wait = SWEEP_SECONDS;
        queue->shards.sweep_at = later_clock() + SWEEP_SECONDS;
        copy_pause(queue);
    }
    use_plan(queue);
    link_flush(queue->queues->link);
}

/* `from` is the plan that was read, or a newer one that Redis has lost. If somebody has changed the
 * plan meanwhile, the next look tells. */
static void reshard_change(struct queue *queue, const struct later_plan *from, uint32_t count)
{
    struct later_command cmd = { 0 };
    char counts[LATER_PLAN_SIZE];

    if (!later_plan_change(from, count, counts)) {
        log_line(LOG_ERROR,
                 "queue %s: its number of shards cannot change again while jobs lie under %d "
                 "former ones",
                 queue->keys.queue, LATER_COUNTS_MAX - 1);
        queue->shards.asserted = true;
        return;
    }
    queue->shards.changing_to = count;
    sweep_script(&cmd, &queue->keys, queue->shards.text, counts);
    queue->shards.asked = queue_send(queue, &cmd, on_changed, queue) == 0;
}

static void on_swept(void *arg, bool dropped, uint64_t newer)
{
    struct queue *queue = arg;

    sweep_free(queue->shards.sweep);
    queue->shards.sweep = NULL;
    if (newer > queue->shards.newest.epoch) { /* nobody here knew that plan, so this one shall do */
        queue->shards.newest = queue->shards.plan;
        queue->shards.newest.epoch = newer;
    }
    queue->shards.sweep_wait = dropped || newer ? SWEEP_SECONDS
                               : queue->shards.plan.formers
                                   ? fmin(2 * queue->shards.sweep_wait, SWEEP_MOST)
                                   : SWEEP_MOST;
    queue->shards.sweep_at = later_clock() + (dropped ? 0 : queue->shards.sweep_wait);
    if (dropped || newer) { /* there may be more of them; the plan has to be written */
        reshard_look_at(queue);
        link_flush(queue->queues->link);
    }
}

static void reshard_sweep(struct queue *queue)
{
    if (queue->shards.sweep || later_clock() < queue->shards.sweep_at || queue->queues->others_look)
        return;
    if (queue->shards.sweep_wait < SWEEP_SECONDS)
        queue->shards.sweep_wait = SWEEP_SECONDS;
    queue->shards.sweep = sweep_start(queue->queues->link, queue->queues->prefix, &queue->keys,
                                      queue->shards.text, on_swept, queue);
}

/* What the plan asks of us. */
static void use_plan(struct queue *queue)
{
    uint32_t span = later_plan_span(&queue->shards.plan);
    uint32_t served = queue->config->served ? queue->config->served : 1;

    if (span > served) {
        log_line(LOG_INFO, "queue %s has %u shards in Redis, %u here: reloading", queue->keys.queue,
                 (unsigned)span, (unsigned)served);
        queue->queues->options.grown(queue->queues->options.arg);
    } else if (span > 1) {
        reshard_sweep(queue);
    }
}

/* Decides whether to change the plan. If Redis has lost a plan, shards that have heard of it refuse
 * all pushes by an older one, until there is a newer plan. */
static void decide(struct queue *queue)
{
    bool lost = queue->shards.plan.epoch < queue->shards.newest.epoch;

    if (lost) {
        log_line(LOG_WARN, "queue %s: Redis has lost a change of its shards; written again",
                 queue->keys.queue);
        reshard_change(queue, &queue->shards.newest,
                       queue->shards.wanted ? queue->shards.wanted : queue->shards.newest.count);
    } else if (queue->shards.wanted && queue->shards.wanted != queue->shards.plan.count &&
               !queue->shards.asserted) {
        reshard_change(queue, &queue->shards.plan, queue->shards.wanted);
    } else {
        queue->shards.asserted = true;
        use_plan(queue);
    }
}

/* Plans that were asked for together; one alone by GET. */
struct reading {
    size_t count;
    struct queue *list[];
};

static const char *plan_of(const struct later_reply *reply, const struct reading *reading, size_t i)
{
    return later_reply_text(reading->count > 1 ? later_reply_at(reply, i) : reply, NULL);
}

static void on_plans(void *arg, struct later_answer *answer)
{
    struct reading *reading = arg;
    struct queues *queues = reading->list[0]->queues;

    if (answer->outcome == LATER_REFUSED && reading->count > 1)
        queues->reshard->one_by_one = true; /* rights of before: without MGET */
    for (size_t i = 0; i < reading->count; i++) {
        struct queue *queue = reading->list[i];

        queue->shards.asked = false;
        if (answer->outcome != LATER_ANSWERED || !queue->config)
            continue;
        take_plan(queue, plan_of(answer->reply, reading, i));
        decide(queue);
    }
    link_flush(queues->link);
    free(reading);
}

static void read_plans(struct queues *queues, struct queue *const *list, size_t count)
{
    struct reading *reading = malloc(sizeof *reading + count * sizeof(struct queue *));
    struct later_command cmd = { 0 };
    bool sent;

    if (!reading || count == 0) {
        free(reading);
        return;
    }
    reading->count = count;
    later_command_open(&cmd, count, count > 1 ? "MGET" : "GET");
    for (size_t i = 0; i < count; i++) {
        reading->list[i] = list[i];
        later_command_text(&cmd, list[i]->keys.name[LATER_KEY_SHARDS]);
    }
    sent = link_send(queues->link, &cmd, LINK_TIMEOUT, on_plans, reading) == 0;
    for (size_t i = 0; i < count; i++)
        list[i]->shards.asked = sent;
    if (!sent)
        free(reading);
}

/* The plan is that of the whole. */
static bool reshard_watches(const struct queue *queue)
{
    return queue->config && !queue_is_shard(queue);
}

static void reshard_look_at(struct queue *queue)
{
    if (reshard_watches(queue) && !queue->shards.asked)
        read_plans(queue->queues, &queue, 1);
}

/* Many by one command; of a Cluster each has a slot of its own. */
static void reshard_look_at_all(struct queues *queues)
{
    bool apart = queues->reshard->one_by_one || later_redis_is_cluster(link_redis(queues->link));
    struct queue *list[TOGETHER];
    size_t count = 0;

    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct queue *queue = queues_at(queues, i);

        if (!reshard_watches(queue) || queue->shards.asked)
            continue;
        list[count++] = queue;
        if (apart || count == TOGETHER) {
            read_plans(queues, list, count);
            count = 0;
        }
    }
    read_plans(queues, list, count);
}

static void reshard_look(struct queues *queues)
{
    queues->reshard->looked = later_clock();
    reshard_look_at_all(queues);
    for (uint32_t i = 0; i < queues->names.count; i++) {
        const struct queue *queue = queues_at(queues, i);

        if (reshard_watches(queue) && queue->shards.plan.formers)
            timer_in(queues->reshard->soon, SOON_SECONDS);
    }
}

static void reshard_on_soon(void *arg)
{
    struct queues *queues = arg;

    reshard_look(queues);
    link_flush(queues->link);
}

void reshard_beat(struct queues *queues)
{
    if (link_is_up(queues->link) && later_clock() - queues->reshard->looked >= LOOK_SECONDS)
        reshard_look(queues);
}

static uint32_t span_of(void *arg, const struct config_queue *row)
{
    const struct queue *queue = queues_find(arg, row->name);

    return queue && reshard_watches(queue) ? later_plan_span(&queue->shards.plan) : 0;
}

int reshard_widen(struct queues *queues, struct config *next, struct later_error *err)
{
    return config_widen(next, span_of, queues, err);
}

/* --- the service --- */

static void reshard_link_up(struct queues *queues)
{
    reshard_on_soon(queues);
}

/* Nobody may forget a queue that is served. One that was not may have been forgotten with its plan,
 * which is not to be written again: nothing is known of it. */
static int reshard_begin(struct queue *queue)
{
    if (queue_is_shard(queue))
        return 0;
    queue->shards.plan = queue->shards.newest = (struct later_plan){ .count = 1 };
    queue->shards.text[0] = '\0';
    queue->shards.asserted = false;
    queue->shards.wanted = queue->config->shards;
    if (link_is_up(queue->queues->link))
        reshard_look_at(queue);
    return 0;
}

/* What is wanted anew is written. */
static void reshard_configure(struct queues *queues)
{
    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct queue *queue = queues_at(queues, i);
        uint32_t wanted = queue->config ? queue->config->shards : 0;

        queue->shards.asserted = queue->shards.asserted && queue->shards.wanted == wanted;
        queue->shards.wanted = wanted;
    }
    if (link_is_up(queues->link))
        reshard_on_soon(queues);
}

static bool reshard_busy(const struct queue *queue)
{
    return queue->shards.asked || queue->shards.sweep;
}

static void reshard_drop(struct queue *queue)
{
    sweep_free(queue->shards.sweep);
}

int reshard_new(struct queues *queues, struct later_error *err)
{
    struct reshard *reshard = calloc(1, sizeof *reshard);

    queues->reshard = reshard;
    if (!reshard || !(reshard->soon = timer_new(queues->base, reshard_on_soon, queues)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    return 0;
}

static void reshard_free(struct queues *queues)
{
    if (!queues->reshard)
        return;
    timer_free(queues->reshard->soon);
    free(queues->reshard);
    queues->reshard = NULL;
}

const struct service reshard_service = {
    .unmake = reshard_free,
    .begin = reshard_begin,
    .busy = reshard_busy,
    .drop = reshard_drop,
    .configure = reshard_configure,
    .link_up = reshard_link_up,
};
