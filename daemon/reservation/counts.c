/* counts.c: the counts of attempts in a slot page. */
#include "reservation/counts.h"

#include <string.h>

#define PLAUSIBLE 20000000U /* attempts between two looks */
#define LONGEST   0x1p20    /* seconds of one of them */

uint32_t counts_used(const struct counts_table *table)
{
    uint32_t used = atomic_load_explicit(&table->used, memory_order_acquire);

    return COUNTS_QUEUES +
           (used < COUNTS_ROWS - COUNTS_QUEUES ? used : COUNTS_ROWS - COUNTS_QUEUES);
}

static bool counts_is_of(const struct counts *row, uint32_t queue, const char *type)
{
    return row->queue == queue && strncmp(row->type, type, sizeof row->type) == 0;
}

struct counts *counts_row(struct counts_table *table, uint32_t queue, const char *type,
                          const struct counts *hint)
{
    uint32_t used = counts_used(table);
    struct counts *row;

    if (hint && counts_is_of(hint, queue, type))
        return (struct counts *)hint;
    for (uint32_t i = COUNTS_QUEUES; i < used; i++) {
        if (counts_is_of(&table->rows[i], queue, type))
            return &table->rows[i];
    }
    if (used == COUNTS_ROWS)
        return queue < COUNTS_QUEUES ? &table->rows[queue] : NULL;
    row = &table->rows[used];
    row->queue = queue;
    strncpy(row->type, type, sizeof row->type - 1);
    atomic_store_explicit(&table->used, used + 1 - COUNTS_QUEUES, memory_order_release);
    return row;
}

/* There is only one writer, so nothing has to be locked. */
#define GROW(counter, by)                                                                          \
    atomic_store_explicit(&(counter),                                                              \
                          atomic_load_explicit(&(counter), memory_order_relaxed) + (by),           \
                          memory_order_relaxed)

/* seconds is 0 or more. The conversion to a signed number is a single instruction. */
static uint64_t microseconds(double seconds)
{
    return (uint64_t)(int64_t)((seconds < LONGEST ? seconds : LONGEST) * 1e6);
}

static inline void count_time(_Atomic uint32_t *buckets, _Atomic uint64_t *sum, double seconds)
{
    unsigned bucket = later_bucket(seconds); /* GROW would compute it twice */

    GROW(buckets[bucket], 1U);
    GROW(*sum, microseconds(seconds));
}

void counts_add(struct counts *row, enum later_outcome outcome, double wait, double run)
{
    GROW(row->outcomes[outcome], 1U);
    if (wait >= 0)
        count_time(row->wait, &row->wait_us, wait);
    if (run >= 0)
        count_time(row->run, &row->run_us, run);
    atomic_store_explicit(&row->changes,
                          atomic_load_explicit(&row->changes, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* --- the reader --- */

/* The type goes to Redis and to terminals, so it is checked. */
static bool is_type(const char *type)
{
    for (; *type; type++) {
        if (*type <= ' ' || *type > '~')
            return false;
    }
    return true;
}

void counts_begin(const struct counts *row, uint32_t index, struct counts_seen *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->queue = index < COUNTS_QUEUES ? index : row->queue;
    if (index >= COUNTS_QUEUES)
        memcpy(seen->type, row->type, LATER_TYPE_MAX);
    atomic_signal_fence(memory_order_seq_cst); /* what follows reads the copy */
    if (!is_type(seen->type))
        seen->type[0] = '\0';
}

/* Finds what is new in some counters; at most `most` in all of them together. */
static bool new_of(const _Atomic uint32_t *from, const uint32_t *seen, uint64_t *to, unsigned count,
                   uint64_t *total)
{
    *total = 0;
    for (unsigned i = 0; i < count; i++) {
        to[i] = atomic_load_explicit(&from[i], memory_order_relaxed) - seen[i];
        *total += to[i];
    }
    return *total <= PLAUSIBLE;
}

static void counts_remember(uint32_t *seen, const uint64_t *news, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        seen[i] += (uint32_t)news[i];
}

bool counts_new(const struct counts *row, struct counts_seen *seen, struct later_tally *sum)
{
    uint32_t changes = atomic_load_explicit(&row->changes, memory_order_acquire);
    struct later_tally news = { .type = "" };
    uint64_t ended, waited, ran;
    bool good, sums[3]; /* all three are taken, whatever one says */

    if (changes == seen->changes)
        return false;
    news.wait_us = atomic_load_explicit(&row->wait_us, memory_order_relaxed) - seen->wait_us;
    news.run_us = atomic_load_explicit(&row->run_us, memory_order_relaxed) - seen->run_us;
    sums[0] = new_of(row->outcomes, seen->outcomes, news.outcomes, LATER_OUTCOMES, &ended);
    sums[1] = new_of(row->wait, seen->wait, news.wait.count, LATER_BUCKETS, &waited);
    sums[2] = new_of(row->run, seen->run, news.run.count, LATER_BUCKETS, &ran);
    /* One more than was counted may be there: the worker may be in the middle of counting it. */
    good = sums[0] && sums[1] && sums[2] &&
           (double)news.wait_us <= ((double)waited + 1) * LONGEST * 1e6 &&
           (double)news.run_us <= ((double)ran + 1) * LONGEST * 1e6;
    seen->changes = changes;
    seen->wait_us += news.wait_us;
    seen->run_us += news.run_us;
    counts_remember(seen->outcomes, news.outcomes, LATER_OUTCOMES);
    counts_remember(seen->wait, news.wait.count, LATER_BUCKETS);
    counts_remember(seen->run, news.run.count, LATER_BUCKETS);
    if (good)
        later_tally_add(sum, &news);
    return good;
}
