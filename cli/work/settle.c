/* settle.c: `later ack`, `release`, `touch`, and `bury` with a token. */
#include "work/settle.h"

#include "commands.h"
#include "jobs/each.h"
#include "work/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is done to each of the jobs. */
struct settle {
    enum later_verb verb;
    double lease;                /* touch */
    struct later_settlement how; /* its id is set job by job */
};

static bool is_token(const char *token)
{
    return strlen(token) == LATER_TOKEN_LEN &&
           strspn(token, "0123456789abcdefghijklmnopqrstuvwxyz") == LATER_TOKEN_LEN;
}

/* Settles the job in one part, if the token owns it there. */
static int settle_in(struct cli *cli, const struct later_keys *keys, const char *id,
                     const void *arg, char was[EACH_STATE], struct later_error *err)
{
    const struct settle *settle = arg;
    struct later_settlement how = settle->how;
    int result = LATER_E_TOKEN;

    how.id = id;
    if (is_token(how.token)) /* a word that cannot be a token owns nothing */
        result = take_settle(cli, keys, settle->verb, settle->lease, &how, err);
    if (result == LATER_OK)
        snprintf(was, EACH_STATE, "%s", later_key_name(LATER_KEY_RESERVED));
    return result < 0 ? -1 : 0;
}

static int settle_run(struct cli *cli, struct settle *settle, struct later_error *err)
{
    const struct each_verb each = { .done = later_verb_past(settle->verb),
                                    .none = "this token is not, or no longer, the owner of job",
                                    .missing = LATER_E_TOKEN,
                                    .fn = settle_in };

    settle->how.token = args_text(&cli->args, "token");
    if (!settle->how.token)
        return later_fail(err, LATER_E_USAGE, "--token is missing: `later reserve` printed it");
    return each_run(cli, &each, settle, err);
}

/* Runs release or bury, with the text of --error. */
static int settle_ended(struct cli *cli, struct settle *settle, enum later_ending ending,
                        const char *text, struct later_error *err)
{
    char *error = NULL;
    int status;

    settle->verb = later_endings[ending].verb;
    if (text && !(error = take_error(ending, text)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    settle->how.error = error;
    status = settle_run(cli, settle, err);
    free(error);
    return status;
}

int settle_bury(struct cli *cli, struct later_error *err)
{
    const char *text = args_text(&cli->args, "error");
    struct settle settle = { 0 };

    /* Without a text an earlier failure would appear as the reason. */
    return settle_ended(cli, &settle, LATER_ENDED_BURY, text ? text : "by hand", err);
}

static int settle_run_ack(struct cli *cli, struct later_error *err)
{
    return settle_run(cli, &(struct settle){ .verb = LATER_VERB_ACK }, err);
}

static int settle_run_release(struct cli *cli, struct later_error *err)
{
    bool uncounted = args_flag(&cli->args, "uncounted");
    const char *text = args_text(&cli->args, "error");
    struct settle settle = { 0 };

    if (uncounted && text)
        return later_fail(err, LATER_E_USAGE,
                          "--uncounted: the attempt has not failed, so there is no --error");
    if (cli_duration(cli, "in", &settle.how.wait, err) < 0)
        return -1;
    return settle_ended(cli, &settle, uncounted ? LATER_ENDED_HELD : LATER_ENDED_RETRY, text, err);
}

static int settle_run_touch(struct cli *cli, struct later_error *err)
{
    struct settle settle = { .verb = LATER_VERB_TOUCH };

    return take_lease(cli, &settle.lease, err) < 0 ? -1 : settle_run(cli, &settle, err);
}

#define SETTLE_OPTIONS                                                                             \
    { "token", 0, "T", "the token that owns them, as `later reserve` printed it" },                \
    {                                                                                              \
        "queue", 'q', "Q", "of this queue (any)"                                                   \
    }

static const struct args_option ack_options[] = {
    SETTLE_OPTIONS,
    { 0 },
};
static const struct args_option release_options[] = {
    SETTLE_OPTIONS,
    { "in", 0, "DURATION", "ready again after this time (0)" },
    { "error", 0, "TEXT", "why; shown by `later show`" },
    { "uncounted", 0, NULL, "give them back: no attempt is counted" },
    { 0 },
};
static const struct args_option touch_options[] = {
    SETTLE_OPTIONS,
    { "lease", 'l', "DURATION", "how long the reservation holds from now on (30)" },
    { 0 },
};

#define LOST_TEXT "A job that the token does not, or no longer, own is left alone: status 77.\n"

const struct command command_ack = {
    .name = "ack",
    .usage = "ID... --token T [-q Q]",
    .brief = "End reserved jobs: they are done",
    .more = LOST_TEXT,
    .example = "later ack order-1138 --token 0k3v9x2m5t8w1q7z\n",
    .options = ack_options,
    .min = 1,
    .max = -1,
    .run = settle_run_ack,
};

const struct command command_release = {
    .name = "release",
    .usage = "ID... --token T [-q Q] [--in DURATION] [--error TEXT | --uncounted]",
    .brief = "End an attempt that failed: the job is ready again, now or later",
    .more = LOST_TEXT,
    .example = "later release order-1138 --token 0k3v9x2m5t8w1q7z --in 5m --error 'smtp: 421'\n"
               "later release order-1138 --token 0k3v9x2m5t8w1q7z --uncounted\n",
    .options = release_options,
    .min = 1,
    .max = -1,
    .run = settle_run_release,
};

const struct command command_touch = {
    .name = "touch",
    .usage = "ID... --token T [-q Q] [--lease DURATION]",
    .brief = "Renew the lease of reserved jobs",
    .more = LOST_TEXT,
    .example = "later touch order-1138 --token 0k3v9x2m5t8w1q7z\n",
    .options = touch_options,
    .min = 1,
    .max = -1,
    .run = settle_run_touch,
};
