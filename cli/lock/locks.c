/* locks.c: `later lock` without words lists the locks, permits and limits in use. */
#include "lock/locks.h"

#include "lock/locks_look.h"
#include "output/jsonl.h"
#include "queue/inspect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAGES_MAX 1000000 /* pages of a SCAN; one that has not ended by then never will */
#define TIMEOUT   5.0     /* seconds, for a node of a Cluster */

/* One run of the command. */
struct locks {
    struct cli *cli;
    const char *prefix;
    double now; /* Redis's clock */
    struct table table;
};

/* --- printing --- */

static void locks_print_json(const struct held *held)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "kind", later_held_word(held->kind));
    jsonl_text(&json, "name", held->name);
    jsonl_int(&json, "held", held->count);
    jsonl_known(&json, "remaining", held->left >= 0, held->left);
    jsonl_known(&json, "since", held->since >= 0, held->since);
    jsonl_text(&json, "owner", *held->owner ? held->owner : NULL);
    jsonl_known(&json, "fence", held->fence, (double)held->fence);
    jsonl_int(&json, "waiting", held->waiting);
    jsonl_texts(&json, "waiters", held->waiters, held->named);
    jsonl_end(&json);
}

static void locks_add_row(struct locks *locks, const struct held *held)
{
    struct table *table = &locks->table;

    table_text(table, PLAIN, later_held_word(held->kind));
    table_text(table, PLAIN, held->name);
    table_number(table, PLAIN, (uint64_t)held->count);
    table_known_age(table, PLAIN, held->since < 0 ? -1 : fmax(locks->now - held->since, 0));
    table_known_age(table, PLAIN, held->left);
    table_number(table, held->waiting ? YELLOW : PLAIN, (uint64_t)held->waiting);
    if (held->named)
        table_text(table, PLAIN, held->waiters[0]);
    else
        table_none(table);
    table_text(table, PLAIN, *held->owner ? held->owner : NULL);
}

/* Prints the lock, permit or limit of a key that SCAN found. What has just ended is skipped. So is
 * a line whose lock or permit is held, because that is found by its own key. */
static int locks_tell(struct locks *locks, enum later_held kind, const char *key,
                      struct later_error *err)
{
    struct held held = { .kind = kind };
    bool waits;
    int ok;

    if (!later_held_name(held.name, key, &waits))
        return 0;
    ok = locks_look(locks->cli, locks->now, &held, err);
    if (ok == 0 && (waits ? held.count == 0 && held.waiting > 0 : held.count > 0)) {
        if (locks->cli->json)
            locks_print_json(&held);
        else
            locks_add_row(locks, &held);
    }
    locks_forget(&held);
    return ok;
}

/* --- all of them --- */

struct asked {
    struct later_reply *reply;
    struct later_error *err;
};

static void locks_take(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;

    if (later_call_check(answer, asked->err) == 0) {
        asked->reply = answer->reply;
        answer->reply = NULL;
    }
}

/* Reads a page of the keys of one server, or of one node of a Cluster. */
static struct later_reply *locks_ask_page(struct locks *locks, size_t node,
                                          struct later_command *cmd, struct later_error *err)
{
    struct later_client *client = locks->cli->client;
    struct later_redis *redis = later_call_redis(client);
    struct asked asked = { .err = err };

    if (!later_redis_is_cluster(redis))
        return cli_call(locks->cli, cmd, err);
    if (later_redis_send_to(redis, node, cmd, TIMEOUT, locks_take, &asked) < 0) {
        later_fail(err, LATER_E_REDIS, "a node of the Cluster is away");
        return NULL;
    }
    later_redis_flush(redis);
    if (later_call_drain(client, 0, err) == 0)
        return asked.reply;
    later_reply_free(asked.reply);
    return NULL;
}

static int tell_kind(struct locks *locks, size_t node, enum later_held kind,
                     struct later_error *err)
{
    char cursor[32] = "0";

    for (uint64_t pages = 0; pages < PAGES_MAX; pages++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        const struct later_reply *keys;
        int ok = 0;

        later_held_scan(&cmd, locks->prefix, kind, cursor);
        reply = locks_ask_page(locks, node, &cmd, err);
        if (!reply)
            return -1;
        keys = later_inspect_scanned(reply, cursor);
        for (size_t i = 0; ok == 0 && i < later_reply_count(keys); i++)
            ok = locks_tell(locks, kind, later_reply_text(later_reply_at(keys, i), NULL), err);
        later_reply_free(reply);
        if (ok < 0 || strcmp(cursor, "0") == 0)
            return ok;
    }
    return later_fail(err, LATER_E_REDIS, "Redis does not finish listing its keys");
}

int locks_run(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "KIND",     "NAME", ">HELD", ">FOR", ">LEFT",
                                            ">WAITING", "NEXT", "OWNER", NULL };
    struct locks locks = { .cli = cli };
    size_t nodes;
    int ok = 0;

    if (!cli_client(cli, err) || cli_clock(cli, &locks.now, err) < 0)
        return -1;
    locks.prefix = later_call_prefix(cli->client);
    nodes = later_redis_masters(later_call_redis(cli->client));
    cli_table(cli, &locks.table, headings);
    for (int kind = 0; kind < LATER_HELD_COUNT; kind++) {
        for (size_t node = 0; ok == 0 && node < (nodes ? nodes : 1); node++)
            ok = tell_kind(&locks, node, (enum later_held)kind, err);
    }
    table_end(&locks.table);
    return ok;
}
