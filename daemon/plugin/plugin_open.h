/*
 * plugin_open.h: opens and checks one plugin.
 */
#ifndef LATERD_PLUGIN_OPEN_H
#define LATERD_PLUGIN_OPEN_H

#include "plugin/plugin.h"

/* Loads a plugin's file, calls its later_plugin_open() with `host`, checks and copies what it says.
 * Returns a plugin for plugin_free(), or NULL with *err. */
struct plugin *plugin_open(const char *path, const struct later_host *host,
                           struct later_error *err);

/* Frees our description of the plugin; its code stays loaded. NULL is fine. */
void plugin_free(struct plugin *plugin);

/* Call it after config_done: adds the types that its more_types() names, if it has that. Returns 0,
 * or -1 with *err. */
int plugin_more(struct plugin *plugin, struct later_error *err);

#endif
