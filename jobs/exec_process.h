/*
 * exec_process.h: a long-lived program of a worker: start, watch, end.
 *
 * One that has died is started again at once; if it dies without having performed a job since,
 * after 0.1 s, 0.2 s … up to 5 s, so that a broken one costs little.
 */
#ifndef LATER_JOBS_EXEC_PROCESS_H
#define LATER_JOBS_EXEC_PROCESS_H

#include "exec_child.h"
#include "exec_reader.h"

#define EXEC_LINE_MAX   65536 /* bytes of an answer */
#define EXEC_ERRORS_MAX 2000  /* bytes of a line of its standard error */

struct exec_process {
    struct exec_child child; /* child.pid is -1: none runs */
    struct exec_reader output, errors;
    unsigned long jobs;   /* that it has performed */
    unsigned failures;    /* deaths in a row without a job in between */
    double start_at;      /* not before, by exec_now() */
    char last_error[200]; /* the last line of its standard error, shortened */
};

/* Seconds of a monotonic clock. */
double exec_now(void);

/* A process that does not run yet. NULL without memory. */
struct exec_process *exec_process_new(void);

/* Frees it; end it before. */
void exec_process_free(struct exec_process *process);

bool exec_process_runs(const struct exec_process *process);

/* Starts it. Returns 0, or -1 with *end. */
int exec_process_start(struct exec_process *process, const struct exec_program *program,
                       struct exec_end *end);

/* Has it ended? Then true with *end, once: what is left of its process group is killed, its
 * standard error can still be read. */
bool exec_process_ended(struct exec_process *process, struct exec_end *end);

/* Closes what is left of one that has ended. `performed`: it had performed a job or was ended by
 * us, so that the next may start at once. */
void exec_process_close(struct exec_process *process, bool performed);

/* Sends a signal to its process group. */
void exec_process_signal(const struct exec_process *process, int signal);

/* Writes to its standard input without waiting. Returns how many bytes; -1 if it reads no more. */
ssize_t exec_process_write(struct exec_process *process, const char *bytes, size_t len);

/* No more jobs: closes its standard input. */
void exec_process_close_input(struct exec_process *process);

/* Ends it: its input is closed; `patience` seconds later TERM, two seconds later KILL. Blocks until
 * it has ended. Its standard error is handed to say(arg, line), a line each. */
void exec_process_end(struct exec_process *process, double patience,
                      void (*say)(void *arg, const char *line), void *arg);

/* Hands on what it has written to standard error since. Behind its end `all`, also a last line
 * without newline. */
void exec_process_errors(struct exec_process *process, bool all,
                         void (*say)(void *arg, const char *line), void *arg);

#endif
