/* gather.c: reads the state of all queues and daemons. */
#include "see/gather.h"

#include "status/hosts.h"

#include <stdlib.h>

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

static int ask_queues(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    double now;
    int ok = cli_clock(cli, &now, err);

    if (ok == 0)
        ok = sizes_ask(cli, gathered->sized, gathered->list.count, false, now, err);
    for (size_t i = 0; ok == 0 && i < gathered->list.count; i++) {
        const struct sized *sized = &gathered->sized[i];

        if (sized->err.code != LATER_OK)
            ok = later_fail(err, sized->err.code, "queue %s: %s", sized->name, sized->err.text);
    }
    return ok;
}

static int ask_groups(struct cli *cli, struct gathered_queue *queue, struct later_error *err)
{
    struct whole *whole = malloc(sizeof *whole);
    int ok = whole ? whole_find(cli, queue->sized->name, whole, err)
                   : later_fail(err, LATER_E_SYSTEM, "no memory");

    if (ok == 0)
        ok = groups_count(cli, whole, &queue->groups, err);
    if (queue->groups.count > GATHER_GROUPS)
        queue->groups.count = GATHER_GROUPS;
    free(whole);
    return ok;
}

/* Of queues in which jobs of groups are ready. */
static int ask_shared(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    size_t left = GATHER_SHARED;
    int ok = 0;

    for (size_t i = 0; ok == 0 && left && i < gathered->list.count; i++) {
        if (!gathered->sized[i].fair)
            continue;
        ok = ask_groups(cli, &gathered->queues[i], err);
        left--;
    }
    return ok;
}

/* The first ones, in the order of the queues' names, so that they stay the same ones. */
static void choose_histograms(struct gathered *gathered)
{
    size_t left = GATHER_HISTOGRAMS_MAX;

    for (size_t i = 0; i < gathered->list.count; i++) {
        struct gathered_queue *queue = &gathered->queues[i];

        queue->histograms = queue->totals.count < left ? queue->totals.count : left;
        left -= queue->histograms;
        gathered->left_out += queue->totals.count - queue->histograms;
    }
}

/* --- the daemons --- */

static void add_hosts(struct gathered *gathered, const struct served *served)
{
    struct host *hosts;
    size_t count = hosts_list(served, &hosts);

    for (size_t i = 0; i < count; i++) {
        if (hosts[i].gone)
            continue;
        gathered->hosts++;
        gathered->workers += hosts[i].workers;
    }
    free(hosts);
    for (size_t i = 0; i < gathered->list.count; i++)
        gathered->queues[i].running = served_running(served, gathered->list.names[i]);
}

static int ask_hosts(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    struct served *served = served_read(cli, err);

    if (served)
        add_hosts(gathered, served);
    served_free(served);
    return served ? 0 : -1;
}

/* --- all of it --- */

static int ask_besides(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    later_history_besides(&keys, later_call_prefix(cli->client));
    later_history_ask_totals(&cmd, &keys);
    reply = cli_call(cli, &cmd, err);
    if (reply)
        later_history_read(&gathered->besides, reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* Without the right to read later:hosts, all else is still read. */
int gather(struct cli *cli, struct gathered *gathered, struct later_error *err)
{
    struct later_error why;
    bool denied;

    if (queue_list_find(cli, &gathered->list, err) < 0 || begin_queues(gathered, err) < 0)
        return -1;
    denied = ask_hosts(cli, gathered, &why) < 0;
    if (denied && why.code != LATER_E_TOKEN) {
        *err = why;
        return -1;
    }
    if (ask_queues(cli, gathered, err) < 0 || ask_shared(cli, gathered, err) < 0 ||
        ask_besides(cli, gathered, err) < 0)
        return -1;
    choose_histograms(gathered);
    if (denied)
        *err = why;
    return denied ? -1 : 0;
}

void gather_free(struct gathered *gathered)
{
    for (size_t i = 0; gathered->queues && i < gathered->list.count; i++) {
        later_tallies_free(&gathered->queues[i].totals);
        groups_free(&gathered->queues[i].groups);
    }
    later_tallies_free(&gathered->besides);
    free(gathered->queues);
    free(gathered->sized);
    queue_list_free(&gathered->list);
}
