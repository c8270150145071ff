/* test_migrator.c: due jobs become ready on time, neither early nor late. Lapses wait for those who
 * may still renew. */
#include "queues/migrator.h"

#include "queues/subscriber.h"
#include "tests/unit/live.h"

#include "later/client.h"
#include "log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct later_client *client;
static struct later_error err;

static void on_up(void)
{
    if (live_queues && live_queues->migrator)
        migrator_link_up(live_queues);
}

static void set_up(void)
{
    live_begin();
    live_hurry();
    client = live_client();
    ck_assert_ptr_nonnull(client);
    live_loop(on_up);
}

static void tear_down(void)
{
    live_unloop();
    later_client_close(client);
    live_end();
}

/* After what the test has changed in live_config. */
static void begin(void)
{
    live_widen(&live_config);
    ck_assert_msg(migrator_new(live_queues, &err) == 0, "%s", err.text);
    ck_assert_msg(subscriber_new(live_queues, &err) == 0, "%s", err.text);
    live_serve(live_queues);
    for (uint32_t i = 0; i < live_queues->names.count; i++)
        ck_assert_int_eq(migrator_begin(queues_at(live_queues, i)), 0);
    migrator_link_up(live_queues);
    LIVE_UNTIL(migrator_redis_now(live_queues->migrator) > 0);
    LIVE_UNTIL(live_number("PUBLISH later:{q}:due 9e9") == 1); /* it listens */
}

static void push_in(const char *queue, const char *id, double in)
{
    const struct later_new_job job = { .type = "t", .id = id, .in = in };

    ck_assert_msg(later_push(client, queue, &job, NULL, NULL, &err) == 0, "%s", err.text);
}

/* Waits until the job is ready; returns how much later than due that was, by Redis's clock. */
static double lateness(const char *queue, const char *id)
{
    double due = live_score(queue, "delayed", id);

    while (isnan(live_score(queue, "ready", id))) {
        double now = live_time();

        event_base_loop(live_base, EVLOOP_NONBLOCK);
        if (isnan(live_score(queue, "ready", id)))
            continue;
        ck_assert_msg(live_time() >= due, "ready before it was due");
        return now - due;
    }
    return live_time() - due;
}

LIVE_CASE("due", set_up, tear_down);

TEST(test_redis_clock)
{
    int good = 0;

    begin();
    for (int i = 0; i < 20; i++) {
        LIVE_FOR(0.05, true);
        good +=
            fabs(migrator_redis_now(live_queues->migrator) - live_time()) < 0.01 * live_slowness();
    }
    ck_assert_int_ge(good, 10);
}

/* ---- due */

static int count_late(int round, double *best)
{
    int late = 0;
    char id[16];

    for (int i = 0; i < 12; i++) {
        double by;

        snprintf(id, sizeof id, "j%d.%d", round, i);
        LIVE_FOR(0.013 * i, true); /* at another moment of the look each time */
        push_in(i % 2 ? "q" : "r", id, 0.08 + 0.01 * i);
        by = lateness(i % 2 ? "q" : "r", id);
        *best = by < *best ? by : *best;
        late += by > 0.1;
    }
    return late;
}

/* A job that is pushed while the timer is set to another moment, or to none, is not late: the push
 * is heard of. (Without that it would be found every 0.8 s.) */
TEST(test_due)
{
    double best = 100;
    int late = 12;

    begin();
    /* A busy machine is late now and then. Looks alone would be late seven times of eight. */
    for (int round = 0; round < 5 && late > 4; round++)
        late = count_late(round, &best);
    ck_assert_double_le(best, 0.005 * live_slowness());
    ck_assert_int_le(late, 4);
}

/* A job that is due before all others makes the timer earlier. The others keep their times. */
TEST(test_earlier)
{
    static const char *const order[] = { "first", "second", "third" };
    int good = 0;

    begin();
    for (int round = 0; round < 3; round++) {
        double worst = 0;

        push_in("q", "third", 0.7);
        push_in("q", "second", 0.5);
        push_in("q", "first", 0.2);
        for (size_t i = 0; i < 3; i++)
            worst = fmax(worst, lateness("q", order[i]));
        good += worst < 0.1 * live_slowness();
        live_do("DEL later:{q}:ready later:{q}:jobs");
    }
    ck_assert_int_ge(good, 1);
}

/* A connection that Redis has accepted: what is sent on it arrives at once. */
static redisContext *connected(void)
{
    redisContext *redis = server_connect(&live_server);

    ck_assert_ptr_nonnull(redis);
    freeReplyObject(redisCommand(redis, "PING"));
    return redis;
}

/* Sends a command and does not wait. */
static void send_only(redisContext *redis, const char *script)
{
    int done = 0;

    redisAppendCommand(redis, "EVAL %s 2 later:{q}:delayed later:{q}:due", script);
    while (!done)
        ck_assert_int_eq(redisBufferWrite(redis, &done), REDIS_OK);
}

/* A push comes after our call, and is heard of before its answer. While Redis is busy for 0.2 s
 * both wait, and then the published message is sent before the answer. */
TEST(test_told_while_asked)
{
    redisContext *busy = connected(), *push = connected();
    double due;

    begin();
    push_in("q", "a", 0.05);
    LIVE_FOR(0.02, true);
    send_only(busy,
              "local t = os.clock() repeat until os.clock() - t > 0.2"); /* TIME stands still */
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) > 0);
    send_only(push, "local t = redis.call('TIME') local d = t[1] + t[2] / 1e6 + 0.1 "
                    "redis.call('ZADD', KEYS[1], d, 'b') redis.call('PUBLISH', KEYS[2], d)");
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) == 0);
    due = live_score("q", "delayed", "b");
    ck_assert(!isnan(due));
    LIVE_UNTIL(!isnan(live_score("q", "ready", "b")));
    ck_assert_double_le(live_time() - due, 0.2 * live_slowness());
    redisFree(busy);
    redisFree(push);
}

/* Many at short distances. */
TEST(test_due_in_a_crowd)
{
    int count = 300, late = 0;

    begin();
    for (int i = 0; i < count; i++) {
        char id[16];

        snprintf(id, sizeof id, "j%d", i);
        push_in("q", id, 0.004);
        event_base_loop(live_base, EVLOOP_NONBLOCK);
        if (i % 3 == 0)
            late += lateness("q", id) > 0.1 * live_slowness();
    }
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == count);
    ck_assert_int_le(late, 20);
    live_check("q");
}

/* 1,700 at once: call after call, not one a look. */
TEST(test_many_due)
{
    double from;

    begin();
    live_do("EVAL %s 3 later:{q}:delayed later:{q}:jobs later:{q}:stats",
            "for i = 1, 1700 do redis.call('ZADD', KEYS[1], 1000 + i, 'j' .. i) "
            "redis.call('HSET', KEYS[2], 'j' .. i, '{}') end "
            "redis.call('HINCRBY', KEYS[3], 'pushed', 1700)");
    from = live_awake();
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == 1700);
    ck_assert_double_le(live_awake() - from, 2.0 * live_slowness()); /* by looks: 2.4 s */
    live_check("q");
}

/* A plain ZADD, which is not announced, is found and gets its wake within a second. */
TEST(test_plain_zadd)
{
    int good = 0;

    begin();
    for (int i = 0; i < 4; i++) {
        double from = later_clock();

        if (i % 2)
            live_do("ZADD later:{q}:delayed 1 {\"type\":\"t\",\"n\":%d}", i);
        else
            live_do("ZADD later:{q}:ready 1 {\"type\":\"t\",\"n\":%d}", i);
        live_do("DEL later:{q}:wake");
        LIVE_UNTIL(live_number("LLEN later:{q}:wake") == 1);
        good += later_clock() - from <= 1;
    }
    ck_assert_int_ge(good, 2);
    ck_assert_int_eq(live_number("HGET later:{q}:stats adopted"), 2);
}

/* ---- lapses */

LIVE_CASE("lapses", set_up, tear_down);

TEST(test_lapse)
{
    double from, awake;

    live_config.lease = 3; /* held back for 1 s */
    from = later_clock(), awake = live_awake();
    live_hold("q", "a", "0123456789abcdef", -5);
    live_hold("q", "b", "1123456789abcdef", 1.5);
    live_hold("q", "c", "2123456789abcdef", 1000);
    begin();
    LIVE_UNTIL(live_held("q") < 3);
    ck_assert_double_ge(later_clock() - from, 0.99);
    LIVE_UNTIL(live_held("q") == 2);
    ck_assert_double_le(live_awake() - awake, 1 + 0.8 * live_slowness());
    ck_assert(live_score("q", "ready", "a") > 1e9);
    LIVE_UNTIL(live_held("q") == 1);
    ck_assert_double_ge(later_clock() - from, 1.45);
    ck_assert_double_le(live_awake() - awake, 1.5 + 0.8 * live_slowness());
    ck_assert_int_eq(atoi(live_noted("q", "a", "a")), 1);
    ck_assert_ptr_nonnull(strstr(live_noted("q", "e", "a"), "\"kind\":\"lapse\""));
    ck_assert_ptr_nonnull(strstr(live_noted("q", "e", "a"), "the-host"));
    ck_assert_int_eq(live_number("HGET later:{q}:stats lapsed"), 2);
    live_check("q");
}

/* After each reconnect a third of a lease, and two seconds, is left to those who touch. */
TEST(test_lapse_after_a_reconnect)
{
    double from, awake;

    live_config.lease = 2.4;
    begin();
    LIVE_FOR(1.0, true); /* it would lapse by now: the first time a third will do */
    link_break(live_link, "off");
    LIVE_UNTIL(live_ups == 2);
    from = later_clock(), awake = live_awake();
    live_hold("q", "a", "0123456789abcdef", -5);
    /* 1.9 s from the link, not from the hold; what is answered after 2 s says nothing. */
    LIVE_FOR(from + 1.9 - later_clock(), live_held("q") == 1 || later_clock() > from + 2);
    LIVE_UNTIL(live_held("q") == 0);
    ck_assert_double_ge(later_clock() - from, 2);
    ck_assert_double_le(live_awake() - awake, 2.05 + 0.8 * live_slowness());
}

/* A call that Redis kept waiting runs before any touch: it lapses nothing, nor does the next. */
TEST(test_lapse_after_a_freeze)
{
    double from;

    live_config.lease = 1.2; /* a call may wait for 0.2 s */
    begin();
    LIVE_FOR(0.5, true); /* it would lapse by now */
    live_hold("q", "a", "0123456789abcdef", 0.1);
    live_do("CLIENT PAUSE 1500 ALL");
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) > 0); /* within 0.8 s: 0.7 are left */
    live_advance(0.7);
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) == 0);
    from = later_clock();
    LIVE_FOR(0.6, live_held("q") == 1 || later_clock() > from + 0.6);
    LIVE_UNTIL(live_held("q") == 0); /* nobody has renewed it */
    ck_assert_int_eq(live_ups, 1);
}

/* The same if we stood still, since our keeper did too. */
TEST(test_lapse_after_our_own_standstill)
{
    double from;

    live_config.lease = 1.2;
    begin();
    LIVE_FOR(0.5, true);
    live_hold("q", "a", "0123456789abcdef", 0.1);
    live_advance(1.5);
    from = later_clock();
    LIVE_FOR(0.6, live_held("q") == 1 || later_clock() > from + 0.6);
    LIVE_UNTIL(live_held("q") == 0);
}

/* ---- the rest */

LIVE_CASE("rest", set_up, tear_down);

/* A queue in several pools is one queue. Idle ones are looked at together, and one of them by
 * itself at each look, until there is something. */
TEST(test_each_queue_once)
{
    static struct config_queue twice[2] = { { .name = "q" }, { .name = "q2" } };
    struct config_pool pools[2] = { live_config.pools[0],
                                    { .name = "p", .queues = twice, .queue_count = 2 } };
    long long calls;
    double start;

    live_config.pools = pools;
    live_config.pool_count = 2;
    begin();
    LIVE_UNTIL(live_calls() >= 3); /* q, r, q2 */
    LIVE_FOR(2.0, true);           /* what begin() announced has been looked at too */
    start = later_clock();
    calls = live_calls();
    LIVE_UNTIL(live_calls() - calls >= 2);
    ck_assert_double_le((double)(live_calls() - calls), (later_clock() - start) / 0.8 + 1);
    live_do("ZADD later:{q2}:ready 1 {}");
    LIVE_UNTIL(live_number("LLEN later:{q2}:wake") == 1);
}

#define MANY 40 /* queues: each by itself is asked only every half minute */

static uint64_t seeking; /* a bit for each of them of which migrate says that it seeks */

static void on_told(struct queue *queue, const struct later_migrated *migrated)
{
    if (migrated->seeks)
        seeking |= UINT64_C(1) << atoi(queue->keys.queue + 1);
}

static int count_seeking(void)
{
    int count = 0;

    for (int i = 0; i < MANY; i++)
        count += (seeking >> i & 1) != 0;
    return count;
}

/* Ids that stayed taken, and flows whose turn has come, in queues that rest. */
TEST(test_what_can_wait)
{
    static struct config_queue many[MANY];
    struct config_pool pools[2] = { live_config.pools[0],
                                    { .name = "p", .queues = many, .queue_count = MANY } };
    double from;

    for (int i = 0; i < MANY; i++)
        snprintf(many[i].name, sizeof many[i].name, "m%d", i);
    live_config.pools = pools;
    live_config.pool_count = 2;
    live_queues->told = on_told;
    begin();
    LIVE_FOR(2.0, seeking == 0);
    from = later_clock();
    for (int i = 0; i < MANY; i += 2) {
        live_do("ZADD later:{m%d}:unique 1 a", i);
        live_do("ZADD later:{m%d}:away 1 f", i + 1);
    }
    LIVE_UNTIL(count_seeking() == MANY / 2);
    LIVE_UNTIL(live_number("KEYS later:{m*}:unique") == 0);
    ck_assert_double_le(later_clock() - from, 10 + 1.6 * live_slowness());
}

/* How many of the EXISTS that Redis remembers name so many keys. */
static int count_looks(size_t keys)
{
    redisContext *redis = connected();
    redisReply *log = redisCommand(redis, "SLOWLOG GET -1");
    int count = 0;

    ck_assert_ptr_nonnull(log);
    for (size_t i = 0; i < log->elements; i++) {
        const redisReply *command = log->element[i]->element[3];

        count += strcmp(command->element[0]->str, "EXISTS") == 0 && command->elements == 1 + keys;
    }
    freeReplyObject(log);
    redisFree(redis);
    return count;
}

/* The common look costs Redis for each key that it names: it names two of each queue only now and
 * then. */
TEST(test_few_keys)
{
    live_do("CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 10000");
    begin();
    LIVE_FOR(12.0, true);
    ck_assert_int_ge(count_looks(2 * 5), 8);
    ck_assert_int_ge(count_looks(2 * 7), 1);
    ck_assert_int_le(count_looks(2 * 7), 2);
}

TEST(test_trims_the_dead)
{
    live_config.dead.max = 2;
    live_do("EVAL %s 3 later:{q}:dead later:{q}:jobs later:{q}:stats",
            "for i = 1, 700 do redis.call('ZADD', KEYS[1], i, 'j' .. i) "
            "redis.call('HSET', KEYS[2], 'j' .. i, '{}') end "
            "redis.call('HINCRBY', KEYS[3], 'pushed', 700)");
    begin();
    LIVE_UNTIL(live_number("HGET later:{q}:stats trimmed") == 500); /* a batch each 10 s */
    ck_assert_int_eq(live_number("ZCARD later:{q}:dead"), 200);
    ck_assert(isnan(live_score("q", "dead", "j500")));
    ck_assert(!isnan(live_score("q", "dead", "j501")));
    live_check("q");
}

/* Redis refuses for a while: it goes on afterwards. */
TEST(test_refused)
{
    begin();
    log_open(LOG_ERROR, false, "test");
    push_in("q", "a", 0.1);
    live_do("REPLICAOF 127.0.0.1 1");
    LIVE_FOR(1, live_number("ZCARD later:{q}:ready") == 0);
    live_do("REPLICAOF NO ONE");
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == 1);
}

TEST(test_connection_lost)
{
    begin();
    for (int i = 0; i < 5; i++) {
        char id[16];

        snprintf(id, sizeof id, "j%d", i);
        live_do("CLIENT KILL TYPE normal");
        live_do("CLIENT KILL TYPE pubsub");
        push_in("q", id, 0.05);
        LIVE_UNTIL(!isnan(live_score("q", "ready", id)));
    }
    live_check("q");
}

/* A reload takes its queues while an answer is under way, and gives them back. */
TEST(test_ended_with_an_answer_out)
{
    begin();
    live_do("CLIENT PAUSE 100 ALL");
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) > 0);
    for (uint32_t i = 0; i < live_queues->names.count; i++) {
        queues_at(live_queues, i)->config = NULL;
        migrator_end(queues_at(live_queues, i));
    }
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) == 0);
    push_in("q", "a", 0.05);
    LIVE_FOR(2, isnan(live_score("q", "ready", "a")));
    live_serve(live_queues);
    ck_assert_int_eq(migrator_begin(queues_find(live_queues, "q")), 0);
    LIVE_UNTIL(!isnan(live_score("q", "ready", "a")));
}
