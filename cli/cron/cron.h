/* cron.h: the verbs of `later cron`, each in a file of its own. */
#ifndef LATER_CLI_CRON_H
#define LATER_CLI_CRON_H

#include "cli.h"

/* words: what stands behind the verb, `count` of them. Each returns as a command does. */
typedef int cron_verb_fn(struct cli *cli, char **words, int count, struct later_error *err);

/* cron_next.c: the next ticks of an expression. */
cron_verb_fn cron_next;

#endif
