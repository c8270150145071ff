/* config_cron.h: the option `cron`: schedules. */
#ifndef LATER_CONFIG_CRON_H
#define LATER_CONFIG_CRON_H

#include "config/config_read.h"

/* Adds to the entries of earlier files; an entry replaces an earlier one of the same name. Returns
 * 0 or -1. */
int config_cron_read(struct config_reader *in, config_setting_t *list, const struct config_row *row,
                     void *base);

/* After all files are read: checks that the queue of each schedule is served here. Returns 0, or -1
 * with *err. */
int config_cron_finish(struct config *config, struct later_error *err);

/* Frees them. NULL is fine. */
void config_cron_free(struct config_cron *crons, uint32_t count);

#endif
