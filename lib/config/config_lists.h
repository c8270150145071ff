/* config_lists.h: options that are lists: queues, pools, types, limits, and those of plugins. */
#ifndef LATER_CONFIG_LISTS_H
#define LATER_CONFIG_LISTS_H

#include "config/config_read.h"

/* Reads a setting whose row is CONFIG_MANY, into base, which the row's scope defines. Returns 0 or
 * -1. */
int config_lists_read(struct config_reader *in, config_setting_t *setting,
                      const struct config_row *row, void *base);

/* plugins.load and plugins.config (config_plugins.c). */
int config_plugins_read_load(struct config_reader *in, config_setting_t *setting,
                             const struct config_row *row, void *base);
int config_plugins_read_config(struct config_reader *in, config_setting_t *setting,
                               const struct config_row *row, void *base);

/* Takes the patterns out of a pool's list, and moves its queues to memory with room for more.
 * Returns 0, or -1 without memory. */
int config_split_patterns(struct config_pool *pool);
void config_free_queues(struct config_pool *pool);

/* Frees them. NULL is fine. */
void config_lists_free_pools(struct config_pool *pools, uint32_t count);
void config_plugins_free_load(char **load);
void config_plugins_free_leaf(struct config_leaf *leaf);

#endif
