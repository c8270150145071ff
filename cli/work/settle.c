/* settle.c: `later ack`, `release`, `return`, `bury`, `touch`. */
#include "commands.h"
#include "output/jsonl.h"
#include "work/settle.h"
#include "work/take.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool settle_is_token(const char *token)
{
    return strlen(token) == LATER_TOKEN_LEN &&
           strspn(token, "0123456789abcdefghijklmnopqrstuvwxyz") == LATER_TOKEN_LEN;
}

static void tell(const struct cli *cli, enum later_verb verb, const char *id)
{
    struct jsonl json;

    if (!cli->json)
        return;
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", cli->args.words[0]);
    jsonl_text(&json, "id", id);
    jsonl_text(&json, "result", later_verb_past(verb));
    jsonl_end(&json);
}

/* Asks one part after the other. The job is only LOST if all parts say so. */
static int settle_somewhere(struct cli *cli, enum later_verb verb, double lease,
                            const struct later_settlement *settlement, struct later_error *err)
{
    const struct later_keys *parts[LATER_WHOLE_MAX];
    struct whole whole;
    size_t count;
    int result = LATER_E_TOKEN;

    if (whole_find(cli, cli->args.words[0], &whole, err) < 0)
        return -1;
    count = whole_parts(&whole, settlement->id, parts);
    for (size_t i = 0; i < count && result == LATER_E_TOKEN; i++)
        result = take_settle(cli, parts[i], verb, lease, settlement, err);
    return result;
}

static int settle(struct cli *cli, enum later_verb verb, double lease,
                  struct later_settlement *settlement, struct later_error *err)
{
    struct later_keys keys;
    int result = LATER_E_TOKEN;

    if (cli_keys(cli, cli->args.words[0], &keys, err) < 0)
        return -1;
    settlement->id = cli->args.words[1];
    settlement->token = cli->args.words[2];
    if (settle_is_token(settlement->token)) /* a word that cannot be a token owns nothing */
        result = settle_somewhere(cli, verb, lease, settlement, err);
    if (result < 0)
        return -1;
    if (result == LATER_E_TOKEN)
        return later_fail(err, LATER_E_TOKEN, "%s: this token is not, or no longer, its owner",
                          settlement->id);
    tell(cli, verb, settlement->id);
    return LATER_OK;
}

/* Runs release, return or bury, with their --in and --error. */
static int settle_with(struct cli *cli, enum later_ending ending, struct later_error *err)
{
    enum later_verb verb = later_endings[ending].verb;
    const char *text = later_endings[ending].kind ? args_text(&cli->args, "error") : NULL;
    struct later_settlement settlement = { 0 };
    char *error = NULL;
    int result;

    if (verb != LATER_VERB_BURY && cli_duration(cli, "in", &settlement.wait, err) < 0)
        return -1;
    /* Otherwise an earlier failure would appear as the reason. */
    if (verb == LATER_VERB_BURY && !text)
        text = "by hand";
    if (text && !(error = take_error(ending, text)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    settlement.error = error;
    result = settle(cli, verb, 0, &settlement, err);
    free(error);
    return result;
}

static int run_ack(struct cli *cli, struct later_error *err)
{
    struct later_settlement settlement = { 0 };

    return settle(cli, LATER_VERB_ACK, 0, &settlement, err);
}

static int run_release(struct cli *cli, struct later_error *err)
{
    return settle_with(cli, LATER_ENDED_RETRY, err);
}

static int run_return(struct cli *cli, struct later_error *err)
{
    return settle_with(cli, LATER_ENDED_HELD, err);
}

int settle_bury(struct cli *cli, struct later_error *err)
{
    return settle_with(cli, LATER_ENDED_BURY, err);
}

static int run_touch(struct cli *cli, struct later_error *err)
{
    struct later_settlement settlement = { 0 };
    double lease;

    if (take_lease(cli, &lease, err) < 0)
        return -1;
    return settle(cli, LATER_VERB_TOUCH, lease, &settlement, err);
}

static const struct args_option release_options[] = {
    { "in", 0, "DURATION", "ready again after this time (0)" },
    { "error", 0, "TEXT", "why; shown by `later show`" },
    { 0 },
};
static const struct args_option return_options[] = {
    { "in", 0, "DURATION", "ready again after this time (0)" },
    { 0 },
};
static const struct args_option touch_options[] = {
    { "lease", 'l', "DURATION", "how long the reservation holds from now on (30)" },
    { 0 },
};

#define LOST_TEXT "If the token does not, or no longer, own the job, nothing changes: status 77.\n"

const struct command command_ack = {
    .name = "ack",
    .usage = "Q ID TOKEN",
    .brief = "End a reserved job: it is done",
    .more = LOST_TEXT,
    .example = "later ack mail order-1138 0k3v9x2m5t8w1q7z\n",
    .min = 3,
    .max = 3,
    .run = run_ack,
};

const struct command command_release = {
    .name = "release",
    .usage = "Q ID TOKEN [--in DURATION] [--error TEXT]",
    .brief = "End an attempt that failed: the job is ready again, now or later",
    .more = LOST_TEXT,
    .example = "later release mail order-1138 0k3v9x2m5t8w1q7z --in 5m --error 'smtp: 421'\n",
    .options = release_options,
    .min = 3,
    .max = 3,
    .run = run_release,
};

const struct command command_return = {
    .name = "return",
    .usage = "Q ID TOKEN [--in DURATION]",
    .brief = "Give a job back; no attempt is counted",
    .more = LOST_TEXT,
    .example = "later return mail order-1138 0k3v9x2m5t8w1q7z\n",
    .options = return_options,
    .min = 3,
    .max = 3,
    .run = run_return,
};

const struct command command_touch = {
    .name = "touch",
    .usage = "Q ID TOKEN [--lease DURATION]",
    .brief = "Renew the lease of a reserved job",
    .more = LOST_TEXT,
    .example = "later touch mail order-1138 0k3v9x2m5t8w1q7z\n",
    .options = touch_options,
    .min = 3,
    .max = 3,
    .run = run_touch,
};
