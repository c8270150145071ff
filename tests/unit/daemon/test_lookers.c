/* test_lookers.c: a host looks unless it hears that three others do, and again when they are gone.
 */
#include "queues/lookers.h"

#include "tests/unit/live.h"
#include "queues/migrator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct later_error err;

static void on_up(void)
{
    if (!live_queues || !live_queues->lookers)
        return;
    lookers_link_up(live_queues);
    migrator_link_up(live_queues);
    link_flush(live_link);
}

/* The configuration has changed. */
static void serve(void)
{
    live_widen(&live_config);
    live_serve(live_queues);
    for (uint32_t i = 0; i < live_queues->names.count; i++)
        ck_assert_int_eq(migrator_begin(queues_at(live_queues, i)), 0);
    lookers_configure(live_queues);
}

static void set_up(void)
{
    live_begin();
    live_loop(on_up);
    ck_assert_msg(migrator_new(live_queues, &err) == 0, "%s", err.text);
    ck_assert_msg(lookers_new(live_queues, &err) == 0, "%s", err.text);
    serve();
    on_up();
}

static void tear_down(void)
{
    live_unloop();
    live_end();
}

/* The key of the posts, once there is one. */
static const char *posts(void)
{
    return live_string("EVAL %s 0", "return redis.call('KEYS', 'later:lookers:*')[1]");
}

static long long keys(void)
{
    return live_number("EVAL %s 0", "return #redis.call('KEYS', 'later:lookers:*')");
}

static bool has_post(void)
{
    return live_number("EVAL %s 0 the-host:%ld",
                       "local key = redis.call('KEYS', 'later:lookers:*')[1] "
                       "return key and redis.call('ZSCORE', key, ARGV[1]) and "
                       "redis.call('ZCOUNT', key, 0, '+inf') or 0",
                       (long)getpid()) == 1;
}

/* Three others look, for so long. */
static void others(double seconds)
{
    LIVE_UNTIL(has_post());
    live_do("EVAL %s 1 %s %f",
            "redis.call('DEL', KEYS[1]) local now = redis.call('TIME')[1] "
            "for i = 1, 3 do redis.call('ZADD', KEYS[1], now + ARGV[1], 'other' .. i) end",
            posts(), seconds);
}

/* A job that was due long ago, without a message to anybody. */
static void push(void)
{
    live_do("HSET later:{q}:jobs j {\"type\":\"t\"}");
    live_do("ZADD later:{q}:delayed 1 j");
}

static bool is_ready(void)
{
    return live_number("ZCARD later:{q}:ready") == 1;
}

LIVE_CASE("lookers", set_up, tear_down);

TEST(test_alone)
{
    ck_assert(!live_queues->others_look); /* without an answer yet */
    LIVE_UNTIL(has_post());
    push();
    LIVE_UNTIL(is_ready());
    ck_assert(!live_queues->others_look);
}

TEST(test_others_look)
{
    double now;

    others(50);
    LIVE_UNTIL(live_queues->others_look);
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) == 0);
    push();
    now = live_time();
    live_do("PUBLISH later:{q}:due 1");
    LIVE_FOR(3, !is_ready());
    ck_assert_double_le(fabs(migrator_redis_now(live_queues->migrator) - live_time()),
                        0.2 * live_slowness()); /* it knows the time all the same */
    ck_assert_double_gt(live_time(), now);
    live_do("DEL %s", posts());
    LIVE_UNTIL(!live_queues->others_look);
    LIVE_UNTIL(is_ready());
    ck_assert(has_post());
}

/* Also when the link comes back, a host without a post looks at nothing before it is asked. */
TEST(test_reconnect)
{
    others(50);
    LIVE_UNTIL(live_queues->others_look);
    link_break(live_link, "off");
    LIVE_UNTIL(live_ups == 2);
    push();
    LIVE_FOR(2, !is_ready());
    ck_assert(live_queues->others_look);
}

TEST(test_refused)
{
    others(50);
    LIVE_UNTIL(live_queues->others_look);
    live_do("SET %s x", posts());
    push();
    LIVE_UNTIL(!live_queues->others_look);
    LIVE_UNTIL(is_ready());
}

/* Other queues are looked at by other hosts; those of before are left at once. */
TEST(test_other_queues)
{
    static struct config_queue queues[1] = { { .name = "s" } };
    static struct config_pool pool = { .name = "p", .queues = queues, .queue_count = 1 };

    others(50);
    LIVE_UNTIL(live_queues->others_look);
    live_config.pools = &pool;
    live_config.pool_count = 1;
    serve();
    LIVE_UNTIL(!live_queues->others_look);
    ck_assert_int_eq(keys(), 2); /* that of the others is there */
}

/* A host that trims something else looks for itself, and has left its post. */
TEST(test_other_trims)
{
    static char before[200];

    LIVE_UNTIL(has_post());
    snprintf(before, sizeof before, "%s", posts());
    live_config.dead.max = 7;
    serve();
    LIVE_UNTIL(has_post() && strcmp(posts(), before) != 0);
    ck_assert_int_eq(keys(), 1);
}

/* A host that moves nothing, or cannot fire a schedule, leaves its post; it looks as far as it can.
 */
TEST(test_unable)
{
    struct fault *fault = &queues_at(live_queues, 0)->tick.unread;

    LIVE_UNTIL(has_post());
    live_queues->paused = true;
    lookers_configure(live_queues);
    LIVE_UNTIL(!has_post());
    live_queues->paused = false;
    fault_note(fault, LOG_DEBUG, "a time zone that is not here");
    lookers_configure(live_queues);
    LIVE_FOR(2, !has_post());
    ck_assert(!live_queues->others_look);
    fault_over(fault);
    lookers_configure(live_queues);
    LIVE_UNTIL(has_post());
    fault_free(fault);
}

TEST(test_leave)
{
    LIVE_UNTIL(has_post());
    lookers_leave(live_queues);
    link_flush(live_link);
    LIVE_UNTIL(keys() == 0);
    LIVE_FOR(2, keys() == 0);
    ck_assert(!live_queues->others_look); /* until the end */
}
