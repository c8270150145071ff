/* test_lock_leases.c: locks and places of the living are renewed, those of the dead are freed. */
#include "keeper/lock_leases.h"

#include "keeper/keeper.h"
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct keeper *keeper;
static struct slots *page;
static int expelled, settled;
static char why[100];

static void on_expel(void *arg, struct slots *slots, const char *text)
{
    (void)arg;
    ck_assert_ptr_eq(slots, page);
    expelled++;
    snprintf(why, sizeof why, "%s", text);
}

static void on_settled(void *arg, struct slots *slots)
{
    (void)arg;
    ck_assert_ptr_eq(slots, page);
    settled++;
}

static void on_up(void)
{
    if (keeper)
        keeper_link_up(keeper);
}

/* A page with a job that runs, of an event type, in slot 0. */
static void set_up(void)
{
    const struct keeper_options options = { .host = "the-host",
                                            .expel = on_expel,
                                            .settled = on_settled };

    live_begin();
    expelled = settled = 0;
    keeper = NULL;
    live_loop(on_up);
    keeper = keeper_new(live_base, &live_config, live_link, &options);
    ck_assert_ptr_nonnull(keeper);
    page = page_new(4);
    page_hold(page, 0, "q", "job", SLOT_RUNNING, 30);
    keeper_watch(keeper, page);
    keeper_busy(keeper);
}

static void tear_down(void)
{
    live_unlink();
    keeper_free(keeper);
    live_unloop();
    page_free_all();
    live_end();
}

/* Enters a hold of the job in slot 0; its token is TOKENtokentoken plus a letter. */
static struct slot_hold *hold(uint32_t i, enum hold_state state, enum hold_kind kind,
                              const char *name, char letter, double ttl)
{
    struct slot_hold *hold = &page->page->held[i];

    *hold = (struct slot_hold){ .kind = (uint32_t)kind, .ttl = ttl, .serial = 7 };
    snprintf(hold->name, sizeof hold->name, "%s", name);
    snprintf(hold->token, sizeof hold->token, "tokentokentoken%c", letter);
    atomic_store(&hold->touched, (int64_t)(later_clock() * 1e6));
    if (atomic_load(&page->page->holds) <= i)
        atomic_store(&page->page->holds, i + 1);
    atomic_store(&hold->state, (uint32_t)state);
    return hold;
}

static void lock_in_redis(const char *name, char letter, double ttl)
{
    live_do("HSET later:lock:{%s} token tokentokentoken%s", name, (char[]){ letter, '\0' });
    live_do("PEXPIRE later:lock:{%s} %d", name, (int)(ttl * 1000));
}

static void place_in_redis(const char *name, char letter, double ttl)
{
    live_do("ZADD later:running:{%s} %.6f tokentokentoken%s", name, live_time() + ttl,
            (char[]){ letter, '\0' });
}

static uint32_t state(const struct slot_hold *hold)
{
    return atomic_load(&hold->state);
}

START_TEST(the_living_keep_theirs)
{
    struct slot_hold *lock = hold(0, HOLD_TAKEN, HOLD_LOCK, "l", 'a', 1);
    struct slot_hold *place = hold(1, HOLD_TAKEN, HOLD_PERMIT, "p", 'b', 1);
    struct slot_hold *other = hold(5, HOLD_TAKEN, HOLD_PERMIT, "p", 'c', 1);

    lock_in_redis("l", 'a', 1);
    place_in_redis("p", 'b', 1);
    place_in_redis("p", 'c', 1);
    LIVE_FOR(2.5, live_number("PTTL later:lock:{l}") > 300 &&
                      live_number("ZCOUNT later:running:{p} %.6f +inf", live_time() + 0.3) == 2);
    ck_assert_uint_eq(state(lock), HOLD_TAKEN);
    ck_assert_uint_eq(state(place), HOLD_TAKEN);
    ck_assert_uint_eq(state(other), HOLD_TAKEN);
    /* Two calls every third of a second, not three: places of one name go together. */
    ck_assert_int_le(live_calls(), 18);
    ck_assert_int_eq(expelled, 0);
}
END_TEST

/* What is being asked for, or freed, is the worker's; what was lost is nobody's. */
START_TEST(only_what_is_taken)
{
    hold(0, HOLD_ASKED, HOLD_LOCK, "a", 'a', 0.05);
    hold(1, HOLD_ENDING, HOLD_LOCK, "b", 'b', 0.05);
    hold(2, HOLD_LOST, HOLD_PERMIT, "c", 'c', 0.05);
    LIVE_FOR(0.5, live_calls() == 0 && expelled == 0);
}
END_TEST

START_TEST(a_lost_lock_ends_its_job)
{
    struct slot_hold *lock = hold(0, HOLD_TAKEN, HOLD_LOCK, "l", 'a', 1);

    lock_in_redis("l", 'x', 30);
    LIVE_UNTIL(state(lock) == HOLD_LOST);
    LIVE_UNTIL(expelled > 0);
    ck_assert_str_eq(why, "a lock or place of it was lost");
    ck_assert_uint_eq(atomic_load(&page->page->slots[0].cancelled), SLOT_UNLOCKED);
    ck_assert_str_eq(live_string("HGET later:lock:{l} token"), "tokentokentokenx");
}
END_TEST

START_TEST(a_lost_place_ends_its_job)
{
    struct slot_hold *place = hold(0, HOLD_TAKEN, HOLD_PERMIT, "p", 'a', 1);
    struct slot_hold *kept = hold(1, HOLD_TAKEN, HOLD_PERMIT, "p", 'b', 1);

    place_in_redis("p", 'b', 30);
    LIVE_UNTIL(state(place) == HOLD_LOST);
    ck_assert_uint_eq(state(kept), HOLD_TAKEN);
    LIVE_UNTIL(expelled > 0);
}
END_TEST

/* The slot is another job's by now. */
START_TEST(a_loss_is_not_another_jobs)
{
    struct slot_hold *lock = hold(0, HOLD_TAKEN, HOLD_LOCK, "l", 'a', 0.3);

    atomic_fetch_add(&page->page->slots[0].serial, 1);
    LIVE_UNTIL(state(lock) == HOLD_LOST);
    ck_assert_uint_eq(atomic_load(&page->page->slots[0].cancelled), 0);
}
END_TEST

/* Nobody can say that it is ours still. */
START_TEST(a_lock_that_could_not_be_renewed_is_lost)
{
    struct slot_hold *lock = hold(0, HOLD_TAKEN, HOLD_LOCK, "l", 'a', 1);
    struct slot_hold *place = hold(1, HOLD_TAKEN, HOLD_PERMIT, "p", 'b', 1);

    live_do("CLIENT PAUSE 1600");
    LIVE_UNTIL(state(lock) == HOLD_LOST);
    ck_assert_uint_eq(state(place), HOLD_TAKEN);
}
END_TEST

START_TEST(what_was_left_is_freed)
{
    struct slot_hold *lock = hold(0, HOLD_LEFT, HOLD_LOCK, "l", 'a', 30);
    struct slot_hold *place = hold(1, HOLD_LEFT, HOLD_PERMIT, "p", 'b', 30);

    lock_in_redis("l", 'a', 30);
    place_in_redis("p", 'b', 30);
    place_in_redis("p", 'c', 30);
    LIVE_UNTIL(state(lock) == HOLD_NONE && state(place) == HOLD_NONE);
    ck_assert_int_eq(live_number("HEXISTS later:lock:{l} token"), 0);
    ck_assert_int_eq(live_number("ZCARD later:running:{p}"), 1);
}
END_TEST

START_TEST(the_dead_hold_nothing)
{
    double start = later_clock();

    hold(0, HOLD_TAKEN, HOLD_LOCK, "l", 'a', 30);
    hold(1, HOLD_TAKEN, HOLD_PERMIT, "p", 'b', 30);
    hold(2, HOLD_ENDING, HOLD_PERMIT, "p", 'c', 30);
    hold(3, HOLD_LEFT, HOLD_PERMIT, "p", 'd', 30);
    hold(4, HOLD_TAKEN, HOLD_LOCK, "others", 'e', 30);
    lock_in_redis("l", 'a', 30);
    lock_in_redis("others", 'x', 30);
    for (char letter = 'b'; letter <= 'd'; letter++)
        place_in_redis("p", letter, 30);
    keeper_died(keeper, page, KEEPER_CRASH, "killed");
    LIVE_UNTIL(!live_number("HEXISTS later:lock:{l} token") &&
               !live_number("EXISTS later:running:{p}"));
    ck_assert_double_lt(later_clock() - start, 1 * live_slowness());
    ck_assert_int_eq(live_number("HEXISTS later:lock:{others} token"), 1);
    LIVE_UNTIL(settled == 1);
}
END_TEST

/* The take was on its way when its worker died: it is freed again a second later. */
START_TEST(what_was_asked_for_is_freed_twice)
{
    hold(0, HOLD_ASKED, HOLD_PERMIT, "p", 'a', 30);
    keeper_died(keeper, page, KEEPER_CRASH, "killed");
    LIVE_UNTIL(live_calls() >= 1);
    place_in_redis("p", 'a', 30);
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("EXISTS later:running:{p}"), 0);
}
END_TEST

/* Without a link they wait for it. */
START_TEST(freed_when_redis_is_back)
{
    hold(0, HOLD_TAKEN, HOLD_PERMIT, "p", 'a', 30);
    place_in_redis("p", 'a', 30);
    link_break(live_link, "the test");
    ck_assert(!link_is_up(live_link));
    keeper_died(keeper, page, KEEPER_LEFT, "laterd was killed");
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("EXISTS later:running:{p}"), 0);
}
END_TEST

/* A handler has written over its page. */
START_TEST(garbage_is_bounded)
{
    struct slot_hold *bad[5];

    for (uint32_t i = 0; i < 5; i++)
        bad[i] = hold(i, i % 2 ? HOLD_LEFT : HOLD_TAKEN, HOLD_LOCK, "l", 'a', 1);
    memset(bad[0]->name, 'x', sizeof bad[0]->name);
    memset(bad[0]->token, 'x', sizeof bad[0]->token);
    bad[1]->ttl = NAN;
    bad[2]->ttl = -1;
    bad[2]->slot = 4000000000U;
    memset(bad[3], 0xff, sizeof *bad[3]);
    bad[4]->slot = 4000000000U;
    atomic_store(&bad[4]->touched, INT64_MIN);
    atomic_store(&page->page->holds, UINT32_MAX);
    LIVE_UNTIL(state(bad[4]) == HOLD_LOST && state(bad[1]) == HOLD_NONE);
    keeper_died(keeper, page, KEEPER_CRASH, "killed");
    LIVE_UNTIL(settled == 1);
}
END_TEST

static TCase *holds(void)
{
    TCase *tc = tcase_create("holds");

    tcase_add_unchecked_fixture(tc, live_start, live_stop);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, the_living_keep_theirs);
    tcase_add_test(tc, only_what_is_taken);
    tcase_add_test(tc, a_lost_lock_ends_its_job);
    tcase_add_test(tc, a_lost_place_ends_its_job);
    tcase_add_test(tc, a_loss_is_not_another_jobs);
    tcase_add_test(tc, a_lock_that_could_not_be_renewed_is_lost);
    tcase_add_test(tc, what_was_left_is_freed);
    tcase_add_test(tc, the_dead_hold_nothing);
    tcase_add_test(tc, what_was_asked_for_is_freed_twice);
    tcase_add_test(tc, freed_when_redis_is_back);
    tcase_add_test(tc, garbage_is_bounded);
    return tc;
}

UNIT_MAIN("holds", holds)
