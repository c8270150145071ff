/*
 * exec.c: types "exec.NAME": a program for each job.
 *
 *     plugins.config.exec.NAME = { argv = ( "/usr/local/bin/resize", "--width", "800" ); };
 *
 * Nothing of a job reaches a command line, and there is no shell: the program and its arguments are
 * the configuration's, the document comes on standard input.
 */
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_MAX 1000 /* bytes that laterd keeps of an error */

enum { EXIT_BURY = 65, ENV_OURS = 8 }; /* 65 is EX_DATAERR of sysexits.h */

static int env_has(const struct exec_program *program, const char *key, size_t len)
{
    for (size_t i = 0; i < program->env_count; i++) {
        if (strncmp(program->env[i], key, len) == 0 && program->env[i][len] == '=')
            return 1;
    }
    return 0;
}

/* The program's whole environment: ours, except what the configuration sets itself, then the
 * configuration's. The strings of ours are written into one block behind the list, so that one
 * free() does. NULL without memory. */
static char **make_env(struct later_job *job, const struct exec_program *program)
{
    const char *trace = later_job_trace(job);
    char attempt[16];
    const char *const ours[ENV_OURS][2] = { { "PATH", "/usr/local/bin:/usr/bin:/bin" },
                                            { "HOME", "/" },
                                            { "LANG", "C" },
                                            { "LATER_ID", later_job_id(job) },
                                            { "LATER_TYPE", later_job_type(job) },
                                            { "LATER_QUEUE", later_job_queue(job) },
                                            { "LATER_ATTEMPT", attempt },
                                            { "LATER_TRACE", trace ? trace : "" } };
    size_t list = (ENV_OURS + program->env_count + 1) * sizeof(char *), size = list, count = 0;
    char **env, *at;

    snprintf(attempt, sizeof attempt, "%u", (unsigned)later_job_attempt(job));
    for (size_t i = 0; i < ENV_OURS; i++)
        size += strlen(ours[i][0]) + strlen(ours[i][1]) + 2;
    env = malloc(size);
    if (!env)
        return NULL;
    at = (char *)env + list;
    for (size_t i = 0; i < ENV_OURS; i++) {
        if (env_has(program, ours[i][0], strlen(ours[i][0])))
            continue;
        env[count++] = at;
        at += sprintf(at, "%s=%s", ours[i][0], ours[i][1]) + 1;
    }
    for (size_t i = 0; i < program->env_count; i++)
        env[count++] = program->env[i];
    env[count] = NULL;
    return env;
}

/* Sets the job's error: the reason, and as much of the end of the output as there is room for. */
static void fail(struct later_job *job, const char *reason, const struct exec_output *output)
{
    size_t room = ERROR_MAX - strlen(reason) - 2, len = output->len;
    const char *tail = output->bytes;

    while (len > 0 && strchr(" \t\r\n", tail[len - 1]))
        len--;
    if (len > room) {
        tail += len - room;
        len = room;
        while (len > 0 && ((unsigned char)*tail & 0xc0) == 0x80) { /* not in mid-character */
            tail++;
            len--;
        }
    }
    if (len > 0)
        later_job_error(job, "%s: %.*s", reason, (int)len, tail);
    else
        later_job_error(job, "%s", reason);
}

/* A NUL byte would end the text early. */
static void replace_nul(struct exec_output *output)
{
    for (size_t i = 0; i < output->len; i++) {
        if (output->bytes[i] == '\0')
            output->bytes[i] = '?';
    }
}

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

    switch (end->how) {
    case EXEC_EXITED:
        if (end->code == 0)
            return LATER_DONE;
        snprintf(reason, sizeof reason, "exit status %d", end->code);
        break;
    case EXEC_KILLED:
        snprintf(reason, sizeof reason, "killed by signal %d (%s)", end->code,
                 strsignal(end->code));
        break;
    case EXEC_TIMED_OUT:
        snprintf(reason, sizeof reason, "timed out");
        break;
    case EXEC_CANCELLED:
        snprintf(reason, sizeof reason, "cancelled");
        break;
    case EXEC_LOST:
        snprintf(reason, sizeof reason, "its exit status was taken by another part of the process");
        break;
    case EXEC_FAILED:
        snprintf(reason, sizeof reason, "%.200s could not %s: %s", program->argv[0], end->step,
                 strerror(end->code));
        break;
    }
    fail(job, reason, output);
    return end->how == EXEC_EXITED && end->code == EXIT_BURY ? LATER_BURY : LATER_RETRY;
}

static enum later_result perform(struct later_job *job)
{
    const struct exec_program *program = exec_config_find(later_job_type(job) + strlen("exec."));
    enum later_result result = LATER_RETRY;
    struct exec_output output;
    struct exec_end end;
    char **env;

    if (!program) {
        later_job_error(job, "no program configured: plugins.config.exec.%.100s is missing",
                        later_job_type(job) + strlen("exec."));
        return LATER_BURY;
    }
    output = (struct exec_output){ .bytes = malloc(program->output_max + 1),
                                   .size = program->output_max };
    env = make_env(job, program);
    if (output.bytes && env) {
        end = exec_run(job, program, env, &output);
        replace_nul(&output);
        log_output(job, &output);
        result = result_of(job, program, &end, &output);
    } else {
        later_job_error(job, "no memory to run %s", program->argv[0]);
    }
    free(output.bytes);
    free(env);
    return result;
}

static const struct later_type types[] = { { .name = "exec.*", .perform = perform }, { 0 } };

LATER_PLUGIN(.name = "exec", .version = "1", .types = types, .config = exec_config,
             .config_done = exec_config_done, .stop = exec_config_free,
             .config_help = exec_config_help);
