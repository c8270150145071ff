/* wait.c: waits for a job's end. */
#include "client/wait.h"

#include "base/clock.h"
#include "client/call.h"
#include "client/outage.h"
#include "job/document.h"
#include "queue/result.h"
#include "redis/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    struct later_client *client;
    const char *queue, *id;
    bool behind; /* what comes now may be of an earlier job: there was no look yet, or only such
                  * that saw another of the id run, with ours kept beside it */
    bool last;   /* the wait is over, and one more look is made */
    double until;
    struct later_outage outage;
    struct later_keys part; /* where the job is, as far as was seen */
    struct later_end *end;
    struct later_error *err;
};

void later_end_free(struct later_end *end)
{
    free(end->value);
    end->value = NULL;
    end->value_len = 0;
}

/* --- what a look says --- */

static int wait_take_value(struct waiting *waiting, const char *value, size_t len)
{
    struct later_end *end = waiting->end;

    end->value = malloc(len + 1);
    if (!end->value)
        return later_fail(waiting->err, LATER_E_SYSTEM, "no memory");
    memcpy(end->value, value, len);
    end->value[len] = '\0';
    end->value_len = len;
    return 0;
}

static int take_element(struct waiting *waiting, const char *element, size_t len)
{
    struct later_result_seen seen;

    if (!later_result_read(&seen, element, len))
        return later_fail(waiting->err, LATER_E_DATA,
                          "job %.200s: its result is not in laterd's form", waiting->id);
    waiting->end->how = seen.dead ? LATER_JOB_IS_DEAD : LATER_JOB_IS_DONE;
    waiting->end->attempt = seen.attempt;
    waiting->end->at = seen.at;
    return wait_take_value(waiting, seen.value, seen.value_len);
}

/* A result that is not of a death is of an earlier job of the id. */
static int take_death(struct waiting *waiting, const struct later_left *left)
{
    struct later_result_seen seen;

    waiting->end->how = LATER_JOB_IS_DEAD;
    waiting->end->attempt = left->attempts;
    if (later_result_read(&seen, left->element, left->element_len) && seen.dead)
        return take_element(waiting, left->element, left->element_len);
    return left->error_len ? wait_take_value(waiting, left->error, left->error_len) : 0;
}

static int wait_forget(struct waiting *waiting, const struct later_left *left)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_result_forget(&cmd, &waiting->part, waiting->id, left->element, left->element_len);
    reply = later_call(waiting->client, &cmd, 0, true, waiting->err);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* Is the element of an earlier job of the id? If the job is gone, what was left by one that another
 * followed is not its. */
static bool is_of_before(const struct waiting *waiting, const struct later_left *left)
{
    struct later_result_seen seen;

    if (*left->state)
        return waiting->behind;
    return later_result_read(&seen, left->element, left->element_len) && seen.again;
}

static int wait_judge(struct waiting *waiting, struct later_left *left)
{
    bool dead = strcmp(left->state, "dead") == 0;

    if (!dead && left->element_len && is_of_before(waiting, left)) {
        if (wait_forget(waiting, left) < 0)
            return -1;
        left->element_len = 0;
    }
    waiting->behind = waiting->behind && left->followed && strcmp(left->state, "reserved") == 0;
    if (dead)
        return take_death(waiting, left);
    if (left->element_len)
        return take_element(waiting, left->element, left->element_len);
    waiting->end->how = *left->state ? LATER_JOB_GOES_ON : LATER_JOB_IS_GONE;
    return 0;
}

/* --- looking --- */

/* Asks one part; *left is borrowed from what is returned. NULL with *err. */
static struct later_reply *wait_ask(struct waiting *waiting, const char *part,
                                    struct later_left *left)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (later_call_keys(waiting->client, part, &waiting->part, waiting->err) < 0)
        return NULL;
    later_result_ask(&cmd, &waiting->part, waiting->id);
    reply = later_call(waiting->client, &cmd, 0, true, waiting->err);
    if (reply)
        later_result_asked(reply, left);
    return reply;
}

static int wait_look_at(struct waiting *waiting, const char *part)
{
    struct later_left left;
    struct later_reply *reply = wait_ask(waiting, part, &left);
    int ok = reply ? wait_judge(waiting, &left) : -1;

    later_reply_free(reply);
    return ok;
}

/* Looks wherever the id may be under this plan, the likeliest part first. */
static int look_along(struct waiting *waiting, const struct later_plan *plan)
{
    later_queue_name route[LATER_COUNTS_MAX];
    size_t count = later_plan_route(plan, waiting->queue, waiting->id, route);

    waiting->end->how = LATER_JOB_IS_GONE;
    while (count-- > 0) {
        if (wait_look_at(waiting, route[count]) < 0)
            return -1;
        if (waiting->end->how != LATER_JOB_IS_GONE)
            return 0;
    }
    return 0;
}

/* Before the job is reported as gone, the plan of its shards is read: ours may be old. */
static int wait_look(struct waiting *waiting)
{
    struct later_plan plan = later_call_plan(waiting->client, waiting->queue), now;

    if (look_along(waiting, &plan) < 0)
        return -1;
    if (waiting->end->how == LATER_JOB_IS_GONE) {
        if (later_call_ask_plan(waiting->client, waiting->queue, &now, waiting->err) < 0 ||
            (now.epoch != plan.epoch && look_along(waiting, &now) < 0))
            return -1;
    }
    return 0;
}

/* --- waiting --- */

/* Waits until a result is there or the slice is over. One that may not be ours is left to a look.
 */
static int await(struct waiting *waiting, double seconds)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    size_t len;
    const char *element;
    int ok = 0;

    later_result_await(&cmd, &waiting->part, waiting->id, seconds);
    reply = later_call(waiting->client, &cmd, seconds, false, waiting->err);
    if (!reply)
        return -1;
    element = later_reply_text(reply, &len);
    if (len > 0 && !waiting->behind)
        ok = take_element(waiting, element, len);
    later_reply_free(reply);
    return ok;
}

/* The wait is over. Is it worth one more look? A replica refuses to wait, but lets us look. */
static bool wait_look_last(struct waiting *waiting)
{
    bool again = waiting->until <= later_clock() && !waiting->last &&
                 later_outage_is(waiting->client, waiting->err) &&
                 later_redis_up(later_call_redis(waiting->client));

    waiting->last = waiting->last || again;
    return again;
}

/* Has the last call worked? If it may pass that it has not, looks until one does. */
static int wait_outlast(struct waiting *waiting, int ok)
{
    while (ok < 0 && (later_outage_wait(&waiting->outage, waiting->err) || wait_look_last(waiting)))
        ok = wait_look(waiting);
    if (ok == 0)
        later_outage_over(&waiting->outage);
    return ok;
}

static int wait_until_ended(struct waiting *waiting)
{
    int ok = wait_outlast(waiting, wait_look(waiting));

    while (ok == 0 && waiting->end->how == LATER_JOB_GOES_ON) {
        double left = waiting->until - later_clock();

        if (left < 0.001)
            return 0;
        ok = await(waiting, fmin(left, LATER_WAIT_SLICE));
        if (ok == 0 && waiting->end->how == LATER_JOB_GOES_ON)
            ok = wait_look(waiting);
        ok = wait_outlast(waiting, ok);
    }
    return ok;
}

static int wait_begin(struct waiting *waiting, double wait)
{
    size_t len = strlen(waiting->id);

    *waiting->end = (struct later_end){ .how = LATER_JOB_GOES_ON };
    if (!later_key_shard_valid(waiting->queue))
        return later_call_whole(waiting->queue, waiting->err);
    if (len == 0 || len > LATER_ID_MAX)
        return later_fail(waiting->err, LATER_E_USAGE, "an id is 1 to %d characters", LATER_ID_MAX);
    waiting->until = later_clock() + fmax(wait, 0);
    waiting->outage = (struct later_outage){ .client = waiting->client, .until = waiting->until };
    return 0;
}

static int wait_until_end(struct waiting *waiting, double wait)
{
    if (wait_begin(waiting, wait) < 0)
        return -1;
    if (wait_until_ended(waiting) == 0)
        return 0;
    later_end_free(waiting->end);
    return -1;
}

int later_wait(struct later_client *client, const char *queue, const char *id, double wait,
               struct later_end *end, struct later_error *err)
{
    struct waiting waiting = {
        .client = client, .queue = queue, .id = id, .behind = true, .end = end, .err = err
    };

    return wait_until_end(&waiting, wait);
}
