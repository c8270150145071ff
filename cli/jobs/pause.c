/* pause.c: `later pause` and `later resume`. */
#include "commands.h"
#include "output/jsonl.h"
#include "queue/inspect.h"
#include "status/served.h"
#include "whole.h"

#define PAUSE_MAX 31536000.0 /* a year, in seconds */

/* What is wanted: a pause for some seconds (0 = until resume), or its end. */
struct wish {
    bool pause;
    double seconds;
};

/* This pause ends by itself. A migrator then finds the waiting jobs at its next look. Returns as
 * pause_part(). */
static int pause_for(struct cli *cli, const struct later_keys *keys, double seconds,
                     struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int changed;

    later_inspect_pause(&cmd, keys, seconds);
    reply = cli_call(cli, &cmd, err);
    changed = reply ? later_reply_is_nil(reply) : -1; /* otherwise the answer is the former value */
    later_reply_free(reply);
    return changed;
}

/* Returns 1 if it changed something, 0 if the part was already so, -1 with *err. */
static int pause_part(struct cli *cli, const struct later_keys *keys, const struct wish *wish,
                      struct later_error *err)
{
    struct later_command cmd = { 0 };

    if (wish->seconds > 0)
        return pause_for(cli, keys, wish->seconds, err);

    later_inspect_plain(&cmd, keys, wish->pause ? LATER_SCRIPT_PAUSE : LATER_SCRIPT_RESUME);
    return (int)cli_count(cli_call(cli, &cmd, err));
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

    if (cli_keys(cli, queue, &keys, err) < 0)
        return -1;
    changed = pause_part(cli, &keys, wish, err);
    if (changed < 0 || whole_find(cli, queue, &whole, err) < 0)
        return -1;
    for (size_t i = 1; i < whole.count; i++) {
        int one = pause_part(cli, &whole.parts[i], wish, err);

        if (one < 0)
            return -1;
        changed |= one;
    }
    return changed;
}

static int set_pause(struct cli *cli, const char *queue, const struct wish *wish,
                     struct later_error *err)
{
    int changed = pause_whole(cli, queue, wish, err);
    struct jsonl json;

    if (changed < 0)
        return -1;
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", queue);
        jsonl_bool(&json, "paused", wish->pause);
        jsonl_bool(&json, "changed", changed);
        jsonl_end(&json);
    } else if (!changed) {
        cli_say(cli, "queue %s was %spaused already", queue, wish->pause ? "" : "not ");
    }
    if (changed)
        served_warn(cli, wish->pause ? "paused" : "resumed", queue);
    return LATER_OK;
}

static int set_all(struct cli *cli, const struct wish *wish, struct later_error *err)
{
    for (int i = 0; i < cli->args.count; i++) {
        if (set_pause(cli, cli->args.words[i], wish, err) < 0)
            return -1;
    }
    return LATER_OK;
}

static int run_pause(struct cli *cli, struct later_error *err)
{
    struct wish wish = { .pause = true };

    if (cli_duration(cli, "for", &wish.seconds, err) < 0)
        return -1;
    if (args_text(&cli->args, "for") && !(wish.seconds >= 0.001 && wish.seconds <= PAUSE_MAX))
        return later_fail(err, LATER_E_USAGE, "--for: a millisecond to a year");
    return set_all(cli, &wish, err);
}

static int run_resume(struct cli *cli, struct later_error *err)
{
    return set_all(cli, &(struct wish){ .pause = false }, err);
}

static const struct args_option pause_options[] = {
    { "for", 0, "DURATION", "then it ends by itself (only by `later resume`)" },
    { 0 },
};

const struct command command_pause = {
    .name = "pause",
    .usage = "Q... [--for DURATION]",
    .brief = "Stop handing out jobs of a queue",
    .more = "Running jobs go on, and jobs can still be pushed. `later resume` ends it.\n",
    .example = "later pause mail\nlater pause mail sms --for 10m\n",
    .options = pause_options,
    .min = 1,
    .max = -1,
    .run = run_pause,
};

const struct command command_resume = {
    .name = "resume",
    .usage = "Q...",
    .brief = "End a pause",
    .example = "later resume mail sms\n",
    .min = 1,
    .max = -1,
    .run = run_resume,
};
