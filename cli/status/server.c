/* server.c: the Redis servers that have our keys. */
#include "status/status.h"

#include "output/jsonl.h"
#include "queue/inspect.h"
#include "queue/lost.h"
#include "queue/server.h"
#include "status/trouble.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLOW     5  /* commands of the slow log that are shown */
#define PAGES    10 /* of a SCAN; what it has not found by then is not counted */
#define KINDS    40
#define WARNINGS 260 /* two a node, and lost writes */

/* How many keys there are of each kind. */
struct server_keys {
    struct server_kind {
        char name[LATER_SERVER_KIND];
        uint64_t count;
    } kinds[KINDS];
    size_t count;
    bool some; /* there are more */
};

/* One server. */
struct server {
    struct cli *cli;
    const char *prefix;
    size_t node;
    char name[CLI_NODE_SIZE];
    struct later_reply *info, *slow; /* owned; slow NULL: it may not be read */
    struct server_keys *keys;        /* NULL: not wanted */
    struct table *table;
    struct later_error *err;
};

static struct later_reply *server_ask(const struct server *server, struct later_command *cmd)
{
    return cli_call_node(server->cli, server->node, cmd, server->err);
}

/* --- keys by kind --- */

static void server_count_key(struct server_keys *keys, const char *kind)
{
    size_t i = 0;

    while (i < keys->count && strcmp(keys->kinds[i].name, kind) != 0)
        i++;
    if (!*kind || i == KINDS)
        return;
    if (i == keys->count) {
        snprintf(keys->kinds[i].name, sizeof keys->kinds[i].name, "%s", kind);
        keys->kinds[keys->count++].count = 0;
    }
    keys->kinds[i].count++;
}

static int server_count_keys(struct server *server)
{
    struct server_keys *keys = server->keys;
    char cursor[32] = "0", kind[LATER_SERVER_KIND];
    size_t page = 0;

    keys->count = 0;
    do {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        const struct later_reply *found;

        later_server_ask_keys(&cmd, server->prefix, cursor);
        reply = server_ask(server, &cmd);
        if (!reply)
            return -1;
        found = later_inspect_scanned(reply, cursor);
        for (size_t i = 0; i < later_reply_count(found); i++) {
            later_server_kind(kind, later_reply_text_at(found, i), server->prefix);
            server_count_key(keys, kind);
        }
        later_reply_free(reply);
    } while (++page < PAGES && strcmp(cursor, "0") != 0);
    keys->some = strcmp(cursor, "0") != 0;
    return 0;
}

/* --- as JSON --- */

static void server_json_fact(struct jsonl *json, const struct server *server,
                             const struct later_server_fact *fact)
{
    char text[80];
    double number;

    if (fact->kind == LATER_SERVER_TEXT) {
        bool known = later_server_text(server->info, fact, text, sizeof text);

        jsonl_text(json, fact->name, known ? text : NULL);
    } else {
        bool known = later_server_number(server->info, fact, &number);

        jsonl_real(json, fact->name, known ? number : NAN);
    }
}

/* What there may be several of has lines of its own, each with what it is first. */
static void server_json_rest(const struct server *server)
{
    struct later_server_replica replica;
    struct later_server_slow slow;

    for (size_t i = 0; later_server_replica(server->info, i, &replica); i++)
        jsonl_line(stdout, "server:%s replica:%s state:%s lag:%f behind:%f", server->name,
                   replica.address, replica.state, replica.lag >= 0 ? replica.lag : NAN,
                   replica.behind >= 0 ? replica.behind : NAN);
    for (size_t i = 0; later_server_slow(server->slow, i, server->prefix, &slow); i++)
        jsonl_line(stdout, "server:%s slow:%s at:%f seconds:%f", server->name, slow.command,
                   slow.at, slow.seconds);
    for (size_t i = 0; server->keys && i < server->keys->count; i++)
        jsonl_line(stdout, "server:%s keys:%s count:%ju more:%c", server->name,
                   server->keys->kinds[i].name, server->keys->kinds[i].count, server->keys->some);
}

static void server_tell_json(const struct server *server)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "server", server->name);
    for (const struct later_server_fact *fact = later_server_facts; fact->name; fact++)
        server_json_fact(&json, server, fact);
    jsonl_end(&json);
    server_json_rest(server);
}

/* --- for people, and as TABs: SERVER FACT VALUE --- */

static void server_begin_row(const struct server *server, const char *fact)
{
    table_text(server->table, DIM, server->name);
    table_text(server->table, PLAIN, fact);
}

static void server_add_number(struct table *table, enum later_server_kind kind, double number)
{
    switch (kind) {
    case LATER_SERVER_BYTES:
        table_size(table, (uint64_t)number);
        break;
    case LATER_SERVER_SECONDS:
        table_age(table, PLAIN, number);
        break;
    case LATER_SERVER_TIME:
        table_time(table, PLAIN, number);
        break;
    default:
        table_number(table, PLAIN, (uint64_t)number);
    }
}

static void server_tell_facts(const struct server *server)
{
    for (const struct later_server_fact *fact = later_server_facts; fact->name; fact++) {
        char text[80];
        double number;

        if (fact->kind == LATER_SERVER_TEXT) {
            if (!later_server_text(server->info, fact, text, sizeof text))
                continue;
            server_begin_row(server, fact->words);
            table_text(server->table, strcmp(text, "err") == 0 ? RED : PLAIN, text);
        } else if (later_server_number(server->info, fact, &number)) {
            server_begin_row(server, fact->words);
            server_add_number(server->table, fact->kind, number);
        }
    }
}

static void server_tell_rest(const struct server *server)
{
    struct later_server_replica replica;
    struct later_server_slow slow;
    char text[32], age[32];

    for (size_t i = 0; later_server_replica(server->info, i, &replica); i++) {
        server_begin_row(server, "replica");
        table_print(server->table, strcmp(replica.state, "online") == 0 ? PLAIN : YELLOW,
                    "%s %s, answered %s ago, %.0f bytes behind", replica.address, replica.state,
                    text_put_age(age, sizeof age, replica.lag), replica.behind);
    }
    for (size_t i = 0; later_server_slow(server->slow, i, server->prefix, &slow); i++) {
        server_begin_row(server, "slow");
        table_print(server->table, PLAIN, "%s, %.0f ms: %s",
                    text_put_time(text, sizeof text, slow.at), 1000 * slow.seconds, slow.command);
    }
    for (size_t i = 0; server->keys && i < server->keys->count; i++) {
        server_begin_row(server, "keys");
        table_print(server->table, PLAIN, "%s %" PRIu64 "%s", server->keys->kinds[i].name,
                    server->keys->kinds[i].count, server->keys->some ? " or more" : "");
    }
}

/* --- all of them --- */

static int server_look(struct server *server)
{
    struct later_command info = { 0 }, slow = { 0 };
    struct later_error why = { 0 };

    later_inspect_state(&info);
    server->info = server_ask(server, &info);
    if (!server->info)
        return -1;
    cli_node_name(server->cli, server->node, server->name);
    later_server_ask_slow(&slow, SLOW);
    server->slow = cli_call_node(server->cli, server->node, &slow, &why);
    if (!server->slow && why.code == LATER_E_REDIS) {
        *server->err = why;
        return -1;
    }
    if (!server->slow)
        cli_say(server->cli, "%s: its slow log may not be read: %s", server->name, why.text);
    return server->keys ? server_count_keys(server) : 0;
}

static int server_each(struct server *server, const struct later_reply *losses,
                       struct later_troubles *troubles)
{
    int ok = 0;

    for (size_t nodes = cli_nodes(server->cli); ok == 0 && server->node < nodes; server->node++) {
        ok = server_look(server);
        if (ok == 0 && server->cli->json) {
            server_tell_json(server);
        } else if (ok == 0) {
            server_tell_facts(server);
            server_tell_rest(server);
        }
        if (ok == 0)
            trouble_server(server->cli, server->node, server->info, losses, troubles);
        later_reply_free(server->info);
        later_reply_free(server->slow);
        server->info = server->slow = NULL;
    }
    return ok;
}

int server_print(struct cli *cli, bool keys, struct later_error *err)
{
    static const char *const headings[] = { "SERVER", "FACT", "VALUE", NULL };
    static struct later_trouble rows[WARNINGS];
    struct later_troubles troubles = { .rows = rows, .room = WARNINGS };
    struct later_command cmd = { 0 };
    struct later_reply *losses;
    struct server_keys kinds = { 0 };
    struct table table;
    struct server server = {
        .cli = cli, .keys = keys ? &kinds : NULL, .table = &table, .err = err
    };
    int ok;

    if (!cli_client(cli, err))
        return -1;
    server.prefix = later_call_prefix(cli->client);
    later_lost_look(&cmd, server.prefix);
    losses = cli_call(cli, &cmd, err);
    if (!losses)
        return -1;
    cli_table(cli, &table, headings);
    ok = server_each(&server, losses, &troubles);
    table_end(&table);
    later_reply_free(losses);
    if (ok == 0)
        trouble_show(cli, &troubles);
    return ok;
}
