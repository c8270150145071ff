/* test_lock_leases.c: locks and permits of living workers are renewed, those of dead ones are
 * freed. */
#include "keeper/lock_leases.h"

#include "keeper/keeper.h"
#include "tests/unit/page.h"

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
    live_hurry();
    expelled = settled = 0;
    keeper = NULL;
    live_loop(on_up);
    keeper = keeper_new(live_queues, &options);
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

/* Enters a lock lease of the job in slot 0; its token is TOKENtokentoken plus a letter. */
static struct lock_lease *enter(uint32_t i, enum lock_lease_state state, enum lock_lease_kind kind,
                                const char *name, char letter, double ttl)
{
    struct lock_lease *lease = &page->page->lock_leases[i];

    *lease = (struct lock_lease){ .kind = (uint32_t)kind, .ttl = ttl, .serial = 7 };
    snprintf(lease->name, sizeof lease->name, "%s", name);
    snprintf(lease->token, sizeof lease->token, "tokentokentoken%c", letter);
    atomic_store(&lease->touched, (int64_t)(later_clock() * 1e6));
    if (atomic_load(&page->page->lock_leases_used) <= i)
        atomic_store(&page->page->lock_leases_used, i + 1);
    atomic_store(&lease->state, (uint32_t)state);
    return lease;
}

static void lock_in_redis(const char *name, char letter, double ttl)
{
    live_do("HSET later:lock:{%s} token tokentokentoken%s", name, (char[]){ letter, '\0' });
    live_do("PEXPIRE later:lock:{%s} %d", name, (int)(ttl * 1000));
}

static void permit_in_redis(const char *name, char letter, double ttl)
{
    live_do("ZADD later:running:{%s} %.6f tokentokentoken%s", name, live_time() + ttl,
            (char[]){ letter, '\0' });
}

static uint32_t state(const struct lock_lease *lease)
{
    return atomic_load(&lease->state);
}

LIVE_CASE("lock_leases", set_up, tear_down);

TEST(the_living_keep_theirs)
{
    struct lock_lease *lock = enter(0, LEASE_TAKEN, LEASE_LOCK, "l", 'a', 4.5);
    struct lock_lease *permit = enter(1, LEASE_TAKEN, LEASE_PERMIT, "p", 'b', 4.5);
    struct lock_lease *other = enter(5, LEASE_TAKEN, LEASE_PERMIT, "p", 'c', 4.5);
    double start = later_clock();

    for (int i = 0; i < 2; i++) { /* the rest of the lease only grows if it is renewed */
        lock_in_redis("l", 'a', 3.9);
        permit_in_redis("p", 'b', 3.9);
        permit_in_redis("p", 'c', 3.9);
        LIVE_UNTIL(live_number("PTTL later:lock:{l}") > 3900 &&
                   live_number("ZCOUNT later:running:{p} %.6f +inf", live_time() + 3.9) == 2);
    }
    ck_assert_uint_eq(state(lock), LEASE_TAKEN);
    ck_assert_uint_eq(state(permit), LEASE_TAKEN);
    ck_assert_uint_eq(state(other), LEASE_TAKEN);
    /* Two calls every third of a ttl, not three: permits of one name go together. */
    ck_assert_double_le((double)live_calls(), 2 * ((later_clock() - start) / 1.5 + 2));
    ck_assert_int_eq(expelled, 0);
}

/* What is being asked for or freed belongs to the worker. What was lost belongs to nobody. */
TEST(only_what_is_taken)
{
    enter(0, LEASE_ASKED, LEASE_LOCK, "a", 'a', 0.05);
    enter(1, LEASE_ENDING, LEASE_LOCK, "b", 'b', 0.05);
    enter(2, LEASE_LOST, LEASE_PERMIT, "c", 'c', 0.05);
    LIVE_FOR(0.5, live_calls() == 0 && expelled == 0);
}

TEST(a_lost_lock_ends_its_job)
{
    struct lock_lease *lock = enter(0, LEASE_TAKEN, LEASE_LOCK, "l", 'a', 1);

    lock_in_redis("l", 'x', 30);
    LIVE_UNTIL(state(lock) == LEASE_LOST);
    LIVE_UNTIL(expelled > 0);
    ck_assert_str_eq(why, "a lock or permit of it was lost");
    ck_assert_uint_eq(atomic_load(&page->page->slots[0].cancelled), SLOT_UNLOCKED);
    ck_assert_str_eq(live_string("HGET later:lock:{l} token"), "tokentokentokenx");
}

TEST(a_lost_place_ends_its_job)
{
    struct lock_lease *permit = enter(0, LEASE_TAKEN, LEASE_PERMIT, "p", 'a', 1);
    struct lock_lease *kept = enter(1, LEASE_TAKEN, LEASE_PERMIT, "p", 'b', 1);

    permit_in_redis("p", 'b', 30);
    LIVE_UNTIL(state(permit) == LEASE_LOST);
    ck_assert_uint_eq(state(kept), LEASE_TAKEN);
    LIVE_UNTIL(expelled > 0);
}

/* The slot is another job's by now. */
TEST(a_loss_is_not_another_jobs)
{
    struct lock_lease *lock = enter(0, LEASE_TAKEN, LEASE_LOCK, "l", 'a', 0.3);

    atomic_fetch_add(&page->page->slots[0].serial, 1);
    LIVE_UNTIL(state(lock) == LEASE_LOST);
    ck_assert_uint_eq(atomic_load(&page->page->slots[0].cancelled), 0);
}

/* Nobody can say that it is ours still. */
TEST(a_lock_that_could_not_be_renewed_is_lost)
{
    struct lock_lease *lock = enter(0, LEASE_TAKEN, LEASE_LOCK, "l", 'a', 1);
    struct lock_lease *permit = enter(1, LEASE_TAKEN, LEASE_PERMIT, "p", 'b', 1);

    live_do("CLIENT PAUSE 60000");
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) > 0);
    live_advance(1);
    LIVE_UNTIL(state(lock) == LEASE_LOST);
    ck_assert_uint_eq(state(permit), LEASE_TAKEN);
    server_advance(&live_server, 60); /* the pause is over */
}

TEST(what_was_left_is_freed)
{
    struct lock_lease *lock = enter(0, LEASE_LEFT, LEASE_LOCK, "l", 'a', 30);
    struct lock_lease *permit = enter(1, LEASE_LEFT, LEASE_PERMIT, "p", 'b', 30);

    lock_in_redis("l", 'a', 30);
    permit_in_redis("p", 'b', 30);
    permit_in_redis("p", 'c', 30);
    LIVE_UNTIL(state(lock) == LEASE_NONE && state(permit) == LEASE_NONE);
    ck_assert_int_eq(live_number("HEXISTS later:lock:{l} token"), 0);
    ck_assert_int_eq(live_number("ZCARD later:running:{p}"), 1);
}

TEST(the_dead_hold_nothing)
{
    double start = live_awake();

    enter(0, LEASE_TAKEN, LEASE_LOCK, "l", 'a', 30);
    enter(1, LEASE_TAKEN, LEASE_PERMIT, "p", 'b', 30);
    enter(2, LEASE_ENDING, LEASE_PERMIT, "p", 'c', 30);
    enter(3, LEASE_LEFT, LEASE_PERMIT, "p", 'd', 30);
    enter(4, LEASE_TAKEN, LEASE_LOCK, "others", 'e', 30);
    lock_in_redis("l", 'a', 30);
    lock_in_redis("others", 'x', 30);
    for (char letter = 'b'; letter <= 'd'; letter++)
        permit_in_redis("p", letter, 30);
    keeper_died(keeper, page, LATER_ENDED_CRASH, "killed");
    LIVE_UNTIL(!live_number("HEXISTS later:lock:{l} token") &&
               !live_number("EXISTS later:running:{p}"));
    ck_assert_double_lt(live_awake() - start, 1 * live_slowness());
    ck_assert_int_eq(live_number("HEXISTS later:lock:{others} token"), 1);
    LIVE_UNTIL(settled == 1);
}

/* The take was on its way when its worker died: it is freed again a second later. */
TEST(what_was_asked_for_is_freed_twice)
{
    enter(0, LEASE_ASKED, LEASE_PERMIT, "p", 'a', 30);
    keeper_died(keeper, page, LATER_ENDED_CRASH, "killed");
    LIVE_UNTIL(live_calls() >= 1);
    permit_in_redis("p", 'a', 30);
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("EXISTS later:running:{p}"), 0);
}

/* Without a link they wait for it. */
TEST(freed_when_redis_is_back)
{
    enter(0, LEASE_TAKEN, LEASE_PERMIT, "p", 'a', 30);
    permit_in_redis("p", 'a', 30);
    link_break(live_link, "the test");
    ck_assert(!link_is_up(live_link));
    keeper_died(keeper, page, LATER_ENDED_LEFT, "laterd was killed");
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("EXISTS later:running:{p}"), 0);
}

/* A handler has written over its page. */
TEST(garbage_is_bounded)
{
    struct lock_lease *bad[5];

    for (uint32_t i = 0; i < 5; i++)
        bad[i] = enter(i, i % 2 ? LEASE_LEFT : LEASE_TAKEN, LEASE_LOCK, "l", 'a', 1);
    memset(bad[0]->name, 'x', sizeof bad[0]->name);
    memset(bad[0]->token, 'x', sizeof bad[0]->token);
    bad[1]->ttl = NAN;
    bad[2]->ttl = -1;
    bad[2]->slot = 4000000000U;
    memset(bad[3], 0xff, sizeof *bad[3]);
    bad[4]->slot = 4000000000U;
    atomic_store(&bad[4]->touched, INT64_MIN);
    atomic_store(&page->page->lock_leases_used, UINT32_MAX);
    LIVE_UNTIL(state(bad[4]) == LEASE_LOST && state(bad[1]) == LEASE_NONE);
    keeper_died(keeper, page, LATER_ENDED_CRASH, "killed");
    LIVE_UNTIL(settled == 1);
}
