/*
 * cron.h: later_cron_set(), later_cron_delete(), later_cron_list(); and what `later cron set` needs
 * of them.
 */
#ifndef LATER_CLIENT_CRON_H
#define LATER_CLIENT_CRON_H

#include "cron/schedule.h"
#include "later/client.h"
#include "redis/key.h"

/* What was put. */
struct later_cron_put {
    int64_t next; /* its next tick, UNIX time; < 0: none */
    bool changed; /* false: it was so already */
};

/* Makes or changes the schedule `name`, by its first tick after the present of Redis. document: of
 * its jobs. Returns 0, or -1 with *err; LATER_E_LATER: ticks pass too fast. */
int later_cron_put(struct later_client *client, const struct later_keys *keys, const char *name,
                   const struct later_schedule *schedule, const char *document, size_t size,
                   struct later_cron_put *put, struct later_error *err);

#endif
