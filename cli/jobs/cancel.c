/* cancel.c: `later cancel`. */
#include "commands.h"
#include "output/jsonl.h"
#include "jobs/many.h"
#include "jobs/members.h"
#include "queue/queue.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 3 /* a job may change hands between the search and the call */

/* One call; token: under which it is reserved, or "". *state (16 bytes) gets the state it had, ""
 * where nothing was cancelled. */
static int cancel_as(struct cli *cli, const struct later_keys *keys, const char *id,
                     const char *token, char state[16], struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_queue_cancel(&cmd, keys, token, &id, 1);
    reply = cli_call_once(cli, &cmd, LATER_SCRIPT_CANCEL, err);
    if (!reply)
        return -1;
    snprintf(state, 16, "%.15s", later_reply_text(later_reply_at(reply, 0), NULL));
    later_reply_free(reply);
    return 0;
}

static int cancel_in(struct cli *cli, const struct later_keys *keys, const char *id, char state[16],
                     struct later_error *err)
{
    int ok = cancel_as(cli, keys, id, "", state, err);

    for (int i = 0; ok == 0 && !*state && i < TRIES; i++) {
        char token[LATER_TOKEN_LEN + 1];

        ok = members_token_of(cli, keys, id, token, err);
        if (ok == 0)
            ok = cancel_as(cli, keys, id, token, state, err);
    }
    return ok;
}

/* In one place after the other. */
static int cancel(struct cli *cli, const struct whole *whole, const char *id, char state[16],
                  struct later_error *err)
{
    const struct later_keys *places[LATER_WHOLE_MAX];
    size_t count = whole_places(whole, id, places);
    int ok = 0;

    state[0] = '\0';
    for (size_t i = 0; ok == 0 && !*state && i < count; i++)
        ok = cancel_in(cli, places[i], id, state, err);
    return ok;
}

static int cancel_and_tell(struct cli *cli, struct table *table, const struct whole *whole,
                           const char *id, struct later_error *err)
{
    struct jsonl json;
    char state[16];

    if (cancel(cli, whole, id, state, err) < 0)
        return -1;
    if (!*state) {
        cli_say(cli, "no job %s in queue %s", id, whole->name);
        return LATER_E_NONE;
    }
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", whole->name);
        jsonl_text(&json, "id", id);
        jsonl_text(&json, "result", strcmp(state, "ended") == 0 ? "freed" : "cancelled");
        jsonl_text(&json, "state", state);
        jsonl_end(&json);
    } else {
        table_text(table, PLAIN, id);
        table_text(table, PLAIN, state);
    }
    return LATER_OK;
}

static const struct many_verb verb = {
    .name = "cancel",
    .done = "cancelled",
    .ask = "Cancel",
    .ask_end = " for good",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED, LATER_KEY_DEAD },
    .set_count = 4,
};

static int run(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "CANCELLED", "WAS", NULL };
    struct whole whole;
    struct table table;
    int status = LATER_OK;

    if (choose_is_asked(cli)) {
        choose_take_queue(cli);
        return many_run(cli, &verb, err);
    }
    if (cli->args.count == 0)
        return later_fail(err, LATER_E_USAGE, "ID is missing");
    if (whole_find(cli, cli_queue(cli), &whole, err) < 0)
        return -1;
    cli_table(cli, &table, headings);
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = cancel_and_tell(cli, &table, &whole, cli->args.words[i], err);

        status = one != LATER_OK ? one : status;
    }
    table_end(&table);
    return status;
}

static const struct args_option options[] = {
    { "queue", 'q', "Q", "of this queue (default)" },
    MANY_OPTIONS,
    { 0 },
};

const struct command command_cancel = {
    .name = "cancel",
    .usage = "ID... [-q Q] | Q CONDITIONS | --all-queues CONDITIONS",
    .brief = "Drop jobs, whatever their state",
    .more = "Of a job that runs the reservation is withdrawn: its handler is told, and its result\n"
            "is refused. An id that --unique-for keeps taken after its job is free from then on.\n"
            "In a pipe: id, the state that the job had; of many the number of jobs.\n" MANY_MORE,
    .example = "later cancel order-1138 -q mail\n"
               "later cancel mail --where payload.tenant=42 --dry-run\n",
    .options = options,
    .max = -1,
    .run = run,
};
