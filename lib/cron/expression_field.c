/* expression_field.c: one field of an expression. */
#include "cron/expression_field.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SUNDAY 7 /* as people may write it */

/* What a field may contain. */
static const struct kind {
    const char *name;
    int least, most;
    const char *names; /* from `least` on; NULL = none */
} kinds[LATER_FIELD_COUNT] = {
    [LATER_FIELD_SECOND] = { "second", 0, 59, NULL },
    [LATER_FIELD_MINUTE] = { "minute", 0, 59, NULL },
    [LATER_FIELD_HOUR] = { "hour", 0, 23, NULL },
    [LATER_FIELD_DAY] = { "day", 1, 31, NULL },
    [LATER_FIELD_MONTH] = { "month", 1, 12,
                            "january february march april may june july august september october "
                            "november december" },
    [LATER_FIELD_WEEKDAY] = { "weekday", 0, 6,
                              "sunday monday tuesday wednesday thursday friday saturday" },
};

struct reader {
    struct later_expression *expr;
    enum later_field field;
    const struct kind *kind;
    const char *whole, *at, *end;
    struct later_error *err;
};

int expression_fail(struct later_error *err, const char *whole, const char *at, const char *why)
{
    return later_fail(err, LATER_E_DATA, "%s (character %d of `%.100s`)", why,
                      (int)(at - whole) + 1, whole);
}

static int expression_field_fail(const struct reader *reader, const char *at, const char *why)
{
    char text[160];

    snprintf(text, sizeof text, "%s: %.120s", reader->kind->name, why);
    return expression_fail(reader->err, reader->whole, at, text);
}

static int fail_range(const struct reader *reader, const char *at, int number)
{
    char text[120];

    snprintf(text, sizeof text, "%d is not in %d-%d", number, reader->kind->least,
             reader->kind->most);
    return expression_field_fail(reader, at, text);
}

static bool expression_field_take(struct reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* Takes the letter c, a capital, in either case. */
static bool take_letter(struct reader *reader, char c)
{
    return expression_field_take(reader, c) ||
           expression_field_take(reader, (char)(c + ('a' - 'A')));
}

static bool expression_field_take_digits(struct reader *reader, int *number)
{
    const char *from = reader->at;

    for (*number = 0; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9' &&
                      reader->at - from < 9;
         reader->at++)
        *number = *number * 10 + (*reader->at - '0');
    return reader->at > from;
}

static bool expression_field_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns how many bytes of a word of `len` letters spell a name: its first three letters, or all.
 * The L of friL is not part of it. */
static size_t spells(const char *word, size_t len, const char *name, size_t whole)
{
    if (strncasecmp(word, name, 3) != 0)
        return 0;
    if (len == 4 && (word[3] == 'L' || word[3] == 'l'))
        return 3;
    return len == 3 || (len == whole && strncasecmp(word, name, len) == 0) ? len : 0;
}

static bool expression_field_take_name(struct reader *reader, int *number)
{
    const char *name = reader->kind->names;
    size_t len = 0;

    while (reader->at + len < reader->end && expression_field_is_letter(reader->at[len]))
        len++;
    if (!name || len < 3)
        return false;
    for (int i = reader->kind->least; *name; i++) {
        size_t whole = strcspn(name, " "), spelt = spells(reader->at, len, name, whole);

        if (spelt > 0) {
            *number = i;
            reader->at += spelt;
            return true;
        }
        name += whole + (name[whole] == ' ');
    }
    return false;
}

/* Reads a number or a name within the field's range; Sunday may be 7. */
static int expression_field_read_value(struct reader *reader, int *number)
{
    const char *from = reader->at;
    int most = reader->kind->most + (reader->field == LATER_FIELD_WEEKDAY);

    if (expression_field_take_name(reader, number))
        return 0;
    if (!expression_field_take_digits(reader, number))
        return expression_field_fail(reader, from,
                                     reader->at == reader->end ? "something is missing"
                                                               : "neither a number nor a name");
    if (*number < reader->kind->least || *number > most)
        return fail_range(reader, from, *number);
    return 0;
}

/* Reads the step after a slash; 1 if there is none. */
static int read_step(struct reader *reader, int *step)
{
    const struct kind *kind = reader->kind;
    const char *from = reader->at;
    char text[80];

    *step = 1;
    if (!expression_field_take(reader, '/'))
        return 0;
    if (!expression_field_take_digits(reader, step))
        return expression_field_fail(reader, reader->at, "a number must follow the slash");
    if (*step > 0 && *step <= kind->most - kind->least)
        return 0;
    snprintf(text, sizeof text, "a step is 1 to %d", kind->most - kind->least);
    return expression_field_fail(reader, from + 1, text);
}

/* Adds every step-th value from a to b, which may wrap past the end of the field. */
static void add_range(struct reader *reader, int a, int b, int step)
{
    const struct kind *kind = reader->kind;
    int size = kind->most - kind->least + 1;

    if (b < a)
        b += size;
    for (int i = a; i <= b; i += step)
        reader->expr->in[reader->field] |= UINT64_C(1) << (kind->least + (i - kind->least) % size);
}

/* L, L-3, LW */
static int read_last_day(struct reader *reader)
{
    const char *from = reader->at;
    int before = 0;

    if (take_letter(reader, 'W')) {
        reader->expr->last_working_day = true;
        return 0;
    }
    if (expression_field_take(reader, '-') &&
        (!expression_field_take_digits(reader, &before) || before > 30))
        return expression_field_fail(reader, from, "a number from 0 to 30 must follow L-");
    reader->expr->last_days |= UINT32_C(1) << before;
    return 0;
}

/* mon#2, mon#-1 */
static int read_nth(struct reader *reader, int weekday)
{
    const char *from = reader->at;
    bool back = expression_field_take(reader, '-');
    int n;

    if (!expression_field_take_digits(reader, &n) || n < 1 || n > 5)
        return expression_field_fail(reader, from,
                                     "a number from 1 to 5, or from -1 to -5, must follow #");
    reader->expr->nth[weekday % 7] |= (uint16_t)(1u << (n + (back ? 8 : 0)));
    return 0;
}

/* Reads what only some fields may have after a value. Returns 1 if that was all, 0 if there is
 * none, -1 with *err. */
static int read_special(struct reader *reader, int value)
{
    if (reader->field == LATER_FIELD_DAY && take_letter(reader, 'W')) {
        reader->expr->near_days |= UINT32_C(1) << value;
        return 1;
    }
    if (reader->field != LATER_FIELD_WEEKDAY)
        return 0;
    if (expression_field_take(reader, '#'))
        return read_nth(reader, value) < 0 ? -1 : 1;
    if (take_letter(reader, 'L')) {
        reader->expr->nth[value % 7] |= 1u << (8 + 1);
        return 1;
    }
    return 0;
}

static int read_range(struct reader *reader)
{
    int a, b, step, special;
    bool range;

    if (expression_field_read_value(reader, &a) < 0)
        return -1;
    special = read_special(reader, a);
    if (special)
        return special < 0 ? -1 : 0;
    b = a;
    range = expression_field_take(reader, '-');
    if (range && expression_field_read_value(reader, &b) < 0)
        return -1;
    if (range && a == SUNDAY && reader->field == LATER_FIELD_WEEKDAY && b < SUNDAY)
        a = 0;
    if (!range && reader->at < reader->end && *reader->at == '/')
        b = reader->kind->most;
    if (read_step(reader, &step) < 0)
        return -1;
    add_range(reader, a, b, step);
    return 0;
}

static int read_item(struct reader *reader)
{
    int step;

    if (expression_field_take(reader, '*') || expression_field_take(reader, '?')) {
        if (read_step(reader, &step) < 0)
            return -1;
        add_range(reader, reader->kind->least, reader->kind->most, step);
        return 0;
    }
    if (reader->field == LATER_FIELD_DAY && take_letter(reader, 'L'))
        return read_last_day(reader);
    return read_range(reader);
}

int expression_field_read(struct later_expression *expr, enum later_field field,
                          const struct field_text *text, struct later_error *err)
{
    struct reader reader = { .expr = expr,
                             .field = field,
                             .kind = &kinds[field],
                             .whole = text->whole,
                             .at = text->text,
                             .end = text->text + text->len,
                             .err = err };

    do {
        if (read_item(&reader) < 0)
            return -1;
    } while (expression_field_take(&reader, ','));
    if (reader.at < reader.end)
        return expression_field_fail(&reader, reader.at, "this does not belong here");
    return 0;
}
