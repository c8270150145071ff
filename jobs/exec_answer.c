/* exec_answer.c: a job as a line for a long-lived program, and the line that answers it. */
#include "exec_answer.h"

#include "exec_output.h"

#include <later/job_json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the fencing number of the job's own lock. It is only asked for if the document may have a
 * lock. */
static void add_fence(json_t *head, struct later_job *job)
{
    size_t len;
    const char *document = later_job_document(job, &len);
    json_t *members = NULL;
    const char *lock;
    uint64_t fence;

    if (memmem(document, len, "\"lock\"", 6))
        members = json_loadb(document, len, JSON_ALLOW_NUL, NULL);
    lock = json_string_value(json_object_get(members, "lock"));
    if (lock && later_lock_fence(job, lock, &fence) == LATER_YES)
        json_object_set_new(head, "lock_fence", json_integer((json_int_t)fence));
    json_decref(members);
}

/* Returns {"id":…, …} as text, which the caller frees. NULL without memory. */
static char *make_head(struct later_job *job, double time_left)
{
    const char *trace = later_job_trace(job);
    json_t *head = json_pack("{s:s, s:s, s:s, s:i, s:I, s:f, s:s}", "id", later_job_id(job), "type",
                             later_job_type(job), "queue", later_job_queue(job), "attempt",
                             (int)later_job_attempt(job), "max_attempts",
                             (json_int_t)later_job_max_attempts(job), "time_left", time_left,
                             "token", later_job_token(job));
    char *text = NULL;

    if (head && trace)
        json_object_set_new(head, "trace", json_string(trace));
    if (head)
        add_fence(head, job);
    if (head)
        text = json_dumps(head, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    json_decref(head);
    return text;
}

char *exec_answer_ask(struct later_job *job, double time_left, size_t *len)
{
    static const char between[] = ",\"document\":";
    size_t document_len, head_len;
    const char *document = later_job_document(job, &document_len);
    char *head = make_head(job, time_left), *line = NULL, *at;

    if (!head)
        return NULL;
    head_len = strlen(head) - 1; /* without its closing brace */
    *len = head_len + strlen(between) + document_len + 2;
    line = malloc(*len);
    if (line) {
        memcpy(line, head, head_len);
        memcpy(line + head_len, between, strlen(between));
        at = line + head_len + strlen(between);
        memcpy(at, document, document_len);
        for (size_t i = 0; i < document_len; i++) {
            if (at[i] == '\n' || at[i] == '\r')
                at[i] = ' ';
        }
        memcpy(at + document_len, "}\n", 2);
    }
    free(head);
    return line;
}

char *exec_answer_cancel(const struct later_job *job, size_t *len)
{
    json_t *object = json_pack("{s:s, s:b}", "id", later_job_id(job), "cancel", 1);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    json_decref(object);
    if (text) {
        *len = strlen(text) + 1;
        text[*len - 1] = '\n'; /* replaces its NUL */
    }
    return text;
}

/* --- what the program writes --- */

/* Sets the job's value. It is encoded again, because only jansson has the bytes of the line. */
static void take_value(struct later_job *job, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    if (text)
        later_job_value(job, text, 0);
    else if (value)
        later_job_log(job, LATER_ERROR, "no memory for its value");
    free(text);
}

static uint32_t take_result(struct later_job *job, const json_t *answer)
{
    static const struct {
        const char *word;
        uint32_t result;
    } results[] = { { "done", LATER_DONE },
                    { "retry", LATER_RETRY },
                    { "bury", LATER_BURY },
                    { "return", LATER_RETURN } };
    const char *said = later_json_string(answer, "result", "");
    const char *error = later_json_string(answer, "error", NULL);
    double in = later_json_number(answer, "in", -1);

    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (strcmp(results[i].word, said) != 0)
            continue;
        if (results[i].result != LATER_DONE)
            later_job_error(job, "%s", error ? error : "the program gave no reason");
        if (results[i].result == LATER_DONE)
            take_value(job, json_object_get(answer, "value"));
        if (in >= 0 && (results[i].result == LATER_RETRY || results[i].result == LATER_RETURN))
            later_job_retry_in(job, fmin(in, 315360000));
        return results[i].result;
    }
    later_job_error(job, "the program answered with result \"%.100s\": done, retry, bury or return",
                    said);
    return LATER_RETRY;
}

/* Logs {"log":LEVEL,"text":"…"}, with the fields of the job that it names. */
static void take_log(const struct later_job *job, const char *program, const json_t *answer)
{
    int level = exec_output_level_of(later_json_string(answer, "log", ""));
    const char *text = later_json_string(answer, "text", "");

    if (level < 0)
        level = LATER_INFO;
    if (job)
        later_job_log(job, (enum later_level)level, "%s", text);
    else
        later_log("exec", (enum later_level)level, "%s: %s", program, text);
}

static void take_progress(struct later_job *job, const json_t *progress)
{
    double done = later_json_number(progress, "done", 0);
    double total = later_json_number(progress, "total", 0);

    later_job_progress(job, fmax(done, 0), fmax(total, 0), later_json_string(progress, "text", ""));
}

static enum exec_answer_kind take(struct later_job *job, const char *program, const json_t *line,
                                  struct exec_answer *answer)
{
    const json_t *progress = json_object_get(line, "progress");

    if (json_object_get(line, "log")) {
        take_log(job, program, line);
        return EXEC_ANSWER_NOTE;
    }
    if (job && progress) {
        take_progress(job, progress);
        return EXEC_ANSWER_NOTE;
    }
    answer->ends = !progress;
    answer->why = answer->id[0] ? "for another job than the present one" : "without id";
    if (!job)
        return EXEC_ANSWER_REFUSED;
    answer->result = take_result(job, line);
    answer->last = json_is_true(json_object_get(line, "last"));
    return EXEC_ANSWER_RESULT;
}

enum exec_answer_kind exec_answer_read(exec_find *find, void *arg, const char *program,
                                       const char *line, struct exec_answer *answer)
{
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    enum exec_answer_kind kind = EXEC_ANSWER_REFUSED;
    const char *id;

    *answer = (struct exec_answer){ .why = object ? "not a JSON object" : "not JSON" };
    if (json_is_object(object)) {
        id = later_json_string(object, "id", "");
        if (strlen(id) < sizeof answer->id)
            strcpy(answer->id, id);
        kind = take(answer->id[0] ? find(arg, id) : NULL, program, object, answer);
    }
    json_decref(object);
    return kind;
}
