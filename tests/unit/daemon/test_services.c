/* test_services.c: a new configuration adds queues, takes others away and leaves all else as it is.
 * Nothing is freed under which a call is under way. */
#include "queues/services.h"

#include "tests/unit/live.h"
#include "queues/migrator.h"

#include <stdlib.h>
#include <string.h>

static struct config next;
static struct config_queue rows[3];
static struct config_pool pool;
static struct later_error err;

static bool nobody(void *arg, uint32_t pools)
{
    (void)arg;
    (void)pools;
    return false;
}

/* The configuration of live_config with these queues instead. */
static void use(const char *a, const char *b)
{
    later_names_free(&next.served, NULL);
    memset(rows, 0, sizeof rows);
    strcpy(rows[0].name, a);
    strcpy(rows[1].name, b);
    pool = (struct config_pool){ .name = "default", .queues = rows, .queue_count = *b ? 2 : 1 };
    next = live_config;
    next.served = (struct later_names){ 0 };
    next.pools = &pool;
    live_widen(&next);
    services_configure(live_queues, &next);
}

static void on_up(void)
{
    if (live_queues && live_queues->told)
        services_link_up(live_queues);
}

static void set_up(void)
{
    static char nowhere[] = "/nonexistent";

    live_begin();
    live_loop(on_up);
    live_config.state_dir = nowhere;
    live_queues->options.idle = nobody;
    ck_assert_msg(services_make(live_queues, &err) == 0, "%s", err.text);
    use("q", "r");
    services_link_up(live_queues);
}

static void tear_down(void)
{
    live_unloop();
    later_names_free(&next.served, NULL);
    live_end();
}

/* A job that was due long ago, without a message to anybody. */
static void push(const char *queue)
{
    live_do("HSET later:{%s}:jobs j {\"type\":\"t\"}", queue);
    live_do("ZADD later:{%s}:delayed 1 j", queue);
}

static bool is_ready(const char *queue)
{
    return live_number("ZCARD later:{%s}:ready", queue) == 1;
}

LIVE_CASE("services", set_up, tear_down);

TEST(test_each_is_begun)
{
    push("q");
    push("r");
    LIVE_UNTIL(is_ready("q") && is_ready("r"));
    ck_assert_uint_eq(live_queues->names.count, 2);
}

/* What goes on is the same struct, with its new row. */
TEST(test_a_reload_is_a_difference)
{
    struct queue *q = queues_find(live_queues, "q");

    LIVE_UNTIL(migrator_redis_now(live_queues->migrator) > 0 && q->open == 0);
    q->tick.at = 17;
    use("q", "s");
    ck_assert_ptr_eq(queues_find(live_queues, "q"), q);
    ck_assert_ptr_eq(q->config, &rows[0]);
    ck_assert(q->tick.at == 17); /* not begun anew */
    ck_assert_ptr_eq(queues_find(live_queues, "s")->config, &rows[1]);
    push("s");
    LIVE_UNTIL(is_ready("s"));
}

TEST(test_one_that_is_gone_rests)
{
    LIVE_UNTIL(migrator_redis_now(live_queues->migrator) > 0);
    use("q", "");
    LIVE_UNTIL(!queues_find(live_queues, "r") || queues_find(live_queues, "r")->open == 0);
    use("q", "");
    ck_assert_ptr_null(queues_find(live_queues, "r"));
    push("r");
    LIVE_FOR(2, !is_ready("r"));
    use("q", "r");
    LIVE_UNTIL(is_ready("r"));
}

/* It is freed by the configuration after its last answer. A subscription would not do: it is lost
 * with the subscriber's connection, which breaks in that configuration. */
TEST(test_not_freed_under_a_call)
{
    struct queue *r = queues_find(live_queues, "r");

    LIVE_UNTIL(live_number("PUBLISH later:{r}:overrides any") == 1);
    LIVE_UNTIL(r->open == 0 && migrator_redis_now(live_queues->migrator) > 0);
    live_do("CLIENT PAUSE 200 ALL");
    LIVE_UNTIL(r->open > 0);
    use("q", "");
    ck_assert_ptr_eq(queues_find(live_queues, "r"), r);
    ck_assert_ptr_null(r->config);
    use("q", "");
    ck_assert_ptr_eq(queues_find(live_queues, "r"), r);
    LIVE_UNTIL(r->open == 0);
    use("q", "");
    ck_assert_ptr_null(queues_find(live_queues, "r"));
}

/* The keeper's part is there until the end. */
TEST(test_not_freed_while_a_part_is_kept)
{
    struct queue *r = queues_find(live_queues, "r");

    LIVE_UNTIL(migrator_redis_now(live_queues->migrator) > 0);
    r->leases = (struct leases *)&pool; /* any */
    use("q", "");
    LIVE_UNTIL(r->open == 0);
    use("q", "");
    ck_assert_ptr_eq(queues_find(live_queues, "r"), r);
    r->leases = NULL;
}

static int connections(void)
{
    const char *line = strstr(live_string("INFO stats"), "total_connections_received:");

    return line ? atoi(strchr(line, ':') + 1) : 0;
}

/* A new connection of the subscriber hears only of what is served. */
TEST(test_connections_stay_while_none_is_gone)
{
    int before;

    LIVE_UNTIL(live_number("PUBLISH later:{r}:due 9e9") == 1);
    LIVE_UNTIL(live_number("PUBLISH later:{q}:due 9e9") == 1);
    before = connections();
    use("q", "r");
    LIVE_FOR(0.3, true);
    ck_assert_int_eq(connections(), before);
    use("q", "");
    LIVE_UNTIL(connections() > before);
    LIVE_UNTIL(live_number("PUBLISH later:{q}:due 9e9") == 1);
    LIVE_UNTIL(live_number("PUBLISH later:{r}:due 9e9") == 0);
}

TEST(test_one_that_is_found_later)
{
    services_follow(live_queues, &(struct config_queue){ .name = "t" });
    push("t");
    LIVE_UNTIL(is_ready("t"));
}
