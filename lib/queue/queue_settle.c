/* queue_settle.c: encodes what is done with reserved jobs: touch, and the verbs that end a
 * reservation. */
#include "queue/queue.h"

#include "job/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each verb's script takes per job: id, wait, how, error; r: an error, or if there is none
 * how. */
static const struct {
    enum later_script script;
    const char *name, *past;
    const char *fields;
    const char *how;
} verbs[] = {
    [LATER_VERB_ACK] = { LATER_SCRIPT_ACK, "ack", "acked", "i", "" },
    [LATER_VERB_EXPIRE] = { LATER_SCRIPT_EXPIRE, "expire", "expired", "i", "" },
    [LATER_VERB_RELEASE] = { LATER_SCRIPT_RELEASE, "release", "released", "iwhe", "ran" },
    [LATER_VERB_RETURN] = { LATER_SCRIPT_RETURN, "return", "returned", "iwr", "held" },
    [LATER_VERB_BURY] = { LATER_SCRIPT_BURY, "bury", "buried", "ihe", "ran" },
    [LATER_VERB_TOUCH] = { LATER_SCRIPT_TOUCH, "touch", "touched", "i", "" },
    [LATER_VERB_FINISH] = { LATER_SCRIPT_FINISH, "finish", "finished", "", "" },
};

static const char *queue_settle_how(enum later_verb verb, const struct later_settlement *job)
{
    return job->how ? job->how : verbs[verb].how;
}

static void queue_settle_add_field(struct later_command *cmd, char field, enum later_verb verb,
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
        later_command_text(cmd, job->error ? job->error : queue_settle_how(verb, job));
        break;
    case 'h':
        later_command_text(cmd, queue_settle_how(verb, job));
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
    later_script_begin_held(cmd, verbs[verb].script, keys, jobs[0].token, count);
    if (verb == LATER_VERB_TOUCH)
        later_command_seconds(cmd, lease);
    for (size_t i = 0; i < count; i++) {
        for (const char *field = verbs[verb].fields; *field; field++)
            queue_settle_add_field(cmd, *field, verb, &jobs[i]);
    }
}

void later_queue_ack_all(struct later_command *cmd, const struct later_keys *keys,
                         const char *token, size_t count)
{
    later_script_begin_held(cmd, LATER_SCRIPT_ACK_ALL, keys, token, 0);
    later_command_int(cmd, (int64_t)count);
}

bool later_queue_wants_ids(const struct later_reply *reply)
{
    return strcmp(later_reply_text(reply, NULL), "IDS") == 0;
}

/* The end of its tag `k`. */
static void add_note(struct later_command *cmd, const struct later_kept *kept)
{
    char *host = kept ? later_document_quote(kept->host, strlen(kept->host)) : NULL, *note = NULL;

    if (kept && asprintf(&note, "\"ms\":%.3f,\"host\":%s}", kept->ms, host ? host : "\"\"") < 0)
        note = NULL;
    later_command_text(cmd, note ? note : "\"ms\":null}");
    free(note);
    free(host);
}

static void add_kept(struct later_command *cmd, const struct later_kept *kept)
{
    later_command_int(cmd, kept ? kept->most : 0);
    later_command_seconds(cmd, kept ? kept->life : 0);
}

void later_queue_add_value(struct later_command *cmd, const struct later_remains *left)
{
    later_command_bytes(cmd, left->value_len ? left->value : "null",
                        left->value_len ? left->value_len : 4);
}

/* Types and queues are made of characters that JSON takes as they are. */
static void add_hook(struct later_command *cmd, const struct later_hook *hook)
{
    char about[64 + LATER_TYPE_MAX + LATER_QUEUE_MAX] = "";

    if (hook && *hook->of)
        snprintf(about, sizeof about, "\"type\":\"%s\",\"queue\":\"%s\"", hook->of, hook->queue);
    else if (hook)
        snprintf(about, sizeof about, "\"type\":null,\"queue\":\"%s\"", hook->queue);
    later_command_text(cmd, hook ? hook->said : "");
    later_command_text(cmd, about);
}

void later_queue_finish(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_settlement *job, const struct later_remains *left)
{
    char held[LATER_KEY_MAX], result[LATER_KEY_MAX];
    bool more = left->kept || left->hook;

    later_key_held(held, keys, job->token);
    later_key_result(result, keys, job->id);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_FINISH, keys, more ? 1 : 0, held, result);
    later_command_text(cmd, job->id);
    later_command_text(cmd, job->how);
    if (strcmp(job->how, "done") != 0)
        later_command_text(cmd, job->error ? job->error : "");
    else
        later_queue_add_value(cmd, left);
    later_command_seconds(cmd, left->result);
    if (more) {
        add_kept(cmd, left->kept);
        add_note(cmd, left->kept);
        add_hook(cmd, left->hook);
    }
}

void later_queue_finish_all(struct later_command *cmd, const struct later_keys *keys,
                            const char *token, size_t count, const struct later_kept *kept)
{
    later_script_begin_held(cmd, LATER_SCRIPT_FINISH_ALL, keys, token, count);
    add_kept(cmd, kept);
}

void later_queue_finish_add(struct later_command *cmd, const char *id,
                            const struct later_remains *left)
{
    later_command_text(cmd, id);
    later_queue_add_value(cmd, left);
    later_command_seconds(cmd, left->result);
    add_note(cmd, left->kept);
}

void later_queue_progress(struct later_command *cmd, const struct later_keys *keys,
                          const char *token, const struct later_progress *jobs, size_t count)
{
    later_script_begin_held(cmd, LATER_SCRIPT_PROGRESS, keys, token, count);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, jobs[i].id);
        later_command_text(cmd, jobs[i].text ? jobs[i].text : "");
        later_command_bytes(cmd, jobs[i].checkpoint ? jobs[i].checkpoint : "",
                            jobs[i].checkpoint_len);
        later_command_bytes(cmd, jobs[i].log ? jobs[i].log : "", jobs[i].log_len);
    }
}

const char *later_verb_name(enum later_verb verb)
{
    return verbs[verb].name;
}

const char *later_verb_past(enum later_verb verb)
{
    return verbs[verb].past;
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
