/* test_line.c: a job enters the line of a lock although answers are lost, and is called although a
 * call is. */
#include "reservation/line.h"

#include "tests/unit/page.h"

#include "tests/support/fake_redis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DUE 4000000000.25 /* by itself it does not come */

static struct line *line;
static struct fake_redis *fake;
static struct slots *page;
static const struct later_line nightly = { .what = LATER_LINE_LOCK, .max = 1, .name = "nightly" };
static int lose; /* so many answers */
static size_t waiting;

static void on_told(void *arg, const struct later_line *at, const struct later_line_answer *answer,
                    const char *waiter, double due)
{
    ck_assert_ptr_eq(arg, &lose);
    waiting = at ? answer->waiting : waiting;
    if (*waiter)
        ck_assert_double_eq(due, DUE);
}

static void set_up(void)
{
    live_begin();
    lose = 0;
    fake = fake_start(live_lose, &lose);
    live_loop_at(fake_url(fake), NULL);
    line = line_new(live_base, live_link, "later", on_told, &lose);
    ck_assert_ptr_nonnull(line);
    page = page_new(4);
}

static void tear_down(void)
{
    live_unlink();
    line_free(line);
    live_unloop();
    page_free_all();
    fake_stop(fake);
    live_end();
}

/* A job that was given back until DUE, and its slot. */
static struct slot *given_back(uint32_t i, const char *id)
{
    struct slot *slot = page_finished(page, i, "q", id, LATER_ENDED_LINE, false, DUE, "l nightly");

    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " %s", id);
    live_do("ZADD later:{q}:delayed %.2f %s", DUE, id);
    return slot;
}

static void enter(struct slot *slot)
{
    struct line_question *entry = line_entry(line, &nightly, DUE, 1000, "q", slot->id);

    ck_assert_ptr_nonnull(entry);
    line_enter(entry, slot);
    line_flush(line);
    link_flush(live_link);
}

LIVE_CASE("lost", set_up, tear_down);

/* Its slot is in use until it is in the line, which its keeper would look at. */
TEST(test_lost_entry)
{
    struct slot *first = given_back(0, "first"), *second = given_back(1, "second");

    live_do("HSET later:lock:{nightly} token another");
    enter(first); /* the script is there then */
    ck_assert_uint_eq(line_entering(line), 1);
    LIVE_UNTIL(slot_state(first) == SLOT_FREE);
    lose = 1;
    enter(second);
    LIVE_UNTIL(!link_is_up(live_link));
    ck_assert_int_eq(slot_state(second), SLOT_FINISHED);
    ck_assert_uint_eq(line_entering(line), 1);
    ck_assert_uint_eq(line_open(line), 0); /* a handler may block meanwhile */
    LIVE_UNTIL(slot_state(second) == SLOT_FREE);
    ck_assert_uint_eq(line_entering(line), 0);
    ck_assert_uint_eq(waiting, 2);
    ck_assert_int_eq(live_number("ZCARD later:lock:{nightly}:waiting"), 2);
    ck_assert_int_eq(live_number("ZCARD later:{q}:delayed"), 2);
}

/* The lock is free: the lost answer has called the job. So it is called again. */
TEST_EACH(test_lost_call, 2)
{
    struct slot *first = given_back(0, "first"), *second = given_back(1, "second");

    enter(first); /* the scripts are there then */
    LIVE_UNTIL(!isnan(live_score("q", "ready", "first")));
    live_do("DEL later:lock:{nightly}:waiting later:lock:{nightly}:due");
    LIVE_UNTIL(line_open(line) == 0);
    lose = _i + 1; /* that of the question; and that of the next one */
    enter(second);
    LIVE_UNTIL(!isnan(live_score("q", "ready", "second")));
    LIVE_UNTIL(slot_state(second) == SLOT_FREE);
    ck_assert_int_eq(lose, 0);
    ck_assert_int_eq(live_number("ZCARD later:{q}:delayed"), 0);
}

/* What Redis will always refuse is given up, with the slot. */
TEST(test_refused)
{
    struct slot *slot = given_back(0, "a");

    live_do("SET later:lock:{nightly}:waiting text");
    enter(slot);
    LIVE_UNTIL(slot_state(slot) == SLOT_FREE);
    ck_assert_uint_eq(line_open(line) + line_entering(line), 0);
}
