/* commands.h: the commands of `later`, by the file that they are in. */
#ifndef LATER_CLI_COMMANDS_H
#define LATER_CLI_COMMANDS_H

#include "cli.h"

/* jobs/push.c */
extern const struct command command_push;
/* jobs/size.c, jobs/peek.c */
extern const struct command command_queues, command_size, command_peek, command_show;
/* jobs/count.c, jobs/export.c */
extern const struct command command_count_jobs, command_export;
/* jobs/forget.c */
extern const struct command command_forget;
/* jobs/act.c, jobs/pause.c, jobs/cancel.c */
extern const struct command command_kick, command_purge, command_pause, command_resume;
extern const struct command command_cancel;
/* jobs/bury.c */
extern const struct command command_bury;
/* jobs/wait.c */
extern const struct command command_wait, command_result;
/* work/reserve.c, work/settle.c */
extern const struct command command_reserve;
extern const struct command command_ack, command_release, command_return, command_touch;
/* work/work.c */
extern const struct command command_work;
/* lock/lock.c, lock/locks.c, lock/limit.c, lock/stock.c */
extern const struct command command_lock, command_locks, command_limit, command_stock;
/* cron/cron.c */
extern const struct command command_cron;
/* status/status.c, top/top.c, check/check.c */
extern const struct command command_status, command_top, command_check;
/* jobs/search.c */
extern const struct command command_search;
/* serve.c */
extern const struct command command_serve;
/* see/history.c, see/metrics.c */
extern const struct command command_history, command_metrics;
/* new/new.c */
extern const struct command command_new;
/* help.c */
extern const struct command command_help;

#endif
