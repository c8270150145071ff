/* announce.c: who we are; is this Redis fit? */
#include "announce.h"

#include "follow.h"
#include "log.h"
#include "queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY       5              /* seconds */
#define PROBE_QUEUE "laterd.probe" /* a name that stays empty */

struct announce {
    const struct config *config;
    struct link *link;
    const char *host;
    char field[320];
    void (*unsafe)(void *arg, const char *why);
    void *arg;
    unsigned beats;
    double since;
    bool warned;
    bool sentinels; /* they may make another Redis the master */
};

struct announce *announce_new(const struct config *config, struct link *link, const char *host,
                              void (*unsafe)(void *arg, const char *why), void *arg)
{
    struct announce *announce = calloc(1, sizeof *announce);

    if (!announce)
        return NULL;
    *announce = (struct announce){
        .config = config, .link = link, .host = host, .unsafe = unsafe, .arg = arg
    };
    announce->sentinels = follow_wanted(config);
    snprintf(announce->field, sizeof announce->field, "%s:%ld", host, (long)getpid());
    return announce;
}

void announce_free(struct announce *announce)
{
    free(announce);
}

void announce_configure(struct announce *announce, const struct config *config)
{
    announce->config = config;
}

/* --- is it fit? --- */

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

static void on_memory(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;
    const char *info = later_reply_text(answer->reply, NULL);
    char max[32], policy[32], why[256];

    if (answer->outcome != LATER_ANSWERED || !info_value(info, "maxmemory", max, sizeof max) ||
        !info_value(info, "maxmemory_policy", policy, sizeof policy))
        return;
    if (strcmp(policy, "noeviction") == 0 || strcmp(max, "0") == 0)
        return;
    snprintf(why, sizeof why,
             "this Redis would throw jobs away when it is full (maxmemory-policy %s); set it to "
             "noeviction",
             policy);
    announce->unsafe(announce->arg, why);
}

static void on_persistence(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;
    char aof[8];

    if (answer->outcome != LATER_ANSWERED || announce->warned ||
        !info_value(later_reply_text(answer->reply, NULL), "aof_enabled", aof, sizeof aof) ||
        strcmp(aof, "1") == 0)
        return;
    announce->warned = true;
    log_line(LOG_WARN, "this Redis keeps no append-only file: a crash of it loses jobs that were "
                       "pushed since its last snapshot; set appendonly yes");
}

/* INFO shows min_slaves_good_slaves where min-replicas-to-write is more than 0 (Redis's server.c,
 * genRedisInfoString). */
static void on_replication(void *arg, struct later_answer *answer)
{
    char good[16];

    (void)arg;
    if (answer->outcome == LATER_ANSWERED &&
        !info_value(later_reply_text(answer->reply, NULL), "min_slaves_good_slaves", good,
                    sizeof good))
        log_line(LOG_WARN, "min-replicas-to-write is 0 on this Redis: jobs that it took while it "
                           "had no replica are lost when Sentinels name another master, and what "
                           "it finished runs again; set min-replicas-to-write 1");
}

static void ask_info(struct announce *announce, const char *section, later_answer_fn *fn)
{
    struct later_command cmd = { 0 };

    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "INFO");
    later_command_text(&cmd, section);
    link_send(announce->link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, fn, announce);
}

/* The commands that Redis's ACL denies to our scripts: one of them missing would stop a script
 * between two writes, so that we rather do nothing at all. */
static void on_probed(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;
    char why[512];

    if (answer->outcome == LATER_REFUSED && strncmp(answer->text, "NOPERM", 6) == 0)
        snprintf(why, sizeof why,
                 "this Redis denies us what we need: %s; doc/protocol.md has the "
                 "least ACL",
                 answer->text);
    else if (later_reply_count(answer->reply) > 0)
        snprintf(why, sizeof why,
                 "this Redis denies our scripts %zu commands, first %s; doc/protocol.md has the "
                 "least ACL",
                 later_reply_count(answer->reply),
                 later_reply_text(later_reply_at(answer->reply, 0), NULL));
    else
        return;
    announce->unsafe(announce->arg, why);
}

static void probe(struct announce *announce)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, announce->config->redis.prefix, PROBE_QUEUE);
    later_script_begin(&cmd, LATER_SCRIPT_PROBE, &keys, NULL, 0);
    link_send(announce->link, &cmd, LATER_SCRIPT_PROBE, LINK_TIMEOUT, on_probed, announce);
}

/* --- who we are --- */

static void name_queues(struct announce *announce)
{
    const struct config *config = announce->config;
    char key[LATER_KEY_MAX];

    later_key_queues(key, config->redis.prefix);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];
        struct later_command cmd = { 0 };

        later_command_begin(&cmd, 2 + pool->queue_count);
        later_command_text(&cmd, "SADD");
        later_command_text(&cmd, key);
        for (uint32_t q = 0; q < pool->queue_count; q++)
            later_command_text(&cmd, pool->queues[q].name);
        link_send(announce->link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
    }
}

/* Whoever is first writes it; redis.c has compared what is there. */
static void name_protocol(struct announce *announce)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_protocol(key, announce->config->redis.prefix);
    later_command_begin(&cmd, 4);
    later_command_text(&cmd, "SET");
    later_command_text(&cmd, key);
    later_command_int(&cmd, LATER_PROTOCOL);
    later_command_text(&cmd, "NX");
    link_send(announce->link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
}

void announce_link_up(struct announce *announce)
{
    probe(announce);
    name_protocol(announce);
    ask_info(announce, "memory", on_memory);
    ask_info(announce, "persistence", on_persistence);
    if (announce->sentinels)
        ask_info(announce, "replication", on_replication);
    name_queues(announce);
    announce->beats = 0;
    link_flush(announce->link);
}

/* `["a","b"]`; names need no escapes. */
static void add_queues(const struct config *config, char *text, size_t room)
{
    size_t len = 0;

    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count && len + 80 < room; q++)
            len += (size_t)snprintf(text + len, room - len, "%s\"%s\"", len ? "," : "",
                                    config->pools[p].queues[q].name);
    }
}

void announce_tell(struct announce *announce, const struct announce_state *state)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX], queues[4096] = "", text[5120];

    if (state->redis_now <= 0 || announce->beats++ % EVERY)
        return;
    if (announce->since <= 0)
        announce->since = state->redis_now;
    add_queues(announce->config, queues, sizeof queues);
    snprintf(text, sizeof text,
             "{\"host\":\"%s\",\"pid\":%ld,\"version\":\"" VERSION "\",\"started\":%.3f,"
             "\"seen\":%.3f,\"workers\":%u,\"running\":%u,\"performed\":%" PRIu64
             ",\"failed\":%" PRIu64 ",\"queues\":[%s]}",
             announce->host, (long)getpid(), announce->since, state->redis_now,
             (unsigned)state->workers, (unsigned)state->running, state->performed, state->failed,
             queues);
    later_key_hosts(key, announce->config->redis.prefix);
    later_command_begin(&cmd, 4);
    later_command_text(&cmd, "HSET");
    later_command_text(&cmd, key);
    later_command_text(&cmd, announce->field);
    later_command_text(&cmd, text);
    link_send(announce->link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
    link_flush(announce->link);
}

void announce_withdraw(struct announce *announce)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_hosts(key, announce->config->redis.prefix);
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "HDEL");
    later_command_text(&cmd, key);
    later_command_text(&cmd, announce->field);
    link_send(announce->link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
    link_flush(announce->link);
}
