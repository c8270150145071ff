/* test_put_off.c: of the jobs that have entered a line all but the last few are put off, in their
 * queues. */
#include "worker/put_off.h"

#include "base/clock.h"
#include "tests/unit/live.h"
#include "reservation/line.h"

#include <stdio.h>

#define DUE  4000000000.25
#define JOBS 150 /* in each of two queues: more than one call */

static struct backlog *backlog;
static struct backlog_row *row;
static struct put_off *off;

static void set_up(void)
{
    live_begin();
    live_loop(NULL);
    backlog = backlog_new();
    row = backlog_make(backlog, 'p', "n", 0);
    row->waiting = 100000;
    row->spread = 1; /* none of them is told to look at once */
    off = put_off_new(live_link, "later", backlog);
    ck_assert_ptr_nonnull(off);
}

static void tear_down(void)
{
    live_unlink();
    put_off_free(off);
    put_off_free(NULL);
    backlog_free(backlog);
    live_unloop();
    live_end();
}

/* The i-th job has gone into the line. Returns whether there are enough for a call. */
static bool enters(const char *queue, int i)
{
    line_waiter waiter;
    char record[60];

    live_do("ZADD later:{%s}:delayed %.2f j%d", queue, DUE, i);
    snprintf(record, sizeof record, "l=%.6f p n\n", DUE);
    live_do("HSET later:{%s}:records j%d %s", queue, i, record);
    snprintf(waiter, sizeof waiter, "%s j%d", queue, i);
    return put_off_enter(off, row, waiter, DUE);
}

/* How many of a queue's jobs are due when they were at first. */
static long long left(const char *queue)
{
    return live_number("ZCOUNT later:{%s}:delayed %.2f %.2f", queue, DUE, DUE);
}

static void send_all(void)
{
    put_off_send(off, later_clock(), DUE - 100);
    link_flush(live_link);
}

LIVE_CASE("put_off", set_up, tear_down);

/* The last ones of the line stay, whatever queue they are of. */
TEST(test_all_but_the_last)
{
    int calls = 0;

    for (int i = 0; i < JOBS; i++) {
        calls += enters("q", i);
        calls += enters("r", i);
    }
    ck_assert_int_ge(calls, 1);
    send_all();
    LIVE_UNTIL(left("q") + left("r") == BACKLOG_LAST);
    ck_assert_int_eq(left("q"), BACKLOG_LAST / 2);
    ck_assert_double_eq(live_score("q", "delayed", "j149"), DUE);
    ck_assert_str_ne(live_noted("q", "l", "j0"), live_noted("q", "l", "j149"));
    enters("q", JOBS);
    send_all();
    LIVE_UNTIL(left("q") + left("r") == BACKLOG_LAST);
    ck_assert_int_eq(left("r"), BACKLOG_LAST / 2);
}

/* So few are in the line that it would not be worth it. */
TEST(test_short_line)
{
    for (int i = 0; i < JOBS; i++)
        enters("q", i);
    row->waiting = 3;
    send_all();
    row->waiting = 100000;
    send_all(); /* they are forgotten, too */
    enters("r", 0);
    for (int i = 0; i < BACKLOG_LAST; i++)
        enters("r", i + 1);
    send_all();
    LIVE_UNTIL(left("r") == BACKLOG_LAST);
    ck_assert_int_eq(left("q"), JOBS - BACKLOG_LAST); /* which were the last, until others came */
}

/* Those that were sent no longer count: the bound is of what enters between two calls. */
TEST(test_more_than_are_kept)
{
    for (int i = 0; i < PUT_OFF_MOST + JOBS; i++) {
        if (enters("q", i))
            send_all();
    }
    send_all();
    LIVE_UNTIL(left("q") == BACKLOG_LAST);
}
