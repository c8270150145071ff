/* inspect.c: encodes and decodes what looks at a queue. */
#include "queue/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE           500  /* elements that a ZSCAN should look at */
#define DOCUMENTS_PAGE 10   /* for a hash whose values may be large */
#define NAMES_PAGE     1000 /* keys that a SCAN should look at */

/* --- size --- */

static const char *const counters[LATER_COUNTERS] = {
    [LATER_COUNT_PUSHED] = "pushed",
    [LATER_COUNT_ADOPTED] = "adopted",
    [LATER_COUNT_DONE] = "done",
    [LATER_COUNT_EXPIRED] = "expired",
    [LATER_COUNT_CANCELLED] = "cancelled",
    [LATER_COUNT_PURGED] = "purged",
    [LATER_COUNT_TRIMMED] = "trimmed",
    [LATER_COUNT_MOVED] = "moved",
    [LATER_COUNT_DUPLICATE] = "duplicate",
    [LATER_COUNT_REPLACED] = "replaced",
    [LATER_COUNT_RELEASED] = "released",
    [LATER_COUNT_RETURNED] = "returned",
    [LATER_COUNT_BURIED] = "buried",
    [LATER_COUNT_KICKED] = "kicked",
    [LATER_COUNT_LAPSED] = "lapsed",
    [LATER_COUNT_REFUSED] = "refused",
    [LATER_COUNT_RESERVED] = "reserved",
    [LATER_COUNT_WITHDRAWN] = "withdrawn",
    [LATER_COUNT_BURIED_WAITING] = "buried_waiting",
    [LATER_COUNT_OVERRIDES] = "overrides",
    [LATER_COUNT_NEWS] = "news",
};

void later_inspect_size(struct later_command *cmd, const struct later_keys *keys)
{
    later_script_begin(cmd, LATER_SCRIPT_SIZE, keys, NULL, 0);
}

static uint64_t number_at(const struct later_reply *reply, size_t i)
{
    int64_t number = later_reply_int(later_reply_at(reply, i));

    return number > 0 ? (uint64_t)number : 0;
}

static void inspect_count(struct later_sizes *sizes, const char *name, uint64_t number)
{
    if (strcmp(name, "overdue") == 0) /* from the script: not a counter */
        sizes->overdue = number;
    if (strcmp(name, "waiting") == 0)
        sizes->waiting = number;
    if (strcmp(name, "news_left") == 0)
        sizes->news = number;
    if (strcmp(name, "news_age") == 0)
        sizes->news_age = number;
    for (int n = 0; n < LATER_COUNTERS; n++) {
        if (strcmp(name, counters[n]) == 0) {
            sizes->counters[n] = number;
            return;
        }
    }
}

void later_inspect_counted(const struct later_reply *reply, size_t at, struct later_sizes *sizes)
{
    for (; at + 1 < later_reply_count(reply); at += 2)
        inspect_count(sizes, later_reply_text(later_reply_at(reply, at), NULL),
                      number_at(reply, at + 1));
}

void later_inspect_sized(const struct later_reply *reply, struct later_sizes *sizes)
{
    *sizes =
        (struct later_sizes){ .ready = number_at(reply, 0),
                              .delayed = number_at(reply, 1),
                              .reserved = number_at(reply, 2),
                              .dead = number_at(reply, 3),
                              .paused = number_at(reply, 4) > 0,
                              .oldest_ready = later_reply_seconds(later_reply_at(reply, 5), -1),
                              .jobs = number_at(reply, 6) };
    later_inspect_counted(reply, 7, sizes);
}

struct later_plan later_inspect_planned(const struct later_reply *reply)
{
    size_t at = 7;

    while (at + 1 < later_reply_count(reply) &&
           strcmp(later_reply_text(later_reply_at(reply, at), NULL), "plan") != 0)
        at += 2;
    return later_plan_parse(later_reply_text(later_reply_at(reply, at + 1), NULL));
}

const char *later_counter_name(enum later_counter counter)
{
    return counters[counter];
}

uint64_t later_sizes_in(const struct later_sizes *sizes, enum later_key set)
{
    return set == LATER_KEY_READY      ? sizes->ready
           : set == LATER_KEY_DELAYED  ? sizes->delayed
           : set == LATER_KEY_RESERVED ? sizes->reserved
           : set == LATER_KEY_DEAD     ? sizes->dead
           : set == LATER_KEY_WAITING  ? sizes->waiting
                                       : 0;
}

/* --- peek, show --- */

void later_inspect_peek(struct later_command *cmd, const struct later_keys *keys, const char *state,
                        const char *token, uint64_t offset, size_t limit)
{
    later_script_begin_held(cmd, LATER_SCRIPT_PEEK, keys, token, 0);
    later_command_text(cmd, state);
    later_command_int(cmd, (int64_t)offset);
    later_command_int(cmd, (int64_t)limit);
}

size_t later_inspect_peeked_count(const struct later_reply *reply)
{
    return later_reply_count(reply) / 4;
}

double later_inspect_score(const struct later_reply *reply)
{
    const char *text = later_reply_text(reply, NULL);

    if (strcmp(text, "inf") == 0)
        return INFINITY;
    return strcmp(text, "-inf") == 0 ? -INFINITY : later_reply_seconds(reply, 0);
}

static void read_record(const struct later_reply *score, const char *text, size_t len,
                        struct later_seen *seen)
{
    size_t score_len;

    later_record_read(&seen->record, text, len);
    later_reply_text(score, &score_len);
    seen->has_score = score_len > 0;
    seen->score = later_inspect_score(score);
}

void later_inspect_found(const struct later_reply *score, const struct later_reply *record,
                         const struct later_reply *document, struct later_seen *seen)
{
    size_t len;
    const char *text = later_reply_text(record, &len);

    read_record(score, text, len, seen);
    seen->document = later_reply_text(document, &seen->document_len);
}

void later_inspect_kept(const struct later_reply *score, const struct later_reply *kept,
                        struct later_seen *seen)
{
    size_t len, record;
    const char *text = later_reply_text(kept, &len);
    const char *ends = memmem(text, len, "\n\n", 2);

    record = ends ? (size_t)(ends - text) + 1 : 0;
    read_record(score, text, record, seen);
    seen->document = ends ? ends + 2 : text;
    seen->document_len = ends ? len - record - 1 : len;
}

/* Reads score, record and document, the elements from `at` on. */
static void read_seen(const struct later_reply *reply, size_t at, struct later_seen *seen)
{
    later_inspect_found(later_reply_at(reply, at), later_reply_at(reply, at + 1),
                        later_reply_at(reply, at + 2), seen);
}

void later_inspect_peeked(const struct later_reply *reply, size_t i, struct later_seen *seen)
{
    seen->state = NULL;
    seen->id = later_reply_text(later_reply_at(reply, 4 * i), NULL);
    read_seen(reply, 4 * i + 1, seen);
}

void later_inspect_shown(const struct later_reply *reply, struct later_seen *seen)
{
    seen->id = NULL;
    seen->state = later_reply_text(later_reply_at(reply, 0), NULL);
    read_seen(reply, 1, seen);
}

/* --- act, pause, resume, wake --- */

void later_inspect_act(struct later_command *cmd, const struct later_keys *keys, const char *verb,
                       const char *state, const char *token, const char *with,
                       const struct later_acted *jobs, size_t count)
{
    later_script_begin_held(cmd, LATER_SCRIPT_ACT, keys, token, count);
    later_command_text(cmd, verb);
    later_command_text(cmd, state);
    later_command_text(cmd, with);
    for (size_t i = 0; i < count; i++) {
        later_command_bytes(cmd, jobs[i].id, jobs[i].len);
        later_command_text(cmd, jobs[i].score);
    }
}

void later_inspect_plain(struct later_command *cmd, const struct later_keys *keys,
                         enum later_script script)
{
    later_script_begin(cmd, script, keys, NULL, 0);
}

void later_inspect_pause(struct later_command *cmd, const struct later_keys *keys, double seconds,
                         const char *who)
{
    later_script_begin(cmd, LATER_SCRIPT_PAUSE, keys, NULL, *who ? 2 : seconds > 0);
    if (seconds > 0 || *who)
        later_command_int(cmd, (int64_t)(seconds * 1000));
    if (*who)
        later_command_text(cmd, who);
}

void later_inspect_why_paused(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "GET %s", keys->name[LATER_KEY_PAUSED]);
}

bool later_inspect_paused(const struct later_reply *reply, struct later_pause *pause)
{
    const char *text = later_reply_text(reply, NULL);

    *pause = (struct later_pause){ 0 };
    if (!reply || later_reply_is_nil(reply))
        return false;
    if (sscanf(text, "%lf %lf %64s", &pause->since, &pause->until, pause->who) < 2)
        *pause = (struct later_pause){ 0 };
    return true;
}

/* --- plain commands --- */

void later_inspect_from(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *score, uint64_t offset, size_t count)
{
    later_command_say(cmd, "ZRANGEBYSCORE %s %s +inf WITHSCORES LIMIT %ju %ju", keys->name[key],
                      score, (uintmax_t)offset, (uintmax_t)count);
}

void later_inspect_back(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *score, uint64_t offset, size_t count)
{
    later_command_say(cmd, "ZRANGE %s %s -inf BYSCORE REV LIMIT %ju %ju WITHSCORES",
                      keys->name[key], score, (uintmax_t)offset, (uintmax_t)count);
}

void later_inspect_scan(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *cursor)
{
    bool hash = key == LATER_KEY_JOBS || key == LATER_KEY_RECORDS || key == LATER_KEY_FAIR;
    int page = key == LATER_KEY_JOBS ? DOCUMENTS_PAGE : PAGE;

    later_command_say(cmd, "%s %s %s COUNT %d", hash ? "HSCAN" : "ZSCAN", keys->name[key], cursor,
                      page);
}

void later_inspect_count(struct later_command *cmd, const struct later_keys *keys,
                         enum later_key key)
{
    bool hash = key == LATER_KEY_JOBS || key == LATER_KEY_RECORDS || key == LATER_KEY_KEPT ||
                key == LATER_KEY_FAIR;

    later_command_say(cmd, "%s %s", hash ? "HLEN" : "ZCARD", keys->name[key]);
}

void later_inspect_second_wake(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "LINDEX %s 1", keys->name[LATER_KEY_WAKE]);
}

void later_inspect_names(struct later_command *cmd, const char *prefix, const char *cursor)
{
    char match[LATER_PREFIX_MAX + 8];

    snprintf(match, sizeof match, "%s:{*}:*", prefix);
    later_command_say(cmd, "SCAN %s MATCH %s COUNT %d", cursor, match, NAMES_PAGE);
}

const struct later_reply *later_inspect_scanned(const struct later_reply *reply, char cursor[32])
{
    size_t len;
    const char *text = later_reply_text(later_reply_at(reply, 0), &len);

    if (len == 0 || len > 31) { /* an impossible cursor: end rather than loop */
        text = "0";
        len = 1;
    }
    memcpy(cursor, text, len);
    cursor[len] = '\0';
    return later_reply_at(reply, 1);
}

void later_inspect_scores(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, size_t count)
{
    later_command_open(cmd, count, "ZMSCORE %s", keys->name[key]);
}

void later_inspect_fields(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, size_t count)
{
    later_command_open(cmd, count, "HMGET %s", keys->name[key]);
}

void later_inspect_exists(struct later_command *cmd, const struct later_keys *keys, const char *id,
                          size_t len)
{
    later_command_open(cmd, 1, "HEXISTS %s", keys->name[LATER_KEY_JOBS]);
    later_command_bytes(cmd, id, len);
}

void later_inspect_limit(struct later_command *cmd, const struct later_keys *keys, uint64_t jobs)
{
    const char *key = keys->name[LATER_KEY_STATS];

    if (jobs)
        later_command_say(cmd, "HSET %s max_jobs %ju", key, (uintmax_t)jobs);
    else
        later_command_say(cmd, "HDEL %s max_jobs", key);
}

void later_inspect_weights(struct later_command *cmd, const struct later_keys *keys,
                           const char *const *groups, const double *weights, size_t count)
{
    later_command_open(cmd, 2 * count, "HSET %s", keys->name[LATER_KEY_GROUPS]);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, groups[i]);
        later_command_seconds(cmd, weights[i]);
    }
}

void later_inspect_weightless(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "DEL %s", keys->name[LATER_KEY_GROUPS]);
}

void later_inspect_edit(struct later_command *cmd, const struct later_keys *keys, const char *id,
                        const char *seen, size_t seen_len, const char *made, size_t made_len)
{
    later_script_begin(cmd, LATER_SCRIPT_EDIT, keys, NULL, 0);
    later_command_text(cmd, id);
    later_command_bytes(cmd, seen, seen_len);
    later_command_bytes(cmd, made, made_len);
}

void later_inspect_reschedule(struct later_command *cmd, const struct later_keys *keys,
                              const char *id, const struct later_rescheduled *to)
{
    char seconds[LATER_SECONDS_SIZE], when[LATER_SECONDS_SIZE + 1] = "";

    later_seconds_spell(seconds, to->at > 0 ? to->at : to->in);
    if (to->moves)
        snprintf(when, sizeof when, "%s%s", to->at > 0 ? "" : "+", seconds);
    later_script_begin(cmd, LATER_SCRIPT_RESCHEDULE, keys, NULL, 0);
    later_command_text(cmd, id);
    later_command_text(cmd, when);
    if (to->ranks)
        later_command_int(cmd, to->priority);
    else
        later_command_text(cmd, "");
}

void later_inspect_locate(struct later_command *cmd, const struct later_keys *keys, const char *id,
                          const char *token)
{
    later_script_begin_held(cmd, LATER_SCRIPT_LOCATE, keys, token, 0);
    later_command_text(cmd, id);
}

void later_inspect_held(struct later_command *cmd, const struct later_keys *keys, const char *token)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_command_say(cmd, "ZRANGE %s 0 %d", held, LATER_BATCH_MAX - 1);
}

void later_inspect_held_scores(struct later_command *cmd, const struct later_keys *keys,
                               const char *token)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_command_say(cmd, "ZRANGE %s 0 %d WITHSCORES", held, LATER_BATCH_MAX - 1);
}

void later_inspect_member(struct later_command *cmd, const struct later_keys *keys,
                          const char *token, const char *id)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_command_say(cmd, "ZSCORE %s %s", held, id);
}

void later_inspect_wait(struct later_command *cmd, const struct later_keys *const *queues,
                        size_t count, double seconds)
{
    later_command_open(cmd, count + 1, "BLPOP");
    for (size_t i = 0; i < count; i++)
        later_command_bytes(cmd, queues[i]->name[LATER_KEY_WAKE], queues[i]->len[LATER_KEY_WAKE]);
    later_command_seconds(cmd, seconds);
}

void later_inspect_queues(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_queues(key, prefix);
    later_command_say(cmd, "SMEMBERS %s", key);
}

void later_inspect_unlist(struct later_command *cmd, const char *prefix, const char *queue)
{
    char key[LATER_KEY_MAX];

    later_key_queues(key, prefix);
    later_command_say(cmd, "SREM %s %s", key, queue);
}

void later_inspect_unplan(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "DEL %s", keys->name[LATER_KEY_SHARDS]);
}

void later_inspect_hosts(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_hosts(key, prefix);
    later_command_say(cmd, "HGETALL %s", key);
}

void later_inspect_time(struct later_command *cmd)
{
    later_command_say(cmd, "TIME");
}

double later_inspect_timed(const struct later_reply *reply)
{
    return later_reply_seconds(later_reply_at(reply, 0), 0) +
           later_reply_seconds(later_reply_at(reply, 1), 0) / 1e6;
}

const char *later_inspect_field(const struct later_reply *reply, const char *field)
{
    const char *text = later_reply_text(reply, NULL), *found = text;

    while ((found = strstr(found, field)) && found > text && found[-1] != '\n')
        found++;
    return found ? found + strlen(field) : NULL;
}

double later_inspect_number(const struct later_reply *reply, const char *field, double otherwise)
{
    const char *found = later_inspect_field(reply, field);
    double number, part = 1;
    char *p;

    if (!found)
        return otherwise;
    number = (double)strtoll(found, &p, 10);
    if (*p == '.') {
        while (*++p >= '0' && *p <= '9')
            number += (*p - '0') * (part /= 10);
    }
    return number;
}

void later_inspect_cpu(struct later_command *cmd)
{
    later_command_say(cmd, "INFO cpu");
}

double later_inspect_worked(const struct later_reply *reply)
{
    double itself = later_inspect_number(reply, "used_cpu_user:", -1);
    double kernel = later_inspect_number(reply, "used_cpu_sys:", -1);

    return itself < 0 || kernel < 0 ? -1 : itself + kernel;
}

void later_inspect_server(struct later_command *cmd)
{
    later_command_say(cmd, "INFO server");
}

double later_inspect_uptime(const struct later_reply *reply)
{
    return later_inspect_number(reply, "uptime_in_seconds:", INFINITY);
}

void later_inspect_state(struct later_command *cmd)
{
    later_command_say(cmd, "INFO");
}

void later_inspect_stated(const struct later_reply *reply, struct later_redis_state *state)
{
    const char *text = later_reply_text(reply, NULL);

    *state = (struct later_redis_state){ .used = later_inspect_number(reply, "used_memory:", 0),
                                         .most = later_inspect_number(reply, "maxmemory:", 0) };
    if (strstr(text, "aof_last_write_status:err"))
        state->disk = "the append-only file could not be written";
    else if (strstr(text, "rdb_last_bgsave_status:err"))
        state->disk = "the last snapshot could not be written";
}
