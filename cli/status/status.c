/* status.c: `later status`. */
#include "commands.h"
#include "status/hosts.h"
#include "queues/laid.h"
#include "queues/size.h"
#include "status/status.h"
#include "status/trouble.h"

#include <stdio.h>

/* What is set holds for all queues. Who may not look sees nothing. */
static void status_tell_set(struct cli *cli, const struct served *served)
{
    struct later_error ignored;
    struct laid laid;

    if (laid_read_numbers(cli, &laid, &ignored) == 0)
        laid_tell_numbers(stdout, &laid, served_at(served));
}

static int status_print(struct cli *cli, const struct served *served, struct later_error *err)
{
    int hosts = hosts_print(cli, served), ok;
    struct queue_list list = { 0 };

    if (hosts == 0)
        cli_say(cli, "no laterd has announced itself");
    ok = queue_list_find(cli, &list, err);
    if (ok == 0 && hosts > 0 && list.count > 0 && !cli->json && cli->out_terminal)
        putchar('\n');
    if (ok == 0)
        ok = size_print(cli, &list, served, err);
    if (ok == 0 && !cli->json && cli->out_terminal)
        status_tell_set(cli, served);
    if (ok == 0 && (!cli->json || args_flag(&cli->args, "progress")))
        ok = running_print(cli, &list, served, err);
    queue_list_free(&list);
    return ok;
}

static int status_run(struct cli *cli, struct later_error *err)
{
    struct served *served;
    int status;

    if (args_flag(&cli->args, "local"))
        return status_local(cli, err);
    if (args_flag(&cli->args, "trouble"))
        return trouble_print(cli, err);
    if (args_flag(&cli->args, "server"))
        return server_print(cli, args_flag(&cli->args, "keys"), err);
    served = served_read(cli, err);
    status = served ? status_print(cli, served, err) : -1;
    served_free(served);
    return status;
}

static const struct args_option options[] = {
    { "progress", 0, NULL, "with --json: also the progress of running jobs" },
    { "lately", 0, NULL, "in `later serve`: ask little of queues that have not changed" },
    { "trouble", 0, NULL,
      "only what is wrong, a line each; the status is 1 if there is something" },
    { "server", 0, NULL, "only the Redis servers: memory, clients, disk, replicas, slow commands" },
    { "keys", 0, NULL, "with --server: also how many keys of each kind, of the first 10,000" },
    { "local", 0, NULL, "check only the laterd on this host, without asking Redis" },
    { 0 },
};

const struct command command_status = {
    .name = "status",
    .usage = "[--local | --trouble | --server [--keys]] [--progress] [--lately] [Q...]",
    .brief = "Show daemons and queues",
    .more = "With --local the status is 0 if the daemon here runs and reaches Redis, else 69.\n"
            "With --json a line is a daemon (with \"host\"), a queue (with \"queue\") or, with\n"
            "--progress, a job (with \"job\"). With --server it is a server, or one of its "
            "replicas, slow\n"
            "commands or kinds of keys (with \"replica\", \"slow\", \"keys\"), or a trouble.\n",
    .example =
        "later status\nlater status --trouble\nlater status --server\nlater status --local\n",
    .options = options,
    .max = -1,
    .run = status_run,
};
