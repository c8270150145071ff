/*
 * exec_reader.h: reads lines from a pipe, in bounded memory.
 */
#ifndef LATER_JOBS_EXEC_READER_H
#define LATER_JOBS_EXEC_READER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero it and set size. Call exec_reader_free() at the end. */
struct exec_reader {
    char *bytes;
    size_t size;       /* room in bytes: the longest line that is taken whole */
    size_t begin, end; /* the range of bytes that are read but not used yet */
    bool skipping;     /* the rest of a line that was too long is being skipped */
};

/* The result of one read. */
enum exec_read { EXEC_READ_SOME, EXEC_READ_NONE, EXEC_READ_END };

/* Reads once from a non-blocking descriptor. All lines must be taken before the next call. */
enum exec_read exec_reader_read(struct exec_reader *reader, int fd);

/* Returns the next line without its newline, as a string, or NULL if there is none yet. If *cut, it
 * was longer and these are its first bytes. Valid until the next read. NUL bytes become '?'. */
char *exec_reader_line(struct exec_reader *reader, bool *cut);

/* After the end of the file: returns a last line that has no newline, or NULL. */
char *exec_reader_rest(struct exec_reader *reader);

/* Forgets everything that was read. */
void exec_reader_clear(struct exec_reader *reader);
void exec_reader_free(struct exec_reader *reader);

#endif
