/* forget.c: `later forget`. */
#include "commands.h"
#include "output/jsonl.h"
#include "queue/crontab.h"
#include "queue/lost.h"
#include "sizes.h"
#include "status/served.h"

#include <inttypes.h>

static int refuse_full(const char *queue, uint64_t jobs, struct later_error *err)
{
    return later_fail(err, LATER_E_LATER,
                      "queue %s has %" PRIu64 " job%s, which would be lost; `later size %s` shows "
                      "their states",
                      queue, jobs, jobs == 1 ? "" : "s", queue);
}

/* News of flows that nobody has taken to another queue: a job there waits for it. */
static int refuse_news(const char *queue, struct later_error *err)
{
    return later_fail(
        err, LATER_E_LATER,
        "queue %s has news of flows for other queues; let a laterd serve it once more", queue);
}

/* A laterd that serves the queue by name would enter it again, so none may. A laterd that serves it
 * by a pattern does not matter, unless the queue has shards, whose plan it would miss. */
static int check_unserved(struct cli *cli, const struct whole *whole, struct later_error *err)
{
    const char *queue = whole->parts[0].queue;
    struct served *served = served_read(cli, err);
    int hosts = whole->count > 1 ? served_by(served, queue) : served_by_name(served, queue);

    served_free(served);
    if (hosts > 0)
        return later_fail(err, LATER_E_LATER,
                          "queue %s is served by %d laterd%s; take it out of the configuration "
                          "first",
                          queue, hosts, hosts == 1 ? "" : "s");
    return hosts < 0 ? -1 : 0;
}

/* A queue with schedules may not be forgotten: they would go on in a queue that nobody sees. */
static int check_unscheduled(struct cli *cli, const struct later_keys *keys,
                             struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_crontab crontab;
    struct later_crontab_row row;
    struct later_reply *reply;

    later_crontab_look(&cmd, keys, "0", 1);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    later_crontab_looked(reply, &crontab);
    if (crontab.count) {
        later_crontab_row(reply, 0, &row);
        later_fail(err, LATER_E_LATER,
                   "queue %s has schedules, such as %s; `later cron delete %s` first", keys->queue,
                   row.name, row.name);
    }
    later_reply_free(reply);
    return crontab.count ? -1 : 0;
}

/* Removes the queue from later:queues. Returns whether it was there, or -1 with *err. */
static int unlist(struct cli *cli, const char *queue, struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_inspect_unlist(&cmd, later_call_prefix(cli->client), queue);
    return (int)cli_count(cli_call(cli, &cmd, err));
}

/* The name has gone from later:queues, so it is now certain that there is no job. Whoever pushes
 * meanwhile enters the queue again. */
static int forget_part(struct cli *cli, const struct later_keys *keys, struct later_error *err)
{
    int listed = unlist(cli, keys->queue, err);
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int64_t left;

    if (listed < 0)
        return -1;
    later_inspect_plain(&cmd, keys, LATER_SCRIPT_FORGET);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    left = later_reply_int(reply);
    later_reply_free(reply);
    if (left == 0)
        return listed;
    later_call_announce(cli->client, keys);
    (void)later_call_drain(cli->client, err); /* no call follows that would take it along */
    return left > 0 ? refuse_full(keys->queue, (uint64_t)left, err) : refuse_news(keys->queue, err);
}

/* Says that it is done on purpose, so that no laterd takes it for a loss (queue/lost.h). */
static int note_forgotten(struct cli *cli, const struct whole *whole, struct later_error *err)
{
    const char *prefix = later_call_prefix(cli->client);
    struct later_command cmd = { 0 };
    double now;

    if (cli_clock(cli, &now, err) < 0)
        return -1;
    for (size_t i = 0; i < whole->count; i++) {
        later_forgotten_note(&cmd, prefix, whole->parts[i].queue, now);
        if (cli_count(cli_call(cli, &cmd, err)) < 0)
            return -1;
    }
    later_forgotten_bound(&cmd, prefix);
    if (cli_count(cli_call(cli, &cmd, err)) < 0)
        return -1;
    later_forgotten_keep(&cmd, prefix);
    return cli_count(cli_call(cli, &cmd, err)) < 0 ? -1 : 0;
}

/* The plan goes last, since the shards are found by it. Where nothing was counted, no counter goes
 * back, and nothing is noted: a full Redis, which takes no note, still says that a queue is
 * unknown.
 */
static int forget_whole(struct cli *cli, const struct whole *whole, bool counted,
                        struct later_error *err)
{
    struct later_command cmd = { 0 };
    int listed = 0;

    if (counted && note_forgotten(cli, whole, err) < 0)
        return -1;
    for (size_t i = whole->count; i-- > 0;) {
        int one = forget_part(cli, &whole->parts[i], err);

        if (one < 0)
            return -1;
        listed |= one;
    }
    for (size_t i = whole->count; i-- > 0;) {
        int64_t planned;

        later_inspect_unplan(&cmd, &whole->parts[i]);
        planned = cli_count(cli_call(cli, &cmd, err));
        if (planned < 0)
            return -1;
        listed |= planned > 0;
    }
    return listed;
}

/* Returns 0; LATER_E_NONE if the queue was unknown, after saying so; or -1 with *err. */
static int forget_forget(struct cli *cli, const char *queue, struct later_error *err)
{
    struct later_sizes sum;
    struct whole whole;
    int listed;

    if (later_call_whole(queue, err) < 0 || whole_find(cli, queue, &whole, err) < 0 ||
        check_unserved(cli, &whole, err) < 0 || check_unscheduled(cli, &whole.parts[0], err) < 0 ||
        sizes_whole(cli, &whole, &sum, err) < 0)
        return -1;
    if (sum.jobs + sum.ready + sum.delayed > 0)
        return refuse_full(queue, sum.ready + sum.delayed + sum.reserved + sum.dead + sum.waiting,
                           err);
    if (sum.news > 0)
        return refuse_news(queue, err);
    listed = forget_whole(cli, &whole, sizes_traces(&sum) > 0, err);
    if (listed < 0)
        return -1;
    if (!listed && sizes_traces(&sum) == 0 && !sum.paused) {
        cli_say(cli, "no queue %s", queue);
        return LATER_E_NONE;
    }
    if (cli->json)
        jsonl_line(stdout, "queue:%s result:forgotten", queue);
    return LATER_OK;
}

static int forget_run(struct cli *cli, struct later_error *err)
{
    int status = LATER_OK;

    if (!cli_client(cli, err))
        return -1;
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = forget_forget(cli, cli->args.words[i], err);

        status = one != LATER_OK ? one : status;
    }
    return status;
}

const struct command command_forget = {
    .name = "forget",
    .usage = "Q...",
    .brief = "Forget a queue that has no jobs and that nobody serves",
    .more =
        "It leaves the list of queues. Its counters and totals are deleted, and so are done jobs\n"
        "that were kept, a pause, the plan of its shards, and the ids that --unique-for keeps\n"
        "taken. A queue that has jobs or is served stays as it is: status 75. The next push\n"
        "creates the queue again.\n",
    .example = "later forget defualt\n",
    .min = 1,
    .max = -1,
    .run = forget_run,
};
