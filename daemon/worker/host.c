/* host.c: the functions behind later/job.h. */
#include "worker/admission.h"
#include "worker/attempt.h"
#include "reservation/job.h"
#include "reservation/logbook.h"
#include "reservation/progress.h"
#include "reservation/value.h"
#include "worker/host.h"
#include "worker/run.h"
#include "worker/said.h"

#include "client/call.h"
#include "base/clock.h"
#include "job/json.h"
#include "queue/lock.h"
#include "queue/stock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plugins get one table per process, of this worker (host_table()). */
static struct worker *the_worker;

static const char *job_string(const struct later_job *job, uint32_t which)
{
    switch (which) {
    case LATER_JOB_ID:
        return job->id;
    case LATER_JOB_TYPE:
        return job->doc.type;
    case LATER_JOB_QUEUE:
        return job->queue;
    case LATER_JOB_TOKEN:
        return job->token;
    case LATER_JOB_TRACE:
        return job->doc.trace[0] ? job->doc.trace : NULL;
    default:
        return NULL;
    }
}

static const char *job_bytes(const struct later_job *job, uint32_t which, size_t *len)
{
    bool payload = which == LATER_JOB_PAYLOAD;

    *len = payload ? job->doc.payload_len : job->document_len;
    return payload ? job->doc.payload : job->document;
}

/* Its program may have said something of the type since the job was taken. For most types nobody
 * has, and programs ask this of each job. */
static uint32_t job_number(const struct later_job *job, uint32_t which)
{
    const struct later_document *said;
    struct later_job now;

    if (which == LATER_JOB_ATTEMPT)
        return job->attempt;
    said = job->worker ? said_find(job->worker->said, job->doc.type) : NULL;
    if (!said)
        return job->policy.max_attempts;
    now = *job;
    job_policy(&now, job->worker->config, said);
    return now.policy.max_attempts;
}

static double job_time_left(const struct later_job *job)
{
    double left = job->deadline - later_clock();

    return left > 0 ? left : 0;
}

static int job_cancelled(const struct later_job *job)
{
    return job->cancel_sent || (job->worker && !job->slot) ||
           (job->slot && atomic_load(&job->slot->cancelled)) || job_time_left(job) <= 0;
}

__attribute__((format(printf, 3, 0))) static void host_keep_line(const struct later_job *job,
                                                                 uint32_t level, const char *format,
                                                                 va_list args)
{
    char words[LOGBOOK_TEXT];
    va_list again;

    va_copy(again, args);
    vsnprintf(words, sizeof words, format, again);
    va_end(again);
    attempt_keep_line(job, (enum log_level)level, words);
}

__attribute__((format(printf, 3, 0))) static void job_logv(const struct later_job *job,
                                                           uint32_t level, const char *format,
                                                           va_list args)
{
    struct log_job fields;
    va_list again;

    if (job->slot && job->slot->logs_kept > 0)
        host_keep_line(job, level, format, args);
    if (!log_wants((enum log_level)level))
        return;
    va_copy(again, args);
    if (job->slot && !job->event)
        slot_logv(job->slot, format, again);
    va_end(again);
    job_log_fields(job, -1, &fields);
    log_jobv((enum log_level)level, &fields, format, args);
}

__attribute__((format(printf, 2, 0))) static void job_errorv(struct later_job *job,
                                                             const char *format, va_list args)
{
    vsnprintf(job->error, sizeof job->error, format, args);
}

static void job_retry_in(struct later_job *job, double seconds)
{
    job->retry_in = isnan(seconds) || seconds < 0 ? 0 : fmin(seconds, LATER_DELAY_MAX);
}

static void job_kind(struct later_job *job, uint32_t kind)
{
    job->kind = kind;
}

static int host_type_says(const char *name, const char *json, size_t len)
{
    struct later_error err;

    if (!the_worker || !the_worker->said) /* laterd --perform: there is one attempt */
        return LATER_YES;
    if (said_take(the_worker->said, name, json, len, &err) == 0)
        return LATER_YES;
    log_line(LOG_WARN, "what a program says of type %.128s is not taken: %s", name, err.text);
    return LATER_FAILED;
}

static int host_refuse(const struct later_job *job, const char *call, const char *why)
{
    attempt_log(job, LOG_ERROR, "%s: %s", call, why);
    return LATER_FAILED;
}

/* Can it be kept with the job? */
static int host_check_json(const struct later_job *job, const char *call, const char *json,
                           size_t len)
{
    struct later_error err;

    if (job->worker && !job->slot)
        return host_refuse(job, call, "the job's time was over, it is settled");
    if (len > LATER_VALUE_MAX) {
        later_fail(&err, LATER_E_DATA, "longer than %d bytes", LATER_VALUE_MAX);
        return host_refuse(job, call, err.text);
    }
    return later_json_scan(json, len, NULL, 0, &err) < 0 ? host_refuse(job, call, err.text)
                                                         : LATER_YES;
}

static int job_checkpoint(struct later_job *job, const char *json, size_t len)
{
    struct later_error err;

    len = len ? len : strlen(json);
    if (host_check_json(job, "later_job_checkpoint", json, len) != LATER_YES)
        return LATER_FAILED;
    if (job->slot && value_keep_checkpoint(job->worker->slots, job->slot, json, len, &err) < 0)
        return host_refuse(job, "later_job_checkpoint", err.text);
    return LATER_YES;
}

static int job_stopping(const struct later_job *job)
{
    return job->worker && atomic_load(&job->worker->slots->page->stopping);
}

static int job_wanted(const struct later_job *job)
{
    bool nobody =
        job->worker && job->slot && job->kept <= 0 && !job->slot->on_done[0] && !job->is_step;

    return nobody ? LATER_NO : LATER_YES;
}

static int job_value(struct later_job *job, const char *json, size_t len)
{
    char *value;

    if (job_wanted(job) == LATER_NO)
        return LATER_NO;
    len = len ? len : strlen(json);
    if (host_check_json(job, "later_job_value", json, len) != LATER_YES)
        return LATER_FAILED;
    value = malloc(len);
    if (!value)
        return host_refuse(job, "later_job_value", "no memory");
    memcpy(value, json, len);
    free(job->value);
    job->value = value;
    job->value_len = len;
    return LATER_YES;
}

static const char *job_given(struct later_job *job, uint32_t which, const char *step, size_t *len)
{
    *len = 0;
    if (which == LATER_GIVEN_CHECKPOINT) {
        *len = job->checkpoint_len;
        return *len ? job->checkpoint : NULL;
    }
    if (!job->given)
        return NULL;
    if (which == LATER_GIVEN_FLOW)
        return later_flow_all(job->given, len);
    if (which == LATER_GIVEN_VALUE)
        return later_flow_value(job->given, step, len);
    if (later_flow_all(job->given, len))
        return NULL;
    if (!job->values)
        job->values = later_flow_values_text(job->given, &job->values_len);
    *len = job->values ? job->values_len : 0;
    return job->values;
}

static int job_progress(struct later_job *job, double done, double total, const char *text)
{
    if (!(done >= 0 && isfinite(done) && total >= 0 && isfinite(total)))
        return host_refuse(job, "later_job_progress", "done and total must be at least 0");
    if (job->slot)
        progress_note(job->slot, done, total, text ? text : "");
    return job->worker && !job->slot ? LATER_FAILED : LATER_YES;
}

static int job_begun(struct later_job *job)
{
    if (job->worker && !job->slot)
        return LATER_NO;
    if (job->worker)
        admission_begun(job);
    return LATER_YES;
}

static int job_counted(const struct later_job *job)
{
    return job->counts ? LATER_YES : LATER_NO;
}

static void job_set_data(struct later_job *job, void *data)
{
    job->data = data;
}

static void *job_data(const struct later_job *job)
{
    return job->data;
}

static int job_finish(struct later_job *job, uint32_t result)
{
    if (!job->event || job->ended) {
        log_line(LOG_ERROR, "plugin %s: %s: refused", job->type ? job->type->plugin : "?",
                 job->ended ? "finished a job twice" : "finished a job of a serial type");
        return -1;
    }
    if (!job_result_valid(result)) {
        snprintf(job->error, sizeof job->error, "plugin %s finished it with %u", job->type->plugin,
                 (unsigned)result);
        result = LATER_RETRY;
    }
    if (!job->worker) { /* laterd --perform */
        job->ended = true;
        job->result = result;
        return 0;
    }
    return run_finish(job, result);
}

__attribute__((format(printf, 3, 0))) static void host_logv(const char *plugin, uint32_t level,
                                                            const char *format, va_list args)
{
    char words[1024];

    vsnprintf(words, sizeof words, format, args);
    log_line((enum log_level)level, "plugin %s: %s", plugin, words);
}

static struct event_base *host_event_base(void)
{
    return the_worker ? the_worker->base : NULL;
}

/* Returns the client for this process's plugins; NULL if there is no Redis (--perform). */
static struct later_client *client_of(const struct later_job *job)
{
    if (!job->worker || !job->worker->client)
        log_line(LOG_ERROR, "a plugin needs Redis, but there is none here");
    return job->worker ? job->worker->client : NULL;
}

static int host_push(struct later_job *job, const struct later_push_job *push)
{
    struct later_client *client = client_of(job);
    struct later_push_job known = { .size = 0 };
    enum later_push_result result;
    struct later_error err;
    struct later_new_job fresh;
    const char *queue;

    if (!client)
        return LATER_FAILED;
    /* A plugin's struct may be shorter or longer than ours. */
    memcpy(&known, push, push->size < sizeof known ? push->size : sizeof known);
    fresh = (struct later_new_job){ .type = known.type,
                                    .payload = known.payload,
                                    .payload_len = known.payload_len,
                                    .id = known.id,
                                    .priority = known.priority,
                                    .max_attempts = known.max_attempts,
                                    .in = known.delay,
                                    .timeout = known.timeout,
                                    .result = known.result,
                                    .flow = known.flow,
                                    .step = known.step,
                                    .after = known.after,
                                    .when = known.when };
    queue = known.queue ? known.queue : job->queue;
    if (known.flow && strcmp(queue, job->queue) == 0)
        fresh.adder = job->id;
    if (later_push(client, queue, &fresh, NULL, &result, &err) < 0)
        return host_refuse(job, "later_push", err.text);
    return result == LATER_IS_KNOWN ? LATER_EXISTS : LATER_YES;
}

static int host_stock_claim(struct later_job *job, const char *item, const char *who,
                            uint64_t *number)
{
    struct later_client *client = client_of(job);
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    enum later_stock_taken taken;
    uint64_t ignored;

    if (!client)
        return LATER_FAILED;
    if (!later_key_name_valid(item) || !later_key_name_valid(who))
        return host_refuse(job, "later_stock_claim",
                           "item and claimant are 1 to 200 printable characters");
    later_stock_take(&cmd, later_call_prefix(client), item, who);
    reply = later_call(client, &cmd, 0, true, &err);
    if (!reply)
        return host_refuse(job, "later_stock_claim", err.text);
    taken = later_stock_taken(reply, number ? number : &ignored);
    later_reply_free(reply);
    return taken == LATER_STOCK_TAKEN  ? LATER_YES
           : taken == LATER_STOCK_HELD ? LATER_EXISTS
                                       : LATER_NO;
}

/* Checks a call for a lock or a limit of this name. Returns LATER_YES if it may be made, with Redis
 * or without: `laterd --perform` has none, but nobody else could hold anything there either. */
static int check_name(const struct later_job *job, const char *call, const char *name)
{
    if (!name || !later_key_name_valid(name))
        return host_refuse(job, call,
                           "a name is 1 to 200 printable characters, no space, no brace");
    if (job->worker && !job->slot)
        return host_refuse(job, call, "the job's time was over, it is settled");
    return LATER_YES;
}

static int host_lock(struct later_job *job, const char *name, double ttl, double wait)
{
    struct later_error err;
    int taken;

    if (check_name(job, "later_lock", name) != LATER_YES)
        return LATER_FAILED;
    if (!(ttl >= LATER_LOCK_TTL_MIN && ttl <= LATER_LOCK_TTL_MAX) || isnan(wait)) {
        later_fail(&err, LATER_E_DATA, "ttl is %g to %g seconds, wait from 0", LATER_LOCK_TTL_MIN,
                   LATER_LOCK_TTL_MAX);
        return host_refuse(job, "later_lock", err.text);
    }
    if (!job->worker || admission_held(job, name))
        return LATER_YES;
    taken = admission_lock(job, name, ttl, wait > 0 ? wait : 0, &err);
    if (taken < 0)
        return host_refuse(job, "later_lock", err.text);
    return taken == LATER_LOCK_YES ? LATER_YES : LATER_NO;
}

static int host_unlock(struct later_job *job, const char *name)
{
    struct lock_lease *lease;
    bool lost;

    if (check_name(job, "later_unlock", name) != LATER_YES)
        return LATER_FAILED;
    if (!job->worker)
        return LATER_YES;
    lease = admission_held(job, name);
    if (!lease)
        return LATER_NO;
    lost = atomic_load(&lease->state) == LEASE_LOST;
    admission_unlock(job, lease);
    return lost ? LATER_NO : LATER_YES;
}

static int host_lock_fence(struct later_job *job, const char *name, uint64_t *fence)
{
    const struct lock_lease *lease;

    if (check_name(job, "later_lock_fence", name) != LATER_YES)
        return LATER_FAILED;
    lease = job->worker ? admission_held(job, name) : NULL;
    if (job->worker && !lease)
        return LATER_NO;
    *fence = lease ? lease->fence : 1;
    return LATER_YES;
}

static int host_limit(struct later_job *job, const char *key, uint32_t max, double per,
                      uint32_t sliding)
{
    struct later_client *client;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    double wait;

    if (check_name(job, "later_limit", key) != LATER_YES)
        return LATER_FAILED;
    if (!job->worker)
        return max > 0 ? LATER_YES : LATER_FAILED;
    client = client_of(job);
    later_limit_ask(&cmd, later_call_prefix(client), key, max, per, sliding != 0);
    reply = later_call(client, &cmd, 0, false, &err);
    if (!reply)
        return host_refuse(job, "later_limit", err.text);
    wait = later_limit_wait(reply);
    later_reply_free(reply);
    return wait > 0 ? LATER_NO : LATER_YES;
}

const struct later_host *host_table(struct worker *worker)
{
    static const struct later_host host = { .api = LATER_API,
                                            .size = sizeof host,
                                            .job_string = job_string,
                                            .job_bytes = job_bytes,
                                            .job_number = job_number,
                                            .job_time_left = job_time_left,
                                            .job_cancelled = job_cancelled,
                                            .job_logv = job_logv,
                                            .job_errorv = job_errorv,
                                            .job_retry_in = job_retry_in,
                                            .job_set_data = job_set_data,
                                            .job_data = job_data,
                                            .job_finish = job_finish,
                                            .logv = host_logv,
                                            .event_base = host_event_base,
                                            .push = host_push,
                                            .stock_claim = host_stock_claim,
                                            .lock = host_lock,
                                            .unlock = host_unlock,
                                            .limit = host_limit,
                                            .lock_fence = host_lock_fence,
                                            .job_kind = job_kind,
                                            .job_value = job_value,
                                            .job_progress = job_progress,
                                            .job_checkpoint = job_checkpoint,
                                            .job_stopping = job_stopping,
                                            .job_wanted = job_wanted,
                                            .job_counted = job_counted,
                                            .job_begun = job_begun,
                                            .type_says = host_type_says,
                                            .job_given = job_given };

    the_worker = worker;
    return &host;
}
