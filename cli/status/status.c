/* status.c: `later status`. */
#include "commands.h"
#include "status/hosts.h"
#include "jobs/queues.h"
#include "status/status_local.h"

#include <stdio.h>

static int run(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    int hosts, ok;

    if (args_flag(&cli->args, "local"))
        return status_local(cli, err);
    hosts = hosts_print(cli, err);
    if (hosts < 0)
        return -1;
    if (hosts == 0)
        cli_say(cli, "no laterd has announced itself");
    ok = queue_list_find(cli, &list, err);
    if (ok == 0 && hosts > 0 && list.count > 0 && !cli->json && cli->out_terminal)
        putchar('\n');
    if (ok == 0)
        ok = queues_print(cli, &list, err);
    queue_list_free(&list);
    return ok;
}

static const struct args_option options[] = {
    { "local", 0, NULL, "only the laterd on this host, without asking Redis: is it well?" },
    { 0 },
};

const struct command command_status = {
    .name = "status",
    .usage = "[--local]",
    .brief = "Show daemons and queues",
    .more = "With --local the status is 0 if the daemon here runs and reaches Redis, else 69.\n"
            "With --json a line is a daemon (with \"host\") or a queue (with \"queue\").\n",
    .example = "later status\nlater status --local\n",
    .options = options,
    .run = run,
};
