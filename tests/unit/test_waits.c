/* test_waits.c: closed gates, and whose turn comes when. */
#include "waits.h"

#include "unit.h"

#include <stdio.h>

static struct waits *waits;

static void set_up(void)
{
    waits = waits_new();
    ck_assert_ptr_nonnull(waits);
}

static void tear_down(void)
{
    waits_free(waits);
    waits_free(NULL);
}

START_TEST(nothing_is_known_at_first)
{
    ck_assert_ptr_null(waits_find(waits, 'l', "a"));
    ck_assert(!waits_closed(NULL, 5));
    ck_assert_double_eq(waits_closed_for(NULL, 5), 0);
}
END_TEST

START_TEST(rows_have_kind_and_name)
{
    struct waits_row *lock = waits_make(waits, 'l', "a", 5),
                     *limit = waits_make(waits, 'm', "a", 5);

    ck_assert_ptr_nonnull(lock);
    ck_assert_ptr_ne(lock, limit);
    ck_assert_ptr_eq(waits_make(waits, 'l', "a", 6), lock);
    ck_assert_ptr_eq(waits_find(waits, 'm', "a"), limit);
    ck_assert_ptr_null(waits_find(waits, 'm', "b"));
}
END_TEST

START_TEST(closed_until_it_is_worth_asking)
{
    struct waits_row *row = waits_make(waits, 'l', "a", 100);

    waits_close(row, 100, 0.5, 2, 1, 1);
    ck_assert(waits_closed(row, 100.4));
    ck_assert(!waits_closed(row, 100.5));
    waits_close(row, 101, 0.5, 2, 1, 1);
    ck_assert_double_eq(waits_closed_for(row, 104), 4); /* from the first no on */
    waits_open(row);
    ck_assert(!waits_closed(row, 101.1));
    ck_assert_double_eq(waits_closed_for(row, 104), 0);
}
END_TEST

START_TEST(turns_are_apart_in_the_order_of_coming)
{
    struct waits_row *row = waits_make(waits, 'l', "a", 100);

    waits_close(row, 100, 0.5, 2, 1, 0.25);
    ck_assert_double_eq(waits_turn(row, 100), 2);
    ck_assert_double_eq(waits_turn(row, 100), 2.25);
    ck_assert_double_eq(waits_turn(row, 101), 1.5);
    /* Closed again: those turns stand, the next one is behind them. */
    waits_close(row, 101, 0.02, 0.2, 1, 0.25);
    ck_assert_double_eq(waits_turn(row, 101), 1.75);
}
END_TEST

/* 3 in 10 s: three when it opens, three more each 10 s. */
START_TEST(a_limit_lets_them_through_at_its_pace)
{
    struct waits_row *row = waits_make(waits, 'm', "a", 100);

    waits_close(row, 100, 4, 4, 3, 10);
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(waits_turn(row, 100), 4 + i / 3 * 10);
    /* Who is refused when it has opened and is full again goes before those that came later. */
    waits_close(row, 104, 10, 10, 3, 10);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(waits_turn(row, 104), 10);
    ck_assert_double_eq(waits_turn(row, 104), 30);
}
END_TEST

START_TEST(nobody_waits_longer_than_the_bound)
{
    struct waits_row *row = waits_make(waits, 'm', "a", 100);
    double least = 1e9, most = 0;
    int same = 0;

    waits_close(row, 100, 86400, 86400, 1, 86400);
    for (int i = 0; i < 2000; i++) {
        double wait = waits_turn(row, 100), again = waits_turn(row, 100);

        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
        same += wait == again;
    }
    ck_assert_double_ge(least, WAITS_MOST / 2);
    ck_assert_double_le(most, WAITS_MOST);
    ck_assert_double_ge(most - least, WAITS_MOST / 2 * 0.9); /* spread */
    ck_assert_int_eq(same, 0);
}
END_TEST

START_TEST(a_turn_in_the_past_is_now)
{
    struct waits_row *row = waits_make(waits, 'l', "a", 100);

    waits_close(row, 100, 0.1, 1, 1, 1);
    ck_assert_double_eq(waits_turn(row, 200), 0);
}
END_TEST

START_TEST(rows_are_bounded_and_forgotten)
{
    char name[20];

    for (int i = 0; i < WAITS_ROWS; i++) {
        snprintf(name, sizeof name, "n%d", i);
        waits_close(waits_make(waits, 'm', name, 100), 100, i % 2 ? 1 : 50, i % 2 ? 1 : 50, 1, 1);
    }
    ck_assert_ptr_null(waits_make(waits, 'm', "one more", 100.5));
    ck_assert_ptr_nonnull(waits_make(waits, 'm', "one more", 110)); /* half of them are over */
    ck_assert_ptr_null(waits_find(waits, 'm', "n1"));
    ck_assert(waits_closed(waits_find(waits, 'm', "n2"), 110));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("waits");
    TCase *tc = tcase_create("waits");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, nothing_is_known_at_first);
    tcase_add_test(tc, rows_have_kind_and_name);
    tcase_add_test(tc, closed_until_it_is_worth_asking);
    tcase_add_test(tc, turns_are_apart_in_the_order_of_coming);
    tcase_add_test(tc, a_limit_lets_them_through_at_its_pace);
    tcase_add_test(tc, nobody_waits_longer_than_the_bound);
    tcase_add_test(tc, a_turn_in_the_past_is_now);
    tcase_add_test(tc, rows_are_bounded_and_forgotten);
    suite_add_tcase(suite, tc);
    return unit_run(suite);
}
