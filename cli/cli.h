/*
 * cli.h: one run of `later`: what the commands are and what they share.
 *
 * A command is a row: its words, its options, its function. The function returns the exit status
 * when it has told everything itself, or -1 with *err, which main() tells, prefixed by the
 * command's name; the exit status is then the error's code.
 *
 * Results go to standard output: a table (table.h), or with --json one object a line (jsonl.h).
 * Words go to standard error by cli_say().
 */
#ifndef LATER_CLI_H
#define LATER_CLI_H

#include "args.h"
#include "client/call.h"
#include "output/table.h"
#include "where.h"

#include <stdio.h>

struct cli;

struct command {
    const char *name;
    const char *usage;   /* what stands behind the name */
    const char *brief;   /* one line for the list of commands */
    const char *more;    /* further lines of its help, each ended by a newline; NULL = none */
    const char *example; /* one or more command lines, each ended by a newline */
    const struct args_option *options; /* ends with a name of NULL; NULL = none */
    int min, max;                      /* words it takes; max -1 = any number */
    bool program;                      /* what stands behind -- is a program, and must be there */
    const char *instead;               /* but not with this flag; NULL = none */
    int (*run)(struct cli *cli, struct later_error *err);
};

/* The commands in the order of their help, and how many. */
extern const struct command *const commands[];
extern const size_t command_count;

/* The options of every command. */
extern const struct args_option global_options[];

struct cli {
    const struct command *command;
    struct args args;
    struct where where;
    struct later_client *client; /* NULL until it is needed */
    bool json;
    bool out_terminal, err_terminal, in_terminal;
    bool coloured; /* standard output may have colours */
};

/* The client, opened when first asked for. NULL with *err. */
struct later_client *cli_client(struct cli *cli, struct later_error *err);

/* What is wrong with the number of words of this run; NULL = nothing. */
const char *cli_wrong_count(const struct cli *cli);

/* What the command line says about where Redis is. */
struct where_given cli_given(const struct cli *cli);

/* The keys of a queue (LATER_E_USAGE for a bad name). Opens the client. */
int cli_keys(struct cli *cli, const char *queue, struct later_keys *keys, struct later_error *err);

/* A call of a script or a plain command (LATER_NO_SCRIPT) that may be repeated; of one that may
 * not. The reply is the caller's to later_reply_free(). NULL with *err. */
struct later_reply *cli_call(struct cli *cli, struct later_command *cmd, int script,
                             struct later_error *err);
struct later_reply *cli_call_once(struct cli *cli, struct later_command *cmd, int script,
                                  struct later_error *err);

/* Takes what a call has answered, a number from 0. Returns that; -1 for NULL. */
int64_t cli_count(struct later_reply *reply);
/* Redis's clock. Returns 0, or -1 with *err. */
int cli_clock(struct cli *cli, double *now, struct later_error *err);

/* The queue of -q, "default" if it was not given. */
const char *cli_queue(const struct cli *cli);

/* The value of an option; untouched where it was not given. Returns 0, or -1 with *err. */
int cli_duration(const struct cli *cli, const char *option, double *seconds,
                 struct later_error *err);
int cli_number(const struct cli *cli, const char *option, int64_t min, int64_t max, int64_t *number,
               struct later_error *err);

/* A line on standard error, with the command's name before it. */
void cli_say(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table as this run prints it. */
void cli_table(const struct cli *cli, struct table *table, const char *const *headings);

/* Asks before something that touches many jobs: "WHAT? [y/N]" on a terminal; elsewhere --yes must
 * have been given. Returns 0 to go on; or the exit status, having said why. */
int cli_ask(const struct cli *cli, const char *what);

/* help.c: the list of commands; one command's help; the usage line. */
void help_all(FILE *out);
void help_command(FILE *out, const struct command *command);
void help_usage(FILE *out, const struct command *command);

/* The command of this name; or NULL with the nearest one's name (or NULL) in *nearest. */
const struct command *help_find(const char *name, const char **nearest);

#endif
