/*
 * tally_pack.c: the packed form of tallies.
 *
 *     packed    = version row...                   version: the byte 1
 *     row       = name outcomes wait_us run_us wait run
 *     name      = length byte...                   no byte: the types beyond the bound
 *     outcomes  = how-many count...                in the order of enum later_attempt_outcome
 *     wait, run = how-many (gap count)...          buckets that are not empty, in order; gap: empty
 *                                                  ones between this bucket and the one before
 *
 * Numbers are of 7 bits a byte, the lowest first, the eighth bit set in all but the last. What a
 * newer laterd appends to `outcomes` is passed over.
 */
#include "history/tally.h"

#include <stdlib.h>
#include <string.h>

#define TALLY_VERSION 1
#define NUMBER_MAX    10 /* bytes of 64 bits */

/* --- packing --- */

static unsigned char *put(unsigned char *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    return at;
}

static unsigned char *put_histogram(unsigned char *at, const struct later_histogram *histogram)
{
    unsigned used = 0, next = 0;

    for (unsigned i = 0; i < LATER_BUCKETS; i++)
        used += histogram->count[i] > 0;
    at = put(at, used);
    for (unsigned i = 0; i < LATER_BUCKETS; i++) {
        if (!histogram->count[i])
            continue;
        at = put(at, i - next);
        at = put(at, histogram->count[i]);
        next = i + 1;
    }
    return at;
}

static unsigned char *put_row(unsigned char *at, const struct later_tally *row)
{
    size_t len = strlen(row->type);

    at = put(at, len);
    memcpy(at, row->type, len);
    at = put(at + len, LATER_OUTCOMES);
    for (int i = 0; i < LATER_OUTCOMES; i++)
        at = put(at, row->outcomes[i]);
    at = put(at, row->wait_us);
    at = put(at, row->run_us);
    at = put_histogram(at, &row->wait);
    return put_histogram(at, &row->run);
}

char *later_tallies_pack(const struct later_tallies *tallies, size_t *len)
{
    /* A name, and all numbers at their longest; a gap is at most two bytes. */
    size_t most = 2 + LATER_TYPE_MAX + NUMBER_MAX * (LATER_OUTCOMES + 5) +
                  (size_t)2 * LATER_BUCKETS * (NUMBER_MAX + 2);
    unsigned char *bytes = malloc(1 + tallies->count * most), *at = bytes, *shorter;

    if (!bytes)
        return NULL;
    *at++ = TALLY_VERSION;
    for (size_t i = 0; i < tallies->count; i++)
        at = put_row(at, tallies->rows[i]);
    *len = (size_t)(at - bytes);
    shorter = realloc(bytes, *len);
    return (char *)(shorter ? shorter : bytes);
}

/* --- unpacking: of foreign bytes --- */

struct reader {
    const unsigned char *at, *end;
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

static void get_histogram(struct reader *reader, struct later_histogram *histogram)
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

/* It is printed as it is, so it has nothing that a type has not: no NUL, no control byte. */
static bool get_name(struct reader *reader, char name[LATER_TYPE_MAX + 1])
{
    uint64_t len = get(reader);

    if (reader->failed || len > LATER_TYPE_MAX || len > (uint64_t)(reader->end - reader->at))
        return false;
    for (uint64_t i = 0; i < len; i++) {
        if (reader->at[i] <= ' ' || reader->at[i] > '~')
            return false;
    }
    memcpy(name, reader->at, len);
    name[len] = '\0';
    reader->at += len;
    return true;
}

static void get_row(struct reader *reader, struct later_tally *row)
{
    uint64_t outcomes;

    memset(row, 0, sizeof *row);
    reader->failed = !get_name(reader, row->type);
    outcomes = reader->failed ? 0 : get(reader);
    for (uint64_t i = 0; i < outcomes && !reader->failed; i++) {
        uint64_t count = get(reader);

        if (i < LATER_OUTCOMES)
            row->outcomes[i] = count;
    }
    row->wait_us = get(reader);
    row->run_us = get(reader);
    get_histogram(reader, &row->wait);
    get_histogram(reader, &row->run);
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
    struct reader reader = { from + 1, from + len, false };

    if (len == 0 || *from != TALLY_VERSION || !is_packed(reader))
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
