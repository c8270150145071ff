/*
 * plugin_files.h: plugin files for the tests of daemon/plugin: copies in a directory of their own.
 */
#ifndef PLUGIN_FILES_H
#define PLUGIN_FILES_H

#include "unit.h"

/* The directory of the present test: new and empty, mode 0700. */
extern char files_dir[64];

/* A CASE whose tests have such a directory each; they are removed afterwards. */
#define FILES_CASE(name, set_up, tear_down) AT_START(files_case(name, set_up, tear_down))
void files_case(const char *name, void (*set_up)(void), void (*tear_down)(void));

/* A path in the directory; static, good for eight calls. */
const char *files_path(const char *name);

/* Copies NAME.so of the build into the directory, mode 0644. Returns its path there. */
const char *files_install(const char *name);

/* The same under another name: AS.so. */
const char *files_install_as(const char *name, const char *as);

/* Writes a file of these bytes into the directory. Returns its path. */
const char *files_write(const char *name, const void *bytes, size_t len);

/* Reads the whole of a file. Returns its length; at most max. */
size_t files_read(const char *path, void *bytes, size_t max);

#endif
