/* test_web_notices.c: each trouble's begin and end is told once, and tried again if it was not
 * taken. */
#include "notify/notices.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer(struct notices *notices, const char *const rules[], int count)
{
    char line[300];

    for (int i = 0; rules && rules[i]; i++) {
        snprintf(
            line, sizeof line,
            "{\"rule\":\"%s\",\"severity\":\"info\",\"queue\":\"q\",\"host\":null,\"type\":null,"
            "\"since\":5,\"count\":%d,\"text\":\",\\\"since\\\":\"}",
            rules[i], count);
        notices_line(notices, line, strlen(line));
    }
    notices_end(notices, NULL);
}
#define ANSWER(notices, count, ...)                                                                \
    answer(notices, (const char *const[]){ __VA_ARGS__, NULL }, count)

/* Returns "EVENT RULE COUNT" of what is to be told, "" = nothing. Static. */
static const char *next(struct notices *notices, double now)
{
    static char text[100];
    char *all = notices_next(notices, now), event[20], id[20], rule[20];
    int count;

    text[0] = '\0';
    if (all) {
        ck_assert_int_eq(
            sscanf(all, "{\"event\":\"%19[a-z]\",\"id\":\"%19[0-9a-f]\",\"rule\":\"%19[a-z_]\"",
                   event, id, rule),
            3);
        ck_assert_uint_eq(strlen(id), 16);
        ck_assert_int_eq(strstr(all, "\"text\":\"over: ") != NULL,
                         strcmp(event, "end") == 0 && strstr(all, "\"text\":"));
        ck_assert_int_eq(sscanf(strstr(all, "\"count\":"), "\"count\":%d", &count), 1);
        snprintf(text, sizeof text, "%s %s %d", event, rule, count);
    }
    free(all);
    return text;
}

static void tells(struct notices *notices, const char *wanted)
{
    ck_assert_str_eq(next(notices, 100), wanted);
    ck_assert_str_eq(next(notices, 100), ""); /* one at a time */
    if (*wanted)
        ck_assert(notices_told(notices, true, 100));
}

TEST(once)
{
    struct notices *notices = notices_new();

    tells(notices, "");
    ANSWER(notices, 1, "behind", "failing");
    tells(notices, "begin behind 1");
    tells(notices, "begin failing 1");
    ANSWER(notices, 2, "failing", "behind");
    tells(notices, "");
    ANSWER(notices, 3, "failing");
    tells(notices, "");
    ANSWER(notices, 4, "behind"); /* it was only missing in one */
    tells(notices, "");
    ANSWER(notices, 5, "behind");
    tells(notices, "end failing 3");
    answer(notices, NULL, 0);
    answer(notices, NULL, 0);
    ANSWER(notices, 6, "behind"); /* back before its end was told */
    tells(notices, "");
    answer(notices, NULL, 0);
    answer(notices, NULL, 0);
    tells(notices, "end behind 6");
    tells(notices, "");
    ANSWER(notices, 7, "behind");
    tells(notices, "begin behind 7");
    notices_free(notices);
}

TEST(comes_back_meanwhile)
{
    struct notices *notices = notices_new();

    ANSWER(notices, 1, "behind");
    tells(notices, "begin behind 1");
    answer(notices, NULL, 0);
    answer(notices, NULL, 0);
    ck_assert_str_eq(next(notices, 100), "end behind 1");
    ANSWER(notices, 2, "behind"); /* while that is on its way */
    ck_assert(notices_told(notices, true, 100));
    ANSWER(notices, 3, "behind");
    tells(notices, "begin behind 3");
    notices_free(notices);
}

TEST(redis_away)
{
    struct notices *notices = notices_new();

    ANSWER(notices, 1, "behind");
    tells(notices, "begin behind 1");
    notices_end(notices, "\"no route\"");
    tells(notices, ""); /* once is no trouble */
    for (int i = 0; i < 5; i++)
        notices_end(notices, "\"no route\"");
    tells(notices, "begin redis_away 0");
    tells(notices, ""); /* what is not known has not ended */
    ANSWER(notices, 1, "behind");
    tells(notices, "");
    ANSWER(notices, 1, "behind");
    tells(notices, "end redis_away 0");
    tells(notices, "");
    notices_free(notices);
}

TEST(bounded)
{
    struct notices *notices = notices_new();
    double now = 0, first;
    int tries = 0;

    ANSWER(notices, 1, "behind");
    do {
        while (!*next(notices, now))
            now += 0.5;
    } while (++tries < 100 && notices_told(notices, false, now));
    ck_assert_int_eq(tries, NOTICES_TRIES);
    ck_assert_double_ge(now, 15 * 60);
    ck_assert_double_le(now, 20 * 60);
    answer(notices, NULL, 0);
    answer(notices, NULL, 0);
    ck_assert_str_eq(next(notices, now), "end behind 1"); /* a new one, with tries of its own */
    first = now;
    ck_assert(notices_told(notices, false, now));
    while (!*next(notices, now))
        now += 0.5;
    ck_assert_double_eq(now - first, 1);
    notices_free(notices);
}

/* An answer with so many lines, from this number on. One of them is left out. */
static void answer_many(struct notices *notices, int first, int count, int without)
{
    char line[100];

    for (int i = first; count > 0; i++) {
        if (i == without)
            continue;
        snprintf(line, sizeof line,
                 "{\"rule\":\"r_%c\",\"queue\":\"q%d\",\"since\":1,\"count\":%d}",
                 i < NOTICES_MAX ? 'a' : 'b', i, i);
        notices_line(notices, line, strlen(line));
        count--;
    }
    notices_end(notices, NULL);
}

/* All begins are told. */
static void begin_many(struct notices *notices)
{
    answer_many(notices, 0, NOTICES_MAX, -1);
    for (int i = 0; i < NOTICES_MAX; i++) {
        ck_assert_str_ne(next(notices, 100), "");
        ck_assert(notices_told(notices, true, 100));
    }
    tells(notices, "");
}

TEST(many)
{
    struct notices *notices = notices_new();

    begin_many(notices);
    answer_many(notices, NOTICES_MAX, NOTICES_MAX, -1);
    answer_many(notices, NOTICES_MAX, NOTICES_MAX, -1);
    notices_end(notices, "\"away\"");
    notices_end(notices, "\"away\"");
    tells(notices, "begin redis_away 0"); /* it has a place of its own */
    ANSWER(notices, 1, "behind");
    tells(notices, ""); /* what was not named may be there nevertheless, until all are */
    ANSWER(notices, 1, "behind");
    tells(notices, "end r_a 0");
    notices_free(notices);
}

TEST(ends_among_many)
{
    struct notices *notices = notices_new();

    begin_many(notices);
    answer_many(notices, 0, NOTICES_MAX, 300); /* another one is named in its place, */
    tells(notices, "");
    answer_many(notices, 0, NOTICES_MAX, 300);
    tells(notices, "end r_a 300");
    answer_many(notices, 0, NOTICES_MAX, 300); /* and has room now */
    tells(notices, "begin r_b 1000");
    for (int i = 0; i < 4; i++) /* worse ones come: the last two may be there nevertheless */
        answer_many(notices, -2, NOTICES_MAX, 300);
    tells(notices, "");
    notices_end(notices, "\"away\"");
    notices_end(notices, "\"away\"");
    tells(notices, "begin redis_away 0");
    answer_many(notices, 0, NOTICES_MAX, 300);
    answer_many(notices, 0, NOTICES_MAX, 300);
    tells(notices, "end redis_away 0");
    tells(notices, "");
    notices_free(notices);
}
