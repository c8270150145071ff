/* server.c: what a Redis says of itself. */
#include "queue/server.h"

#include "queue/inspect.h"
#include "redis/key.h"

#include <stdio.h>
#include <string.h>

#define KEYS_PAGE 1000 /* keys that a SCAN should look at */

/* --- INFO --- */

const struct later_server_fact later_server_facts[] = {
    { "version", "redis_version:", LATER_SERVER_TEXT, "version" },
    { "mode", "redis_mode:", LATER_SERVER_TEXT, "mode" },
    { "role", "role:", LATER_SERVER_TEXT, "role" },
    { "uptime", "uptime_in_seconds:", LATER_SERVER_SECONDS, "up for" },
    { "memory", "used_memory:", LATER_SERVER_BYTES, "memory" },
    { "memory_most", "used_memory_peak:", LATER_SERVER_BYTES, "memory at most so far" },
    { "memory_process", "used_memory_rss:", LATER_SERVER_BYTES, "memory of the process" },
    { "memory_limit", "maxmemory:", LATER_SERVER_BYTES, "memory limit (0: none)" },
    { "policy", "maxmemory_policy:", LATER_SERVER_TEXT, "when it is full" },
    { "evicted", "evicted_keys:", LATER_SERVER_NUMBER, "keys evicted" },
    { "clients", "connected_clients:", LATER_SERVER_NUMBER, "clients" },
    { "clients_limit", "maxclients:", LATER_SERVER_NUMBER, "clients limit" },
    { "clients_waiting", "blocked_clients:", LATER_SERVER_NUMBER, "clients that wait" },
    { "refused", "rejected_connections:", LATER_SERVER_NUMBER, "connections refused" },
    { "commands_a_second", "instantaneous_ops_per_sec:", LATER_SERVER_NUMBER, "commands a second" },
    { "commands", "total_commands_processed:", LATER_SERVER_NUMBER, "commands so far" },
    { "cpu_user", "used_cpu_user:", LATER_SERVER_SECONDS, "CPU time, user" },
    { "cpu_system", "used_cpu_sys:", LATER_SERVER_SECONDS, "CPU time, system" },
    { "hits", "keyspace_hits:", LATER_SERVER_NUMBER, "keys found" },
    { "misses", "keyspace_misses:", LATER_SERVER_NUMBER, "keys not found" },
    { "aof", "aof_enabled:", LATER_SERVER_NUMBER, "append-only file (1: yes)" },
    { "aof_bytes", "aof_current_size:", LATER_SERVER_BYTES, "append-only file's size" },
    { "aof_write", "aof_last_write_status:", LATER_SERVER_TEXT, "append-only file: last write" },
    { "aof_rewrite", "aof_last_bgrewrite_status:", LATER_SERVER_TEXT,
      "append-only file: last rewrite" },
    { "snapshot", "rdb_last_bgsave_status:", LATER_SERVER_TEXT, "last snapshot" },
    { "saved", "rdb_last_save_time:", LATER_SERVER_TIME, "last snapshot at" },
    { "unsaved", "rdb_changes_since_last_save:", LATER_SERVER_NUMBER, "changes since then" },
    { "replicas", "connected_slaves:", LATER_SERVER_NUMBER, "replicas" },
    { "master_link", "master_link_status:", LATER_SERVER_TEXT, "link to its master" },
    { "master_lag", "master_last_io_seconds_ago:", LATER_SERVER_SECONDS, "heard of its master" },
    { 0 },
};

bool later_server_number(const struct later_reply *info, const struct later_server_fact *fact,
                         double *number)
{
    *number = later_inspect_number(info, fact->field, -1);
    return *number >= 0;
}

bool later_server_text(const struct later_reply *info, const struct later_server_fact *fact,
                       char *text, size_t room)
{
    const char *found = later_inspect_field(info, fact->field);

    snprintf(text, room, "%.*s", found ? (int)strcspn(found, "\r\n") : 0, found ? found : "");
    return found != NULL;
}

/* --- replicas: slave0:ip=127.0.0.1,port=6380,state=online,offset=42,lag=1 --- */

/* Writes the value of one part of the line. */
static void server_part(char *out, size_t room, const char *line, const char *name)
{
    size_t len = strlen(name);

    *out = '\0';
    while (*line && *line != '\r' && *line != '\n') {
        size_t all = strcspn(line, ",\r\n");

        if (strncmp(line, name, len) == 0 && line[len] == '=')
            snprintf(out, room, "%.*s", (int)(all - len - 1), line + len + 1);
        line += all + (line[all] == ',');
    }
}

static double server_part_number(const char *line, const char *name)
{
    char text[32];
    long long number;
    char end;

    server_part(text, sizeof text, line, name);
    return sscanf(text, "%18lld%c", &number, &end) == 1 ? (double)number : -1;
}

bool later_server_replica(const struct later_reply *info, size_t i,
                          struct later_server_replica *replica)
{
    double sent = later_inspect_number(info, "master_repl_offset:", -1), confirmed;
    char field[24], host[64], port[8];
    const char *line;

    snprintf(field, sizeof field, "slave%zu:", i);
    line = i < LATER_SERVER_REPLICAS ? later_inspect_field(info, field) : NULL;
    if (!line)
        return false;
    server_part(host, sizeof host, line, "ip");
    server_part(port, sizeof port, line, "port");
    snprintf(replica->address, sizeof replica->address, "%s:%s", host, port);
    server_part(replica->state, sizeof replica->state, line, "state");
    replica->lag = server_part_number(line, "lag");
    confirmed = server_part_number(line, "offset");
    replica->behind = sent < 0 || confirmed < 0 ? -1 : sent > confirmed ? sent - confirmed : 0;
    return true;
}

/* --- the slow log --- */

void later_server_ask_slow(struct later_command *cmd, int count)
{
    later_command_say(cmd, "SLOWLOG GET %d", count);
}

static bool server_is_ours(const char *word, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(word, prefix, len) == 0 && word[len] == ':';
}

/* An entry: its number, when, microseconds, the words of the command, …. */
bool later_server_slow(const struct later_reply *reply, size_t i, const char *prefix,
                       struct later_server_slow *slow)
{
    const struct later_reply *entry = later_reply_at(reply, i), *words = later_reply_at(entry, 3);
    size_t key = 1;

    if (later_reply_count(entry) < 4 || later_reply_count(words) == 0)
        return false;
    while (key < later_reply_count(words) &&
           !server_is_ours(later_reply_text(later_reply_at(words, key), NULL), prefix))
        key++;
    slow->at = (double)later_reply_int(later_reply_at(entry, 1));
    slow->seconds = (double)later_reply_int(later_reply_at(entry, 2)) / 1e6;
    snprintf(slow->command, sizeof slow->command, "%.20s",
             later_reply_text(later_reply_at(words, 0), NULL));
    if (key < later_reply_count(words)) {
        size_t len = strlen(slow->command);

        snprintf(slow->command + len, sizeof slow->command - len, " %.75s",
                 later_reply_text(later_reply_at(words, key), NULL));
    }
    return true;
}

/* --- keys --- */

void later_server_ask_keys(struct later_command *cmd, const char *prefix, const char *cursor)
{
    char match[LATER_PREFIX_MAX + 8];

    snprintf(match, sizeof match, "%s:*", prefix);
    later_command_say(cmd, "SCAN %s MATCH %s COUNT %d", cursor, match, KEYS_PAGE);
}

void later_server_kind(char kind[LATER_SERVER_KIND], const char *key, const char *prefix)
{
    const char *word = key + strlen(prefix) + 1, *end;

    *kind = '\0';
    if (!server_is_ours(key, prefix))
        return;
    end = *word == '{' ? strstr(word, "}:") : NULL;
    if (end)
        word = end + 2;
    snprintf(kind, LATER_SERVER_KIND, "%.*s", (int)strspn(word, "abcdefghijklmnopqrstuvwxyz"),
             word);
}
