/*
 * args.h: reads the command line. Pure.
 *
 * Options may stand anywhere, even before the command: `--name value`, `--name=value`, `-n value`,
 * `-nvalue`. `--` ends them. A word that begins with `-` and a digit is a number, not an option,
 * so that `later push t -5` works. An option that needs a value takes the next word, whatever it
 * looks like. If an option is given twice, the last one counts.
 */
#ifndef LATER_CLI_ARGS_H
#define LATER_CLI_ARGS_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

/* One option. A NULL name ends a table of them. */
struct args_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0 = none */
    const char *value; /* the value's name in the help: "SECONDS"; NULL = a flag; "[SECONDS]" =
                          optional, begins with a digit */
    const char *help;
};

#define ARGS_TABLES      2
#define ARGS_OPTIONS_MAX 48 /* in one table */
#define ARGS_GIVEN_MAX   64 /* options with values on one line */

struct args {
    const struct args_option *tables[ARGS_TABLES];
    const char *values[ARGS_TABLES][ARGS_OPTIONS_MAX]; /* NULL = not given; "" for a flag */
    struct {
        const char *name, *value;
    } given[ARGS_GIVEN_MAX]; /* all values in the order given, for options that may be repeated */
    size_t given_count;
    char **words; /* the words that are not options; NULL-terminated */
    int count;
    const char *unknown; /* the option that no table has, as it was written, if args_parse() failed
                            by it; else NULL */
    char **program;      /* the words after `--`, for a command that runs a program; NULL = no -- */
};

/* Returns the command's place in argv: the first word that is neither an option nor a value of an
 * option in the `count` tables. 0 = there is none. An option of one name must take a value in all
 * tables or in none. */
int args_command(int argc, char **argv, const struct args_option *const *tables, size_t count);

/* Sorts argv[1] … argv[argc - 1], except argv[command], into *args, which borrows and reorders
 * argv. program: the words after `--` are a program to run. Returns 0, or -1 with *err
 * (LATER_E_USAGE) for an unknown option (the message suggests the nearest one), a missing value or
 * an unwanted value. */
int args_parse(struct args *args, int argc, char **argv, int command,
               const struct args_option *global, const struct args_option *own, bool program,
               struct later_error *err);

/* Adds what was not on the line, as if the option stood at its end; but where only the last value
 * counts, one that was given stays. Borrows the value. Returns 0, or -1 with *err: there are too
 * many. */
int args_give(struct args *args, const char *name, const char *value, struct later_error *err);

/* What was given for an option of the tables. args_text(): its value, NULL if the option was not
 * given, "" if it was given without a value. args_flag(): whether it was given. Asking for an
 * option that no table has is a bug and ends the program. */
const char *args_text(const struct args *args, const char *name);
bool args_flag(const struct args *args, const char *name);

/* Iterates over the values of an option that may be repeated. Set *at to 0 first. NULL = no
 * more. */
const char *args_next(const struct args *args, const char *name, size_t *at);

/* Returns the name that was most likely meant, or NULL if none is near. Missing, extra, wrong and
 * swapped letters count. */
const char *args_nearest(const char *word, const char *const *names, size_t count);

/* What is said behind a word that nothing has: "; did you mean NEAREST?", or `otherwise` if nearest
 * is NULL. Returns out. */
#define ARGS_MEANT 200
const char *args_meant(char out[ARGS_MEANT], const char *nearest, const char *otherwise);

#endif
