/* exec_config.c: plugins.config.exec → programs. */
#include "exec_process.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_DEFAULT 65536
#define OUTPUT_MAX     16777216
#define RECYCLE_MAX    1000000000
#define PARALLEL_MAX   10000
#define PROGRAMS_MAX   64
#define START_DEFAULT  60
#define START_MAX      3600

const char exec_config_help[] =
    "plugins.config.exec.NAME: the program that performs jobs of type exec.NAME\n"
    "  argv        its arguments; the first is its absolute path. There is no shell.\n"
    "  env         variables to add to PATH, HOME, LANG and LATER_*\n"
    "  env_file    a file with more of them, NAME=VALUE a line, for what is secret\n"
    "  dir         where it runs: an absolute path; default \"/\"\n"
    "  inherit     true: it writes to laterd's own standard output and error; nothing is kept\n"
    "  output_max  bytes kept of the end of its output; default 65536, at most 16777216\n"
    "It gets the job's document on standard input. Exit status 0: done; 65: buried; "
    "75: given back without an attempt; else: retried.\n"
    "  lines       true: it is long-lived; one JSON line in for each job, one\n"
    "              on descriptor 3 to answer it\n"
    "  parallel    with lines: how many jobs at once in each program; default 0, one\n"
    "  programs    with parallel: how many programs in each worker; default 1\n"
    "  hello       with lines: true: it says hello before it gets a job; default false\n"
    "  start_max   with lines: seconds that it may take to start; default 60\n"
    "  types       jobs of these types, too: names, or beginnings and a star\n"
    "  recycle     with lines: a fresh program after this many jobs; default 0, never\n"
    "Lines, and all else: later-job(3), section exec.";

static struct exec_program *programs;
static size_t program_count;

static int exec_config_refuse(char *err, size_t n, const char *text)
{
    snprintf(err, n, "%s", text);
    return -1;
}

static struct exec_program *exec_config_find(const char *name)
{
    for (size_t i = 0; i < program_count; i++) {
        if (strcmp(programs[i].name, name) == 0)
            return &programs[i];
    }
    return NULL;
}

/* Returns how much of the type a pattern (a name, or a beginning and a star) matches; 0 = it does
 * not match. */
static size_t match(const char *pattern, const char *type)
{
    size_t len = strlen(pattern);

    if (len > 0 && pattern[len - 1] == '*')
        return strncmp(pattern, type, len - 1) == 0 ? len : 0;
    return strcmp(pattern, type) == 0 ? SIZE_MAX : 0;
}

const struct exec_program *exec_config_of_type(const char *type)
{
    const struct exec_program *found = NULL;
    size_t most = 0, len;

    for (size_t i = 0; i < program_count; i++) {
        if (strcmp(programs[i].type, type) == 0)
            return &programs[i];
        for (size_t n = 0; n < programs[i].type_count; n++) {
            len = match(programs[i].types[n], type);
            if (len > most) {
                most = len;
                found = &programs[i];
            }
        }
    }
    return found;
}

const struct exec_program *exec_config_at(size_t index)
{
    return index < program_count ? &programs[index] : NULL;
}

static void free_strings(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

void exec_config_free(void)
{
    for (size_t i = 0; i < program_count; i++) {
        exec_crew_free(&programs[i]);
        free(programs[i].type);
        free(programs[i].dir);
        free(programs[i].env_file);
        free_strings(programs[i].types);
        free_strings(programs[i].argv);
        free_strings(programs[i].env);
        exec_process_free(programs[i].process);
    }
    free(programs);
    programs = NULL;
    program_count = 0;
}

/* Appends a copy of a string to a NULL-terminated list. Returns 0, or -1 without memory. */
static int exec_config_append(char ***list, size_t *count, const char *string)
{
    char **grown = realloc(*list, (*count + 2) * sizeof *grown);

    if (!grown)
        return -1;
    *list = grown;
    grown[*count] = strdup(string);
    if (!grown[*count])
        return -1;
    grown[++*count] = NULL;
    return 0;
}

/* Returns the program of this name, and makes it if there is none. NULL without memory. */
static struct exec_program *program_of(const char *name)
{
    struct exec_program *program = exec_config_find(name), *grown;

    if (program)
        return program;
    grown = realloc(programs, (program_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    programs = grown;
    program = &programs[program_count];
    memset(program, 0, sizeof *program);
    if (asprintf(&program->type, "exec.%s", name) < 0)
        return NULL;
    program->name = program->type + strlen("exec.");
    program->dir = strdup("/");
    program->output_max = OUTPUT_DEFAULT;
    program->programs = 1;
    program->start_max = START_DEFAULT;
    if (!program->dir) {
        free(program->type);
        return NULL;
    }
    program_count++;
    return program;
}

static int set_argv(struct exec_program *program, const char *index, const char *value, char *err,
                    size_t n)
{
    char expected[24];

    snprintf(expected, sizeof expected, "%zu", program->argc);
    if (strcmp(index, expected) != 0)
        return exec_config_refuse(err, n, "argv must be one list of words");
    if (program->argc == 0 && value[0] != '/')
        return exec_config_refuse(err, n,
                                  "the program must be an absolute path, such as \"/usr/bin/tee\"");
    if (exec_config_append(&program->argv, &program->argc, value) != 0)
        return exec_config_refuse(err, n, "no memory");
    return 0;
}

static bool env_name_valid(const char *key)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

    return key[0] && !(key[0] >= '0' && key[0] <= '9') && key[strspn(key, allowed)] == '\0';
}

int exec_env_add(struct exec_program *program, const char *key, const char *value, char *err,
                 size_t n)
{
    char *pair;
    int result;

    if (!env_name_valid(key))
        return exec_config_refuse(err, n, "not a variable's name: letters, digits and _ only");
    if (strncmp(key, "LATER_", 6) == 0 && strncmp(key, "LATER_REDIS_", 12) != 0)
        return exec_config_refuse(
            err, n, "variables that begin with LATER_ are set by laterd, except LATER_REDIS_*");
    pair = malloc(strlen(key) + strlen(value) + 2);
    if (!pair)
        return exec_config_refuse(err, n, "no memory");
    sprintf(pair, "%s=%s", key, value);
    result = exec_config_append(&program->env, &program->env_count, pair);
    free(pair);
    return result == 0 ? 0 : exec_config_refuse(err, n, "no memory");
}

static int set_path(char **path, const char *value, char *err, size_t n)
{
    char *copy;

    if (value[0] != '/')
        return exec_config_refuse(err, n, "must be an absolute path");
    copy = strdup(value);
    if (!copy)
        return exec_config_refuse(err, n, "no memory");
    free(*path);
    *path = copy;
    return 0;
}

static int exec_config_set_flag(bool *flag, const char *value, char *err, size_t n)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return exec_config_refuse(err, n, "must be true or false");
    *flag = value[0] == 't';
    return 0;
}

static int set_number(unsigned long *number, const char *value, unsigned long least,
                      unsigned long most, char *err, size_t n)
{
    char *end;

    errno = 0;
    *number = strtoul(value, &end, 10);
    if (value[0] >= '0' && value[0] <= '9' && !*end && !errno && *number >= least &&
        *number <= most)
        return 0;
    snprintf(err, n, "must be a number from %lu to %lu", least, most);
    return -1;
}

static int set_type(struct exec_program *program, const char *value, char *err, size_t n)
{
    if (exec_config_append(&program->types, &program->type_count, value) != 0)
        return exec_config_refuse(err, n, "no memory");
    return 0;
}

int exec_config(const char *key, const char *value, char *err, size_t n)
{
    const char *dot = strchr(key, '.');
    struct exec_program *program;
    char name[129];

    if (!dot || dot == key || (size_t)(dot - key) >= sizeof name)
        return exec_config_refuse(err, n,
                                  "must be a group: NAME = { argv = (\"/path/of/program\"); };");
    snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
    program = program_of(name);
    if (!program)
        return exec_config_refuse(err, n, "no memory");
    if (strncmp(dot, ".argv.", 6) == 0)
        return set_argv(program, dot + 6, value, err, n);
    if (strncmp(dot, ".env.", 5) == 0)
        return exec_env_add(program, dot + 5, value, err, n);
    if (strcmp(dot, ".dir") == 0)
        return set_path(&program->dir, value, err, n);
    if (strcmp(dot, ".env_file") == 0)
        return set_path(&program->env_file, value, err, n);
    if (strcmp(dot, ".output_max") == 0)
        return set_number(&program->output_max, value, 0, OUTPUT_MAX, err, n);
    if (strcmp(dot, ".inherit") == 0)
        return exec_config_set_flag(&program->inherit, value, err, n);
    if (strcmp(dot, ".lines") == 0)
        return exec_config_set_flag(&program->lines, value, err, n);
    if (strcmp(dot, ".hello") == 0)
        return exec_config_set_flag(&program->hello, value, err, n);
    if (strcmp(dot, ".start_max") == 0)
        return set_number(&program->start_max, value, 1, START_MAX, err, n);
    if (strcmp(dot, ".recycle") == 0)
        return set_number(&program->recycle, value, 0, RECYCLE_MAX, err, n);
    if (strcmp(dot, ".parallel") == 0)
        return set_number(&program->parallel, value, 0, PARALLEL_MAX, err, n);
    if (strcmp(dot, ".programs") == 0)
        return set_number(&program->programs, value, 1, PROGRAMS_MAX, err, n);
    if (strncmp(dot, ".types.", 7) == 0)
        return set_type(program, value, err, n);
    return exec_config_refuse(
        err, n,
        "unknown; there are argv (a list), env (a group), env_file, dir, output_max, "
        "inherit, lines, hello, start_max, parallel, programs, types (a list) and recycle");
}

static int check_program(const struct exec_program *program, char *err, size_t n)
{
    const char *path = program->argc ? program->argv[0] : "";
    struct stat st;

    if (program->argc == 0)
        snprintf(err, n, "%s: argv is missing", program->name);
    else if (stat(path, &st) != 0)
        snprintf(err, n, "%s: %s: %s", program->name, path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        snprintf(err, n, "%s: %s: not a program", program->name, path);
    else if (st.st_size == 0) /* it is being copied, perhaps */
        snprintf(err, n, "%s: %s: not a program: it is empty", program->name, path);
    else if (eaccess(path, X_OK) != 0)
        snprintf(err, n, "%s: %s: %s", program->name, path, strerror(errno));
    else if (stat(program->dir, &st) != 0)
        snprintf(err, n, "%s: dir %s: %s", program->name, program->dir, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        snprintf(err, n, "%s: dir %s: not a directory", program->name, program->dir);
    else if (program->inherit && program->lines)
        snprintf(err, n, "%s: inherit is not for long-lived programs: without lines",
                 program->name);
    else if (!program->lines && (program->recycle || program->hello || program->parallel))
        snprintf(err, n, "%s: %s is for long-lived programs only: lines = true", program->name,
                 program->recycle ? "recycle"
                 : program->hello ? "hello"
                                  : "parallel");
    else if (program->programs > 1 && !program->parallel)
        snprintf(err, n, "%s: programs goes with parallel; without it each worker has one",
                 program->name);
    else
        return 0;
    return -1;
}

/* A missing program is reported now, not when the first job needs it. */
int exec_config_done(char *err, size_t n)
{
    for (size_t i = 0; i < program_count; i++) {
        if (check_program(&programs[i], err, n) != 0)
            return -1;
        if (programs[i].env_file && exec_env_file(&programs[i], err, n) != 0)
            return -1;
        free(programs[i].env_file);
        programs[i].env_file = NULL;
        if (programs[i].parallel && !programs[i].crew)
            programs[i].crew = exec_crew_new();
        else if (programs[i].lines && !programs[i].process)
            programs[i].process = exec_process_new();
        if (programs[i].lines && !programs[i].process && !programs[i].crew)
            return exec_config_refuse(err, n, "no memory");
    }
    return 0;
}
