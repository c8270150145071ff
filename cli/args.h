/*
 * args.h: the command line. Pure.
 *
 * Options may stand anywhere, before the command too: `--name value`, `--name=value`, `-n value`,
 * `-nvalue`; `--` ends them. A word that begins with `-` and a digit is a number, not an option,
 * so that `later push t -5` works. Whatever an option needs a value for takes the next word as it
 * is. The last one wins.
 */
#ifndef LATER_CLI_ARGS_H
#define LATER_CLI_ARGS_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

/* One option. A table of them ends with a name of NULL. */
struct args_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0 = none */
    const char *value; /* what it needs, for the help: "SECONDS"; NULL = a flag. "[SECONDS]": it may
                        * have one, which begins with a digit */
    const char *help;
};

#define ARGS_TABLES      2
#define ARGS_OPTIONS_MAX 24 /* in one table */
#define ARGS_GIVEN_MAX   64 /* options with values on one line */

struct args {
    const struct args_option *tables[ARGS_TABLES];
    const char *values[ARGS_TABLES][ARGS_OPTIONS_MAX]; /* NULL = not given; of a flag: "" */
    struct {
        const char *name, *value;
    } given[ARGS_GIVEN_MAX]; /* those with values, in their order, for those that may come again */
    size_t given_count;
    char **words; /* what is no option; NULL-terminated */
    int count;
    char **program; /* what stands behind `--`, for a command that runs a program; NULL = no -- */
};

/* The place of the command in argv: the first word that is no option and no value of one of the
 * options in `count` tables; 0 = there is none. An option of one name takes a value in all tables
 * or in none. */
int args_command(int argc, char **argv, const struct args_option *const *tables, size_t count);

/* Sorts argv[1] … argv[argc - 1], but for argv[command], into *args, which borrows and reorders
 * argv. program: what stands behind `--` is a program to run. Returns 0, or -1 with *err
 * (LATER_E_USAGE): an unknown option, with the nearest one that there is; a value that is missing
 * or not wanted. */
int args_parse(struct args *args, int argc, char **argv, int command,
               const struct args_option *global, const struct args_option *own, bool program,
               struct later_error *err);

/* What was given for an option of the tables: its value, NULL if it was not given, "" if it was
 * given without one; for a flag, whether it was. Asking for one that is in no table is a fault and
 * ends the program. */
const char *args_text(const struct args *args, const char *name);
bool args_flag(const struct args *args, const char *name);

/* The values of an option that may come several times: *at is 0 at first. NULL = no more. */
const char *args_next(const struct args *args, const char *name, size_t *at);

/* The name that was most likely meant, or NULL if none is near: counted are letters too many, too
 * few, wrong, and neighbours exchanged. */
const char *args_nearest(const char *word, const char *const *names, size_t count);

#endif
