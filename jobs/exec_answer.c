/* exec_answer.c: a job as a line for a long-lived program, and the line that answers it. */
#include "exec_answer.h"

#include <later/job_json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* {"id":…, …} as text for the caller to free(); NULL without memory. */
static char *make_head(const struct later_job *job)
{
    const char *trace = later_job_trace(job);
    json_t *head = json_pack(
        "{s:s, s:s, s:s, s:i, s:I, s:f}", "id", later_job_id(job), "type", later_job_type(job),
        "queue", later_job_queue(job), "attempt", (int)later_job_attempt(job), "max_attempts",
        (json_int_t)later_job_max_attempts(job), "time_left", later_job_time_left(job));
    char *text = NULL;

    if (head && trace)
        json_object_set_new(head, "trace", json_string(trace));
    if (head)
        text = json_dumps(head, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    json_decref(head);
    return text;
}

char *exec_answer_ask(const struct later_job *job, size_t *len)
{
    static const char between[] = ",\"document\":";
    size_t document_len, head_len;
    const char *document = later_job_document(job, &document_len);
    char *head = make_head(job), *line = NULL, *at;

    if (!head)
        return NULL;
    head_len = strlen(head) - 1; /* without its brace */
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

static int take(struct later_job *job, const json_t *answer)
{
    static const char *const words[] = {
        [LATER_DONE] = "done", [LATER_RETRY] = "retry", [LATER_BURY] = "bury"
    };
    const char *said = later_json_string(answer, "result", "");
    const char *error = later_json_string(answer, "error", NULL);
    double in = later_json_number(answer, "in", -1);

    for (int i = LATER_DONE; i <= LATER_BURY; i++) {
        if (strcmp(words[i], said) != 0)
            continue;
        if (i != LATER_DONE)
            later_job_error(job, "%s", error ? error : "the program gave no reason");
        if (i == LATER_RETRY && in >= 0)
            later_job_retry_in(job, fmin(in, 315360000));
        return i;
    }
    later_job_error(job, "the program answered with result \"%.100s\": done, retry or bury", said);
    return LATER_RETRY;
}

int exec_answer_read(struct later_job *job, const char *line, const char **why)
{
    json_t *answer = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const char *id = later_json_string(answer, "id", NULL);
    int result = -1;

    if (!answer)
        *why = "not JSON";
    else if (!json_is_object(answer))
        *why = "not a JSON object";
    else if (!id)
        *why = "without id";
    else if (strcmp(id, later_job_id(job)) != 0)
        *why = "for another job than the present one";
    else
        result = take(job, answer);
    json_decref(answer);
    return result;
}
