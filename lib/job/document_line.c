/* document_line.c: a line of a file of jobs. */
#include "job/document_line.h"

#include "job/document_text.h"
#include "job/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- base64 --- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Returns how many characters were written: 4 for each 3 bytes or a part of them. */
static size_t document_line_encode(char *to, const char *bytes, size_t len)
{
    const unsigned char *from = (const unsigned char *)bytes;
    char *start = to;

    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t group = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[group & 63] : '=';
    }
    return (size_t)(to - start);
}

/* Decodes text into at most as many bytes. Returns 0, or -1 if it is not base64. */
static int decode(char *to, size_t *len, const char *text, size_t text_len)
{
    size_t pads = text_len > 0 && text[text_len - 1] == '=';
    uint32_t group = 0;

    pads += pads && text_len > 1 && text[text_len - 2] == '=';
    *len = 0;
    for (size_t i = 0; i < text_len; i++) {
        const char *digit = i + pads >= text_len ? digits : strchr(digits, text[i]);

        if (!digit || !text[i])
            return -1;
        group = group << 6 | (uint32_t)(digit - digits);
        for (int n = 16; i % 4 == 3 && n >= 0; n -= 8)
            to[(*len)++] = (char)(group >> n);
    }
    *len -= pads;
    return text_len % 4 == 0 ? 0 : -1;
}

/* --- reading --- */

/* Takes how the job is to be pushed. max: most bytes that its document may have then. */
static int take_wishes(struct later_line *line, const char *id, const struct later_document *said,
                       size_t max, struct later_error *err)
{
    struct later_push_item *item = &line->item;

    strcpy(line->id, id);
    strcpy(line->queue, said->queue);
    item->id = *id ? line->id : NULL;
    /* @options line: item->{name} = said->{name}; */
    item->in = said->in;
    item->at = said->at;
    item->expires_in = said->expires_in;
    item->unique_for = said->unique_for;
    item->again = said->again;
    item->debounce = said->debounce;
    item->max_wait = said->max_wait;
    item->throttle = said->throttle;
    /* @end */
    item->has_expires_at = said->expires_at > 0;
    if (item->expires_in > 0 && item->document_len + LATER_EXPIRES_ROOM > max)
        return later_fail(
            err, LATER_E_DATA,
            "too large: expires_in adds to its %zu bytes, %zu allowed" LATER_DOCUMENT_REMEDY,
            item->document_len, max);
    return later_push_check(item, err);
}

/* Reads a line that is a job document. */
static int document_line_take_document(struct later_line *line, const char *bytes, size_t len,
                                       size_t max, struct later_error *err)
{
    struct later_document doc;

    if (later_document_parse(&doc, LATER_DOCUMENT_LINE, bytes, len, max, err) < 0)
        return -1;
    line->item.document = bytes;
    line->item.document_len = len;
    line->item.priority = doc.priority;
    line->tied = doc.after || doc.flow[0] || doc.step[0];
    strcpy(line->item.group, doc.group);
    return take_wishes(line, doc.id, &doc, max, err);
}

static int decode_document(struct later_line *line, const struct later_json_member *value,
                           struct later_error *err)
{
    size_t len;
    char *text;

    if (value->value[0] != '"')
        return later_fail(err, LATER_E_DATA, "document_base64: must be a string");
    text = line->owned = malloc(value->len);
    if (!text)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    len = later_json_text(value->value, value->len, text, value->len);
    line->item.document = text; /* decoded in place: three bytes for four characters */
    if (decode(text, &line->item.document_len, text, len) < 0)
        return later_fail(err, LATER_E_DATA, "document_base64: is not base64");
    return 0;
}

/* What a line may have beside a document, and the document itself. */
enum {
    PLAIN,
    ENCODED,
    PRIORITY,
    QUEUE,
    ID,
    /* @options line: {UPPER}, */
    IN,
    AT,
    EXPIRES_IN,
    UNIQUE_FOR,
    AGAIN,
    DEBOUNCE,
    MAX_WAIT,
    THROTTLE,
    /* @end */
    OTHER,
    BESIDE
};

/* Finds the bytes of the document in a line. */
static int document_line_find_document(struct later_line *line,
                                       const struct later_json_member *found,
                                       struct later_error *err)
{
    const struct later_json_member *plain = &found[PLAIN], *encoded = &found[ENCODED];

    if (plain->value && encoded->value)
        return later_fail(err, LATER_E_DATA, "document and document_base64: only one of them");
    if (encoded->value)
        return decode_document(line, encoded, err);
    if (plain->value[0] == '"')
        return later_fail(err, LATER_E_DATA,
                          "document: is a string, as `later peek` and `show` print it; `later "
                          "export` writes lines that can be pushed");
    if (plain->value[0] != '{')
        return later_fail(err, LATER_E_DATA, "document: must be an object");
    line->item.document = plain->value;
    line->item.document_len = plain->len;
    return 0;
}

/* Reads what is beside the document. */
static int take_members(struct later_document *beside, const struct later_json_member *found,
                        struct later_error *err)
{
    char name[40];
    size_t len;

    if (found[OTHER].value) {
        len = later_json_text(found[OTHER].value, found[OTHER].len, name, sizeof name);
        return later_fail(err, LATER_E_DATA, "%.*s: unknown beside a document, and would be lost",
                          (int)(len < sizeof name ? len : sizeof name), name);
    }
    for (size_t i = PRIORITY; i < OTHER; i++) {
        if (found[i].value && later_document_member(beside, &found[i], err) < 0)
            return -1;
    }
    return 0;
}

static int take_envelope(struct later_line *line, const struct later_json_member *found, size_t max,
                         struct later_error *err)
{
    struct later_document beside = { .id = "" }, doc;
    struct later_error why;

    if (document_line_find_document(line, found, err) < 0 || take_members(&beside, found, err) < 0)
        return -1;
    if (later_document_parse(&doc, LATER_DOCUMENT_JOB, line->item.document, line->item.document_len,
                             max, &why) < 0)
        return later_fail(err, why.code, "document: %s", why.text);
    line->item.priority = found[PRIORITY].value ? beside.priority : doc.priority;
    strcpy(line->item.group, doc.group);
    beside.expires_at = doc.expires_at;
    line->tied =
        doc.after != NULL; /* `later export` wrote it; without `after` it is as any other */
    return take_wishes(line, beside.id[0] ? beside.id : doc.id, &beside, max, err);
}

int later_line_parse(struct later_line *line, const char *bytes, size_t len, size_t max,
                     struct later_error *err)
{
    struct later_json_member found[BESIDE] = {
        [PLAIN] = { .name = "document" },
        [ENCODED] = { .name = "document_base64" },
        [PRIORITY] = { .name = "priority" },
        [QUEUE] = { .name = "queue" },
        [ID] = { .name = "id" },
        /* @options line: [{UPPER}] = { .name = "{name}" }, */
        [IN] = { .name = "in" },
        [AT] = { .name = "at" },
        [EXPIRES_IN] = { .name = "expires_in" },
        [UNIQUE_FOR] = { .name = "unique_for" },
        [AGAIN] = { .name = "again" },
        [DEBOUNCE] = { .name = "debounce" },
        [MAX_WAIT] = { .name = "max_wait" },
        [THROTTLE] = { .name = "throttle" },
        /* @end */
    };
    int result;

    *line = (struct later_line){ .owned = NULL };
    if (len > LATER_LINE_ROOM(max)) /* of such a line no more was read */
        return later_fail(err, LATER_E_DATA,
                          "too large: over %zu bytes, %zu allowed" LATER_DOCUMENT_REMEDY,
                          LATER_LINE_ROOM(max), max);
    /* Nearly all lines are job documents, which should not be parsed twice. If the name is written
     * with escapes, it is overlooked here, and refused as a member of a job document. */
    if (!memmem(bytes, len, "\"document", 9))
        return document_line_take_document(line, bytes, len, max, err);
    if (later_json_scan(bytes, len, found, BESIDE, err) < 0)
        return -1;
    if (found[PLAIN].value || found[ENCODED].value)
        result = take_envelope(line, found, max, err);
    else
        result = document_line_take_document(line, bytes, len, max, err);
    if (result < 0)
        later_line_free(line);
    return result;
}

void later_line_free(struct later_line *line)
{
    free(line->owned);
    line->owned = NULL;
}

/* --- writing --- */

static size_t put_text(char *to, const char *name, const char *text)
{
    size_t len = (size_t)sprintf(to, "\"%s\":", name);

    len += later_document_string(to + len, text, strlen(text), NULL);
    to[len] = ',';
    return len + 1;
}

/* Writes a number unless it is 0. */
static size_t document_line_put_number(char *to, const char *name, double number)
{
    size_t len;

    if (number <= 0)
        return 0;
    len = (size_t)sprintf(to, "\"%s\":", name);
    len += later_document_number(to + len, number);
    to[len] = ',';
    return len + 1;
}

static size_t put_beside(char *to, const struct later_line *line)
{
    size_t len = 0;

    to[len++] = '{';
    if (line->queue[0])
        len += put_text(to + len, "queue", line->queue);
    if (line->item.id)
        len += put_text(to + len, "id", line->item.id);
    len += document_line_put_number(to + len, "at", line->item.at);
    len += document_line_put_number(to + len, "unique_for", line->item.unique_for);
    len += document_line_put_number(to + len, "throttle", line->item.throttle);
    if (line->item.again)
        len += (size_t)sprintf(to + len, "\"again\":true,");
    return len + (size_t)sprintf(to + len, "\"priority\":%d,", (int)line->item.priority);
}

/* Can the line be read back, the same bytes in it? If not, *err may say why. */
static bool is_read_back(const struct later_push_item *item, const char *bytes, size_t len,
                         struct later_error *err)
{
    struct later_line again;
    bool same;

    if (memchr(bytes, '\n', len) ||
        later_line_parse(&again, bytes, len, item->document_len, err) < 0)
        return false;
    same = again.item.document_len == item->document_len &&
           memcmp(again.item.document, item->document, item->document_len) == 0;
    later_line_free(&again);
    return same;
}

char *later_line_build(const struct later_line *line, size_t *len, struct later_error *err)
{
    const struct later_push_item *item = &line->item;
    char *bytes = malloc(LATER_LINE_ROOM(item->document_len) + 6 * sizeof line->id), *to;
    size_t beside;

    if (!bytes) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    beside = put_beside(bytes, line);
    to = bytes + beside + sprintf(bytes + beside, "\"document\":");
    memcpy(to, item->document, item->document_len);
    to[item->document_len] = '}';
    *len = (size_t)(to - bytes) + item->document_len + 1;
    if (!is_read_back(item, bytes, *len, err)) {
        to = bytes + beside + sprintf(bytes + beside, "\"document_base64\":\"");
        to += document_line_encode(to, item->document, item->document_len);
        *len = (size_t)(to - bytes) + (size_t)sprintf(to, "\"}");
        if (!is_read_back(item, bytes, *len, err)) {
            free(bytes);
            return NULL;
        }
    }
    bytes[*len] = '\0';
    return bytes;
}
