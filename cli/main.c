/* main.c: `later` finds the command, reads its options and runs it. */
#include "base/standard.h"
#include "commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns which word of argv is the command, 0 = none. */
static int word_of_command(int argc, char **argv)
{
    const struct args_option *tables[COMMANDS_MAX + 1] = { global_options };
    const struct command *command;
    size_t count = 0;

    while ((command = command_at(count)))
        tables[++count] = command->options;
    return args_command(argc, argv, tables, count + 1);
}

static int without_command(int argc, char **argv)
{
    struct later_error err;
    struct args args;

    if (args_parse(&args, argc, argv, 0, global_options, NULL, false, &err) < 0) {
        fprintf(stderr, "later: %s\n", err.text);
        return LATER_E_USAGE;
    }
    if (args_flag(&args, "version")) {
        puts("later " VERSION);
        return LATER_OK;
    }
    help_all(args_flag(&args, "help") ? stdout : stderr);
    return args_flag(&args, "help") ? LATER_OK : LATER_E_USAGE;
}

static void open_cli(struct cli *cli)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    cli->json = args_flag(&cli->args, "json");
    cli->in_terminal = isatty(STDIN_FILENO);
    cli->out_terminal = isatty(STDOUT_FILENO);
    cli->err_terminal = isatty(STDERR_FILENO);
    cli->coloured =
        cli->out_terminal && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

static int wrong_usage(const struct command *command, const char *why)
{
    fprintf(stderr, "later %s: %s\n", command->name, why);
    help_usage(stderr, command);
    return LATER_E_USAGE;
}

/* Many commands have -q, and those that are only about queues take them as words. */
static int wrong_option(const struct command *command, const char *unknown, const char *why)
{
    bool queue = unknown && (strncmp(unknown, "-q", 2) == 0 || strncmp(unknown, "--queue", 7) == 0);

    if (queue && (command->usage[0] == 'Q' || strstr(command->usage, "[Q")))
        why = "no option -q: here the queue is a word of its own";
    return wrong_usage(command, why);
}

static int main_run_command(struct cli *cli)
{
    struct later_error err = { .code = LATER_E_BUG };
    int status;

    open_cli(cli);
    if (args_flag(&cli->args, "version")) {
        puts("later " VERSION);
        return LATER_OK;
    }
    if (args_flag(&cli->args, "help")) {
        help_command(stdout, cli->command);
        return LATER_OK;
    }
    status = cli_check_words(cli, &err) < 0 ? -1 : cli->command->run(cli, &err);
    later_client_close(cli->client);
    if (status >= 0)
        return status;
    if (err.code == LATER_E_USAGE)
        return wrong_usage(cli->command, err.text);
    cli_say(cli, "%s", err.text);
    return (int)err.code;
}

int main(int argc, char **argv)
{
    struct later_error err;
    struct cli cli = { 0 };
    int at = word_of_command(argc, argv), status;

    if (later_standard_take() < 0)
        return LATER_E_SYSTEM;
    signal(SIGPIPE, SIG_DFL); /* if the reader of our output goes away, we end silently */
    if (!at)
        return without_command(argc, argv);
    cli.command = command_find(argv[at], &err);
    if (!cli.command) {
        fprintf(stderr, "later: %s\n", err.text);
        return LATER_E_USAGE;
    }
    if (args_parse(&cli.args, argc, argv, at, global_options, cli.command->options,
                   cli.command->program, &err) < 0)
        return wrong_option(cli.command, cli.args.unknown, err.text);
    status = main_run_command(&cli);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "later: standard output: %s\n", strerror(errno));
        return LATER_E_SYSTEM;
    }
    return status;
}
