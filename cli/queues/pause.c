/* pause.c: `later pause` and `later resume`. */
#include "commands.h"
#include "lasting.h"
#include "output/jsonl.h"
#include "queue/inspect.h"
#include "queue/override.h"
#include "see/marks.h"
#include "status/served.h"
#include "whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wanted: a pause for some seconds (0 = until resume), or its end; of all jobs, or of those
 * of a type. */
struct wish {
    bool pause;
    double seconds;
    const char *type;   /* NULL: of all */
    const char *reason; /* "": not said */
    char who[LASTING_WHO];
};

/* Returns 1 if it changed something, 0 if the part was already so, -1 with *err. When a pause ends
 * by itself, a migrator finds the waiting jobs at its next look. */
static int pause_part(struct cli *cli, const struct later_keys *keys, const struct wish *wish,
                      struct later_error *err)
{
    struct later_command cmd = { 0 };

    if (wish->type && wish->pause)
        later_override_pause(&cmd, keys, wish->type, wish->seconds, wish->who, wish->reason);
    else if (wish->type)
        later_override_resume(&cmd, keys, wish->type);
    else if (wish->pause)
        later_inspect_pause(&cmd, keys, wish->seconds, wish->who);
    else
        later_inspect_plain(&cmd, keys, LATER_SCRIPT_RESUME);
    return (int)cli_count(cli_call(cli, &cmd, err));
}

/* The shards, each even if another one fails, as on a node that is away. Returns as pause_part().
 */
static int pause_shards(struct cli *cli, const struct whole *whole, const struct wish *wish,
                        int changed, struct later_error *err)
{
    struct later_error why;
    bool failed = false;

    for (size_t i = 1; i < whole->count; i++) {
        int one = pause_part(cli, &whole->parts[i], wish, &why);

        if (one < 0 && !failed)
            later_fail(err, why.code, "%s: %s", whole->parts[i].queue, why.text);
        failed |= one < 0;
        changed |= one;
    }
    return failed ? -1 : changed;
}

/* A pause of a shard that there is not would stay for ever: `later resume` of the queue does not
 * find it. */
static int check_shard(struct cli *cli, const char *queue, struct later_error *err)
{
    const char *slash = strchr(queue, '/');
    later_queue_name name;
    struct later_plan plan;

    if (!slash)
        return 0;
    later_shard_whole(name, queue);
    if (later_call_ask_plan(cli->client, name, &plan, err) < 0)
        return -1;
    if (later_plan_span(&plan) < 2)
        return later_fail(err, LATER_E_NONE, "no queue %s: %s has no shards", queue, name);
    if (strtoul(slash + 1, NULL, 10) >= later_plan_span(&plan))
        return later_fail(err, LATER_E_NONE, "no queue %s: the last shard is %s/%" PRIu32, queue,
                          name, later_plan_span(&plan) - 1);
    return 0;
}

/* The plain queue is paused before the plan is read. Whoever adds shards writes the plan first and
 * then copies the plain queue's pause to them. So one of the two sees the other. Returns as
 * pause_part(). */
static int pause_whole(struct cli *cli, const char *queue, const struct wish *wish,
                       struct later_error *err)
{
    struct later_keys keys;
    struct whole whole;
    int changed;

    if (cli_keys(cli, queue, &keys, err) < 0 || (wish->pause && check_shard(cli, queue, err) < 0))
        return -1;
    changed = pause_part(cli, &keys, wish, err);
    if (changed < 0 || whole_find(cli, queue, &whole, err) < 0)
        return -1;
    return pause_shards(cli, &whole, wish, changed, err);
}

/* what: a queue or a host; state: what it is now, or is no longer. */
static void pause_tell(struct cli *cli, const char *what, const char *name, const char *state,
                       const struct wish *wish, bool changed)
{
    struct jsonl json;

    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, what, name);
        if (wish->type)
            jsonl_text(&json, "type", wish->type);
        if (wish->pause && wish->reason[0])
            jsonl_text(&json, "reason", wish->reason);
        jsonl_raw(&json, state, wish->pause ? "true" : "false");
        jsonl_add(&json, "changed:%c", changed);
        jsonl_end(&json);
    } else if (!changed) {
        cli_say(cli, "%s%s%s %s was %s%s%s", wish->type ? "type " : "",
                wish->type ? wish->type : "", wish->type ? " of queue" : what, name,
                wish->pause ? "" : "not ", state, wish->pause ? " already" : "");
    }
}

static int set_pause(struct cli *cli, const char *queue, const struct wish *wish,
                     struct later_error *err)
{
    int changed = pause_whole(cli, queue, wish, err);

    if (changed < 0)
        return -1;
    if (changed)
        marks_note_pause(cli, queue, wish->type, wish->pause, wish->seconds);
    pause_tell(cli, "queue", queue, "paused", wish, changed);
    if (changed)
        served_warn(cli, wish->pause ? "paused" : "resumed", queue);
    return LATER_OK;
}

/* --- a host --- */

/* A name that no laterd has said may be mistyped. */
static void warn_of_host(struct cli *cli, const char *name)
{
    struct later_error ignored;
    struct served *served = served_read(cli, &ignored);

    if (served && !served_is_on(served, name))
        cli_say(cli, "no laterd that is alive is on host %s", name);
    served_free(served);
}

static int set_host(struct cli *cli, const char *name, const struct wish *wish,
                    struct later_error *err)
{
    struct later_client *client = cli_client(cli, err);
    struct later_command cmd = { 0 };
    struct later_keys keys;
    int changed;

    if (!client)
        return -1;
    if (!later_keys_of_host(&keys, later_call_prefix(client), name))
        return later_fail(err, LATER_E_USAGE, "--host: a name as in later status");
    if (wish->pause)
        later_inspect_pause(&cmd, &keys, wish->seconds, wish->who);
    else
        later_inspect_plain(&cmd, &keys, LATER_SCRIPT_RESUME); /* which tells it */
    changed = (int)cli_count(cli_call(cli, &cmd, err));
    if (changed < 0)
        return -1;
    pause_tell(cli, "host", name, "quiet", wish, changed);
    warn_of_host(cli, name);
    return LATER_OK;
}

/* All of them, even if one fails: each that is not as wished is named. */
static int set_all(struct cli *cli, const struct wish *wish, struct later_error *err)
{
    const char *host = args_text(&cli->args, "host");
    int status = LATER_OK;

    if (host && wish->type)
        return later_fail(err, LATER_E_USAGE, "--type goes with queues, not with --host");
    if (!host == !cli->args.count)
        return later_fail(err, LATER_E_USAGE, "queues, or --host with the name of one");
    if (host)
        return set_host(cli, host, wish, err);
    if (cli->args.count == 1)
        return set_pause(cli, cli->args.words[0], wish, err);
    for (int i = 0; i < cli->args.count; i++) {
        if (set_pause(cli, cli->args.words[i], wish, err) == 0)
            continue;
        cli_say(cli, "queue %s: %s", cli->args.words[i], err->text);
        status = status != LATER_OK ? status : (int)err->code;
    }
    return status;
}

static int pause_type(const struct cli *cli, struct wish *wish, struct later_error *err)
{
    wish->type = args_text(&cli->args, "type");
    if (wish->type && !later_override_type_valid(wish->type))
        return later_fail(err, LATER_E_USAGE, "--type: a type, or how types begin and *: mail.*");
    return 0;
}

static int pause_reason(const struct cli *cli, struct wish *wish, struct later_error *err)
{
    const char *reason = args_text(&cli->args, "reason");

    wish->reason = reason ? reason : "";
    if (reason && !wish->type)
        return later_fail(err, LATER_E_USAGE, "--reason goes with --type");
    for (const char *c = wish->reason; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127 || c - wish->reason >= LATER_OVERRIDE_WORDS)
            return later_fail(err, LATER_E_USAGE, "--reason: one line of at most %d bytes",
                              LATER_OVERRIDE_WORDS);
    }
    return 0;
}

static int run_pause(struct cli *cli, struct later_error *err)
{
    struct wish wish = { .pause = true };

    lasting_who(cli, wish.who);
    if (pause_type(cli, &wish, err) < 0 || pause_reason(cli, &wish, err) < 0)
        return -1;
    return lasting_for(cli, &wish.seconds, err) < 0 ? -1 : set_all(cli, &wish, err);
}

static int run_resume(struct cli *cli, struct later_error *err)
{
    struct wish wish = { .pause = false };

    return pause_type(cli, &wish, err) < 0 ? -1 : set_all(cli, &wish, err);
}

static const struct args_option pause_options[] = {
    { "for", 0, "DURATION", "then it ends by itself (only by `later resume`)" },
    { "by", 0, "NAME", "who pauses it, for `later show` and `status` (your login name)" },
    { "type", 0, "TYPE", "only jobs of this type there, or of types by how they begin: mail.*" },
    { "reason", 0, "TEXT", "with --type: why, for `later show` and `status`" },
    { "host", 0, "HOST", "a host instead of queues: its laterd reserves nothing" },
    { 0 },
};

static const struct args_option resume_options[] = {
    { "type", 0, "TYPE", "the pause of a type there, as it was given to `later pause`" },
    { "host", 0, "HOST", "a host instead of queues" },
    { 0 },
};

const struct command command_pause = {
    .name = "pause",
    .usage = "Q... [--type TYPE [--reason TEXT]] | --host HOST [--for DURATION] [--by NAME]",
    .brief = "Stop handing out jobs of a queue",
    .more = "Running jobs go on, and jobs can still be pushed. `later resume` ends it.\n"
            "With --type, jobs of other types go on; those of the type are kept aside, as delayed\n"
            "ones, and come back to their places when it ends.\n",
    .example = "later pause mail\nlater pause mail sms --for 10m\n"
               "later pause mail --type mail.bulk --for 1h --reason 'the relay is slow'\n"
               "later pause --host web1\n",
    .options = pause_options,
    .max = -1,
    .run = run_pause,
};

const struct command command_resume = {
    .name = "resume",
    .usage = "Q... [--type TYPE] | --host HOST",
    .brief = "End a pause",
    .example = "later resume mail sms\nlater resume mail --type mail.bulk\n",
    .options = resume_options,
    .max = -1,
    .run = run_resume,
};
