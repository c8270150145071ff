/* config_plugins.c: plugins.load, and plugins.config flattened into leaves. */
#include "config/config_lists.h"

#include "config/config_check.h"
#include "config/config_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_MAX  1000
#define LEAF_MAX  10000
#define KEY_MAX   200
#define DEPTH_MAX 16

/* The place in the tree of a plugin's configuration. */
struct branch {
    const char *plugin;
    char key[KEY_MAX + 1]; /* dotted, "" at the root */
    int depth;
};

void config_plugins_free_load(char **load)
{
    for (char **name = load; name && *name; name++)
        free(*name);
    free(load);
}

static int config_plugins_read_name(struct config_reader *in, const config_setting_t *element,
                                    char **load, int i)
{
    const char *name = config_setting_get_string(element), *why;

    if (!name)
        return config_read_mismatch(in, element, "plugins.load", "a plugin's name, a string,");
    why = config_check_plugin(name);
    if (why)
        return config_fault(in, element, "plugins.load", "\"%.100s\": %s", name, why);
    for (int k = 0; k < i; k++) {
        if (strcmp(load[k], name) == 0)
            return config_fault(in, element, "plugins.load",
                                "\"%s\" is there twice; once is enough", name);
    }
    load[i] = strdup(name);
    if (!load[i])
        return config_no_memory(in->err);
    return 0;
}

int config_plugins_read_load(struct config_reader *in, config_setting_t *list,
                             const struct config_row *row, void *base)
{
    struct config *config = base;
    int length = config_read_list(in, list, row->path, 1, LOAD_MAX, true);
    char **load;

    if (length < 0)
        return -1;
    load = calloc((size_t)length + 1, sizeof *load);
    if (!load)
        return config_no_memory(in->err);
    for (int i = 0; i < length; i++) {
        if (config_plugins_read_name(in, config_setting_get_elem(list, (unsigned)i), load, i) < 0) {
            config_plugins_free_load(load);
            return -1;
        }
    }
    config_plugins_free_load(config->plugins.load);
    config->plugins.load = load;
    return 0;
}

void config_plugins_free_leaf(struct config_leaf *leaf)
{
    free(leaf->plugin);
    free(leaf->key);
    free(leaf->value);
    free(leaf->file);
}

/* Does the new value at the branch replace this older leaf? A group is merged with a group;
 * everything else replaces what was there and below. */
static bool replaces(const struct branch *branch, bool group, const struct config_leaf *leaf)
{
    size_t len = strlen(branch->key);

    if (strcmp(leaf->plugin, branch->plugin) != 0 || strncmp(leaf->key, branch->key, len) != 0)
        return false;
    if (leaf->key[len] == '\0')
        return true;
    return leaf->key[len] == '.' && (!group || isdigit((unsigned char)leaf->key[len + 1]));
}

/* Drops what the new value replaces. That is only from earlier files: within a file libconfig
 * refuses a name twice. */
static void drop_earlier(struct config_draft *draft, const struct branch *branch, bool group)
{
    struct config_leaf *leaves = draft->config.plugins.config;
    uint32_t kept = 0, later = draft->config.plugins.config_count - draft->leaf_start;

    for (uint32_t i = 0; i < draft->leaf_start; i++) {
        if (replaces(branch, group, &leaves[i]))
            config_plugins_free_leaf(&leaves[i]);
        else
            leaves[kept++] = leaves[i];
    }
    if (kept == draft->leaf_start)
        return;
    memmove(&leaves[kept], &leaves[draft->leaf_start], later * sizeof *leaves);
    draft->leaf_start = kept;
    draft->config.plugins.config_count = kept + later;
}

/* Returns the value of a setting as text, in out if it is not text already. NULL with *err. */
static const char *value_text(struct config_reader *in, const config_setting_t *setting,
                              const char *path, char *out, size_t size)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_STRING:
        return config_setting_get_string(setting);
    case CONFIG_TYPE_BOOL:
        return config_setting_get_bool(setting) ? "true" : "false";
    case CONFIG_TYPE_FLOAT:
        if (isfinite(config_setting_get_float(setting)))
            return config_read_number_text(setting, out, size);
        config_fault(in, setting, path, "this number is too large; write it as a string");
        return NULL;
    default:
        return config_read_number_text(setting, out, size);
    }
}

static int add_leaf(struct config_reader *in, const config_setting_t *setting,
                    const struct branch *branch, const char *path)
{
    struct config *config = &in->draft->config;
    struct config_location location = config_read_location(in, setting);
    struct config_leaf *leaf, *grown;
    const char *value;
    char number[32];

    if (config->plugins.config_count == LEAF_MAX)
        return config_fault(in, setting, path, "too many values; at most 10000 for all plugins");
    value = value_text(in, setting, path, number, sizeof number);
    if (!value)
        return -1;
    grown = realloc(config->plugins.config, (config->plugins.config_count + 1) * sizeof *grown);
    if (!grown)
        return config_no_memory(in->err);
    config->plugins.config = grown;
    leaf = &grown[config->plugins.config_count++];
    leaf->plugin = strdup(branch->plugin);
    leaf->key = strdup(branch->key);
    leaf->value = strdup(value);
    leaf->file = strdup(location.file);
    leaf->line = location.line;
    if (!leaf->plugin || !leaf->key || !leaf->value || !leaf->file)
        return config_no_memory(in->err);
    return 0;
}

static int flatten(struct config_reader *in, config_setting_t *setting, struct branch *branch);

/* Flattens the i-th member or element, and leaves the branch as it was. */
static int flatten_child(struct config_reader *in, config_setting_t *setting, struct branch *branch,
                         int i)
{
    config_setting_t *child = config_setting_get_elem(setting, (unsigned)i);
    size_t len = strlen(branch->key);
    const char *dot = len > 0 ? "." : "";
    int added, result;

    if (config_setting_is_group(setting))
        added = snprintf(branch->key + len, sizeof branch->key - len, "%s%s", dot,
                         config_setting_name(child));
    else
        added = snprintf(branch->key + len, sizeof branch->key - len, "%s%d", dot, i);
    if ((size_t)added >= sizeof branch->key - len || branch->depth == DEPTH_MAX)
        return config_fault(in, child, "plugins.config",
                            "too deep or too long a name; at most 16 levels and 200 characters");
    branch->depth++;
    result = flatten(in, child, branch);
    branch->depth--;
    branch->key[len] = '\0';
    return result;
}

static int flatten(struct config_reader *in, config_setting_t *setting, struct branch *branch)
{
    char path[KEY_MAX + CONFIG_PLUGIN_NAME_MAX + 32];

    drop_earlier(in->draft, branch, config_setting_is_group(setting));
    if (!config_setting_is_aggregate(setting)) {
        snprintf(path, sizeof path, "plugins.config.%s.%s", branch->plugin, branch->key);
        return add_leaf(in, setting, branch, path);
    }
    for (int i = 0; i < config_setting_length(setting); i++) {
        if (flatten_child(in, setting, branch, i) < 0)
            return -1;
    }
    return 0;
}

int config_plugins_read_config(struct config_reader *in, config_setting_t *setting,
                               const struct config_row *row, void *base)
{
    (void)base;
    if (!config_setting_is_group(setting))
        return config_read_mismatch(in, setting, row->path, "a group { NAME = { ... }; ... }");
    for (int i = 0; i < config_setting_length(setting); i++) {
        config_setting_t *plugin = config_setting_get_elem(setting, (unsigned)i);
        struct branch branch = { .plugin = config_setting_name(plugin) };
        const char *why = config_check_plugin(branch.plugin);

        if (why)
            return config_fault(in, plugin, row->path, "\"%.100s\": %s", branch.plugin, why);
        if (!config_setting_is_group(plugin))
            return config_read_mismatch(in, plugin, row->path, "a plugin's group { ... }");
        if (flatten(in, plugin, &branch) < 0)
            return -1;
    }
    return 0;
}
