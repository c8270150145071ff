/* json_layout.c: the white space of JSON. */
#include "job/json_layout.h"

#include "job/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 2 /* spaces a level */

/* Returns how many bytes the string at `at` has, with its quotes; len bytes are there. */
static size_t json_layout_string(const char *at, size_t len)
{
    size_t i = 1;

    while (i < len && at[i] != '"')
        i += at[i] == '\\' ? 2 : 1;
    return i < len ? i + 1 : len;
}

size_t later_json_compact(char *bytes, size_t len)
{
    size_t made = 0, part;

    for (size_t i = 0; i < len; i += part) {
        part = bytes[i] == '"' ? json_layout_string(bytes + i, len - i) : 1;
        if (later_json_is_space(bytes[i]))
            continue;
        memmove(bytes + made, bytes + i, part);
        made += part;
    }
    return made;
}

static void json_layout_break(FILE *to, size_t depth)
{
    fprintf(to, "\n%*s", (int)(STEP * depth), "");
}

/* Writes one part. `next` is the byte behind it, of compact JSON. */
static void json_layout_part(FILE *to, const char *part, size_t len, char next, size_t *depth)
{
    bool opens = *part == '{' || *part == '[', ends = *part == '}' || *part == ']';
    bool empty = opens && (next == '}' || next == ']');

    *depth += opens;
    fwrite(part, 1, len, to);
    if (*part == ':')
        putc(' ', to);
    if ((opens && !empty) || *part == ',')
        json_layout_break(to, *depth);
    if (ends && *depth > 0)
        --*depth;
    if (!opens && *part != ',' && (next == '}' || next == ']') && *depth > 0)
        json_layout_break(to, *depth - 1);
}

char *later_json_indent(const char *bytes, size_t len, size_t *made)
{
    char *text = NULL, *flat = malloc(len + 1);
    FILE *to = flat ? open_memstream(&text, made) : NULL;
    size_t depth = 0, part;

    if (!to) {
        free(flat);
        return NULL;
    }
    memcpy(flat, bytes, len);
    len = later_json_compact(flat, len);
    flat[len] = '\0';
    for (size_t i = 0; i < len; i += part) {
        part = flat[i] == '"' ? json_layout_string(flat + i, len - i) : 1;
        json_layout_part(to, flat + i, part, flat[i + part], &depth);
    }
    free(flat);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
