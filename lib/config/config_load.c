/* config_load.c: reads the files of a configuration, in order, into one checked struct. */
#include "config/config.h"

#include "config/config_cron.h"
#include "config/config_file.h"
#include "config/config_finish.h"
#include "config/config_lists.h"
#include "config/config_read.h"
#include "config/config_scan.h"
#include "config/config_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void free_members(struct config *config)
{
    config_strings_free(CONFIG_IN_TOP, config);
    config_lists_free_pools(config->pools, config->pool_count);
    later_names_free(&config->served, NULL);
    config_plugins_free_load(config->plugins.load);
    for (uint32_t i = 0; i < config->plugins.config_count; i++)
        config_plugins_free_leaf(&config->plugins.config[i]);
    free(config->plugins.config);
    free(config->types);
    free(config->limits);
    free(config->groups);
    config_cron_free(config->crons, config->cron_count);
}

void config_free(struct config *config)
{
    if (!config)
        return;
    free_members(config);
    free(config);
}

/* Reports libconfig's parse error, with its place. */
static int parse_fault(const struct config_scan *scan, const config_t *tree,
                       struct later_error *err)
{
    int line = config_error_line(tree);
    struct config_location location = config_scan_location(scan, line > 0 ? (unsigned)line : 1);
    const char *remedy = "";

    if (strstr(config_error_text(tree), "duplicate"))
        remedy = "; give it once";
    else if (strstr(config_error_text(tree), "syntax"))
        remedy = "; NAME = VALUE; with strings in quotes and every bracket closed";
    return later_fail(err, LATER_E_CONFIG, "%s:%u: %s%s", location.file, location.line,
                      config_error_text(tree), remedy);
}

/* If malloc() fails, libconfig 1.5 ends or crashes the process. So this asks first for more than
 * libconfig can need: a setting of four bytes ("a=1;") takes about 130. */
static int need_memory(const char *text, struct later_error *err)
{
    void *volatile probe = malloc(strlen(text) * 40 + 256 * 1024); /* otherwise the compiler removes
                                                                    * it */

    free(probe);
    return probe ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory to read the configuration");
}

static int read_tree(struct config_draft *draft, config_t *tree, struct later_error *err)
{
    struct config_reader in = { .draft = draft, .err = err, .many = config_lists_read };

    if (need_memory(draft->scan->text, err) < 0)
        return -1;
    if (!config_read_string(tree, draft->scan->text))
        return parse_fault(draft->scan, tree, err);
    return config_read_group(&in, config_root_setting(tree), "", CONFIG_IN_TOP, draft);
}

/* Reads one file and what it includes, over what is there. */
static int load_file(struct config_draft *draft, const char *path, struct later_error *err)
{
    char *dir = config_file_directory(path);
    config_t tree;
    int result;

    if (!dir)
        return config_no_memory(err);
    draft->round++;
    draft->leaf_start = draft->config.plugins.config_count;
    result = config_scan(draft->scan, path, dir, err);
    if (result == 0) {
        config_init(&tree);
        result = read_tree(draft, &tree, err);
        config_destroy(&tree);
    }
    free(dir);
    return result;
}

/* Reads the files of conf.d beside the main file. */
static int load_directory(struct config_draft *draft, const char *path, struct later_error *err)
{
    char *dir = config_file_directory(path), *conf_d = NULL, **files = NULL;
    const char *why = NULL;
    int result = -1;

    if (!dir || asprintf(&conf_d, "%s/conf.d", dir) < 0) {
        free(dir);
        return config_no_memory(err);
    }
    if (config_file_list(conf_d, &files, &why) < 0)
        later_fail(err, LATER_E_CONFIG, "%s: %s", conf_d, why);
    else
        result = 0;
    for (char **file = files; result == 0 && file && *file; file++)
        result = load_file(draft, *file, err);
    config_file_list_free(files);
    free(conf_d);
    free(dir);
    return result;
}

static int config_load_all(struct config_draft *draft, const char *path, struct later_error *err)
{
    const char *file = path ? path : CONFIG_FILE;

    draft->locations = calloc(config_table_count, sizeof *draft->locations);
    if (!draft->locations || config_preset(CONFIG_IN_TOP, draft) < 0)
        return config_no_memory(err);
    if ((path ||
         (!draft->alone && (access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)))) &&
        load_file(draft, file, err) < 0)
        return -1;
    if (!draft->alone && load_directory(draft, file, err) < 0)
        return -1;
    return config_finish(draft, err);
}

/* draft: what is asked for besides. */
static struct config *load_draft(struct config_draft draft, const char *path,
                                 struct later_error *err)
{
    struct config_scan scan = { .text = NULL };
    struct config *config = NULL;

    draft.scan = &scan;
    if (config_load_all(&draft, path, err) == 0) {
        config = malloc(sizeof *config);
        if (!config)
            config_no_memory(err);
    }
    if (config)
        *config = draft.config;
    else
        free_members(&draft.config);
    free(draft.queues);
    free(draft.locations);
    free(draft.origin);
    config_scan_free(&scan);
    return config;
}

struct config *config_load(const char *path, struct later_error *err)
{
    return config_load_telling(path, NULL, err);
}

struct config *config_defaults(struct later_error *err)
{
    return load_draft((struct config_draft){ .alone = true }, NULL, err);
}

struct config *config_load_where(const char *path, bool alone, struct later_error *err)
{
    return load_draft((struct config_draft){ .alone = alone, .of_where = true }, path, err);
}

struct config *config_load_telling(const char *path, void (*fault)(const struct later_error *err),
                                   struct later_error *err)
{
    return load_draft((struct config_draft){ .fault = fault }, path, err);
}
