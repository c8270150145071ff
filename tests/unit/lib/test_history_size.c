/* test_history_size.c: how much of Redis's memory a queue's whole history takes. */
#include "history/history.h"

#include "tests/unit/chance.h"
#include "client/call.h"
#include "tests/unit/live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TYPES 20
#define LIMIT 12e6 /* bytes: 90 days of 20 types */
#define NOON  1764000000.0

static struct later_client *client;
static struct later_keys keys;
static struct later_error err;

static void set_up(void)
{
    live_begin();
    client = live_client();
    ck_assert_ptr_nonnull(client);
    later_keys_init(&keys, "later", "invoices");
}

static void tear_down(void)
{
    later_client_close(client);
    live_end();
}

/* --- how long jobs wait and run --- */

/* The part of them that takes no longer. */
static double exponential(double seconds)
{
    return 1 - exp(-seconds / 2.5);
}

static double even(double seconds)
{
    return fmin(fmax((seconds - 0.010) / 0.190, 0), 1);
}

/* So many of `jobs` are in a bucket, where `mean` are expected: Poisson's, or nearly. */
static uint64_t some(double mean)
{
    double limit = exp(-mean), left = 1;
    uint64_t count = 0;

    if (mean >= 30)
        return (uint64_t)fmax(0, mean + sqrt(mean) * sqrt(-2 * log(chance())) *
                                            cos(2 * M_PI * chance()));
    while (mean > 1e-9 && (left *= chance()) > limit)
        count++;
    return count;
}

static void fill(struct later_histogram *histogram, double (*within)(double), double jobs)
{
    double before = 0;

    for (unsigned i = 0; i < LATER_BUCKETS; i++) {
        double until = within(later_bucket_end(i));

        histogram->count[i] = some(jobs * (until - before));
        before = until;
    }
}

/* --- a queue's history --- */

static void noted(void *arg, struct later_answer *answer)
{
    *(size_t *)arg += answer->outcome == LATER_ANSWERED && later_history_noted(answer->reply);
}

static void write_period(enum later_scale scale, int64_t period, double jobs, size_t *written)
{
    struct later_tallies tallies = { 0 };
    struct later_command cmd = { 0 };
    char *packed;
    size_t len;

    for (int i = 0; i < TYPES; i++) {
        char type[32];
        struct later_tally *row;

        snprintf(type, sizeof type, "invoice.type-%d", i);
        row = later_tallies_row(&tallies, type);
        fill(&row->wait, exponential, jobs);
        fill(&row->run, even, jobs);
        row->outcomes[LATER_OUTCOME_DONE] = later_histogram_count(&row->run);
        row->outcomes[LATER_OUTCOME_RETRY] = some(jobs / 100);
        row->wait_us = (uint64_t)(jobs * 2.5e6);
        row->run_us = (uint64_t)(jobs * 0.105e6);
    }
    packed = later_tallies_pack(&tallies, &len);
    later_history_note(&cmd, &keys, scale, period, LATER_FOLDED, packed, len);
    ck_assert_int_eq(later_call_begin(client, &cmd, noted, written, &err), 0);
    while (later_redis_pending(later_call_redis(client)) > 50)
        later_call_wait(client);
    free(packed);
    later_tallies_free(&tallies);
}

static double used_memory(void)
{
    return strtod(strstr(live_string("INFO memory"), "used_memory:") + 12, NULL);
}

/* Writes all periods that are kept, with this many jobs of each type in each of a scale. Returns
 * the bytes that they take. */
static double write_all(const double jobs[LATER_SCALES])
{
    size_t written = 0, count = 0;
    double before;

    write_period(LATER_BY_MINUTE, 1, 1, &written); /* the script is loaded */
    ck_assert_int_eq(later_call_drain(client, &err), 0);
    before = used_memory();
    written = 0;
    for (int scale = 0; scale < LATER_SCALES; scale++) {
        int64_t last = later_period((enum later_scale)scale, NOON);
        uint32_t periods = later_scales[scale].keep / later_scales[scale].seconds;

        for (uint32_t i = 0; i < periods; i += unit_stride(12), count++)
            write_period((enum later_scale)scale, last - i, jobs[scale], &written);
    }
    ck_assert_int_eq(later_call_drain(client, &err), 0);
    ck_assert_uint_eq(written, count);
    ck_assert_uint_eq(count, (480 + 1008 + 2160) / unit_stride(12));
    ck_assert_int_eq(live_number("DBSIZE"), (long long)count + 1);
    return used_memory() - before;
}

static void fits(const char *what, const double jobs[LATER_SCALES])
{
    double bytes = write_all(jobs);

    printf("# 90 days of %d types, %s: %.2f MB, of 12\n", TYPES, what, bytes / 1e6);
    fflush(stdout);
    ck_assert_double_le(bytes, LIMIT);
}

LIVE_CASE("sizes", set_up, tear_down);

TEST(each_period_as_busy)
{
    static const double jobs[LATER_SCALES] = { 1200, 1200, 1200 };

    fits("1,200 jobs of each in each period", jobs);
}

TEST(each_minute_as_busy)
{
    static const double jobs[LATER_SCALES] = { 1200, 12000, 72000 };

    fits("1,200 jobs of each a minute", jobs);
}
