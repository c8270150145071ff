/* test_client_cron.c: later_cron_set(), later_cron_delete(), later_cron_list(). */
#include "tests/unit/live.h"

#include "later/client.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct later_client *client;
static struct later_error err;

static void set_up(void)
{
    live_begin();
    client = live_client();
    ck_assert_ptr_nonnull(client);
}

static void tear_down(void)
{
    later_client_close(client);
    live_end();
}

static struct later_new_schedule report(void)
{
    return (struct later_new_schedule){ .name = "report",
                                        .at = "0 3 * * mon-fri",
                                        .job = { .type = "report.daily" } };
}

/* Sets it, and returns whether that changed anything. */
static int set(const struct later_new_schedule *schedule)
{
    int changed = -1;

    ck_assert_msg(later_cron_set(client, "q", schedule, &changed, &err) == 0, "%s", err.text);
    return changed;
}

LIVE_CASE("client_cron", set_up, tear_down);

TEST(a_plain_one)
{
    struct later_new_schedule schedule = report();

    ck_assert_int_eq(set(&schedule), 1);
    ck_assert_str_eq(live_string("HGET later:{q}:crontab report"),
                     "at=0 3 * * mon-fri\n\n{\"type\":\"report.daily\"}");
    ck_assert_double_gt(live_score("q", "cron", "report"), live_time());
    ck_assert_double_eq(fmod(live_score("q", "cron", "report"), 86400), 3 * 3600);
    ck_assert_int_eq(live_number("SISMEMBER later:queues q"), 1);
    ck_assert_int_eq(set(&schedule), 0);
    schedule.at = "0 4 * * *";
    ck_assert_int_eq(set(&schedule), 1);
    ck_assert_double_eq(fmod(live_score("q", "cron", "report"), 86400), 4 * 3600);
    ck_assert_int_eq(live_number("ZCARD later:{q}:cron"), 1);
}

/* As doc/protocol.md says that it is written. */
TEST(with_all_that_there_is)
{
    struct later_new_schedule schedule = report();

    schedule.zone = "Europe/Berlin";
    schedule.job = (struct later_new_job){ .type = "report.daily",
                                           .payload = "{\"full\":true}",
                                           .priority = 5,
                                           .max_attempts = 2,
                                           .group = "acme",
                                           .expires_in = 60 };
    schedule.catch_up = "all";
    schedule.overlap = "skip";
    schedule.spread = 30;
    schedule.late = -1;
    schedule.from = 2e9 + 0.5;
    schedule.until = 4e9 + 0.5;
    schedule.limit = 9;
    ck_assert_int_eq(set(&schedule), 1);
    ck_assert_str_eq(
        live_string("HGET later:{q}:crontab report"),
        "at=0 3 * * mon-fri\nzone=Europe/Berlin\ncatch_up=all\noverlap=skip\nspread=30\nlate=0\n"
        "priority=5\ngroup=acme\nexpires_in=60\nfrom=2000000001\nuntil=4000000000\nlimit=9\n\n"
        "{\"type\":\"report.daily\",\"max_attempts\":2,\"group\":\"acme\","
        "\"payload\":{\"full\":true}}");
    ck_assert_double_gt(live_score("q", "cron", "report"), 2e9);
}

/* Returns the error's text, with its code. */
static const char *refused(const struct later_new_schedule *schedule, enum later_code code)
{
    ck_assert_int_eq(later_cron_set(client, "q", schedule, NULL, &err), -1);
    ck_assert_msg(err.code == code, "%d: %s", err.code, err.text);
    return err.text;
}

#define REFUSED(code, words, ...)                                                                  \
    do {                                                                                           \
        struct later_new_schedule schedule = report();                                             \
                                                                                                   \
        __VA_ARGS__;                                                                               \
        ck_assert_msg(strstr(refused(&schedule, code), words), "%s", err.text);                    \
    } while (0)

TEST(bad_ones)
{
    REFUSED(LATER_E_DATA, "name: ", schedule.name = NULL);
    REFUSED(LATER_E_DATA, "name: ", schedule.name = "a b");
    REFUSED(LATER_E_DATA, "", schedule.at = NULL);
    REFUSED(LATER_E_DATA, "0 25", schedule.at = "0 25 * * *");
    REFUSED(LATER_E_DATA, "Mars", schedule.zone = "Mars/Olympus");
    REFUSED(LATER_E_DATA, "catch_up: no such word: some", schedule.catch_up = "some");
    REFUSED(LATER_E_DATA, "overlap: no such word: wait", schedule.overlap = "wait");
    REFUSED(LATER_E_DATA, "spread: ", schedule.spread = -1);
    REFUSED(LATER_E_DATA, "late: ", schedule.late = 31536001);
    REFUSED(LATER_E_DATA, "limit: ", schedule.limit = 1000000001);
    REFUSED(LATER_E_DATA, "expires_in: ", schedule.job.expires_in = 0.5);
    REFUSED(LATER_E_DATA, "expires_in: ", schedule.job.expires_in = (double)NAN);
    REFUSED(LATER_E_DATA, "priority: ", schedule.job.priority = 101);
    REFUSED(LATER_E_USAGE, "from: ", schedule.from = 3600);
    REFUSED(LATER_E_USAGE, "until: ", schedule.from = 3e9, schedule.until = 2e9);
    REFUSED(LATER_E_DATA, "id: not for", schedule.job.id = "a");
    REFUSED(LATER_E_DATA, "in: not for", schedule.job.in = 5);
    REFUSED(LATER_E_DATA, "flow: not for", schedule.job.flow = "f");
    REFUSED(LATER_E_DATA, "throttle: not for", schedule.job.throttle = 5);
    REFUSED(LATER_E_DATA, "type", schedule.job.type = "no type");
    REFUSED(LATER_E_DATA, "", schedule.job.payload = "{");
    ck_assert_int_eq(live_number("EXISTS later:{q}:crontab later:queues"), 0);
}

TEST(in_no_queue)
{
    struct later_new_schedule schedule = report();
    struct later_schedules list;

    ck_assert_int_eq(later_cron_set(client, "q/1", &schedule, NULL, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_int_eq(later_cron_delete(client, "q/1", "report", NULL, &err), -1);
    ck_assert_int_eq(later_cron_list(client, "q/1", &list, &err), -1);
    ck_assert_ptr_null(list.schedules);
}

TEST(deleted)
{
    struct later_new_schedule schedule = report();
    int had = -1;

    ck_assert_int_eq(later_cron_delete(client, "q", "report", &had, &err), 0);
    ck_assert_int_eq(had, 0);
    set(&schedule);
    ck_assert_int_eq(later_cron_delete(client, "q", "report", &had, &err), 0);
    ck_assert_int_eq(had, 1);
    ck_assert_int_eq(live_number("EXISTS later:{q}:crontab later:{q}:cron"), 0);
    ck_assert_int_eq(later_cron_delete(client, "q", "a b", &had, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_DATA);
}

TEST(listed)
{
    struct later_new_schedule schedule = report();
    struct later_schedules list;

    ck_assert_int_eq(later_cron_list(client, "q", &list, &err), 0);
    ck_assert_uint_eq(list.count, 0);
    later_schedules_free(&list);
    schedule.zone = "Europe/Berlin";
    set(&schedule);
    schedule = (struct later_new_schedule){ .name = "often", .at = "@every 90s", .job.type = "a" };
    set(&schedule);
    schedule.name = "over";
    schedule.until = 1e9;
    set(&schedule);
    live_do("HSET later:{q}:crontab over:state %s", "origin=config:web1:abc\npaused=1\n");
    ck_assert_int_eq(later_cron_list(client, "q", &list, &err), 0);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_str_eq(list.schedules[0].name, "often");
    ck_assert_str_eq(list.schedules[0].zone, "UTC");
    ck_assert_double_eq(list.schedules[0].next, live_score("q", "cron", "often"));
    ck_assert_str_eq(list.schedules[1].at, "0 3 * * mon-fri");
    ck_assert_str_eq(list.schedules[1].zone, "Europe/Berlin");
    ck_assert_str_eq(list.schedules[1].origin, "set");
    ck_assert_int_eq(list.schedules[1].paused, 0);
    ck_assert_str_eq(list.schedules[2].name, "over");
    ck_assert_double_eq(list.schedules[2].next, 0);
    ck_assert_int_eq(list.schedules[2].paused, 1);
    ck_assert_str_eq(list.schedules[2].origin, "config:web1:abc");
    later_schedules_free(&list);
    ck_assert_uint_eq(list.count, 0);
}

/* More than an answer of Redis has. */
TEST(many)
{
    struct later_new_schedule schedule = report();
    struct later_schedules list;
    char name[16];

    for (int i = 0; i < 501; i++) {
        snprintf(name, sizeof name, "s%d", i);
        schedule.name = name;
        set(&schedule);
    }
    ck_assert_int_eq(later_cron_list(client, "q", &list, &err), 0);
    ck_assert_uint_eq(list.count, 501);
    later_schedules_free(&list);
}

TEST(redis_is_away)
{
    struct later_new_schedule schedule = report();
    struct later_client *other = later_client_open("unix:/nowhere", &err);
    struct later_schedules list;

    ck_assert_ptr_nonnull(other);
    ck_assert_int_eq(later_cron_set(other, "q", &schedule, NULL, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_int_eq(later_cron_delete(other, "q", "report", NULL, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_int_eq(later_cron_list(other, "q", &list, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    later_client_close(other);
}
