/* harness.c: runs a script by name, and keeps its answer until the test ends. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server harness_server;
redisContext *harness_redis;

#define LOCK      "later:lock:{n}"
#define HELD      "held"
#define FRESH     "fresh"           /* of the token that is the first argument */
#define FLOW      "later:{q}:flow:" /* then the name, which is the first argument */
#define LINE(key) key, key ":waiting", key ":due"

static char held_token[80] = "none";
static const char *ahead[AHEAD_MAX];
static size_t ahead_count;
static char shared_name[64];

static struct later_keys keys;
static bool stands_still;

/* What is freed at the end of a test. */
static struct kept {
    struct kept *next;
    void *memory;
    redisReply *reply;
} * heap;

/* The arguments of the next script. */
static struct {
    char **argv;
    size_t *len;
    size_t count;
    bool token_taken; /* off the arguments */
} pending;

#define TELLING_MAX 8

/* What it tells; count 0: nothing. */
static struct {
    const char *lines[TELLING_MAX];
    int count, kept;
} telling;

/* ---- life */

static struct kept *keep(void)
{
    struct kept *kept = calloc(1, sizeof *kept);

    harness_assert(kept, "no memory");
    kept->next = heap;
    heap = kept;
    return kept;
}

void *harness_keep(void *memory)
{
    harness_assert(memory, "no memory");
    keep()->memory = memory;
    return memory;
}

redisReply *harness_keep_reply(redisReply *reply)
{
    harness_assert(reply, "no answer: %s", harness_redis->errstr);
    keep()->reply = reply;
    return reply;
}

void harness_free(void)
{
    while (heap) {
        struct kept *next = heap->next;

        freeReplyObject(heap->reply);
        free(heap->memory);
        free(heap);
        heap = next;
    }
}

/* FLUSHALL leaves them, so the first test loads them for all. Tests that drop them load none but
 * those of the tour again, of which probe is not. */
static void load_scripts(void)
{
    if (ask("SCRIPT EXISTS %s", script_text("probe")->sha)->element[0]->integer)
        return;
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++)
        ask("SCRIPT LOAD %b", later_script_texts[i].text, later_script_texts[i].len);
}

static void open_redis(void)
{
    later_keys_init(&keys, "later", "q");
    harness_redis = server_connect(&harness_server);
    ck_assert_ptr_nonnull(harness_redis);
    ask("FLUSHALL");
    ask("CONFIG SET maxmemory 0");
    load_scripts();
}

void harness_stand_still(void)
{
    stands_still = true;
}

void on_queue(const char *name)
{
    later_keys_init(&keys, "later", name);
}

static void drop_arguments(void)
{
    for (size_t i = 0; i < pending.count; i++)
        free(pending.argv[i]);
    free(pending.argv);
    free(pending.len);
    memset(&pending, 0, sizeof pending);
}

static void close_redis(void)
{
    drop_arguments();
    harness_free();
    redisFree(harness_redis);
    harness_redis = NULL;
}

int main(void)
{
    int status;

    if (server_start_with_clock(&harness_server, NULL) < 0)
        return 99;
    if (stands_still)
        server_stand_still(&harness_server);
    tcase_add_checked_fixture(unit_current("scripts"), open_redis, close_redis);
    status = unit_run();
    server_stop(&harness_server);
    return status;
}

/* ---- commands and scripts */

static redisReply *vask(const char *format, va_list args)
{
    return harness_keep_reply(redisvCommand(harness_redis, format, args));
}

redisReply *ask(const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = vask(format, args);
    va_end(args);
    harness_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", format, reply->str);
    return reply;
}

redisReply *ask_error(const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = vask(format, args);
    va_end(args);
    return reply;
}

void arg_bytes(const char *bytes, size_t len)
{
    size_t n = pending.count++;

    pending.argv = realloc(pending.argv, pending.count * sizeof *pending.argv);
    pending.len = realloc(pending.len, pending.count * sizeof *pending.len);
    harness_assert(pending.argv && pending.len, "no memory");
    pending.argv[n] = malloc(len + 1);
    harness_assert(pending.argv[n], "no memory");
    memcpy(pending.argv[n], bytes, len);
    pending.argv[n][len] = '\0';
    pending.len[n] = len;
}

void arg(const char *string)
{
    arg_bytes(string, strlen(string));
}

void argf(const char *format, ...)
{
    char buffer[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    arg(buffer);
}

const struct later_script_text *script_text(const char *script)
{
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++) {
        if (strcmp(later_script_texts[i].name, script) == 0)
            return &later_script_texts[i];
    }
    ck_abort_msg("no script %s", script);
}

void go_ahead(const char *key)
{
    harness_assert(ahead_count < AHEAD_MAX, "too many keys");
    ahead[ahead_count++] = key;
}

void hold_by(const char *token)
{
    snprintf(held_token, sizeof held_token, "%s", token);
}

void share_by(const char *name)
{
    snprintf(shared_name, sizeof shared_name, "%s", name);
}

static bool has_token(const char *argument)
{
    return strspn(argument, "0123456789abcdefghijklmnopqrstuvwxyz") == 16 && argument[16] == ':';
}

/* The token of the arguments, or of a reserve. */
static void find_token(const char *script)
{
    bool found = false;

    if (pending.token_taken)
        return;
    pending.token_taken = true;
    if (strcmp(script, "reserve") == 0 && pending.count > 0)
        hold_by(pending.argv[0]);
    for (size_t i = 0; i < pending.count; i++) {
        char *argument = pending.argv[i];

        if (!has_token(argument))
            continue;
        if (!found)
            hold_by(text("%.16s", argument));
        found = true;
        if (strncmp(argument, held_token, 16) == 0) {
            pending.len[i] -= 17;
            memmove(argument, argument + 17, pending.len[i] + 1);
        }
    }
}

/* Keys that are not of a queue come in the order of the head; there is one table of them here. */
void script_keys(const struct later_script_text *script, const char *out[16])
{
    static const char *const others[][7] = {
        { "ack", HELD },
        { "ack_all", HELD },
        { "act", HELD },
        { "bury", HELD },
        { "cancel", HELD },
        { "expire", HELD },
        { "finish", HELD, "later:{q}:result:x" },
        { "finish_all", HELD },
        { "lapse", HELD },
        { "locate", HELD },
        { "peek", HELD },
        { "progress", HELD },
        { "result", "later:{q}:result:x" },
        { "release", HELD },
        { "reserve", HELD },
        { "return", HELD },
        { "step", HELD, FRESH },
        { "touch", HELD },
        { "push", "later:{q}:call:c" },
        { "flow_join", FLOW, FLOW ":unknown" },
        { "flow_push", FLOW, FLOW ":unknown" },
        { "values", FLOW, FLOW ":values", FLOW ":failed" },
        { "push_now", "later:{q}:call:n" },
        { "limit_fixed", "later:limit:{k}" },
        { "limit_sliding", "later:limit:{s}" },
        { "lock_free", LOCK, LOCK ":wake" },
        { "limit_begun", "later:limit:{f}" },
        { "limit_free", "later:limit:{f}" },
        { "limit_line", LINE("later:limit:{f}") },
        { "limit_take", LINE("later:limit:{f}") },
        { "lock_line", LOCK, LOCK ":wake", LOCK ":waiting", LOCK ":due" },
        { "lock_show", LOCK, LOCK ":fence" },
        { "lock_take", LOCK, LOCK ":fence", LOCK ":wake", LOCK ":waiting", LOCK ":due" },
        { "lock_touch", LOCK },
        { "lock_wake", LOCK, LOCK ":wake" },
        { "looker", "later:lookers:{k}" },
        { "note", "later:{q}:minute:1" },
        { "permit_free", "later:running:{n}" },
        { "permit_line", LINE("later:running:{n}") },
        { "permit_take", LINE("later:running:{n}") },
        { "permit_touch", "later:running:{n}" },
        { "stock_claim", "later:stock:{i}", "later:stock:{i}:claims" },
        { "stock_release", "later:stock:{i}:claims" },
        { "stock_set", "later:stock:{i}", "later:stock:{i}:claims" },
        { "stock_show", "later:stock:{i}", "later:stock:{i}:claims" },
    };
    const char *const *other = NULL;

    find_token(script->name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i][0], script->name) == 0)
            other = &others[i][1];
    }
    for (int i = 0; i < script->key_count; i++) {
        harness_assert(script->keys[i] >= 0 || (other && *other),
                       "script_keys() in harness.c lacks key %d of %s", i + 1, script->name);
        out[i] = script->keys[i] >= 0 ? keys.name[script->keys[i]] : *other++;
        if (strcmp(out[i], HELD) == 0)
            out[i] = key(text("reserved:%s", held_token));
        else if (strcmp(out[i], FRESH) == 0)
            out[i] = key(text("reserved:%s", pending.count > 0 ? pending.argv[0] : ""));
        else if (*shared_name && (strstr(out[i], "{n}") || strstr(out[i], "{f}")))
            out[i] = text("%.*s{%s%s", (int)strcspn(out[i], "{"), out[i], shared_name,
                          strchr(out[i], '}'));
        else if (strncmp(out[i], FLOW, sizeof FLOW - 1) == 0 && pending.count > 0)
            out[i] = key(text("flow:%s%s", pending.argv[0], out[i] + sizeof FLOW - 1));
    }
}

void hold(const char *ids)
{
    for (; *ids; ids++)
        push(text("%c", *ids));
    reserve('t', 500);
}

const char *mine(const char *id)
{
    return member('t', id);
}

long long lapse(const char *reason)
{
    const redisReply *told = run("migrate", "1", NULL);
    long long count = 0;

    for (size_t i = 6; i < told->elements; i++) {
        hold_by(told->element[i]->str);
        count += run("lapse", "0", reason, NULL)->integer;
    }
    return count;
}

void tell(int kept, const char *line, ...)
{
    va_list args;

    telling.kept = kept;
    telling.count = 0;
    va_start(args, line);
    for (; line; line = va_arg(args, const char *)) {
        ck_assert_int_lt(telling.count, TELLING_MAX);
        telling.lines[telling.count++] = line;
    }
    va_end(args);
}

/* As later_script_load() does. */
static void load_telling(const struct later_script_text *script)
{
    const struct later_script_around *around = &later_script_told;

    ck_assert_str_eq(
        ask("SCRIPT LOAD %s", text("%s%s%s", around->before, script->text, around->after))->str,
        script->told);
}

static void add_telling(const struct later_script_text *script)
{
    load_telling(script);
    for (int i = 0; i < telling.count; i++)
        arg(telling.lines[i]);
    arg("h");
    argf("%d", telling.kept);
    argf("%d", telling.count);
    telling.count = 0;
}

static redisReply *evalsha(const char *name)
{
    const struct later_script_text *script = script_text(name);
    const char *keys_of[16 + AHEAD_MAX + 1];
    bool told = telling.count > 0;
    size_t key_count = (size_t)script->key_count, argc;
    const char **argv;
    redisReply *reply;
    size_t *len;

    script_keys(script, keys_of);
    for (size_t i = 0; i < ahead_count; i++)
        keys_of[key_count++] = ahead[i];
    ahead_count = 0;
    if (told) {
        keys_of[key_count++] = key("events");
        add_telling(script);
    }
    argc = 3 + key_count + pending.count;
    argv = malloc(argc * sizeof *argv);
    len = malloc(argc * sizeof *len);
    harness_assert(argv && len, "no memory");
    argv[0] = "EVALSHA";
    argv[1] = told ? script->told : script->sha;
    argv[2] = text("%zu", key_count);
    memcpy(&argv[3], keys_of, key_count * sizeof *argv);
    for (size_t i = 0; i < 3 + key_count; i++)
        len[i] = strlen(argv[i]);
    for (size_t i = 0; i < pending.count; i++) {
        argv[3 + key_count + i] = pending.argv[i];
        len[3 + key_count + i] = pending.len[i];
    }
    reply = redisCommandArgv(harness_redis, (int)argc, argv, len);
    free(argv);
    free(len);
    drop_arguments();
    hold_by("none");
    share_by("");
    return harness_keep_reply(reply);
}

static void add_arguments(va_list args)
{
    const char *string;

    while ((string = va_arg(args, const char *)) != NULL)
        arg(string);
}

redisReply *run(const char *script, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, script);
    add_arguments(args);
    va_end(args);
    reply = evalsha(script);
    harness_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", script, reply->str);
    return reply;
}

redisReply *run_any(const char *script, ...)
{
    va_list args;

    va_start(args, script);
    add_arguments(args);
    va_end(args);
    return evalsha(script);
}

const char *run_error(const char *script, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, script);
    add_arguments(args);
    va_end(args);
    reply = evalsha(script);
    ck_assert_msg(reply->type == REDIS_REPLY_ERROR, "%s is not refused", script);
    return reply->str;
}

void push_when(const char *id, const char *when)
{
    ck_assert_str_eq(flat(run("push", "0", "new", id, when, "0", "{\"type\":\"t\"}", NULL)),
                     "PUSHED");
}

void push_priority(const char *id, int priority)
{
    arg("0");
    ck_assert_str_eq(
        flat(run("push", "new", id, "", text("%d", priority), "{\"type\":\"t\"}", NULL)), "PUSHED");
}

void push(const char *id)
{
    push_when(id, "");
}

const char *member(char token, const char *id)
{
    char name[17];

    memset(name, token, 16);
    name[16] = '\0';
    return text("%s:%s", name, id);
}

redisReply *reserve_bytes(char token, int limit, long bytes)
{
    char name[17];

    memset(name, token, 16);
    name[16] = '\0';
    return run("reserve", name, "30", text("%d", limit), text("%ld", bytes), "0", NULL);
}

redisReply *reserve_idle(char token, int limit)
{
    return run("reserve", text("%.16s", member(token, "")), "30", text("%d", limit), "262144",
               "0/idle", NULL);
}

redisReply *reserve(char token, int limit)
{
    return reserve_bytes(token, limit, 262144);
}

const char *told(const redisReply *reply, size_t i, enum part part)
{
    ck_assert_uint_gt(reply->elements, 1 + 3 * i + part);
    return reply->element[1 + 3 * i + part]->str;
}

size_t jobs_in(const redisReply *reply)
{
    ck_assert_uint_eq(reply->elements % 3, 1);
    return reply->elements / 3;
}

const char *key(const char *name)
{
    return text("later:{%s}:%s", keys.queue, name);
}

void make_due(const char *set)
{
    /* Of `reserved` the tokens. */
    const redisReply *ids = ask("ZRANGE %s 0 -1", key(set));

    for (size_t i = 0; i < ids->elements; i++)
        ask("ZADD %s %s %s", key(set), text("17000000%02d.5", (int)i), ids->element[i]->str);
}

/* ---- a queue to begin with */

const char *const tags[5] = { "a", "c", "i", "p", "e" };

static const char *const states[] = { "ready", "delayed", "reserved", "dead" };

void one_in_each_state(void)
{
    push("reserved");
    reserve('r', 1);
    push("dead");
    reserve('d', 1);
    run("bury", member('d', "dead"), "ran", "", NULL);
    push("ready");
    push_when("delayed", "+100");
}

void fill_record(const char *id)
{
    ask("HSET %s %s %s", key("records"), id, FULL_RECORD);
}

void note(const char *tag, const char *id, const char *value)
{
    const char *record = field("records", id), *old = noted(tag, id);
    const char *at = *old ? strstr(text("\n%s", record), text("\n%s=%s\n", tag, old)) : NULL;
    size_t before = at ? (size_t)(strlen(record) + 1 - strlen(at)) : strlen(record);
    const char *rest = at ? at + strlen(tag) + strlen(old) + 3 : "";

    ask("HSET %s %s %s", key("records"), id,
        text("%.*s%s%s=%s\n", (int)before, record, rest, tag, value));
}

void fill_each_state(void)
{
    for (size_t i = 0; i < 4; i++)
        fill_record(states[i]);
}

redisContext *listen_to(const char *channel)
{
    redisContext *listener = server_connect(&harness_server);
    redisReply *subscribed = redisCommand(listener, "SUBSCRIBE %s", key(channel));

    ck_assert_int_eq(subscribed->type, REDIS_REPLY_ARRAY);
    freeReplyObject(subscribed);
    return listener;
}

const char *heard(redisContext *listener, const char *channel)
{
    void *reply, *end;

    ask("PUBLISH %s end", key(channel));
    ck_assert_int_eq(redisGetReply(listener, &reply), REDIS_OK);
    harness_keep_reply(reply);
    if (strcmp(((redisReply *)reply)->element[2]->str, "end") != 0) {
        ck_assert_int_eq(redisGetReply(listener, &end), REDIS_OK);
        harness_keep_reply(end);
    }
    return ((redisReply *)reply)->element[2]->str;
}
