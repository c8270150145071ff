/* why_line.c: the lock, the permit or the limit that a delayed job waits for. */
#include "why/why_inner.h"

#include "queue/held.h"
#include "queue/line.h"
#include "queue/lock.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINES 12 /* lines in which a job is looked for */

/* A line in which the job may be. */
struct why_need {
    enum later_held kind;
    int64_t max;
    double per;
    char name[LATER_LOCK_MAX + 1];
};

struct why_needs {
    struct why_need list[LINES];
    size_t count;
};

static void why_line_add(struct why_needs *needs, const struct why_need *need)
{
    for (size_t i = 0; i < needs->count; i++) {
        if (needs->list[i].kind == need->kind && strcmp(needs->list[i].name, need->name) == 0)
            return;
    }
    if (needs->count < LINES && later_key_name_valid(need->name))
        needs->list[needs->count++] = *need;
}

/* One entry of `needs` of a daemon (announce_needs.h), if it is for such jobs. */
static void why_line_read(const struct why_look *look, const json_t *entry, struct why_needs *needs)
{
    const char *type = text_member(entry, "type"), *queue = text_member(entry, "queue");
    const char *kind = text_member(entry, "kind"), *name = text_member(entry, "name");
    const char *member = text_member(entry, "member"), *group = text_member(entry, "group");
    bool by_group = *text_member(entry, "by") != '\0';
    char value[LATER_TYPE_MAX + 1] = "";
    struct why_need need = { .max = json_integer_value(json_object_get(entry, "max")),
                             .per = text_number_member(entry, "per") };
    size_t len = strlen(name);

    if (*type ? !config_type_matches(type, look->doc->type)
              : !config_type_matches(queue, look->whole->name))
        return;
    if (*group && strcmp(group, look->doc->group) != 0)
        return;
    need.kind = strcmp(kind, "lock") == 0                            ? LATER_HELD_LOCK
                : strcmp(kind, "permit") == 0                        ? LATER_HELD_PERMIT
                : strcmp(text_member(entry, "window"), "fixed") == 0 ? LATER_HELD_FIXED
                                                                     : LATER_HELD_SLIDING;
    if (*member && strlen(member) < 64)
        later_document_bucket(look->doc, member, value);
    else if (by_group)
        snprintf(value, sizeof value, "%s", look->doc->group);
    else if (len > 0 && name[len - 1] == ':')
        snprintf(value, sizeof value, "%s", *type ? look->doc->type : look->whole->name);
    later_line_named(need.name, name, value);
    why_line_add(needs, &need);
}

/* What such a job needs, by its document and by the daemons that serve its queue. */
static void why_line_needs(const struct why_look *look, struct why_needs *needs)
{
    const struct served *served = look->why->served;
    struct why_need lock = { .kind = LATER_HELD_LOCK };

    needs->count = 0;
    snprintf(lock.name, sizeof lock.name, "%s", look->doc->lock);
    if (lock.name[0])
        why_line_add(needs, &lock);
    for (size_t i = 0; served && i < served_count(served); i++) {
        const json_t *host = served_alive(served, i), *entry;
        size_t n;

        if (!host || !served_serves(host, look->part->queue))
            continue;
        json_array_foreach(json_object_get(host, "needs"), n, entry)
        {
            why_line_read(look, entry, needs);
        }
    }
}

/* --- the one in which it is --- */

static double why_line_real(struct why_look *look, struct later_command *cmd, double otherwise)
{
    struct later_reply *reply = why_ask(look, cmd);
    double number = later_reply_is_nil(reply) ? otherwise : later_reply_seconds(reply, otherwise);

    if (reply && number <= 0 && later_reply_int(reply) > 0)
        number = (double)later_reply_int(reply);
    later_reply_free(reply);
    return number;
}

static void why_line_lock(struct why_look *look, const struct why_need *need)
{
    struct later_command cmd = { 0 };
    struct later_lock_seen seen;
    struct later_reply *reply;

    later_lock_look(&cmd, later_call_prefix(look->why->cli->client), need->name);
    reply = why_ask(look, &cmd);
    if (!reply)
        return;
    later_lock_seen(reply, &seen);
    snprintf(look->owner, sizeof look->owner, "%s", seen.held ? seen.owner : "");
    look->facts->line.since = seen.held ? seen.since : 0;
    look->facts->line.owner = look->owner;
    later_reply_free(reply);
}

static void why_line_permit(struct why_look *look, const struct why_need *need)
{
    struct later_command cmd = { 0 };

    later_held_holders(&cmd, later_call_prefix(look->why->cli->client), need->name,
                       look->facts->now);
    look->facts->line.held = (int64_t)why_line_real(look, &cmd, 0);
    look->facts->line.max = need->max;
}

/* A fixed window ends when its key does. A sliding one opens when the first of the last `max` times
 * is `per` seconds ago; a time to come is of a job that has not begun. */
static void why_line_limit(struct why_look *look, const struct why_need *need)
{
    const char *prefix = later_call_prefix(look->why->cli->client);
    struct later_command cmd = { 0 };
    double now = look->facts->now, at;

    if (need->kind == LATER_HELD_FIXED) {
        later_held_left(&cmd, prefix, need->name);
        at = why_line_real(look, &cmd, 0);
        look->facts->line.opens = at > 0 ? now + at / 1000 : 0;
    } else {
        later_held_oldest(&cmd, prefix, need->name, need->max);
        at = why_line_real(look, &cmd, 0);
        look->facts->line.opens = at > 0 ? fmin(at, now) + need->per : 0;
    }
}

/* What is set holds instead of what is configured. */
static void why_line_set(struct why_look *look, struct why_need *need)
{
    enum later_line_for what =
        need->kind == LATER_HELD_PERMIT ? LATER_LINE_PERMIT : LATER_LINE_LIMIT;
    struct later_command cmd = { 0 };
    struct later_numbers numbers;
    const struct later_override *set;
    struct later_reply *reply;
    struct later_keys keys;
    struct laid laid;

    if (need->kind == LATER_HELD_LOCK)
        return;
    later_keys_of_limits(&keys, later_call_prefix(look->why->cli->client));
    later_override_ask(&cmd, &keys);
    reply = why_ask(look, &cmd);
    laid_take_numbers(&laid, reply, look->facts->now);
    later_reply_free(reply);
    set = laid_of_line(&laid, what, need->name, &numbers);
    if (!set)
        return;
    look->set = *set;
    look->facts->line.set = &look->set;
    need->max = numbers.max;
    need->per = numbers.per > 0 ? numbers.per : need->per;
}

static void why_line_found(struct why_look *look, struct why_need *need, double score)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX], to[LATER_SECONDS_SIZE];

    why_line_set(look, need);
    snprintf(look->line, sizeof look->line, "%s", need->name);
    look->facts->line.name = look->line;
    look->facts->line.what = need->kind == LATER_HELD_LOCK     ? LATER_WHY_LOCK
                             : need->kind == LATER_HELD_PERMIT ? LATER_WHY_MAX_RUNNING
                                                               : LATER_WHY_LIMIT;
    if (score > 0) {
        later_held_key(key, later_call_prefix(look->why->cli->client), need->kind, need->name);
        later_seconds_spell(to, score);
        later_command_say(&cmd, "ZCOUNT %s (0 %s", key, to);
        look->facts->line.nth = (int64_t)why_line_real(look, &cmd, 1);
    }
    if (need->kind == LATER_HELD_LOCK)
        why_line_lock(look, need);
    else if (need->kind == LATER_HELD_PERMIT)
        why_line_permit(look, need);
    else
        why_line_limit(look, need);
}

void why_line_look(struct why_look *look)
{
    char waiter[LATER_QUEUE_MAX + LATER_ID_SIZE + 2], key[LATER_KEY_MAX];
    struct why_needs needs;

    snprintf(waiter, sizeof waiter, "%s %s", look->part->queue, look->seen->id);
    why_line_needs(look, &needs);
    for (size_t i = 0; i < needs.count; i++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        double score;

        later_held_key(key, later_call_prefix(look->why->cli->client), needs.list[i].kind,
                       needs.list[i].name);
        later_command_say(&cmd, "ZSCORE %s %s", key, waiter);
        reply = why_ask(look, &cmd);
        score = reply && !later_reply_is_nil(reply) ? later_reply_seconds(reply, 0) : 0;
        later_reply_free(reply);
        if (score != 0 && look->facts->line.what == LATER_WHY_RUNNING)
            why_line_found(look, &needs.list[i], score);
    }
}
