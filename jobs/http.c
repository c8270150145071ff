/*
 * http.c: types "http.NAME": posts a job to a URL.
 *
 *     plugins.config.http.NAME = { url = "https://example.org/hook"; };
 *
 * It is an event type: a worker waits for hundreds of answers at once. Nothing of a job gets into
 * the URL.
 */
#include "http.h"

#include <string.h>

static void http_ended(struct http_request *request, CURLcode code)
{
    struct later_job *job = request->job;
    enum later_result result = http_request_result(request, code);

    http_request_free(request);
    later_job_finish(job, result);
}

static void http_cancel(struct later_job *job)
{
    struct http_request *request = later_job_data(job);

    http_loop_remove(request);
    if (later_job_time_left(job) > 0.1) /* the timer may fire a little early */
        later_job_error(job, "cancelled");
    else if (request->head_len > 0)
        later_job_error(job, "no whole answer within its time");
    else
        later_job_error(job, "no answer within its time");
    http_request_free(request);
    later_job_finish(job, LATER_RETRY);
}

static enum later_result http_perform(struct later_job *job)
{
    const char *name = later_job_type(job) + strlen("http.");
    const struct http_target *target = http_config_find(name);
    struct http_request *request;

    if (!target) {
        later_job_error(job, "no target configured: plugins.config.http.%.100s is missing", name);
        return LATER_BURY;
    }
    request = http_request_new(job, target);
    if (!request || http_loop_add(request, http_ended) != 0) {
        http_request_free(request);
        later_job_error(job, "no memory for a request");
        return LATER_RETRY;
    }
    later_job_set_data(job, request);
    return LATER_DEFERRED;
}

static void http_stop(void)
{
    http_loop_stop();
    http_config_free();
}

static const struct later_type types[] = {
    { .name = "http.*", .mode = LATER_EVENT, .perform = http_perform, .cancel = http_cancel }, { 0 }
};

LATER_PLUGIN(.name = "http", .version = "1", .types = types, .config = http_config,
             .config_done = http_config_done, .stop = http_stop, .config_help = http_config_help);
