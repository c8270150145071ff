/* perform.h: `laterd --perform PLUGIN.so TYPE`: runs one handler once, without Redis. */
#ifndef LATERD_PERFORM_H
#define LATERD_PERFORM_H

#include "config/config.h"

/* Loads the plugin at path, configures it from config, and performs `type` with the payload from
 * standard input. For an event handler it runs a loop until the handler finishes. Returns the exit
 * status: 0 done, LATER_E_LATER retry, LATER_E_DATA bury, or a later_code with *err filled. */
int perform_once(const struct config *config, const char *path, const char *type,
                 struct later_error *err);

#endif
