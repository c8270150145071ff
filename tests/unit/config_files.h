/*
 * config_files.h: configuration files of a test, in a directory of its own.
 *
 *     CASE("values", config_files_begin, config_files_end);
 */
#ifndef CONFIG_FILES_H
#define CONFIG_FILES_H

#include "config/config.h"

extern char config_dir[]; /* "/tmp/laterd-XXXXXX" while a test runs */
extern struct later_error config_err;

void config_files_begin(void);
void config_files_end(void); /* also frees the configuration of the last load */

/* DIR/name as text; lives until the next call but three. */
const char *config_path(const char *name);

/* Writes a file DIR/name, mode 0644; directories before it are made. */
void config_put(const char *name, const char *text);

/* Loads DIR/name, or the file laterd.conf with this text. The test fails if that fails. The next
 * call, or the end of the test, frees the configuration. */
const struct config *config_get(const char *name);
const struct config *config_of(const char *text);

/* DIR/name must be refused with LATER_E_CONFIG and this text. %s in it stands for DIR. */
void config_refused(const char *name, const char *text);

/* config_widen() for one queue. */
int config_widen_one(struct config *config, const char *queue, uint32_t shards);

/* Returns what differs between two configurations, ignoring the places of plugins' options; NULL =
 * nothing. */
const char *config_difference(const struct config *a, const struct config *b);

/* The whole of a file of the source tree, to be freed. */
char *config_source(const char *name);

#endif
