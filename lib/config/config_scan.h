/*
 * config_scan.h: a configuration file and everything it includes as one text, for libconfig to
 * read.
 *
 * libconfig 1.5 silently wraps numbers (3000000000 is read as -1294967296) unless they have an L,
 * and then it wraps beyond 64 bits. Also, it finds either relative or absolute includes, not both.
 * So the scan adds an L to whole numbers, refuses those that are still too large, replaces
 * `@include` by the included text, and remembers which line of the text is which line of which
 * file. For that it has to know strings and comments. libconfig reports all other mistakes in a
 * file.
 */
#ifndef LATER_CONFIG_SCAN_H
#define LATER_CONFIG_SCAN_H

#include "config/config_table.h"

/* From text_line of the whole text on, the lines are those of path from line `from` on. */
struct config_segment {
    const char *path;
    unsigned line, from;
};

struct config_scan {
    char **paths; /* of all files of all calls; the places of options point there */
    size_t path_count;
    char *text; /* of the last call, as all that follows; NUL-terminated */
    size_t text_len;
    unsigned text_line; /* the line that its end is on */
    struct config_segment *segments;
    size_t segment_count;
};

/* Reads a file and what it includes, relative to dir. *scan is zeroed by the caller before the
 * first call; the paths of earlier calls stay. Returns 0, or -1 with *err ("FILE:LINE: …"). */
int config_scan(struct config_scan *scan, const char *path, const char *dir,
                struct later_error *err);

/* Returns the file and line of a line of the whole text. Its path lives as long as the scan. */
struct config_location config_scan_location(const struct config_scan *scan, unsigned line);

/* Frees what it holds, not *scan itself. */
void config_scan_free(struct config_scan *scan);

#endif
