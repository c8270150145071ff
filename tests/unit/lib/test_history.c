/* test_history.c: histograms, tallies and their packed form, periods. */
#include "history/history.h"

#include "tests/unit/chance.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 20000

/* --- histograms --- */

CASE("histograms", NULL, NULL);

TEST(test_bounds_belong_to_the_bucket_below)
{
    for (unsigned i = 0; i + 1 < LATER_BUCKETS; i++) {
        double end = later_bucket_end(i);

        ck_assert_uint_eq(later_bucket(end), i);
        ck_assert_uint_eq(later_bucket(nextafter(end, 1e9)), i + 1);
        ck_assert_uint_eq(later_bucket(nextafter(end, 0)), i);
    }
    for (int e = -20; e <= 19; e++) /* powers of two are bounds, exactly */
        ck_assert_double_eq(later_bucket_end((unsigned)(e + 20) * 4), ldexp(1, e));
    ck_assert_uint_eq(later_bucket(0), 0);
    ck_assert_uint_eq(later_bucket(-5), 0);
    ck_assert_uint_eq(later_bucket(NAN), 0);
    ck_assert_uint_eq(later_bucket(1e-300), 0);
    ck_assert_uint_eq(later_bucket(1e300), LATER_BUCKETS - 1);
    ck_assert_uint_eq(later_bucket(INFINITY), LATER_BUCKETS - 1);
}

static double even(void)
{
    return 0.010 + 0.190 * chance();
}

static double exponential(void)
{
    return -2.5 * log(chance());
}

/* Two kinds of work: 97 of 100 take some 2 ms, the others half a minute. */
static double two_humps(void)
{
    double normal = sqrt(-2 * log(chance())) * cos(2 * M_PI * chance());

    return chance() < 0.97 ? 0.002 * exp(0.4 * normal) : 30 * exp(0.2 * normal);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

TEST(test_quantiles_within_ten_percent)
{
    static double (*const distributions[])(void) = { even, exponential, two_humps };
    static const double parts[] = { 0.5, 0.95, 0.99 };
    static double samples[SAMPLES];

    for (size_t d = 0; d < 3; d++) {
        struct later_histogram histogram = { .count = { 0 } };

        for (size_t i = 0; i < SAMPLES; i++) {
            samples[i] = distributions[d]();
            histogram.count[later_bucket(samples[i])]++;
        }
        qsort(samples, SAMPLES, sizeof *samples, by_value);
        for (size_t p = 0; p < 3; p++) {
            double exact = samples[(size_t)ceil(parts[p] * SAMPLES) - 1];
            double found = later_histogram_quantile(&histogram, parts[p]);

            printf("# distribution %zu, p%.0f: %.6f s, exactly %.6f s: %+.1f %%\n", d,
                   parts[p] * 100, found, exact, (found / exact - 1) * 100);
            ck_assert_double_le(fabs(found / exact - 1), 0.10);
        }
    }
    fflush(stdout);
}

TEST(test_counts_within)
{
    struct later_histogram histogram = { .count = { 0 } };
    static const double seconds[] = { 0.0009765625, 0.001, 0.25, 0.2500001, 3, 4, 4.0001, 2e6 };

    ck_assert_double_lt(later_histogram_quantile(&histogram, 0.5), 0);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        histogram.count[later_bucket(seconds[i])]++;
    ck_assert_uint_eq(later_histogram_within(&histogram, 0x1p-10), 1);
    ck_assert_uint_eq(later_histogram_within(&histogram, 0x1p-8), 2);
    ck_assert_uint_eq(later_histogram_within(&histogram, 0.25), 3);
    ck_assert_uint_eq(later_histogram_within(&histogram, 4), 6);
    ck_assert_uint_eq(later_histogram_within(&histogram, 16384), 7);
    ck_assert_uint_eq(later_histogram_count(&histogram), 8);
    later_histogram_add(&histogram, &histogram);
    ck_assert_uint_eq(later_histogram_count(&histogram), 16);
    ck_assert_uint_eq(later_histogram_within(&histogram, 4), 12);
}

/* --- tallies --- */

static void count(struct later_tallies *tallies, const char *type, enum later_outcome outcome,
                  double wait, double run)
{
    struct later_tally *row = later_tallies_row(tallies, type);

    ck_assert_ptr_nonnull(row);
    row->outcomes[outcome]++;
    row->wait.count[later_bucket(wait)]++;
    row->run.count[later_bucket(run)]++;
    row->wait_us += (uint64_t)(wait * 1e6);
    row->run_us += (uint64_t)(run * 1e6);
}

static void unpack_again(struct later_tallies *to, const struct later_tallies *from)
{
    size_t len;
    char *packed = later_tallies_pack(from, &len);

    ck_assert_ptr_nonnull(packed);
    ck_assert(later_tallies_unpack(to, packed, len));
    free(packed);
}

CASE("tallies", NULL, NULL);

TEST(test_packs_and_adds_up)
{
    struct later_tallies one = { 0 }, other = { 0 }, sum = { 0 };
    struct later_tally all;

    count(&one, "mail.send", LATER_OUTCOME_DONE, 0.5, 2);
    count(&one, "mail.send", LATER_OUTCOME_RETRY, 1e9, 0);
    count(&other, "a", LATER_OUTCOME_CRASH, 0, 1e-6);
    count(&other, "mail.send", LATER_OUTCOME_DONE, 0.5, 2);
    count(&other, "", LATER_OUTCOME_RETURNED, 1, 1);
    one.rows[0]->outcomes[LATER_OUTCOME_BURY] = UINT64_MAX;
    one.rows[0]->run.count[LATER_BUCKETS - 1] = 300;
    unpack_again(&sum, &one);
    unpack_again(&sum, &other);
    ck_assert_uint_eq(sum.count, 3);
    ck_assert_str_eq(sum.rows[0]->type, "");
    ck_assert_str_eq(sum.rows[1]->type, "a");
    ck_assert_uint_eq(sum.rows[1]->outcomes[LATER_OUTCOME_CRASH], 1);
    ck_assert_uint_eq(sum.rows[2]->outcomes[LATER_OUTCOME_DONE], 2);
    ck_assert_uint_eq(sum.rows[2]->outcomes[LATER_OUTCOME_RETRY], 1);
    ck_assert_uint_eq(sum.rows[2]->outcomes[LATER_OUTCOME_BURY], UINT64_MAX);
    ck_assert_uint_eq(sum.rows[2]->wait.count[later_bucket(0.5)], 2);
    ck_assert_uint_eq(sum.rows[2]->wait.count[LATER_BUCKETS - 1], 1);
    ck_assert_uint_eq(sum.rows[2]->run.count[LATER_BUCKETS - 1], 300);
    ck_assert_uint_eq(sum.rows[2]->run_us, 4000000);
    later_tallies_sum(&sum, &all);
    ck_assert_uint_eq(all.outcomes[LATER_OUTCOME_DONE], 2);
    ck_assert_uint_eq(all.outcomes[LATER_OUTCOME_RETURNED], 1);
    ck_assert_uint_eq(later_tally_failed(sum.rows[1]), 1);
    ck_assert_uint_eq(later_tally_attempts(sum.rows[0]), 0);
    later_tallies_free(&one);
    later_tallies_free(&other);
    later_tallies_free(&sum);
}

TEST(test_types_are_bounded)
{
    struct later_tallies tallies = { 0 }, again = { 0 };

    for (int i = 0; i < 3 * LATER_TALLY_TYPES; i++) {
        char type[16];

        snprintf(type, sizeof type, "t%d", i * 7919 % (3 * LATER_TALLY_TYPES));
        count(&tallies, type, LATER_OUTCOME_DONE, 1, 1);
    }
    ck_assert_uint_eq(tallies.count, LATER_TALLY_TYPES + 1);
    ck_assert_uint_eq(tallies.rows[0]->outcomes[LATER_OUTCOME_DONE], 2 * LATER_TALLY_TYPES);
    for (size_t i = 1; i < tallies.count; i++)
        ck_assert_int_lt(strcmp(tallies.rows[i - 1]->type, tallies.rows[i]->type), 0);
    unpack_again(&again, &tallies);
    count(&again, "new", LATER_OUTCOME_DONE, 1, 1);
    ck_assert_uint_eq(again.count, LATER_TALLY_TYPES + 1);
    ck_assert_ptr_null(later_tallies_find(&again, "new"));
    later_tallies_free(&tallies);
    later_tallies_free(&again);
}

/* Whatever byte is changed or cut off, it is refused, or gives some other tallies, and nothing
 * worse. */
TEST(test_foreign_bytes)
{
    struct later_tallies tallies = { 0 }, none = { 0 };
    size_t len, first, refused = 0;
    char *packed;

    count(&tallies, "mail.send", LATER_OUTCOME_DONE, 0.5, 2);
    free(later_tallies_pack(&tallies, &first));
    count(&tallies, "x", LATER_OUTCOME_RETRY, 7, 0.1);
    packed = later_tallies_pack(&tallies, &len);
    ck_assert(!later_tallies_unpack(&none, packed, 0));
    for (size_t i = 1; i < len; i++) /* whole rows, or none */
        ck_assert(later_tallies_unpack(&none, packed, i) == (i == 1 || i == first));
    later_tallies_free(&none);
    for (size_t i = 0; i < len; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char *copy = malloc(len);

            memcpy(copy, packed, len);
            copy[i] = (char)byte;
            refused += !later_tallies_unpack(&none, copy, len);
            ck_assert_uint_le(none.count, LATER_TALLY_TYPES + 1);
            free(copy);
        }
    }
    ck_assert_uint_gt(refused, 255); /* the version's at least */
    free(packed);
    later_tallies_free(&none);
    ck_assert(!later_tallies_unpack(&none, "\x02\0\x02 \n", 5));
    ck_assert(!later_tallies_unpack(&none, "\x02\x01\x01x", 4)); /* shares what is not there */
    ck_assert(!later_tallies_unpack(&none, "\x03", 1));
    ck_assert(!later_tallies_unpack(&none, "\x01\x02 \n", 4));
    ck_assert(!later_tallies_unpack(&none, "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12));
    ck_assert_uint_eq(none.count, 0);
    later_tallies_free(&tallies);
}

/* Whatever there is in the buckets: few or many, small or as large as can be, alone or in rows. */
TEST(test_packs_any_histogram)
{
    struct later_tallies tallies = { 0 }, again = { 0 };
    struct later_tally *row = later_tallies_row(&tallies, "any");

    for (int i = 0; i < 300; i++) {
        double part = i % 5 ? chance() : 1;
        int length = 1 + (int)(64 * chance());

        for (unsigned bucket = 0; bucket < LATER_BUCKETS; bucket++) {
            uint64_t count = (uint64_t)(chance() * 0x1p63) << 1 | 1;

            row->wait.count[bucket] = chance() < part ? count >> (64 - length) : 0;
            row->run.count[bucket] = chance() < part ? count >> (int)(64 * chance()) : 0;
        }
        unpack_again(&again, &tallies);
        ck_assert_uint_eq(again.count, 1);
        ck_assert_mem_eq(again.rows[0], row, sizeof *row);
        later_tallies_free(&again);
    }
    later_tallies_free(&tallies);
}

/* What laterds wrote before, by hand: version, "a", outcomes, sums, buckets 80; 0 and 2. */
TEST(test_reads_the_first_version)
{
    static const char packed[] = "\x01"
                                 "\x01"
                                 "a"
                                 "\x07\x83\x01\x02\0\0\0\0\0"
                                 "\x05\x07"
                                 "\x01\x50\x03"
                                 "\x02\0\x81\x01\x01\x02";
    struct later_tallies tallies = { 0 };

    ck_assert(later_tallies_unpack(&tallies, packed, sizeof packed - 1));
    ck_assert_uint_eq(tallies.count, 1);
    ck_assert_str_eq(tallies.rows[0]->type, "a");
    ck_assert_uint_eq(tallies.rows[0]->outcomes[LATER_OUTCOME_DONE], 131);
    ck_assert_uint_eq(tallies.rows[0]->outcomes[LATER_OUTCOME_RETRY], 2);
    ck_assert_uint_eq(tallies.rows[0]->wait_us, 5);
    ck_assert_uint_eq(tallies.rows[0]->run_us, 7);
    ck_assert_uint_eq(tallies.rows[0]->wait.count[80], 3);
    ck_assert_uint_eq(tallies.rows[0]->run.count[0], 129);
    ck_assert_uint_eq(tallies.rows[0]->run.count[2], 2);
    ck_assert_uint_eq(later_histogram_count(&tallies.rows[0]->run), 131);
    later_tallies_free(&tallies);
}

/* Twenty types as busy queues have them, in about as many bytes as doc/protocol.md says. */
TEST(test_packed_size)
{
    struct later_tallies tallies = { 0 };
    size_t len;

    for (int t = 0; t < 20; t++) {
        char type[32];

        snprintf(type, sizeof type, "invoice.type-%d", t);
        for (int i = 0; i < 1200; i++)
            count(&tallies, type, LATER_OUTCOME_DONE, exponential(), even());
    }
    free(later_tallies_pack(&tallies, &len));
    printf("# 20 types, 1,200 jobs each: %zu bytes\n", len);
    fflush(stdout);
    ck_assert_uint_lt(len, 20 * 80);
    later_tallies_free(&tallies);
}

/* --- periods --- */

CASE("periods", NULL, NULL);

TEST(test_scales)
{
    ck_assert_int_eq(later_period(LATER_BY_MINUTE, 119.99), 1);
    ck_assert_int_eq(later_period(LATER_BY_TEN, 1763790000), 2939650);
    ck_assert_int_eq(later_period(LATER_BY_HOUR, 3600), 1);
    ck_assert_int_eq(later_scale_for(60), LATER_BY_MINUTE);
    ck_assert_int_eq(later_scale_for(8 * 3600), LATER_BY_MINUTE);
    ck_assert_int_eq(later_scale_for(8 * 3600 + 1), LATER_BY_TEN);
    ck_assert_int_eq(later_scale_for(8 * 86400), LATER_BY_HOUR);
    ck_assert_int_eq(later_scale_for(1e9), LATER_BY_HOUR);
}

TEST(test_asks)
{
    static const char wanted[] = "*2\r\n$7\r\nHGETALL\r\n$20\r\nlater:{mail}:ten:123\r\n";
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, "later", "mail");
    later_history_ask(&cmd, &keys, LATER_BY_TEN, 123);
    ck_assert(later_command_ready(&cmd));
    ck_assert_uint_eq(cmd.len, sizeof wanted - 1);
    ck_assert_mem_eq(cmd.data, wanted, cmd.len);
    later_command_free(&cmd);
}
