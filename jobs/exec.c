/*
 * exec.c: types "exec.NAME": runs a program for each job, or one long-lived program for many
 * (exec_lines.c).
 *
 *     plugins.config.exec.NAME = { argv = ( "/usr/local/bin/resize", "--width", "800" ); };
 *
 * Nothing of a job gets into a command line, and there is no shell. The program and its arguments
 * come from the configuration, the document comes on standard input.
 */
#include "exec.h"
#include "exec_term.h"

#include <stdbool.h>
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

static enum later_result exec_perform_once(struct later_job *job,
                                           const struct exec_program *program)
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

static enum later_result exec_perform(struct later_job *job)
{
    const char *type = later_job_type(job);
    const struct exec_program *program = exec_config_of_type(type);

    if (!program) {
        later_job_error(job, "no program configured: plugins.config.exec.%.100s is missing",
                        type + strlen("exec."));
        return LATER_BURY;
    }
    if (program->parallel)
        return exec_parallel_perform(job, program);
    return program->lines ? exec_lines_perform(job, program) : exec_perform_once(job, program);
}

static int ready(const char *type)
{
    const struct exec_program *program = exec_config_of_type(type);

    if (!program || !program->lines)
        return LATER_YES;
    return (program->parallel ? exec_parallel_ready : exec_lines_ready)(program) ? LATER_YES
                                                                                 : LATER_NO;
}

static uint32_t room(const char *type)
{
    return exec_parallel_room(exec_config_of_type(type));
}

/* --- types --- */

static const struct later_type types[] = {
    { .name = "exec.*", .perform = exec_perform, .ready = ready, .flags = LATER_TELLS_BEGIN }, { 0 }
};

static struct later_type *more; /* those that the configuration names */

static void exec_add_type(size_t *count, const struct exec_program *program, const char *name)
{
    struct later_type *type = &more[(*count)++];

    *type = (struct later_type){
        .name = name, .perform = exec_perform, .ready = ready, .flags = LATER_TELLS_BEGIN
    };
    if (!program->parallel)
        return;
    type->mode = LATER_EVENT;
    type->cancel = exec_parallel_cancel;
    type->stopping = exec_parallel_stopping;
    type->room = room;
}

/* Has the configuration a program that itself names the pattern exec.*? */
static bool names_all(void)
{
    const struct exec_program *program;

    for (size_t i = 0; (program = exec_config_at(i)); i++) {
        for (size_t n = 0; n < program->type_count; n++) {
            if (strcmp(program->types[n], types[0].name) == 0)
                return true;
        }
    }
    return false;
}

/* Whether a type's jobs are event jobs depends on its program. So each program is listed by name;
 * and exec.*, for all other names, if its jobs go to a program for `*`. */
static const struct later_type *exec_more_types(void)
{
    const struct exec_program *program, *rest = names_all() ? NULL : exec_config_of_type("exec.");
    size_t count = 2;

    for (size_t i = 0; (program = exec_config_at(i)); i++)
        count += program->type_count + 1;
    free(more);
    more = calloc(count, sizeof *more);
    count = 0;
    for (size_t i = 0; more && (program = exec_config_at(i)); i++) {
        exec_add_type(&count, program, program->type);
        for (size_t n = 0; n < program->type_count; n++)
            exec_add_type(&count, program, program->types[n]);
    }
    if (more && rest)
        exec_add_type(&count, rest, types[0].name);
    return more;
}

static void exec_stop(void)
{
    exec_lines_stop();
    exec_term_close();
    exec_config_free();
    free(more);
    more = NULL;
}

LATER_PLUGIN(.name = "exec", .version = "1", .types = types, .config = exec_config,
             .config_done = exec_config_done, .stop = exec_stop, .config_help = exec_config_help,
             .more_types = exec_more_types);
