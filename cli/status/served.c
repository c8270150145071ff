/* served.c: who serves which queue. */
#include "status/served.h"

#include "config/config.h"
#include "queue/inspect.h"
#include "queue/shards.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define SERVED_NAMES_MAX 1000 /* names in which the nearest is looked for */

struct served {
    struct later_reply *said; /* id, JSON, id, JSON … */
    double now;
    json_t *hosts; /* that JSON */
    json_t *runs;  /* queue → its running jobs on all daemons */
};

void served_add_up(json_t *sums, json_t *counts)
{
    const char *name;
    json_t *count;

    json_object_foreach(counts, name, count)
    {
        double sum = text_number_member(sums, name) + json_number_value(count);

        json_object_set_new(sums, name, json_real(sum));
    }
}

bool served_is_gone(const json_t *host, double now)
{
    double after = SERVED_GONE_TIMES * text_number_member(host, "every");

    return now - text_number_member(host, "seen") >
           (after > SERVED_GONE_AFTER ? after : SERVED_GONE_AFTER);
}

json_t *served_host(const struct served *served, size_t i)
{
    json_t *host = json_array_get(served->hosts, i);

    return json_is_object(host) ? host : NULL;
}

const char *served_id(const struct served *served, size_t i)
{
    return later_reply_text_at(served->said, 2 * i);
}

json_t *served_alive(const struct served *served, size_t i)
{
    json_t *host = served_host(served, i);

    return host && !served_is_gone(host, served->now) ? host : NULL;
}

int served_count_alive(const struct served *served)
{
    int count = 0;

    for (size_t i = 0; i < served_count(served); i++)
        count += served_alive(served, i) != NULL;
    return count;
}

bool served_is_on(const struct served *served, const char *name)
{
    for (size_t i = 0; i < served_count(served); i++) {
        const json_t *host = served_alive(served, i);

        if (host && strcmp(text_member(host, "host"), name) == 0)
            return true;
    }
    return false;
}

/* Returns a member of what a daemon says, NULL if the daemon is gone. */
static json_t *alive_member(const struct served *served, size_t i, const char *name)
{
    return json_object_get(served_alive(served, i), name);
}

static void add_host(struct served *served, const struct later_reply *said)
{
    size_t len;
    const char *value = later_reply_text(said, &len);
    json_t *host = json_loadb(value, len, 0, NULL);

    json_array_append_new(served->hosts, host ? host : json_null());
    served_add_up(served->runs, alive_member(served, served_count(served) - 1, "runs"));
}

static struct later_reply *served_ask(struct cli *cli, double *now, struct later_error *err)
{
    struct later_command hosts = { 0 };

    if (!cli_client(cli, err) || cli_clock(cli, now, err) < 0)
        return NULL;
    later_inspect_hosts(&hosts, later_call_prefix(cli->client));
    return cli_call(cli, &hosts, err);
}

struct served *served_read(struct cli *cli, struct later_error *err)
{
    struct served *served = calloc(1, sizeof *served);

    if (served)
        *served = (struct served){ .hosts = json_array(), .runs = json_object() };
    if (!served || !served->hosts || !served->runs) {
        served_free(served);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    served->said = served_ask(cli, &served->now, err);
    for (size_t i = 1; i < later_reply_count(served->said); i += 2)
        add_host(served, later_reply_at(served->said, i));
    if (served->said)
        return served;
    served_free(served);
    return NULL;
}

void served_free(struct served *served)
{
    if (!served)
        return;
    json_decref(served->hosts);
    json_decref(served->runs);
    later_reply_free(served->said);
    free(served);
}

size_t served_count(const struct served *served)
{
    return json_array_size(served->hosts);
}

double served_at(const struct served *served)
{
    return served->now;
}

static bool has_queue(const json_t *queues, const char *queue, bool by_pattern)
{
    const json_t *name;
    size_t i;

    json_array_foreach(queues, i, name)
    {
        const char *text = json_string_value(name);

        if (text && (by_pattern ? config_type_matches(text, queue) > 0 : strcmp(text, queue) == 0))
            return true;
    }
    return false;
}

bool served_serves(const json_t *host, const char *queue)
{
    const json_t *queues = json_object_get(host, "queues");
    later_queue_name whole;

    later_shard_whole(whole, queue);
    return has_queue(queues, queue, true) || has_queue(queues, whole, true);
}

static int count_hosts(const struct served *served, const char *queue, bool by_pattern)
{
    later_queue_name whole;
    int count = 0;

    if (!served)
        return -1;
    later_shard_whole(whole, queue);
    for (size_t i = 0; i < served_count(served); i++) {
        const json_t *queues = alive_member(served, i, "queues");

        count += has_queue(queues, queue, by_pattern) || has_queue(queues, whole, by_pattern);
    }
    return count;
}

int served_by(const struct served *served, const char *queue)
{
    return count_hosts(served, queue, true);
}

int served_by_name(const struct served *served, const char *queue)
{
    return count_hosts(served, queue, false);
}

uint64_t served_running(const struct served *served, const char *queue)
{
    return text_count_member(served->runs, queue);
}

bool served_runs(const struct served *served, const char *queue)
{
    later_queue_name whole;
    const char *name;
    json_t *count;

    json_object_foreach(served->runs, name, count)
    {
        if (!later_key_shard_valid(name))
            continue;
        later_shard_whole(whole, name);
        if (strcmp(whole, queue) == 0 && json_number_value(count) > 0)
            return true;
    }
    return false;
}

bool served_runs_type(const struct served *served, size_t i, const char *type)
{
    const json_t *job;
    size_t n;

    json_array_foreach(alive_member(served, i, "jobs"), n, job)
    {
        const char *is = json_string_value(json_object_get(job, "type"));

        if (is && strcmp(is, type) == 0)
            return true;
    }
    return false;
}

const char *served_nearest(const struct served *served, const char *queue)
{
    const char *names[SERVED_NAMES_MAX];
    const json_t *name;
    size_t n, count = 0;

    for (size_t i = 0; i < served_count(served); i++) {
        json_array_foreach(alive_member(served, i, "queues"), n, name)
        {
            if (json_is_string(name) && count < SERVED_NAMES_MAX &&
                !config_is_pattern(json_string_value(name)))
                names[count++] = json_string_value(name);
        }
    }
    return args_nearest(queue, names, count);
}

void served_warn(struct cli *cli, const char *done, const char *queue)
{
    struct later_error ignored;
    struct served *served = cli->err_terminal ? served_read(cli, &ignored) : NULL;

    if (served_by(served, queue) == 0) {
        char meant[ARGS_MEANT];

        cli_say(cli, "%s queue %s, which no laterd serves%s", done, queue,
                args_meant(meant, served_nearest(served, queue), ""));
    }
    served_free(served);
}

/* --- what they need --- */

#define ALL_QUEUES "queue:" /* the permits of a queue, or of the queues of a pattern */

/* What ends in : or = goes on. Returns how much of the name the entry says, 0: it is for others. */
static size_t served_covers(const json_t *need, const char *kind, const char *name)
{
    const char *base = text_member(need, "name");
    size_t len = strlen(base);

    if (!len || strcmp(text_member(need, "kind"), kind) != 0 || strncmp(base, name, len) != 0)
        return 0;
    if (strcmp(base, ALL_QUEUES) == 0)
        return name[len] ? config_type_matches(text_member(need, "queue"), name + len) : 0;
    if (!name[len])
        return SIZE_MAX;
    return base[len - 1] == ':' || base[len - 1] == '=' ? len : 0;
}

const json_t *served_needs(const struct served *served, const char *kind, const char *name)
{
    const json_t *found = NULL, *need;
    size_t most = 0, n;

    for (size_t i = 0; i < served_count(served); i++) {
        json_array_foreach(json_object_get(served_alive(served, i), "needs"), n, need)
        {
            size_t covers = served_covers(need, kind, name);

            if (covers > most) {
                most = covers;
                found = need;
            }
        }
    }
    return found;
}
