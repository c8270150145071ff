/* test_find.c: what a reserve took whose answer was lost is found by its token and returned. */
#include "reservation/find.h"

#include "tests/unit/live.h"
#include "tests/support/fake_redis.h"

#include <stdio.h>
#include <string.h>

#define TOKEN "0123456789abcdef"

static struct later_keys keys;
static struct fake_redis *fake;
static int dones, goods;

static void set_up(void)
{
    live_begin();
    later_keys_init(&keys, "later", "q");
    dones = goods = 0;
    fake = NULL;
}

static void tear_down(void)
{
    live_unloop();
    if (fake)
        fake_stop(fake);
    live_end();
}

static void on_done(void *arg, bool ok)
{
    ck_assert_ptr_eq(arg, &keys);
    dones++;
    goods += ok;
}

static int find(void)
{
    return find_and_return(live_link, &keys, TOKEN, on_done, &keys);
}

/* Other tokens' jobs, enough for several pages, among them near misses. */
static void put_others(int count)
{
    static const char *const near[] = { "0123456789abcdeX", "X123456789abcdef", "01234567*9abcdef",
                                        "0123456789abcdeg" };

    live_do("EVAL %s 3 later:{q}:reserved later:{q}:jobs later:{q}:stats %d",
            "for i = 1, ARGV[1] do local token = 'otherotherother' .. i % 10 "
            "redis.call('ZADD', KEYS[1], 1e11, token) "
            "redis.call('ZADD', KEYS[1] .. ':' .. token, i, 'o' .. i) "
            "redis.call('HSET', KEYS[2], 'o' .. i, '{}') end "
            "redis.call('HINCRBY', KEYS[3], 'pushed', ARGV[1])",
            count);
    for (size_t i = 0; i < 4; i++) {
        char id[8];

        snprintf(id, sizeof id, "n%zu", i);
        live_hold("q", id, near[i], 1000);
    }
}

LIVE_CASE("found", set_up, tear_down);

TEST(test_nothing)
{
    live_loop(NULL);
    ck_assert_int_eq(find(), 0);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(goods, 1);
    put_others(1);
    ck_assert_int_eq(find(), 0);
    LIVE_UNTIL(dones == 2);
    ck_assert_int_eq(goods, 2);
    ck_assert_int_eq(live_held("q"), 5);
}

static void check_found(int others, int ours)
{
    char id[40];

    put_others(others);
    for (int i = 0; i < ours; i++) {
        snprintf(id, sizeof id, i % 3 ? "id-%d" : "*?[%d]\\:", i);
        live_hold("q", id, TOKEN, 1000);
    }
    live_loop(NULL);
    ck_assert_int_eq(find(), 0);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(goods, 1);
    ck_assert_int_eq(live_held("q"), others + 4);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), ours);
    ck_assert_int_eq(live_noting("q", "a"), 0); /* returned, not failed */
    ck_assert_int_eq(live_number("LLEN later:{q}:wake"), ours > 0);
    live_check("q");
}

TEST(test_small_set)
{
    check_found(10, 3);
}

TEST(test_many_pages)
{
    check_found(2000, 7);
}

TEST(test_a_full_batch)
{
    check_found(2000, 500);
}

/* They may be gone by the time they are returned: acked or lapsed. That is no failure. */
TEST(test_twice_at_once)
{
    put_others(2000);
    for (int i = 0; i < 50; i++) {
        char id[16];

        snprintf(id, sizeof id, "id-%d", i);
        live_hold("q", id, TOKEN, 1000);
    }
    live_loop(NULL);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(find(), 0);
    LIVE_UNTIL(dones == 4);
    ck_assert_int_eq(goods, 4);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 50);
    ck_assert_int_eq(live_number("HGET later:{q}:stats returned"), 50);
    live_check("q");
}

/* ---- what can go wrong */

LIVE_CASE("faults", set_up, tear_down);

TEST(test_link_down)
{
    live_loop(NULL);
    link_break(live_link, "off");
    ck_assert_int_lt(find(), 0);
    ck_assert_int_eq(dones, 0);
}

TEST(test_refused)
{
    live_hold("q", "a", TOKEN, 1000);
    live_loop(NULL);
    live_do("REPLICAOF 127.0.0.1 1");
    ck_assert_int_eq(find(), 0);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(goods, 0); /* it has to be looked for again */
    live_do("REPLICAOF NO ONE");
    ck_assert_int_eq(find(), 0);
    LIVE_UNTIL(dones == 2);
    ck_assert_int_eq(goods, 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 1);
}

TEST(test_freed_meanwhile)
{
    put_others(2000);
    live_loop(NULL);
    ck_assert_int_eq(find(), 0);
    live_unlink();
    ck_assert_int_eq(dones, 1);
    ck_assert_int_eq(goods, 0);
}

/* An answer, and it hangs up: what is sent from inside the answer cannot go. */
static void page_and_cut(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_shake(f)) {
        if (fake_read(f))
            fake_say(f, "*1\r\n$1\r\na\r\n");
        fake_cut(f);
    }
}

TEST(test_cut_behind_a_page)
{
    fake = fake_start(page_and_cut, NULL);
    live_loop_at(fake_url(fake), NULL);
    for (int i = 1; i <= 30; i++) {
        LIVE_UNTIL(link_is_up(live_link));
        if (find() < 0)
            dones++; /* it broke before: done is not called */
        LIVE_UNTIL(dones == i);
    }
    ck_assert_int_eq(goods, 0);
}

/* Cut at any byte. Whatever happens, done() is called once, and success is true. */
static void cut_somewhere(struct fake_redis *f, void *arg)
{
    unsigned seed = *(unsigned *)arg;

    while (fake_accept(f))
        fake_relay(f, live_server.socket, SIZE_MAX, 30 + (size_t)rand_r(&seed) % 3000);
}

TEST_EACH(test_cut_anywhere, 4)
{
    unsigned seed = (unsigned)_i + 5;

    put_others(600);
    for (int i = 0; i < 40; i++) {
        char id[16];

        snprintf(id, sizeof id, "id-%d", i);
        live_hold("q", id, TOKEN, 1000);
    }
    fake = fake_start(cut_somewhere, &seed);
    live_loop_at(fake_url(fake), NULL);
    for (int i = 1; goods == 0; i++) {
        ck_assert_int_lt(i, 300);
        LIVE_UNTIL(link_is_up(live_link));
        if (find() < 0)
            dones++;
        LIVE_UNTIL(dones == i);
    }
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 40);
    ck_assert_int_eq(live_number("HGET later:{q}:stats returned"), 40);
    live_check("q");
}
