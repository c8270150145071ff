/* trouble_look.c: reads what trouble.h decides on, of daemons and of Redis. */
#include "history/history.h"
#include "queue/lost.h"
#include "status/trouble_queues.h"
#include "text.h"

#include <stdlib.h>

#define JOBS 10 /* of a host that are looked at */

/* --- daemons --- */

/* Within which time 99 of 100 jobs of a type end; 0 = not known. */
static double trouble_usual(struct trouble_look *look, const char *queue, const char *type)
{
    struct later_tallies tallies = { 0 };
    struct later_command cmd = { 0 };
    const struct later_tally *row;
    struct later_error ignored;
    struct later_reply *reply;
    struct later_keys keys;
    double usual;

    if (!later_key_queue_valid(queue))
        return 0;
    later_keys_init(&keys, later_call_prefix(look->cli->client), queue);
    later_history_ask_totals(&cmd, &keys);
    reply = cli_call(look->cli, &cmd, &ignored);
    later_history_read(&tallies, reply);
    later_reply_free(reply);
    row = later_tallies_find(&tallies, type);
    usual = row ? later_histogram_quantile(&row->run, 0.99) : 0;
    later_tallies_free(&tallies);
    return usual > 0 ? usual : 0;
}

/* Finds one that runs for too long, if there is one. */
static void trouble_jobs(struct trouble_look *look, const json_t *jobs,
                         struct later_trouble_host *host)
{
    for (size_t i = 0; i < json_array_size(jobs) && i < JOBS; i++) {
        const json_t *job = json_array_get(jobs, i);

        host->over = text_member(job, "id");
        host->over_type = text_member(job, "type");
        host->over_queue = text_member(job, "queue");
        host->over_since = text_number_member(job, "since");
        host->limit = text_number_member(job, "timeout");
        host->usual = look->now - host->over_since > LATER_TROUBLE_LONG
                          ? trouble_usual(look, host->over_queue, host->over_type)
                          : 0;
        if (later_trouble_is_over(host))
            return;
    }
    host->over = "";
}

static void trouble_host(struct trouble_look *look, const json_t *json)
{
    struct later_trouble_host host = { .now = look->now,
                                       .seen = text_number_member(json, "seen"),
                                       .name = text_member(json, "host"),
                                       .running = (int64_t)text_number_member(json, "running"),
                                       .fault = text_member(json, "fault"),
                                       .over = "" };

    host.back = served_is_on(look->served, host.name); /* it was only started again */
    if (look->now - host.seen <= LATER_TROUBLE_GONE)
        trouble_jobs(look, json_object_get(json, "jobs"), &host);
    later_trouble_host(look->troubles, &host);
}

static void trouble_hosts(struct trouble_look *look)
{
    struct later_trouble_alive alive = { .now = look->now, .last = "" };

    for (size_t i = 0; i < served_count(look->served); i++) {
        const json_t *host = served_host(look->served, i);

        if (!host)
            continue;
        trouble_host(look, host);
        if (served_alive(look->served, i) || text_number_member(host, "seen") <= alive.last_seen)
            continue;
        alive.last_seen = text_number_member(host, "seen");
        alive.last = text_member(host, "host");
    }
    alive.alive = look->alive;
    alive.waiting = look->waiting;
    later_trouble_alive(look->troubles, &alive);
}

/* --- Redis --- */

void trouble_server(struct cli *cli, size_t node, const struct later_reply *info,
                    const struct later_reply *losses, struct later_troubles *troubles)
{
    char name[CLI_NODE_SIZE];
    struct later_trouble_redis redis = { .name = name };
    struct later_redis_state is;
    struct later_lost last;

    cli_node_name(cli, node, name);
    later_inspect_stated(info, &is);
    redis.lost_count = node ? 0 : later_lost_newest(losses, &last);
    redis.lost = redis.lost_count ? last.queue : NULL;
    redis.lost_at = redis.lost_count ? last.at : 0;
    redis.used = is.used;
    redis.most = is.most;
    redis.disk = is.disk;
    later_trouble_redis(troubles, &redis);
}

static int trouble_redis(struct trouble_look *look)
{
    struct later_command lost = { 0 };
    struct later_error err = { 0 };
    struct later_reply *losses;

    later_lost_look(&lost, later_call_prefix(look->cli->client));
    losses = cli_call(look->cli, &lost, &err);
    for (size_t node = 0; err.code != LATER_E_REDIS && node < cli_nodes(look->cli); node++) {
        struct later_command state = { 0 };
        struct later_reply *reply;

        later_inspect_state(&state);
        reply = cli_call_node(look->cli, node, &state, &err);
        trouble_server(look->cli, node, reply, losses, look->troubles);
        later_reply_free(reply);
    }
    later_reply_free(losses);
    if (err.code == LATER_E_REDIS)
        *look->err = err;
    return err.code == LATER_E_REDIS ? -1 : 0;
}

/* --- all of it --- */

static int trouble_look_at(struct trouble_look *look, const struct queue_list *list)
{
    int ok = trouble_queues(look, list);

    if (ok == 0)
        ok = trouble_redis(look);
    if (ok == 0)
        trouble_hosts(look);
    return ok;
}

int trouble_look(struct cli *cli, const struct queue_list *list, const struct sized *known,
                 struct later_troubles *troubles, struct later_error *err)
{
    struct trouble_look look = { .cli = cli, .known = known, .troubles = troubles, .err = err };
    struct served *served = served_read(cli, err);
    int ok = -1;

    if (!served)
        return -1;
    look.served = served;
    look.now = served_at(served);
    look.alive = served_count_alive(served);
    troubles->rows = calloc(TROUBLES_MAX, sizeof *troubles->rows);
    troubles->room = troubles->rows ? TROUBLES_MAX : 0;
    ok = troubles->rows ? trouble_look_at(&look, list)
                        : later_fail(err, LATER_E_SYSTEM, "no memory");
    later_troubles_sort(troubles);
    served_free(served);
    return ok;
}
