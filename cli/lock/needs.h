/*
 * needs.h: the locks, permits and limits that the daemons that are alive have in their
 * configuration, as they say in later:hosts (`needs`, daemon/queues/announce_needs.h).
 */
#ifndef LATER_CLI_NEEDS_H
#define LATER_CLI_NEEDS_H

#include "status/served.h"

/* The entry for this name, or for all names that begin so; of several that which says most, then
 * the first. kind: lock, permit or limit. Borrowed; NULL: none says so. */
const json_t *needs_find(const struct served *served, const char *kind, const char *name);

#endif
