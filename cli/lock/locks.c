/* locks.c: `later locks`: what is held at this moment: locks, permits, limits. */
#include "commands.h"
#include "output/jsonl.h"
#include "queue/held.h"
#include "queue/inspect.h"
#include "queue/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX   1000000 /* of a SCAN; what does not end by then never does */
#define WAITERS_MAX 10      /* that are named */
#define TIMEOUT     5.0     /* seconds, of a node of a Cluster */

/* One run of the command. */
struct locks {
    struct cli *cli;
    const char *prefix;
    double now; /* by Redis's clock */
    struct table table;
};

/* What is told of one. Replies are borrowed from. */
struct held {
    enum later_held kind;
    char name[LATER_HELD_NAME];
    int64_t count, waiting;
    double left, since; /* seconds, UNIX time; < 0 = not known */
    const char *owner;  /* "" = not known */
    uint64_t fence;     /* 0 = none */
    struct later_reply *lock, *waiters;
};

/* --- asking --- */

static struct later_reply *ask(struct locks *locks, struct later_command *cmd,
                               struct later_error *err)
{
    return cli_call(locks->cli, cmd, LATER_NO_SCRIPT, err);
}

/* A number, 0 where there is none. Returns 0, or -1 with *err. */
static int ask_number(struct locks *locks, struct later_command *cmd, int64_t *number,
                      struct later_error *err)
{
    struct later_reply *reply = ask(locks, cmd, err);

    *number = later_reply_int(reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

static int look_at_lock(struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_lock_seen seen;

    later_lock_look(&cmd, locks->prefix, held->name);
    held->lock = cli_call(locks->cli, &cmd, LATER_SCRIPT_LOCK_SHOW, err);
    if (!held->lock)
        return -1;
    later_lock_seen(held->lock, &seen);
    held->count = seen.held;
    held->fence = seen.fence;
    if (seen.held) {
        held->left = seen.left;
        held->since = seen.since;
        held->owner = seen.owner;
    }
    return 0;
}

static int look_at_permit(struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };
    struct later_reply *reply;

    later_held_holders(&count, locks->prefix, held->name, locks->now);
    if (ask_number(locks, &count, &held->count, err) < 0)
        return -1;
    later_held_first_end(&first, locks->prefix, held->name, locks->now);
    reply = ask(locks, &first, err);
    if (!reply)
        return -1;
    if (later_reply_count(reply) == 2)
        held->left = later_reply_seconds(later_reply_at(reply, 1), locks->now) - locks->now;
    later_reply_free(reply);
    return 0;
}

static int look_at_limit(struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command used = { 0 }, left = { 0 }, oldest = { 0 };
    struct later_reply *reply;
    int64_t ms;

    later_held_used(&used, locks->prefix, held->kind, held->name);
    later_held_left(&left, locks->prefix, held->name);
    if (ask_number(locks, &used, &held->count, err) < 0 || ask_number(locks, &left, &ms, err) < 0)
        return -1;
    held->left = ms < 0 ? -1 : (double)ms / 1000;
    if (held->kind == LATER_HELD_FIXED)
        return 0;
    later_held_oldest(&oldest, locks->prefix, held->name);
    reply = ask(locks, &oldest, err);
    if (!reply)
        return -1;
    held->since = later_reply_seconds(reply, -1);
    later_reply_free(reply);
    return 0;
}

static int look_at_line(struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };

    if (held->kind != LATER_HELD_LOCK && held->kind != LATER_HELD_PERMIT)
        return 0;
    later_held_waiting(&count, locks->prefix, held->kind, held->name, locks->now);
    if (ask_number(locks, &count, &held->waiting, err) < 0)
        return -1;
    later_held_waiters(&first, locks->prefix, held->kind, held->name, locks->now, WAITERS_MAX);
    held->waiters = ask(locks, &first, err);
    return held->waiters ? 0 : -1;
}

static int look(struct locks *locks, struct held *held, struct later_error *err)
{
    int ok = held->kind == LATER_HELD_LOCK     ? look_at_lock(locks, held, err)
             : held->kind == LATER_HELD_PERMIT ? look_at_permit(locks, held, err)
                                               : look_at_limit(locks, held, err);

    return ok < 0 ? -1 : look_at_line(locks, held, err);
}

/* --- telling --- */

static void put_seconds(struct jsonl *json, const char *name, double seconds)
{
    if (seconds >= 0)
        jsonl_real(json, name, seconds);
    else
        jsonl_null(json, name);
}

static void put_waiters(struct jsonl *json, const struct held *held)
{
    const char *words[WAITERS_MAX];
    size_t count = 0, size;
    char *list = NULL;
    FILE *out = open_memstream(&list, &size);

    while (count < WAITERS_MAX && count < later_reply_count(held->waiters)) {
        words[count] = later_reply_text(later_reply_at(held->waiters, count), NULL);
        count++;
    }
    if (out) {
        jsonl_list(out, words, count);
        fclose(out);
    }
    jsonl_raw(json, "waiters", list ? list : "[]");
    free(list);
}

static void print_json(const struct held *held)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "kind", later_held_word(held->kind));
    jsonl_text(&json, "name", held->name);
    jsonl_int(&json, "held", held->count);
    put_seconds(&json, "remaining", held->left);
    put_seconds(&json, "since", held->since);
    if (*held->owner)
        jsonl_text(&json, "owner", held->owner);
    else
        jsonl_null(&json, "owner");
    if (held->fence)
        jsonl_int(&json, "fence", (int64_t)held->fence);
    else
        jsonl_null(&json, "fence");
    jsonl_int(&json, "waiting", held->waiting);
    put_waiters(&json, held);
    jsonl_end(&json);
}

static void add_age(struct table *table, double seconds)
{
    if (seconds >= 0)
        table_age(table, PLAIN, seconds);
    else
        table_none(table);
}

static void add_row(struct locks *locks, const struct held *held)
{
    struct table *table = &locks->table;

    table_text(table, PLAIN, later_held_word(held->kind));
    table_text(table, PLAIN, held->name);
    table_number(table, PLAIN, (uint64_t)held->count);
    add_age(table, held->since < 0 ? -1 : held->since > locks->now ? 0 : locks->now - held->since);
    add_age(table, held->left);
    table_number(table, held->waiting ? YELLOW : PLAIN, (uint64_t)held->waiting);
    if (later_reply_count(held->waiters) > 0)
        table_text(table, PLAIN, later_reply_text(later_reply_at(held->waiters, 0), NULL));
    else
        table_none(table);
    if (*held->owner)
        table_text(table, PLAIN, held->owner);
    else
        table_none(table);
}

/* A key as SCAN told it. What has ended just now is not told; nor is a line beside what is held,
 * which comes by its own key. */
static int tell(struct locks *locks, enum later_held kind, const char *key, struct later_error *err)
{
    struct held held = { .kind = kind, .left = -1, .since = -1, .owner = "" };
    bool waits;
    int ok;

    if (!later_held_name(held.name, key, &waits))
        return 0;
    ok = look(locks, &held, err);
    if (ok == 0 && (waits ? held.count == 0 && held.waiting > 0 : held.count > 0)) {
        if (locks->cli->json)
            print_json(&held);
        else
            add_row(locks, &held);
    }
    later_reply_free(held.lock);
    later_reply_free(held.waiters);
    return ok;
}

/* --- all of them --- */

struct asked {
    struct later_reply *reply;
    struct later_error *err;
};

static void take(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;

    if (later_call_check(answer, LATER_NO_SCRIPT, asked->err) == 0) {
        asked->reply = answer->reply;
        answer->reply = NULL;
    }
}

/* A page of the keys of one server, or of one node of a Cluster. */
static struct later_reply *ask_page(struct locks *locks, size_t node, struct later_command *cmd,
                                    struct later_error *err)
{
    struct later_client *client = locks->cli->client;
    struct later_redis *redis = later_call_redis(client);
    struct asked asked = { .err = err };

    if (!later_redis_is_cluster(redis))
        return ask(locks, cmd, err);
    if (later_redis_send_to(redis, node, cmd, TIMEOUT, take, &asked) < 0) {
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
        reply = ask_page(locks, node, &cmd, err);
        if (!reply)
            return -1;
        keys = later_inspect_scanned(reply, cursor);
        for (size_t i = 0; ok == 0 && i < later_reply_count(keys); i++)
            ok = tell(locks, kind, later_reply_text(later_reply_at(keys, i), NULL), err);
        later_reply_free(reply);
        if (ok < 0 || strcmp(cursor, "0") == 0)
            return ok;
    }
    return later_fail(err, LATER_E_REDIS, "Redis does not come to an end of its keys");
}

static int read_clock(struct locks *locks, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (!cli_client(locks->cli, err))
        return -1;
    later_inspect_time(&cmd);
    reply = ask(locks, &cmd, err);
    locks->now = later_inspect_timed(reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

static int run(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "KIND",     "NAME", ">HELD", ">FOR", ">LEFT",
                                            ">WAITING", "NEXT", "OWNER", NULL };
    struct locks locks = { .cli = cli };
    size_t nodes;
    int ok = 0;

    if (read_clock(&locks, err) < 0)
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

const struct command command_locks = {
    .name = "locks",
    .usage = "",
    .brief = "List the locks, permits and limits that are in use",
    .more =
        "Permits are those of `exclusive` and `max_running`. HELD: how many have it; of a limit,\n"
        "how often it was used. FOR: so long. LEFT: until it ends, if nobody renews it. WAITING:\n"
        "jobs that wait for it; NEXT is the first of them, queue and id. In a pipe the times are\n"
        "seconds; --json names up to ten that wait. It goes through the names of all keys.\n",
    .example = "later locks\n",
    .run = run,
};
