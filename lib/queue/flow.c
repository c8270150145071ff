/* flow.c: flows of a queue. */
#include "queue/flow.h"

#include "job/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void flow_begin(struct later_command *cmd, enum later_script script,
                       const struct later_keys *keys, const struct later_flow_call *call,
                       size_t count)
{
    char flow[LATER_KEY_MAX], unknown[LATER_KEY_MAX];

    later_key_flow(flow, keys, call->name, "");
    later_key_flow(unknown, keys, call->name, ":unknown");
    later_script_begin(cmd, script, keys, (const char *const[]){ flow, unknown }, count);
    later_command_text(cmd, call->name);
    later_command_text(cmd, call->adder);
    later_command_int(cmd, call->close);
    later_command_text(cmd, ""); /* kept as long as its queue says */
}

static void flow_job(struct later_command *cmd, const struct later_flow_job *job)
{
    const struct later_push_item *item = &job->item;
    char due[LATER_SECONDS_SIZE + 1] = "+";
    size_t len = item->in > 0;

    if (item->in > 0 || item->at > 0)
        len += later_seconds_spell(due + len, item->in > 0 ? item->in : item->at);
    later_command_text(cmd, item->id);
    later_command_text(cmd, job->step);
    later_command_text(cmd, job->after);
    later_command_text(cmd, job->when);
    later_command_bytes(cmd, due, len);
}

void later_flow_push(struct later_command *cmd, const struct later_keys *keys,
                     const struct later_flow_call *call, const struct later_flow_job *jobs,
                     size_t count)
{
    flow_begin(cmd, LATER_SCRIPT_FLOW_PUSH, keys, call, count);
    for (size_t i = 0; i < count; i++) {
        flow_job(cmd, &jobs[i]);
        later_queue_add_priority(cmd, &jobs[i].item);
        later_command_bytes(cmd, jobs[i].item.document, jobs[i].item.document_len);
    }
}

void later_flow_join(struct later_command *cmd, const struct later_keys *keys,
                     const struct later_flow_call *call, const struct later_flow_job *jobs,
                     const char *const *queues, size_t count)
{
    flow_begin(cmd, LATER_SCRIPT_FLOW_JOIN, keys, call, count);
    for (size_t i = 0; i < count; i++) {
        flow_job(cmd, &jobs[i]);
        later_command_text(cmd, queues[i]);
    }
}

int later_flow_joined(const struct later_reply *reply, size_t i, const char **state)
{
    const char *text = later_reply_text(later_reply_at(reply, i), NULL);

    if (strncmp(text, "PARK ", 5) != 0)
        return later_queue_pushed(reply, i, state);
    *state = text + 5;
    return LATER_IS_PUSHED;
}

void later_flow_park(struct later_command *cmd, const struct later_keys *keys,
                     const struct later_flow_park *park, const struct later_flow_job *jobs,
                     const char *const *numbers, size_t count)
{
    char mode[32];

    snprintf(mode, sizeof mode, "%s/%ju", park->seek ? "seek" : "new", (uintmax_t)park->epoch);
    later_script_begin(cmd, LATER_SCRIPT_FLOW_PARK, keys, NULL, count);
    later_command_text(cmd, mode);
    later_command_text(cmd, park->name);
    later_command_text(cmd, park->home);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, jobs[i].item.id);
        later_command_text(cmd, numbers[i]);
        later_queue_add_priority(cmd, &jobs[i].item);
        later_command_bytes(cmd, jobs[i].item.document, jobs[i].item.document_len);
    }
}

bool later_flow_was_closed(const struct later_reply *reply)
{
    return strcmp(later_reply_text(reply, NULL), "CLOSED") == 0;
}

int later_flow_pushed(const struct later_reply *reply, size_t i, const char **state)
{
    if (strcmp(later_reply_text(later_reply_at(reply, i), NULL), "WAITING") != 0)
        return later_queue_pushed(reply, i, state);
    *state = "waiting";
    return LATER_IS_PUSHED;
}

/* ---- what a job gets */

void later_flow_values(struct later_command *cmd, const struct later_keys *keys, const char *name,
                       const char *id, size_t most)
{
    char key[LATER_KEY_MAX], values[LATER_KEY_MAX], failed[LATER_KEY_MAX];

    later_key_flow(key, keys, name, "");
    later_key_flow(values, keys, name, ":values");
    later_key_flow(failed, keys, name, ":failed");
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_VALUES, keys, 0, key, values, failed);
    later_command_text(cmd, name);
    later_command_text(cmd, id);
    later_command_int(cmd, (int64_t)most);
}

/* The i-th value, from 1; NULL if there is none. Others may have written there. */
static const char *flow_value_at(const struct later_reply *reply, size_t i, size_t *len)
{
    const char *value = later_reply_text(later_reply_at(reply, 2 * i), len);
    struct later_error ignored;

    return *len && later_json_scan(value, *len, NULL, 0, &ignored) == 0 ? value : NULL;
}

const char *later_flow_value(const struct later_reply *reply, const char *step, size_t *len)
{
    *len = 0;
    for (size_t i = 1; 2 * i < later_reply_count(reply); i++) {
        if (strcmp(later_reply_text(later_reply_at(reply, 2 * i - 1), NULL), step) == 0)
            return flow_value_at(reply, i, len);
    }
    return NULL;
}

const char *later_flow_all(const struct later_reply *reply, size_t *len)
{
    const char *text = later_reply_text(later_reply_at(reply, 0), len);
    struct later_error ignored;

    return *len && later_json_scan(text, *len, NULL, 0, &ignored) == 0 ? text : NULL;
}

/* Adds `,"STEP":VALUE`. A line end can only be white space between two parts of it. */
static size_t flow_add_value(char *to, const char *step, const char *value, size_t len)
{
    size_t at = (size_t)sprintf(to, ",\"%.*s\":", LATER_FLOW_MAX, step);

    for (size_t i = 0; i < len; i++)
        to[at++] = value[i] == '\n' || value[i] == '\r' ? ' ' : value[i];
    return at;
}

char *later_flow_values_text(const struct later_reply *reply, size_t *len)
{
    size_t count = later_reply_count(reply), room = 3, at = 0, one;
    char *text;

    for (size_t i = 1; 2 * i < count; i++) {
        later_reply_text(later_reply_at(reply, 2 * i), &one);
        room += LATER_FLOW_MAX + 8 + one;
    }
    text = malloc(room);
    for (size_t i = 1; text && 2 * i < count; i++) {
        const char *step = later_reply_text(later_reply_at(reply, 2 * i - 1), NULL), *value;

        if (later_reply_is_nil(later_reply_at(reply, 2 * i)))
            continue;
        value = flow_value_at(reply, i, &one);
        at += flow_add_value(text + at, step, value ? value : "null", value ? one : 4);
    }
    if (!text)
        return NULL;
    at += (size_t)(at == 0);
    text[0] = '{';
    text[at] = '}';
    *len = at + 1;
    return text;
}

const char *later_flow_left_out(const struct later_reply *reply)
{
    for (size_t i = 1; 2 * i < later_reply_count(reply); i++) {
        if (later_reply_is_nil(later_reply_at(reply, 2 * i)))
            return later_reply_text(later_reply_at(reply, 2 * i - 1), NULL);
    }
    return NULL;
}

/* ---- news */

void later_flow_news(struct later_command *cmd, const struct later_keys *keys, uint64_t above,
                     size_t most)
{
    char least[24];

    snprintf(least, sizeof least, "(%" PRIu64, above);
    later_command_say(cmd, "ZRANGE %s %s +inf BYSCORE LIMIT 0 %ju", keys->name[LATER_KEY_NEWS],
                      least, (uintmax_t)most);
}

bool later_flow_news_read(struct later_news *news, const char *text)
{
    char kind[5] = "";
    int words;

    *news = (struct later_news){ .number = 0 };
    words = sscanf(text, "%" SCNu64 " %4[a-z] %64s", &news->number, kind, news->queue);
    news->is_job = strcmp(kind, "put") == 0;
    if (words == 3 && later_key_shard_valid(news->queue))
        return true;
    news->queue[0] = '\0';
    return false;
}

void later_flow_hear(struct later_command *cmd, const struct later_keys *keys, const char *from,
                     const char *const *news, size_t count)
{
    later_script_begin(cmd, LATER_SCRIPT_FLOW_HEAR, keys, NULL, count);
    later_command_text(cmd, from);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, news[i]);
}

void later_flow_heard(struct later_command *cmd, const struct later_keys *keys,
                      const char *const *news, size_t count)
{
    later_command_open(cmd, count, "ZREM %s", keys->name[LATER_KEY_NEWS]);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, news[i]);
}

void later_flow_seek(struct later_command *cmd, const struct later_keys *keys)
{
    later_script_begin(cmd, LATER_SCRIPT_FLOW_SEEK, keys, NULL, 0);
}

/* ---- look */

static const char *const flow_counts[] = { "total", "open", "waiting", "dead",
                                           "done",  "gone", "skipped" };
#define COUNTS (sizeof flow_counts / sizeof *flow_counts)

void later_flow_keep(struct later_command *cmd, const struct later_keys *keys, double seconds)
{
    const char *key = keys->name[LATER_KEY_STATS];

    if (seconds != LATER_FLOW_KEPT)
        later_command_say(cmd, "HSET %s flows_kept %f", key, seconds);
    else
        later_command_say(cmd, "HDEL %s flows_kept", key);
}

void later_flow_look(struct later_command *cmd, const struct later_keys *keys, const char *name)
{
    char key[LATER_KEY_MAX], starred[16];

    later_key_flow(key, keys, name, "");
    later_command_open(cmd, 2 * COUNTS, "HMGET %s closed made", key);
    for (size_t i = 0; i < COUNTS; i++) {
        snprintf(starred, sizeof starred, "*%s", flow_counts[i]);
        later_command_text(cmd, flow_counts[i]);
        later_command_text(cmd, starred);
    }
}

static uint64_t flow_count_at(const struct later_reply *reply, size_t i)
{
    return (uint64_t)later_reply_seconds(later_reply_at(reply, 2 + 2 * i), 0) +
           (uint64_t)later_reply_seconds(later_reply_at(reply, 3 + 2 * i), 0);
}

void later_flow_looked(const struct later_reply *reply, struct later_flow_sizes *sizes)
{
    const struct later_reply *closed = later_reply_at(reply, 0);

    *sizes = (struct later_flow_sizes){
        .exists = !later_reply_is_nil(closed),
        .closed = strcmp(later_reply_text(closed, NULL), "1") == 0,
        .made = later_reply_seconds(later_reply_at(reply, 1), 0),
        .total = flow_count_at(reply, 0),
        .open = flow_count_at(reply, 1),
        .waiting = flow_count_at(reply, 2),
        .dead = flow_count_at(reply, 3),
        .done = flow_count_at(reply, 4),
        .gone = flow_count_at(reply, 5),
        .skipped = flow_count_at(reply, 6),
    };
}

const char *later_flow_state(const struct later_flow_sizes *sizes)
{
    if (sizes->open == 0 && sizes->dead > 0)
        return "blocked";
    if (!sizes->closed)
        return "open";
    if (sizes->open + sizes->waiting > 0)
        return "running";
    return sizes->gone > 0 ? "ended" : "done";
}

void later_flow_names(struct later_command *cmd, const struct later_keys *keys, uint64_t rank,
                      size_t limit)
{
    later_command_say(cmd, "ZRANGE %s %ju %ju WITHSCORES", keys->name[LATER_KEY_FLOWS],
                      (uintmax_t)rank, (uintmax_t)(rank + limit - 1));
}

void later_flow_scan(struct later_command *cmd, const struct later_keys *keys, const char *name,
                     const char *cursor)
{
    char key[LATER_KEY_MAX];

    later_key_flow(key, keys, name, "");
    later_command_say(cmd, "HSCAN %s %s MATCH j:* COUNT 500", key, cursor);
}

bool later_flow_member(const char *field, const char *value, struct later_flow_member *member)
{
    int at = 0, lies = 0;

    *member = (struct later_flow_member){ .after = "" };
    if (strncmp(field, "j:", 2) != 0 || !value[0] || strlen(field + 2) >= LATER_ID_SIZE)
        return false;
    strcpy(member->id, field + 2);
    member->state = value[0];
    if (sscanf(value, "%*c %64s %7s %*s %n%*s %n", member->step, member->when, &at, &lies) == 2 &&
        at > 0) {
        member->after = value + at;
        member->after_len = strcspn(member->after, " ");
        if (member->after_len == 1 && *member->after == '-')
            member->after_len = 0;
    }
    if (lies > 0)
        sscanf(value + lies, "%64[^:]", member->queue);
    if (strcmp(member->step, "-") == 0)
        member->step[0] = '\0';
    return true;
}

const char *later_flow_word(char state)
{
    static const char letters[] = "woxdgls";
    static const char *const words[] = { "waiting", "open", "dead",   "done",
                                         "gone",    "lost", "skipped" };
    const char *at = state ? strchr(letters, state) : NULL;

    return at ? words[at - letters] : "unknown";
}
