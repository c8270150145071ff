/*
 * table.h: rows for people or for programs.
 *
 * On a terminal: a line of headings, columns aligned, the last one cut at the edge. Elsewhere: each
 * row at once, its cells separated by TAB, no headings. Control characters in a cell never reach a
 * terminal; for programs, TAB and line ends in a cell become spaces and all else stays.
 */
#ifndef LATER_CLI_TABLE_H
#define LATER_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_COLUMNS_MAX 20

enum colour { PLAIN, BOLD, DIM, RED, GREEN, YELLOW };

struct table_cell {
    char *text; /* owned */
    enum colour colour;
};

struct table {
    bool aligned, coloured;
    bool whole; /* set it after table_begin(): the last column is not cut */
    size_t columns, count, room;
    const char *headings[TABLE_COLUMNS_MAX];
    struct table_cell *cells; /* of an aligned table, row by row */
};

/* headings: "QUEUE", or ">READY" for a column of numbers; ends with NULL. Strings are borrowed. */
void table_begin(struct table *table, bool aligned, bool coloured, const char *const *headings);

/* The next cell: bytes; a string; a number; a number of seconds for people ("5 min") or, for
 * programs, in seconds; "-" (for programs: nothing). */
void table_bytes(struct table *table, enum colour colour, const char *bytes, size_t len);
void table_text(struct table *table, enum colour colour, const char *text);
void table_number(struct table *table, enum colour colour, uint64_t number);
void table_age(struct table *table, enum colour colour, double seconds);
void table_none(struct table *table);

/* Prints what is left to standard output and frees everything. Nothing at all for no rows. */
void table_end(struct table *table);

/* The sequences that begin a colour, PLAIN to end it; "" where not coloured. */
const char *table_colour(bool coloured, enum colour colour);

#endif
