/* tally.c: counts and histograms by type. */
#include "history/tally.h"

#include <stdlib.h>
#include <string.h>

void later_tally_add(struct later_tally *to, const struct later_tally *from)
{
    for (int i = 0; i < LATER_OUTCOMES; i++)
        to->outcomes[i] += from->outcomes[i];
    to->wait_us += from->wait_us;
    to->run_us += from->run_us;
    later_histogram_add(&to->wait, &from->wait);
    later_histogram_add(&to->run, &from->run);
}

/* Adds up the counts of the outcomes that are so. */
static uint64_t sum_of(const struct later_tally *tally, bool (*is_so)(enum later_outcome outcome))
{
    uint64_t count = 0;

    for (int i = 0; i < LATER_OUTCOMES; i++)
        count += is_so((enum later_outcome)i) ? tally->outcomes[i] : 0;
    return count;
}

uint64_t later_tally_attempts(const struct later_tally *tally)
{
    return sum_of(tally, later_outcome_is_attempt);
}

uint64_t later_tally_failed(const struct later_tally *tally)
{
    return sum_of(tally, later_outcome_failed);
}

/* --- rows --- */

/* Returns the index where a type is, or would be. */
static size_t tally_index_of(const struct later_tallies *tallies, const char *type)
{
    size_t from = 0, to = tallies->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (strcmp(tallies->rows[middle]->type, type) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct later_tally *later_tallies_find(const struct later_tallies *tallies, const char *type)
{
    size_t at = tally_index_of(tallies, type);

    return at < tallies->count && strcmp(tallies->rows[at]->type, type) == 0 ? tallies->rows[at]
                                                                             : NULL;
}

static bool tally_make_room(struct later_tallies *tallies)
{
    size_t room = tallies->room ? tallies->room * 2 : 8;
    struct later_tally **rows;

    if (tallies->count < tallies->room)
        return true;
    rows = realloc(tallies->rows, room * sizeof *rows);
    if (!rows)
        return false;
    tallies->rows = rows;
    tallies->room = room;
    return true;
}

struct later_tally *later_tallies_row(struct later_tallies *tallies, const char *type)
{
    struct later_tally *row = later_tallies_find(tallies, type);
    size_t named = tallies->count - (tallies->count > 0 && !tallies->rows[0]->type[0]), at;

    if (!row && *type && named >= LATER_TALLY_TYPES)
        return later_tallies_row(tallies, "");
    if (row || !tally_make_room(tallies) || !(row = calloc(1, sizeof *row)))
        return row;
    strncpy(row->type, type, sizeof row->type - 1);
    at = tally_index_of(tallies, row->type);
    memmove(&tallies->rows[at + 1], &tallies->rows[at],
            (tallies->count - at) * sizeof *tallies->rows);
    tallies->rows[at] = row;
    tallies->count++;
    return row;
}

void later_tallies_sum(const struct later_tallies *tallies, struct later_tally *sum)
{
    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < tallies->count; i++)
        later_tally_add(sum, tallies->rows[i]);
}

void later_tallies_free(struct later_tallies *tallies)
{
    for (size_t i = 0; i < tallies->count; i++)
        free(tallies->rows[i]);
    free(tallies->rows);
    *tallies = (struct later_tallies){ 0 };
}
