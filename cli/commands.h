/* commands.h: the commands of `later`, by the file that they are in. */
#ifndef LATER_CLI_COMMANDS_H
#define LATER_CLI_COMMANDS_H

#include "cli.h"

/* push.c */
extern const struct command command_push;
/* queues.c, size.c, peek.c */
extern const struct command command_queues, command_size, command_peek, command_show;
/* count.c, export.c */
extern const struct command command_count_jobs, command_export;
/* forget.c */
extern const struct command command_forget;
/* act.c, pause.c, cancel.c */
extern const struct command command_kick, command_purge, command_pause, command_resume;
extern const struct command command_cancel;
/* bury.c */
extern const struct command command_bury;
/* wait.c */
extern const struct command command_wait, command_result;
/* reserve.c, settle.c */
extern const struct command command_reserve;
extern const struct command command_ack, command_release, command_return, command_touch;
/* work.c */
extern const struct command command_work;
/* lock.c, locks.c, limit.c, stock.c */
extern const struct command command_lock, command_locks, command_limit, command_stock;
/* cron.c */
extern const struct command command_cron;
/* status.c, top.c, check.c */
extern const struct command command_status, command_top, command_check;
/* search.c */
extern const struct command command_search;
/* serve.c */
extern const struct command command_serve;
/* history.c, metrics.c */
extern const struct command command_history, command_metrics;
/* new.c */
extern const struct command command_new;
/* help.c */
extern const struct command command_help;

#endif
