/* gather.c: the state of all queues and daemons. */
#include "see/gather.h"

#include "status/served.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 200 /* queues asked about in one round trip */

const char *const gather_counters[GATHER_COUNTERS] = {
    "pushed", "adopted", "duplicate", "replaced", "done",    "released", "returned", "buried",
    "kicked", "expired", "cancelled", "purged",   "trimmed", "lapsed",   "refused",
};

/* --- a queue --- */

static bool fails(struct gathered_queue *queue, const struct later_answer *answer, int script)
{
    struct later_error err;

    if (later_call_check(answer, script, &err) == 0)
        return false;
    queue->failed = true;
    return true;
}

static void take_totals(void *arg, struct later_answer *answer)
{
    struct gathered_queue *queue = arg;

    if (!fails(queue, answer, LATER_NO_SCRIPT))
        later_history_read(&queue->totals, answer->reply);
}

static void take_size(void *arg, struct later_answer *answer)
{
    struct gathered_queue *queue = arg;
    struct later_sizes part;

    if (fails(queue, answer, LATER_SCRIPT_SIZE))
        return;
    later_inspect_sized(answer->reply, &part);
    queue->sizes.ready += part.ready;
    queue->sizes.delayed += part.delayed;
    queue->sizes.reserved += part.reserved;
    queue->sizes.dead += part.dead;
    queue->sizes.oldest_ready = fmax(queue->sizes.oldest_ready, part.oldest_ready);
    if (queue->parts++ == 0) /* the plain queue comes before its shards */
        queue->plan = later_inspect_planned(answer->reply);
    queue->paused += part.paused;
    for (size_t i = 0; i < GATHER_COUNTERS; i++)
        queue->counters[i] += later_inspect_counted(answer->reply, gather_counters[i]);
}

static int ask_size(struct cli *cli, struct gathered_queue *queue, const char *name,
                    struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    if (cli_keys(cli, name, &keys, err) < 0)
        return -1;
    later_inspect_size(&cmd, &keys);
    return later_call_begin(cli->client, &cmd, LATER_SCRIPT_SIZE, take_size, queue, err);
}

static int ask_queue(struct cli *cli, struct gathered_queue *queue, struct later_error *err)
{
    struct later_command totals = { 0 };
    struct later_keys keys;

    if (cli_keys(cli, queue->name, &keys, err) < 0)
        return -1;
    later_history_ask_totals(&totals, &keys);
    if (later_call_begin(cli->client, &totals, LATER_NO_SCRIPT, take_totals, queue, err) < 0)
        return -1;
    return ask_size(cli, queue, queue->name, err);
}

static int ask_shards(struct cli *cli, struct gathered_queue *queue, struct later_error *err)
{
    later_queue_name names[LATER_WHOLE_MAX];
    size_t count = later_shards_all(queue->name, later_plan_span(&queue->plan), names);

    for (size_t i = 1; i < count; i++) {
        if (ask_size(cli, queue, names[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Some queues, each by one of the two above. */
static int ask_together(struct cli *cli, struct gathered_queue *queues, size_t count,
                        int (*ask)(struct cli *cli, struct gathered_queue *queue,
                                   struct later_error *err),
                        struct later_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (ask(cli, &queues[i], err) < 0) {
            later_call_abort(cli->client); /* nothing comes back to those before */
            return -1;
        }
    }
    return later_call_drain(cli->client, 0, err);
}

static int ask_queues(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; i < gathered->list.count; i++) {
        gathered->queues[i].name = gathered->list.names[i];
        gathered->queues[i].sizes.oldest_ready = -1;
        gathered->queues[i].failed = true;
    }
    for (size_t i = 0; ok == 0 && i < gathered->list.count; i += TOGETHER) {
        size_t left = gathered->list.count - i, count = left < TOGETHER ? left : TOGETHER;

        for (size_t n = i; n < i + count; n++)
            gathered->queues[n].failed = false;
        ok = ask_together(cli, &gathered->queues[i], count, ask_queue, err);
        if (ok == 0)
            ok = ask_together(cli, &gathered->queues[i], count, ask_shards, err);
    }
    for (size_t i = 0; ok == 0 && i < gathered->list.count; i++) {
        if (gathered->queues[i].failed)
            ok = later_fail(err, LATER_E_REDIS, "queue %s: Redis does not answer, or refuses",
                            gathered->list.names[i]);
    }
    return ok;
}

/* --- the daemons --- */

static struct gathered_queue *find_queue(const struct gathered *gathered, const char *name)
{
    for (size_t i = 0; i < gathered->list.count; i++) {
        if (strcmp(gathered->list.names[i], name) == 0)
            return &gathered->queues[i];
    }
    return NULL;
}

static uint64_t count_of(const json_t *number)
{
    double value = json_number_value(number);

    return value > 0 && value < 9e15 ? (uint64_t)value : 0;
}

static void add_host(struct gathered *gathered, json_t *host, double now)
{
    const char *name;
    json_t *count;

    if (!json_is_object(host) ||
        now - json_number_value(json_object_get(host, "seen")) > SERVED_GONE_AFTER)
        return;
    gathered->hosts++;
    gathered->workers += count_of(json_object_get(host, "workers"));
    gathered->running += count_of(json_object_get(host, "running"));
    json_object_foreach(json_object_get(host, "runs"), name, count)
    {
        struct gathered_queue *queue = find_queue(gathered, name);

        if (queue)
            queue->running += count_of(count);
    }
}

static int ask_hosts(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    struct later_command time = { 0 }, hosts = { 0 };
    struct later_reply *reply;
    double now;

    later_inspect_time(&time);
    reply = cli_call(cli, &time, LATER_NO_SCRIPT, err);
    if (!reply)
        return -1;
    now = later_inspect_timed(reply);
    later_reply_free(reply);
    later_inspect_hosts(&hosts, later_call_prefix(cli->client));
    reply = cli_call(cli, &hosts, LATER_NO_SCRIPT, err);
    for (size_t i = 1; i < later_reply_count(reply); i += 2) {
        size_t len;
        const char *text = later_reply_text(later_reply_at(reply, i), &len);
        json_t *host = json_loadb(text, len, 0, NULL);

        add_host(gathered, host, now);
        json_decref(host);
    }
    later_reply_free(reply);
    return reply ? 0 : -1;
}

static int ask_besides(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    later_history_besides(&keys, later_call_prefix(cli->client));
    later_history_ask_totals(&cmd, &keys);
    reply = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
    later_history_read(&gathered->besides, reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

int gather(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    if (!cli_client(cli, err) || queue_list_find(cli, &gathered->list, err) < 0)
        return -1;
    gathered->queues = calloc(gathered->list.count + 1, sizeof *gathered->queues);
    if (!gathered->queues)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (ask_queues(cli, gathered, err) < 0 || ask_besides(cli, gathered, err) < 0)
        return -1;
    return ask_hosts(cli, gathered, err);
}

void gather_free(struct gathered *gathered)
{
    for (size_t i = 0; gathered->queues && i < gathered->list.count; i++)
        later_tallies_free(&gathered->queues[i].totals);
    later_tallies_free(&gathered->besides);
    free(gathered->queues);
    queue_list_free(&gathered->list);
}
