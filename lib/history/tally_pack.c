/*
 * tally_pack.c: the packed form of tallies.
 *
 *     packed    = version row...               version: the byte 2
 *     row       = shared name outcomes wait_us run_us times
 *     shared    = number                       how many bytes of the previous name begin this one
 *     name      = length byte...               the rest; no bytes at all: types beyond the bound
 *     outcomes  = how-many count...            in the order of enum later_outcome
 *     times     = wait run                     bits, the lowest of a byte first, padded with 0
 *
 * A number has 7 bits in each byte, the lowest first; the eighth bit is set in all bytes but the
 * last. What a newer laterd appends to `outcomes` is skipped.
 *
 * Neighbouring counts have nearly the same length in bits. So a histogram is
 *
 *     gap (first (step low)...)...             until all buckets are covered
 *     gap       = the number of empty buckets, plus one: its length in unary, less one; its bits
 *     first     = the length of the next count, less one, in unary
 *     step      = from the previous length to this one, in unary: 0, -1, 1, -2, 2, … ; a count of
 *                 length 0 is 0, and ends the run: a gap is next
 *     low       = the bits of a count below its highest, one fewer than its length; also after
 *                 `first`
 *
 * Unary: n ones, then a zero. Version 1, of older laterds, is read as well: it had no `shared`, and
 * for each histogram how-many (gap count)... of the buckets that are not empty.
 */
#include "history/tally.h"

#include <stdlib.h>
#include <string.h>

#define TALLY_VERSION 2
#define NUMBER_MAX    10 /* bytes of 64 bits */
#define TIMES_MAX     (2 * LATER_BUCKETS * (2 * 64 + 64) / 8 + 1)

static unsigned length_of(uint64_t number)
{
    unsigned length = 0;

    for (; number > 0; number >>= 1)
        length++;
    return length;
}

/* --- packing --- */

static unsigned char *tally_pack_put(unsigned char *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    return at;
}

/* Writes bits into bytes. */
struct bits {
    unsigned char *at;
    unsigned used; /* of the byte at `at` */
};

static void put_bits(struct bits *bits, uint64_t number, unsigned count)
{
    for (; count > 0; count--, number >>= 1) {
        if (bits->used == 0)
            *bits->at = 0;
        *bits->at |= (unsigned char)((number & 1) << bits->used);
        bits->used = (bits->used + 1) % 8;
        bits->at += bits->used == 0;
    }
}

static void put_unary(struct bits *bits, unsigned number)
{
    for (; number > 0; number--)
        put_bits(bits, 1, 1);
    put_bits(bits, 0, 1);
}

/* Returns the bucket after the gap. */
static unsigned put_gap(struct bits *bits, const struct later_histogram *histogram, unsigned bucket)
{
    unsigned from = bucket, length;

    while (bucket < LATER_BUCKETS && histogram->count[bucket] == 0)
        bucket++;
    length = length_of(bucket - from + 1);
    put_unary(bits, length - 1);
    put_bits(bits, bucket - from + 1, length - 1);
    return bucket;
}

static void put_histogram(struct bits *bits, const struct later_histogram *histogram)
{
    unsigned before = 0;

    for (unsigned i = 0; i < LATER_BUCKETS; i++) {
        unsigned length;

        if (before == 0 && (i = put_gap(bits, histogram, i)) == LATER_BUCKETS)
            return;
        length = length_of(histogram->count[i]);
        if (before == 0)
            put_unary(bits, length - 1);
        else
            put_unary(bits, length < before ? 2 * (before - length) - 1 : 2 * (length - before));
        put_bits(bits, histogram->count[i], length > 0 ? length - 1 : 0);
        before = length;
    }
}

static unsigned char *put_row(unsigned char *at, const struct later_tally *row, const char *before)
{
    size_t len = strlen(row->type), shared = 0;
    struct bits bits;
    unsigned ended = LATER_OUTCOMES;

    while (row->type[shared] && row->type[shared] == before[shared])
        shared++;
    at = tally_pack_put(at, shared);
    at = tally_pack_put(at, len - shared);
    memcpy(at, row->type + shared, len - shared);
    at += len - shared;
    while (ended > 0 && row->outcomes[ended - 1] == 0)
        ended--;
    at = tally_pack_put(at, ended);
    for (unsigned i = 0; i < ended; i++)
        at = tally_pack_put(at, row->outcomes[i]);
    at = tally_pack_put(at, row->wait_us);
    at = tally_pack_put(at, row->run_us);
    bits = (struct bits){ at, 0 };
    put_histogram(&bits, &row->wait);
    put_histogram(&bits, &row->run);
    return bits.at + (bits.used > 0);
}

char *later_tallies_pack(const struct later_tallies *tallies, size_t *len)
{
    /* This has room for a name, and for all numbers and bits at their longest. */
    size_t most = LATER_TYPE_MAX + NUMBER_MAX * (LATER_OUTCOMES + 5) + TIMES_MAX;
    unsigned char *bytes = malloc(1 + tallies->count * most), *at = bytes, *shorter;
    const char *before = "";

    if (!bytes)
        return NULL;
    *at++ = TALLY_VERSION;
    for (size_t i = 0; i < tallies->count; i++) {
        at = put_row(at, tallies->rows[i], before);
        before = tallies->rows[i]->type;
    }
    *len = (size_t)(at - bytes);
    shorter = realloc(bytes, *len);
    return (char *)(shorter ? shorter : bytes);
}

/* --- unpacking: of foreign bytes --- */

struct reader {
    const unsigned char *at, *end;
    unsigned version, used;        /* used: bits of the byte at `at` */
    char name[LATER_TYPE_MAX + 1]; /* of the row before */
    bool failed;
};

static uint64_t get(struct reader *reader)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        unsigned char byte = *reader->at++;

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    reader->failed = true;
    return 0;
}

static uint64_t get_bits(struct reader *reader, unsigned count)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < count; i++) {
        if (reader->at == reader->end) {
            reader->failed = true;
            return 0;
        }
        number |= (uint64_t)(*reader->at >> reader->used & 1) << i;
        reader->used = (reader->used + 1) % 8;
        reader->at += reader->used == 0;
    }
    return number;
}

/* Reads a number in unary, at most `most`. */
static unsigned get_unary(struct reader *reader, unsigned most)
{
    unsigned number = 0;

    while (get_bits(reader, 1))
        number++;
    reader->failed = reader->failed || number > most;
    return reader->failed ? 0 : number;
}

/* Returns the bucket after the gap. */
static unsigned get_gap(struct reader *reader, unsigned bucket)
{
    unsigned length = get_unary(reader, 7);
    unsigned gap = (unsigned)(get_bits(reader, length) | 1U << length) - 1;

    reader->failed = reader->failed || gap > LATER_BUCKETS - bucket;
    return reader->failed ? LATER_BUCKETS : bucket + gap;
}

/* Reads the length of a count whose predecessor had the length `before`. */
static unsigned get_length(struct reader *reader, unsigned before)
{
    unsigned step;

    if (before == 0)
        return get_unary(reader, 63) + 1;
    step = get_unary(reader, 128);
    if (step % 2 == 0)
        step = before + step / 2;
    else
        step = before - (step + 1) / 2;
    reader->failed = reader->failed || step > 64; /* so is a negative one */
    return reader->failed ? 0 : step;
}

static void get_histogram(struct reader *reader, struct later_histogram *histogram)
{
    unsigned length = 0;

    for (unsigned i = 0; i < LATER_BUCKETS && !reader->failed; i++) {
        if (length == 0 && (i = get_gap(reader, i)) == LATER_BUCKETS)
            return;
        length = get_length(reader, length);
        if (length > 0)
            histogram->count[i] = get_bits(reader, length - 1) | (uint64_t)1 << (length - 1);
    }
}

static void get_histogram_1(struct reader *reader, struct later_histogram *histogram)
{
    uint64_t used = get(reader), next = 0;

    reader->failed = reader->failed || used > LATER_BUCKETS;
    for (; used > 0 && !reader->failed; used--) {
        uint64_t gap = get(reader);

        if (gap >= LATER_BUCKETS - next) {
            reader->failed = true;
            return;
        }
        next += gap;
        histogram->count[next++] = get(reader);
    }
}

static void get_times(struct reader *reader, struct later_tally *row)
{
    if (reader->version == 1) {
        get_histogram_1(reader, &row->wait);
        get_histogram_1(reader, &row->run);
        return;
    }
    get_histogram(reader, &row->wait);
    get_histogram(reader, &row->run);
    reader->at += reader->used > 0;
    reader->used = 0;
}

/* The name is printed as it is, so it must look like a type: no NUL, no control byte. */
static bool get_name(struct reader *reader)
{
    uint64_t shared = reader->version == 1 ? 0 : get(reader), len = get(reader);

    if (reader->failed || shared > strlen(reader->name) || len > LATER_TYPE_MAX - shared ||
        len > (uint64_t)(reader->end - reader->at))
        return false;
    for (uint64_t i = 0; i < len; i++) {
        if (reader->at[i] <= ' ' || reader->at[i] > '~')
            return false;
    }
    memcpy(reader->name + shared, reader->at, (size_t)len);
    reader->name[shared + len] = '\0';
    reader->at += len;
    return true;
}

static void get_row(struct reader *reader, struct later_tally *row)
{
    uint64_t outcomes;

    memset(row, 0, sizeof *row);
    reader->failed = !get_name(reader);
    memcpy(row->type, reader->name, sizeof row->type);
    outcomes = reader->failed ? 0 : get(reader);
    for (uint64_t i = 0; i < outcomes && !reader->failed; i++) {
        uint64_t count = get(reader);

        if (i < LATER_OUTCOMES)
            row->outcomes[i] = count;
    }
    row->wait_us = get(reader);
    row->run_us = get(reader);
    get_times(reader, row);
}

static bool is_packed(struct reader reader)
{
    struct later_tally row;

    while (reader.at < reader.end && !reader.failed)
        get_row(&reader, &row);
    return !reader.failed;
}

bool later_tallies_unpack(struct later_tallies *tallies, const char *bytes, size_t len)
{
    const unsigned char *from = (const unsigned char *)bytes;
    struct reader reader = { .at = from + 1, .end = from + len };

    if (len == 0 || *from < 1 || *from > TALLY_VERSION)
        return false;
    reader.version = *from;
    if (!is_packed(reader))
        return false;
    while (reader.at < reader.end) {
        struct later_tally row, *to;

        get_row(&reader, &row);
        to = later_tallies_row(tallies, row.type);
        if (!to)
            return false;
        later_tally_add(to, &row);
    }
    return true;
}
