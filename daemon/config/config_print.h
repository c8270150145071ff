/* config_print.h: how config_print() writes values and lists. The depth is the indentation of their
 * first line, in steps of four spaces. */
#ifndef LATERD_CONFIG_PRINT_H
#define LATERD_CONFIG_PRINT_H

#include "config/config_table.h"

#include <stdio.h>

/* Prints it in quotes, so that libconfig reads the same bytes. */
void config_print_string(const char *text, FILE *out);

/* Does the row have a value at base? Members of list rows, and strings, may have none. */
bool config_print_is_set(const struct config_row *row, const void *base);

/* Prints the row's value at base, which must be set and not be a list. */
void config_print_value(const struct config_row *row, const void *base, FILE *out);

/* Print "queues = ( … );" and the like. */
void config_print_queues(const struct config_pool *pool, int depth, FILE *out);
void config_print_pools(const struct config *config, int depth, FILE *out);
void config_print_types(const struct config *config, int depth, FILE *out);
void config_print_limits(const struct config *config, int depth, FILE *out);
void config_print_crons(const struct config *config, int depth, FILE *out);
void config_print_load(const struct config *config, int depth, FILE *out);
void config_print_leaves(const struct config *config, int depth, FILE *out);

#endif
