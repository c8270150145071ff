/* test_web_board.c: each change is reported once, and every queue gets its turn. */
#include "board.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static void see(struct board *board, const char *name, int ready, const char *oldest, double now)
{
    char line[200];

    snprintf(line, sizeof line, "{\"queue\":\"%s\",\"ready\":%d,\"oldest_ready\":%s,\"served\":1}",
             name, ready, oldest);
    ck_assert_msg(board_see(board, line, strlen(line), now), "%s", line);
}

/* Static. */
static const char *written(const struct board *board, bool all, double now)
{
    static char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");

    board_write(board, out, all, now);
    fclose(out);
    return text;
}

START_TEST(changes)
{
    struct board *board = board_new();

    board_list(board);
    see(board, "b", 1, "2.5", 100);
    see(board, "a", 0, "null", 100);
    board_listed(board);
    ck_assert_str_eq(
        written(board, true, 101),
        "\"queues\":[{\"age\":1.0,\"queue\":\"a\",\"ready\":0,\"oldest_ready\":null,\"served\":1},"
        "{\"age\":1.0,\"queue\":\"b\",\"ready\":1,\"oldest_ready\":2.5,\"served\":1}]");
    board_told(board);
    see(board, "b", 1, "12.5", 110); /* older by itself */
    see(board, "a", 0, "null", 110);
    ck_assert_str_eq(written(board, false, 110), "\"queues\":[],\"gone\":[]");
    see(board, "b", 1, "4", 120); /* another one is the oldest now */
    ck_assert_str_eq(written(board, false, 120),
                     "\"queues\":[{\"age\":0.0,\"queue\":\"b\",\"ready\":1,\"oldest_ready\":4,"
                     "\"served\":1}],\"gone\":[]");
    board_told(board);
    see(board, "b", 1, "null", 120);
    see(board, "a", 7, "null", 120);
    ck_assert(strstr(written(board, false, 120), "\"a\",\"ready\":7"));
    ck_assert(strstr(written(board, false, 120), "\"b\",\"ready\":1,\"oldest_ready\":null"));
    board_told(board);
    board_list(board);
    board_name(board, "a", 1);
    board_name(board, "c", 1);
    board_listed(board);
    ck_assert_str_eq(written(board, false, 120), "\"queues\":[],\"gone\":[\"b\"]");
    board_told(board);
    ck_assert_uint_eq(board_count(board), 2);
    board_free(board);
}
END_TEST

START_TEST(other_lines)
{
    static const char *const others[] = { "",
                                          "{}",
                                          "{\"host\":\"a\",\"queue\":\"b\"}",
                                          "{\"queue\":\"\"}",
                                          "{\"queue\":\"a",
                                          "{\"queue\":1}" };
    struct board *board = board_new();

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!board_see(board, others[i], strlen(others[i]), 1), "%s", others[i]);
    ck_assert_uint_eq(board_count(board), 0);
    board_free(board);
}
END_TEST

/* 200 queues, 13 a second, of which five change all the time. */
START_TEST(turns)
{
    double longest = 0, busy = 0, last[200] = { 0 };
    struct board *board = board_new();
    const char *names[13];
    char name[16];

    board_list(board);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "q%d", i);
        see(board, name, 0, "null", 0.5);
    }
    board_listed(board);
    for (int second = 1; second <= 300; second++) {
        size_t count = board_due(board, second, names, 13);

        ck_assert_uint_eq(count, 13);
        for (size_t n = 0; n < count; n++) {
            int i = atoi(names[n] + 1);
            double *worst = i < 5 ? &busy : &longest;

            snprintf(name, sizeof name, "%s", names[n]); /* theirs is borrowed */
            if (second > 60 && second - last[i] > *worst)
                *worst = second - last[i];
            last[i] = second;
            see(board, name, i < 5 ? second : 0, "null", second);
        }
    }
    ck_assert_msg(longest <= 2 * 200 / 13.0, "%g", longest);
    ck_assert_msg(busy <= 3, "%g", busy);
    board_hurry(board, "q100");
    ck_assert_uint_eq(board_due(board, 301, names, 1), 1);
    ck_assert_str_eq(names[0], "q100");
    ck_assert_uint_eq(board_due(board, 302, names, 13), 13);
    board_free(board);
}
END_TEST

START_TEST(few)
{
    struct board *board = board_new();
    const char *names[13];

    ck_assert_uint_eq(board_due(board, 1, names, 13), 0);
    board_list(board);
    board_name(board, "only", 4);
    board_listed(board);
    ck_assert_uint_eq(board_due(board, 2, names, 13), 1); /* not twice in one question */
    ck_assert_uint_eq(board_due(board, 3, names, 13), 1);
    board_free(board);
}
END_TEST

static TCase *all(void)
{
    TCase *tc = tcase_create("board");

    tcase_add_test(tc, changes);
    tcase_add_test(tc, other_lines);
    tcase_add_test(tc, turns);
    tcase_add_test(tc, few);
    return tc;
}

UNIT_MAIN("web_board", all)
