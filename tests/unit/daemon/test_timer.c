/* test_timer.c: doing something later: once, once unless already set, repeatedly. */
#include "timer.h"

#include "tests/unit/unit.h"

#include <event2/event.h>

static struct event_base *base;
static struct timer *timer;
static int count;

static void on_time(void *arg)
{
    ck_assert_ptr_eq(arg, &count);
    count++;
}

static void set_up(void)
{
    base = event_base_new();
    timer = timer_new(base, on_time, &count);
    ck_assert_ptr_nonnull(timer);
    count = 0;
}

static void tear_down(void)
{
    timer_free(timer);
    timer_free(NULL);
    event_base_free(base);
}

/* Until nothing is set any more. */
static void run(void)
{
    event_base_dispatch(base);
}

CASE("timer", set_up, tear_down);

TEST(nothing_before_it_is_set)
{
    run();
    ck_assert_int_eq(count, 0);
}

TEST(once)
{
    timer_in(timer, 0.001);
    run();
    ck_assert_int_eq(count, 1);
    timer_in(timer, -5);
    run();
    ck_assert_int_eq(count, 2);
}

TEST(set_again_forgets)
{
    timer_in(timer, 3600);
    timer_in(timer, 0);
    run();
    ck_assert_int_eq(count, 1);
}

TEST(soon_leaves_what_is_set)
{
    ck_assert(timer_soon(timer, 0.01));
    ck_assert(!timer_soon(timer, 3600));
    run();
    ck_assert_int_eq(count, 1);
    ck_assert(timer_soon(timer, 0));
}

TEST(stopped)
{
    timer_in(timer, 0);
    timer_stop(timer);
    run();
    ck_assert_int_eq(count, 0);
}

TEST(again_and_again_until_stopped)
{
    timer_every(timer, 0.001);
    while (count < 3)
        event_base_loop(base, EVLOOP_ONCE);
    timer_stop(timer);
    run();
    ck_assert_int_eq(count, 3);
    timer_every(timer, 0.001);
    timer_in(timer, 0);
    run();
    ck_assert_int_eq(count, 4);
}

/* A handler's job frees its own timer when its time is over. */
static void free_it(void *arg)
{
    timer_free(*(struct timer **)arg);
    *(struct timer **)arg = NULL;
}

TEST(may_be_freed_by_its_own_function)
{
    struct timer *other = NULL;

    other = timer_new(base, free_it, &other);
    timer_every(other, 0.001);
    run();
    ck_assert_ptr_null(other);
}
