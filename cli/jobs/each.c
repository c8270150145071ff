/* each.c: one verb for jobs given by id. */
#include "jobs/each.h"
#include "output/jsonl.h"
#include "whole.h"

#include <stdio.h>
#include <string.h>

int each_call(struct cli *cli, struct later_command *cmd, char was[EACH_STATE],
              struct later_error *err)
{
    struct later_reply *reply = cli_call_once(cli, cmd, err);

    snprintf(was, EACH_STATE, "%.15s", later_reply_text(later_reply_at(reply, 0), NULL));
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* Tries one part after the other. */
static int act(struct cli *cli, const struct each_verb *verb, const struct whole *whole,
               const char *id, const char *error, char was[EACH_STATE], struct later_error *err)
{
    const struct later_keys *parts[LATER_WHOLE_MAX];
    size_t count = whole_parts(whole, id, parts);
    int ok = 0;

    was[0] = '\0';
    for (size_t i = 0; ok == 0 && !*was && i < count; i++)
        ok = verb->fn(cli, parts[i], id, error, was, err);
    return ok;
}

static void print_json(const struct each_verb *verb, const char *queue, const char *id,
                       const char *was)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", queue);
    jsonl_text(&json, "id", id);
    jsonl_text(&json, "result",
               verb->freed && strcmp(was, "ended") == 0 ? verb->freed : verb->done);
    jsonl_text(&json, "state", was);
    jsonl_end(&json);
}

static int act_and_tell(struct cli *cli, const struct each_verb *verb, struct table *table,
                        const struct whole *whole, const char *id, const char *error,
                        struct later_error *err)
{
    char was[EACH_STATE];

    if (act(cli, verb, whole, id, error, was, err) < 0)
        return -1;
    if (!*was) {
        cli_say(cli, "%s %s in queue %s", verb->none, id, whole->name);
        return LATER_E_NONE;
    }
    if (cli->json) {
        print_json(verb, whole->name, id, was);
    } else {
        table_text(table, PLAIN, id);
        table_text(table, PLAIN, was);
    }
    return LATER_OK;
}

int each_run(struct cli *cli, const struct each_verb *verb, const char *error,
             struct later_error *err)
{
    const char *const headings[] = { verb->heading, "WAS", NULL };
    struct whole whole;
    struct table table;
    int status = LATER_OK;

    if (cli->args.count == 0)
        return later_fail(err, LATER_E_USAGE, "ID is missing");
    if (whole_find(cli, cli_queue(cli), &whole, err) < 0)
        return -1;
    cli_table(cli, &table, headings);
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = act_and_tell(cli, verb, &table, &whole, cli->args.words[i], error, err);

        status = one != LATER_OK ? one : status;
    }
    table_end(&table);
    return status;
}
