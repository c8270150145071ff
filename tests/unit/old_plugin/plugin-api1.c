/* plugin-api1.c: a plugin built with the header of API 1 as it was first published. It calls every
 * function and writes what it got into its log, for test_plugin.c to compare. */
#include "job-api1.h"

#include <stdio.h>

static char host_name[64];

static int config(const char *key, const char *value, char *err, size_t n)
{
    if (key[0] != 'h') {
        snprintf(err, n, "there is only host");
        return -1;
    }
    snprintf(host_name, sizeof host_name, "%s", value);
    return 0;
}

static void ask(struct later_job *job)
{
    struct later_push_job push = { .size = sizeof push,
                                   .priority = -5,
                                   .type = "next",
                                   .payload = "[1]xx",
                                   .payload_len = 3,
                                   .id = "n1",
                                   .queue = "other",
                                   .delay = 1.5,
                                   .max_attempts = 2,
                                   .timeout = 3 };
    uint64_t number = 0;
    int pushed = later_push(job, &push), claimed = later_stock_claim(job, "phone", "b1", &number);

    later_job_log(job, LATER_INFO, "answers %d %d %u %d %d %d", pushed, claimed, (unsigned)number,
                  later_lock(job, "l", 1, 0), later_unlock(job, "l"),
                  later_limit(job, "k", 1, 1, 0));
}

static enum later_result serial(struct later_job *job)
{
    size_t len, all;
    const char *payload = later_job_payload(job, &len), *document = later_job_document(job, &all);

    later_log("api1", LATER_WARN, "host %s", host_name);
    later_job_log(job, LATER_INFO, "%s %s %s %s %s %u %u", later_job_id(job), later_job_type(job),
                  later_job_queue(job), later_job_token(job), later_job_trace(job),
                  (unsigned)later_job_attempt(job), (unsigned)later_job_max_attempts(job));
    later_job_log(job, LATER_DEBUG, "%.*s in %.*s", (int)len, payload, (int)all, document);
    later_job_log(job, LATER_DEBUG, "%d %d", later_job_time_left(job) > 1,
                  later_job_cancelled(job));
    ask(job);
    later_job_error(job, "no %s", "luck");
    later_job_retry_in(job, 7.5);
    return LATER_RETRY;
}

static enum later_result event(struct later_job *job)
{
    later_job_set_data(job, host_name);
    later_job_log(job, LATER_INFO, "base %d", later_event_base() != NULL);
    return LATER_DEFERRED;
}

static void cancel(struct later_job *job)
{
    later_job_error(job, "data %d", later_job_data(job) == host_name);
    later_job_finish(job, LATER_BURY);
}

static const struct later_type types[] = {
    { .name = "api1.serial", .perform = serial },
    { .name = "api1.event", .mode = LATER_EVENT, .perform = event, .cancel = cancel },
    { 0 }
};

LATER_PLUGIN(.name = "api1", .version = "1", .types = types, .config = config);
