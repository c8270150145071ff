/*
 * test_cron_vectors.c: the cases of other projects' tests, from cron_vectors.txt, whose head
 * describes them. For each collection it counts and prints the cases, and how many follow our rule
 * instead.
 */
#include "cron/calendar.h"
#include "cron/tick.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define FIELDS         7

enum { COLLECTION, OP, EXPRESSION, ZONE, FROM, VALUE, THEIRS };

static struct collection {
    const char *name;
    unsigned cases, ours; /* as the file has them; ours: that collection says otherwise */
    unsigned seen, seen_ours;
} collections[] = {
    { .name = "robfig", .cases = 96, .ours = 7 },
    { .name = "gorhill", .cases = 75, .ours = 0 },
    { .name = "ccronexpr", .cases = 88, .ours = 1 },
    { .name = "croniter", .cases = 107, .ours = 2 },
    { .name = "fugit", .cases = 101, .ours = 23 },
    { .name = "cron-parser", .cases = 114, .ours = 7 },
};

/* Splits a line at ` | `. Returns the number of fields. */
static int split(char *line, char *fields[FIELDS])
{
    int count = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < FIELDS; count++) {
        char *end = strstr(at, " | ");

        fields[count] = at;
        if (end)
            *end = '\0';
        at = end ? end + 3 : NULL;
    }
    return count;
}

/* 2012-07-09T14:45:00Z, or with an offset +02:00. */
static int64_t read_instant(const char *text)
{
    int year, month, day, hour, minute, second, off_hour = 0, off_minute = 0;
    char sign = 'Z';
    int n = sscanf(text, "%d-%d-%dT%d:%d:%d%c%d:%d", &year, &month, &day, &hour, &minute, &second,
                   &sign, &off_hour, &off_minute);
    int64_t at, offset;

    ck_assert_msg(n == 9 || (n == 7 && sign == 'Z'), "no time: %s", text);
    at = later_days(year, month, day) * LATER_DAY + hour * 3600 + minute * 60 + second;
    offset = off_hour * 3600 + off_minute * 60;
    return sign == '+' ? at - offset : at + offset;
}

static bool same(const struct later_expression *a, const struct later_expression *b)
{
    return memcmp(a->in, b->in, sizeof a->in) == 0 && a->last_days == b->last_days &&
           a->near_days == b->near_days && memcmp(a->nth, b->nth, sizeof a->nth) == 0;
}

static int64_t next_of(const struct later_expression *expr, char *fields[FIELDS])
{
    struct later_error err = { 0 };
    struct later_zone *zone = later_zone_open(expr->zone[0] ? expr->zone : fields[ZONE], &err);
    int64_t tick = 0;

    ck_assert_msg(zone != NULL, "%s: %s", fields[EXPRESSION], err.text);
    ck_assert(later_tick_next(expr, zone, read_instant(fields[FROM]), &tick));
    later_zone_free(zone);
    return tick;
}

static bool is_right(char *fields[FIELDS], char *got, size_t room)
{
    struct later_expression expr, other;
    struct later_error err = { 0 };
    int status = later_expression_read(&expr, fields[EXPRESSION], &err);
    int64_t tick;

    snprintf(got, room, "%s", status < 0 ? err.text : "it is taken");
    if (strcmp(fields[OP], "error") == 0)
        return status < 0;
    if (status < 0 || strcmp(fields[OP], "ok") == 0)
        return status == 0;
    if (strcmp(fields[OP], "same") == 0)
        return later_expression_read(&other, fields[VALUE], &err) == 0 && same(&expr, &other);
    tick = next_of(&expr, fields);
    snprintf(got, room, "%" PRId64, tick);
    return (tick == read_instant(fields[VALUE])) == (strcmp(fields[OP], "next") == 0);
}

static void count(char *fields[FIELDS], int n)
{
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        if (strcmp(collections[i].name, fields[COLLECTION]) == 0) {
            collections[i].seen++;
            collections[i].seen_ours += n == FIELDS;
            return;
        }
    }
    ck_abort_msg("no collection: %s", fields[COLLECTION]);
}

static FILE *open_vectors(void)
{
    const char *top = getenv("top_srcdir");
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/unit/cron_vectors.txt", top ? top : ".");
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    return file;
}

TEST(test_vectors)
{
    char line[LINE_MAX_BYTES], got[600], *fields[FIELDS];
    unsigned wrong = 0, number = 0;
    FILE *file = open_vectors();

    while (fgets(line, sizeof line, file)) {
        int n;

        number++;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        n = split(line, fields);
        ck_assert_msg(n >= FIELDS - 1, "line %u has %d fields", number, n);
        count(fields, n);
        if (is_right(fields, got, sizeof got))
            continue;
        printf("# line %u: %s `%s` in %s after %s: %s, not %s\n", number, fields[COLLECTION],
               fields[EXPRESSION], fields[ZONE], fields[FROM], got, fields[VALUE]);
        wrong++;
    }
    fclose(file);
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        printf("# %s: %u cases, of %u our rule decides\n", collections[i].name, collections[i].seen,
               collections[i].seen_ours);
        ck_assert_uint_eq(collections[i].seen, collections[i].cases);
        ck_assert_uint_eq(collections[i].seen_ours, collections[i].ours);
    }
    ck_assert_uint_eq(wrong, 0);
}
