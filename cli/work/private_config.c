/* private_config.c: the configuration of the laterd of `later work`. */
#include "work/private.h"

#include "work/hello.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENTRY_NAME 64

extern char **environ;

/* --- its files --- */

void private_config_path(const struct private_laterd *own, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.3000s/%s", own->folder, name);
}

static int private_config_fail(const char *path, struct later_error *err)
{
    return later_fail(err, LATER_E_SYSTEM, "%.300s: %s", path, strerror(errno));
}

static FILE *private_config_create(const struct private_laterd *own, const char *name,
                                   struct later_error *err)
{
    char path[PATH_MAX];
    FILE *file;
    int fd;

    private_config_path(own, name, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        private_config_fail(path, err);
    return file;
}

/* The program has our environment, which may hold secrets: laterd reads it from a file. A value
 * with a line break does not fit into one. */
static int private_config_write_environment(const struct private_laterd *own,
                                            struct later_error *err)
{
    FILE *to = private_config_create(own, "environment", err);

    if (!to)
        return -1;
    for (char **variable = environ; *variable; variable++) {
        if (!strchr(*variable, '\n') && strncmp(*variable, "LATER_", 6) != 0)
            fprintf(to, "%s\n", *variable);
    }
    return fclose(to) == 0 ? 0 : private_config_fail("environment", err);
}

/* --- its options --- */

/* Writes a string as libconfig reads it. */
static void private_config_quote(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", to);
        else if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else
            putc(*text, to);
    }
    putc('"', to);
}

static void private_config_set(FILE *to, const char *name, const char *text)
{
    fprintf(to, "%s = ", name);
    private_config_quote(to, text);
    fputs(";\n", to);
}

static void private_config_put_redis(const struct private_laterd *own, FILE *to)
{
    const struct where *where = &own->cli->where;
    char path[PATH_MAX];

    fputs("redis = {\n", to);
    private_config_set(to, "url", where->url);
    if (*where->password_file)
        private_config_set(to, "password_file", where->password_file);
    private_config_set(to, "prefix", where->prefix);
    fputs("};\n", to);
    private_config_path(own, "state", path);
    private_config_set(to, "state_dir", path);
}

/* Each queue has what the configuration of this host says of it, but for its weight: here the order
 * counts. */
static void private_config_put_queues(const struct private_laterd *own, FILE *to)
{
    const struct args *args = &own->cli->args;

    fputs("queues = (", to);
    for (int i = 0; i < args->count; i++) {
        const struct config_queue *known = config_serves(own->rules, args->words[i]);
        struct config_queue queue = known ? *known : (struct config_queue){ 0 };

        snprintf(queue.name, sizeof queue.name, "%s", args->words[i]);
        queue.weight = 0;
        fputs(i > 0 ? ",\n" : "\n", to);
        config_print_queue(&queue, to);
    }
    fputs(" );\n", to);
}

/* --timeout is for all jobs that do not say. */
static void private_config_put_rules(const struct private_laterd *own, FILE *to)
{
    for (uint32_t i = 0; own->timeout > 0 && i < own->rules->type_count; i++)
        own->rules->types[i].timeout = own->timeout;
    if (own->timeout > 0)
        own->rules->timeout = own->timeout;
    config_print_of_jobs(own->rules, to);
    fprintf(to, "lease = %.6f;\ndrain = %d;\nstop_after = %" PRId64 ";\nworkers = %d;\n",
            own->lease, LATER_TIMEOUT_MAX, own->number,
            (int)(own->lines ? own->programs : own->parallel));
    if (own->cli->json)
        fputs("log = { format = \"json\"; level = \"debug\"; rate = 0; };\n", to);
    else if (!own->lines)
        fputs("log = { level = \"warn\"; };\n", to);
}

static void private_config_put_types(const struct private_laterd *own, FILE *to)
{
    char said[LATER_TYPE_MAX + 1];
    const char *type, *comma = " ";
    size_t at = 0;

    fputs("types = (", to);
    while ((type = args_next(&own->cli->args, "type", &at))) {
        fputs(comma, to);
        private_config_quote(to, type);
        comma = ", ";
    }
    for (unsigned i = 0; own->hello && hello_type(own->hello, i, said); i++) {
        fputs(comma, to);
        private_config_quote(to, said);
        comma = ", ";
    }
    fprintf(to, " );\n%s", own->hello ? "hello = true;\n" : "");
}

static void private_config_put_program(const struct private_laterd *own, FILE *to)
{
    char path[PATH_MAX];

    fputs("argv = ( ", to);
    private_config_quote(to, own->program);
    for (char *const *word = own->cli->args.program + 1; *word; word++) {
        fputs(", ", to);
        private_config_quote(to, *word);
    }
    fputs(" );\n", to);
    if (getcwd(path, sizeof path))
        private_config_set(to, "dir", path);
    if (!own->lines) {
        fputs("inherit = true;\ntypes = ( \"*\" );\n", to);
        return;
    }
    fputs("lines = true;\n", to);
    private_config_put_types(own, to);
    if (own->parallel > 0)
        fprintf(to, "parallel = %d;\n", (int)own->parallel);
}

static void private_config_put_plugins(const struct private_laterd *own, FILE *to)
{
    char path[PATH_MAX];

    fputs("plugins = {\n", to);
    private_config_set(to, "dir", own->files.plugins);
    fputs("load = ( \"exec\" );\nconfig = { exec = { work = {\n", to);
    private_config_put_program(own, to);
    private_config_path(own, "environment", path);
    private_config_set(to, "env_file", path);
    fputs("}; }; };\n};\n", to);
}

int private_config_write(const struct private_laterd *own, struct later_error *err)
{
    FILE *to;

    if (private_config_write_environment(own, err) < 0)
        return -1;
    to = private_config_create(own, "laterd.conf", err);
    if (!to)
        return -1;
    private_config_put_redis(own, to);
    private_config_put_queues(own, to);
    private_config_put_rules(own, to);
    private_config_put_plugins(own, to);
    return fclose(to) == 0 ? 0 : private_config_fail("laterd.conf", err);
}

/* The entry's name: its folder's, and its last word's that is no option. Of two of one name in
 * conf.d the later would take the place of the other. */
static void private_config_name(const struct private_laterd *own, char name[ENTRY_NAME])
{
    char here[PATH_MAX], *const *words = own->cli->args.program;
    const char *last = words[0], *slash;

    for (size_t i = 1; words[i]; i++) {
        if (words[i][0] != '-')
            last = words[i];
    }
    slash = strrchr(last, '/');
    last = slash && slash[1] ? slash + 1 : last;
    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    slash = strrchr(here, '/');
    snprintf(name, ENTRY_NAME, "%.30s-%.30s", slash ? slash + 1 : here, last);
    for (char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c))
            *c = '-';
    }
    if (!isalpha((unsigned char)name[0]))
        name[0] = 'x'; /* as libconfig wants it */
}

void private_config_entry(const struct private_laterd *own)
{
    char name[ENTRY_NAME];

    private_config_name(own, name);
    printf("# For %s/conf.d. Of the environment the program has PATH, HOME and LANG,\n"
           "# and what you add: env = { NAME = \"VALUE\"; }; env_file = \"%s/%s.env\";\n"
           "plugins = { config = { exec = { %s = {\n",
           LATER_CONF_DIR, LATER_CONF_DIR, name, name);
    private_config_put_program(own, stdout);
    puts("}; }; }; };");
}
