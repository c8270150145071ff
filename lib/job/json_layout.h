/*
 * json_layout.h: the white space of JSON, for people who edit it and for Redis, which keeps none.
 * Strings, numbers and the order of members stay as they are, byte for byte. Pure.
 */
#ifndef LATER_JSON_LAYOUT_H
#define LATER_JSON_LAYOUT_H

#include <stddef.h>

/* A copy of JSON that later_json_scan() took, with a line for each member and element, indented by
 * two spaces a level; {} and [] stay together. *made becomes its length. Returns malloc'ed bytes
 * with a NUL behind them; NULL without memory. */
char *later_json_indent(const char *bytes, size_t len, size_t *made);

/* Takes the white space between its parts out of any bytes, in place. Returns their length. */
size_t later_json_compact(char *bytes, size_t len);

#endif
