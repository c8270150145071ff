/* config_text.c: values, ranges and defaults of options in words. */
#include "config/config_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX    1e15 /* whole numbers below are written without exponent */
#define KEY_MAX      32   /* no option's key is longer */
#define DISTANCE_MAX 2    /* more mistyped letters are not guessed */

const char *config_text_real(double value, char *out, size_t size)
{
    if (fabs(value) < WHOLE_MAX && !islessgreater(value, floor(value))) {
        snprintf(out, size, "%.0f", value);
        return out;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        if (!islessgreater(strtod(out, NULL), value))
            break;
    }
    return out;
}

static unsigned count_words(const char *words)
{
    unsigned count = 1;

    for (const char *bar = words; (bar = strchr(bar, '|')); bar++)
        count++;
    return count;
}

const char *config_text_word(const char *words, unsigned n, char *out, size_t size)
{
    while (n-- > 0)
        words = strchr(words, '|') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(words, "|"), words);
    return out;
}

int config_text_word_index(const char *words, const char *word)
{
    char each[32];

    for (unsigned i = 0; i < count_words(words); i++) {
        if (strcmp(config_text_word(words, i, each, sizeof each), word) == 0)
            return (int)i;
    }
    return -1;
}

/* "error", "warn" or "info" */
static void words_range(const char *words, char *out, size_t size)
{
    unsigned count = count_words(words);
    size_t len = 0;
    char word[32];

    for (unsigned i = 0; i < count && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s\"%s\"",
                                i == 0          ? ""
                                : i + 1 < count ? ", "
                                                : " or ",
                                config_text_word(words, i, word, sizeof word));
}

const char *config_text_range(const struct config_row *row, char *out, size_t size)
{
    char min[32], max[32];

    if (row->words) {
        words_range(row->words, out, size);
    } else if (row->kind == CONFIG_STRING || row->kind == CONFIG_NAME) {
        snprintf(out, size, "a string");
    } else {
        config_text_real(row->min, min, sizeof min);
        config_text_real(row->max, max, sizeof max);
        snprintf(out, size, "%s to %s%s%s", min, max, row->unit ? " " : "",
                 row->unit ? row->unit : "");
    }
    return out;
}

/* Writes the default; "" if the option must be given. */
static void default_text(const struct config_row *row, char *out, size_t size)
{
    bool quoted = row->kind == CONFIG_STRING || row->words;

    if (row->text)
        snprintf(out, size, quoted ? "\"%s\"" : "%s", row->text);
    else if (row->kind == CONFIG_STRING)
        snprintf(out, size, "none");
    else if (row->kind == CONFIG_NAME || row->kind == CONFIG_MANY || row->preset < row->min)
        *out = '\0';
    else
        config_text_real(row->preset, out, size);
}

const char *config_text_summary(const struct config_row *row, char *out, size_t size)
{
    const char *form = row->form ? row->form : "string";
    bool ranged = row->words || row->max > 0;
    char range[80], preset[200];

    if (row->kind == CONFIG_UINT || row->kind == CONFIG_SIZE)
        form = "whole number";
    else if (row->kind == CONFIG_REAL)
        form = "number";
    else if (row->kind == CONFIG_NAME)
        ranged = false;
    default_text(row, preset, sizeof preset);
    snprintf(out, size, "%s%s%s; %s%s; %s.", form, ranged ? ", " : "",
             ranged ? config_text_range(row, range, sizeof range) : "",
             *preset ? "default " : "must be given", preset, row->fixed ? "restart" : "HUP");
    return out;
}

int config_text_fault(const struct config_location *location, const char *path,
                      struct later_error *err, const char *format, ...)
{
    char what[400];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (!location->file)
        return later_fail(err, LATER_E_CONFIG, "%s: %s", path, what);
    return later_fail(err, LATER_E_CONFIG, "%s:%u: %s: %s", location->file, location->line, path,
                      what);
}

int config_no_memory(struct later_error *err)
{
    return later_fail(err, LATER_E_SYSTEM, "no memory for the configuration");
}

static size_t config_text_least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Returns how many letters to add, drop, change or swap with their neighbour to make b of a. */
static size_t config_text_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b), cost[KEY_MAX + 1][KEY_MAX + 1];

    if (m > KEY_MAX || n > KEY_MAX)
        return KEY_MAX;
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = config_text_least(cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                                           cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                cost[i - 2][j - 2] + 1 < cost[i][j])
                cost[i][j] = cost[i - 2][j - 2] + 1;
        }
    }
    return cost[m][n];
}

/* Is the path in the group? Then copies the next part of it into key. */
static bool key_in_group(const char *path, const char *group, char key[KEY_MAX + 1])
{
    size_t len = strlen(group);

    if (len > 0 && (strncmp(path, group, len) != 0 || path[len++] != '.'))
        return false;
    snprintf(key, KEY_MAX + 1, "%.*s", (int)strcspn(path + len, "."), path + len);
    return true;
}

static const char *nearest_in_group(const char *group, const char *key, char *out, size_t size)
{
    size_t best = strlen(key) > DISTANCE_MAX + 1 ? DISTANCE_MAX + 1 : DISTANCE_MAX;
    const char *found = NULL;
    char each[KEY_MAX + 1];

    for (size_t i = 0; i < config_table_count; i++) {
        if (!key_in_group(config_table[i].path, group, each) ||
            config_text_distance(key, each) >= best)
            continue;
        best = config_text_distance(key, each);
        snprintf(out, size, "%s", each);
        found = out;
    }
    return found;
}

const char *config_text_nearest(const char *group, const char *key, char *out, size_t size)
{
    const struct config_row *same = NULL;

    if (nearest_in_group(group, key, out, size))
        return out;
    for (size_t i = 0; i < config_table_count; i++) {
        const char *dot = strrchr(config_table[i].path, '.');

        if (config_table[i].scope != CONFIG_IN_TOP ||
            strcmp(dot ? dot + 1 : config_table[i].path, key))
            continue;
        if (same)
            return NULL; /* two groups have it: do not guess */
        same = &config_table[i];
    }
    if (!same)
        return NULL;
    snprintf(out, size, "%s", same->path);
    return out;
}
