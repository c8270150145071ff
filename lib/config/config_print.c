/* config_print.c: the configuration in force, as a file that config_load() reads back. The depth of
 * what is printed is its indentation, in steps of four spaces. */
#include "config/config_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- values --- */

static void print_string(const char *text, FILE *out)
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

static bool is_set(const struct config_row *row, const void *base)
{
    const char *at = (const char *)base + row->offset;

    if (row->kind == CONFIG_STRING)
        return *(char *const *)at != NULL;
    if (row->kind == CONFIG_NAME)
        return *at != '\0';
    return row->words || config_fetch(row, base) >= row->min;
}

static void print_value(const struct config_row *row, const void *base, FILE *out)
{
    const char *at = (const char *)base + row->offset;
    char text[32];

    if (row->kind == CONFIG_STRING)
        print_string(*(char *const *)at, out);
    else if (row->kind == CONFIG_NAME)
        print_string(at, out);
    else if (row->words)
        print_string(
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

static void config_print_queues(const struct config_pool *pool, int depth, FILE *out);

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
        } else if (is_set(row, base)) {
            fprintf(out, " %s = ", last_part(row->path));
            print_value(row, base, out);
            fputc(';', out);
        }
    }
    fputs(" }", out);
}

static void print_entry(enum config_scope scope, const void *row, bool first, int depth, FILE *out)
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
                       uint32_t count, FILE *out)
{
    fprintf(out, "%s = (", name);
    for (uint32_t i = 0; i < count; i++)
        print_entry(scope, (const char *)rows + i * size, i == 0, 0, out);
    end_list(count == 0, 0, out);
}

/* Prints the queues of the configured list, without shards and without queues that a pattern added.
 */
static void config_print_queues(const struct config_pool *pool, int depth, FILE *out)
{
    uint32_t q = 0, p = 0;

    fputs("queues = (", out);
    for (uint32_t i = 0; i < pool->entries; i++) {
        if (p < pool->pattern_count && pool->patterns[p].entry == i) {
            print_entry(CONFIG_IN_QUEUE, &pool->patterns[p++], i == 0, depth, out);
            continue;
        }
        while (pool->queues[q].entry != i)
            q++;
        print_entry(CONFIG_IN_QUEUE, &pool->queues[q], i == 0, depth, out);
    }
    end_list(pool->entries == 0, depth, out);
}

static void print_load(char *const *load, FILE *out)
{
    fputs("load = (", out);
    for (char *const *name = load; *name; name++) {
        fputs(name > load ? ", " : " ", out);
        print_string(*name, out);
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
            print_string(leaves[i].value, out);
        else
            print_leaves(&leaves[i], same, from + len + 1, depth + 1, out);
        fputs(list ? "" : ";\n", out);
    }
    fputs(list ? "\n" : "", out);
    indent(depth, out);
    fputs(list ? ")" : "}", out);
}

static void print_plugins(const struct config_leaf *leaves, uint32_t count, FILE *out)
{
    uint32_t same;

    fputs("config = {\n", out);
    for (uint32_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count; same++) {
            if (strcmp(leaves[i + same].plugin, leaves[i].plugin) != 0)
                break;
        }
        indent(2, out);
        fprintf(out, "%s = ", leaves[i].plugin);
        print_leaves(&leaves[i], same, 0, 2, out);
        fputs(";\n", out);
    }
    indent(1, out);
    fputs("};", out);
}

/* --- all of it --- */

/* Has it the default of each option that only a pool has, and the name that it gets without
 * `pools`? */
static bool is_default_pool(const struct config_pool *pool)
{
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope == CONFIG_IN_POOL && row->kind != CONFIG_NAME && row->kind != CONFIG_MANY &&
            strcmp(row->path, "pools.workers") != 0 && config_fetch(row, pool) != row->preset)
            return false;
    }
    return strcmp(pool->name, "default") == 0;
}

/* Can it be written as workers and queues, without `pools`? */
static bool config_print_is_plain(const struct config *config)
{
    return config->pool_count == 1 && is_default_pool(config->pools);
}

/* Writes what is before the dot of a path to out; "" without a dot. */
static void group_of(const char *path, char *out, size_t size)
{
    const char *dot = strchr(path, '.');

    snprintf(out, size, "%.*s", dot ? (int)(dot - path) : 0, path);
}

static void print_comment(const struct config_row *row, const char *margin, FILE *out)
{
    char summary[400];

    fprintf(out, "%s# %s\n", margin, row->help);
    fprintf(out, "%s# %s\n", margin, config_text_summary(row, summary, sizeof summary));
}

/* Prints an option that is a list, if it is set. Returns whether it was. */
static bool print_many(const struct config_row *row, const struct config *config, FILE *out)
{
    if (strcmp(row->path, "queues") == 0 && config_print_is_plain(config))
        config_print_queues(config->pools, 0, out);
    else if (strcmp(row->path, "pools") == 0 && !config_print_is_plain(config))
        print_list("pools", CONFIG_IN_POOL, config->pools, sizeof *config->pools,
                   config->pool_count, out);
    else if (strcmp(row->path, "types") == 0)
        print_list("types", CONFIG_IN_TYPE, config->types, sizeof *config->types,
                   config->type_count, out);
    else if (strcmp(row->path, "limits") == 0)
        print_list("limits", CONFIG_IN_LIMIT, config->limits, sizeof *config->limits,
                   config->limit_count, out);
    else if (strcmp(row->path, "groups") == 0)
        print_list("groups", CONFIG_IN_GROUP, config->groups, sizeof *config->groups,
                   config->group_count, out);
    else if (strcmp(row->path, "cron") == 0)
        print_list("cron", CONFIG_IN_CRON, config->crons, sizeof *config->crons, config->cron_count,
                   out);
    else if (strcmp(row->path, "plugins.load") == 0 && config->plugins.load)
        print_load(config->plugins.load, out);
    else if (strcmp(row->path, "plugins.config") == 0)
        print_plugins(config->plugins.config, config->plugins.config_count, out);
    else
        return false;
    return true;
}

static void config_print_row(const struct config_row *row, const struct config_draft *draft,
                             FILE *out)
{
    const char *name = last_part(row->path), *margin = name > row->path ? "    " : "";
    bool printed = true;

    print_comment(row, margin, out);
    fputs(margin, out);
    if (row->kind == CONFIG_MANY) {
        printed = print_many(row, &draft->config, out);
    } else if (strcmp(row->path, "workers") == 0 && !config_print_is_plain(&draft->config)) {
        printed = false;
    } else if (is_set(row, draft)) {
        fprintf(out, "%s = ", name);
        print_value(row, draft, out);
        fputc(';', out);
    } else {
        printed = false;
    }
    if (!printed)
        fprintf(out, "# %s is not set", name);
    fputc('\n', out);
}

static void config_print_rows(const struct config *config, bool only_of_jobs, FILE *out)
{
    struct config_draft draft = { .config = *config, .workers = config->pools->workers };
    char group[32], open[32] = "";

    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope != CONFIG_IN_TOP || (only_of_jobs && !row->of_jobs))
            continue;
        group_of(row->path, group, sizeof group);
        if (*open && strcmp(group, open) != 0)
            fputs("};\n", out);
        fputc('\n', out);
        if (*group && strcmp(group, open) != 0)
            fprintf(out, "%s = {\n", group);
        memcpy(open, group, sizeof open);
        config_print_row(row, &draft, out);
    }
    if (*open)
        fputs("};\n", out);
}

void config_print(const struct config *config, FILE *out)
{
    fputs("# The configuration of laterd in force; see laterd.conf(5).\n", out);
    config_print_rows(config, false, out);
}

void config_print_of_jobs(const struct config *config, FILE *out)
{
    config_print_rows(config, true, out);
}

void config_print_queue(const struct config_queue *queue, FILE *out)
{
    print_element(CONFIG_IN_QUEUE, queue, 0, out);
}
