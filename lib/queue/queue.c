/* queue.c: the verbs, encoded and decoded. */
#include "queue/queue.h"

#include "job/document.h"
#include "job/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CALL_KEPT    60 /* seconds */
#define SCORES_APART 16 /* in the answer of reserve */

void later_token(char token[LATER_TOKEN_LEN + 1])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned char random[64];
    size_t used = sizeof random;

    for (size_t i = 0; i < LATER_TOKEN_LEN;) {
        if (used == sizeof random) {
            while (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
                ;
            used = 0;
        }
        /* 252 = 7 × 36: what is above would make some digits likelier. */
        if (random[used] < 252)
            token[i++] = digits[random[used] % 36];
        used++;
    }
    token[LATER_TOKEN_LEN] = '\0';
}

/* --- push --- */

static void add_when(struct later_command *cmd, const struct later_push_item *item)
{
    double in = item->debounce > 0 ? item->debounce : item->in;
    char text[2 * LATER_SECONDS_SIZE + 2] = "+";
    size_t len;

    if (item->at > 0) {
        later_command_seconds(cmd, item->at);
    } else if (in == 0) {
        later_command_bytes(cmd, "", 0);
    } else {
        len = 1 + later_seconds_spell(text + 1, in);
        if (item->max_wait > 0) {
            text[len++] = '/';
            len += later_seconds_spell(text + len, item->max_wait);
        }
        later_command_bytes(cmd, text, len);
    }
}

/* Nobody pays for what most jobs do not ask: an id that stays taken stands behind the priority. */
static void add_priority(struct later_command *cmd, const struct later_push_item *item)
{
    double taken = item->throttle > 0 ? item->throttle : item->unique_for;
    char priority[16], text[LATER_SECONDS_SIZE];
    size_t len;

    if (!(taken > 0)) {
        later_command_int(cmd, item->priority);
        return;
    }
    len = later_seconds_spell(text, taken);
    later_command_pair(cmd, priority,
                       (size_t)snprintf(priority, sizeof priority, "%d/%s", (int)item->priority,
                                        item->throttle > 0 ? "+" : ""),
                       text, len);
}

unsigned later_queue_flags(const struct later_push_item *item)
{
    if (item->again || item->debounce > 0)
        return LATER_PUSH_AGAIN;
    return item->replace ? LATER_PUSH_REPLACE : 0;
}

void later_queue_push(struct later_command *cmd, const struct later_keys *keys, const char *call,
                      unsigned flags, uint64_t epoch, const struct later_push_item *items,
                      size_t count)
{
    static const char *const modes[] = { "new",   "replace", "seek",       "seek-replace",
                                         "again", "again",   "seek-again", "seek-again" };
    char key[LATER_KEY_MAX], mode[40];

    later_key_call(key, keys, call ? call : "");
    later_script_begin(cmd, LATER_SCRIPT_PUSH, keys, (const char *const[]){ key }, count);
    later_command_int(cmd, call ? CALL_KEPT : 0);
    snprintf(mode, sizeof mode, "%s/%" PRIu64, modes[flags & 7], epoch);
    later_command_text(cmd, mode);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, items[i].id);
        add_when(cmd, &items[i]);
        add_priority(cmd, &items[i]);
        later_command_bytes(cmd, items[i].document, items[i].document_len);
    }
}

bool later_queue_plain(const struct later_push_item *item)
{
    return later_queue_flags(item) == 0 && item->priority == 0 && item->in == 0 && item->at == 0 &&
           item->throttle == 0 && item->unique_for == 0;
}

void later_queue_push_now(struct later_command *cmd, const struct later_keys *keys, const char *set,
                          const char *number, uint64_t epoch, const struct later_push_item *item)
{
    char key[LATER_KEY_MAX];

    later_key_call(key, keys, set);
    later_script_begin(cmd, LATER_SCRIPT_PUSH_NOW, keys, (const char *const[]){ key }, 0);
    later_command_int(cmd, (int64_t)epoch);
    later_command_text(cmd, item->id);
    later_command_bytes(cmd, item->document, item->document_len);
    later_command_text(cmd, number);
}

bool later_queue_pushed_now(const struct later_reply *reply)
{
    return strcmp(later_reply_text(reply, NULL), "PUSHED") == 0;
}

int later_queue_pushed(const struct later_reply *reply, size_t i, const char **state)
{
    /* That of push_now is no list. */
    const struct later_reply *answer = later_reply_count(reply) ? later_reply_at(reply, i) : reply;
    const char *text = later_reply_text(answer, NULL);
    bool exists = strncmp(text, "EXISTS ", 7) == 0;

    if (state)
        *state = exists ? text + 7 : "";
    if (exists)
        return LATER_IS_KNOWN;
    if (strcmp(text, "ABSENT") == 0)
        return LATER_IS_ABSENT;
    if (strcmp(text, "FULL") == 0)
        return LATER_IS_FULL;
    if (strcmp(text, "AGAIN") == 0)
        return LATER_IS_AGAIN;
    return strcmp(text, "REPLACED") == 0 ? LATER_IS_REPLACED : LATER_IS_PUSHED;
}

int later_queue_full(const char *queue, struct later_error *err)
{
    return later_fail(err, LATER_E_LATER,
                      "queue %s is full: it has as many jobs as queues.max_jobs of laterd allows",
                      queue);
}

/* --- reserve --- */

static void begin_reserve(struct later_command *cmd, const struct later_keys *keys,
                          const char *token, double lease, size_t limit)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_script_begin(cmd, LATER_SCRIPT_RESERVE, keys, (const char *const[]){ held }, 0);
    later_command_bytes(cmd, token, LATER_TOKEN_LEN);
    later_command_seconds(cmd, lease);
    later_command_int(cmd, (int64_t)limit);
}

void later_queue_reserve(struct later_command *cmd, const struct later_keys *keys,
                         const char *token, double lease, size_t limit, size_t bytes,
                         double deadline)
{
    begin_reserve(cmd, keys, token, lease, limit);
    later_command_int(cmd, (int64_t)bytes);
    if (deadline > 0)
        later_command_seconds(cmd, deadline);
    else
        later_command_bytes(cmd, "0", 1);
}

void later_queue_reserve_beside(struct later_command *cmd, const struct later_keys *keys,
                                const char *token, double lease, size_t limit, size_t bytes)
{
    char budget[40];
    int len = snprintf(budget, sizeof budget, "%zu/beside", bytes);

    begin_reserve(cmd, keys, token, lease, limit);
    later_command_bytes(cmd, budget, (size_t)len);
    later_command_bytes(cmd, "0", 1);
}

void later_queue_documents(struct later_command *cmd, const struct later_keys *keys,
                           const struct later_reply *reserved)
{
    size_t count = later_queue_reserved_count(reserved), len;

    later_command_begin(cmd, 2 + count);
    later_command_text(cmd, "HMGET");
    later_command_text(cmd, keys->name[LATER_KEY_JOBS]);
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

void later_queue_reserved(const struct later_reply *reply, size_t i, struct later_reserved *job)
{
    size_t at = 1 + 3 * i, len;
    const char *text = later_reply_text(later_reply_at(reply, at + 1), &len);
    struct later_record record;

    job->id = later_reply_text(later_reply_at(reply, at), &job->id_len);
    later_record_read(&record, text, len);
    job->attempts = record.attempts;
    job->crashes = record.crashes;
    job->unknown_since = record.unknown_since;
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

/* A score as a push gives it, `1700000000.250001`; NAN for any other. This is done for each job. */
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

/* The next number of the answer's first line; NAN where there is none. */
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
    size_t i = scores->next++, at = i % SCORES_APART;

    if (at == 0) {
        size_t behind = scores->count > i ? scores->count - 1 - i : 0;

        scores->first = scores->last;
        scores->apart = behind < SCORES_APART ? behind : SCORES_APART;
        scores->last = next_said(scores);
    }
    if (at == 0)
        return scores->first;
    return scores->first + (scores->last - scores->first) * (double)at / (double)scores->apart;
}

/* --- settle --- */

/* What each verb's script takes per job: id, wait, how, error; r: an error, or else how. */
static const struct {
    enum later_script script;
    const char *name;
    const char *fields;
    const char *how;
} verbs[] = {
    [LATER_VERB_ACK] = { LATER_SCRIPT_ACK, "ack", "i", "" },
    [LATER_VERB_EXPIRE] = { LATER_SCRIPT_EXPIRE, "expire", "i", "" },
    [LATER_VERB_RELEASE] = { LATER_SCRIPT_RELEASE, "release", "iwhe", "ran" },
    [LATER_VERB_RETURN] = { LATER_SCRIPT_RETURN, "return", "iwr", "held" },
    [LATER_VERB_BURY] = { LATER_SCRIPT_BURY, "bury", "ihe", "ran" },
    [LATER_VERB_TOUCH] = { LATER_SCRIPT_TOUCH, "touch", "i", "" },
    [LATER_VERB_FINISH] = { LATER_SCRIPT_FINISH, "finish", "", "" },
};

static void add_field(struct later_command *cmd, char field, enum later_verb verb,
                      const struct later_settlement *job)
{
    switch (field) {
    case 'i':
        later_command_text(cmd, job->id);
        break;
    case 'w':
        later_command_seconds(cmd, job->wait);
        break;
    case 'r':
        if (job->error) {
            later_command_text(cmd, job->error);
            break;
        }
        /* fall through */
    case 'h':
        later_command_text(cmd, job->how ? job->how : verbs[verb].how);
        break;
    case 'e':
        later_command_text(cmd, job->error ? job->error : "");
        break;
    }
}

void later_queue_settle(struct later_command *cmd, const struct later_keys *keys,
                        enum later_verb verb, double lease, const struct later_settlement *jobs,
                        size_t count)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, jobs[0].token);
    later_script_begin(cmd, verbs[verb].script, keys, (const char *const[]){ held }, count);
    if (verb == LATER_VERB_TOUCH)
        later_command_seconds(cmd, lease);
    for (size_t i = 0; i < count; i++) {
        for (const char *field = verbs[verb].fields; *field; field++)
            add_field(cmd, *field, verb, &jobs[i]);
    }
}

static void add_kept(struct later_command *cmd, const struct later_kept *kept)
{
    char *host = later_document_quote(kept->host, strlen(kept->host)), *note = NULL;

    if (asprintf(&note, "\"ms\":%.3f,\"host\":%s}", kept->ms, host ? host : "\"\"") < 0)
        note = NULL;
    later_command_int(cmd, kept->most);
    later_command_seconds(cmd, kept->life);
    later_command_text(cmd, note ? note : "\"ms\":null}");
    free(note);
    free(host);
}

void later_queue_finish(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_settlement *job, double result, const char *value,
                        size_t value_len, const struct later_kept *kept)
{
    char held[LATER_KEY_MAX], left[LATER_KEY_MAX];

    later_key_held(held, keys, job->token);
    later_key_result(left, keys, job->id);
    later_script_begin(cmd, LATER_SCRIPT_FINISH, keys, (const char *const[]){ held, left },
                       kept ? 1 : 0);
    later_command_text(cmd, job->id);
    later_command_text(cmd, job->how);
    if (strcmp(job->how, "done") != 0)
        later_command_text(cmd, job->error ? job->error : "");
    else
        later_command_bytes(cmd, value_len ? value : "null", value_len ? value_len : 4);
    later_command_seconds(cmd, result);
    if (kept)
        add_kept(cmd, kept);
}

void later_queue_progress(struct later_command *cmd, const struct later_keys *keys,
                          const struct later_settlement *jobs, size_t count)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, jobs[0].token);
    later_script_begin(cmd, LATER_SCRIPT_PROGRESS, keys, (const char *const[]){ held }, count);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, jobs[i].id);
        later_command_text(cmd, jobs[i].error);
    }
}

enum later_script later_verb_script(enum later_verb verb)
{
    return verbs[verb].script;
}

const char *later_verb_name(enum later_verb verb)
{
    return verbs[verb].name;
}

bool later_queue_lost(const struct later_reply *reply, size_t i, size_t *cursor)
{
    if (later_reply_int(later_reply_at(reply, *cursor)) != (int64_t)i + 1)
        return false;
    (*cursor)++;
    return true;
}

char *later_queue_error(const char *kind, const char *text, const char *host, double seconds)
{
    char *quoted_text = later_document_quote(text, strlen(text));
    char *quoted_host = later_document_quote(host, strlen(host));
    char *error = NULL, ms[48] = "";

    if (seconds > 0)
        snprintf(ms, sizeof ms, ",\"ms\":%.3f", fmin(seconds * 1000, 1e15));
    if (quoted_text && quoted_host &&
        asprintf(&error, "\"kind\":\"%s\",\"text\":%s,\"host\":%s%s}", kind, quoted_text,
                 quoted_host, ms) < 0)
        error = NULL;
    free(quoted_text);
    free(quoted_host);
    return error;
}

/* --- migrate --- */

void later_queue_migrate(struct later_command *cmd, const struct later_keys *keys, size_t limit)
{
    later_script_begin(cmd, LATER_SCRIPT_MIGRATE, keys, NULL, 0);
    later_command_int(cmd, (int64_t)limit);
}

void later_queue_migrated(const struct later_reply *reply, struct later_migrated *migrated)
{
    migrated->promoted = (uint32_t)later_reply_int(later_reply_at(reply, 0));
    migrated->next_due = later_reply_seconds(later_reply_at(reply, 1), -1);
    migrated->next_lapse = later_reply_seconds(later_reply_at(reply, 2), -1);
    migrated->now = later_reply_seconds(later_reply_at(reply, 3), 0);
    migrated->next_tick = later_reply_seconds(later_reply_at(reply, 4), -1);
    migrated->rests = later_reply_int(later_reply_at(reply, 5)) == 0;
    migrated->run_out = later_reply_count(reply) > 6 ? later_reply_count(reply) - 6 : 0;
}

const char *later_queue_run_out(const struct later_reply *reply, size_t i)
{
    return later_reply_text(later_reply_at(reply, 6 + i), NULL);
}

void later_queue_lapse(struct later_command *cmd, const struct later_keys *keys, const char *token,
                       double deadline, const char *error)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_script_begin(cmd, LATER_SCRIPT_LAPSE, keys, (const char *const[]){ held }, 0);
    if (deadline > 0)
        later_command_seconds(cmd, deadline);
    else
        later_command_bytes(cmd, "0", 1);
    later_command_text(cmd, error);
}

/* --- ids --- */

void later_queue_ids(struct later_command *cmd, enum later_script script,
                     const struct later_keys *keys, const char *const *ids, size_t count)
{
    later_script_begin(cmd, script, keys, NULL, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, ids[i]);
}

void later_queue_cancel(struct later_command *cmd, const struct later_keys *keys, const char *token,
                        const char *const *ids, size_t count)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_script_begin(cmd, LATER_SCRIPT_CANCEL, keys, (const char *const[]){ held }, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, ids[i]);
}
