/*
 * exec_output.h: what programs print, for people: its last bytes for an error, its lines for the
 * log.
 */
#ifndef LATER_JOBS_EXEC_OUTPUT_H
#define LATER_JOBS_EXEC_OUTPUT_H

#include <later/job.h>

#include <stddef.h>

/* The last bytes of what a program printed. */
struct exec_output {
    char *bytes; /* owned by whoever made it */
    size_t size; /* of bytes: how much to keep */
    size_t len;
};

/* Adds bytes; what there is no room for goes at the front. */
void exec_output_keep(struct exec_output *output, const char *bytes, size_t len);

/* The reason, and as much of the end of the output as there is room for in text[n], in whole
 * characters. */
void exec_output_text(char *text, size_t n, const char *reason, const struct exec_output *output);

/* Sets the job's error: the reason, and as much of the end of the output as there is room for, in
 * whole characters. */
void exec_output_fail(struct later_job *job, const char *reason, const struct exec_output *output);

/* The level of a printed line, and where its text begins: <0> to <7> in front, as of sd-daemon(3),
 * or the member "level" of a JSON line, a word or a number as of pino. Else LATER_INFO. */
enum later_level exec_output_level(const char *line, const char **text);

/* The level that a word names, such as "warning"; -1 if none. */
int exec_output_level_of(const char *word);

#endif
