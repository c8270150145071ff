/* look.c: what Redis holds, for the tests of the scripts (harness.h). */
#include "harness.h"

#include "queue/conservation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text(const char *format, ...)
{
    char *out;
    va_list args;
    int len;

    va_start(args, format);
    len = vasprintf(&out, format, args);
    va_end(args);
    harness_assert(len >= 0, "no memory");
    return harness_keep(out);
}

const char *flat(const redisReply *reply)
{
    char *out;
    size_t len;
    FILE *file;

    switch (reply->type) {
    case REDIS_REPLY_NIL:
        return "nil";
    case REDIS_REPLY_INTEGER:
        return text("%lld", reply->integer);
    case REDIS_REPLY_ARRAY:
        break;
    default:
        return reply->str;
    }
    file = open_memstream(&out, &len);
    harness_assert(file, "no memory");
    for (size_t i = 0; i < reply->elements; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", flat(reply->element[i]));
    fclose(file);
    return harness_keep(out);
}

const char *held_by(const char *token)
{
    return key(text("reserved:%s", token));
}

static const char *reserved_members(void)
{
    const redisReply *tokens = ask("ZRANGE %s 0 -1", key("reserved"));
    const char *list = "";

    for (size_t i = 0; i < tokens->elements; i++) {
        const char *token = tokens->element[i]->str;
        const redisReply *ids = ask("ZRANGE %s 0 -1", held_by(token));

        for (size_t n = 0; n < ids->elements; n++)
            list = text("%s%s%s:%s", list, *list ? " " : "", token, ids->element[n]->str);
    }
    return list;
}

static long long reserved_count(void)
{
    const redisReply *tokens = ask("ZRANGE %s 0 -1", key("reserved"));
    long long count = 0;

    for (size_t i = 0; i < tokens->elements; i++)
        count += ask("ZCARD %s", held_by(tokens->element[i]->str))->integer;
    ck_assert_uint_eq(ask("KEYS %s", held_by("*"))->elements, tokens->elements);
    return count;
}

const char *members(const char *set)
{
    if (strcmp(set, "reserved") == 0)
        return reserved_members();
    return flat(ask("ZRANGE %s 0 -1", key(set)));
}

const char *score_text(const char *set, const char *id)
{
    const redisReply *reply;

    if (strcmp(set, "reserved") == 0) {
        reply = ask("ZSCORE %s %s", held_by(text("%.16s", id)), id + 17);
        if (reply->type != REDIS_REPLY_STRING)
            return "";
        id = text("%.16s", id);
    }
    reply = ask("ZSCORE %s %s", key(set), id);

    return reply->type == REDIS_REPLY_STRING ? reply->str : "";
}

double score(const char *set, const char *id)
{
    const char *number = score_text(set, id);

    return *number ? strtod(number, NULL) : (double)NAN;
}

const char *field(const char *hash, const char *name)
{
    const redisReply *reply = ask("HGET %s %s", key(hash), name);

    return reply->type == REDIS_REPLY_STRING ? reply->str : "";
}

long long size_of(const char *name)
{
    static const char *const readers[][2] = {
        { "zset", "ZCARD" }, { "hash", "HLEN" }, { "list", "LLEN" }, { "string", "EXISTS" }
    };
    const char *type = ask("TYPE %s", key(name))->str;

    if (strcmp(name, "reserved") == 0)
        return reserved_count();
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (strcmp(readers[i][0], type) == 0)
            return ask("%s %s", readers[i][1], key(name))->integer;
    }
    return 0;
}

long long stat_of(const char *counter)
{
    return atoll(field("stats", counter));
}

double now(void)
{
    const redisReply *time = ask("TIME");

    return strtod(time->element[0]->str, NULL) + strtod(time->element[1]->str, NULL) / 1e6;
}

/* ---- the whole of Redis */

static uint64_t mix(uint64_t sum, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u; /* FNV-1a, 64 bits */
    return sum;
}

/* Asked for in one call, since it is asked for thousands of times. */
uint64_t digest(void)
{
    static const char all[] =
        "local all = {} local names = redis.call('KEYS', '*') table.sort(names) "
        "for _, name in ipairs(names) do "
        "table.insert(all, name) "
        "table.insert(all, redis.call('DUMP', name)) "
        "table.insert(all, tostring(redis.call('PEXPIRETIME', name))) "
        "end return all";
    const redisReply *parts = ask("EVAL %s 0", all);
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < parts->elements; i++)
        sum = mix(sum, parts->element[i]->str, parts->element[i]->len + 1);
    return sum;
}

const char *value_in(const char *record, const char *tag)
{
    const char *at = strstr(text("\n%s", record), text("\n%s=", tag));

    return at ? text("%.*s", (int)strcspn(at + 2 + strlen(tag), "\n"), at + 2 + strlen(tag)) : "";
}

const char *noted(const char *tag, const char *id)
{
    return value_in(field("records", id), tag);
}

long long how_many(const char *tag)
{
    const redisReply *ids = ask("HKEYS %s", key("records"));
    long long count = 0;

    for (size_t i = 0; i < ids->elements; i++)
        count += *noted(tag, ids->element[i]->str) != '\0';
    return count;
}

/* How many members have no entry in `jobs`: those not adopted yet. */
static long long strangers(const char *set)
{
    const redisReply *ids = ask("ZRANGE %s 0 -1", key(set));
    long long count = 0;

    for (size_t i = 0; i < ids->elements; i++) {
        const redisReply *id = ids->element[i];

        count += !ask("HEXISTS %s %b", key("jobs"), id->str, id->len)->integer;
    }
    return count;
}

void check_members(void)
{
    const struct later_sizes sizes = {
        .ready = (uint64_t)size_of("ready"),
        .delayed = (uint64_t)size_of("delayed"),
        .reserved = (uint64_t)size_of("reserved"),
        .dead = (uint64_t)size_of("dead"),
        .waiting = (uint64_t)size_of("waiting"),
        .jobs = (uint64_t)size_of("jobs"),
    };

    ck_assert_int_eq(later_unadopted(&sizes),
                     strangers("ready") + strangers("delayed") + strangers("dead"));
}

void check_sums(void)
{
    struct later_sizes sizes = { .jobs = (uint64_t)size_of("jobs") };
    char sum[400];

    for (int i = 0; i < LATER_CONSERVED; i++)
        sizes.counters[i] = (uint64_t)stat_of(later_counter_name((enum later_counter)i));
    ck_assert_msg(later_conserved(&sizes), "%s", later_conserved_text(&sizes, sum, sizeof sum));
    check_members();
    ck_assert_int_le(size_of("wake"), 1);
}

void check_wake(void)
{
    bool work = size_of("ready") > 0 && size_of("paused") == 0;

    ck_assert_int_eq(size_of("wake"), work);
}

void check_error(const char *id, int attempt, double after, const char *tail)
{
    const char *error = noted("e", id);
    char *end;
    double at;

    ck_assert_mem_eq(error, "{\"at\":", 6);
    at = strtod(error + 6, &end);
    ck_assert_int_eq(end[-7], '.'); /* microseconds */
    ck_assert_double_ge(at, after);
    ck_assert_double_le(at, now());
    ck_assert_str_eq(end, text(",\"attempt\":%d,%s", attempt, tail));
}
