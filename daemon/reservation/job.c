/* job.c: what is decided about one job; pure. */
#include "reservation/job.h"

#include <math.h>

void job_log_fields(const struct later_job *job, double ms, struct log_job *fields)
{
    *fields = (struct log_job){ .id = job->id,
                                .queue = job->queue,
                                .type = job->doc.type[0] ? job->doc.type : NULL,
                                .trace = job->doc.trace[0] ? job->doc.trace : NULL,
                                .attempt = job->attempt,
                                .ms = ms };
}

void job_policy(struct later_job *job, const struct config *config)
{
    const struct config_type *type = config_type_find(config, job->doc.type);
    const struct later_document *doc = &job->doc;
    double timeout = type ? type->timeout : config->timeout;

    job->rules = type;
    job->max_attempts = type ? type->max_attempts : config->max_attempts;
    job->backoff = type ? type->backoff : config->backoff;
    if (doc->max_attempts)
        job->max_attempts = doc->max_attempts;
    if (doc->timeout > 0)
        timeout = doc->timeout;
    if (doc->has_backoff && doc->backoff.list_count) {
        job->backoff = doc->backoff;
    } else if (doc->has_backoff) {
        job->backoff.list_count = 0;
        if (doc->backoff.base >= 0)
            job->backoff.base = doc->backoff.base;
        if (doc->backoff.max >= 0)
            job->backoff.max = doc->backoff.max;
        /* A base of its own above our cap is meant as it is said. */
        if (doc->backoff.max < 0 && job->backoff.max < job->backoff.base)
            job->backoff.max = job->backoff.base;
    }
    job->deadline = job->began + timeout;
}

void job_settle(const struct later_job *job, struct slot *slot, uint32_t result, const char *kind,
                uint64_t random)
{
    const char *text = job->error[0] ? job->error : "the handler gave no reason";
    double wait = job->retry_in;

    if (result == LATER_DONE) {
        slot_finish(slot, LATER_VERB_ACK, 0, "", "", "");
    } else if (result == LATER_BURY || job->attempt >= job->max_attempts) {
        slot_finish(slot, LATER_VERB_BURY, 0, "ran", kind, text);
    } else {
        if (wait < 0 || isnan(wait))
            wait = later_backoff_delay(&job->backoff, job->attempt, random);
        slot_finish(slot, LATER_VERB_RELEASE, wait, "ran", kind, text);
    }
}
