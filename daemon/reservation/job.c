/* job.c: decisions about one job; pure. */
#include "reservation/job.h"

#include <math.h>

void job_clear(struct later_job *job)
{
    memset(job, 0, offsetof(struct later_job, line));
    job->line[0] = job->flow[0] = job->error[0] = '\0';
}

void job_log_fields(const struct later_job *job, double ms, struct log_job *fields)
{
    *fields = (struct log_job){ .id = job->id,
                                .queue = job->queue,
                                .type = job->doc.type[0] ? job->doc.type : NULL,
                                .trace = job->doc.trace[0] ? job->doc.trace : NULL,
                                .attempt = job->attempt,
                                .worker = job->in_worker,
                                .ms = ms };
}

static bool job_backoff_differs(const struct later_backoff *a, const struct later_backoff *b)
{
    return a->list_count || b->list_count || a->base != b->base || a->max != b->max ||
           a->jitter != b->jitter;
}

/* What its program has said does not count where the row of its type says something. */
static void job_apply_said(struct later_job *job, const struct config *config,
                           const struct later_document *said)
{
    struct later_document counts = { .has_backoff = said->has_backoff,
                                     .max_attempts = said->max_attempts,
                                     .backoff = said->backoff };

    if (job->rules && job->rules->max_attempts != config->max_attempts)
        counts.max_attempts = 0;
    if (job->rules && job_backoff_differs(&job->rules->backoff, &config->backoff))
        counts.has_backoff = false;
    later_policy_apply(&job->policy, &counts);
}

void job_policy(struct later_job *job, const struct config *config,
                const struct later_document *said)
{
    job->rules = config_type_find(config, job->doc.type);
    config_policy(config, job->rules, &job->policy);
    if (said)
        job_apply_said(job, config, said);
    later_policy_apply(&job->policy, &job->doc);
    job->deadline = job->began + job->policy.timeout;
    job->kept = job->doc.result > 0 ? job->doc.result : job->rules ? job->rules->result : 0;
    job->keep = job->rules ? job->rules->keep : 0;
}

#define PRIORITY_STEP 1e6  /* seconds of score */
#define CLOCK_SLACK   10.0 /* how far a pusher's clock, or our idea of Redis's, may be ahead */

double job_waited(double score, double now)
{
    double shifted = now - score, waited = shifted;

    if (now <= 0 || !(fabs(shifted) <= 101 * PRIORITY_STEP))
        return -1;
    if (!(shifted >= 0 && shifted < PRIORITY_STEP)) /* its priority is not 0 */
        waited = shifted - floor(shifted / PRIORITY_STEP) * PRIORITY_STEP;
    return waited < PRIORITY_STEP - CLOCK_SLACK ? waited : 0;
}

bool job_result_valid(uint32_t result)
{
    return result <= LATER_BURY || result == LATER_RETURN;
}

enum later_ending job_ending(uint32_t result, bool timed_out, uint32_t kind)
{
    if (result == LATER_DONE)
        return LATER_ENDED_DONE;
    if (result == LATER_BURY)
        return LATER_ENDED_BURY;
    if (timed_out || kind == LATER_KIND_TIMEOUT)
        return LATER_ENDED_TIMEOUT;
    if (result == LATER_RETURN)
        return LATER_ENDED_RETURNED;
    return kind == LATER_KIND_CRASH ? LATER_ENDED_PROGRAM : LATER_ENDED_RETRY;
}

void job_settle(const struct later_job *job, struct slot *slot, uint32_t result, bool timed_out,
                uint64_t random)
{
    enum later_ending ending = job_ending(result, timed_out, job->kind);
    struct later_attempt attempt = { .ending = ending,
                                     .number = job->attempt,
                                     .crashes = slot->crashes,
                                     .max_attempts = job->policy.max_attempts,
                                     .too_late = slot_too_late(slot, job->began + slot->ran),
                                     .retry_in = job->retry_in,
                                     .backoff = &job->policy.backoff,
                                     .random = random };
    bool told = job->error[0] || ending == LATER_ENDED_RETURNED;

    slot_finish(slot, later_verdict_after(&attempt),
                !later_endings[ending].kind ? ""
                : told                      ? job->error
                                            : "the handler gave no reason");
}
