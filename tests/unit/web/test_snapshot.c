/* test_web_snapshot.c: each change is reported once, and every queue gets its turn. */
#include "live/snapshot.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void see(struct snapshot *snapshot, const char *name, int ready, const char *oldest,
                double now)
{
    char line[200];

    snprintf(line, sizeof line, "{\"queue\":\"%s\",\"ready\":%d,\"oldest_ready\":%s,\"served\":1}",
             name, ready, oldest);
    ck_assert_msg(snapshot_see(snapshot, line, strlen(line), now), "%s", line);
}

/* Static. */
static const char *written(const struct snapshot *snapshot, bool all, double now)
{
    static char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");

    snapshot_write(snapshot, out, all, now);
    fclose(out);
    return text;
}

TEST(changes)
{
    struct snapshot *snapshot = snapshot_new();

    snapshot_list(snapshot);
    see(snapshot, "b", 1, "2.5", 100);
    see(snapshot, "a", 0, "null", 100);
    snapshot_listed(snapshot);
    ck_assert_str_eq(
        written(snapshot, true, 101),
        "\"queues\":[{\"age\":1.0,\"queue\":\"a\",\"ready\":0,\"oldest_ready\":null,\"served\":1},"
        "{\"age\":1.0,\"queue\":\"b\",\"ready\":1,\"oldest_ready\":2.5,\"served\":1}]");
    snapshot_told(snapshot);
    see(snapshot, "b", 1, "12.5", 110); /* older by itself */
    see(snapshot, "a", 0, "null", 110);
    ck_assert_str_eq(written(snapshot, false, 110), "\"queues\":[],\"gone\":[]");
    see(snapshot, "b", 1, "4", 120); /* another one is the oldest now */
    ck_assert_str_eq(written(snapshot, false, 120),
                     "\"queues\":[{\"age\":0.0,\"queue\":\"b\",\"ready\":1,\"oldest_ready\":4,"
                     "\"served\":1}],\"gone\":[]");
    snapshot_told(snapshot);
    see(snapshot, "b", 1, "null", 120);
    see(snapshot, "a", 7, "null", 120);
    ck_assert(strstr(written(snapshot, false, 120), "\"a\",\"ready\":7"));
    ck_assert(strstr(written(snapshot, false, 120), "\"b\",\"ready\":1,\"oldest_ready\":null"));
    snapshot_told(snapshot);
    snapshot_list(snapshot);
    snapshot_name(snapshot, "a", 1);
    snapshot_name(snapshot, "c", 1);
    snapshot_listed(snapshot);
    ck_assert_str_eq(written(snapshot, false, 120), "\"queues\":[],\"gone\":[\"b\"]");
    snapshot_told(snapshot);
    ck_assert_uint_eq(snapshot_count(snapshot), 2);
    snapshot_free(snapshot);
}

TEST(other_lines)
{
    static const char *const others[] = { "",
                                          "{}",
                                          "{\"host\":\"a\",\"queue\":\"b\"}",
                                          "{\"queue\":\"\"}",
                                          "{\"queue\":\"a",
                                          "{\"queue\":1}" };
    struct snapshot *snapshot = snapshot_new();

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!snapshot_see(snapshot, others[i], strlen(others[i]), 1), "%s", others[i]);
    ck_assert_uint_eq(snapshot_count(snapshot), 0);
    snapshot_free(snapshot);
}

/* 200 queues, 13 a second, of which five change all the time. */
TEST(turns)
{
    double longest = 0, busy = 0, last[200] = { 0 };
    struct snapshot *snapshot = snapshot_new();
    const char *names[13];
    char name[16];

    snapshot_list(snapshot);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "q%d", i);
        see(snapshot, name, 0, "null", 0.5);
    }
    snapshot_listed(snapshot);
    for (int second = 1; second <= 300; second++) {
        size_t count = snapshot_due(snapshot, second, names, 13);

        ck_assert_uint_eq(count, 13);
        for (size_t n = 0; n < count; n++) {
            int i = atoi(names[n] + 1);
            double *worst = i < 5 ? &busy : &longest;

            snprintf(name, sizeof name, "%s", names[n]); /* theirs is borrowed */
            if (second > 60 && second - last[i] > *worst)
                *worst = second - last[i];
            last[i] = second;
            see(snapshot, name, i < 5 ? second : 0, "null", second);
        }
    }
    ck_assert_msg(longest <= 2 * 200 / 13.0, "%g", longest);
    ck_assert_msg(busy <= 3, "%g", busy);
    snapshot_hurry(snapshot, "q100");
    ck_assert_uint_eq(snapshot_due(snapshot, 301, names, 1), 1);
    ck_assert_str_eq(names[0], "q100");
    see(snapshot, "q100", 0, "null", 301);
    ck_assert_uint_eq(snapshot_due(snapshot, 302, names, 1), 1);
    ck_assert_str_eq(names[0], "q100"); /* the first look may not have seen it */
    ck_assert_uint_eq(snapshot_due(snapshot, 303, names, 13), 13);
    snapshot_free(snapshot);
}

/* It does not matter that the others change all the time, and the clock has just begun. */
TEST(new_ones_first)
{
    struct snapshot *snapshot = snapshot_new();
    const char *names[2];
    char name[16];

    snapshot_list(snapshot);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "q%d", i);
        see(snapshot, name, 0, "null", 0.5);
        see(snapshot, name, 1, "null", 1);
    }
    snapshot_name(snapshot, "z", 1);
    snapshot_listed(snapshot);
    ck_assert_uint_eq(snapshot_due(snapshot, 10, names, 2), 2);
    ck_assert_str_eq(names[0], "z");
    ck_assert_str_ne(names[1], "z");
    snapshot_free(snapshot);
}

TEST(few)
{
    struct snapshot *snapshot = snapshot_new();
    const char *names[13];

    ck_assert_uint_eq(snapshot_due(snapshot, 1, names, 13), 0);
    snapshot_list(snapshot);
    snapshot_name(snapshot, "only", 4);
    snapshot_listed(snapshot);
    ck_assert_uint_eq(snapshot_due(snapshot, 2, names, 13), 1); /* not twice in one question */
    ck_assert_uint_eq(snapshot_due(snapshot, 3, names, 13), 1);
    snapshot_free(snapshot);
}
