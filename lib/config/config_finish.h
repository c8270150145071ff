/* config_finish.h: completes a configuration when all files are read. */
#ifndef LATER_CONFIG_FINISH_H
#define LATER_CONFIG_FINISH_H

#include "config/config_table.h"

/* Fills in what is not set (the one pool, 0 workers = cores, what a type inherits), checks options
 * against each other, and sorts types and leaves. Returns 0, or -1 with *err. */
int config_finish(struct config_draft *draft, struct later_error *err);

#endif
