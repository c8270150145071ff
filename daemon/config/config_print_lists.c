/* config_print_lists.c: queues, pools, types, limits and the plugins' options as they are written.
 */
#include "config/config_print.h"

#include "config/config_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void config_print_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 127)
            fprintf(out, "\\x%02x", (unsigned)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot ? dot + 1 : path;
}

static void indent(int depth, FILE *out)
{
    fprintf(out, "%*s", depth * 4, "");
}

bool config_print_is_set(const struct config_row *row, const void *base)
{
    const char *at = (const char *)base + row->offset;

    if (row->kind == CONFIG_STRING)
        return *(char *const *)at != NULL;
    if (row->kind == CONFIG_NAME)
        return *at != '\0';
    return row->words || config_fetch(row, base) >= row->min;
}

void config_print_value(const struct config_row *row, const void *base, FILE *out)
{
    const char *at = (const char *)base + row->offset;
    char text[32];

    if (row->kind == CONFIG_STRING)
        config_print_string(*(char *const *)at, out);
    else if (row->kind == CONFIG_NAME)
        config_print_string(at, out);
    else if (row->words)
        config_print_string(
            config_text_word(row->words, (unsigned)config_fetch(row, base), text, sizeof text),
            out);
    else
        fputs(config_text_real(config_fetch(row, base), text, sizeof text), out);
}

static void print_backoff(const struct later_backoff *backoff, FILE *out)
{
    char text[32];

    fputs(" backoff = (", out);
    for (uint32_t i = 0; i < backoff->list_count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : " ",
                config_text_real(backoff->list[i], text, sizeof text));
    fputs(" );", out);
}

/* If a type's backoff is a list, its base, max and jitter are the global values, so they are not
 * printed. */
static bool is_hidden(const struct config_row *row, const void *base)
{
    const struct config_type *type = base;

    return row->scope == CONFIG_IN_TYPE && type->backoff.list_count > 0 &&
           (strcmp(row->path, "types.base") == 0 || strcmp(row->path, "types.max") == 0 ||
            strcmp(row->path, "types.jitter") == 0);
}

/* Prints one row of a list: "{ name = "mail"; weight = 1; }" */
static void print_element(enum config_scope scope, const void *base, int depth, FILE *out)
{
    indent(depth, out);
    fputc('{', out);
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope != scope || is_hidden(row, base))
            continue;
        if (strcmp(row->path, "types.backoff") == 0) {
            const struct config_type *type = base;

            if (type->backoff.list_count > 0)
                print_backoff(&type->backoff, out);
        } else if (strcmp(row->path, "pools.queues") == 0) {
            fputc(' ', out);
            config_print_queues(base, depth, out);
        } else if (config_print_is_set(row, base)) {
            fprintf(out, " %s = ", last_part(row->path));
            config_print_value(row, base, out);
            fputc(';', out);
        }
    }
    fputs(" }", out);
}

static void print_row(enum config_scope scope, const void *row, bool first, int depth, FILE *out)
{
    fputs(first ? "\n" : ",\n", out);
    print_element(scope, row, depth + 1, out);
}

static void end_list(bool empty, int depth, FILE *out)
{
    if (!empty) {
        fputc('\n', out);
        indent(depth, out);
    }
    fputs(");", out);
}

static void print_list(const char *name, enum config_scope scope, const void *rows, size_t size,
                       uint32_t count, int depth, FILE *out)
{
    fprintf(out, "%s = (", name);
    for (uint32_t i = 0; i < count; i++)
        print_row(scope, (const char *)rows + i * size, i == 0, depth, out);
    end_list(count == 0, depth, out);
}

/* Prints the queues of the configured list, without shards and without queues that a pattern added.
 */
void config_print_queues(const struct config_pool *pool, int depth, FILE *out)
{
    uint32_t q = 0, p = 0;

    fputs("queues = (", out);
    for (uint32_t i = 0; i < pool->entries; i++) {
        if (p < pool->pattern_count && pool->patterns[p].entry == i) {
            print_row(CONFIG_IN_QUEUE, &pool->patterns[p++], i == 0, depth, out);
            continue;
        }
        while (pool->queues[q].entry != i)
            q++;
        print_row(CONFIG_IN_QUEUE, &pool->queues[q], i == 0, depth, out);
    }
    end_list(pool->entries == 0, depth, out);
}

void config_print_pools(const struct config *config, int depth, FILE *out)
{
    print_list("pools", CONFIG_IN_POOL, config->pools, sizeof *config->pools, config->pool_count,
               depth, out);
}

void config_print_types(const struct config *config, int depth, FILE *out)
{
    print_list("types", CONFIG_IN_TYPE, config->types, sizeof *config->types, config->type_count,
               depth, out);
}

void config_print_limits(const struct config *config, int depth, FILE *out)
{
    print_list("limits", CONFIG_IN_LIMIT, config->limits, sizeof *config->limits,
               config->limit_count, depth, out);
}

void config_print_crons(const struct config *config, int depth, FILE *out)
{
    print_list("cron", CONFIG_IN_CRON, config->crons, sizeof *config->crons, config->cron_count,
               depth, out);
}

void config_print_load(const struct config *config, int depth, FILE *out)
{
    char *const *load = config->plugins.load;

    (void)depth;
    fputs("load = (", out);
    for (char *const *name = load; *name; name++) {
        fputs(name > load ? ", " : " ", out);
        config_print_string(*name, out);
    }
    fputs(" );", out);
}

/* Returns how many leaves, from the first on, share this part of their keys. */
static uint32_t same_part(const struct config_leaf *leaves, uint32_t count, size_t from)
{
    size_t len = strcspn(leaves->key + from, ".");
    uint32_t same = 1;

    while (same < count && strncmp(leaves[same].key + from, leaves->key + from, len) == 0 &&
           leaves[same].key[from + len] == '.')
        same++;
    return same;
}

/* Prints leaves whose keys are the same up to `from`: members of a group, or elements of a list if
 * they have numbers. Empty list elements are printed as empty groups. */
static void print_leaves(const struct config_leaf *leaves, uint32_t count, size_t from, int depth,
                         FILE *out)
{
    bool list = isdigit((unsigned char)leaves->key[from]);
    uint32_t same;
    unsigned next = 0;

    fputs(list ? "(\n" : "{\n", out);
    for (uint32_t i = 0; i < count; i += same) {
        const char *key = leaves[i].key + from;
        size_t len = strcspn(key, ".");

        same = same_part(&leaves[i], count - i, from);
        if (list && i > 0)
            fputs(",\n", out);
        for (unsigned index = (unsigned)strtoul(key, NULL, 10); list && next < index; next++) {
            indent(depth + 1, out);
            fputs("{ },\n", out);
        }
        next++;
        indent(depth + 1, out);
        if (!list)
            fprintf(out, "%.*s = ", (int)len, key);
        if (key[len] == '\0')
            config_print_string(leaves[i].value, out);
        else
            print_leaves(&leaves[i], same, from + len + 1, depth + 1, out);
        fputs(list ? "" : ";\n", out);
    }
    fputs(list ? "\n" : "", out);
    indent(depth, out);
    fputs(list ? ")" : "}", out);
}

void config_print_leaves(const struct config *config, int depth, FILE *out)
{
    const struct config_leaf *leaves = config->plugins.config;
    uint32_t count = config->plugins.config_count, same;

    fputs("config = {\n", out);
    for (uint32_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count; same++) {
            if (strcmp(leaves[i + same].plugin, leaves[i].plugin) != 0)
                break;
        }
        indent(depth + 1, out);
        fprintf(out, "%s = ", leaves[i].plugin);
        print_leaves(&leaves[i], same, 0, depth + 1, out);
        fputs(";\n", out);
    }
    indent(depth, out);
    fputs("};", out);
}
