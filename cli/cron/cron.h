/* cron.h: the verbs of `later cron`. */
#ifndef LATER_CLI_CRON_H
#define LATER_CLI_CRON_H

#include "cli.h"
#include "queue/crontab.h"

/* words: those after the verb, and NULL. Each verb returns what a command returns. */
typedef int cron_verb_fn(struct cli *cli, char **words, struct later_error *err);

/* cron_next.c: the next ticks of an expression or a schedule. cron_set.c: makes or changes a
 * schedule. cron_act.c: acts on a schedule that exists. */
cron_verb_fn cron_next, cron_set, cron_run, cron_pause, cron_resume, cron_delete;

/* In cron_list.c: the command without a verb. */
int cron_list(struct cli *cli, struct later_error *err);

/* Returns the number of a line `TAG=NUMBER` of a definition or a state; 0 if there is none. */
int64_t cron_count_of(const char *lines, const char *tag);

/* A schedule as it is in Redis. */
struct cron_found {
    struct later_keys keys;
    double now; /* Redis's clock */
    char state[1024];
    struct later_schedule schedule;
    struct later_error unread; /* why its expression cannot be read here; its text is "" if it can.
                                * A program that knows no calendars may have put it. */
};

/* In cron_find.c. Finds the schedule of this name in the queue of -q, or in any queue. Returns 0,
 * or -1 with *err: LATER_E_NONE if there is none, LATER_E_USAGE if several queues have one. */
int cron_find(struct cli *cli, const char *name, struct cron_found *found, struct later_error *err);

/* The same for one whose expression is needed, and opens its zone: the caller frees it. */
int cron_find_zone(struct cli *cli, const char *name, struct cron_found *found,
                   struct later_zone **zone, struct later_error *err);

/* Reads the document of the schedule's jobs. The caller frees the reply, from which *document is
 * borrowed. NULL with *err: LATER_E_NONE if it is gone. */
struct later_reply *cron_find_document(struct cli *cli, const struct cron_found *found,
                                       const char *name, const char **document, size_t *len,
                                       struct later_error *err);

#endif
