/*
 * exec_process.h: a long-lived program of a worker: start, watch, end.
 *
 * It gets jobs on standard input and answers on descriptor 3. Standard output and standard error
 * are for people: one pipe, read line by line, so that nothing printed can be taken for an answer.
 */
#ifndef LATER_JOBS_EXEC_PROCESS_H
#define LATER_JOBS_EXEC_PROCESS_H

#include "exec_child.h"
#include "exec_reader.h"
#include "exec_throttle.h"

#define EXEC_LINE_MAX   131072 /* bytes of an answer: a value of 64 KiB may need twice as many */
#define EXEC_OUTPUT_MAX 2000   /* bytes of a line that it prints */
#define EXEC_TAIL       1000   /* bytes of its output that go into the error of its death */

/* Handed a line that the program printed. */
typedef void exec_say(void *arg, const char *line);

/* What a job says that is given back since no program has begun it, and how long it pauses. */
void exec_process_give_back(const struct exec_throttle *throttle,
                            const struct exec_program *program, struct later_job *job,
                            double least);

struct exec_process {
    struct exec_child child; /* child.pid is -1: none runs */
    struct exec_reader answers, output;
    struct exec_output tail; /* what it printed last, since exec_process_forget_tail() */
    char tail_bytes[EXEC_TAIL];
    unsigned long jobs; /* that it has performed */
    struct exec_throttle throttle;
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

/* Has it ended? Then true with *end, once: what is left of its process group is killed, what it
 * printed can still be read. */
bool exec_process_ended(struct exec_process *process, struct exec_end *end);

/* Closes what is left of one that has ended; the rest as of exec_throttle_ended(). */
void exec_process_close(struct exec_process *process, bool performed, const char *why);

/* Sends a signal to its process group. */
void exec_process_signal(const struct exec_process *process, int signal);

/* Writes to its standard input without waiting. Returns how many bytes; -1 if it reads no more. */
ssize_t exec_process_write(struct exec_process *process, const char *bytes, size_t len);

/* How many bytes of its standard input it has not read: what it left unread was never begun. */
size_t exec_process_unread(const struct exec_process *process);

/* No more jobs: closes its standard input. */
void exec_process_close_input(struct exec_process *process);

/* Ends it: its input is closed; `patience` seconds later TERM, two seconds later KILL. Blocks until
 * it has ended. What it prints meanwhile is handed to say(arg, line), a line each. */
void exec_process_end(struct exec_process *process, double patience, exec_say *say, void *arg);

/* Hands on what it has printed since. Behind its end `all`, also a last line without newline. */
void exec_process_output(struct exec_process *process, bool all, exec_say *say, void *arg);

/* What it prints from now on is another job's. */
void exec_process_forget_tail(struct exec_process *process);

#endif
