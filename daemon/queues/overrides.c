/* overrides.c: what operators lay over the configuration of the queues. */
#include "queues/overrides.h"

#include "base/clock.h"
#include "log.h"
#include "overlay.h"
#include "queues/queues.h"
#include "timer.h"

#include <stdlib.h>

#define AGAIN_SECONDS 1.0   /* after a call that was not answered */
#define SLACK_SECONDS 0.001 /* after something should have ended */
#define START_SECONDS 2.0   /* that jobs wait for what is laid over their queues */

struct overrides {
    struct fault refused;
    struct timer *start; /* NULL: the link was not up yet */
    uint32_t known;      /* queues, and the limits */
    struct queue limits; /* no queue: what is laid over limits and permits */
    size_t set;          /* of these, as of the last answer */
    bool settled;
};

static void overrides_ask(struct queue *queue);

static void overrides_on_timer(void *arg)
{
    overrides_ask(arg);
}

static void overrides_in(struct queue *queue, double seconds)
{
    if (!queue->heed.timer)
        queue->heed.timer = timer_new(queue->queues->base, overrides_on_timer, queue);
    if (queue->heed.timer)
        timer_in(queue->heed.timer, seconds);
}

/* When does the first of them end? */
static void overrides_await(struct queue *queue, const struct later_reply *reply)
{
    struct later_heeded one;
    double first = 0;

    for (size_t i = 0; later_override_heeded(reply, i, &one); i++) {
        if (one.left > 0 && (first <= 0 || one.left < first))
            first = one.left;
    }
    if (first > 0)
        overrides_in(queue, first + SLACK_SECONDS);
}

static void overrides_settle(struct queues *queues)
{
    if (queues->overrides->settled)
        return;
    queues->overrides->settled = true;
    if (queues->options.settled)
        queues->options.settled(queues->options.arg);
}

static void overrides_on_start(void *arg)
{
    overrides_settle(arg);
}

bool overrides_settled(const struct queues *queues)
{
    return queues->overrides->settled;
}

static void overrides_note_known(struct queue *queue)
{
    struct overrides *overrides = queue->queues->overrides;

    overrides->known += !queue->heed.known;
    queue->heed.known = true;
    if (overrides->known > queue->queues->config->served.count)
        overrides_settle(queue->queues);
}

/* An operator reads in each host's log that it goes by the new numbers. */
static void overrides_log_set(struct overrides *overrides, const struct later_reply *reply)
{
    struct later_heeded one;
    size_t set = 0;

    while (later_override_heeded(reply, set, &one))
        set++;
    if (set || overrides->set)
        log_line(LOG_INFO, "numbers of limits or max_running that are set: %zu", set);
    overrides->set = set;
}

static void overrides_on_heeded(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct overrides *overrides = queue->queues->overrides;
    size_t missed;

    queue->heed.asked = false;
    fault_judge(&overrides->refused, answer, LOG_WARN,
                "redis refuses to tell what is laid over queue %s: %s", queue->keys.queue,
                answer->text);
    if (!queue->config)
        return;
    if (answer->outcome != LATER_ANSWERED) {
        overrides_in(queue, AGAIN_SECONDS);
        return;
    }
    missed = overlay_put(queue->queues->options.overlay, queue->keys.queue, answer->reply,
                         later_clock());
    if (missed)
        log_line(LOG_ERROR,
                 "queue %s: more than %d things are laid over the configuration of this host; "
                 "%zu are not heeded",
                 queue->keys.queue, OVERLAY_MAX, missed);
    if (queue == &overrides->limits)
        overrides_log_set(overrides, answer->reply);
    overrides_note_known(queue);
    overrides_await(queue, answer->reply);
    if (queue->heed.again || later_override_more(answer->reply)) {
        overrides_ask(queue);
        link_flush(queue->queues->link);
    }
}

static void overrides_ask(struct queue *queue)
{
    struct later_command cmd = { 0 };

    if (!queue->config)
        return;
    queue->heed.again = true;
    if (queue->heed.asked || !link_is_up(queue->queues->link))
        return;
    later_override_heed(&cmd, &queue->keys);
    queue->heed.asked = queue_send(queue, &cmd, overrides_on_heeded, queue) == 0;
    queue->heed.again = !queue->heed.asked;
    link_flush(queue->queues->link);
}

void overrides_heard(struct queue *queue)
{
    if (queue->queues->options.overlay)
        overrides_ask(queue);
}

/* What could not be asked while the link was down. */
static void overrides_link_up(struct queues *queues)
{
    struct overrides *overrides = queues->overrides;

    if (!overrides->start) {
        overrides->start = timer_new(queues->base, overrides_on_start, queues);
        if (overrides->start)
            timer_in(overrides->start, START_SECONDS);
    }
    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (queues_at(queues, i)->heed.again)
            overrides_ask(queues_at(queues, i));
    }
    if (overrides->limits.heed.again)
        overrides_ask(&overrides->limits);
}

struct queue *overrides_limits(const struct queues *queues)
{
    return queues->overrides ? &queues->overrides->limits : NULL;
}

static void overrides_end(struct queue *queue)
{
    if (queue->heed.timer)
        timer_stop(queue->heed.timer);
    queue->heed.again = false;
    if (queue->queues->options.overlay)
        overlay_put(queue->queues->options.overlay, queue->keys.queue, NULL, 0);
}

static void overrides_drop(struct queue *queue)
{
    timer_free(queue->heed.timer);
    queue->heed.timer = NULL;
}

static const char *overrides_fault(const struct queues *queues)
{
    return fault_text(&queues->overrides->refused);
}

int overrides_new(struct queues *queues, struct later_error *err)
{
    static const struct config_queue row = { .name = LATER_KEY_LIMITS };

    queues->overrides = calloc(1, sizeof *queues->overrides);
    if (!queues->overrides)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    queues->overrides->limits = (struct queue){ .queues = queues, .config = &row };
    later_keys_of_limits(&queues->overrides->limits.keys, queues->prefix);
    return 0;
}

static void overrides_free(struct queues *queues)
{
    if (!queues->overrides)
        return;
    timer_free(queues->overrides->start);
    overrides_drop(&queues->overrides->limits);
    fault_free(&queues->overrides->refused);
    free(queues->overrides);
    queues->overrides = NULL;
}

const struct service overrides_service = {
    .unmake = overrides_free,
    .end = overrides_end,
    .drop = overrides_drop,
    .link_up = overrides_link_up,
    .fault = overrides_fault,
};
