/* queues.c: `later queues`, and the sizes of one queue. */
#include "jobs/queues.h"

#include "commands.h"
#include "output/jsonl.h"
#include "sizes.h"

#include <stdio.h>

/* --- sizes --- */

int queues_size(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
                struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_inspect_size(&cmd, keys);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    later_inspect_sized(reply, sizes);
    later_reply_free(reply);
    return 0;
}

int queues_size_whole(struct cli *cli, const struct whole *whole,
                      struct later_sizes each[LATER_WHOLE_MAX], struct later_sizes *sum,
                      struct later_error *err)
{
    size_t paused = 0;

    *sum = (struct later_sizes){ .oldest_ready = -1 };
    for (size_t i = 0; i < whole->count; i++) {
        struct later_sizes part;

        if (queues_size(cli, &whole->parts[i], &part, err) < 0)
            return -1;
        sizes_add(sum, &part);
        paused += part.paused;
        if (each)
            each[i] = part;
    }
    sum->paused = paused == whole->count;
    return (int)paused;
}

/* --- the command --- */

static int print_name(struct cli *cli, const char *queue, struct later_error *err)
{
    struct later_plan plan;
    struct jsonl json;

    if (!cli->json) {
        puts(queue);
        return 0;
    }
    if (later_call_ask_plan(cli->client, queue, &plan, err) < 0)
        return -1;
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", queue);
    if (plan.count > 1)
        jsonl_int(&json, "shards", plan.count);
    jsonl_end(&json);
    return 0;
}

static int run_queues(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = queue_list_find(cli, &list, err);

    for (size_t i = 0; ok == 0 && i < list.count; i++)
        ok = print_name(cli, list.names[i], err);
    queue_list_free(&list);
    return ok;
}

const struct command command_queues = {
    .name = "queues",
    .usage = "",
    .brief = "List the queues that have ever been pushed to",
    .example = "later queues\n",
    .run = run_queues,
};
