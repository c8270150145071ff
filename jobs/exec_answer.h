/*
 * exec_answer.h: a job as a line for a long-lived program, and the lines that it writes to
 * descriptor 3. Pure.
 *
 *     {"id":"j-1","type":"exec.resize","queue":"default","attempt":1,"max_attempts":25,
 *      "time_left":297.9,"token":"…","trace":"t-9","document":{...}}
 *     {"id":"j-1","result":"retry","error":"no room","in":60}
 *     {"id":"j-1","result":"done","value":{"width":640}}
 *     {"id":"j-1","progress":{"done":3,"total":9,"text":"page 3"}}
 *     {"log":"warn","text":"the disk is nearly full"}
 */
#ifndef LATER_JOBS_EXEC_ANSWER_H
#define LATER_JOBS_EXEC_ANSWER_H

#include <later/job.h>

#include <stdbool.h>
#include <stddef.h>

/* The job as one line with its newline, *len bytes, for the caller to free(). The document's bytes
 * as they were pushed, but for line breaks between its values, which are spaces here: within a
 * string JSON has none. time_left: seconds until the program is told to end. NULL without memory.
 */
char *exec_answer_ask(struct later_job *job, double time_left, size_t *len);

/* {"id":"…","cancel":true}: asks to give up the job. As above. */
char *exec_answer_cancel(const struct later_job *job, size_t *len);

enum exec_answer_kind {
    EXEC_ANSWER_RESULT,  /* the job's end */
    EXEC_ANSWER_NOTE,    /* a line for the log, or progress: taken */
    EXEC_ANSWER_REFUSED, /* no answer to this job */
};

struct exec_answer {
    char id[201];    /* the job that it names; "": none */
    uint32_t result; /* enum later_result */
    bool last;       /* the program ends after this one */
    bool ends;       /* REFUSED: it would have been a result */
    const char *why; /* REFUSED: static */
};

/* The job of this id that the program has; NULL: it has none. */
typedef struct later_job *exec_find(void *arg, const char *id);

/* Reads a line. A result sets the job's error and when to try
 * again; one that says nothing that is known is a retry. program: its name in the log. */
enum exec_answer_kind exec_answer_read(exec_find *find, void *arg, const char *program,
                                       const char *line, struct exec_answer *answer);

#endif
