/*
 * exec.h: what the files of the exec plugin share.
 *
 *     exec.c         the handler: one job, one program, one result
 *     exec_config.c  plugins.config.exec → programs
 *     exec_child.c   start a program
 *     exec_run.c     listen to it, and end it when its time is over
 */
#ifndef LATER_JOBS_EXEC_H
#define LATER_JOBS_EXEC_H

#include <later/job.h>

#include <stddef.h>

/* A configured program. */
struct exec_program {
    char *name;  /* of the type exec.NAME */
    char **argv; /* NULL-terminated; argv[0] is an absolute path */
    char **env;  /* NULL-terminated, "KEY=value" */
    char *dir;   /* where it runs */
    size_t argc, env_count;
    size_t output_max; /* bytes of its output that are kept: the last ones */
};

/* The callbacks of the plugin. */
int exec_config(const char *key, const char *value, char *err, size_t n);
int exec_config_done(char *err, size_t n);
void exec_config_free(void);
extern const char exec_config_help[];

/* The program of this name, or NULL. */
const struct exec_program *exec_config_find(const char *name);

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

/* The last bytes of what it wrote to standard output and standard error. */
struct exec_output {
    char *bytes; /* for the caller to free */
    size_t size; /* of bytes: how much to keep */
    size_t len;
};

/* Runs a program to its end with the job's document on standard input. `envp` is its whole
 * environment. output->bytes must have output->size bytes; output->len is set. Blocks until the
 * program has ended: over the job's time it gets TERM, two seconds later KILL. */
struct exec_end exec_run(struct later_job *job, const struct exec_program *program,
                         char *const *envp, struct exec_output *output);

#endif
