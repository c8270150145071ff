/*
 * lines.h: reads lines of any length from a file descriptor, in bounded memory.
 */
#ifndef LATER_CLI_LINES_H
#define LATER_CLI_LINES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
    int fd;
    size_t max; /* bytes of a line that are kept */
    char *buffer;
    size_t room, start, end; /* buffer[start … end) is read but not used yet */
    bool ended;
    int failed;     /* errno of a failed read, or 0 */
    uint64_t bytes; /* bytes read so far */
    /* Set by a handler of INT or TERM: lines_next() then returns NULL rather than wait. NULL =
     * none.
     */
    const volatile sig_atomic_t *stop;
};

/* max: the longest line that is returned whole. */
void lines_begin(struct lines *lines, int fd, size_t max);

/* Returns the next line without its newline, valid until the next call. If *len is more
 * than max, the line was too long: its first max + 1 bytes are there, and the rest is skipped.
 * Returns NULL at the end, or if a read failed; lines->failed is then its errno. */
const char *lines_next(struct lines *lines, size_t *len);

/* Would lines_next() have to wait for input that is not there yet? Reads what is there, so the line
 * that lines_next() has returned is no longer valid. */
bool lines_would_wait(struct lines *lines);

void lines_end(struct lines *lines);

/* Reads all of a descriptor, of more than `max` bytes max + 1, and adds a NUL. Returns malloc'ed
 * bytes; NULL with errno. */
char *lines_all(int fd, size_t max, size_t *len);

#endif
