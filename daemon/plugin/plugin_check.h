/*
 * plugin_check.h: may this file be loaded, and is what it says about itself sound?
 */
#ifndef LATERD_PLUGIN_CHECK_H
#define LATERD_PLUGIN_CHECK_H

#include "later/error.h"
#include "later/job.h"

#include <stdbool.h>
#include <stddef.h>

#define PLUGIN_TYPES_MAX 1024 /* types of one plugin */

/* Opens a plugin's file after all checks: owner and mode of the file and of its directory, no
 * symbolic link, a regular ELF shared object of this machine. Returns a descriptor, close-on-exec
 * and above 2, for the caller to close; or -1 with *err. */
int plugin_check_open(const char *path, struct later_error *err);

/* Checks what later_plugin_open() returned, which may be NULL, and copies as much of it as this
 * laterd knows. What the plugin's header lacks is zero. Returns 0, or -1 with *err, which begins
 * with the path. */
int plugin_check_copy(struct later_plugin *copy, const struct later_plugin *from, const char *path,
                      struct later_error *err);

/* Copies type number `index` of a checked plugin in the same way, and checks it. Returns 1; 0 at
 * the end of the types; -1 with *err. */
int plugin_check_type(struct later_type *copy, const struct later_plugin *plugin, size_t index,
                      const char *path, struct later_error *err);

#endif
