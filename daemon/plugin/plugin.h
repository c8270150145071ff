/*
 * plugin.h: the plugins of this process: find, check, load; type → handler.
 *
 * A plugin's code runs as soon as its file is opened. So only workers and short-lived children
 * (laterd -t, --describe, --perform) use this, never the supervisor.
 *
 * A plugin's file is taken only if root or laterd's own user owns it and its directory, and nobody
 * else can write either. What the plugin describes about itself is checked and copied; fields that
 * its header did not have yet are zero.
 *
 * Every error is LATER_E_CONFIG (without memory LATER_E_SYSTEM) and names the place: file and line
 * of the configuration where one is to blame, else the path of the plugin.
 */
#ifndef LATERD_PLUGIN_H
#define LATERD_PLUGIN_H

#include "config/config.h"
#include "later/error.h"
#include "plugin/plugin_table.h"

#include <stdio.h>

/* One loaded plugin. Read only; lives until plugin_set_free(). */
struct plugin {
    struct later_plugin described; /* what it says of itself; zero where its header is older */
    char name[65];
    char *path;
    char *where; /* for messages: file:line of its first leaf of configuration, or its path */
    struct plugin_type *types, *more; /* more: those that its configuration names */
    size_t type_count, more_count;
    void *handle; /* of dlopen() */
    bool started;
};

struct plugin_set;

/* A new, empty set, to be freed with plugin_set_free(). NULL without memory. */
struct plugin_set *plugin_set_new(void);

/* Loads config->plugins.load from config->plugins.dir, or every *.so there in name order, hands
 * each plugin its leaves of the configuration, and calls config_done. `host` is handed to the
 * plugins and must live as long as the process. Nothing of `config` is kept. Returns 0, or -1 with
 * *err; then the set holds what was loaded so far, and can only be freed. */
int plugin_set_load(struct plugin_set *set, const struct config *config,
                    const struct later_host *host, struct later_error *err);

/* Loads one file into the set without configuring it. The path may be relative. Returns 0, or -1
 * with *err; then the set is unchanged. */
int plugin_load(struct plugin_set *set, const char *path, const struct later_host *host,
                struct later_error *err);

/* Hands each plugin of the set its leaves and calls config_done. This is the second half of
 * plugin_set_load(), for plugins that plugin_load() has loaded. Leaves of other plugins are
 * skipped. Once per plugin. Returns 0, or -1 with *err. */
int plugin_set_configure(struct plugin_set *set, const struct config *config,
                         struct later_error *err);

/* Calls start of each plugin in the order of loading. When one refuses, those before it are
 * stopped again. Returns 0, or -1 with *err. */
int plugin_set_start(struct plugin_set *set, struct later_error *err);

/* Calls stop of each plugin that was started, in reverse order. May be called twice. NULL is fine.
 */
void plugin_set_stop(struct plugin_set *set);

/* Finds the handler for a type: the exact name, else the longest pattern, else NULL. Takes about 30
 * ns for a name of 20 bytes, however many types there are. */
const struct plugin_type *plugin_set_find(const struct plugin_set *set, const char *type);

/* Returns how many more jobs of this very type may begin now, if the plugin says so, else
 * UINT32_MAX. */
uint32_t plugin_type_room(const struct plugin_type *type, const char *name);

/* May a job of this very type begin now, as far as its plugin knows? */
bool plugin_type_ready(const struct plugin_type *type, const char *name);

/* The plugins in the order of loading: their number, and the one at `index`. */
size_t plugin_set_count(const struct plugin_set *set);
const struct plugin *plugin_set_at(const struct plugin_set *set, size_t index);

/* Frees the set, but not the plugins' code, which stays loaded. Stop it first. NULL is fine. */
void plugin_set_free(struct plugin_set *set);

/* Loads one file and writes what it holds: name, version, types, help. Nothing of it is configured
 * or started. Returns 0, or -1 with *err. */
int plugin_describe(const char *path, FILE *out, struct later_error *err);

#endif
