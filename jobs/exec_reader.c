/* exec_reader.c: reads lines from a pipe, in bounded memory. */
#include "exec_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exec_read exec_reader_read(struct exec_reader *reader, int fd)
{
    ssize_t n;

    if (!reader->bytes && !(reader->bytes = malloc(reader->size + 1)))
        return EXEC_READ_END;
    if (reader->begin > 0) {
        reader->end -= reader->begin;
        memmove(reader->bytes, reader->bytes + reader->begin, reader->end);
        reader->begin = 0;
    }
    n = read(fd, reader->bytes + reader->end, reader->size - reader->end);
    if (n > 0) {
        reader->end += (size_t)n;
        return EXEC_READ_SOME;
    }
    return n == -1 && (errno == EAGAIN || errno == EINTR) ? EXEC_READ_NONE : EXEC_READ_END;
}

/* Returns the bytes from begin to `end` as a line. What follows begins at `next`. */
static char *line_of(struct exec_reader *reader, size_t end, size_t next)
{
    char *line = reader->bytes + reader->begin;

    for (size_t i = reader->begin; i < end; i++) {
        if (reader->bytes[i] == '\0')
            reader->bytes[i] = '?';
    }
    reader->bytes[end] = '\0';
    reader->begin = next;
    return line;
}

char *exec_reader_line(struct exec_reader *reader, bool *cut)
{
    *cut = false;
    while (reader->begin < reader->end) {
        char *line = reader->bytes + reader->begin;
        char *newline = memchr(line, '\n', reader->end - reader->begin);
        size_t at = newline ? (size_t)(newline - reader->bytes) : reader->end;

        if (reader->skipping) {
            reader->skipping = !newline;
            reader->begin = newline ? at + 1 : reader->end;
        } else if (newline) {
            return line_of(reader, at, at + 1);
        } else if (reader->begin == 0 && reader->end == reader->size) {
            reader->skipping = *cut = true;
            return line_of(reader, reader->end, reader->end);
        } else {
            break;
        }
    }
    return NULL;
}

char *exec_reader_rest(struct exec_reader *reader)
{
    if (reader->skipping || reader->begin >= reader->end)
        return NULL;
    return line_of(reader, reader->end, reader->end);
}

void exec_reader_clear(struct exec_reader *reader)
{
    reader->begin = reader->end = 0;
    reader->skipping = false;
}

void exec_reader_free(struct exec_reader *reader)
{
    free(reader->bytes);
    reader->bytes = NULL;
    exec_reader_clear(reader);
}
