/* queues.c: `later queues` and `later size`. */
#include "queues.h"

#include "commands.h"
#include "jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int find_all(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    struct later_command cmd = { 0 };
    size_t count;

    if (!cli_client(cli, err))
        return -1;
    later_look_queues(&cmd, later_call_prefix(cli->client));
    list->reply = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
    if (!list->reply)
        return -1;
    count = later_reply_count(list->reply);
    list->names = calloc(count + 1, sizeof *list->names);
    if (!list->names)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    for (size_t i = 0; i < count; i++) {
        const char *name = later_reply_text(later_reply_at(list->reply, i), NULL);

        if (later_key_shard_valid(name)) /* else somebody else's words are in our set */
            list->names[list->count++] = name;
    }
    qsort(list->names, list->count, sizeof *list->names, by_name);
    return 0;
}

int queues_find(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    size_t count = (size_t)cli->args.count;

    if (count == 0)
        return find_all(cli, list, err);
    list->names = calloc(count, sizeof *list->names);
    if (!list->names)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    for (; list->count < count; list->count++)
        list->names[list->count] = cli->args.words[list->count];
    return 0;
}

void queues_free(struct queue_list *list)
{
    free(list->names);
    later_reply_free(list->reply);
    *list = (struct queue_list){ 0 };
}

int queues_size(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
                struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_look_size(&cmd, keys);
    reply = cli_call(cli, &cmd, LATER_SCRIPT_SIZE, err);
    if (!reply)
        return -1;
    later_look_sized(reply, sizes);
    later_reply_free(reply);
    return 0;
}

static void print_json(const char *queue, const struct later_sizes *sizes)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", queue);
    jsonl_int(&json, "ready", (int64_t)sizes->ready);
    jsonl_int(&json, "delayed", (int64_t)sizes->delayed);
    jsonl_int(&json, "reserved", (int64_t)sizes->reserved);
    jsonl_int(&json, "dead", (int64_t)sizes->dead);
    jsonl_bool(&json, "paused", sizes->paused);
    if (sizes->oldest_ready >= 0)
        jsonl_real(&json, "oldest_ready", sizes->oldest_ready);
    else
        jsonl_null(&json, "oldest_ready");
    jsonl_end(&json);
}

static void add_row(struct table *table, const char *queue, const struct later_sizes *sizes)
{
    table_text(table, PLAIN, queue);
    table_number(table, PLAIN, sizes->ready);
    table_number(table, PLAIN, sizes->delayed);
    table_number(table, PLAIN, sizes->reserved);
    table_number(table, sizes->dead ? RED : PLAIN, sizes->dead);
    table_text(table, sizes->paused ? YELLOW : PLAIN, sizes->paused ? "yes" : "no");
    if (sizes->oldest_ready >= 0)
        table_age(table, PLAIN, sizes->oldest_ready);
    else
        table_none(table);
}

int queues_print(struct cli *cli, const struct queue_list *list, struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", ">READY", ">DELAYED",      ">RESERVED",
                                            ">DEAD", "PAUSED", ">OLDEST READY", NULL };
    struct table table;
    int ok = 0;

    cli_table(cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < list->count; i++) {
        struct later_sizes sizes;
        struct later_keys keys;

        ok = cli_keys(cli, list->names[i], &keys, err);
        if (ok == 0)
            ok = queues_size(cli, &keys, &sizes, err);
        if (ok == 0 && cli->json)
            print_json(list->names[i], &sizes);
        else if (ok == 0)
            add_row(&table, list->names[i], &sizes);
    }
    table_end(&table);
    return ok;
}

static int run_size(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = queues_find(cli, &list, err);

    if (ok == 0)
        ok = queues_print(cli, &list, err);
    queues_free(&list);
    return ok;
}

static int run_queues(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = queues_find(cli, &list, err);

    for (size_t i = 0; ok == 0 && i < list.count; i++) {
        struct jsonl json;

        if (!cli->json) {
            puts(list.names[i]);
            continue;
        }
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", list.names[i]);
        jsonl_end(&json);
    }
    queues_free(&list);
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
        "In a pipe: queue, ready, delayed, reserved, dead, paused (yes or no), age of the oldest\n"
        "ready job in seconds; separated by TAB.\n",
    .example = "later size mail\nlater size --json\n",
    .max = -1,
    .run = run_size,
};
