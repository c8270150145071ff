/* test_glance.c: plain commands give the same as the script size. */
#include "queue/glance.h"

#include "client/call.h"
#include "live.h"

static struct later_client *client;
static struct later_keys keys;
static struct later_error err;

static void set_up(void)
{
    live_begin();
    client = live_client();
    ck_assert_ptr_nonnull(client);
    later_keys_init(&keys, "later", "q");
}

static void tear_down(void)
{
    later_client_close(client);
    live_end();
}

static struct later_reply *call(struct later_command *cmd)
{
    struct later_reply *reply = later_call(client, cmd, 0, true, &err);

    ck_assert_msg(reply != NULL, "%s", err.text);
    return reply;
}

/* Returns whether the glance was enough. */
static bool glance(struct later_glance *glance)
{
    double now = live_time();

    *glance = (struct later_glance){ .ready = false };
    for (unsigned n = 0; n < LATER_GLANCES; n++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        later_glance_ask(&cmd, &keys, n, now);
        reply = call(&cmd);
        later_glance_read(glance, n, reply);
        later_reply_free(reply);
    }
    return later_glance_done(glance, now);
}

/* A glance is enough, and says what the script says. */
static void same(void)
{
    struct later_command cmd = { 0 };
    struct later_sizes sizes;
    struct later_glance seen;
    struct later_reply *reply;

    ck_assert(glance(&seen));
    later_inspect_size(&cmd, &keys);
    reply = call(&cmd);
    later_inspect_sized(reply, &sizes);
    later_reply_free(reply);
    ck_assert_uint_eq(seen.sizes.ready, sizes.ready);
    ck_assert_uint_eq(seen.sizes.delayed, sizes.delayed);
    ck_assert_uint_eq(seen.sizes.reserved, sizes.reserved);
    ck_assert_uint_eq(seen.sizes.dead, sizes.dead);
    ck_assert_uint_eq(seen.sizes.overdue, sizes.overdue);
    ck_assert_int_eq(seen.sizes.paused, sizes.paused);
    ck_assert_double_eq_tol(seen.sizes.oldest_ready, sizes.oldest_ready, 5);
    ck_assert_int_eq(seen.sizes.oldest_ready < 0, sizes.oldest_ready < 0);
    ck_assert_mem_eq(seen.sizes.counters, sizes.counters, sizeof sizes.counters);
}

START_TEST(an_empty_queue)
{
    same();
}
END_TEST

START_TEST(jobs_in_each_state)
{
    live_put("q", "old", live_time() - 3600);
    live_put("q", "new", live_time());
    live_hold("q", "held", "token", 60);
    live_hold("q", "late", "lost", -60);
    live_do("HMSET later:{q}:jobs d {} x {} y {}");
    live_do("ZADD later:{q}:delayed %.6f d", live_time() + 60);
    live_do("ZADD later:{q}:dead 1 x 2 y");
    live_do("SET later:{q}:paused 1");
    live_do("HMSET later:{q}:stats buried 2 kicked 7 refused 3 withdrawn 1 strange 9");
    same();
    live_do("HMSET later:{q}:stats done 100"); /* more than were handed out */
    same();
}
END_TEST

static bool enough(void)
{
    struct later_glance seen;

    return glance(&seen);
}

/* Scores are times less priorities: then only records say which is the oldest. */
START_TEST(priorities_are_for_the_script)
{
    live_put("q", "plain", live_time() - 10);
    ck_assert(enough());
    live_put("q", "urgent", live_time() - 1e6);
    ck_assert(!enough());
    live_do("ZREM later:{q}:ready urgent");
    live_put("q", "whenever", live_time() - 600 + 1e6);
    ck_assert(!enough());
    live_do("ZREM later:{q}:ready whenever");
    ck_assert(enough());
    live_put("q", "before", 0);
    ck_assert(!enough());
    live_do("ZREM later:{q}:ready before");
    live_do("ZADD later:{q}:ready -inf plain");
    ck_assert(!enough());
}
END_TEST

static TCase *glances(void)
{
    const TTest *const tests[] = {
        an_empty_queue,
        jobs_in_each_state,
        priorities_are_for_the_script,
        NULL,
    };

    return live_case("glances", set_up, tear_down, tests);
}

UNIT_MAIN("glance", glances)
