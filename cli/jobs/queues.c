/* queues.c: `later queues` and `later size`. */
#include "jobs/queues.h"

#include "commands.h"
#include "output/jsonl.h"

#include <math.h>
#include <stdio.h>

/* --- sizes --- */

int queues_size(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
                struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_inspect_size(&cmd, keys);
    reply = cli_call(cli, &cmd, LATER_SCRIPT_SIZE, err);
    if (!reply)
        return -1;
    later_inspect_sized(reply, sizes);
    later_reply_free(reply);
    return 0;
}

static void add_sizes(struct later_sizes *sum, const struct later_sizes *part)
{
    sum->ready += part->ready;
    sum->delayed += part->delayed;
    sum->reserved += part->reserved;
    sum->dead += part->dead;
    sum->jobs += part->jobs;
    sum->oldest_ready = fmax(sum->oldest_ready, part->oldest_ready);
    for (int i = 0; i < LATER_COUNTERS; i++)
        sum->counters[i] += part->counters[i];
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
        add_sizes(sum, &part);
        paused += part.paused;
        if (each)
            each[i] = part;
    }
    sum->paused = paused == whole->count;
    return (int)paused;
}

/* --- printing --- */

static void print_json(const struct whole *whole, const struct later_sizes *sizes, bool partly)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", whole->name);
    jsonl_int(&json, "ready", (int64_t)sizes->ready);
    jsonl_int(&json, "delayed", (int64_t)sizes->delayed);
    jsonl_int(&json, "reserved", (int64_t)sizes->reserved);
    jsonl_int(&json, "dead", (int64_t)sizes->dead);
    jsonl_bool(&json, "paused", sizes->paused);
    if (sizes->oldest_ready >= 0)
        jsonl_real(&json, "oldest_ready", sizes->oldest_ready);
    else
        jsonl_null(&json, "oldest_ready");
    if (whole->shards > 1)
        jsonl_int(&json, "shards", whole->shards);
    if (partly)
        jsonl_bool(&json, "partly_paused", true);
    jsonl_end(&json);
}

static void add_row(struct table *table, const struct whole *whole, const struct later_sizes *sizes,
                    bool partly)
{
    const char *paused = sizes->paused ? "yes" : partly ? "partly" : "no";

    table_text(table, PLAIN, whole->name);
    table_number(table, PLAIN, sizes->ready);
    table_number(table, PLAIN, sizes->delayed);
    table_number(table, PLAIN, sizes->reserved);
    table_number(table, sizes->dead ? RED : PLAIN, sizes->dead);
    table_text(table, sizes->paused || partly ? YELLOW : PLAIN, paused);
    if (sizes->oldest_ready >= 0)
        table_age(table, PLAIN, sizes->oldest_ready);
    else
        table_none(table);
}

static int print_queue(struct cli *cli, struct table *table, const char *queue,
                       struct later_error *err)
{
    struct later_sizes sizes;
    struct whole whole;
    int paused = whole_find(cli, queue, &whole, err);

    if (paused == 0)
        paused = queues_size_whole(cli, &whole, NULL, &sizes, err);
    if (paused < 0)
        return -1;
    if (cli->json)
        print_json(&whole, &sizes, paused > 0 && !sizes.paused);
    else
        add_row(table, &whole, &sizes, paused > 0 && !sizes.paused);
    return 0;
}

int queues_print(struct cli *cli, const struct queue_list *list, struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", ">READY", ">DELAYED",      ">RESERVED",
                                            ">DEAD", "PAUSED", ">OLDEST READY", NULL };
    struct table table;
    int ok = 0;

    cli_table(cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < list->count; i++)
        ok = print_queue(cli, &table, list->names[i], err);
    table_end(&table);
    return ok;
}

/* --- the commands --- */

static int run_size(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = queue_list_find(cli, &list, err);

    if (ok == 0)
        ok = queues_print(cli, &list, err);
    queue_list_free(&list);
    return ok;
}

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
    .brief = "List the queues that were ever pushed to",
    .example = "later queues\n",
    .run = run_queues,
};

const struct command command_size = {
    .name = "size",
    .usage = "[Q...]",
    .brief = "Count the jobs of queues, by state",
    .more =
        "In a pipe: queue, ready, delayed, reserved, dead, paused (yes, no or, where only some of\n"
        "its shards are, partly), age of the oldest ready job in seconds; separated by TAB.\n",
    .example = "later size mail\nlater size --json\n",
    .max = -1,
    .run = run_size,
};
