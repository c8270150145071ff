/*
 * exec.c: types "exec.NAME": a program for each job, or a long-lived one for many (exec_lines.c).
 *
 *     plugins.config.exec.NAME = { argv = ( "/usr/local/bin/resize", "--width", "800" ); };
 *
 * Nothing of a job reaches a command line, and there is no shell: the program and its arguments are
 * the configuration's, the document comes on standard input.
 */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_BURY   65 /* EX_DATAERR of sysexits.h */
#define EXIT_RETURN 75 /* EX_TEMPFAIL */

static void log_output(struct later_job *job, const struct exec_output *output)
{
    for (size_t begin = 0, end; begin < output->len; begin = end + 1) {
        const char *newline = memchr(output->bytes + begin, '\n', output->len - begin);

        end = newline ? (size_t)(newline - output->bytes) : output->len;
        later_job_log(job, LATER_DEBUG, "output: %.*s", (int)(end - begin), output->bytes + begin);
    }
}

static enum later_result result_of(struct later_job *job, const struct exec_program *program,
                                   const struct exec_end *end, const struct exec_output *output)
{
    char reason[300];

    if (end->how == EXEC_EXITED && end->code == 0)
        return LATER_DONE;
    exec_end_text(end, program, reason, sizeof reason);
    exec_output_fail(job, reason, output);
    if (end->how == EXEC_TIMED_OUT)
        later_job_kind(job, LATER_KIND_TIMEOUT);
    else if (end->how == EXEC_KILLED)
        later_job_kind(job, LATER_KIND_CRASH);
    if (end->how != EXEC_EXITED)
        return LATER_RETRY;
    return end->code == EXIT_BURY     ? LATER_BURY
           : end->code == EXIT_RETURN ? LATER_RETURN
                                      : LATER_RETRY;
}

static enum later_result perform_once(struct later_job *job, const struct exec_program *program)
{
    enum later_result result = LATER_RETRY;
    struct exec_output output;
    struct exec_end end;
    char **env;

    output = (struct exec_output){ .bytes = malloc(program->output_max + 1),
                                   .size = program->output_max };
    env = exec_env(program, job);
    if (output.bytes && env) {
        end = exec_run(job, program, env, &output);
        log_output(job, &output);
        result = result_of(job, program, &end, &output);
    } else {
        later_job_error(job, "no memory to run %s", program->argv[0]);
    }
    free(output.bytes);
    free(env);
    return result;
}

static enum later_result perform(struct later_job *job)
{
    const char *name = later_job_type(job) + strlen("exec.");
    const struct exec_program *program = exec_config_find(name);

    if (!program) {
        later_job_error(job, "no program configured: plugins.config.exec.%.100s is missing", name);
        return LATER_BURY;
    }
    return program->lines ? exec_lines_perform(job, program) : perform_once(job, program);
}

static void stop(void)
{
    exec_lines_stop();
    exec_config_free();
}

static const struct later_type types[] = { { .name = "exec.*", .perform = perform }, { 0 } };

LATER_PLUGIN(.name = "exec", .version = "1", .types = types, .config = exec_config,
             .config_done = exec_config_done, .stop = stop, .config_help = exec_config_help);
