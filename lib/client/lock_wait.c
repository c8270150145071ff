/* lock_wait.c: takes a lock, and waits for it. */
#include "client/lock_wait.h"

#include "client/call.h"
#include "base/clock.h"
#include "redis/script.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_LEAST 1.0 /* seconds between two looks, on average */
#define LOOK_MOST  2.0 /* at most: a woken client may die before it takes the lock */
#define AGAIN      0.5 /* seconds until a broken connection is tried again */
#define LAST_WORD  2.0 /* seconds for calls under way when the wait is over */

struct waiter {
    struct later_client *client;
    const struct later_lock_wish *wish;
    struct later_redis *line; /* the connection that blocks; NULL until we wait */
    bool in_line, served;     /* the BLPOP is under way; it has given a pass */
    char pass[65];
    double until;     /* later_clock(), as are those below */
    double line_at;   /* when the line's connection may be made (again) */
    double look_at;   /* the next look */
    double look_free; /* keeps the average: looks are paid for until then */
    bool away;        /* the last call did not reach Redis: *err says why */
    bool denied;      /* Redis refuses the BLPOP: *err says why */
    unsigned short dice[3];
    struct later_error *err;
};

/* --- the clock of the looks --- */

static double dither(struct waiter *waiter, double most)
{
    return most * erand48(waiter->dice);
}

/* The owner has `left` seconds: look when they are over, at a random moment, so that not all
 * clients look at once. */
static void plan_look(struct waiter *waiter, double left)
{
    double now = later_clock(), most = now + LOOK_MOST * 0.75 + dither(waiter, LOOK_MOST / 2);

    waiter->look_at = fmin(now + left + 0.001 + dither(waiter, 0.01), most);
    waiter->look_at = fmax(waiter->look_at, waiter->look_free);
    waiter->look_free = fmax(waiter->look_free, now) + LOOK_LEAST;
}

/* --- calls on the client's connection --- */

/* May this failure pass, so that it is worth trying until the wait is over? */
static bool lock_wait_survive(struct waiter *waiter)
{
    double now = later_clock();

    if (waiter->err->code != LATER_E_REDIS || now >= waiter->until)
        return false;
    waiter->away = true;
    waiter->look_at = now + AGAIN / 2 + dither(waiter, AGAIN);
    return true;
}

static int lock_wait_take(struct waiter *waiter, const char *pass, struct later_locked *locked)
{
    const struct later_lock_wish *wish = waiter->wish;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    enum later_lock_taken how;
    double left;

    later_lock_take(&cmd, later_call_prefix(waiter->client), wish->name, wish->token, wish->owner,
                    wish->ttl, pass, "");
    locked->since = later_clock();
    reply = later_call(waiter->client, &cmd, 0, true, waiter->err);
    if (!reply)
        return -1;
    waiter->away = false;
    how = later_lock_taken(reply, &locked->fence, &left);
    if (how == LATER_LOCK_NO)
        plan_look(waiter, left);
    later_reply_free(reply);
    return (int)how;
}

/* If the answer of the last take was lost, the lock may be ours. A look does not tell that, but a
 * take does. And while we are not in the line, a pass would be of no use to us. */
static int lock_wait_look(struct waiter *waiter, struct later_locked *locked)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (waiter->away || !waiter->in_line)
        return lock_wait_take(waiter, NULL, locked);
    later_lock_wake(&cmd, later_call_prefix(waiter->client), waiter->wish->name,
                    waiter->wish->token);
    reply = later_call(waiter->client, &cmd, 0, false, waiter->err);
    if (!reply)
        return -1;
    plan_look(waiter, later_lock_left(reply));
    later_reply_free(reply);
    return LATER_LOCK_NO;
}

/* --- the line --- */

static void leave_line(void *arg, struct later_answer *answer)
{
    struct waiter *waiter = arg;
    const char *pass = answer->outcome == LATER_ANSWERED ? later_lock_pass(answer->reply) : NULL;

    waiter->in_line = false;
    if (pass) {
        snprintf(waiter->pass, sizeof waiter->pass, "%s", pass);
        waiter->served = true;
    } else if (answer->outcome == LATER_REFUSED) {
        if (answer->remedy == LATER_REMEDY_ABANDON)
            waiter->denied = later_call_check(answer, waiter->err) < 0;
        later_redis_disconnect(waiter->line, "refused"); /* it is joined again after a while */
    }
}

/* Joins the line, after connecting. A BLPOP of 0 seconds would block for ever. */
static void join_line(struct waiter *waiter)
{
    struct later_command cmd = { 0 };
    struct later_error ignored;
    double now = later_clock(), wait = waiter->until - now;

    if (waiter->in_line || wait <= 0)
        return;
    if (later_redis_down(waiter->line) && now >= waiter->line_at) {
        waiter->line_at = now + AGAIN / 2 + dither(waiter, AGAIN);
        (void)later_redis_connect(waiter->line, &ignored);
    }
    if (!later_redis_up(waiter->line))
        return;
    wait = isinf(wait) ? 0 : fmax(wait, 0.001);
    later_lock_await(&cmd, later_call_prefix(waiter->client), waiter->wish->name, wait);
    waiter->in_line = later_redis_send(waiter->line, &cmd, (wait > 0 ? wait : 1e9) + LAST_WORD,
                                       leave_line, waiter) == 0;
}

/* Sleeps until Redis, the clock or `stop` want something. Returns false on stop. */
static bool lock_wait_rest(struct waiter *waiter)
{
    struct pollfd polled[] = { { .fd = waiter->wish->stop, .events = POLLIN },
                               { .fd = later_redis_fd(waiter->line), .events = POLLIN } };
    double next = fmin(waiter->look_at, later_redis_deadline(waiter->line)), wait;

    later_redis_flush(waiter->line);
    if (later_redis_wants_write(waiter->line))
        polled[1].events |= POLLOUT;
    if (!waiter->in_line)
        next = fmin(next, waiter->until);
    if (later_redis_down(waiter->line))
        next = fmin(next, waiter->line_at);
    wait = fmin(fmax(next - later_clock(), 0), 3600);
    if (poll(polled, 2, (int)ceil(wait * 1000)) > 0) {
        if (polled[0].revents)
            return false;
        later_redis_handle(waiter->line);
    }
    later_redis_tick(waiter->line);
    return true;
}

/* Leaves the line for good. A pass that came meanwhile goes to the next client. */
static void lock_wait_go(struct waiter *waiter)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply = NULL;
    struct later_error ignored;
    double until = later_clock() + LAST_WORD / 2;

    if (waiter->in_line && later_redis_id(waiter->line)) {
        later_command_say(&cmd, "CLIENT UNBLOCK %ju", (uintmax_t)later_redis_id(waiter->line));
        reply = later_call(waiter->client, &cmd, 0, false, &ignored);
        while (reply && waiter->in_line && later_clock() < until)
            later_redis_wait(waiter->line, until);
        later_reply_free(reply);
    }
    if (waiter->served) {
        later_lock_free(&cmd, later_call_prefix(waiter->client), waiter->wish->name, waiter->pass);
        later_reply_free(later_call(waiter->client, &cmd, 0, false, &ignored));
    }
    later_redis_free(waiter->line);
}

/* --- the wait --- */

/* One turn: LATER_LOCK_YES, LATER_LOCK_NO to go on, or -1. */
static int lock_wait_turn(struct waiter *waiter, struct later_locked *locked)
{
    int how = LATER_LOCK_NO;

    if (waiter->denied)
        return -1;
    if (waiter->served) {
        waiter->served = false;
        how = lock_wait_take(waiter, waiter->pass, locked);
    } else if (later_clock() >= waiter->look_at) {
        how = lock_wait_look(waiter, locked);
    }
    if (how < 0 && lock_wait_survive(waiter))
        how = LATER_LOCK_NO;
    return how;
}

static int wait_in_line(struct waiter *waiter, struct later_locked *locked)
{
    for (;;) {
        int how = lock_wait_turn(waiter, locked);

        if (how != LATER_LOCK_NO)
            return how;
        if (!waiter->in_line && !waiter->served && later_clock() >= waiter->until)
            return waiter->away ? -1 : LATER_LOCK_NO;
        join_line(waiter);
        if (!lock_wait_rest(waiter))
            return LATER_LOCK_NO;
    }
}

static int lock_wait_refuse(const struct later_lock_wish *wish, struct later_error *err)
{
    if (!later_key_name_valid(wish->name))
        return later_fail(err, LATER_E_USAGE,
                          "lock %.40s: a name is 1 to 200 printable ASCII characters without space "
                          "and braces",
                          wish->name);
    if (!(wish->ttl >= LATER_LOCK_TTL_MIN && wish->ttl <= LATER_LOCK_TTL_MAX))
        return later_fail(err, LATER_E_USAGE, "lock %.80s: ttl is seconds, %g to %g", wish->name,
                          LATER_LOCK_TTL_MIN, LATER_LOCK_TTL_MAX);
    return 0;
}

int later_lock_wait(struct later_client *client, const struct later_lock_wish *wish,
                    struct later_locked *locked, struct later_error *err)
{
    struct waiter waiter = { .client = client, .wish = wish, .err = err };
    int how;

    if (lock_wait_refuse(wish, err) < 0)
        return -1;
    memcpy(waiter.dice, wish->token, strnlen(wish->token, sizeof waiter.dice));
    waiter.until = later_clock() + fmax(wish->wait, 0);
    how = lock_wait_take(&waiter, NULL, locked);
    if (how != LATER_LOCK_NO || wish->wait <= 0)
        return how;
    waiter.line = later_redis_twin(later_call_redis(client));
    if (!waiter.line)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    how = wait_in_line(&waiter, locked);
    lock_wait_go(&waiter);
    return how;
}
