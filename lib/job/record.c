/* record.c: what is kept beside a document. */
#include "job/record.h"

#include <stddef.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The whole number that len bytes spell, of at most nine digits. */
static bool record_read_number(const char *text, size_t len, int32_t *number)
{
    bool minus = len > 0 && *text == '-';
    int32_t sum = 0;

    if (len == minus || len > (minus ? 10u : 9u))
        return false;
    for (size_t i = minus; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        sum = sum * 10 + (text[i] - '0');
    }
    *number = minus ? -sum : sum;
    return true;
}

/* {"at":TIME,"attempt":0,"kind":"unknown",…}: as scripts/return.lua writes it. */
static double unknown_since(const char *error, size_t len)
{
    static const char head[] = "{\"at\":", kind[] = "\"kind\":\"unknown\"";
    char time[24];

    if (len < sizeof head + sizeof time || memcmp(error, head, sizeof head - 1) != 0 ||
        !memmem(error, len, kind, sizeof kind - 1))
        return 0;
    memcpy(time, error + sizeof head - 1, sizeof time - 1);
    time[sizeof time - 1] = '\0';
    return strtod(time, NULL);
}

/* Seconds as the scripts write them, such as 60.000000. */
static double record_read_seconds(const char *text, size_t len)
{
    char bytes[32];

    if (len == 0 || len >= sizeof bytes || strspn(text, "0123456789.") < len)
        return 0;
    memcpy(bytes, text, len);
    bytes[len] = '\0';
    return strtod(bytes, NULL);
}

/* What a tag's whole value becomes. */
struct record_text {
    char tag;
    size_t text, len; /* offsets of the two members */
};

#define TEXT(tag, name)                                                                            \
    {                                                                                              \
        tag, offsetof(struct later_record, name), offsetof(struct later_record, name##_len)        \
    }

static const struct record_text record_texts[] = {
    TEXT('e', error),      TEXT('h', earlier), TEXT('g', progress),
    TEXT('m', checkpoint), TEXT('o', log),     TEXT('k', finished),
    TEXT('f', flows),      TEXT('n', next),    TEXT('v', flow),
};

/* False if it is not one of these tags. */
static bool record_read_text(struct later_record *record, char tag, const char *value, size_t len)
{
    size_t n = sizeof record_texts / sizeof *record_texts, i = 0;

    while (i < n && record_texts[i].tag != tag)
        i++;
    if (i == n)
        return false;
    *(const char **)((char *)record + record_texts[i].text) = value;
    *(size_t *)((char *)record + record_texts[i].len) = len;
    return true;
}

/* FIRST REST: where the rest begins; "" if there is none. */
static const char *record_rest(const char *value, size_t len, size_t *rest)
{
    const char *space = memchr(value, ' ', len);

    *rest = space ? len - (size_t)(space + 1 - value) : 0;
    return space ? space + 1 : "";
}

static void record_read_count(struct later_record *record, char tag, int32_t number)
{
    if (tag == 'p' && number >= -100 && number <= 100)
        record->priority = number;
    else if (tag == 'a' && number > 0)
        record->attempts = (uint32_t)number;
    else if (tag == 'c' && number >= 0)
        record->crashes = number;
    else if (tag == 'i' && number > 0)
        record->interrupts = (uint32_t)number;
}

static void record_read_value(struct later_record *record, char tag, const char *value, size_t len)
{
    const char *space = memchr(value, ' ', len);
    int32_t number;

    if (record_read_text(record, tag, value, len)) {
        if (tag == 'e')
            record->unknown_since = unknown_since(value, len);
    } else if (tag == 'l') { /* DUE KIND NAME */
        record->line = record_rest(value, len, &record->line_len);
    } else if (tag == 'q') { /* SINCE GROUP */
        record->since = space ? record_read_seconds(value, (size_t)(space - value)) : 0;
        record->group = record_rest(value, len, &record->group_len);
    } else if (tag == 's') {
        record->is_step = true;
    } else if (tag == 'r') {
        record->first_failed = record_read_seconds(value, len);
    } else if (tag == 'u') {
        record->unique_for = record_read_seconds(value, len);
    } else if (tag == 'd') {
        record->taken_until = record_read_seconds(value, len);
    } else if (record_read_number(value, len, &number)) {
        record_read_count(record, tag, number);
    }
}

void later_record_read(struct later_record *record, const char *text, size_t len)
{
    const char *end = text + len;

    *record = (struct later_record){ .crashes = -1,
                                     .error = "",
                                     .earlier = "",
                                     .progress = "",
                                     .checkpoint = "",
                                     .log = "",
                                     .finished = "",
                                     .flows = "",
                                     .group = "",
                                     .next = "",
                                     .line = "",
                                     .flow = "" };
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));

        line_end = line_end ? line_end : end;
        if (line_end - text > 2 && text[1] == '=')
            record_read_value(record, *text, text + 2, (size_t)(line_end - text) - 2);
        text = line_end + 1;
    }
}

/* Undoes what scripts/inc/escape.lua does, in place. Returns how many bytes are left. */
static size_t unescape(char *text, size_t len)
{
    size_t left = 0;

    for (size_t i = 0; i < len; i++) {
        const char *code = len - i > 2 && text[i] == '%' ? text + i + 1 : "";
        char meant = !strncmp(code, "25", 2)   ? '%'
                     : !strncmp(code, "0A", 2) ? '\n'
                     : !strncmp(code, "20", 2) ? ' '
                                               : 0;

        text[left++] = meant ? meant : text[i];
        i += meant ? 2 : 0;
    }
    return left;
}

int later_record_next(const struct later_record *record, struct later_record_next *next)
{
    const char *end = record->next + record->next_len;
    const char *note = memchr(record->next, ' ', record->next_len), *document;

    document = note ? memchr(note + 1, ' ', (size_t)(end - note) - 1) : NULL;
    if (!document)
        return 0;
    *next = (struct later_record_next){
        .due = record_read_seconds(record->next, (size_t)(note - record->next)),
        .record = malloc((size_t)(end - note)),
        .record_len = (size_t)(document - note) - 1,
        .document_len = (size_t)(end - document) - 1,
    };
    if (!next->record)
        return -1;
    memcpy(next->record, note + 1, (size_t)(end - note) - 1);
    next->document = next->record + next->record_len + 1;
    next->record_len = unescape(next->record, next->record_len);
    next->document_len = unescape(next->document, next->document_len);
    return 1;
}
