/* test_backlog.c: what was not free, and whose turn comes when. */
#include "worker/backlog.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>

static struct backlog *backlog;

static void set_up(void)
{
    backlog = backlog_new();
    ck_assert_ptr_nonnull(backlog);
}

static void tear_down(void)
{
    backlog_free(backlog);
    backlog_free(NULL);
}

CASE("backlog", set_up, tear_down);

TEST(nothing_is_known_at_first)
{
    ck_assert_ptr_null(backlog_find(backlog, 'l', "a"));
}

TEST(rows_have_kind_and_name)
{
    struct backlog_row *lock = backlog_make(backlog, 'l', "a", 5),
                       *limit = backlog_make(backlog, 'm', "a", 5);

    ck_assert_ptr_nonnull(lock);
    ck_assert_ptr_ne(lock, limit);
    ck_assert_ptr_eq(backlog_make(backlog, 'l', "a", 6), lock);
    ck_assert_ptr_eq(backlog_find(backlog, 'm', "a"), limit);
    ck_assert_ptr_null(backlog_find(backlog, 'm', "b"));
}

/* 3 in 10 s: three when it opens, three more each 10 s; each a second after its turn. */
TEST(a_limit_has_turns)
{
    struct backlog_row *row = backlog_make(backlog, 'm', "a", 100);

    row->max = 3;
    row->per = 10;
    row->opens = 104;
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(backlog_wait(row, 100, -1), 4 + i / 3 * 10 + 1);
    ck_assert_double_eq(backlog_wait(row, 200, -1), 31); /* it has opened */
}

TEST(nobody_waits_longer_than_the_bound)
{
    struct backlog_row *row = backlog_make(backlog, 'm', "a", 100);
    double least = 1e9, most = 0;

    row->opens = 86500;
    row->per = 86400;
    for (int i = 0; i < 2000; i++) {
        double wait = backlog_wait(row, 100, -1);

        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
    }
    ck_assert_double_ge(least, BACKLOG_MOST / 3);
    ck_assert_double_le(most, BACKLOG_MOST);
    ck_assert_double_ge(most - least, BACKLOG_MOST / 2 * 0.9); /* spread */
}

TEST(rows_are_bounded_and_forgotten)
{
    char name[20];

    for (int i = 0; i < BACKLOG_ROWS; i++) {
        snprintf(name, sizeof name, "n%d", i);
        backlog_make(backlog, 'm', name, 100)->shut = i % 2 ? 101 : 150;
    }
    ck_assert_ptr_null(backlog_make(backlog, 'm', "one more", 100.5));
    ck_assert_ptr_nonnull(backlog_make(backlog, 'm', "one more", 110)); /* half of them are over */
    ck_assert_ptr_null(backlog_find(backlog, 'm', "n1"));
    ck_assert_ptr_nonnull(backlog_find(backlog, 'm', "n2"));
}

static void look(void *arg, struct backlog_row *row)
{
    *(size_t *)arg += row->waiting;
    row->look += 10;
}

/* A line is remembered for as long as somebody waits in it, and looked at when it is time. */
TEST(lines_are_looked_after)
{
    struct backlog_row *line = backlog_make(backlog, 'p', "line", 100);
    char name[20];
    size_t sum = 0;

    ck_assert_double_eq(backlog_each(backlog, 100, look, &sum), 0);
    line->waiting = 7;
    line->look = 101;
    for (int i = 0; i < BACKLOG_ROWS; i++) {
        snprintf(name, sizeof name, "n%d", i);
        ck_assert_ptr_nonnull(backlog_make(backlog, 'l', name, 100 + i));
    }
    ck_assert_double_eq(backlog_each(backlog, 100, look, &sum), 101);
    ck_assert_uint_eq(sum, 0);
    ck_assert_double_eq(backlog_each(backlog, 101, look, &sum), 111);
    ck_assert_uint_eq(sum, 7);
}

/* A few look again soon. Of many, only so many in a second; and of very many, no more come back
 * together than at any other time. */
TEST(looks_in_a_line)
{
    struct backlog_row *line = backlog_make(backlog, 'p', "line", 100);
    double sum = 0, least = 1e9, most = 0;

    ck_assert_double_eq(backlog_wait(line, 100, -1), 5);
    ck_assert_uint_eq(line->waiting, 1);
    line->waiting = 999;
    ck_assert_double_eq(backlog_wait(line, 100, -1), 100);
    for (int i = 0; i < 1024; i++) {
        double wait;

        line->waiting = 100000;
        wait = backlog_wait(line, 100, -1);
        least = fmin(least, wait);
        most = fmax(most, wait);
        sum += wait;
    }
    ck_assert_double_ge(least, BACKLOG_MOST / 3);
    ck_assert_double_le(least, BACKLOG_MOST / 3 + 1);
    ck_assert_double_le(most, BACKLOG_MOST);
    ck_assert_double_ge(most, BACKLOG_MOST - 1);
    ck_assert_double_eq_tol(sum / 1024, BACKLOG_MOST * 2 / 3, 1);
}

/* The mean of what 1024 jobs of `waiting` wait, `behind` others each. */
static double mean_wait(size_t waiting, int64_t behind, double most)
{
    struct backlog_row *line = backlog_make(backlog, 'p', "line", 100);
    double sum = 0;

    for (int i = 0; i < 1024; i++) {
        double wait;

        line->waiting = waiting - 1;
        wait = backlog_wait(line, 100, behind);
        ck_assert_double_ge(wait, 5);
        ck_assert_double_le(wait, most);
        sum += wait;
    }
    return sum / 1024;
}

/* Of those that the line knows, less than one looks in a second, however many there are; some of
 * them soon. The last few look within a minute. */
TEST(known_jobs_look_rarely)
{
    struct backlog_row *limit = backlog_make(backlog, 'm', "limit", 100);

    for (size_t waiting = 1; waiting <= 100000; waiting *= 10) {
        double last = mean_wait(waiting, 0, BACKLOG_SOON);
        double other = mean_wait(waiting, BACKLOG_LAST, BACKLOG_LONG);

        ck_assert_double_le((double)waiting / other + BACKLOG_LAST / 30.0, 1);
        ck_assert_double_le(last, waiting < 10 ? 10 : 31);
    }
    ck_assert_double_ge(mean_wait(10000000, 1000, BACKLOG_LONG), BACKLOG_LONG * 0.49);
    limit->per = 10;
    limit->opens = 104;
    ck_assert_double_eq(backlog_wait(limit, 100, 9), 5); /* a limit has turns all the same */
    limit->waiting = 100000;
    ck_assert_double_gt(backlog_wait(limit, 100, 9) + backlog_wait(limit, 100, 9), BACKLOG_MOST);
}

/* A job that is in the line, and is not one of the last, looks as rarely as one that has been told
 * so. */
TEST(who_is_in_the_line_looks_later)
{
    struct backlog_row *line = backlog_make(backlog, 'p', "line", 100),
                       *limit = backlog_make(backlog, 'm', "limit", 100);
    double sum = 0;

    line->waiting = 100000;
    for (int i = 0; i < 1024; i++)
        sum += backlog_later(line, 100);
    ck_assert_double_ge(sum / 1024, 100000);
    ck_assert_uint_eq(line->waiting, 100000);
    limit->per = 10;
    limit->opens = 104;
    limit->waiting = 29;
    ck_assert_double_eq(backlog_later(limit, 100), 0); /* it has a turn */
    limit->waiting = 100000;
    ck_assert_double_gt(backlog_later(limit, 100) + backlog_later(limit, 100), BACKLOG_MOST);
}
