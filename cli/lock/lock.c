/* lock.c: `later lock`. */
#include "queue/lock.h"

#include "commands.h"
#include "output/jsonl.h"
#include "lock/lock.h"
#include "redis/script.h"

#include <math.h>
#include <string.h>

#define TTL     30.0
#define TTL_MIN 0.1

/* --- show --- */

static void lock_tell(const struct cli *cli, const char *name, const struct later_lock_seen *seen)
{
    static const char *const headings[] = { "LOCK", "STATE", ">LEFT", ">FENCE", "OWNER", NULL };
    struct table table;

    cli_table(cli, &table, headings);
    table_text(&table, PLAIN, name);
    table_text(&table, seen->held ? YELLOW : GREEN, seen->held ? "held" : "free");
    table_known_age(&table, PLAIN, seen->held ? seen->left : -1);
    table_number(&table, PLAIN, seen->fence);
    table_text(&table, PLAIN, seen->held ? seen->owner : NULL);
    table_end(&table);
}

static int lock_show(struct cli *cli, const char *name, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_lock_seen seen;
    struct later_reply *reply;

    if (cli->args.program)
        return later_fail(err, LATER_E_USAGE, "--show runs no program");
    later_lock_look(&cmd, later_call_prefix(cli->client), name);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    later_lock_seen(reply, &seen);
    if (cli->json)
        jsonl_line(stdout, "lock:%s held:%c remaining:%f owner:%s since:%f ttl:%f fence:%ju", name,
                   seen.held, seen.held ? seen.left : NAN, seen.held ? seen.owner : NULL,
                   seen.held ? seen.since : NAN, seen.held ? seen.ttl : NAN, seen.fence);
    else
        lock_tell(cli, name, &seen);
    later_reply_free(reply);
    return LATER_OK;
}

/* --- the command --- */

static int lock_read_order(const struct cli *cli, struct lock_order *order, struct later_error *err)
{
    const char *wait = args_text(&cli->args, "wait");
    int64_t busy = LATER_E_LATER;

    *order =
        (struct lock_order){ .name = cli->args.words[0], .ttl = TTL, .program = cli->args.program };
    if (cli_duration(cli, "ttl", &order->ttl, err) < 0 ||
        cli_number(cli, "conflict-exit", 0, 255, &busy, err) < 0)
        return -1;
    if (order->ttl < TTL_MIN)
        return later_fail(err, LATER_E_USAGE, "--ttl: at least %g seconds", TTL_MIN);
    order->busy = (int)busy;
    if (wait && strcmp(wait, "forever") == 0)
        order->wait = INFINITY;
    else if (cli_duration(cli, "wait", &order->wait, err) < 0)
        return -1;
    return 0;
}

static int lock_run_command(struct cli *cli, struct later_error *err)
{
    const char *name = cli->args.words[0];
    struct lock_order order;

    if (!name && (args_flag(&cli->args, "show") || cli->args.program))
        return later_fail(err, LATER_E_USAGE, "NAME is missing");
    if (!name)
        return locks_run(cli, err);
    if (cli_check_name(name, err) < 0 || lock_read_order(cli, &order, err) < 0 ||
        !cli_client(cli, err))
        return -1;
    return args_flag(&cli->args, "show") ? lock_show(cli, name, err) : lock_run(cli, &order, err);
}

static const struct args_option options[] = {
    { "ttl", 't', "DURATION",
      "how long it outlives this process; renewed after a third of that (30)" },
    { "wait", 'w', "DURATION", "how long to wait for it, or `forever` (0)" },
    { "conflict-exit", 0, "N", "exit status if somebody else has it (75)" },
    { "show", 0, NULL, "show who has it, and run nothing" },
    { 0 },
};

const struct command command_lock = {
    .name = "lock",
    .usage = "[NAME [-t TTL] [-w WAIT] [--conflict-exit N] -- PROGRAM [ARGUMENTS] | NAME --show]",
    .brief = "Run a program under a distributed lock; list what is locked",
    .more =
        "One program at a time has the lock, on all hosts. Those who wait get it in the order in\n"
        "which they came. The program has LATER_LOCK_NAME and LATER_LOCK_FENCE, a number that "
        "only\n"
        "grows, in its environment. The status is the program's. If the lock is lost the program "
        "is\n"
        "ended, by TERM and then KILL, and the status is 77; or 69 if Redis could not be reached.\n"
        "TERM, INT, HUP, QUIT, USR1 and USR2 are passed on to the program.\n"
        "\n"
        "Without words it lists the locks, permits and limits that are in use. Permits are those "
        "of\n"
        "`exclusive` and `max_running`. HELD: how many have it, or how often a limit was used. "
        "FOR:\n"
        "since when. LEFT: until it ends if nobody renews it. WAITING: how many jobs wait for it;\n"
        "NEXT: the first of them, queue and id. MAX and PER: how many may have it, how\n"
        "often in what time, if a laterd that is alive says so; OPENS: when it is used up, in "
        "what\n"
        "time it opens. In a pipe, times are seconds; --json lists up to "
        "ten\n"
        "waiting jobs. It goes through the names of all keys.\n",
    .example = "later lock nightly --wait 5m -- ./backup\nlater lock nightly --show\nlater lock\n",
    .options = options,
    .max = 1,
    .program = true,
    .instead = "show",
    .run = lock_run_command,
};
