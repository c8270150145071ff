/* test_keeper.c: leases of living workers are renewed, and what dead ones held is settled. */
#include "keeper/keeper.h"

#include "tests/unit/page.h"

#include "log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct keeper *keeper;
static int expelled, settled;
static char why[100];
static struct slots *expelled_page, *settled_page;

static void on_expel(void *arg, struct slots *slots, const char *text)
{
    ck_assert_ptr_eq(arg, &expelled);
    expelled++;
    expelled_page = slots;
    snprintf(why, sizeof why, "%s", text);
}

static void on_settled(void *arg, struct slots *slots)
{
    ck_assert_ptr_eq(arg, &expelled);
    settled++;
    settled_page = slots;
}

static void on_up(void)
{
    if (keeper)
        keeper_link_up(keeper);
}

static void set_up(void)
{
    const struct keeper_options options = {
        .host = "the-host", .expel = on_expel, .settled = on_settled, .arg = &expelled
    };

    live_begin();
    live_hurry();
    keeper = NULL;
    expelled = settled = 0;
    live_loop(on_up);
    keeper = keeper_new(live_queues, &options);
    ck_assert_ptr_nonnull(keeper);
}

static void tear_down(void)
{
    live_unlink();
    keeper_free(keeper);
    keeper_free(NULL);
    live_unloop();
    page_free_all();
    live_end();
}

static struct slots *watched(uint32_t capacity)
{
    struct slots *page = page_new(capacity);

    keeper_watch(keeper, page);
    return page;
}

/* Seconds that the lease of a token still holds. */
static double lease_left(const char *queue, const char *token)
{
    return live_score(queue, "reserved", token) - live_time();
}

/* ---- renewing */

LIVE_CASE("renewing", set_up, tear_down);

/* Every state that holds something, in two queues and two pages; not what nobody holds. */
TEST(test_renews)
{
    struct slots *page, *other;
    struct slot *slot;
    int64_t before;
    double left;

    live_config.lease = 9;
    page = watched(10);
    other = watched(10);
    page_hold(page, 0, "q", "held", SLOT_HELD, 9);
    slot = page_hold(page, 3, "q", "running", SLOT_RUNNING, 9);
    slot->event = 1; /* so that what is held is not returned */
    page_finished(page, 9, "r", "finished", LATER_ENDED_DONE, false, 0, "");
    live_do("ZADD later:{r}:reserved %.6f " PAGE_TOKEN, live_time() + 9);
    page_hold(other, 0, "q", "others", SLOT_HELD, 9);
    live_hold("q", "nobodys", "nobodysnobodysxx", 9);
    before = atomic_load(&slot->lease_end);
    keeper_busy(keeper);
    LIVE_FOR(12, lease_left("q", PAGE_TOKEN) > 0.3 && lease_left("r", PAGE_TOKEN) > 0.3);
    ck_assert_double_lt(lease_left("q", "nobodysnobodysxx"), 0);
    ck_assert_int_gt(atomic_load(&slot->lease_end), before + 6000000);
    /* What the page says is never later than what Redis holds. */
    left = lease_left("q", PAGE_TOKEN); /* asked first: the rest gets less while we stand still */
    ck_assert_double_le((double)atomic_load(&slot->lease_end) / 1e6 - later_clock(), left + 0.01);
    /* Three or four rounds, a call for each queue of each page that has something. */
    ck_assert_int_ge(live_calls(), 9);
    ck_assert_int_le(live_calls(), 20);
    ck_assert_int_eq(expelled, 0);
}

/* A reload makes leases longer: what is held still has the short one, and so has what a worker of
 * the former configuration reserves a moment later. */
TEST(test_longer_lease)
{
    struct config longer;
    struct slots *page;

    live_config.lease = 9;
    page = watched(2);
    page_hold(page, 0, "q", "a", SLOT_RUNNING, 9)->event = 1;
    keeper_busy(keeper);
    longer = live_config;
    longer.lease = 300;
    keeper_configure(keeper, &longer);
    LIVE_UNTIL(lease_left("q", PAGE_TOKEN) > 200);
    page_hold(page, 1, "r", "b", SLOT_RUNNING, 9)->event = 1;
    LIVE_UNTIL(lease_left("r", PAGE_TOKEN) > 200 || lease_left("r", PAGE_TOKEN) < 0);
    ck_assert_double_gt(lease_left("r", PAGE_TOKEN), 200);
}

/* 1,200 jobs of one queue: all of them, 500 a call. */
TEST(test_renews_many)
{
    struct slots *page;

    live_config.lease = 3;
    page = watched(1200);
    for (uint32_t i = 0; i < 1200; i++) {
        char id[16];

        snprintf(id, sizeof id, "%u", i);
        page_hold(page, i, "q", id, SLOT_HELD, 3);
    }
    live_do("EVAL %s 1 later:{q}:reserved",
            "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) "
            "do redis.call('ZADD', KEYS[1], 5, m) end");
    keeper_busy(keeper);
    LIVE_UNTIL(live_number("ZCOUNT later:{q}:reserved (5 +inf") == 1);
}

#define GOOD_TOKEN "goodgoodgoodgood"

static bool all_renewed(void)
{
    return lease_left("q", PAGE_TOKEN) > 50 && lease_left("q", GOOD_TOKEN) > 50 &&
           lease_left("r", PAGE_TOKEN) > 50 && lease_left("r", GOOD_TOKEN) > 50;
}

/* Jobs of two queues and two tokens, in turn: a call for each queue and token. */
TEST(test_renews_in_turn)
{
    struct slots *page;
    long long calls;

    live_config.lease = 60;
    page = watched(40);
    for (uint32_t i = 0; i < 40; i++) {
        char id[16];

        snprintf(id, sizeof id, "%u", i);
        page_hold_by(page, i, i % 2 ? "q" : "r", id, i % 4 < 2 ? PAGE_TOKEN : GOOD_TOKEN, SLOT_HELD,
                     2);
    }
    keeper_link_up(keeper); /* and Redis gets to know the script */
    LIVE_UNTIL(all_renewed() && later_redis_pending(link_redis(live_link)) == 0);
    live_advance(20);
    ck_assert(!all_renewed());
    calls = live_calls();
    keeper_link_up(keeper);
    LIVE_UNTIL(all_renewed() && later_redis_pending(link_redis(live_link)) == 0);
    ck_assert_int_eq(live_calls() - calls, 4);
    for (uint32_t i = 0; i < 40; i++)
        ck_assert_double_gt((double)page->page->slots[i].lease_end / 1e6, later_clock() + 50);
}

/* ---- how far jobs have come */

static struct slot *follower; /* whose job comes into the slot while its checkpoint is read */

/* Asked instead of value_read_checkpoint() (-Wl,--wrap): the pages of page.h have no folder. */
size_t __wrap_value_read_checkpoint(const struct slots *slots, const struct slot *slot, char *json);

size_t __wrap_value_read_checkpoint(const struct slots *slots, const struct slot *slot, char *json)
{
    size_t len = (size_t)sprintf(json, "\"of %s\"", slot->id);
    struct slot *changing = &slots->page->slots[slot - slots->page->slots];

    if (follower) {
        strcpy(changing->id, follower->id);
        atomic_store(&changing->checkpoint, 0);
        atomic_fetch_add(&changing->serial, 1);
        atomic_store(&follower->state, SLOT_FREE);
        follower = NULL;
    }
    return len;
}

TEST(test_checkpoint)
{
    struct slots *page = watched(1);

    atomic_store(&page_hold(page, 0, "q", "a", SLOT_RUNNING, 60)->checkpoint, 1);
    keeper_busy(keeper);
    LIVE_UNTIL(strcmp(live_noted("q", "m", "a"), "\"of a\"") == 0);
}

/* What one job left is not told of the next one in its slot. */
TEST(test_checkpoint_of_another)
{
    struct slots *page = watched(2);
    struct slot *slot = page_hold(page, 0, "q", "a", SLOT_RUNNING, 60);

    follower = page_hold(page, 1, "q", "b", SLOT_RUNNING, 60);
    atomic_store(&slot->checkpoint, 1);
    keeper_busy(keeper);
    LIVE_UNTIL(!follower);
    atomic_store(&slot->checkpoint, 1);
    LIVE_UNTIL(*live_noted("q", "m", "b"));
    ck_assert_str_eq(live_noted("q", "m", "b"), "\"of b\"");
    ck_assert_int_eq(live_noting("q", "m"), 1);
}

/* Idle workers cost nothing: not a call, not a timer. */
TEST(test_idle)
{
    struct slots *page = watched(10);
    long long calls;

    atomic_store(&page->page->busy, 1);
    keeper_busy(keeper);
    LIVE_UNTIL(!atomic_load(&page->page->busy));
    calls = live_calls();
    LIVE_FOR(0.3, !atomic_load(&page->page->busy));
    ck_assert_int_eq(live_calls(), calls);
    live_config.lease = 6;
    page_hold(page, 0, "q", "a", SLOT_HELD, 3); /* and the worker reports it: */
    keeper_busy(keeper);
    LIVE_UNTIL(lease_left("q", PAGE_TOKEN) > 3.5);
}

/* What Redis says is not ours any more is marked, and its worker, if it runs in a handler that
 * blocks, is ended. */
TEST(test_withdrawn)
{
    struct slots *page;
    struct slot *slots[2];

    live_config.lease = 1;
    page = watched(4);
    slots[0] = page_hold(page, 0, "q", "running", SLOT_RUNNING, 1);
    slots[1] = page_hold(page, 1, "r", "event", SLOT_RUNNING, 1);
    slots[1]->event = 1;
    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " running");
    keeper_busy(keeper);
    LIVE_UNTIL(expelled > 0);
    ck_assert_str_eq(why, "its reservation was withdrawn");
    ck_assert_ptr_eq(expelled_page, page);
    ck_assert_uint_eq(slots[0]->cancelled, 1);
    ck_assert_uint_eq(slots[1]->cancelled, 0);
    expelled = 0;
    LIVE_UNTIL(expelled > 1); /* again and again */
}

/* A message about it comes long before the next touch. */
TEST(test_cancelled)
{
    struct slots *page;
    struct slot *slots[3];
    double cancelled;

    live_config.lease = 60;
    page = watched(4);
    slots[0] = page_hold(page, 0, "q", "other", SLOT_RUNNING, 60);
    slots[1] = page_hold(page, 1, "q", "running", SLOT_RUNNING, 60);
    slots[2] = page_hold(page, 2, "q", "held", SLOT_HELD, 60);
    keeper_busy(keeper);
    keeper_cancelled(keeper, "");
    keeper_cancelled(keeper, PAGE_TOKEN);
    keeper_cancelled(keeper, PAGE_TOKEN ":runnin");
    keeper_cancelled(keeper, "x" PAGE_TOKEN ":running");
    ck_assert_uint_eq(slots[0]->cancelled + slots[1]->cancelled + slots[2]->cancelled, 0);
    keeper_cancelled(keeper, PAGE_TOKEN ":running");
    keeper_cancelled(keeper, PAGE_TOKEN ":held");
    ck_assert_uint_eq(slots[0]->cancelled, 0);
    ck_assert_uint_eq(slots[1]->cancelled, 1);
    ck_assert_uint_eq(slots[2]->cancelled, 1);
    cancelled = later_clock();
    LIVE_UNTIL(expelled > 0);
    ck_assert_str_eq(why, "its reservation was withdrawn");
    ck_assert_double_ge(later_clock() - cancelled, 1); /* for its handler to give it up */
}

/* The slot belongs to another job by the time the answer comes. That job is not cancelled. */
TEST(test_withdrawn_too_late)
{
    struct slots *page;
    struct slot *slot;

    live_config.lease = 1;
    page = watched(1);
    slot = page_hold(page, 0, "q", "a", SLOT_HELD, 1);
    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " a");
    live_do("CLIENT PAUSE 2000 ALL"); /* from now on; the next touch waits */
    keeper_busy(keeper);
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) > 0);
    atomic_fetch_add(&slot->serial, 1);
    server_advance(&live_server, 2);
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) == 0);
    ck_assert_uint_eq(slot->cancelled, 0);
}

/* A worker ends while its leases are renewed, and the page of the next one comes to its address. */
TEST(test_withdrawn_from_one_that_is_gone)
{
    struct slots *page;
    struct slot *slot;

    live_config.lease = 1;
    page = watched(1);
    slot = page_hold(page, 0, "q", "a", SLOT_HELD, 1);
    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " a");
    live_do("CLIENT PAUSE 2000 ALL");
    keeper_busy(keeper);
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) > 0);
    *slot = (struct slot){ .queue = 0 }; /* free */
    keeper_died(keeper, page, LATER_ENDED_CRASH, "");
    ck_assert_int_eq(settled, 1);
    page_free(page);
    page = watched(1);
    server_advance(&live_server, 2);
    slot = page_hold(page, 0, "q", "b", SLOT_HELD, 30);
    LIVE_UNTIL(later_redis_pending(link_redis(live_link)) == 0);
    ck_assert_uint_eq(slot->cancelled, 0);
}

/* Redis refuses for a while: tried twice a second, told in as many lines. */
TEST(test_touch_refused)
{
    const char *over = NULL;
    struct slots *page;

    live_config.lease = 3;
    page = watched(1);
    page_hold(page, 0, "q", "a", SLOT_HELD, 3);
    live_do("REPLICAOF 127.0.0.1 1");
    live_log_begin(LOG_INFO);
    keeper_busy(keeper);
    LIVE_FOR(3, slot_state(&page->page->slots[0]) == SLOT_HELD);
    ck_assert_int_eq(live_logged("redis refuses to renew leases"), 1);
    live_do("REPLICAOF NO ONE");
    LIVE_UNTIL(lease_left("q", PAGE_TOKEN) > 1.5);
    LIVE_UNTIL((over = strstr(live_log(), "over after ")));
    over = strstr(over, " s, ");
    ck_assert_ptr_nonnull(over);
    ck_assert_int_ge(atoi(over + 4), 2); /* times */
    ck_assert_int_le(atoi(over + 4), 7);
    live_log_end();
}

/* After an outage leases come first. */
TEST(test_renews_when_up_again)
{
    struct slots *page;

    live_config.lease = 60; /* the next regular time is far away */
    page = watched(1);
    page_hold(page, 0, "q", "a", SLOT_HELD, 2);
    keeper_busy(keeper);
    link_break(live_link, "off");
    LIVE_UNTIL(live_ups == 2);
    LIVE_UNTIL(lease_left("q", PAGE_TOKEN) > 50);
}

/* ---- jobs that wait behind a running one */

LIVE_CASE("watching", set_up, tear_down);

TEST(test_gives_back_behind)
{
    struct slots *page = watched(5);
    struct slot *running = page_hold(page, 0, "q", "running", SLOT_RUNNING, 30);
    double from;

    page_hold(page, 1, "q", "b", SLOT_HELD, 30);
    page_hold(page, 4, "r", "c", SLOT_HELD, 30);
    from = live_awake() + 0.15;
    running->began = later_clock() + 0.15; /* as long as it has not run for 50 ms */
    keeper_busy(keeper);
    LIVE_UNTIL(slot_state(&page->page->slots[1]) != SLOT_HELD);
    ck_assert_double_ge(later_clock(), running->began + 0.049);
    LIVE_UNTIL(slot_state(&page->page->slots[1]) == SLOT_FREE &&
               slot_state(&page->page->slots[4]) == SLOT_FREE);
    ck_assert_double_le(live_awake() - from, 0.8 * live_slowness());
    ck_assert_int_eq(slot_state(running), SLOT_RUNNING);
    ck_assert_double_eq(live_score("q", "ready", "b"), 1001); /* its place */
    ck_assert_double_eq(live_score("r", "ready", "c"), 1004);
    ck_assert_int_eq(live_noting("q", "a"), 0);
    ck_assert_int_eq(live_number("LLEN later:{q}:wake"), 1);
    ck_assert_int_eq(expelled, 0);
    ck_assert_uint_eq(keeper_open(keeper), 0);
    live_check("q");
}

/* What the worker has asked for before the longer job, and does not read of. Redis may run the call
 * only after the first look. */
TEST_EACH(test_gives_back_unread, 2)
{
    struct slots *page = watched(5);
    struct slot_call *calls = page->page->calls;

    page_hold(page, 0, "q", "running", SLOT_RUNNING, 30)->began = later_clock();
    live_hold("q", "asked", "askedaskedaskeda", 1000);
    live_hold("q", "read", "readreadreadread", 1000);
    strcpy(calls[0].token, "askedaskedaskeda");
    atomic_store(&calls[0].asked, SLOT_CALL_ASKED);
    strcpy(calls[1].token, "readreadreadread"); /* its jobs come into slots, or are looked for */
    atomic_store(&calls[1].asked, _i ? SLOT_CALL_READ : SLOT_CALL_LOST);
    keeper_busy(keeper);
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == 1);
    ck_assert_uint_eq(atomic_load(&calls[0].asked), SLOT_CALL_CEDED);
    live_hold("q", "late", "askedaskedaskeda", 1000);
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == 2);
    ck_assert_uint_eq(atomic_load(&calls[0].asked), SLOT_CALL_CEDED); /* until the worker reads */
    ck_assert_uint_eq(atomic_load(&calls[1].asked), _i ? SLOT_CALL_READ : SLOT_CALL_LOST);
    ck_assert_int_eq(live_held("q"), 2);
    ck_assert_int_eq(live_noting("q", "a"), 0);
    live_check("q");
}

/* Event jobs run beside others, so none waits behind them. */
TEST(test_not_behind_event_jobs)
{
    struct slots *page = watched(2);
    struct slot *running = page_hold(page, 0, "q", "running", SLOT_RUNNING, 30);

    running->event = 1;
    running->began = later_clock() - 10;
    slots_beat(page);
    page_hold(page, 1, "q", "b", SLOT_HELD, 30);
    keeper_busy(keeper);
    LIVE_FOR(0.3, slot_state(&page->page->slots[1]) == SLOT_HELD);
    ck_assert_int_eq(expelled, 0);
}

/* ---- over its time */

TEST(test_over_its_time)
{
    struct slots *page = watched(1);
    struct slot *slot = page_hold(page, 0, "q", "a", SLOT_RUNNING, 30);

    slot->deadline = later_clock() + 0.25;
    keeper_busy(keeper);
    LIVE_UNTIL(expelled > 0);
    ck_assert_double_ge(later_clock(), slot->deadline);
    ck_assert_str_eq(why, "over its time");
}

static void beat(struct slots *page, double when)
{
    atomic_store(&page->page->heartbeat, (int64_t)(when * 1e6));
}

TEST(test_loop_hangs)
{
    struct slots *page;
    struct slot *slot;
    double from;

    live_config.grace = 0.2;
    page = watched(1);
    slot = page_hold(page, 0, "q", "a", SLOT_RUNNING, 30);
    slot->event = 1;
    from = later_clock();
    beat(page, from);
    keeper_busy(keeper);
    LIVE_UNTIL(expelled > 0);
    ck_assert_double_ge(later_clock() - from, 1.19); /* 1.2 s are allowed */
    ck_assert_str_eq(why, "its event loop hangs");
}

/* The first event job after a pause: the last beat is old, the loop turns. */
TEST(test_pause_is_no_hang)
{
    struct slots *page;

    /* So that it is not over its time even if we stand still for some seconds. */
    live_config.grace = 5;
    page = watched(1);
    beat(page, later_clock() - 1000);
    page_hold(page, 0, "q", "a", SLOT_RUNNING, 30)->event = 1;
    keeper_busy(keeper);
    LIVE_FOR(0.8, expelled == 0);
    beat(page, later_clock());
    LIVE_FOR(0.8, expelled == 0);
}

/* We and it stood still together, and the keeper looks first: a host that was frozen. */
TEST(test_our_own_standstill_is_no_hang)
{
    struct slots *page;

    live_config.grace = 0;
    page = watched(1);
    beat(page, later_clock());
    page_hold(page, 0, "q", "a", SLOT_RUNNING, 30)->event = 1;
    keeper_busy(keeper);
    LIVE_FOR(0.1, expelled == 0);
    live_advance(1.5);
    LIVE_FOR(0.1, expelled == 0);
}

/* ---- the dead */

static void died(struct slots *page, enum later_ending cause)
{
    keeper_died(keeper, page, cause, "killed by signal 9 (Killed)");
}

LIVE_CASE("dead", set_up, tear_down);

/* One slot of each state; one job each. */
TEST(test_dead)
{
    struct slots *page = watched(12);
    struct slot *slot;

    page_hold(page, 0, "q", "held", SLOT_HELD, 30);
    slot = page_hold(page, 1, "q", "ran", SLOT_RUNNING, 30);
    slot->max_attempts = 25;
    slot = page_hold(page, 2, "q", "taken", SLOT_RUNNING, 30);
    slot->began = 0; /* moved on, not in its handler yet */
    page_finished(page, 3, "q", "done", LATER_ENDED_DONE, false, 0, "");
    page_finished(page, 4, "q", "bury", LATER_ENDED_RETRY, true, 0, "why");
    page_finished(page, 5, "r", "retry", LATER_ENDED_RETRY, false, 40, "why");
    page_finished(page, 6, "r", "twice", LATER_ENDED_DONE, false, 0, "");
    live_do("ZREM later:{r}:reserved:" PAGE_TOKEN " twice"); /* acked before it died */
    live_do("HDEL later:{r}:jobs twice");
    live_do("HINCRBY later:{r}:stats done 1");
    died(page, LATER_ENDED_CRASH);
    LIVE_UNTIL(settled == 1);
    ck_assert_ptr_eq(settled_page, page);
    ck_assert_uint_eq(keeper_open(keeper), 0);
    ck_assert_double_eq(live_score("q", "ready", "held"), 1000);
    ck_assert_double_eq(live_score("q", "ready", "taken"), 1002);
    ck_assert(live_score("q", "ready", "ran") > 1e9);
    ck_assert_int_eq(atoi(live_noted("q", "a", "ran")), 1);
    ck_assert_int_eq(atoi(live_noted("q", "c", "ran")), 1);
    ck_assert_int_eq(live_noting("q", "a"), 2); /* and the buried one's */
    ck_assert_ptr_nonnull(strstr(live_noted("q", "e", "ran"), "killed by signal 9 (Killed)"));
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs done"), 0);
    ck_assert(!isnan(live_score("q", "dead", "bury")));
    ck_assert(!isnan(live_score("r", "delayed", "retry")));
    ck_assert_int_eq(live_number("HGET later:{r}:stats done"), 1);
    ck_assert_int_eq(live_held("q") + live_held("r"), 0);
    live_check("q");
    live_check("r");
}

/* Four event jobs ran: suspects, none charged. */
TEST(test_dead_with_several)
{
    struct slots *page = watched(4);
    char id[8];

    for (uint32_t i = 0; i < 4; i++) {
        snprintf(id, sizeof id, "%u", i);
        page_hold(page, i, "q", id, SLOT_RUNNING, 30)->event = 1;
    }
    died(page, LATER_ENDED_CRASH);
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 4);
    ck_assert_int_eq(live_noting("q", "a"), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(id, sizeof id, "%d", i);
        ck_assert_str_eq(live_noted("q", "c", id), "0");
    }
    live_check("q");
}

/* Nothing was open: it is over at once. */
TEST(test_dead_with_nothing)
{
    struct slots *page = watched(100);

    died(page, LATER_ENDED_CRASH);
    ck_assert_int_eq(settled, 1);
}

/* A reserve without an answer: what it took is found by its token. There are two looks, since the
 * call may run a moment after its worker's death. */
TEST(test_dead_before_the_answer)
{
    struct slots *page = watched(10);
    double from;

    live_hold("q", "other", "otherotherothero", 1000);
    for (int i = 0; i < 5; i++) {
        char id[16];

        snprintf(id, sizeof id, "%d", i);
        live_hold("q", id, "lostlostlostlost", 1000);
    }
    strcpy(page->page->calls[3].token, "lostlostlostlost");
    page->page->calls[3].queue = 0;
    atomic_store(&page->page->calls[3].asked, SLOT_CALL_ASKED);
    strcpy(page->page->calls[129].token, "neverneverneverx"); /* a token that never got there */
    page->page->calls[129].queue = 1;
    atomic_store(&page->page->calls[129].asked, SLOT_CALL_LOST);
    from = live_awake();
    died(page, LATER_ENDED_CRASH);
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == 5);
    ck_assert_double_le(live_awake() - from, 0.9 * live_slowness()); /* the first look, at once */
    live_hold("q", "late", "lostlostlostlost", 1000);                /* it runs only now */
    LIVE_UNTIL(live_number("ZCARD later:{q}:ready") == 6);
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_held("q"), 1);
    ck_assert_int_eq(live_noting("q", "a"), 0);
    live_check("q");
}

/* Redis is away when the worker dies, or goes away just then. */
TEST_EACH(test_dead_while_redis_is_away, 3)
{
    struct slots *page = watched(4);

    page_hold(page, 0, "q", "held", SLOT_HELD, 30);
    page_hold(page, 1, "q", "ran", SLOT_RUNNING, 30);
    strcpy(page->page->calls[0].token, "lostlostlostlost");
    atomic_store(&page->page->calls[0].asked, SLOT_CALL_ASKED);
    live_hold("q", "lost", "lostlostlostlost", 1000);
    if (_i == 0)
        link_break(live_link, "off");
    died(page, LATER_ENDED_CRASH);
    ck_assert_uint_ge(keeper_open(keeper), 1);
    if (_i == 1)
        link_break(live_link, "off"); /* all of it is on its way, so its outcome is unknown */
    if (_i == 2) {
        live_turn();
        live_do("CLIENT KILL TYPE normal");
    }
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 3);
    ck_assert_int_eq(atoi(live_noted("q", "a", "ran")), 1);
    live_check("q");
}

/* It died before its job was given back, or before that was in the line: the lock is free, so it
 * comes, long before it is due by itself. */
TEST_EACH(test_dead_before_the_line, 2)
{
    struct slots *page = watched(2);
    const double due = 4000000000.25;

    page_finished(page, 0, "q", "a", LATER_ENDED_LINE, false, due, "l nightly");
    if (_i == 1) {
        live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " a");
        live_do("ZADD later:{q}:delayed %.2f a", due);
        live_do("HSET later:{q}:records a %s", "l=4000000000.250000 l nightly\n");
    }
    died(page, LATER_ENDED_CRASH);
    LIVE_UNTIL(!isnan(live_score("q", "ready", "a")));
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(slot_state(&page->page->slots[0]), SLOT_FREE);
    ck_assert_int_eq(live_number("ZCARD later:{q}:delayed"), 0);
    live_check("q");
}

/* ---- the pages that a killed laterd left */

/* That keeper was killed between the state of a job that it gave back and its ending: what is there
 * is of the job before, which was done. */
TEST(test_left_returning)
{
    struct slots *page = page_new(2);
    struct slot *slot = page_finished(page, 0, "q", "before", LATER_ENDED_DONE, false, 0, "");

    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " before");
    live_do("HDEL later:{q}:jobs before");
    live_do("HINCRBY later:{q}:stats done 1");
    live_hold("q", "given-back", PAGE_TOKEN, 30);
    live_do("ZADD later:{q}:reserved:" PAGE_TOKEN " 1000 given-back");
    strcpy(slot->id, "given-back");
    atomic_store(&slot->state, SLOT_RETURNING);
    died(page, LATER_ENDED_LEFT);
    LIVE_UNTIL(settled == 1);
    ck_assert_double_eq(live_score("q", "ready", "given-back"), 1000);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 1);
    live_check("q");
}

TEST(test_left)
{
    struct slots *page = page_new(4);

    page_hold(page, 0, "q", "held", SLOT_HELD, 30);
    page_hold(page, 1, "q", "ran", SLOT_RUNNING, 30);
    page_finished(page, 2, "q", "done", LATER_ENDED_DONE, false, 0, "");
    died(page, LATER_ENDED_LEFT);
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 2);
    ck_assert_int_eq(atoi(live_noted("q", "a", "ran")), 1);
    ck_assert_str_eq(live_noted("q", "c", "ran"), ""); /* not its own fault */
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 1);
    live_check("q");
}

/* What was being returned when its worker died is returned once. */
TEST(test_dead_while_giving_back)
{
    struct slots *page = watched(3);
    struct slot *running = page_hold(page, 0, "q", "running", SLOT_RUNNING, 30);

    running->began = later_clock() - 1;
    page_hold(page, 1, "q", "b", SLOT_HELD, 30);
    live_do("CLIENT PAUSE 200 ALL");
    keeper_busy(keeper);
    LIVE_UNTIL(slot_state(&page->page->slots[1]) == SLOT_RETURNING);
    died(page, LATER_ENDED_CRASH);
    LIVE_UNTIL(settled == 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 2);
    ck_assert_int_eq(live_number("HGET later:{q}:stats returned"), 1);
    live_check("q");
}

/* ---- a page that a handler has written over */

LIVE_CASE("written over", set_up, tear_down);

/* Random bytes over slots, counters and queues: the supervisor lives, the page is done with, and
 * what other workers hold is still settled. */
TEST_EACH(test_written_over, 8)
{
    unsigned seed = (unsigned)_i * 31 + 7;
    struct slots *page, *good;

    live_config.lease = 1;
    page = watched(50);
    good = watched(10);
    for (uint32_t i = 0; i < 40; i++) {
        char id[16];

        snprintf(id, sizeof id, "%u", i);
        page_hold(page, i, i % 2 ? "q" : "r", id, (enum slot_state)(i % 4), 1000);
    }
    for (int i = 0; i < 400; i++) {
        unsigned char *at = (unsigned char *)page->page;
        size_t from = (size_t)rand_r(&seed) % (page->size - 64);
        size_t len = (size_t)rand_r(&seed) % 64;

        memset(at + from, rand_r(&seed) % 3 ? rand_r(&seed) : 0, len);
    }
    if (_i % 2) {
        atomic_store(&page->page->used, UINT32_MAX);
        page->page->queue_count = UINT32_MAX;
        page->page->capacity = UINT32_MAX;
    }
    atomic_store(&page->page->busy, 1);
    log_open(LOG_WARN, true, "test");
    keeper_busy(keeper);
    LIVE_FOR(0.4, true);
    page_hold(good, 0, "q", "good", SLOT_HELD, 1000);
    page_finished(good, 1, "q", "fine", LATER_ENDED_RETRY, false, 0, "x");
    died(page, _i % 3 ? LATER_ENDED_CRASH : LATER_ENDED_LEFT);
    died(good, LATER_ENDED_CRASH);
    LIVE_UNTIL(settled == 2);
    ck_assert_int_eq(live_number("EVAL %s 1 later:{q}:ready",
                                 "return (redis.call('ZSCORE', KEYS[1], 'good') and 1 or 0) + "
                                 "(redis.call('ZSCORE', KEYS[1], 'fine') and 1 or 0)"),
                     2);
    ck_assert_uint_eq(keeper_open(keeper), 0);
}

/* Maps another file in its place, which can be truncated, with nothing after it. Returns the
 * file. */
static int map_again(struct slots *page)
{
    size_t size = (page->size + 4095) / 4096 * 4096;
    int fd = memfd_create("page", MFD_CLOEXEC);
    char *room = mmap(NULL, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_int_eq(ftruncate(fd, (off_t)page->size), 0);
    ck_assert_int_eq(pwrite(fd, page->page, page->size, 0), (ssize_t)page->size);
    munmap(page->page, page->size);
    page->page = mmap(room, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    ck_assert_ptr_eq(page->page, room);
    return fd;
}

/* The page is overwritten while its contents wait for Redis: nothing is read past its end, and what
 * others hold is settled. */
TEST(test_written_over_while_it_waits)
{
    struct slots *good = watched(10), *page = watched(20);

    map_again(page);
    page_hold(page, 0, "q", "running", SLOT_RUNNING, 30)->began = later_clock() - 1;
    page_hold(page, 1, "q", "behind", SLOT_HELD, 30);
    page_hold_by(good, 0, "q", "good", GOOD_TOKEN, SLOT_RUNNING, 30)->began = later_clock() - 1;
    page_hold_by(good, 1, "q", "fine", GOOD_TOKEN, SLOT_HELD, 30);
    link_break(live_link, "off");
    keeper_busy(keeper);
    LIVE_UNTIL(slot_state(&page->page->slots[1]) == SLOT_RETURNING &&
               slot_state(&good->page->slots[1]) == SLOT_RETURNING);
    memset(page->page, 'A', page->size);
    LIVE_UNTIL(live_ups == 2);
    LIVE_UNTIL(!isnan(live_score("q", "ready", "fine")));
    LIVE_FOR(0.3, true);
    died(page, LATER_ENDED_CRASH);
    LIVE_UNTIL(settled == 1);
    ck_assert_double_gt(lease_left("q", GOOD_TOKEN), 0);
    ck_assert_double_eq(live_score("q", "reserved:" GOOD_TOKEN, "good"), 1000);
}

/* What waits for Redis keeps its page mapped, even if the page itself says that nothing does. */
TEST(test_cleared_while_it_waits)
{
    struct slots *page = watched(20);

    page_hold(page, 0, "q", "running", SLOT_RUNNING, 30)->began = later_clock() - 1;
    page_hold(page, 1, "q", "behind", SLOT_HELD, 30);
    page_hold(page, 2, "r", "too", SLOT_HELD, 30);
    link_break(live_link, "off");
    keeper_busy(keeper);
    LIVE_UNTIL(slot_state(&page->page->slots[2]) == SLOT_RETURNING);
    memset(page->page, 0, page->size);
    died(page, LATER_ENDED_CRASH);
    ck_assert_int_eq(settled, 0);
    LIVE_UNTIL(settled == 1);
    ck_assert_uint_eq(keeper_open(keeper), 0);
}

/* Its file is cut short: its worker is ended, what others hold is renewed and settled. */
TEST(test_cut_short)
{
    struct slots *page, *good;
    int file;

    slots_guard();
    live_config.lease = 1;
    page = watched(20);
    good = watched(10);
    file = map_again(page);
    page_hold(page, 0, "q", "a", SLOT_RUNNING, 1);
    page_hold_by(good, 0, "q", "good", GOOD_TOKEN, SLOT_RUNNING, 1);
    keeper_busy(keeper);
    LIVE_FOR(0.2, expelled == 0);
    ck_assert_int_eq(ftruncate(file, 0), 0);
    LIVE_UNTIL(expelled > 0);
    ck_assert_ptr_eq(expelled_page, page);
    ck_assert_str_eq(why, "its slot page is gone");
    died(page, LATER_ENDED_TIMEOUT);
    ck_assert_int_eq(settled, 1);
    LIVE_UNTIL(lease_left("q", PAGE_TOKEN) < 0);
    LIVE_UNTIL(lease_left("q", GOOD_TOKEN) > 0.5);
}

TEST(test_freed_with_graves)
{
    struct slots *page = watched(4);

    page_hold(page, 0, "q", "held", SLOT_HELD, 30);
    strcpy(page->page->calls[0].token, "lostlostlostlost");
    atomic_store(&page->page->calls[0].asked, SLOT_CALL_ASKED);
    died(page, LATER_ENDED_CRASH);
    ck_assert_uint_ge(keeper_open(keeper), 1);
    live_unlink(); /* answers what is out */
    keeper_free(keeper);
    keeper = NULL;
    for (int i = 0; i < 10; i++)
        live_turn();
}
