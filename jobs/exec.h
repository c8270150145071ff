/*
 * exec.h: what the files of the exec plugin share.
 *
 *     exec.c          the handler: one job, one program, one result
 *     exec_config.c   plugins.config.exec → programs
 *     exec_env.c      a program's environment; how its end is described
 *     exec_env_file.c reads variables from a file
 *     exec_child.c    starts a program
 *     exec_run.c      reads its output, and ends it when its time is over
 *     exec_lines.c    the other handler: jobs for a long-lived program, one line each
 *     exec_parallel.c event jobs for long-lived programs that do many at once
 *     exec_peer.c     one such program: its jobs, its answers, its end
 *     exec_process.c  starts, watches and ends a long-lived program
 *     exec_term.c     the worker's own TERM waits while a program has its job
 *     exec_throttle.c when a program may be started again
 *     exec_reader.c   reads lines from a pipe, in bounded memory
 *     exec_answer.c   a job as a line, and the line that answers it
 *     exec_members.c  finds the members of such a line
 *     exec_output.c   what programs print: for the log, and for errors
 */
#ifndef LATER_JOBS_EXEC_H
#define LATER_JOBS_EXEC_H

#include "exec_output.h"

#include <stdbool.h>
#include <stddef.h>

/* A configured program. */
struct exec_program {
    char *type;     /* exec.NAME */
    char *name;     /* points into type */
    char **argv;    /* NULL-terminated; argv[0] is an absolute path */
    char **env;     /* NULL-terminated, "KEY=value" */
    char *dir;      /* its working directory */
    char *env_file; /* file with more of env, read once; NULL = none, or already read */
    size_t argc, env_count;
    unsigned long output_max; /* how much of its output is kept: the last bytes */
    bool inherit;             /* it writes to laterd's own output; not with lines */
    bool lines;               /* long-lived: each job is a line in and a line out */
    unsigned long recycle;    /* with lines: ended after this many jobs; 0 = never */
    bool hello;               /* with lines: it says hello before it gets a job ... */
    unsigned long start_max;  /* ... within this many seconds of its start */
    char **types;             /* types besides exec.NAME; NULL-terminated, names or patterns */
    size_t type_count;
    /* With lines: jobs at once per program; 0 = one, and the worker waits for it. */
    unsigned long parallel;
    unsigned long programs;       /* with parallel: programs per worker */
    struct exec_process *process; /* with lines: this worker's process; owned */
    struct exec_crew *crew;       /* with parallel: this worker's programs; owned */
};

/* The plugin's callbacks. */
int exec_config(const char *key, const char *value, char *err, size_t n);
int exec_config_done(char *err, size_t n);
void exec_config_free(void);
extern const char exec_config_help[];

/* Returns the program for jobs of this type: exec.NAME, or the longest match in `types`. NULL:
 * there is none. */
const struct exec_program *exec_config_of_type(const char *type);

/* Returns the index-th program, or NULL after the last. */
const struct exec_program *exec_config_at(size_t index);

/* Returns a program's whole environment: PATH, HOME, LANG and LATER_*, unless the configuration
 * sets them, and then what the configuration sets. Without a job, the only LATER_* is LATER_TYPE.
 * The caller frees the result, a single block that borrows from `program`. NULL without memory. */
char **exec_env(const struct exec_program *program, struct later_job *job);

/* Adds a variable. Returns 0, or -1 with a message in err: not a name, a name that is reserved, no
 * memory. */
int exec_env_add(struct exec_program *program, const char *key, const char *value, char *err,
                 size_t n);
/* Has the configuration set this variable? */
bool exec_env_has(const struct exec_program *program, const char *key);

/* Reads program->env_file and adds its variables, except those already set. Each line is
 * NAME=VALUE, with the value taken literally, without quotes. Empty lines and lines that begin with
 * # are comments. Only owner and group may have the right to read the file. Returns 0, or -1 with
 * file, line and reason in err. */
#define EXEC_ENV_FILE_MAX 65536
int exec_env_file(struct exec_program *program, char *err, size_t n);

/* How a program ended. */
enum exec_how {
    EXEC_EXITED,    /* code: its exit status */
    EXEC_KILLED,    /* code: the signal, which we did not send */
    EXEC_TIMED_OUT, /* we ended it, because the job's time was over */
    EXEC_CANCELLED, /* we ended it, because the job was cancelled or its lease lost */
    EXEC_LOST,      /* it is gone, but somebody else got its exit status */
    EXEC_FAILED     /* it could not be run; code: errno */
};

struct exec_end {
    enum exec_how how;
    int code;
    const char *step; /* for EXEC_FAILED: what could not be done; static */
};

/* Describes how it ended, as "exit status 3". */
void exec_end_text(const struct exec_end *end, const struct exec_program *program, char *text,
                   size_t n);

/* The same of a long-lived program that did what it must not (`broken`, such as "it closed
 * descriptor 3"). signalled: it was ended for that; if it had an end of its own all the same, that
 * is told, too. */
void exec_broken_text(const struct exec_end *end, const struct exec_program *program,
                      const char *broken, bool signalled, char *text, size_t n);

/* Runs a program to its end, with the job's document on standard input. `envp` is its whole
 * environment. output->bytes must have room for output->size bytes; output->len is set. Blocks
 * until the program has ended. When the job's time is over the program gets TERM, and KILL two
 * seconds later. */
struct exec_end exec_run(struct later_job *job, const struct exec_program *program,
                         char *const *envp, struct exec_output *output);

/* Performs a job with the long-lived program, which is started if it does not run. Blocks until the
 * answer has come or the program has ended. */
enum later_result exec_lines_perform(struct later_job *job, const struct exec_program *program);

/* May the long-lived program be handed a job now? It is started if it does not run. Also true if it
 * cannot be started at present: its job is given back. exec_parallel_ready() does the same for a
 * program with `parallel`. */
bool exec_lines_ready(const struct exec_program *program);
bool exec_parallel_ready(const struct exec_program *program);

/* exec_parallel_perform() does the same for a program with `parallel`, whose jobs are event jobs.
 * exec_parallel_room() says how many more jobs fit. exec_parallel_cancel() asks the program to give
 * up a job; exec_parallel_stopping() tells it that laterd stops. */
enum later_result exec_parallel_perform(struct later_job *job, const struct exec_program *program);
uint32_t exec_parallel_room(const struct exec_program *program);
void exec_parallel_cancel(struct later_job *job);
void exec_parallel_stopping(struct later_job *job);

/* The processes of such a program in this worker. exec_crew_new() starts none; NULL without memory.
 * exec_parallel_close_inputs() closes their inputs. exec_crew_free() ends and frees them, as
 * exec_lines_stop() does. */
struct exec_crew *exec_crew_new(void);
void exec_parallel_close_inputs(const struct exec_program *program);
void exec_crew_free(const struct exec_program *program);

/* Ends all long-lived programs of this worker: closes their standard input, sends TERM a second
 * later and KILL two seconds after that. */
void exec_lines_stop(void);

#endif
