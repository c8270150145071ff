/* fit.c: is a Redis fit to keep jobs? */
#include "fit.h"

#include "log.h"
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fit {
    const char *prefix;
    bool failover;
    void (*unsafe)(void *arg, const char *why);
    void *arg;
    bool warned_file, warned_replicas;
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
    struct fit *fit = arg;
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
    fit->unsafe(fit->arg, why);
}

static void on_persistence(void *arg, struct later_answer *answer)
{
    struct fit *fit = arg;
    char aof[8];

    if (answer->outcome != LATER_ANSWERED || fit->warned_file ||
        !info_value(later_reply_text(answer->reply, NULL), "aof_enabled", aof, sizeof aof) ||
        strcmp(aof, "1") == 0)
        return;
    fit->warned_file = true;
    log_line(LOG_WARN, "this Redis keeps no append-only file: a crash of it loses jobs that were "
                       "pushed since its last snapshot; set appendonly yes");
}

/* INFO shows min_slaves_good_slaves where min-replicas-to-write is more than 0 (Redis's server.c,
 * genRedisInfoString). */
static void on_replication(void *arg, struct later_answer *answer)
{
    struct fit *fit = arg;
    char good[16];

    if (answer->outcome != LATER_ANSWERED || fit->warned_replicas ||
        info_value(later_reply_text(answer->reply, NULL), "min_slaves_good_slaves", good,
                   sizeof good))
        return;
    fit->warned_replicas = true;
    log_line(LOG_WARN, "min-replicas-to-write is 0 on this Redis: jobs that it took while it "
                       "had no replica are lost when Sentinels name another master, and what "
                       "it finished runs again; set min-replicas-to-write 1");
}

static void ask_info(struct fit *fit, struct link *link, const char *section, later_answer_fn *fn)
{
    struct later_command cmd = { 0 };

    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "INFO");
    later_command_text(&cmd, section);
    link_send(link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, fn, fit);
}

/* The commands that Redis's ACL denies to our scripts: one of them missing would stop a script
 * between two writes, so that we rather do nothing at all. */
static void on_probed(void *arg, struct later_answer *answer)
{
    struct fit *fit = arg;
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
    fit->unsafe(fit->arg, why);
}

static void probe(struct fit *fit, struct link *link, const char *queue)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, fit->prefix, queue);
    later_script_begin(&cmd, LATER_SCRIPT_PROBE, &keys, NULL, 0);
    link_send(link, &cmd, LATER_SCRIPT_PROBE, LINK_TIMEOUT, on_probed, fit);
}

void fit_ask(struct fit *fit, struct link *link, const char *queue)
{
    probe(fit, link, queue);
    ask_info(fit, link, "memory", on_memory);
    ask_info(fit, link, "persistence", on_persistence);
    if (fit->failover)
        ask_info(fit, link, "replication", on_replication);
}
