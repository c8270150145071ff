/* test_wake_listener.c: it waits while a worker is idle, hands over the wake that comes, and puts
 * back what nobody can take. */
#include "queues/wake_listener.h"

#include "tests/unit/live.h"

#include <stdio.h>
#include <string.h>

static bool idle;          /* is somebody? */
static int to_take;        /* how many calls will be taken; then no worker is idle */
static int taken, refused; /* calls */
static char last[80];      /* the queue of the last one taken */
static int asked;          /* whether anybody is idle */
static struct later_error err;

static bool is_idle(void *arg, uint32_t pools)
{
    ck_assert_ptr_eq(arg, &taken);
    ck_assert_uint_ne(pools, 0);
    asked++;
    return idle;
}

static bool call(void *arg, uint32_t pools, const char *queue)
{
    ck_assert_ptr_eq(arg, &taken);
    ck_assert_uint_ne(pools, 0);
    if (to_take == 0) {
        refused++;
        idle = false;
        return false;
    }
    to_take--;
    taken++;
    snprintf(last, sizeof last, "%s", queue);
    return true;
}

static void make(struct queues *queues)
{
    queues->options.all = true;
    queues->options.idle = is_idle;
    queues->options.call = call;
    queues->options.arg = &taken;
    ck_assert_msg(wake_listener_new(queues, &err) == 0, "%s", err.text);
    live_serve(queues);
    wake_listener_configure(queues);
}

static void set_up(void)
{
    live_begin();
    live_loop(NULL);
    idle = false;
    to_take = 1000;
    taken = refused = asked = 0;
    make(live_queues);
}

static void tear_down(void)
{
    live_unloop();
    live_end();
}

/* A number of INFO. */
static int information(const char *name)
{
    const char *line = strstr(live_string("INFO everything"), name);

    return line ? atoi(strchr(line, ':') + 1) : -1;
}

/* How many clients wait in Redis. */
static int waiting(void)
{
    return information("\nblocked_clients:");
}

/* How often a command has been called. */
static int calls(const char *command)
{
    char name[40];
    const char *line;

    snprintf(name, sizeof name, "cmdstat_%s:calls=", command);
    line = strstr(live_string("INFO commandstats"), name);
    return line ? atoi(strchr(line, '=') + 1) : 0;
}

/* How many calls of scripts have succeeded: one that Redis does not know is sent twice. */
static int scripts_run(void)
{
    const char *line = strstr(live_string("INFO commandstats"), "cmdstat_evalsha:calls=");
    const char *failed = line ? strstr(line, "failed_calls=") : NULL;

    return failed ? atoi(strchr(line, '=') + 1) - atoi(strchr(failed, '=') + 1) : 0;
}

static void somebody_is_idle(void)
{
    idle = true;
    wake_listener_idle(live_queues);
}

static void all_wait(void)
{
    somebody_is_idle();
    LIVE_UNTIL(waiting() == 2);
}

/* As push leaves it. */
static void wake(const char *queue)
{
    live_do("LPUSH later:{%s}:wake 1", queue);
}

LIVE_CASE("wake_listener", set_up, tear_down);

TEST(test_waits_while_somebody_is_idle)
{
    LIVE_UNTIL(asked >= 2); /* both links are up */
    LIVE_FOR(0.1, waiting() == 0);
    all_wait();
    wake_listener_idle(live_queues);
    LIVE_FOR(0.1, waiting() <= 2); /* fewer between two waits */
    LIVE_UNTIL(waiting() == 2);
}

TEST(test_hands_it_over)
{
    all_wait();
    wake("r");
    LIVE_UNTIL(taken == 1);
    ck_assert_str_eq(last, "r");
    LIVE_UNTIL(waiting() == 2);
    wake("q");
    LIVE_UNTIL(taken == 2);
    ck_assert_str_eq(last, "q");
    ck_assert_int_eq(refused, 0);
    ck_assert_int_eq(live_number("EXISTS later:{q}:wake later:{r}:wake"), 0);
}

/* The wait is short, and repeated. */
TEST(test_waits_on)
{
    all_wait();
    LIVE_UNTIL(calls("blpop") >= 6);
    wake("q");
    LIVE_UNTIL(taken == 1);
}

/* One worker is idle for both queues, and each has a wake. The second wake goes back, and nobody
 * waits until a worker is idle; then it is taken. */
TEST(test_nobody_is_idle_any_more)
{
    to_take = 1;
    live_put("q", "a", 1);
    live_put("r", "b", 1);
    all_wait();
    live_do("EVAL %s 2 later:{q}:wake later:{r}:wake",
            "redis.call('LPUSH', KEYS[1], 1) redis.call('LPUSH', KEYS[2], 1)");
    LIVE_UNTIL(refused == 1);
    LIVE_UNTIL(live_number("EXISTS later:{q}:wake later:{r}:wake") == 1);
    LIVE_FOR(0.3, taken == 1 && refused == 1);
    to_take = 1;
    somebody_is_idle();
    LIVE_UNTIL(taken == 2);
    ck_assert_int_eq(live_number("EXISTS later:{q}:wake later:{r}:wake"), 0);
}

/* What is put back is there for another host. */
TEST(test_another_host_has_it)
{
    const struct queues_options options = { .host = "other" };
    struct queues *other = queues_new(live_base, &live_config, live_link, &options);

    to_take = 0;
    live_put("q", "a", 1);
    all_wait();
    wake("q");
    LIVE_UNTIL(refused == 1);
    LIVE_UNTIL(live_number("EXISTS later:{q}:wake") == 1);
    to_take = 1;
    make(other);
    idle = true;
    LIVE_UNTIL(taken == 1);
    wake_listener_free(other);
    queues_free(other);
}

/* Without a job there is nothing to wake for. */
TEST(test_nothing_is_put_back_for_nothing)
{
    to_take = 0;
    all_wait();
    wake("q");
    LIVE_UNTIL(refused == 1 && scripts_run() == 1);
    ck_assert_int_eq(live_number("EXISTS later:{q}:wake"), 0);
}

/* Once a second: while its link is away, since we stood still for longer than a wait has, it says
 * nothing, and leaves that to the migrator, which is not here. */
static bool taken_after_uncalled(void)
{
    static double again;

    if (taken == 0 && later_clock() >= again) {
        wake_listener_uncalled(live_queues, "q");
        again = later_clock() + 1;
    }
    return taken > 0;
}

TEST(test_died_after_it_was_called)
{
    int before;

    live_put("q", "a", 1);
    all_wait();
    LIVE_UNTIL(taken_after_uncalled());
    ck_assert_str_eq(last, "q");
    LIVE_UNTIL(waiting() == 2 && live_number("EXISTS later:{q}:wake") == 0);
    before = taken;
    wake_listener_uncalled(live_queues, "none");
    wake_listener_uncalled(live_queues, "");
    LIVE_FOR(0.1, taken == before);
}

TEST(test_connection_lost)
{
    all_wait();
    for (int i = 0; i < 3; i++) {
        live_do("CLIENT KILL TYPE normal");
        LIVE_UNTIL(waiting() == 2);
        wake("q");
        LIVE_UNTIL(taken == i + 1);
        LIVE_UNTIL(waiting() == 2);
    }
}

/* A refusal is no reason to ask all the time, and no other queue's business. */
TEST(test_refused)
{
    int before;

    live_do("SET later:{q}:wake no-list");
    somebody_is_idle();
    LIVE_UNTIL(waiting() == 1);
    before = calls("blpop");
    LIVE_FOR(1, true);
    ck_assert_int_le(calls("blpop") - before, 13);
    wake("r");
    LIVE_UNTIL(taken == 1);
    live_do("DEL later:{q}:wake");
    LIVE_UNTIL(waiting() == 2);
    wake("q");
    LIVE_UNTIL(taken == 2);
}

/* A reload while waiting, with another queue: the new listeners hear what comes, the former ones
 * are gone. */
TEST(test_other_queues)
{
    static struct config_queue queues[3] = { { .name = "q" }, { .name = "r" }, { .name = "s" } };
    static struct config_pool pool = { .name = "default", .queues = queues, .queue_count = 3 };
    int clients, connections;

    all_wait();
    clients = information("\nconnected_clients:");
    connections = information("\ntotal_connections_received:");
    live_config.pools = &pool;
    live_serve(live_queues);
    wake_listener_configure(live_queues);
    LIVE_UNTIL(information("\ntotal_connections_received:") >= connections + 3);
    /* Redis has seen that the former ones are gone: it could still give them a wake. */
    LIVE_UNTIL(information("\nconnected_clients:") == clients + 1 && waiting() == 3);
    wake("q");
    LIVE_UNTIL(taken == 1);
    wake("s");
    LIVE_UNTIL(taken == 2);
}

/* A reload that changes nothing here keeps the connections. */
TEST(test_the_same_queues)
{
    int connections;

    all_wait();
    connections = information("\ntotal_connections_received:");
    live_serve(live_queues);
    wake_listener_configure(live_queues);
    LIVE_FOR(0.2, true);
    ck_assert_int_eq(information("\ntotal_connections_received:"), connections);
    wake("q");
    LIVE_UNTIL(taken == 1);
}

TEST(test_each_queue_once)
{
    static struct config_queue queues[2] = { { .name = "r" }, { .name = "s" } };
    static struct config_pool pools[2];

    pools[0] = live_config.pools[0];
    pools[1] = (struct config_pool){ .name = "p", .queues = queues, .queue_count = 2 };
    live_config.pools = pools;
    live_config.pool_count = 2;
    live_serve(live_queues);
    wake_listener_configure(live_queues);
    somebody_is_idle();
    LIVE_UNTIL(waiting() == 3);
    LIVE_FOR(0.1, waiting() <= 3); /* fewer between two waits */
}
