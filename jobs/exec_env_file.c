/* exec_env_file.c: reads variables from a file, whose values laterd.conf and --print-config do not
 * show. */
#include "exec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads a line of the file without its newline: a variable, a comment or nothing. */
static int exec_env_file_take_line(struct exec_program *program, char *line, char *err, size_t n)
{
    char *equals = strchr(line, '=');

    if (!line[0] || line[0] == '#')
        return 0;
    if (!equals) {
        snprintf(err, n, "must be NAME=VALUE, a comment (#) or empty");
        return -1;
    }
    *equals = '\0';
    return exec_env_has(program, line) ? 0 : exec_env_add(program, line, equals + 1, err, n);
}

static int exec_env_file_take_lines(struct exec_program *program, FILE *file, char *err, size_t n)
{
    char *line = NULL, why[200];
    size_t room = 0, number = 0;
    ssize_t len;
    int result = 0;

    while (result == 0 && (len = getline(&line, &room, file)) > 0) {
        number++;
        line[len - (line[len - 1] == '\n')] = '\0';
        result = exec_env_file_take_line(program, line, why, sizeof why);
        if (result != 0)
            snprintf(err, n, "%s: env_file %s:%zu: %s", program->name, program->env_file, number,
                     why);
    }
    free(line);
    return result;
}

int exec_env_file(struct exec_program *program, char *err, size_t n)
{
    FILE *file = fopen(program->env_file, "re");
    struct stat st;
    int result = -1;

    if (!file || fstat(fileno(file), &st) != 0)
        snprintf(err, n, "%s: env_file %s: %s", program->name, program->env_file, strerror(errno));
    else if (!S_ISREG(st.st_mode) || st.st_size > EXEC_ENV_FILE_MAX)
        snprintf(err, n, "%s: env_file %s: must be a file of at most %d bytes", program->name,
                 program->env_file, EXEC_ENV_FILE_MAX);
    else if (st.st_mode & S_IRWXO)
        snprintf(err, n,
                 "%s: env_file %s: others may read or change it (mode %04o); chmod o-rwx it",
                 program->name, program->env_file, (unsigned)st.st_mode & 07777U);
    else
        result = exec_env_file_take_lines(program, file, err, n);
    if (file)
        fclose(file);
    return result;
}
