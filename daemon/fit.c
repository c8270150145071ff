/* fit.c: is a Redis fit to keep jobs? */
#include "fit.h"

#include "log.h"
#include "script.h"
#include "slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name that stays empty; on a Cluster with a number behind. */
#define PROBE_QUEUE "laterd.probe"

struct fit {
    const char *prefix;
    bool failover;
    void (*unsafe)(void *arg, const char *why);
    void *arg;
    bool warned_file, warned_replicas;
};

/* A question without an answer. */
struct asked {
    struct fit *fit;
    char node[LATER_NODE_SIZE + 3]; /* " (127.0.0.1:7000)"; "" where there is one server only */
    bool cluster;
};

struct fit *fit_new(const char *prefix, bool failover, void (*unsafe)(void *arg, const char *why),
                    void *arg)
{
    struct fit *fit = calloc(1, sizeof *fit);

    if (fit)
        *fit = (struct fit){ .prefix = prefix, .failover = failover, .unsafe = unsafe, .arg = arg };
    return fit;
}

void fit_free(struct fit *fit)
{
    free(fit);
}

/* --- answers --- */

/* The value of a line `name:value` of INFO's answer. */
static bool info_value(const char *info, const char *name, char *value, size_t room)
{
    size_t len = strlen(name);

    for (const char *line = info; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            snprintf(value, room, "%.*s", (int)strcspn(line + len + 1, "\r\n"), line + len + 1);
            return true;
        }
    }
    return false;
}

static void judge_memory(const struct asked *asked, const char *info)
{
    char max[32], policy[32], why[512];

    if (!info_value(info, "maxmemory", max, sizeof max) ||
        !info_value(info, "maxmemory_policy", policy, sizeof policy))
        return;
    if (strcmp(policy, "noeviction") == 0 || strcmp(max, "0") == 0)
        return;
    snprintf(why, sizeof why,
             "this Redis%s would throw jobs away when it is full (maxmemory-policy %s); set it to "
             "noeviction",
             asked->node, policy);
    asked->fit->unsafe(asked->fit->arg, why);
}

static void judge_persistence(const struct asked *asked, const char *info)
{
    char aof[8];

    if (asked->fit->warned_file || !info_value(info, "aof_enabled", aof, sizeof aof) ||
        strcmp(aof, "1") == 0)
        return;
    asked->fit->warned_file = true;
    log_line(LOG_WARN,
             "this Redis%s keeps no append-only file: a crash of it loses jobs that were pushed "
             "since its last snapshot; set appendonly yes",
             asked->node);
}

/* INFO shows min_slaves_good_slaves where min-replicas-to-write is more than 0 (Redis's server.c,
 * genRedisInfoString). A Cluster is asked again and again, and warned of once. */
static void judge_replication(const struct asked *asked, const char *info)
{
    struct fit *fit = asked->fit;
    char good[16];

    if ((asked->cluster && fit->warned_replicas) ||
        info_value(info, "min_slaves_good_slaves", good, sizeof good))
        return;
    fit->warned_replicas = true;
    log_line(LOG_WARN,
             "min-replicas-to-write is 0 on this Redis%s: jobs that it took while it had no "
             "replica are lost when %s, and what it finished runs again; set "
             "min-replicas-to-write 1",
             asked->node,
             asked->cluster ? "another becomes the master" : "Sentinels name another master");
}

static void on_info(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;
    const char *info = later_reply_text(answer->reply, NULL);

    if (answer->outcome == LATER_ANSWERED) {
        judge_memory(asked, info);
        judge_persistence(asked, info);
        if (asked->cluster || asked->fit->failover)
            judge_replication(asked, info);
    }
    free(asked);
}

/* The commands that Redis's ACL denies to our scripts: one of them missing would stop a script
 * between two writes, so that we rather do nothing at all. */
static void on_probed(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;
    size_t denied = later_reply_count(answer->reply);
    char why[768] = "";

    if (answer->outcome == LATER_REFUSED && strncmp(answer->text, "NOPERM", 6) == 0)
        snprintf(why, sizeof why,
                 "this Redis%s denies us what we need: %s; doc/protocol.md has the least ACL",
                 asked->node, answer->text);
    else if (denied > 0)
        snprintf(why, sizeof why,
                 "this Redis%s denies our scripts %zu commands, first %s; doc/protocol.md has the "
                 "least ACL",
                 asked->node, denied, later_reply_text(later_reply_at(answer->reply, 0), NULL));
    if (why[0])
        asked->fit->unsafe(asked->fit->arg, why);
    free(asked);
}

/* --- questions --- */

static struct asked *make_asked(struct fit *fit, const char *node)
{
    struct asked *asked = malloc(sizeof *asked);

    if (!asked)
        return NULL;
    *asked = (struct asked){ .fit = fit, .cluster = node[0] != '\0' };
    if (node[0])
        snprintf(asked->node, sizeof asked->node, " (%s)", node);
    return asked;
}

static void probe(struct fit *fit, struct link *link, const char *node, const char *queue)
{
    struct asked *asked = make_asked(fit, node);
    struct later_command cmd = { 0 };
    struct later_keys keys;

    if (!asked)
        return;
    later_keys_init(&keys, fit->prefix, queue);
    later_script_begin(&cmd, LATER_SCRIPT_PROBE, &keys, NULL, 0);
    if (link_send(link, &cmd, LATER_SCRIPT_PROBE, LINK_TIMEOUT, on_probed, asked) < 0)
        free(asked);
}

/* All sections: several of them in a call are known to Redis 7 only. */
static void begin_info(struct later_command *cmd)
{
    later_command_begin(cmd, 1);
    later_command_text(cmd, "INFO");
}

static void ask_server(struct fit *fit, struct link *link)
{
    struct asked *asked = make_asked(fit, "");
    struct later_command cmd = { 0 };

    if (!asked)
        return;
    probe(fit, link, "", PROBE_QUEUE);
    begin_info(&cmd);
    if (link_send(link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, on_info, asked) < 0)
        free(asked);
}

/* A name whose queue is at this master: its number is as large as the master's slots are few. */
static bool find_queue(const struct fit *fit, struct later_redis *redis, size_t which, char *queue,
                       size_t room)
{
    struct later_keys keys;

    for (unsigned i = 0; i < 2 * LATER_SLOTS; i++) {
        const char *key;

        snprintf(queue, room, PROBE_QUEUE ".%u", i);
        later_keys_init(&keys, fit->prefix, queue);
        key = keys.name[LATER_KEY_READY];
        if (later_redis_has(redis, which, later_slot_of_key(key, strlen(key))))
            return true;
    }
    return false;
}

static void ask_master(struct fit *fit, struct link *link, size_t which)
{
    struct later_redis *redis = link_redis(link);
    char node[LATER_NODE_SIZE], queue[LATER_QUEUE_MAX + 1];
    struct later_command cmd = { 0 };
    struct asked *asked;

    later_redis_master(redis, which, node);
    if (find_queue(fit, redis, which, queue, sizeof queue))
        probe(fit, link, node, queue);
    asked = make_asked(fit, node);
    if (!asked)
        return;
    begin_info(&cmd);
    if (later_redis_send_to(redis, which, &cmd, LINK_TIMEOUT, on_info, asked) < 0)
        free(asked);
}

void fit_ask(struct fit *fit, struct link *link)
{
    size_t masters = later_redis_masters(link_redis(link));

    if (masters == 0)
        ask_server(fit, link);
    for (size_t i = 0; i < masters; i++)
        ask_master(fit, link, i);
}
