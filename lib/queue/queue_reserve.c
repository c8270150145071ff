/* queue_reserve.c: tokens; encodes reserves, and decodes their answers. */
#include "queue/queue.h"

#include "base/random.h"
#include "job/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answer of reserve has the score of every 16th or 64th job. */
#define SCORES_APART      16
#define SCORES_APART_MANY 64
#define SCORES_MANY       128 /* with more jobs than these */

void later_token(char token[LATER_TOKEN_LEN + 1])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned char random[64];
    size_t used = sizeof random;

    for (size_t i = 0; i < LATER_TOKEN_LEN;) {
        if (used == sizeof random) {
            later_random(random, sizeof random);
            used = 0;
        }
        /* 252 = 7 × 36: larger bytes would make some digits likelier. */
        if (random[used] < 252)
            token[i++] = digits[random[used] % 36];
        used++;
    }
    token[LATER_TOKEN_LEN] = '\0';
}

/* Writes what a reserve and a step begin with. */
static void add_take(struct later_command *cmd, const struct later_take *take)
{
    char budget[40];
    int len = snprintf(budget, sizeof budget, take->beside ? "%zu/beside" : "%zu", take->bytes);

    later_command_bytes(cmd, take->token, LATER_TOKEN_LEN);
    later_command_seconds(cmd, take->lease);
    later_command_int(cmd, (int64_t)take->limit);
    later_command_bytes(cmd, budget, (size_t)len);
}

/* Begins a reserve or a step; `other` as for later_script_begin(). */
static void begin_take(struct later_command *cmd, enum later_script script,
                       const struct later_keys *keys, const char *const *other,
                       const struct later_take *take, size_t groups)
{
    later_script_more(cmd, take->ahead, take->ahead_count);
    later_script_begin(cmd, script, keys, other, groups);
    add_take(cmd, take);
}

static void add_deadline(struct later_command *cmd, const struct later_take *take)
{
    char text[LATER_SECONDS_SIZE + sizeof "/idle"] = "0";
    size_t len = take->until > 0 ? later_seconds_spell(text, take->until) : 1;

    if (take->idle)
        memcpy(text + len, "/idle", sizeof "/idle");
    later_command_bytes(cmd, text, len + (take->idle ? strlen("/idle") : 0));
}

void later_queue_reserve(struct later_command *cmd, const struct later_keys *keys,
                         const struct later_take *take)
{
    char fresh[LATER_KEY_MAX];

    later_key_held(fresh, keys, take->token);
    begin_take(cmd, LATER_SCRIPT_RESERVE, keys, (const char *const[]){ fresh }, take, 0);
    add_deadline(cmd, take);
}

void later_queue_step(struct later_command *cmd, const struct later_keys *keys,
                      const struct later_take *take, const struct later_settlement *done,
                      size_t count, const struct later_remains *left)
{
    char held[LATER_KEY_MAX], fresh[LATER_KEY_MAX];

    later_key_held(held, keys, done[0].token);
    later_key_held(fresh, keys, take->token);
    begin_take(cmd, LATER_SCRIPT_STEP, keys, (const char *const[]){ held, fresh }, take, count);
    if (left)
        later_command_seconds(cmd, left->result);
    else
        later_command_text(cmd, "");
    if (left)
        later_queue_add_value(cmd, left);
    else
        later_command_text(cmd, "");
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, done[i].id);
}

/* Returns the list that comes after the jobs; NULL if there is none. Those that are LOST are
 * numbers from 1. */
static const struct later_reply *queue_reserve_more(const struct later_reply *reply, bool lost)
{
    size_t count = later_reply_count(reply);
    const struct later_reply *more = count % 3 == 2 ? later_reply_at(reply, count - 1) : NULL;

    return more && (later_reply_int(later_reply_at(more, 0)) > 0) == lost ? more : NULL;
}

const struct later_reply *later_queue_stepped(const struct later_reply *reply)
{
    return queue_reserve_more(reply, true);
}

const struct later_reply *later_queue_given(const struct later_reply *reply)
{
    return queue_reserve_more(reply, false);
}

void later_queue_documents(struct later_command *cmd, const struct later_keys *keys,
                           const struct later_reply *reserved)
{
    size_t count = later_queue_reserved_count(reserved), len;

    later_command_open(cmd, count, "HMGET %s", keys->name[LATER_KEY_JOBS]);
    for (size_t i = 0; i < count; i++) {
        const char *id = later_reply_text(later_reply_at(reserved, 1 + 3 * i), &len);

        later_command_bytes(cmd, id, len);
    }
}

size_t later_queue_reserved_count(const struct later_reply *reply)
{
    size_t count = later_reply_count(reply);

    return count ? (count - 1) / 3 : 0;
}

/* It comes after the present and the score of the only job. */
size_t later_queue_reserved_left(const struct later_reply *reply)
{
    const char *text = later_reply_text(later_reply_at(reply, 0), NULL);

    if (later_queue_reserved_count(reply) != 1)
        return 0;
    text = strchr(text, ' ');
    text = text ? strchr(text + 1, ' ') : NULL;
    return text ? (size_t)strtoul(text, NULL, 10) : 0;
}

uint32_t later_queue_reserved_ahead(const struct later_reply *reply)
{
    static const char word[] = " ahead";
    const char *text = strchr(later_reply_text(later_reply_at(reply, 0), NULL), ' ');
    uint32_t found = 0;
    char *end;

    if (!text || strncmp(text, word, strlen(word)) != 0)
        return 0;
    for (text += strlen(word); *text == ' '; text = end) {
        unsigned long number = strtoul(text, &end, 10);

        if (number >= 1 && number <= LATER_AHEAD_MAX)
            found |= (uint32_t)1 << (number - 1);
        if (end == text)
            break;
    }
    return found;
}

void later_queue_reserved(const struct later_reply *reply, size_t i, struct later_reserved *job)
{
    size_t at = 1 + 3 * i, len;
    const char *text = later_reply_text(later_reply_at(reply, at + 1), &len);
    struct later_record record;

    job->id = later_reply_text(later_reply_at(reply, at), &job->id_len);
    later_record_read(&record, text, len);
    job->attempts = record.attempts;
    job->crashes = record.crashes;
    job->begun = record.attempts > 0 || record.crashes >= 0 || record.interrupts > 0;
    job->unknown_since = record.unknown_since;
    job->first_failed = record.first_failed;
    job->is_step = record.is_step;
    job->flow = record.flow;
    job->flow_len = record.flow_len;
    job->line = record.line;
    job->line_len = record.line_len;
    job->since = record.since;
    job->checkpoint = record.checkpoint;
    job->checkpoint_len = record.checkpoint_len;
    job->log = record.log;
    job->log_len = record.log_len;
    job->document = later_reply_text(later_reply_at(reply, at + 2), &job->document_len);
}

size_t later_queue_reserved_bytes(const struct later_reply *reply)
{
    size_t count = later_queue_reserved_count(reply), sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct later_reply *document = later_reply_at(reply, 3 + 3 * i);
        int64_t beside = later_reply_int(document);
        size_t len;

        later_reply_text(document, &len);
        sum += len ? len : beside > 0 ? (size_t)beside : 0;
    }
    return sum;
}

double later_queue_reserved_now(const struct later_reply *reply)
{
    return later_reply_seconds(later_reply_at(reply, 0), 0);
}

/* Reads a score as a push makes it, `1700000000.250001`; NAN for any other. This runs for each job.
 */
static double score_of(const char *text)
{
    double number = 0, part = 1;

    if (*text < '0' || *text > '9')
        return NAN;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (*text - '0');
    if (*text == '.')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        number += (*text - '0') * (part /= 10);
    return *text && *text != ' ' ? NAN : number;
}

/* Reads the next number of the answer's first line; NAN if there is none. */
static double next_said(struct later_scores *scores)
{
    scores->said = strchr(scores->said, ' ');
    scores->said = scores->said ? scores->said + 1 : "";
    return score_of(scores->said);
}

void later_scores_begin(struct later_scores *scores, const struct later_reply *reply)
{
    *scores = (struct later_scores){ .count = later_queue_reserved_count(reply) };
    scores->said = later_reply_text(later_reply_at(reply, 0), NULL);
    scores->last = next_said(scores);
}

double later_scores_next(struct later_scores *scores)
{
    size_t i = scores->next++;
    size_t apart = scores->count > SCORES_MANY ? SCORES_APART_MANY : SCORES_APART, at = i % apart;

    if (at == 0) {
        size_t behind = scores->count > i ? scores->count - 1 - i : 0;

        scores->first = scores->last;
        scores->apart = behind < apart ? behind : apart;
        scores->last = next_said(scores);
    }
    if (at == 0)
        return scores->first;
    return scores->first + (scores->last - scores->first) * (double)at / (double)scores->apart;
}
