/* config_print.c: the configuration in force, as a file that config_load() reads back. */
#include "config/config_print.h"

#include "config/config_text.h"

#include <string.h>

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
static bool is_plain(const struct config *config)
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
static bool print_many(const struct config_row *row, const struct config *config, int depth,
                       FILE *out)
{
    if (strcmp(row->path, "queues") == 0 && is_plain(config))
        config_print_queues(config->pools, depth, out);
    else if (strcmp(row->path, "pools") == 0 && !is_plain(config))
        config_print_pools(config, depth, out);
    else if (strcmp(row->path, "types") == 0)
        config_print_types(config, depth, out);
    else if (strcmp(row->path, "limits") == 0)
        config_print_limits(config, depth, out);
    else if (strcmp(row->path, "cron") == 0)
        config_print_crons(config, depth, out);
    else if (strcmp(row->path, "plugins.load") == 0 && config->plugins.load)
        config_print_load(config, depth, out);
    else if (strcmp(row->path, "plugins.config") == 0)
        config_print_leaves(config, depth, out);
    else
        return false;
    return true;
}

static void print_row(const struct config_row *row, const struct config_draft *draft, FILE *out)
{
    const char *dot = strchr(row->path, '.'), *name = dot ? dot + 1 : row->path;
    const char *margin = dot ? "    " : "";
    bool printed = true;

    print_comment(row, margin, out);
    fputs(margin, out);
    if (row->kind == CONFIG_MANY) {
        printed = print_many(row, &draft->config, dot != NULL, out);
    } else if (strcmp(row->path, "workers") == 0 && !is_plain(&draft->config)) {
        printed = false;
    } else if (config_print_is_set(row, draft)) {
        fprintf(out, "%s = ", name);
        config_print_value(row, draft, out);
        fputc(';', out);
    } else {
        printed = false;
    }
    if (!printed)
        fprintf(out, "# %s is not set", name);
    fputc('\n', out);
}

void config_print(const struct config *config, FILE *out)
{
    struct config_draft draft = { .config = *config, .workers = config->pools->workers };
    char group[32], open[32] = "";

    fputs("# The configuration of laterd in force; see laterd.conf(5).\n", out);
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope != CONFIG_IN_TOP)
            continue;
        group_of(row->path, group, sizeof group);
        if (*open && strcmp(group, open) != 0)
            fputs("};\n", out);
        fputc('\n', out);
        if (*group && strcmp(group, open) != 0)
            fprintf(out, "%s = {\n", group);
        memcpy(open, group, sizeof open);
        print_row(row, &draft, out);
    }
    if (*open)
        fputs("};\n", out);
}
