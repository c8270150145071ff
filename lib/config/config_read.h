/*
 * config_read.h: copies the settings that libconfig has parsed to the places in the table.
 *
 * Only config_load.c and the files that include this one know libconfig.
 */
#ifndef LATER_CONFIG_READ_H
#define LATER_CONFIG_READ_H

#include "config/config_table.h"

#include <libconfig.h>

/* What every reader needs: where values go, and where faults are reported. */
struct config_reader {
    struct config_draft *draft;
    struct later_error *err;
    /* Reads a setting whose row is CONFIG_MANY: config_lists_read(), which itself uses this file.
     */
    int (*many)(struct config_reader *in, config_setting_t *setting, const struct config_row *row,
                void *base);
};

/* Returns the place of a setting. */
struct config_location config_read_location(const struct config_reader *in,
                                            const config_setting_t *setting);

/* Writes a number in decimal, as short as possible. Returns out. */
const char *config_read_number_text(const config_setting_t *setting, char *out, size_t size);

/* Reads the members of a group into base. `group` is the first part of their rows' paths, "" for
 * the options outside all groups. A member that is not in the table is an error. Returns 0 or
 * -1. */
int config_read_group(struct config_reader *in, config_setting_t *setting, const char *group,
                      enum config_scope scope, void *base);

/* Reads a number within the row's range into *value. Returns 0 or -1. */
int config_read_number(struct config_reader *in, const config_setting_t *setting,
                       const struct config_row *row, double *value);

/* Reports what is wrong with a setting, as config_text_fault(), at its place. Returns -1. */
int config_fault(const struct config_reader *in, const config_setting_t *setting, const char *path,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports that the setting has the wrong type; `wanted` says what would be right. Returns -1. */
int config_read_mismatch(const struct config_reader *in, const config_setting_t *setting,
                         const char *path, const char *wanted);

/* Is it a list, or (with `arrays`) an array, of min to max elements? Returns how many, or -1. */
int config_read_list(struct config_reader *in, const config_setting_t *setting, const char *path,
                     int min, int max, bool arrays);

/* Sets a struct at base to its defaults and reads an element of a list, a group, into it. Returns 0
 * or -1. */
int config_read_element(struct config_reader *in, config_setting_t *element, const char *group,
                        enum config_scope scope, void *base);

#endif
