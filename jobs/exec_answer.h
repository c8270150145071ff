/*
 * exec_answer.h: a job as a line for a long-lived program, and the line that answers it. Pure.
 *
 *     {"id":"j-1","type":"exec.resize","queue":"default","attempt":1,"max_attempts":25,
 *      "time_left":299.9,"trace":"t-9","document":{...}}
 *     {"id":"j-1","result":"retry","error":"no room","in":60}
 */
#ifndef LATER_JOBS_EXEC_ANSWER_H
#define LATER_JOBS_EXEC_ANSWER_H

#include <later/job.h>

#include <stdbool.h>
#include <stddef.h>

/* The job as one line with its newline, *len bytes, for the caller to free(). The document's bytes
 * as they were pushed, but for line breaks between its values, which are spaces here: within a
 * string JSON has none. NULL without memory. */
char *exec_answer_ask(const struct later_job *job, size_t *len);

/* Reads an answer to the job; sets its error and when to try again. Returns its result; or -1 with
 * *why (static) if the line is no answer to this job. An answer that names the job and says nothing
 * that is known is a retry. */
int exec_answer_read(struct later_job *job, const char *line, const char **why);

#endif
