/* gather.c: reads the state of all queues and daemons. */
#include "see/gather.h"

#include "status/served.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the queues --- */

static int begin_queues(struct gathered *gathered, struct later_error *err)
{
    size_t count = gathered->list.count;

    gathered->queues = calloc(count + 1, sizeof *gathered->queues);
    gathered->sized = calloc(count + 1, sizeof *gathered->sized);
    if (!gathered->queues || !gathered->sized)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    for (size_t i = 0; i < count; i++) {
        gathered->sized[i] = (struct sized){ .name = gathered->list.names[i],
                                             .totals = &gathered->queues[i].totals,
                                             .err = { .code = LATER_E_REDIS } };
        gathered->queues[i].sized = &gathered->sized[i];
    }
    return 0;
}

static int ask_queues(struct cli *cli, struct gathered *gathered, double now,
                      struct later_error *err)
{
    int ok = sizes_ask(cli, gathered->sized, gathered->list.count, false, now, err);

    for (size_t i = 0; ok == 0 && i < gathered->list.count; i++) {
        const struct sized *sized = &gathered->sized[i];

        if (sized->err.code != LATER_OK)
            ok = later_fail(err, sized->err.code, "queue %s: %s", sized->name, sized->err.text);
    }
    return ok;
}

/* --- the daemons --- */

/* What is asked for in addition to the queues. */
struct besides {
    double now;
    struct later_reply *hosts; /* owned */
    struct later_tallies *totals;
    struct later_error err; /* a refusal; code 0 = none */
};

static int by_name(const void *name, const void *other)
{
    return strcmp(name, other);
}

static struct gathered_queue *find_queue(const struct gathered *gathered, const char *name)
{
    const later_queue_name *found = bsearch(name, gathered->list.names, gathered->list.count,
                                            sizeof *gathered->list.names, by_name);

    return found ? &gathered->queues[found - gathered->list.names] : NULL;
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

static void add_hosts(struct gathered *gathered, const struct besides *besides)
{
    for (size_t i = 1; i < later_reply_count(besides->hosts); i += 2) {
        size_t len;
        const char *text = later_reply_text(later_reply_at(besides->hosts, i), &len);
        json_t *host = json_loadb(text, len, 0, NULL);

        add_host(gathered, host, besides->now);
        json_decref(host);
    }
}

static bool is_refused(struct besides *besides, const struct later_answer *answer)
{
    struct later_error err;

    if (later_call_check(answer, &err) == 0)
        return false;
    besides->err = err;
    return true;
}

static void take_time(void *arg, struct later_answer *answer)
{
    struct besides *besides = arg;

    if (!is_refused(besides, answer))
        besides->now = later_inspect_timed(answer->reply);
}

static void take_hosts(void *arg, struct later_answer *answer)
{
    struct besides *besides = arg;

    if (is_refused(besides, answer))
        return;
    besides->hosts = answer->reply;
    answer->reply = NULL; /* now owned by us */
}

static void take_totals(void *arg, struct later_answer *answer)
{
    struct besides *besides = arg;

    if (!is_refused(besides, answer))
        later_history_read(besides->totals, answer->reply);
}

static int ask_besides(struct cli *cli, struct besides *besides, struct later_error *err)
{
    struct later_command time = { 0 }, hosts = { 0 }, totals = { 0 };
    struct later_keys keys;

    later_inspect_time(&time);
    later_inspect_hosts(&hosts, later_call_prefix(cli->client));
    later_history_besides(&keys, later_call_prefix(cli->client));
    later_history_ask_totals(&totals, &keys);
    if (later_call_add(cli->client, &time, take_time, besides, err) < 0 ||
        later_call_add(cli->client, &hosts, take_hosts, besides, err) < 0 ||
        later_call_add(cli->client, &totals, take_totals, besides, err) < 0) {
        later_command_free(&hosts);
        later_command_free(&totals);
        later_call_abort(cli->client);
        return -1;
    }
    return later_call_drain(cli->client, 0, err);
}

/* --- all of it --- */

static int ask_all(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    struct besides besides = { .totals = &gathered->besides };
    int ok = ask_besides(cli, &besides, err);

    if (ok == 0)
        ok = ask_queues(cli, gathered, besides.now, err);
    add_hosts(gathered, &besides);
    later_reply_free(besides.hosts);
    if (ok == 0 && besides.err.code != LATER_OK) {
        *err = besides.err;
        ok = -1;
    }
    return ok;
}

int gather(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    if (!cli_client(cli, err) || queue_list_find(cli, &gathered->list, err) < 0 ||
        begin_queues(gathered, err) < 0)
        return -1;
    return ask_all(cli, gathered, err);
}

void gather_free(struct gathered *gathered)
{
    for (size_t i = 0; gathered->queues && i < gathered->list.count; i++)
        later_tallies_free(&gathered->queues[i].totals);
    later_tallies_free(&gathered->besides);
    free(gathered->queues);
    free(gathered->sized);
    queue_list_free(&gathered->list);
}
