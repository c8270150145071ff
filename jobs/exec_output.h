/*
 * exec_output.h: what programs print: the last bytes for an error, lines for the log.
 */
#ifndef LATER_JOBS_EXEC_OUTPUT_H
#define LATER_JOBS_EXEC_OUTPUT_H

#include <later/job.h>

#include <stddef.h>

/* clang-format off */
/* @answers limit.error,limit.line: #define EXEC_{UPPER}_MAX {most} /@ {help} @/ */
#define EXEC_ERROR_MAX 1000 /* bytes of an error that are kept */
#define EXEC_LINE_MAX 131072 /* bytes of a line, in which a value of 64 KiB may take twice as many */
/* @end */
/* clang-format on */

/* The last bytes that a program printed. */
struct exec_output {
    char *bytes; /* owned by the maker of this struct */
    size_t size; /* room in bytes: how much to keep */
    size_t len;
};

/* Adds bytes. What no longer fits is dropped from the front. */
void exec_output_keep(struct exec_output *output, const char *bytes, size_t len);

/* Returns what a person should look at if these bytes say that a file system is read-only, which is
 * what the service's sandbox makes of most; or "". */
const char *exec_output_hint(const char *bytes, size_t len);

/* Writes the reason, such a hint, and as much of the end of the output as fits into text[n], in
 * whole characters. */
void exec_output_text(char *text, size_t n, const char *reason, const struct exec_output *output);

/* Sets the job's error: the reason, and as much of the end of the output as fits, in whole
 * characters. */
void exec_output_fail(struct later_job *job, const char *reason, const struct exec_output *output);

/* Takes the sequences out of a line by which a terminal shows colours: a log has no use for them.
 */
void exec_output_plain(char *line);

/* Returns the level of a printed line, and where its text begins. The level is a prefix <0> to <7>,
 * as in sd-daemon(3), or the member "level" of a JSON line: a word, or a number as pino uses. The
 * default is LATER_INFO. */
enum later_level exec_output_level(const char *line, const char **text);

/* Returns the level that a word names, as "warning", or -1. */
int exec_output_level_of(const char *word);

#endif
