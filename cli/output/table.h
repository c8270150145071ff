/*
 * table.h: rows for people or for programs.
 *
 * On a terminal, there is a line of headings, columns are aligned, and the last one is cut at the
 * edge. Elsewhere each row is printed at once, with TABs between its cells and without headings.
 * Control characters in a cell never reach a terminal. For programs, TABs and line ends in a cell
 * become spaces, and all else stays.
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
    bool whole;          /* do not cut the last column; set it after table_begin() */
    const char *instead; /* what a person reads if there is no row, or NULL; borrowed; the same */
    size_t columns, count, room;
    const char *headings[TABLE_COLUMNS_MAX];
    struct table_cell *cells; /* cells of an aligned table, row by row */
};

/* headings: "QUEUE", or ">READY" for a column of numbers; ends with NULL. The strings are
 * borrowed. */
void table_begin(struct table *table, bool aligned, bool coloured, const char *const *headings);

/* Add a cell: bytes; a string; a text in printf's form; a number; seconds, as "5 min" for people
 * and as a number for programs; bytes, as "12.3 MiB"; a time, as RFC 3339. table_none() adds
 * nothing, which is "-" for people; so do a string that is NULL, and table_known_age() for less
 * than 0 seconds. */
void table_bytes(struct table *table, enum colour colour, const char *bytes, size_t len);
void table_text(struct table *table, enum colour colour, const char *text);
void table_print(struct table *table, enum colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_number(struct table *table, enum colour colour, uint64_t number);
void table_age(struct table *table, enum colour colour, double seconds);
void table_size(struct table *table, uint64_t bytes);
void table_time(struct table *table, enum colour colour, double unix_seconds);
void table_known_age(struct table *table, enum colour colour, double seconds);
void table_none(struct table *table);

/* Prints what is left to standard output and frees everything. A table without rows prints
 * nothing, or what a person reads instead. */
void table_end(struct table *table);

/* Returns the sequence that begins a colour, or ends it (PLAIN). Returns "" if not coloured. */
const char *table_colour(bool coloured, enum colour colour);

#endif
