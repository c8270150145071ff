/*
 * exec_reader.h: lines out of a pipe, in bounded memory.
 */
#ifndef LATER_JOBS_EXEC_READER_H
#define LATER_JOBS_EXEC_READER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero it, set size; exec_reader_free() in the end. */
struct exec_reader {
    char *bytes;
    size_t size;       /* of bytes: the longest line that is taken whole */
    size_t begin, end; /* of what has been read and not been given out */
    bool skipping;     /* within a line that was too long */
};

/* What one read brought. */
enum exec_read { EXEC_READ_SOME, EXEC_READ_NONE, EXEC_READ_END };

/* Reads once from a descriptor that does not block. Take all lines before the next call. */
enum exec_read exec_reader_read(struct exec_reader *reader, int fd);

/* The next line, without its newline, terminated; NULL when there is none yet. *cut: it was longer,
 * these are its first bytes. Valid until the next read. NUL bytes in it become '?'. */
char *exec_reader_line(struct exec_reader *reader, bool *cut);

/* Behind the end of the file: a last line without its newline, or NULL. */
char *exec_reader_rest(struct exec_reader *reader);

/* Forgets all that was read. */
void exec_reader_clear(struct exec_reader *reader);
void exec_reader_free(struct exec_reader *reader);

#endif
