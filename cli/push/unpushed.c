/* unpushed.c: the lines of a file that are not known to be pushed. */
#include "push/unpushed.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FEW 1000 /* so many dropped lines may stay */

static bool is_dropped(const struct unpushed *unpushed, size_t i)
{
    return unpushed->lines[i] % 2 > 0;
}

/* Forgets those that were dropped. */
static void tidy(struct unpushed *unpushed)
{
    size_t kept = 0;

    for (size_t i = 0; i < unpushed->count; i++) {
        if (!is_dropped(unpushed, i))
            unpushed->lines[kept++] = unpushed->lines[i];
    }
    unpushed->count = kept;
    unpushed->dropped = 0;
}

int unpushed_add(struct unpushed *unpushed, uint64_t line)
{
    if (!later_grow(&unpushed->lines, &unpushed->room, unpushed->count, sizeof *unpushed->lines))
        return -1;
    unpushed->lines[unpushed->count++] = 2 * line;
    return 0;
}

void unpushed_drop(struct unpushed *unpushed, uint64_t line)
{
    size_t from = 0, to = unpushed->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (unpushed->lines[middle] / 2 < line)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == unpushed->count || unpushed->lines[from] != 2 * line)
        return;
    unpushed->lines[from]++;
    unpushed->dropped++;
    if (unpushed->dropped > FEW && unpushed->dropped > unpushed->count / 2)
        tidy(unpushed);
}

bool unpushed_is_tail(const struct unpushed *unpushed, uint64_t last, uint64_t *first)
{
    bool tail = true;

    *first = last + 1;
    for (size_t i = unpushed->count; i-- > 0;) {
        if (is_dropped(unpushed, i))
            continue;
        tail &= unpushed->lines[i] / 2 + 1 == *first;
        *first = unpushed->lines[i] / 2;
    }
    return tail;
}

static void put_range(FILE *out, uint64_t from, uint64_t to)
{
    if (from == to)
        fprintf(out, "%" PRIu64 "p;", from);
    else
        fprintf(out, "%" PRIu64 ",%" PRIu64 "p;", from, to);
}

char *unpushed_script(const struct unpushed *unpushed, uint64_t last)
{
    uint64_t from = 0, to = 0; /* the range that is not written yet; 0 = none */
    size_t len;
    char *text = NULL;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    for (size_t i = 0; i < unpushed->count; i++) {
        uint64_t line = unpushed->lines[i] / 2;

        if (is_dropped(unpushed, i))
            continue;
        if (from && line != to + 1)
            put_range(out, from, to);
        from = from && line == to + 1 ? from : line;
        to = line;
    }
    if (from && to != last)
        put_range(out, from, to);
    fprintf(out, "%" PRIu64 ",$p", from && to == last ? from : last + 1);
    return fclose(out) == 0 ? text : NULL;
}

void unpushed_free(struct unpushed *unpushed)
{
    free(unpushed->lines);
    *unpushed = (struct unpushed){ 0 };
}
