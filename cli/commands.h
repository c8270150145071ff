/*
 * commands.h: the commands of `later`, in the groups of the help and of the manual. The options
 * that every command has are beside them, in commands.c (global_options, cli.h).
 */
#ifndef LATER_CLI_COMMANDS_H
#define LATER_CLI_COMMANDS_H

#include "cli.h"

#include <stdio.h>

#define COMMANDS_MAX 64 /* in all groups */
#define GROUP_MAX    12 /* commands in one group, and the NULL behind them */

/* A NULL title ends the table of them. */
struct command_group {
    const char *title;
    const struct command *commands[GROUP_MAX]; /* ends with NULL */
};
extern const struct command_group command_groups[];

/* Returns the command of this number, in the order of the groups; NULL behind the last one. */
const struct command *command_at(size_t number);

/* Returns the command of this name. If there is none, returns NULL with *err (LATER_E_USAGE): one
 * line that names the command for a word that others use for it, or the nearest name. */
const struct command *command_find(const char *name, struct later_error *err);

/* In help.c. They print the list of commands in its groups; one command's help; the usage line. */
void help_all(FILE *out);
void help_command(FILE *out, const struct command *command);
void help_usage(FILE *out, const struct command *command);

/* push/push.c */
extern const struct command command_push;
/* flow/flow.c */
extern const struct command command_flow;
/* queues/size.c, jobs/peek.c */
extern const struct command command_size, command_peek, command_show;
/* choose/search.c, choose/export.c */
extern const struct command command_search, command_export;
/* jobs/kick.c, jobs/bury.c, jobs/cancel.c, jobs/edit.c, jobs/move.c */
extern const struct command command_kick, command_bury, command_cancel, command_edit, command_move;
/* queues/pause.c, queues/forget.c */
extern const struct command command_pause, command_resume, command_forget;
/* push/wait.c */
extern const struct command command_wait;
/* work/work.c, work/reserve.c, work/settle.c */
extern const struct command command_work, command_reserve;
extern const struct command command_ack, command_release, command_touch;
/* lock/lock.c, lock/limit.c, lock/stock.c */
extern const struct command command_lock, command_limit, command_stock;
/* lock/set.c */
extern const struct command command_set, command_unset;
/* cron/cron.c */
extern const struct command command_cron;
/* status/status.c, top/top.c, check/check.c */
extern const struct command command_status, command_top, command_check;
/* see/history.c, see/events.c, see/metrics.c */
extern const struct command command_history, command_events, command_metrics;
/* new/new.c */
extern const struct command command_new;
/* serve.c, completion.c, help.c */
extern const struct command command_serve, command_completion, command_help;

#endif
