/* mask.c: members of JSON whose values readers do not see. */
#include "http/mask.h"

#include "job/json.h"
#include "output/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH 4 /* JSON in a string of JSON; what is deeper is masked as a whole */

/* What is masked as a whole: a document in base64 (job/document_line.h), into which nobody looks,
 * and the conditions of a saved search that look into documents. */
static const char *const opaque[] = { "document_base64", "looks_inside" };

bool mask_has(const struct mask *mask, const char *name)
{
    for (size_t i = 0; mask->count > 0 && i < sizeof opaque / sizeof *opaque; i++) {
        if (strcmp(name, opaque[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < mask->count; i++) {
        if (strcasecmp(mask->names[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns where the string that begins at `at` ends: after its closing quote, or at `end`. */
static const char *mask_string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

static const char *mask_skip_space(const char *at, const char *end)
{
    while (at < end && *at && strchr(" \t\r\n", *at))
        at++;
    return at;
}

/* Returns where the value that begins at `at` ends. */
static const char *mask_value_end(const char *at, const char *end)
{
    int depth = 0;

    for (at = mask_skip_space(at, end); at < end; at++) {
        if (*at == '"')
            at = mask_string_end(at, end) - 1;
        else if (*at == '{' || *at == '[')
            depth++;
        else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
            return at;
        else if (*at == '}' || *at == ']')
            depth--;
    }
    return end;
}

/* Returns what the string from `from` to `to`, with its quotes, means. malloc'ed; NULL without
 * memory, or if it is no string of JSON: what is in a string need not be JSON, even if it looks so.
 */
static char *mask_decode(const char *from, const char *to, size_t *len)
{
    size_t size = (size_t)(to - from);
    struct later_error err;
    char *text = NULL;

    if (later_json_scan(from, size, NULL, 0, &err) == 0)
        text = malloc(size + 1);
    if (text) {
        *len = later_json_text(from, size, text, size);
        text[*len] = '\0';
    }
    return text;
}

/* --- what is written --- */

static void mask_put(const struct mask *mask, FILE *out, const char *at, const char *end,
                     int depth);

/* A string may be JSON itself: a job's document is, or a string in which one is. If nothing in it
 * is masked, its bytes stay. Without memory all of it is masked. */
static void mask_put_string(const struct mask *mask, FILE *out, const char *from, const char *to,
                            const char *meant, size_t len, int depth)
{
    const char *first = mask_skip_space(meant, meant + len);
    char *inner = NULL;
    size_t inner_len = 0;
    bool json = *first == '{' || *first == '[' || *first == '"';
    FILE *into = json ? open_memstream(&inner, &inner_len) : NULL;

    if (into) {
        mask_put(mask, into, meant, meant + len, depth + 1);
        fclose(into);
    }
    if (json && (!inner || depth >= DEPTH))
        fputs("\"" MASKED "\"", out);
    else if (inner && (inner_len != len || memcmp(inner, meant, len) != 0))
        jsonl_string(out, inner, inner_len);
    else
        fwrite(from, 1, (size_t)(to - from), out);
    free(inner);
}

/* Writes the string from `from` to `to`. Returns where to go on: behind the value, if it is a
 * member's name that is masked. What cannot be read is masked. */
static const char *mask_put_one(const struct mask *mask, FILE *out, const char *from,
                                const char *to, const char *end, int depth)
{
    const char *behind = mask_skip_space(to, end);
    size_t len = 0;
    char *meant = mask_decode(from, to, &len);

    if (behind < end && *behind == ':') {
        fwrite(from, 1, (size_t)(to - from), out);
        if (!meant || mask_has(mask, meant)) {
            fputs(":\"" MASKED "\"", out);
            to = mask_value_end(behind + 1, end);
        }
    } else if (meant) {
        mask_put_string(mask, out, from, to, meant, len, depth);
    } else {
        fputs("\"" MASKED "\"", out);
    }
    free(meant);
    return to;
}

static void mask_put(const struct mask *mask, FILE *out, const char *at, const char *end, int depth)
{
    const char *next;

    for (; at < end && depth <= DEPTH; at = next) {
        if (*at == '"') {
            next = mask_put_one(mask, out, at, mask_string_end(at, end), end, depth);
            continue;
        }
        next = memchr(at, '"', (size_t)(end - at));
        next = next ? next : end;
        fwrite(at, 1, (size_t)(next - at), out);
    }
}

char *mask_line(const struct mask *mask, const char *line, size_t *len)
{
    const char *end = line + *len;
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out)
        return NULL;
    mask_put(mask, out, line, end, 0);
    return jsonl_written(out, &text);
}
