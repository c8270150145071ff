/* args.c: reads the command line. */
#include "args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 32 /* longest word that args_nearest() compares */

/* --- nearest --- */

static int args_least(int a, int b, int c)
{
    int ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Returns the optimal string alignment distance of a and b, both at most WORD_MAX long. */
static int args_distance(const char *a, const char *b)
{
    int rows[3][WORD_MAX + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    size_t a_len = strlen(a), b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++)
        before[j] = last[j] = (int)j;
    for (size_t i = 1; i <= a_len; i++) {
        int *spare = before;

        row[0] = (int)i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = args_least(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[b_len];
}

const char *args_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t len = strlen(word);
    int best = len < 3 ? 1 : len < 7 ? 2 : 3;

    if (len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        int away = strlen(names[i]) > WORD_MAX ? WORD_MAX : args_distance(word, names[i]);

        /* If every letter would have to change, the words have nothing in common. */
        if (away <= best && (size_t)away < len) {
            best = away - 1;
            nearest = names[i];
        }
    }
    return nearest;
}

/* --- options --- */

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9');
}

/* Is the next word this option's value, if the option's own word has none? */
static bool takes(const struct args_option *option, const char *next)
{
    if (!option->value || !next)
        return false;
    return *option->value != '[' || (*next >= '0' && *next <= '9');
}

/* Does word name this option, as `--name`, `--name=…`, `-n` or `-n…`? *inside becomes the value
 * within the word, or NULL. */
static bool names(const char *word, const struct args_option *option, const char **inside)
{
    size_t len = strlen(option->name);

    *inside = NULL;
    if (word[1] != '-') {
        if (!option->letter || word[1] != option->letter || (word[2] && !option->value))
            return false;
        *inside = word[2] ? word + 2 : NULL;
        return true;
    }
    if (strncmp(word + 2, option->name, len) != 0 || (word[2 + len] && word[2 + len] != '='))
        return false;
    *inside = word[2 + len] ? word + 2 + len + 1 : NULL;
    return true;
}

static const struct args_option *args_find(const struct args_option *table, const char *word,
                                           const char **inside)
{
    for (; table && table->name; table++) {
        if (names(word, table, inside))
            return table;
    }
    return NULL;
}

int args_command(int argc, char **argv, const struct args_option *const *tables, size_t count)
{
    for (int i = 1; i < argc; i++) {
        const struct args_option *option = NULL;
        const char *inside = NULL;

        if (!is_option(argv[i]))
            return i;
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? i + 1 : 0;
        for (size_t t = 0; t < count && !option; t++)
            option = args_find(tables[t], argv[i], &inside);
        if (option && !inside && takes(option, argv[i + 1]))
            i++;
    }
    return 0;
}

/* Returns what an option of other programs is called here, if it is among `known`, or NULL. */
static const char *args_foreign(const char *name, const char *const *known, size_t count)
{
    static const char *const words[][2] = {
        { "retries", "max-attempts" },
        { "retry", "max-attempts" },
        { "max-retries", "max-attempts" },
        { "attempts", "max-attempts" },
        { "delay", "in" },
        { "eta", "at" },
        { "countdown", "in" },
        { "queue-name", "queue" },
        { "concurrency", "parallel" },
        { "limit", "number" },
        { "count", "number" },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (size_t k = 0; k < count && strcmp(words[i][0], name) == 0; k++) {
            if (strcmp(words[i][1], known[k]) == 0)
                return known[k];
        }
    }
    return NULL;
}

static int refuse_unknown(struct args *args, const char *word, struct later_error *err)
{
    const char *known[ARGS_TABLES * ARGS_OPTIONS_MAX], *nearest;
    char name[WORD_MAX + 1];
    size_t count = 0;

    args->unknown = word;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="),
             word[1] == '-' ? word + 2 : "");
    for (int t = 0; t < ARGS_TABLES; t++) {
        for (const struct args_option *o = args->tables[t]; o && o->name; o++)
            known[count++] = o->name;
    }
    nearest = args_foreign(name, known, count);
    if (!nearest)
        nearest = args_nearest(name, known, count);
    if (nearest)
        return later_fail(err, LATER_E_USAGE, "no option %.60s; did you mean --%s?", word, nearest);
    return later_fail(err, LATER_E_USAGE, "no option %.60s", word);
}

/* Reads the option in argv[i]. Returns how many words it used, or -1 with *err. */
static int args_take(struct args *args, char **argv, int i, struct later_error *err)
{
    const struct args_option *option = NULL;
    const char *inside = NULL, **value;
    int t = -1, taken = 1;

    while (!option && ++t < ARGS_TABLES)
        option = args_find(args->tables[t], argv[i], &inside);
    if (!option)
        return refuse_unknown(args, argv[i], err);
    value = &args->values[t][option - args->tables[t]];
    if (!option->value) {
        if (inside)
            return later_fail(err, LATER_E_USAGE, "--%s takes no value", option->name);
        *value = "";
        return 1;
    }
    if (!inside && takes(option, argv[i + 1]))
        inside = argv[i + taken++];
    if (!inside && *option->value != '[')
        return later_fail(err, LATER_E_USAGE, "--%s needs %s", option->name, option->value);
    *value = inside ? inside : "";
    if (args->given_count == ARGS_GIVEN_MAX)
        return later_fail(err, LATER_E_USAGE, "more than %d options", ARGS_GIVEN_MAX);
    args->given[args->given_count].name = option->name;
    args->given[args->given_count++].value = *value;
    return taken;
}

int args_parse(struct args *args, int argc, char **argv, int command,
               const struct args_option *global, const struct args_option *own, bool program,
               struct later_error *err)
{
    int i = 1, taken = 1;

    *args = (struct args){ .tables = { own, global }, .words = argv + 1 };
    for (; i < argc; i += taken) {
        taken = 1;
        if (i == command)
            continue;
        if (strcmp(argv[i], "--") == 0)
            break;
        if (!is_option(argv[i])) {
            args->words[args->count++] = argv[i];
            continue;
        }
        taken = args_take(args, argv, i, err);
        if (taken < 0)
            return -1;
    }
    if (i < argc && program && i > command) {
        args->program = argv + i + 1;
    } else {
        for (i++; i < argc; i++) {
            if (i != command)
                args->words[args->count++] = argv[i];
        }
    }
    args->words[args->count] = NULL;
    return 0;
}

/* --- what was given --- */

/* Finds the table and the place there of an option. */
static void args_seek(const struct args *args, const char *name, int *t, size_t *at)
{
    for (*t = 0; *t < ARGS_TABLES; ++*t) {
        const struct args_option *table = args->tables[*t];

        for (*at = 0; table && table[*at].name && *at < ARGS_OPTIONS_MAX; ++*at) {
            if (strcmp(table[*at].name, name) == 0)
                return;
        }
    }
    fprintf(stderr, "later: the option %s is in no table\n", name);
    abort();
}

int args_give(struct args *args, const char *name, const char *value, struct later_error *err)
{
    size_t at;
    int t;

    args_seek(args, name, &t, &at);
    if (args->given_count == ARGS_GIVEN_MAX)
        return later_fail(err, LATER_E_USAGE, "more than %d options", ARGS_GIVEN_MAX);
    args->given[args->given_count].name = args->tables[t][at].name;
    args->given[args->given_count++].value = value;
    if (!args->values[t][at])
        args->values[t][at] = value;
    return 0;
}

const char *args_text(const struct args *args, const char *name)
{
    size_t at;
    int t;

    args_seek(args, name, &t, &at);
    return args->values[t][at];
}

bool args_flag(const struct args *args, const char *name)
{
    return args_text(args, name) != NULL;
}

const char *args_next(const struct args *args, const char *name, size_t *at)
{
    while (*at < args->given_count) {
        size_t i = (*at)++;

        if (strcmp(args->given[i].name, name) == 0)
            return args->given[i].value;
    }
    return NULL;
}

const char *args_meant(char out[ARGS_MEANT], const char *nearest, const char *otherwise)
{
    snprintf(out, ARGS_MEANT, "%s%s%s", nearest ? "; did you mean " : otherwise,
             nearest ? nearest : "", nearest ? "?" : "");
    return out;
}
