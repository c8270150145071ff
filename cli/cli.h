/*
 * cli.h: one run of `later`, and what its commands share.
 *
 * A command is a row: its words, its options, its function. The function returns the exit status
 * if it has reported everything itself. Otherwise it returns -1 with *err. main() then prints the
 * error after the command's name, and the error's code becomes the exit status.
 *
 * Results go to standard output: a table (table.h), or with --json one object per line (jsonl.h).
 * Messages go to standard error through cli_say().
 */
#ifndef LATER_CLI_H
#define LATER_CLI_H

#include "args.h"
#include "client/call.h"
#include "output/table.h"
#include "where.h"

#include <stdio.h>

struct ahead;
struct cli;
struct kept;

struct command {
    const char *name;
    const char *usage;                 /* the words after the name */
    const char *brief;                 /* one line for the list of commands */
    const char *more;                  /* more lines of help, each with a newline; NULL = none */
    const char *example;               /* one or more command lines, each with a newline */
    const struct args_option *options; /* ends with a NULL name; NULL = none */
    int min, max;                      /* number of words; max -1 = any */
    bool program;                      /* a program must follow after -- */
    const char *instead;               /* the flag that replaces the program, as having no word
                                          does; NULL = neither */
    /* Returns the option that is missing so that no person is needed, whom `later serve` has not;
     * NULL: none is. A NULL function: no person is ever needed */
    const char *(*by_hand)(const struct cli *cli);
    int (*run)(struct cli *cli, struct later_error *err);
};

/* The options that every command has. */
extern const struct args_option global_options[];

struct cli {
    const struct command *command;
    struct args args;
    struct where where;
    struct later_client *client; /* NULL until it is needed */
    struct ahead *ahead;         /* answers that cli_call() takes first (ahead.h); NULL: none */
    FILE *answers;               /* to what it asks; NULL: standard input */
    struct kept *kept;           /* of one who looks again and again (kept.h); NULL: nothing */
    bool json;
    bool out_terminal, err_terminal, in_terminal;
    bool coloured; /* may standard output have colours? */
};

/* Returns the client and opens it on first use. NULL with *err. */
struct later_client *cli_client(struct cli *cli, struct later_error *err);

/* Are there as many words as the command wants? Returns 0, or -1 with *err (LATER_E_USAGE). */
int cli_check_words(const struct cli *cli, struct later_error *err);

/* A verb of a command, which is its first word: `set` in `later cron set`. */
struct cli_verb {
    const char *name;
    int min, max;      /* how many words it takes; max < 0: any number */
    const char *needs; /* which: "a NAME" */
    /* Returns what a command returns. words: those after the verb, and NULL. */
    int (*run)(struct cli *cli, char **words, struct later_error *err);
};

/* Returns the verb that the command line names, one of `count`, at most CLI_VERBS_MAX. NULL with
 * *err (LATER_E_USAGE): it names none, or there is none of that name, or it takes other words. */
#define CLI_VERBS_MAX 8
const struct cli_verb *cli_verb(const struct cli *cli, const struct cli_verb *verbs, size_t count,
                                struct later_error *err);

/* Returns what the command line says about where Redis is. */
struct where_given cli_given(const struct cli *cli);

/* Finds the keys of a queue (LATER_E_USAGE for a bad name). Opens the client. */
int cli_keys(struct cli *cli, const char *queue, struct later_keys *keys, struct later_error *err);

/* Sends a command and waits for its answer. cli_call() may repeat it after a lost
 * reply, cli_call_once() does not. The caller frees the reply with later_reply_free(). NULL with
 * *err. */
struct later_reply *cli_call(struct cli *cli, struct later_command *cmd, struct later_error *err);
struct later_reply *cli_call_once(struct cli *cli, struct later_command *cmd,
                                  struct later_error *err);

/* After commands that were begun one after the other: waits for all answers, and returns 0; or -1
 * with *err. If ok < 0 one could not be begun: the others are dropped, whose targets end. */
int cli_drain(struct cli *cli, int ok, struct later_error *err);

/* How many servers have our keys: 1, or the masters of a Cluster. Asks number `node` of them, for
 * what concerns a server and not a key. The client is open. The second: NULL with *err, and is not
 * repeated. */
#define CLI_NODE_SIZE (LATER_NODE_SIZE > LATER_URL_SIZE ? LATER_NODE_SIZE : LATER_URL_SIZE)
size_t cli_nodes(const struct cli *cli);
struct later_reply *cli_call_node(struct cli *cli, size_t node, struct later_command *cmd,
                                  struct later_error *err);
/* Writes its address, as people know it. */
void cli_node_name(const struct cli *cli, size_t node, char name[CLI_NODE_SIZE]);

/* Asks for what may be missing, twice: first with `ahead`, into which it is only sent (ahead.h);
 * then with NULL, as cli_call(). NULL: it is not there (yet), or may not be read; if Redis is away,
 * *away is true, with *err. */
struct later_reply *cli_look(struct cli *cli, struct ahead *ahead, struct later_command *cmd,
                             bool *away, struct later_error *err);

/* Takes over a reply that is a number from 0 on, and returns it. Returns -1 for NULL. */
int64_t cli_count(struct later_reply *reply);

/* Enters a queue in later:queues, so that commands find it before its first job comes. Returns 0,
 * or -1 with *err. */
int cli_name_queue(struct cli *cli, const char *queue, struct later_error *err);

/* cli_clock() reads Redis's clock, cli_ping() only looks whether Redis answers. Return 0, or -1
 * with *err. */
int cli_clock(struct cli *cli, double *now, struct later_error *err);
int cli_ping(struct cli *cli, struct later_error *err);

/* Returns the queue given by -q, or "default". Only for commands that make something: those that
 * look for a job ask all queues (jobs/find.h). */
const char *cli_queue(const struct cli *cli);

/* Refuses what cannot be the name of a lock, a limit or a stock. Returns 0, or -1 with *err. */
int cli_check_name(const char *name, struct later_error *err);

/* Finds which of these sets has the name that was given by --state. Returns 0, or -1 with *err. */
int cli_state(const char *name, const enum later_key *sets, size_t count, enum later_key *set,
              struct later_error *err);

/* Reads the value of an option. If the option was not given, the value stays as it is. A
 * positive duration may not be 0. Returns 0, or -1 with *err. */
int cli_duration(const struct cli *cli, const char *option, double *seconds,
                 struct later_error *err);
int cli_positive_duration(const struct cli *cli, const char *option, double *seconds,
                          struct later_error *err);
int cli_number(const struct cli *cli, const char *option, int64_t min, int64_t max, int64_t *number,
               struct later_error *err);

/* Prints a line on standard error after the command's name. */
void cli_say(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begins a table in this run's form: for people or for programs. */
void cli_table(const struct cli *cli, struct table *table, const char *const *headings);

/* Says what a person reads if the table has no row: a borrowed text. Programs, and --json, get
 * nothing. */
void cli_instead(const struct cli *cli, struct table *table, const char *text);

/* Prints how many jobs of a queue were found or acted on: a member `name` with --json, a row of the
 * table with --all-queues, otherwise a line with, for people, `word` behind the number. queue,
 * table and word may be NULL. */
void cli_print_count(const struct cli *cli, struct table *table, const char *queue,
                     const char *name, const char *word, uint64_t count);

/* Asks before something that touches many jobs. On a terminal it asks "WHAT? [y/N]"; elsewhere
 * --yes must have been given. Returns 0 to go on, or the exit status after saying why. */
int cli_ask(const struct cli *cli, const char *what);

#endif
