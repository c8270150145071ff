/*
 * lines_json.h: lines of JSON, as a `later` command prints them, that become the elements of a
 * list.
 */
#ifndef LATER_WEB_LINES_JSON_H
#define LATER_WEB_LINES_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The list that is known, and the one that is coming. Zeroed, it is empty. */
struct lines_json {
    char *text, *fresh; /* owned; with a comma between two lines; NULL: none, or no memory */
    size_t len, count;  /* of the one that is coming */
    FILE *out;          /* while lines are being added to it */
};

/* Begins another list; the known one stays meanwhile. */
void lines_json_begin(struct lines_json *lines);
void lines_json_add(struct lines_json *lines, const char *line, size_t len);
/* No more lines come. keep: the new list takes the place of the known one, otherwise it is dropped.
 * Returns whether it is another one. */
bool lines_json_end(struct lines_json *lines, bool keep);
void lines_json_free(struct lines_json *lines);

/* The elements of the known list; "" if there are none. Borrowed until another one is kept. */
const char *lines_json_text(const struct lines_json *lines);

#endif
