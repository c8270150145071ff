/* work.c: `later work`: run a program for each job. */
#include "work/work.h"
#include "work/private.h"

#include "commands.h"

#include <stdlib.h>
#include <unistd.h>

#define PARALLEL_MAX 1000

/* --- the command --- */

static int work_read_options(struct work *work, struct later_error *err)
{
    struct cli *cli = work->cli;
    double lease;
    int64_t parallel = 1;

    work->left = -1;
    work->until_empty = args_flag(&cli->args, "until-empty");
    if (cli_number(cli, "parallel", 1, PARALLEL_MAX, &parallel, err) < 0 ||
        cli_number(cli, "number", 1, INT64_MAX, &work->left, err) < 0 ||
        take_lease(cli, &lease, err) < 0 ||
        cli_positive_duration(cli, "timeout", &work->shared.timeout, err) < 0)
        return -1;
    if (work->until_empty && work->left > 0)
        return later_fail(err, LATER_E_USAGE, "--until-empty and -n: only one of them");
    if (cli->args.count > WORK_QUEUES_MAX)
        return later_fail(err, LATER_E_USAGE, "more than %d queues", WORK_QUEUES_MAX);
    work->runner_count = (size_t)parallel;
    work->shared.program = cli->args.program;
    return taker_begin(&work->taker, cli, lease, err);
}

/* Prepares everything that is needed before the first job is taken, Redis included. */
static int prepare(struct work *work, struct later_error *err)
{
    work->runners = calloc(work->runner_count, sizeof *work->runners);
    if (!work->runners)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (work_find_queues(work, err) < 0 || work_catch_signals(work, err) < 0 ||
        work_promote(work, err) < 0)
        return -1;
    for (size_t i = 0; i < work->queue_count; i++)
        later_call_announce(work->cli->client, &work->queues[i].keys);
    return 0;
}

static int work_finish(struct work *work, struct later_error *err)
{
    size_t open = work_count(work, RUNNER_ENDED);

    wake_listener_stop(&work->listener);
    if (work->broken)
        *err = work->failure;
    if (open > 0)
        return later_fail(err, LATER_E_REDIS,
                          "%zu jobs that ended could not be settled; they come back when their "
                          "leases end",
                          open);
    return work->broken ? -1 : LATER_OK;
}

static int work_run(struct cli *cli, struct later_error *err)
{
    struct work *work;
    int status = -1;

    if (args_flag(&cli->args, "lines"))
        return private_run(cli, err);
    if (args_text(&cli->args, "type") || args_text(&cli->args, "programs") ||
        args_flag(&cli->args, "entry"))
        return later_fail(err, LATER_E_USAGE, "--type, --programs and --entry need --lines");
    work = calloc(1, sizeof *work);
    if (!work)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    work->cli = work->listener.cli = cli;
    work->signals = -1;
    work->more = true;
    work->shared.cli = cli;
    work->shared.taker = &work->taker;
    if (work_read_options(work, err) == 0 && prepare(work, err) == 0) {
        work_loop(work);
        status = work_finish(work, err);
    }
    if (work->signals >= 0)
        close(work->signals);
    wake_listener_close(&work->listener);
    taker_end(&work->taker);
    free(work->runners);
    free(work);
    return status;
}

static const struct args_option options[] = {
    { "parallel", 'p', "N", "how many jobs at a time (1)" },
    { "until-empty", 0, NULL, "exit when nothing is ready and nothing runs" },
    { "number", 'n', "N", "exit after N jobs" },
    { "lease", 'l', "DURATION",
      "how long a reservation holds; renewed after a third of that (30)" },
    { "timeout", 't', "DURATION",
      "how long one attempt may run if the job does not say (from laterd's configuration)" },
    { "lines", 0, NULL, "the program stays, and gets many jobs, a line each" },
    { "type", 0, "TYPE", "with --lines: a type that it performs, or 'mail.*' (it says so itself)" },
    { "programs", 0, "N", "with --lines: how many of the program (1)" },
    { "entry", 0, NULL, "with --lines: only print its entry for laterd.conf" },
    { 0 },
};

const struct command command_work = {
    .name = "work",
    .usage = "Q... [-p N] [--until-empty|-n N] [--lines] [options] -- PROGRAM [ARGS]",
    .brief = "Run a program for each job",
    .more =
        "The program gets the job document on standard input, and LATER_ID, LATER_TYPE,\n"
        "LATER_QUEUE and LATER_ATTEMPT in its environment. If it exits with 0, the job is done;\n"
        "with 65, it is buried; otherwise it is tried again later, until its attempts are used "
        "up.\n"
        "Queues are tried in the order given, the shards of a queue in turn.\n"
        "\n"
        "After TERM, INT or HUP no more jobs are taken, and running ones may finish. A second\n"
        "signal stops them and gives their jobs back; a third one does so at once.\n"
        "\n"
        "With --lines this is a laterd for one program of handlers (later-job(3), section exec),\n"
        "for as long as the command runs. -p is then how many jobs such a program gets at once,\n"
        "for those that can; without it, one.\n",
    .example = "later work mail -p 4 -- ./send-mail\n"
               "later work default --lines -p 50 -- python3 -m laterd tasks:app\n",
    .options = options,
    .min = 1,
    .max = -1,
    .program = true,
    .run = work_run,
};
