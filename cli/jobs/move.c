/* move.c: `later move`. */
#include "commands.h"
#include "jobs/each.h"
#include "choose/many.h"
#include "queue/flow.h"
#include "queue/inspect.h"
#include "queue/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES     3    /* a job may change its state between the look and the call */
#define PAGES_MAX 1000 /* of news, in one go; laterd moves the rest */

/* --- the way there: what laterd does too (daemon/queues/mover.h), whoever is first --- */

/* Has the other queue hear what is there for it on one page of news, and removes that. *above
 * becomes the number of the last one. Returns how many pieces there were, or -1 with *err. */
static int64_t move_page(struct cli *cli, const struct later_keys *from,
                         const struct later_keys *to, uint64_t *above, struct later_error *err)
{
    const char *news[LATER_MOVE_MAX];
    struct later_command cmd = { 0 };
    struct later_reply *page;
    size_t count = 0, all;
    bool ok = true;

    later_flow_news(&cmd, from, *above, LATER_MOVE_MAX);
    page = cli_call(cli, &cmd, err);
    all = later_reply_count(page);
    for (size_t i = 0; i < all && i < LATER_MOVE_MAX; i++) {
        const char *text = later_reply_text_at(page, i);
        struct later_news is;

        if (later_flow_news_read(&is, text) && strcmp(is.queue, to->queue) == 0)
            news[count++] = text;
        *above = is.number > *above ? is.number : *above;
    }
    if (count > 0) {
        later_flow_hear(&cmd, to, from->queue, news, count);
        ok = cli_count(cli_call(cli, &cmd, err)) >= 0;
    }
    if (ok && count > 0) {
        later_flow_heard(&cmd, from, news, count);
        ok = cli_count(cli_call(cli, &cmd, err)) >= 0;
    }
    later_reply_free(page);
    return page && ok ? (int64_t)all : -1;
}

/* Brings what has left the queue into the other one. If we die here, a laterd that serves the queue
 * does it, or the next `later move`. */
static int move_carry(struct cli *cli, const struct later_keys *from, const char *queue,
                      struct later_error *err)
{
    struct later_keys to;
    uint64_t above = 0;
    int64_t count = 1;

    if (cli_keys(cli, queue, &to, err) < 0)
        return -1;
    for (int i = 0; count > 0 && i < PAGES_MAX; i++)
        count = move_page(cli, from, &to, &above, err);
    return count < 0 ? -1 : 0;
}

/* Before anything leaves its queue: is Redis full, and may we put jobs into the other one? */
static int move_prepare(struct cli *cli, const char *queue, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_keys to;

    if (cli_keys(cli, queue, &to, err) < 0 || cli_name_queue(cli, queue, err) < 0)
        return -1;
    later_flow_hear(&cmd, &to, to.queue, NULL, 0);
    return cli_count(cli_call(cli, &cmd, err)) < 0 ? -1 : 0;
}

/* --- jobs by their ids --- */

/* Is this the queue, or a shard of it? */
static bool move_is_there(const char *part, const char *queue)
{
    size_t len = strlen(queue);

    return strncmp(part, queue, len) == 0 && (!part[len] || part[len] == '/');
}

/* Returns why the job stays where it is, or NULL. */
static const char *move_obstacle(const struct later_seen *seen)
{
    if (strcmp(seen->state, "reserved") == 0)
        return "is reserved: it runs, or is about to";
    if (strcmp(seen->state, "waiting") == 0 || seen->record.flows_len)
        return "belongs to a flow, which knows it in its queue";
    if (seen->record.unique_for > 0 || seen->record.taken_until > 0)
        return "keeps its id taken in its queue (--unique-for, --throttle)";
    if (memchr(seen->document, '\0', seen->document_len))
        return "has a NUL byte in its document";
    return NULL;
}

/* Is the job one that can be moved? Then it is. Returns as move_move(). */
static int move_seen(struct cli *cli, const struct later_keys *keys, const char *id,
                     const struct later_seen *seen, const char *queue, char was[EACH_STATE],
                     struct later_error *err)
{
    struct later_acted job = { .id = id, .len = strlen(id), .score = "" };
    const char *why = move_is_there(keys->queue, queue) ? "is in that queue" : move_obstacle(seen);
    struct later_command cmd = { 0 };
    int64_t count;

    if (why) {
        cli_say(cli, "job %s %s; it was not moved", id, why);
        return LATER_E_LATER;
    }
    later_inspect_act(&cmd, keys, "move", seen->state, "", queue, &job, 1);
    count = cli_count(cli_call_once(cli, &cmd, err));
    if (count > 0)
        snprintf(was, EACH_STATE, "%s", seen->state);
    return count < 0 || move_carry(cli, keys, queue, err) < 0 ? -1 : 0;
}

/* arg: the other queue. */
static int move_move(struct cli *cli, const struct later_keys *keys, const char *id,
                     const void *arg, char was[EACH_STATE], struct later_error *err)
{
    int status = 0;

    for (int i = 0; status == 0 && !*was && i < TRIES; i++) {
        struct later_command cmd = { 0 };
        struct later_seen seen;
        struct later_reply *reply;

        later_queue_ids(&cmd, LATER_SCRIPT_SHOW, keys, &id, 1);
        reply = cli_call(cli, &cmd, err);
        if (!reply)
            return -1;
        later_inspect_shown(reply, &seen);
        if (*seen.state && strcmp(seen.state, "done") != 0)
            status = move_seen(cli, keys, id, &seen, arg, was, err);
        else
            i = TRIES;
        later_reply_free(reply);
    }
    return status;
}

static const struct each_verb move_each = {
    .heading = "MOVED", .done = "moved", .none = "no ready, delayed or dead job", .fn = move_move
};

/* --- many jobs --- */

static int move_then(struct cli *cli, const struct later_keys *part, const struct many_verb *verb,
                     struct later_error *err)
{
    return move_carry(cli, part, verb->with, err);
}

static const struct many_verb move_many = {
    .name = "move",
    .done = "moved",
    .ask = "Move",
    .stays = "no longer where they were, of a flow, or with an id that stays taken",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_DEAD },
    .set_count = 3,
    .most = LATER_MOVE_MAX,
    .then = move_then,
};

static int move_queue(struct cli *cli, const char *queue, struct later_error *err)
{
    struct many_verb verb = move_many;
    char to[LATER_QUEUE_MAX + 16];

    snprintf(to, sizeof to, " to queue %s", queue);
    verb.ask_end = to;
    verb.with = verb.but = queue;
    return many_run(cli, &verb, err);
}

/* The last word is the queue into which they go. */
static int move_run(struct cli *cli, struct later_error *err)
{
    const char *from = args_text(&cli->args, "queue"), *queue = cli->args.words[--cli->args.count];
    bool all = cli->args.count == 0 && from && !choose_has_condition(cli, false);
    int many = all ? 1 : choose_is_asked(cli, false, err);

    if (many < 0)
        return -1;
    if (!later_key_queue_valid(queue))
        return later_fail(err, LATER_E_USAGE, "%.64s is no name of a queue to move jobs to", queue);
    if (from && move_is_there(from, queue))
        return later_fail(err, LATER_E_USAGE, "the jobs are in queue %s already", queue);
    if (!args_flag(&cli->args, "dry-run") && move_prepare(cli, queue, err) < 0)
        return -1;
    return many ? move_queue(cli, queue, err) : each_run(cli, &move_each, queue, err);
}

static const struct args_option move_options[] = {
    MANY_OPTIONS,
    { 0 },
};

const struct command command_move = {
    .name = "move",
    .usage = "ID... TO [-q Q] | -q Q TO [CONDITIONS] | -A TO CONDITIONS",
    .brief = "Move jobs that do not run to another queue",
    .more =
        "TO is the other queue; without a condition all jobs of queue Q go there. Each job keeps\n"
        "its state, its id, its attempts, priority and errors. Left alone are jobs that run (75), "
        "jobs\n"
        "of flows, and those whose id stays taken after them. In a pipe: id and state; of many "
        "jobs,\n"
        "their number.\n" MANY_MORE,
    .example = "later move order-1138 slow\nlater move -q mial mail\n"
               "later move -q mail bulk --type 'newsletter.*' --rate 500\n",
    .options = move_options,
    .min = 1,
    .max = -1,
    .run = move_run,
};
