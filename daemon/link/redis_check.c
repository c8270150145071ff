/* redis_check.c: is a Redis fit to keep jobs? */
#include "link/redis_check.h"

#include "log.h"
#include "redis/script.h"
#include "redis/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A queue that stays empty; on a Cluster a number follows. */
#define PROBE_QUEUE "laterd.probe"

struct redis_check {
    char prefix[LATER_PREFIX_MAX + 1];
    bool failover;
    void (*judged)(void *arg, const char *why);
    void *arg;
    size_t open; /* questions without an answer */
    bool doubt;  /* in this round one was answered badly, or not at all */
    bool warned_file, warned_replicas;
};

/* A question without an answer. */
struct asked {
    struct redis_check *check;
    char node[LATER_NODE_SIZE + 3]; /* " (127.0.0.1:7000)"; "" with one server */
    bool cluster;
};

struct redis_check *redis_check_new(const char *prefix, bool failover,
                                    void (*judged)(void *arg, const char *why), void *arg)
{
    struct redis_check *check = calloc(1, sizeof *check);

    if (!check)
        return NULL;
    *check = (struct redis_check){ .failover = failover, .judged = judged, .arg = arg };
    snprintf(check->prefix, sizeof check->prefix, "%s", prefix);
    return check;
}

void redis_check_free(struct redis_check *check)
{
    free(check);
}

/* --- answers --- */

static void redis_check_refuse(struct redis_check *check, const char *why)
{
    check->doubt = true;
    check->judged(check->arg, why);
}

/* A question is answered; after the last one, says that the Redis is fit. */
static void redis_check_answered(struct asked *asked)
{
    struct redis_check *check = asked->check;

    free(asked);
    if (--check->open == 0 && !check->doubt)
        check->judged(check->arg, NULL);
}

/* Finds the value of a line `name:value` in the answer of INFO. */
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
    redis_check_refuse(asked->check, why);
}

static void judge_persistence(const struct asked *asked, const char *info)
{
    char aof[8];

    if (asked->check->warned_file || !info_value(info, "aof_enabled", aof, sizeof aof) ||
        strcmp(aof, "1") == 0)
        return;
    asked->check->warned_file = true;
    log_line(LOG_WARN,
             "this Redis%s keeps no append-only file: a crash of it loses jobs that were pushed "
             "since its last snapshot; set appendonly yes",
             asked->node);
}

/* INFO shows min_slaves_good_slaves if min-replicas-to-write is more than 0 (Redis's server.c,
 * genRedisInfoString). The same Redis is asked again and again, but warned about once. */
static void judge_replication(const struct asked *asked, const char *info)
{
    struct redis_check *check = asked->check;
    char good[16];

    if (check->warned_replicas || info_value(info, "min_slaves_good_slaves", good, sizeof good))
        return;
    check->warned_replicas = true;
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
        if (asked->cluster || asked->check->failover)
            judge_replication(asked, info);
    } else if (answer->outcome != LATER_REFUSED) {
        asked->check->doubt = true; /* without the right to ask, it cannot be known */
    }
    redis_check_answered(asked);
}

/* What to do about it, by Redis's words. */
static const char *redis_check_remedy(const char *words)
{
    return strstr(words, "nknown ") ? "is it renamed in its redis.conf (rename-command)?"
                                    : "doc/protocol.md has the least ACL";
}

/* A command of ours was answered that must be allowed, or its script could not be called. */
static void judge_right(struct asked *asked, const struct later_answer *answer)
{
    bool denied = answer->outcome == LATER_REFUSED &&
                  (strncmp(answer->text, "NOPERM", 6) == 0 || later_reply_lacks(answer->text));
    const char *args = strstr(answer->text, ", with args"); /* of SCRIPT LOAD: a whole script */
    char why[768];

    if (denied) {
        snprintf(why, sizeof why, "this Redis%s denies us what we need: %.*s; %s", asked->node,
                 args ? (int)(args - answer->text) : (int)strlen(answer->text), answer->text,
                 redis_check_remedy(answer->text));
        redis_check_refuse(asked->check, why);
    }
}

/* Other errors, as of a full disk or a replica, are no denials. */
static void redis_check_on_blpop(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;

    judge_right(asked, answer);
    if (answer->outcome != LATER_ANSWERED && answer->outcome != LATER_REFUSED)
        asked->check->doubt = true;
    redis_check_answered(asked);
}

/* The answer has the commands that Redis denies to our scripts, or does not know. A missing one
 * would stop a script between two writes, so we do nothing at all then. */
static void on_probed(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;
    size_t denied = later_reply_count(answer->reply);
    const char *first = later_reply_text_at(answer->reply, 0);
    char why[768];

    judge_right(asked, answer);
    if (answer->outcome != LATER_ANSWERED)
        asked->check->doubt = true;
    if (denied > 0) {
        snprintf(why, sizeof why, "this Redis%s denies our scripts %zu commands, first %s; %s",
                 asked->node, denied, first, redis_check_remedy(first));
        redis_check_refuse(asked->check, why);
    }
    redis_check_answered(asked);
}

/* --- questions --- */

/* Asks the master `which`; or, if it is SIZE_MAX, whoever has the keys of the command. */
static void redis_check_send(struct redis_check *check, struct link *link, const char *node,
                             size_t which, struct later_command *cmd, later_answer_fn *fn)
{
    struct later_redis *redis = link_redis(link);
    struct asked *asked = malloc(sizeof *asked);

    if (!asked) {
        later_command_free(cmd);
        check->doubt = true;
        return;
    }
    *asked = (struct asked){ .check = check, .cluster = node[0] != '\0' };
    if (node[0])
        snprintf(asked->node, sizeof asked->node, " (%s)", node);
    check->open++;
    if ((which == SIZE_MAX ? link_send(link, cmd, LINK_TIMEOUT, fn, asked)
                           : later_redis_send_to(redis, which, cmd, LINK_TIMEOUT, fn, asked)) < 0) {
        check->doubt = true;
        check->open--;
        free(asked);
    }
}

/* No script may say BLPOP. Whether we may is known before Redis refuses the time: nobody waits. */
static void probe_blpop(struct redis_check *check, struct link *link, const char *node,
                        const struct later_keys *keys)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "BLPOP %s -1", keys->name[LATER_KEY_WAKE]);
    redis_check_send(check, link, node, SIZE_MAX, &cmd, redis_check_on_blpop);
}

static void probe(struct redis_check *check, struct link *link, const char *node, const char *queue)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, check->prefix, queue);
    later_script_begin(&cmd, LATER_SCRIPT_PROBE, &keys, NULL, 0);
    redis_check_send(check, link, node, SIZE_MAX, &cmd, on_probed);
    probe_blpop(check, link, node, &keys);
}

/* Asks for all sections: only Redis 7 takes several sections in a call. */
static void redis_check_inform(struct redis_check *check, struct link *link, const char *node,
                               size_t which)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "INFO");
    redis_check_send(check, link, node, which, &cmd, on_info);
}

/* Finds a name whose queue is at this master. The fewer slots the master has, the more names this
 * tries. */
static bool redis_check_find_queue(const struct redis_check *check, struct later_redis *redis,
                                   size_t which, char *queue, size_t room)
{
    struct later_keys keys;

    for (unsigned i = 0; i < 2 * LATER_SLOTS; i++) {
        const char *key;

        snprintf(queue, room, PROBE_QUEUE ".%u", i);
        later_keys_init(&keys, check->prefix, queue);
        key = keys.name[LATER_KEY_READY];
        if (later_redis_has(redis, which, later_slot_of_key(key, strlen(key))))
            return true;
    }
    return false;
}

static void ask_master(struct redis_check *check, struct link *link, size_t which)
{
    struct later_redis *redis = link_redis(link);
    char node[LATER_NODE_SIZE], queue[LATER_QUEUE_MAX + 1];

    later_redis_master(redis, which, node);
    if (redis_check_find_queue(check, redis, which, queue, sizeof queue))
        probe(check, link, node, queue);
    redis_check_inform(check, link, node, which);
}

void redis_check_anew(struct redis_check *check, struct link *link)
{
    if (later_redis_masters(link_redis(link)) == 0)
        check->warned_replicas = false;
    redis_check_ask(check, link);
}

void redis_check_ask(struct redis_check *check, struct link *link)
{
    size_t masters = later_redis_masters(link_redis(link));

    if (check->open == 0)
        check->doubt = false;
    if (masters == 0) {
        probe(check, link, "", PROBE_QUEUE);
        redis_check_inform(check, link, "", SIZE_MAX);
    }
    for (size_t i = 0; i < masters; i++)
        ask_master(check, link, i);
}
