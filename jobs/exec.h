/*
 * exec.h: what the files of the exec plugin share.
 *
 *     exec.c          the handler: one job, one program, one result
 *     exec_config.c   plugins.config.exec → programs
 *     exec_env.c      what a program finds in its environment; how its end is told
 *     exec_env_file.c variables out of a file
 *     exec_child.c    start a program
 *     exec_run.c      listen to it, and end it when its time is over
 *     exec_lines.c    the other handler: jobs for a long-lived program, a line each
 *     exec_parallel.c event jobs for long-lived programs that do many at once
 *     exec_peer.c     one of these: what it is handed, what it answers, its end
 *     exec_process.c  a long-lived program: start, watch, end
 *     exec_throttle.c when it may be started again
 *     exec_reader.c   lines out of a pipe, in bounded memory
 *     exec_answer.c   a job as a line, and the line that answers it
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
    char *name;     /* borrowed from it */
    char **argv;    /* NULL-terminated; argv[0] is an absolute path */
    char **env;     /* NULL-terminated, "KEY=value" */
    char *dir;      /* where it runs */
    char *env_file; /* more of env, from a file that is read once; NULL: none, or read */
    size_t argc, env_count;
    size_t output_max;     /* bytes of its output that are kept: the last ones */
    bool lines;            /* long-lived: a line in, a line out for each job */
    unsigned long recycle; /* lines: ended after so many jobs; 0: never */
    char **types;          /* besides exec.NAME; NULL-terminated, names or patterns */
    size_t type_count;
    unsigned long parallel;       /* lines: jobs at once in each; 0: one, and the worker waits */
    unsigned long programs;       /* with parallel: how many a worker has */
    struct exec_process *process; /* lines: this worker's; owned */
    struct exec_crew *crew;       /* with parallel: this worker's; owned */
};

/* The callbacks of the plugin. */
int exec_config(const char *key, const char *value, char *err, size_t n);
int exec_config_done(char *err, size_t n);
void exec_config_free(void);
extern const char exec_config_help[];

/* The program of this name, or NULL. And the one that performs jobs of this type: exec.NAME, or the
 * longest match of `types`. */
const struct exec_program *exec_config_find(const char *name);
const struct exec_program *exec_config_of_type(const char *type);

/* The index-th of all programs, or NULL behind the last. */
const struct exec_program *exec_config_at(size_t index);

/* A program's whole environment: PATH, HOME, LANG and LATER_*, except what the configuration sets
 * itself, then the configuration's. Without a job, only LATER_TYPE of the latter. One block for the
 * caller to free(), which borrows from `program`. NULL without memory. */
char **exec_env(const struct exec_program *program, struct later_job *job);

/* Adds a variable. Returns 0, or -1 with words in err: not a name, one of ours, no memory. */
int exec_env_add(struct exec_program *program, const char *key, const char *value, char *err,
                 size_t n);
/* Has the configuration set this variable? */
bool exec_env_has(const struct exec_program *program, const char *key);

/* Reads program->env_file and adds its variables, except those that are set already: NAME=VALUE,
 * one a line, the value as it stands, without quotes; lines that are empty or begin with # are
 * comments. Others than owner and group may not read it. Returns 0, or -1 with file, line and words
 * in err. */
#define EXEC_ENV_FILE_MAX 65536
int exec_env_file(struct exec_program *program, char *err, size_t n);

/* How a program ended. */
enum exec_how {
    EXEC_EXITED,    /* code: its exit status */
    EXEC_KILLED,    /* code: the signal, not one of ours */
    EXEC_TIMED_OUT, /* ended by us: over the job's time */
    EXEC_CANCELLED, /* ended by us: the job was cancelled or its lease is lost */
    EXEC_LOST,      /* it is gone, but somebody else took its exit status */
    EXEC_FAILED     /* it never ran; code: errno */
};

struct exec_end {
    enum exec_how how;
    int code;
    const char *step; /* EXEC_FAILED: what could not be done; static */
};

/* Says how it ended, such as "exit status 3". */
void exec_end_text(const struct exec_end *end, const struct exec_program *program, char *text,
                   size_t n);

/* Runs a program to its end with the job's document on standard input. `envp` is its whole
 * environment. output->bytes must have output->size bytes; output->len is set. Blocks until the
 * program has ended: over the job's time it gets TERM, two seconds later KILL. */
struct exec_end exec_run(struct later_job *job, const struct exec_program *program,
                         char *const *envp, struct exec_output *output);

/* Performs a job by the long-lived program, which is started where none runs. Blocks until the
 * answer is there or the program has ended. */
enum later_result exec_lines_perform(struct later_job *job, const struct exec_program *program);

/* The same for a program with `parallel`: an event job. How many more it has room for. Asks it to
 * give up a job that was handed to it. */
enum later_result exec_parallel_perform(struct later_job *job, const struct exec_program *program);
uint32_t exec_parallel_room(const struct exec_program *program);
void exec_parallel_cancel(struct later_job *job);

/* This worker's processes of such a program, none as yet. NULL without memory. Then: closes their
 * inputs; ends and frees them, as exec_lines_stop() does. */
struct exec_crew *exec_crew_new(void);
void exec_parallel_close_inputs(const struct exec_program *program);
void exec_crew_free(const struct exec_program *program);

/* The list of types that the configuration names, as in struct later_plugin. */
const struct later_type *exec_more_types(void);

/* Ends all long-lived programs of this worker: their standard input is closed; a second later TERM,
 * two seconds later KILL. */
void exec_lines_stop(void);

#endif
