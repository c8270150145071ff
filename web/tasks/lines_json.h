/*
 * lines_json.h: lines of JSON, as a `later` command prints them, that become the elements of a
 * list.
 */
#ifndef LATER_WEB_LINES_JSON_H
#define LATER_WEB_LINES_JSON_H

#include <stddef.h>
#include <stdio.h>

struct lines_json {
    char *text; /* owned; with a comma between two lines; NULL: none, or no memory */
    size_t len, count;
    FILE *out; /* while lines are being added */
};

/* Begins a list. What was in it must have been freed. */
void lines_json_begin(struct lines_json *lines);
void lines_json_add(struct lines_json *lines, const char *line, size_t len);
/* No more lines come. */
void lines_json_end(struct lines_json *lines);
void lines_json_free(struct lines_json *lines);

/* The elements; "" if there are none. Borrowed until the list is freed. */
const char *lines_json_text(const struct lines_json *lines);

#endif
