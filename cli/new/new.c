/* new.c: `later new` makes a handler to begin with. */
#include "commands.h"
#include "new/skeleton.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 63

/* The name becomes names of files, a type, and a group of a configuration. */
static bool new_name_valid(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char more[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

    return *name && strchr(letters, *name) && strlen(name) <= NAME_MAX_LEN &&
           name[strspn(name, more)] == '\0';
}

/* Finds "handler/LANG" for the command line. Returns 0, or -1 with *err. */
static int new_choose(const struct cli *cli, const struct skeleton *skeleton, char *template,
                      size_t n, struct later_error *err)
{
    const char *kind = cli->args.words[0], *lang = args_text(&cli->args, "lang");
    bool plugin = strcmp(kind, "plugin") == 0;
    char list[200];

    if (!plugin && strcmp(kind, "handler") != 0)
        return later_fail(err, LATER_E_USAGE, "%.40s: must be handler or plugin", kind);
    if (plugin && lang && strcmp(lang, "c") != 0)
        return later_fail(err, LATER_E_USAGE,
                          "a plugin is in C; `later new handler` is for others");
    if (!lang)
        lang = plugin ? "c" : "python";
    snprintf(template, n, "handler/%s", lang);
    if (*lang && !strchr(lang, '/') && strcmp(lang, "common") != 0 && *lang != '.' &&
        skeleton_has(skeleton, template))
        return 0;
    skeleton_list(skeleton, list, sizeof list);
    if (!*list)
        return later_fail(err, LATER_E_SYSTEM, "no templates in %s/templates", skeleton->data);
    return later_fail(err, LATER_E_USAGE, "no language %.40s; there are %s", lang, list);
}

/* Names what the service, in its sandbox, does not see. */
static void new_tell_hidden(const struct cli *cli, const struct skeleton *skeleton)
{
    const char *name = skeleton->name;

    if (skeleton->instead[0])
        cli_say(cli, "the service cannot see %s; %s/%s.conf names %s instead", skeleton->hidden,
                name, name, skeleton->instead);
    else if (skeleton->hidden[0])
        cli_say(cli, "the service cannot see %s; name one elsewhere in %s/%s.conf",
                skeleton->hidden, name, name);
    skeleton_tell_hidden(cli, skeleton->dir);
}

static int new_run_new(struct cli *cli, struct later_error *err)
{
    const char *name = cli->args.words[1];
    struct skeleton skeleton;
    char template[100];

    if (!new_name_valid(name))
        return later_fail(
            err, LATER_E_USAGE,
            "%.70s: a name has small letters, digits, _ and -, and begins with a letter", name);
    skeleton_look(&skeleton, name);
    if (new_choose(cli, &skeleton, template, sizeof template, err) < 0 ||
        skeleton_begin(&skeleton, err) < 0 || skeleton_add(&skeleton, template, err) < 0 ||
        skeleton_add(&skeleton, "handler/common", err) < 0)
        return -1;
    printf("%s\n", skeleton.dir);
    if (skeleton.missing[0])
        cli_say(cli, "%s is not installed; see %s/%s.conf", skeleton.missing, name, name);
    new_tell_hidden(cli, &skeleton);
    cli_say(cli, "to try it: %s/test.sh; what next: %s/README.md", name, name);
    return LATER_OK;
}

static const struct args_option new_options[] = {
    { "lang", 0, "LANG", "c, go, node, php, python (default), ruby, sh" },
    { 0 },
};

const struct command command_new = {
    .name = "new",
    .usage = "handler|plugin NAME [--lang LANG]",
    .brief = "Make a folder with a working handler and its test",
    .more = "The folder ./NAME gets the handler, its piece of configuration, a test that needs no\n"
            "Redis, and a README. A plugin is a handler in C.\n",
    .example = "later new handler thumbnails --lang python && thumbnails/test.sh\n",
    .options = new_options,
    .min = 2,
    .max = 2,
    .run = new_run_new,
};
