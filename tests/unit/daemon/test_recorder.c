/* test_recorder.c: what slot pages have counted gets into Redis once, whatever happens. */
#include "queues/recorder_inner.h"

#include "client/call.h"
#include "tests/unit/live.h"
#include "tests/unit/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOON 1764000000.0 /* any time: a multiple of an hour */

static struct recorder *recorder, *other;
static struct queues *others;
static struct later_client *client;
static struct later_keys keys;
static struct slots *page;
static struct later_error err;

/* Of another laterd. */
static struct queues *make_others(const char *host)
{
    const struct queues_options options = { .host = host };
    struct queues *queues = queues_new(live_base, &live_config, live_link, &options);

    ck_assert(queues && recorder_new(queues, &err) == 0);
    return queues;
}

static void set_up(void)
{
    live_begin();
    client = live_client();
    later_keys_init(&keys, "later", "q");
    live_loop(NULL);
    live_config.history = true;
    page = page_new(4);
    live_queues->options.host = "one";
    ck_assert(client && recorder_new(live_queues, &err) == 0);
    recorder = live_queues->recorder;
    others = make_others("other");
    other = others->recorder;
}

static void tear_down(void)
{
    live_unlink();
    recorder_free(others);
    queues_free(others);
    page_free_all();
    live_unloop();
    later_client_close(client);
    live_end();
}

/* So many attempts of a type in queue q end well. */
static void attempt(struct slots *slots, const char *type, int times)
{
    struct counts *row = counts_row(&slots->page->counts, 0, type, NULL);

    for (int i = 0; i < times; i++)
        counts_add(row, LATER_OUTCOME_DONE, 0.5, 2);
}

/* What Redis has: all done of a type in a period, or in the totals. */
static uint64_t done_in(enum later_scale scale, int64_t period, const char *type)
{
    struct later_tallies tallies = { 0 };
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    const struct later_tally *row;
    uint64_t count;

    if (period < 0)
        later_history_ask_totals(&cmd, &keys);
    else
        later_history_ask(&cmd, &keys, scale, period);
    reply = later_call(client, &cmd, 0, true, &err);
    ck_assert_msg(reply != NULL, "%s", err.text);
    later_history_read(&tallies, reply);
    row = later_tallies_find(&tallies, type);
    count = row ? row->outcomes[LATER_OUTCOME_DONE] : 0;
    if (row) {
        ck_assert_uint_eq(row->wait.count[later_bucket(0.5)], count);
        ck_assert_uint_eq(row->run_us, 2000000 * count);
    }
    later_tallies_free(&tallies);
    later_reply_free(reply);
    return count;
}

static uint64_t minute(double now, const char *type)
{
    return done_in(LATER_BY_MINUTE, later_period(LATER_BY_MINUTE, now), type);
}

static uint64_t totals(const char *type)
{
    return done_in(LATER_SCALES, -1, type);
}

static void write_all(struct recorder *of, double now)
{
    recorder_write(of, now);
    recorder_end(of, now); /* even what is not due yet */
    LIVE_UNTIL(!recorder_open(of));
}

LIVE_CASE("records", set_up, tear_down);

TEST(counts_come_into_each_scale)
{
    attempt(page, "mail", 3);
    recorder_read(recorder, page, &live_config.pools[0]);
    write_all(recorder, NOON);
    ck_assert_uint_eq(minute(NOON, "mail"), 3);
    recorder_read(recorder, page, NULL);
    write_all(recorder, NOON); /* nothing is new: nothing is counted twice */
    attempt(page, "mail", 2);
    attempt(page, "sms", 1);
    recorder_read(recorder, page, NULL);
    write_all(recorder, NOON + 59.9);
    ck_assert_uint_eq(minute(NOON, "mail"), 5);
    ck_assert_uint_eq(minute(NOON, "sms"), 1);
    attempt(page, "mail", 10);
    recorder_read(recorder, page, NULL);
    write_all(recorder, NOON + 60); /* of the second before: still the first minute's */
    attempt(page, "mail", 100);
    recorder_read(recorder, page, NULL);
    write_all(recorder, NOON + 61);
    ck_assert_uint_eq(minute(NOON, "mail"), 15);
    ck_assert_uint_eq(minute(NOON + 61, "mail"), 100);
    ck_assert_uint_eq(done_in(LATER_BY_TEN, later_period(LATER_BY_TEN, NOON), "mail"), 115);
    ck_assert_uint_eq(done_in(LATER_BY_HOUR, later_period(LATER_BY_HOUR, NOON), "mail"), 115);
    ck_assert_uint_eq(totals("mail"), 115);
    ck_assert_uint_eq(totals("sms"), 1);
    ck_assert_int_gt(live_number("PTTL later:{q}:minute:%lld", (long long)(NOON / 60)), 0);
    ck_assert_int_eq(live_number("PTTL later:{q}:totals"), -1);
    ck_assert_int_eq(live_number("EXISTS later:{r}:totals"), 0);
}

TEST(a_second_without_attempts_costs_nothing)
{
    long long before;

    attempt(page, "mail", 3);
    recorder_read(recorder, page, &live_config.pools[0]);
    write_all(recorder, NOON);
    before = live_calls();
    for (int i = 1; i < 50; i++) {
        recorder_read(recorder, page, NULL);
        write_all(recorder, NOON + i);
    }
    ck_assert_int_eq(live_calls(), before);
}

TEST(a_dead_workers_page_is_read_to_the_end)
{
    attempt(page, "mail", 3);
    recorder_leave(recorder, page); /* it was never read before */
    write_all(recorder, NOON);
    ck_assert_uint_eq(totals("mail"), 3);
    ck_assert_ptr_null(recorder->pages);
}

TEST(redis_is_away_for_minutes)
{
    attempt(page, "mail", 1);
    recorder_read(recorder, page, &live_config.pools[0]);
    write_all(recorder, NOON);
    later_redis_disconnect(link_redis(live_link), "a test");
    for (int i = 0; i < 20; i++) {
        attempt(page, "mail", 1);
        recorder_read(recorder, page, NULL);
        recorder_write(recorder, NOON + 60.0 * i);
    }
    LIVE_UNTIL(link_is_up(live_link));
    write_all(recorder, NOON + 60.0 * 19);
    ck_assert_uint_eq(minute(NOON, "mail"), 3); /* one at once; a turn counts what was before */
    for (int i = 1; i < 19; i++)
        ck_assert_uint_eq(minute(NOON + 60.0 * i, "mail"), 1);
    ck_assert_uint_eq(totals("mail"), 21);
}

TEST(what_is_too_late_is_left_out)
{
    attempt(page, "mail", 1);
    recorder_read(recorder, page, &live_config.pools[0]);
    recorder_write(recorder, NOON); /* makes the present minute; the answer is not waited for */
    later_redis_disconnect(link_redis(live_link), "a test");
    recorder_write(recorder, NOON + 60);
    LIVE_UNTIL(link_is_up(live_link));
    live_do("FLUSHALL");
    write_all(recorder, NOON + 7200);
    ck_assert_uint_eq(minute(NOON, "mail"), 0);
    ck_assert_ptr_null(recorder->past);
}

/* A handler may write anything over its worker's page. */
TEST(a_page_that_is_written_over)
{
    unsigned char *bytes = (unsigned char *)&page->page->counts;

    attempt(page, "mail", 3);
    recorder_read(recorder, page, &live_config.pools[0]);
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof page->page->counts; i++)
            bytes[i] = (unsigned char)(rand() >> 7);
        page->page->queue_count = (uint32_t)rand();
        recorder_read(recorder, page, NULL);
    }
    write_all(recorder, NOON);
    ck_assert_uint_eq(totals("mail"), 3);
    ck_assert_uint_lt(recorder->row_count, RECORDER_ROWS);
    memset(bytes, 0, sizeof page->page->counts); /* cut short: slots_guard() */
    recorder_read(recorder, page, NULL);
    attempt(page, "mail", 4); /* the row is where it was, and is still read */
    recorder_leave(recorder, page);
    write_all(recorder, NOON + 5);
    ck_assert_uint_eq(totals("mail"), 3);
}

TEST(types_and_rows_are_bounded)
{
    for (int i = 0; i < 1100; i++) {
        char type[16];

        snprintf(type, sizeof type, "t%d", i);
        attempt(page, type, 1);
    }
    ck_assert_uint_eq(counts_used(&page->page->counts), COUNTS_ROWS);
    ck_assert_ptr_nonnull(counts_row(&page->page->counts, COUNTS_QUEUES - 1, "more", NULL));
    ck_assert_ptr_null(counts_row(&page->page->counts, COUNTS_QUEUES, "more", NULL));
    recorder_read(recorder, page, &live_config.pools[0]);
    write_all(recorder, NOON);
    ck_assert_uint_eq(totals("t0"), 1);
    ck_assert_uint_eq(totals(""), 1100 - LATER_TALLY_TYPES);
}

static void on_pong(void *arg, struct later_answer *answer)
{
    (void)answer;
    *(bool *)arg = true;
}

/* Waits until all that was asked has its answer, and what was asked then, and what after that. */
static void all_is_answered(void)
{
    for (int i = 0; i < 3; i++) {
        struct later_command cmd = { 0 };
        bool came = false;

        later_command_say(&cmd, "PING");
        ck_assert_int_eq(link_send(live_link, &cmd, 10 * live_slowness(), on_pong, &came), 0);
        link_flush(live_link);
        LIVE_UNTIL(came);
    }
}

/* What a gone laterd counted is added to `all`. If it was only taken for gone, it goes on from
 * there. */
TEST(totals_of_the_dead)
{
    struct slots *another = page_new(4);

    attempt(page, "mail", 3);
    attempt(another, "mail", 20);
    recorder_read(recorder, page, &live_config.pools[0]);
    recorder_read(other, another, &live_config.pools[0]);
    write_all(recorder, NOON);
    write_all(other, NOON);
    recorder_fold_totals(recorder); /* a single one is left as it is */
    link_flush(live_link);
    all_is_answered();
    ck_assert(!recorder->hosts && recorder->folding == 0);
    ck_assert_int_eq(live_number("HEXISTS later:{q}:totals all"), 0);
    live_do("HSET later:hosts alive:1 {}");
    live_do("HSET later:{q}:totals alive:1 %s", "\x01");
    live_do("HSET later:{q}:totals gone:1 %s", "\x01");
    recorder_fold_totals(recorder);
    link_flush(live_link);
    LIVE_UNTIL(live_number("HEXISTS later:{q}:totals all") == 1);
    ck_assert_int_eq(live_number("HLEN later:{q}:totals"), 3); /* our own, the living, all */
    ck_assert_int_eq(live_number("HEXISTS later:{q}:totals alive:1"), 1);
    ck_assert_uint_eq(totals("mail"), 23);
    attempt(another, "mail", 5);
    recorder_read(other, another, NULL);
    write_all(other, NOON + 1); /* it hears that its field is gone */
    write_all(other, NOON + 2);
    ck_assert_uint_eq(totals("mail"), 28);
    attempt(another, "mail", 100);
    recorder_read(other, another, NULL);
    write_all(other, NOON + 3);
    ck_assert_uint_eq(totals("mail"), 128);
}

/* As in a container: the next laterd has the name and the process number of the one before. */
TEST(one_that_is_called_as_the_one_before)
{
    struct queues *third = make_others("one");
    struct recorder *next = third->recorder;
    struct slots *another = page_new(4);

    attempt(page, "mail", 3);
    recorder_read(recorder, page, &live_config.pools[0]);
    write_all(recorder, NOON);
    attempt(another, "mail", 20);
    recorder_read(next, another, &live_config.pools[0]);
    write_all(next, NOON);
    ck_assert_uint_eq(totals("mail"), 23);
    ck_assert_uint_eq(minute(NOON, "mail"), 23);
    live_do("HSET later:hosts one:%ld {}", (long)getpid());
    live_do("HSET later:{q}:totals gone:1 %s", "\x01");
    recorder_fold_totals(next); /* it knows that the other is gone */
    link_flush(live_link);
    LIVE_UNTIL(live_number("HEXISTS later:{q}:totals all") == 1);
    ck_assert_int_eq(live_number("HLEN later:{q}:totals"), 2);
    ck_assert_uint_eq(totals("mail"), 23);
    LIVE_UNTIL(!next->hosts && next->folding == 0);
    live_unlink();
    recorder_free(third);
    queues_free(third);
}

TEST(it_ends_before_it_knows_the_time)
{
    attempt(page, "mail", 3);
    recorder_read(recorder, page, &live_config.pools[0]);
    recorder_write(recorder, 0);
    ck_assert(recorder_lacks_time(recorder));
    recorder_end(recorder, 0);
    LIVE_UNTIL(!recorder_open(recorder));
    ck_assert_uint_eq(totals("mail"), 3);
}

/* The counts are all of the last second, and were never written before. */
TEST(it_ends_in_its_first_second)
{
    recorder_read(recorder, page, &live_config.pools[0]);
    ck_assert(!recorder_lacks_time(recorder));
    attempt(page, "mail", 3);
    recorder_leave(recorder, page);
    ck_assert(recorder_lacks_time(recorder));
    ck_assert_uint_eq(recorder_unwritten(recorder), 1);
    recorder_end(recorder, NOON);
    ck_assert_uint_eq(recorder_unwritten(recorder), 1); /* no answer yet */
    LIVE_UNTIL(!recorder_open(recorder));
    ck_assert_uint_eq(recorder_unwritten(recorder), 0);
    ck_assert_uint_eq(minute(NOON, "mail"), 3);
    ck_assert_uint_eq(done_in(LATER_BY_TEN, later_period(LATER_BY_TEN, NOON), "mail"), 3);
    ck_assert_uint_eq(done_in(LATER_BY_HOUR, later_period(LATER_BY_HOUR, NOON), "mail"), 3);
    ck_assert_uint_eq(totals("mail"), 3);
}

TEST(old_periods_are_put_together)
{
    struct slots *another = page_new(4);
    long long period = (long long)(NOON / 60);

    attempt(page, "mail", 3);
    attempt(another, "mail", 20);
    recorder_read(recorder, page, &live_config.pools[0]);
    recorder_read(other, another, &live_config.pools[0]);
    write_all(recorder, NOON);
    write_all(other, NOON);
    ck_assert_int_eq(live_number("HLEN later:{q}:minute:%lld", period), 2);
    write_all(recorder, NOON + 3540);
    write_all(recorder, NOON + 3600);
    write_all(recorder, NOON + 3660);
    LIVE_UNTIL(live_number("HLEN later:{q}:minute:%lld", period) == 1);
    ck_assert_uint_eq(minute(NOON, "mail"), 23);
    ck_assert_int_gt(live_number("PTTL later:{q}:minute:%lld", period), 6 * 3600 * 1000);
    ck_assert_int_lt(live_number("PTTL later:{q}:minute:%lld", period), 8 * 3600 * 1000);
}

TEST(switched_off)
{
    live_config.history = false;
    attempt(page, "mail", 3);
    recorder_read(recorder, page, &live_config.pools[0]);
    recorder_write(recorder, NOON);
    recorder_end(recorder, NOON);
    ck_assert_int_eq(live_calls(), 0);
    ck_assert_uint_eq(recorder->queue_count, 0);
}
