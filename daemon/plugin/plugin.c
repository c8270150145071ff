/* plugin.c: the plugins of this process: load, configure, start, stop. */
#include "plugin/plugin.h"

#include "plugin/plugin_open.h"
#include "plugin/plugin_table.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plugin_set {
    struct plugin **plugins;
    size_t count;
    struct plugin_table table;
};

struct plugin_set *plugin_set_new(void)
{
    return calloc(1, sizeof(struct plugin_set));
}

void plugin_set_free(struct plugin_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        plugin_free(set->plugins[i]);
    plugin_table_clear(&set->table);
    free(set->plugins);
    free(set);
}

static const struct plugin *find_plugin(const struct plugin_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->plugins[i]->name, name) == 0)
            return set->plugins[i];
    }
    return NULL;
}

/* What its configuration says of a type takes the place of what the plugin itself says. */
static int check_types(const struct plugin_set *set, const struct plugin *plugin,
                       const struct plugin_type *types, size_t count, struct later_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct plugin_type *taken = plugin_table_same(&set->table, &types[i]);

        if (taken && taken->plugin != plugin->name)
            return later_fail(err, LATER_E_CONFIG,
                              "%s: plugin %s offers type %s, as plugin %s does; load only one",
                              plugin->path, plugin->name, taken->name, taken->plugin);
    }
    return 0;
}

/* Refuses a plugin that is in the set already, or has a type that is. */
static int check_unique(const struct plugin_set *set, const struct plugin *plugin,
                        struct later_error *err)
{
    const struct plugin *other = find_plugin(set, plugin->name);

    if (other && other->handle == plugin->handle)
        return later_fail(err, LATER_E_CONFIG, "%s: the same file as %s; load it once",
                          plugin->path, other->path);
    if (other)
        return later_fail(err, LATER_E_CONFIG, "%s: its name %s is that of %s too; load only one",
                          plugin->path, plugin->name, other->path);
    return check_types(set, plugin, plugin->types, plugin->type_count, err);
}

static int add_plugin(struct plugin_set *set, struct plugin *plugin, struct later_error *err)
{
    struct plugin **grown = realloc(set->plugins, (set->count + 1) * sizeof(*grown));

    if (grown)
        set->plugins = grown;
    if (!grown || plugin_table_add(&set->table, plugin->types, plugin->type_count) != 0)
        return later_fail(err, LATER_E_SYSTEM, "%s: no memory", plugin->path);
    set->plugins[set->count++] = plugin;
    return 0;
}

int plugin_load(struct plugin_set *set, const char *path, const struct later_host *host,
                struct later_error *err)
{
    struct plugin *plugin = plugin_open(path, host, err);

    if (!plugin)
        return -1;
    if (check_unique(set, plugin, err) == 0 && add_plugin(set, plugin, err) == 0)
        return 0;
    plugin_free(plugin);
    return -1;
}

static bool has_suffix(const char *name)
{
    size_t len = strlen(name);

    return len > 3 && strcmp(name + len - 3, ".so") == 0;
}

static int is_plugin_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && has_suffix(entry->d_name);
}

/* Compares bytes, whatever the locale, so the order is the same on every machine. */
static int plugin_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_from_dir(struct plugin_set *set, const char *dir, const char *file,
                         const struct later_host *host, struct later_error *err)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, file) >= sizeof path)
        return later_fail(err, LATER_E_CONFIG, "plugins.dir: %.80s: the path is too long", dir);
    return plugin_load(set, path, host, err);
}

static int plugin_load_all(struct plugin_set *set, const char *dir, const struct later_host *host,
                           struct later_error *err)
{
    struct dirent **entries;
    int count = scandir(dir, &entries, is_plugin_file, plugin_by_name), result = 0;

    if (count == -1)
        return later_fail(err, LATER_E_CONFIG, "plugins.dir: %s: %s", dir, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (result == 0)
            result = load_from_dir(set, dir, entries[i]->d_name, host, err);
        free(entries[i]);
    }
    free(entries);
    return result;
}

/* If there is no such file, says which option wants it. */
static int refused_name(const char *dir, const char *file, struct later_error *err)
{
    struct later_error why = *err;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", dir, file);
    return access(path, F_OK) == 0 ? -1 : later_fail(err, why.code, "plugins.load: %s", why.text);
}

static int load_named(struct plugin_set *set, const char *dir, char *const *names,
                      const struct later_host *host, struct later_error *err)
{
    for (; *names; names++) {
        char file[NAME_MAX + 1];

        if ((*names)[0] == '\0' || (*names)[0] == '.' || strchr(*names, '/') ||
            has_suffix(*names) ||
            (size_t)snprintf(file, sizeof file, "%s.so", *names) >= sizeof file)
            return later_fail(
                err, LATER_E_CONFIG,
                "plugins.load: \"%.300s\": give the file's name without directory and "
                "without .so",
                *names);
        if (load_from_dir(set, dir, file, host, err) != 0)
            return refused_name(dir, file, err);
    }
    return 0;
}

int plugin_set_load(struct plugin_set *set, const struct config *config,
                    const struct later_host *host, struct later_error *err)
{
    const char *dir = config->plugins.dir;
    int result = config->plugins.load ? load_named(set, dir, config->plugins.load, host, err)
                                      : plugin_load_all(set, dir, host, err);

    for (uint32_t i = 0; result == 0 && i < config->plugins.config_count; i++) {
        const struct config_leaf *leaf = &config->plugins.config[i];

        if (!find_plugin(set, leaf->plugin))
            result = later_fail(err, LATER_E_CONFIG,
                                "%s:%u: plugins.config.%s: no plugin of this name is loaded; load "
                                "it or take this section out",
                                leaf->file, leaf->line, leaf->plugin);
    }
    return result == 0 ? plugin_set_configure(set, config, err) : -1;
}

size_t plugin_set_count(const struct plugin_set *set)
{
    return set->count;
}

const struct plugin *plugin_set_at(const struct plugin_set *set, size_t index)
{
    return set->plugins[index];
}

const struct plugin_type *plugin_set_find(const struct plugin_set *set, const char *type)
{
    return plugin_table_find(&set->table, type);
}

uint32_t plugin_type_room(const struct plugin_type *type, const char *name)
{
    return type->type.room ? type->type.room(name) : UINT32_MAX;
}

bool plugin_type_ready(const struct plugin_type *type, const char *name)
{
    return !type->type.ready || type->type.ready(name) == LATER_YES;
}

/* Puts a plugin's refusal into *err: the place, the plugin, the key if one is to blame, and the
 * plugin's own sentence. */
static int refused(const char *where, const char *plugin, const char *key, const char *text,
                   struct later_error *err)
{
    return later_fail(err, LATER_E_CONFIG, "%s: plugin %s: %s%s%s", where, plugin, key ? key : "",
                      key ? ": " : "", text[0] ? text : "refused, without saying why");
}

enum { ANSWER = 401 }; /* the length of a plugin's answer, and our NUL */

static int configure_leaf(struct plugin *plugin, const struct config_leaf *leaf, bool first,
                          struct later_error *err)
{
    char answer[ANSWER] = "";
    char where[PATH_MAX + 16];

    snprintf(where, sizeof where, "%s:%u", leaf->file, leaf->line);
    if (first) {
        free(plugin->where);
        plugin->where = strdup(where);
        if (!plugin->where)
            return later_fail(err, LATER_E_SYSTEM, "%s: no memory", where);
    }
    if (!plugin->described.config)
        return refused(where, plugin->name, leaf->key, "this plugin has no options", err);
    if (plugin->described.config(leaf->key, leaf->value, answer, sizeof answer - 1) != 0)
        return refused(where, plugin->name, leaf->key, answer, err);
    return 0;
}

/* Adds the types that only its configuration names. */
static int add_more(struct plugin_set *set, struct plugin *plugin, struct later_error *err)
{
    if (plugin_more(plugin, err) != 0 ||
        check_types(set, plugin, plugin->more, plugin->more_count, err) != 0)
        return -1;
    if (plugin_table_add(&set->table, plugin->more, plugin->more_count) != 0)
        return later_fail(err, LATER_E_SYSTEM, "%s: no memory", plugin->path);
    return 0;
}

/* Is what a plugin's sentence names, as "feeds" in "feeds: argv is missing", this leaf or above it?
 */
static bool is_named(const char *sentence, const char *key)
{
    size_t len = strcspn(sentence, ":");

    return len > 0 && sentence[len] == ':' && strncmp(sentence, key, len) == 0 &&
           (key[len] == '\0' || key[len] == '.');
}

/* Puts the refusal of config_done() into *err, at the place of the first leaf that it names. */
static int refused_at_end(const struct plugin *plugin, const struct config *config,
                          const char *answer, struct later_error *err)
{
    char where[PATH_MAX + 16];

    for (uint32_t i = 0; i < config->plugins.config_count; i++) {
        const struct config_leaf *leaf = &config->plugins.config[i];

        if (strcmp(leaf->plugin, plugin->name) != 0 || !is_named(answer, leaf->key))
            continue;
        snprintf(where, sizeof where, "%s:%u", leaf->file, leaf->line);
        return refused(where, plugin->name, NULL, answer, err);
    }
    return refused(plugin->where, plugin->name, NULL, answer, err);
}

static int plugin_configure(struct plugin *plugin, const struct config *config,
                            struct later_error *err)
{
    char answer[ANSWER] = "";
    bool first = true;

    for (uint32_t i = 0; i < config->plugins.config_count; i++) {
        const struct config_leaf *leaf = &config->plugins.config[i];

        if (strcmp(leaf->plugin, plugin->name) != 0)
            continue;
        if (configure_leaf(plugin, leaf, first, err) != 0)
            return -1;
        first = false;
    }
    if (plugin->described.config_done &&
        plugin->described.config_done(answer, sizeof answer - 1) != 0)
        return refused_at_end(plugin, config, answer, err);
    return 0;
}

int plugin_set_configure(struct plugin_set *set, const struct config *config,
                         struct later_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        if (plugin_configure(set->plugins[i], config, err) != 0 ||
            add_more(set, set->plugins[i], err) != 0)
            return -1;
    }
    return 0;
}

int plugin_set_start(struct plugin_set *set, struct later_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        struct plugin *plugin = set->plugins[i];
        char answer[ANSWER] = "";

        if (plugin->described.start && plugin->described.start(answer, sizeof answer - 1) != 0) {
            plugin_set_stop(set);
            return refused(plugin->where, plugin->name, NULL, answer, err);
        }
        plugin->started = true;
    }
    return 0;
}

void plugin_set_stop(struct plugin_set *set)
{
    for (size_t i = set ? set->count : 0; i-- > 0;) {
        struct plugin *plugin = set->plugins[i];

        if (plugin->started && plugin->described.stop)
            plugin->described.stop();
        plugin->started = false;
    }
}

/* --- laterd --describe --- */

/* A host without any function: LATER_HAS() answers no for all of them. None is needed to describe a
 * plugin. */
static const struct later_host no_host = { .api = LATER_API,
                                           .size = offsetof(struct later_host, job_string) };

static void describe_callbacks(const struct later_plugin *p, FILE *out)
{
    fprintf(out, "callbacks%s%s%s%s%s\n", p->config ? " config" : "",
            p->config_done ? " config_done" : "", p->start ? " start" : "", p->stop ? " stop" : "",
            p->config || p->config_done || p->start || p->stop ? "" : " none");
}

int plugin_describe(const char *path, FILE *out, struct later_error *err)
{
    struct plugin *plugin = plugin_open(path, &no_host, err);

    if (!plugin)
        return -1;
    fprintf(out, "file      %s\n", plugin->path);
    fprintf(out, "name      %s\n", plugin->name);
    fprintf(out, "version   %s\n", plugin->described.version ? plugin->described.version : "-");
    fprintf(out, "api       %u\n", (unsigned)plugin->described.api);
    describe_callbacks(&plugin->described, out);
    for (size_t i = 0; i < plugin->type_count; i++)
        fprintf(out, "type      %s %s\n", plugin->types[i].name,
                plugin->types[i].type.mode == LATER_EVENT ? "event" : "serial");
    if (plugin->described.config_help)
        fprintf(out, "\n%s\n", plugin->described.config_help);
    plugin_free(plugin);
    return 0;
}
