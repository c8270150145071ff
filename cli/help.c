/* help.c: `later help`, --help, and the usage line of a wrong command. */
#include "commands.h"

#include <string.h>

#define NAME_WIDTH   11
#define OPTION_WIDTH 26

static void put_options(FILE *out, const struct args_option *option)
{
    for (; option && option->name; option++) {
        char names[64];

        snprintf(names, sizeof names, "%s%c%s --%s%s%s", option->letter ? "-" : " ",
                 option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
                 option->value ? " " : "", option->value ? option->value : "");
        fprintf(out, "  %-*s %s\n", OPTION_WIDTH, names, option->help);
    }
}

void help_usage(FILE *out, const struct command *command)
{
    fprintf(out, "usage: later %s%s%s\n", command->name, *command->usage ? " " : "",
            command->usage);
}

void help_command(FILE *out, const struct command *command)
{
    help_usage(out, command);
    fprintf(out, "\n%s.\n", command->brief);
    if (command->more)
        fprintf(out, "\n%s", command->more);
    if (command->options) {
        fputs("\nOptions:\n", out);
        put_options(out, command->options);
    }
    fputs("\nOptions of every command:\n", out);
    put_options(out, global_options);
    fputs("\nExample:\n", out);
    for (const char *line = command->example; *line; line = strchr(line, '\n') + 1)
        fprintf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
}

void help_all(FILE *out)
{
    fputs("usage: later COMMAND [WORDS] [OPTIONS]\n\nPush jobs, look at queues, work on them.\n\n",
          out);
    for (const struct command_group *group = command_groups; group->title; group++) {
        fprintf(out, "%s%s:\n", group == command_groups ? "" : "\n", group->title);
        for (const struct command *const *c = group->commands; *c; c++)
            fprintf(out, "  %-*s %s\n", NAME_WIDTH, (*c)->name, (*c)->brief);
    }
    fputs("\nOptions of every command:\n", out);
    put_options(out, global_options);
    fputs("\n`later help COMMAND` explains a command; the manual is later(1).\n", out);
}

static int run_help(struct cli *cli, struct later_error *err)
{
    const struct command *command;

    if (cli->args.count == 0) {
        help_all(stdout);
        return LATER_OK;
    }
    command = command_find(cli->args.words[0], err);
    if (!command) {
        cli_say(cli, "%s", err->text);
        return LATER_E_USAGE;
    }
    help_command(stdout, command);
    return LATER_OK;
}

const struct command command_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .brief = "List the commands, or explain one",
    .example = "later help push\n",
    .max = 1,
    .run = run_help,
};
