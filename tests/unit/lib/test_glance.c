/* test_glance.c: plain commands give the same as the script size. */
#include "queue/glance.h"

#include "client/call.h"
#include "tests/unit/live.h"

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

static uint32_t asked; /* how many questions the last look took */

/* Asks what is in the set. */
static void look(struct later_glance *glance, uint32_t want, double now)
{
    for (unsigned n = 0; n < LATER_GLANCES; n++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        if (!(want & LATER_GLANCE_BIT(n)))
            continue;
        later_glance_ask(&cmd, &keys, n, now);
        reply = call(&cmd);
        later_glance_read(glance, n, reply);
        later_reply_free(reply);
        asked++;
    }
}

/* Returns whether the glance was enough. */
static bool glance(struct later_glance *glance)
{
    double now = live_time();

    *glance = (struct later_glance){ .ready = false };
    asked = 0;
    for (uint32_t want = LATER_GLANCE_FULL; want; want = later_glance_more(glance, NULL))
        look(glance, want, now);
    return later_glance_done(glance, now);
}

/* The same for one that was looked at before. */
static bool again(struct later_glance *glance)
{
    struct later_glance before = *glance;
    double now = live_time();

    glance->asked = 0;
    asked = 0;
    for (uint32_t want = LATER_GLANCE_CHANGE; want; want = later_glance_more(glance, &before))
        look(glance, want, now);
    return later_glance_done(glance, now);
}

/* What is seen is what the script says. */
static void is_right(const struct later_glance *glance)
{
    const struct later_glance seen = *glance;
    struct later_command cmd = { 0 };
    struct later_sizes sizes;
    struct later_reply *reply;

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
    ck_assert_uint_eq(seen.sizes.waiting, sizes.waiting);
    ck_assert_mem_eq(seen.sizes.counters, sizes.counters, sizeof sizes.counters);
}

/* A glance is enough. */
static void same(void)
{
    struct later_glance seen;

    ck_assert(glance(&seen));
    is_right(&seen);
}

LIVE_CASE("glances", set_up, tear_down);

TEST(an_empty_queue)
{
    same();
}

TEST(jobs_in_each_state)
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

static bool enough(void)
{
    struct later_glance seen;

    return glance(&seen);
}

/* Scores are times less priorities: then only records say which is the oldest. */
TEST(priorities_are_for_the_script)
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

/* A queue that was seen before is asked only whether it has changed, and what has. */
TEST(only_what_has_changed)
{
    struct later_glance seen;

    live_put("q", "a", live_time() - 9);
    live_do("HMSET later:{q}:jobs x {} y {}");
    live_do("ZADD later:{q}:dead 1 x");
    live_do("HMSET later:{q}:stats pushed 2 buried 1 reserved 1");
    ck_assert(glance(&seen));
    is_right(&seen);
    ck_assert(again(&seen));
    ck_assert_uint_eq(asked, 4);
    is_right(&seen);

    live_put("q", "b", live_time()); /* pushed: the dead stay */
    live_do("HSET later:{q}:stats pushed 3");
    ck_assert(again(&seen));
    ck_assert_uint_eq(asked, 7);
    is_right(&seen);

    live_do("ZADD later:{q}:dead 2 y"); /* buried */
    live_do("HMSET later:{q}:stats buried 2 reserved 2 pushed 4");
    ck_assert(again(&seen));
    is_right(&seen);
    live_do("ZREM later:{q}:dead x"); /* a dead one is kicked, and waits for another time */
    live_do("ZADD later:{q}:delayed %.6f x", live_time() + 60);
    ck_assert(again(&seen));
    is_right(&seen);

    live_do("SET later:{q}:paused 1");
    ck_assert(again(&seen));
    ck_assert_uint_eq(asked, 6);
    is_right(&seen);
    live_do("DEL later:{q}:paused later:{q}:ready");
    ck_assert(again(&seen));
    is_right(&seen);
    ck_assert_double_lt(seen.sizes.oldest_ready, 0);
    live_do("DEL later:{q}:stats later:{q}:dead later:{q}:delayed later:{q}:jobs");
    ck_assert(again(&seen));
    is_right(&seen);
}

/* Leases run out by themselves: that is asked for apart. */
TEST(what_is_overdue)
{
    struct later_glance seen, before;

    live_hold("q", "held", "token", 60);
    live_do("HMSET later:{q}:stats pushed 1 reserved 1");
    ck_assert(glance(&seen));
    is_right(&seen);
    live_do("ZADD later:{q}:reserved %.6f token", live_time() - 1);
    before = seen;
    seen.asked = 0;
    look(&seen, LATER_GLANCE_BIT(LATER_GLANCE_OVERDUE), live_time());
    ck_assert_uint_eq(later_glance_more(&seen, &before), 0);
    is_right(&seen);
}
