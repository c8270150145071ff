/* pause.c: `later pause` and `later resume`. */
#include "commands.h"
#include "output/jsonl.h"
#include "queue/inspect.h"
#include "whole.h"

/* Returns 1 where that was a change, 0 where it was so already, -1 with *err. */
static int pause_part(struct cli *cli, const struct later_keys *keys, bool pause,
                      struct later_error *err)
{
    enum later_script script = pause ? LATER_SCRIPT_PAUSE : LATER_SCRIPT_RESUME;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int changed;

    later_inspect_plain(&cmd, keys, script);
    reply = cli_call(cli, &cmd, script, err);
    if (!reply)
        return -1;
    changed = later_reply_int(reply) > 0;
    later_reply_free(reply);
    return changed;
}

/* The plain queue before the plan is read: who adds shards writes the plan and then does with them
 * what holds for the plain queue, so that one of us sees the other. Returns as pause_part(). */
static int pause_whole(struct cli *cli, const char *queue, bool pause, struct later_error *err)
{
    struct later_keys keys;
    struct whole whole;
    int changed;

    if (cli_keys(cli, queue, &keys, err) < 0)
        return -1;
    changed = pause_part(cli, &keys, pause, err);
    if (changed < 0 || whole_find(cli, queue, &whole, err) < 0)
        return -1;
    for (size_t i = 1; i < whole.count; i++) {
        int one = pause_part(cli, &whole.parts[i], pause, err);

        if (one < 0)
            return -1;
        changed |= one;
    }
    return changed;
}

static int set_pause(struct cli *cli, bool pause, struct later_error *err)
{
    const char *queue = cli->args.words[0];
    int changed = pause_whole(cli, queue, pause, err);
    struct jsonl json;

    if (changed < 0)
        return -1;
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", queue);
        jsonl_bool(&json, "paused", pause);
        jsonl_bool(&json, "changed", changed);
        jsonl_end(&json);
    } else if (!changed) {
        cli_say(cli, "queue %s was %spaused already", queue, pause ? "" : "not ");
    }
    return LATER_OK;
}

static int run_pause(struct cli *cli, struct later_error *err)
{
    return set_pause(cli, true, err);
}

static int run_resume(struct cli *cli, struct later_error *err)
{
    return set_pause(cli, false, err);
}

const struct command command_pause = {
    .name = "pause",
    .usage = "Q",
    .brief = "Hand out no more jobs of a queue",
    .more = "What runs goes on, and pushing does. `later resume` ends it.\n",
    .example = "later pause mail\n",
    .min = 1,
    .max = 1,
    .run = run_pause,
};

const struct command command_resume = {
    .name = "resume",
    .usage = "Q",
    .brief = "End a pause",
    .example = "later resume mail\n",
    .min = 1,
    .max = 1,
    .run = run_resume,
};
