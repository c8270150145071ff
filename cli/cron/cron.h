/* cron.h: the verbs of `later cron`, by files. */
#ifndef LATER_CLI_CRON_H
#define LATER_CLI_CRON_H

#include "cli.h"
#include "queue/crontab.h"

/* words: what stands behind the verb, `count` of them. Each returns as a command does. */
typedef int cron_verb_fn(struct cli *cli, char **words, int count, struct later_error *err);

/* cron_next.c: the next ticks of an expression or a schedule. cron_list.c: all schedules.
 * cron_set.c: makes one. cron_act.c: does something with one that there is. */
cron_verb_fn cron_next, cron_list, cron_set, cron_run, cron_pause, cron_resume, cron_delete;

/* A schedule as it is in Redis. */
struct cron_found {
    struct later_keys keys;
    double now; /* Redis's clock */
    char state[1024];
    struct later_schedule schedule;
};

/* cron_find.c: the schedule of this name in the queue of -q, or in any. Returns 0, or -1 with *err:
 * LATER_E_NONE, there is none; LATER_E_USAGE, several queues have one. */
int cron_find(struct cli *cli, const char *name, struct cron_found *found, struct later_error *err);

#endif
