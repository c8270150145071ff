/*
 * exec_answer.h: a job as a line for a long-lived program, and the lines that the program writes to
 * descriptor 3. Pure.
 *
 *     {"id":"j-1","type":"exec.resize","queue":"default","attempt":1,"max_attempts":25,
 *      "time_left":297.9,"token":"…","trace":"t-9","document":{...}}
 *     {"id":"j-1","result":"retry","error":"no room","in":60}
 *     {"id":"j-1","result":"done","value":{"width":640}}
 *     {"id":"j-1","progress":{"done":3,"total":9,"text":"page 3"}}
 *     {"id":"j-1","checkpoint":{"page":3}}
 *     {"log":"warn","text":"the disk is nearly full"}
 *     {"hello":1,"stopping":true,"types":[{"name":"mail.*"}]}
 */
#ifndef LATER_JOBS_EXEC_ANSWER_H
#define LATER_JOBS_EXEC_ANSWER_H

#include <later/job.h>

#include <stdbool.h>
#include <stddef.h>

/* Returns the job as one line of *len bytes with its newline, which the caller frees. The
 * document's bytes are as they were pushed, except that line breaks between its values become
 * spaces (JSON allows none within strings). time_left: seconds until the program is told to end.
 * NULL without memory. */
char *exec_answer_ask(struct later_job *job, double time_left, size_t *len);

/* Returns {"id":"…",ORDER:true}. "cancel": give up the job; "stopping": laterd stops, leave a
 * checkpoint and return it if you can. Otherwise as above. */
char *exec_answer_order(const struct later_job *job, const char *order, size_t *len);

enum exec_answer_kind {
    EXEC_ANSWER_RESULT,  /* the job's end */
    EXEC_ANSWER_NOTE,    /* for the log, progress, a checkpoint, a hello; it has been handled */
    EXEC_ANSWER_REFUSED, /* not an answer to a job that the program has */
};

struct exec_answer {
    char id[201];    /* the job that it names; "" = none that can be read */
    uint32_t result; /* enum later_result */
    bool last;       /* the program ends after this answer */
    bool hello;      /* with NOTE: the program has introduced itself, */
    bool stops;      /* and wants to be told when laterd stops */
    bool ends;       /* with REFUSED: it would have been a result */
    const char *why; /* with REFUSED: the reason, as "that is not JSON"; static */
};

/* Returns the job of this id that the program has, or NULL. */
typedef struct later_job *exec_find(void *arg, const char *id);

/* Reads a line; cut: these are the first bytes of one that is too long. A result sets the job's
 * error, its value, its checkpoint and when to try again. An unknown result is a retry. A line that
 * names a job and is not JSON ends it too: as it says, done without a value; or if it does not say,
 * as exec_answer_bury(). program: its name in the log. */
enum exec_answer_kind exec_answer_read(exec_find *find, void *arg, const char *program,
                                       const char *line, bool cut, struct exec_answer *answer);

/* Is it a line from its brace to its brace? What a program wrote last, before it ended or closed
 * descriptor 3, is a line without its newline then, and not the beginning of one. */
bool exec_answer_is_whole(const char *line);

/* Sets the error of a job whose answer cannot be read, and returns its result. The work may be
 * done, so it is not tried again. why: as in struct exec_answer. */
uint32_t exec_answer_bury(struct later_job *job, const char *why, const char *line);

#endif
