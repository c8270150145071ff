/* lines.c: lines in bounded memory. */
#include "lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

void lines_begin(struct lines *lines, int fd, size_t max)
{
    *lines = (struct lines){ .fd = fd, .max = max };
}

/* Waits for input. Returns false if it was stopped: a signal that comes between the look at `stop`
 * and the wait ends the wait, too. */
static bool lines_wait(const struct lines *lines)
{
    struct pollfd poller = { .fd = lines->fd, .events = POLLIN };
    sigset_t ends, before;

    if (!lines->stop)
        return true;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    while (!*lines->stop && ppoll(&poller, 1, NULL, &before) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !*lines->stop;
}

/* Moves the rest to the front and reads more. Returns false at the end or on failure. */
static bool lines_fill(struct lines *lines)
{
    size_t left = lines->end - lines->start;
    ssize_t got;

    if (lines->ended)
        return false;
    if (lines->start > 0)
        memmove(lines->buffer, lines->buffer + lines->start, left);
    lines->start = 0;
    lines->end = left;
    if (lines->room - left < CHUNK) {
        char *grown = realloc(lines->buffer, left + 2 * CHUNK);

        if (!grown) {
            lines->ended = true;
            lines->failed = ENOMEM;
            return false;
        }
        lines->buffer = grown;
        lines->room = left + 2 * CHUNK;
    }
    if (!lines_wait(lines)) {
        lines->ended = true;
        lines->end = lines->start; /* the rest is no whole line */
        return false;
    }
    do
        got = read(lines->fd, lines->buffer + left, CHUNK);
    while (got < 0 && errno == EINTR);
    if (got <= 0) {
        lines->ended = true;
        lines->failed = got < 0 ? errno : 0;
        return false;
    }
    lines->end += (size_t)got;
    lines->bytes += (uint64_t)got;
    return true;
}

/* Skips the rest of a line that is too long. Its beginning stays in the buffer. */
static void pass_over(struct lines *lines)
{
    size_t keep = lines->start + lines->max + 1;

    for (;;) {
        char *newline = memchr(lines->buffer + keep, '\n', lines->end - keep);

        if (newline) {
            size_t behind = lines->end - (size_t)(newline + 1 - lines->buffer);

            memmove(lines->buffer + keep, newline + 1, behind);
            lines->end = keep + behind;
            return;
        }
        lines->end = keep;
        if (!lines_fill(lines))
            return;
        keep = lines->max + 1; /* lines_fill() has moved it to the front */
    }
}

const char *lines_next(struct lines *lines, size_t *len)
{
    size_t looked = 0;

    if (!lines->buffer && !lines_fill(lines))
        return NULL;
    for (;;) {
        size_t have = lines->end - lines->start;
        char *line = lines->buffer + lines->start;
        char *newline = have > looked ? memchr(line + looked, '\n', have - looked) : NULL;

        if (newline) {
            *len = (size_t)(newline - line);
            lines->start += *len + 1;
            if (*len > lines->max)
                *len = lines->max + 1;
            return line;
        }
        if (have > lines->max) {
            pass_over(lines);
            line = lines->buffer + lines->start;
            lines->start += lines->max + 1;
            *len = lines->max + 1;
            return line;
        }
        looked = have;
        if (lines_fill(lines))
            continue;
        *len = lines->end - lines->start;
        line = lines->buffer + lines->start;
        lines->start = lines->end;
        return *len > 0 && !lines->failed ? line : NULL;
    }
}

static bool has_line(const struct lines *lines)
{
    return lines->end > lines->start &&
           memchr(lines->buffer + lines->start, '\n', lines->end - lines->start);
}

/* What is there may be less than a line, so it is read to be sure. */
bool lines_would_wait(struct lines *lines)
{
    struct pollfd poller = { .fd = lines->fd, .events = POLLIN };

    while (!lines->ended && !has_line(lines)) {
        if (poll(&poller, 1, 0) != 1)
            return true;
        if (lines->end - lines->start > lines->max || !lines_fill(lines))
            return false;
    }
    return false;
}

void lines_end(struct lines *lines)
{
    free(lines->buffer);
    *lines = (struct lines){ .fd = -1 };
}

char *lines_all(int fd, size_t max, size_t *len)
{
    char *bytes = calloc(1, max + 2);
    ssize_t got = 1;

    *len = 0;
    while (bytes && *len <= max && got != 0) {
        got = read(fd, bytes + *len, max + 1 - *len);
        if (got < 0 && errno != EINTR) {
            free(bytes);
            return NULL;
        }
        *len += got > 0 ? (size_t)got : 0;
    }
    return bytes;
}
