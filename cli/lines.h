/*
 * lines.h: lines of any length from a file descriptor, in bounded memory.
 */
#ifndef LATER_CLI_LINES_H
#define LATER_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
    int fd;
    size_t max; /* bytes of a line that are kept */
    char *buffer;
    size_t room, start, end; /* what is read and not taken yet: buffer[start … end) */
    bool ended;
    int failed;     /* errno of a read that failed, or 0 */
    uint64_t bytes; /* read so far */
};

/* max: the longest line that is handed out whole. */
void lines_begin(struct lines *lines, int fd, size_t max);

/* The next line without its newline (and without a CR before it), valid until the next call.
 * *len may be more than max: then the line is longer, only its first max + 1 bytes are there, and
 * the rest is passed over. Returns NULL at the end, and where reading failed (lines->failed is
 * then an errno). */
const char *lines_next(struct lines *lines, size_t *len);

/* Would lines_next() have to wait for input that is not there yet? */
bool lines_would_wait(const struct lines *lines);

void lines_end(struct lines *lines);

#endif
