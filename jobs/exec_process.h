/*
 * exec_process.h: starts, watches and ends a long-lived program of a worker.
 *
 * It gets jobs on standard input and answers on descriptor 3. Standard output and standard error
 * are for people. They share a pipe that is read line by line, so nothing printed can be taken for
 * an answer.
 */
#ifndef LATER_JOBS_EXEC_PROCESS_H
#define LATER_JOBS_EXEC_PROCESS_H

#include "exec_child.h"
#include "exec_output.h"
#include "exec_reader.h"
#include "exec_throttle.h"

#define EXEC_OUTPUT_MAX 2000 /* bytes of a line that it prints */
#define EXEC_TAIL       1000 /* bytes of its output that are put into an error */
#define EXEC_BROKEN                                                                                \
    2.0 /* seconds for a program to end after it has closed its input or                           \
         * output: its exit status, which says more, comes last */

/* Called with a line that the program printed. exec_process_say() logs it as that of a program,
 * which arg is. */
typedef void exec_say(void *arg, const char *line);
exec_say exec_process_say;

/* Sets the error and the pause of a job that is returned because no program began it. */
void exec_process_give_back(const struct exec_throttle *throttle, struct later_job *job,
                            double least);

struct exec_process {
    struct exec_child child; /* child.pid -1 = none runs */
    struct exec_reader answers, output;
    struct exec_output tail; /* what it printed last, since exec_process_forget_tail() */
    char tail_bytes[EXEC_TAIL];
    unsigned long jobs; /* jobs that it has performed */
    double started;     /* exec_now() */
    bool quiet;         /* what it prints is not logged: the one before died, too */
    bool ahead;         /* it has got the first byte of a line, and no job yet */
    bool looked;        /* without parallel: it has been looked after since its last job */
    bool ready;         /* it has said hello, or reads: it may be handed a job */
    bool listens;       /* it has written a line, or read a whole job: it may be handed many */
    bool stops;         /* it wants to be told when laterd stops */
    struct exec_throttle throttle;
};

/* Returns a process that does not run yet. NULL without memory. */
struct exec_process *exec_process_new(void);

/* Frees it. End it first. */
void exec_process_free(struct exec_process *process);

bool exec_process_runs(const struct exec_process *process);

/* Starts it. throttle: of this program. Returns 0, or -1 with *end. */
int exec_process_start(struct exec_process *process, struct exec_throttle *throttle,
                       const struct exec_program *program, struct exec_end *end);

/* May it be handed a job? A program that is still starting would begin all that it was handed in
 * one moment, long after their limits have counted them. So it must have said hello, or without
 * that option have begun to read: it gets the first byte of a line, since every line begins with a
 * brace. One that reads nothing for long gets its job nevertheless. */
bool exec_process_ready(struct exec_process *process, const struct exec_program *program);

/* Has it had more time for its hello than it may take? */
bool exec_process_is_late(const struct exec_process *process, const struct exec_program *program);

/* Notes that it has written a line; stops: with its hello, that it wants to be told when laterd
 * stops. */
void exec_process_heard(struct exec_process *process, bool hello, bool stops);

/* Returns true with *end once it has ended. What is left of its process group is killed; what it
 * printed can still be read. */
bool exec_process_ended(struct exec_process *process, struct exec_end *end);

/* Has it ended, and exec_process_ended() has not said so yet? Asked before it is ended for what it
 * did: a program closes its files a moment before it ends, and we may have stood still since. */
bool exec_process_is_gone(const struct exec_process *process);

/* Says why the jobs that it has not read are returned, for exec_throttle_ended(): how it ended, and
 * what it printed last. */
void exec_process_why(const struct exec_process *process, const struct exec_program *program,
                      const char *how, char why[EXEC_ERROR_MAX + 1]);

/* Closes the descriptors of one that has ended. The other arguments are those of
 * exec_throttle_ended(). */
void exec_process_close(struct exec_process *process, bool performed, const char *why);

/* Sends a signal to its process group. */
void exec_process_signal(const struct exec_process *process, int signal);

/* Writes to its standard input without waiting. Returns how many bytes, or -1 if it no longer
 * reads. */
ssize_t exec_process_write(struct exec_process *process, const char *bytes, size_t len);

/* Returns how many bytes of its standard input it has not read. A job that lies there was never
 * begun. */
size_t exec_process_unread(const struct exec_process *process);

/* Closes its standard input: there are no more jobs. A line that was begun becomes a request to
 * give up a job that it does not have. */
void exec_process_close_input(struct exec_process *process);

/* Ends it: closes its input, sends TERM `patience` seconds later, and KILL two seconds after that.
 * Blocks until it has ended. Calls say(arg, line) for each line that it prints meanwhile. */
void exec_process_end(struct exec_process *process, double patience, exec_say *say, void *arg);

/* Passes on what it has printed since the last call. With `all`, after its end, that includes a
 * last line without a newline. */
void exec_process_output(struct exec_process *process, bool all, exec_say *say, void *arg);

/* Forgets what it printed: the rest belongs to another job. */
void exec_process_forget_tail(struct exec_process *process);

#endif
