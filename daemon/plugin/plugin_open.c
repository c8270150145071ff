/* plugin_open.c: opens and checks one plugin. */
#include "plugin/plugin_open.h"

#include "plugin/plugin_check.h"
#include "plugin/plugin_table.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlclose() is never called. The plugin, or a library of it, may have left threads, exit handlers
 * or thread-local data that point into its code. Leak checkers need its symbols until the end, and
 * the process ends soon anyway. */
void plugin_free(struct plugin *plugin)
{
    if (!plugin)
        return;
    free(plugin->types);
    free(plugin->more);
    free(plugin->path);
    free(plugin->where);
    free(plugin);
}

/* Reports dlopen()'s error, with the path in place of the name that we gave it. */
static int library_error(const char *name, const char *path, struct later_error *err)
{
    const char *text = dlerror(), *at;

    if (!text)
        text = "the dynamic linker refused it";
    at = strstr(text, name);
    if (!at)
        return later_fail(err, LATER_E_CONFIG, "%s: %s", path, text);
    return later_fail(err, LATER_E_CONFIG, "%.*s%s%s", (int)(at - text), text, path,
                      at + strlen(name));
}

/* Loads the very file that was checked, by its descriptor. The linker knows a library by its name,
 * and would take the next file with the same descriptor number for this one. So the descriptor
 * stays open as long as the library is loaded, which is for ever. Returns the handle, or NULL with
 * *err. */
static void *open_library(const char *path, struct later_error *err)
{
    int fd = plugin_check_open(path, err);
    char name[32];
    void *handle;

    if (fd == -1)
        return NULL;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        library_error(name, path, err);
        close(fd);
    }
    return handle;
}

/* Runs the plugin's own code for the first time: its constructors, then later_plugin_open(). */
static int describe_itself(struct plugin *plugin, const struct later_host *host,
                           struct later_error *err)
{
    __typeof__(later_plugin_open) *open;

    plugin->handle = open_library(plugin->path, err);
    if (!plugin->handle)
        return -1;
    open = (__typeof__(open))dlsym(plugin->handle, "later_plugin_open");
    if (!open)
        return later_fail(
            err, LATER_E_CONFIG,
            "%s: not a plugin of laterd: it lacks later_plugin_open; use LATER_PLUGIN() "
            "of <later/job.h>",
            plugin->path);
    if (plugin_check_copy(&plugin->described, open(host), plugin->path, err) != 0)
        return -1;
    snprintf(plugin->name, sizeof plugin->name, "%s", plugin->described.name);
    return 0;
}

/* Counts the types in described->types; -1 with *err if one of them is not sound. */
static ssize_t count_types(const struct later_plugin *described, const char *path,
                           struct later_error *err)
{
    struct later_type type;
    ssize_t count = 0;
    int more;

    while ((more = plugin_check_type(&type, described, (size_t)count, path, err)) == 1)
        count++;
    return more == 0 ? count : -1;
}

static bool offered_before(const struct plugin_type *types, const struct plugin_type *type)
{
    for (const struct plugin_type *t = types; t < type; t++) {
        if (t->hash == type->hash && strcmp(t->name, type->name) == 0)
            return true;
    }
    return false;
}

/* Copies the types of a list that described->types begins. Returns how many, or -1 with *err;
 * *types is to be freed in any case. */
static ssize_t copy_types(const struct plugin *plugin, const struct later_plugin *described,
                          struct plugin_type **types, struct later_error *err)
{
    ssize_t count = count_types(described, plugin->path, err);

    if (count <= 0)
        return count;
    *types = calloc((size_t)count, sizeof **types);
    if (!*types)
        return later_fail(err, LATER_E_SYSTEM, "%s: no memory", plugin->path);
    for (ssize_t i = 0; i < count; i++) {
        struct plugin_type *to = &(*types)[i];

        plugin_check_type(&to->type, described, (size_t)i, plugin->path, err);
        snprintf(to->name, sizeof to->name, "%s", to->type.name);
        to->type.name = to->name;
        to->plugin = plugin->name;
        plugin_table_prepare(to);
        if (offered_before(*types, to))
            return later_fail(err, LATER_E_CONFIG, "%s: plugin %s offers type %s twice",
                              plugin->path, plugin->name, to->name);
    }
    return count;
}

static int take_types(struct plugin *plugin, struct later_error *err)
{
    ssize_t count = copy_types(plugin, &plugin->described, &plugin->types, err);

    if (count == 0)
        return later_fail(err, LATER_E_CONFIG, "%s: plugin %s has no types", plugin->path,
                          plugin->name);
    plugin->type_count = count > 0 ? (size_t)count : 0;
    return count > 0 ? 0 : -1;
}

int plugin_more(struct plugin *plugin, struct later_error *err)
{
    struct later_plugin described = plugin->described;
    ssize_t count;

    if (!described.more_types || !(described.types = described.more_types()))
        return 0;
    count = copy_types(plugin, &described, &plugin->more, err);
    plugin->more_count = count > 0 ? (size_t)count : 0;
    return count < 0 ? -1 : 0;
}

struct plugin *plugin_open(const char *path, const struct later_host *host, struct later_error *err)
{
    struct plugin *plugin = calloc(1, sizeof *plugin);

    if (!plugin || !(plugin->path = strdup(path)) || !(plugin->where = strdup(path)))
        later_fail(err, LATER_E_SYSTEM, "%s: no memory", path);
    else if (describe_itself(plugin, host, err) == 0 && take_types(plugin, err) == 0)
        return plugin;
    plugin_free(plugin);
    return NULL;
}
