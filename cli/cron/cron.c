/* cron.c: `later cron` picks the verb. */
#include "cron/cron.h"

#include "commands.h"
#include "cron/expression.h"

static const struct cli_verb verbs[] = {
    { "next", 1, 1, "a NAME or an EXPRESSION, in quotes", cron_next },
    { "set", 2, 4, "NAME EXPRESSION TYPE, and takes a PAYLOAD", cron_set },
    { "run", 1, -1, "a NAME", cron_run },
    { "pause", 1, -1, "a NAME", cron_pause },
    { "resume", 1, -1, "a NAME", cron_resume },
    { "delete", 1, -1, "a NAME", cron_delete },
};

static int run_cron(struct cli *cli, struct later_error *err)
{
    const struct cli_verb *verb;

    if (cli->args.count == 0)
        return cron_list(cli, err);
    verb = cli_verb(cli, verbs, sizeof verbs / sizeof *verbs, err);
    return verb ? verb->run(cli, cli->args.words + 1, err) : -1;
}

static const struct args_option cron_options[] = {
    { "queue", 'q', "Q",
      "the queue of the schedule (set: default; otherwise the one that has it)" },
    /* clang-format off */
    /* @schedule cli: { "{dashed}", 0, {argument}, "{help} ({unsaid})" }, */
    { "zone", 0, "ZONE", "by whose clocks it is due, such as Europe/Berlin (UTC)" },
    { "catch-up", 0, "POLICY", "ticks missed while no host was up: the last, none, or all of a day, at most 100 (last)" },
    { "overlap", 0, "POLICY", "if the last job has not ended: allow, skip, replace it if it waits, queue one (allow)" },
    { "spread", 0, "DURATION", "jobs are spread over this time after their ticks (0)" },
    { "late", 0, "DURATION", "a tick that is later than this is missed (60)" },
    { "priority", 0, "N", "priority of its jobs, higher first (0)" },
    { "expires-in", 0, "DURATION", "a job that has not begun this long after it was due is dropped (never)" },
    /* @end */
    /* @options cron: { "{dashed}", 0, {argument}, "{help}{default}" }, */
    { "max-attempts", 0, "N", "failed attempts after which it is buried" },
    { "retry-for", 0, "DURATION", "how long after its first failure it is tried again; what fails later is buried" },
    { "timeout", 0, "DURATION", "how long one attempt may run" },
    { "backoff", 0, "WAITS", "wait before each next attempt, or a list of waits" },
    { "result", 0, "DURATION", "how long its result is kept" },
    { "lock", 0, "NAME", "it runs only while it holds this lock" },
    { "group", 0, "NAME", "whose job it is: groups share a queue fairly" },
    { "trace", 0, "TEXT", "logged with each line of the job" },
    { "description", 0, "TEXT", "what it is, for people who look at it" },
    { "on-dead", 0, "TYPE", "push a job of this type when it is dead" },
    { "on-done", 0, "TYPE", "push a job of this type when it is done" },
    /* @end */
    /* clang-format on */
    { "text", 0, NULL, "PAYLOAD is text, not JSON" },
    { "from", 0, "TIME", "set: no tick before this time; next: the ticks after it (now)" },
    { "until", 0, "TIME", "set: no tick after this time" },
    { "number", 'n', "N", "set: it pushes at most this many jobs in all; next: how many (5)" },
    { 0 },
};

const struct command command_cron = {
    .name = "cron",
    .usage = "[next NAME|EXPRESSION | set NAME EXPRESSION [TYPE [PAYLOAD]] |\n"
             "                  run|pause|resume|delete NAME...] [OPTIONS]",
    .brief = "Show, set, pause or run schedules; say when an expression is due",
    .more = "Without a verb, lists the schedules. EXPRESSION, in quotes: minute hour day month "
            "weekday;\n"
            "with six fields, seconds first; or " LATER_NICKNAMES ", @every 90s.\n"
            "In addition to crontab(5): L, L-3, 15W, LW as days; mon#2, mon#-1, 5L as weekdays; "
            "ranges\n"
            "that wrap. `set` without a TYPE changes only when a schedule is due. When clocks\n"
            "change, cron's rules hold. `next` with an expression needs no Redis.\n",
    .example = "later cron next '0 3 * * mon-fri' --zone Europe/Berlin\n"
               "later cron set report '0 3 * * *' report.daily '{\"full\":true}' -q reports\n"
               "later cron\n",
    .options = cron_options,
    .max = -1,
    .run = run_cron,
};
