/* cxx.cc: a plugin in C++20, to be built with -Wall -Wextra -pedantic-errors -Werror. It calls
 * every function of the header, so that each is compiled as C++. */
#include <later/job.h>

static enum later_result all(struct later_job *job)
{
    struct later_push_job push = {};
    size_t len = 0;
    uint64_t number = 0;
    const char *document;

    push.size = sizeof push;
    push.type = later_job_type(job);
    push.payload = later_job_payload(job, &len);
    push.payload_len = len;
    push.id = later_job_id(job);
    push.queue = later_job_queue(job);
    if (later_push(job, &push) != LATER_YES || later_stock_claim(job, "i", "w", &number) < 0)
        return LATER_RETRY;
    if (!LATER_HAS(limit) || later_limit(job, "k", 1, 1.0, 0) != LATER_YES)
        later_job_retry_in(job, later_job_time_left(job));
    if (later_lock(job, "name", 1.0, 0.0) == LATER_YES)
        later_unlock(job, "name");
    later_job_set_data(job, later_event_base());
    later_job_log(job, LATER_DEBUG, "%s %s %u/%u %p", later_job_token(job), later_job_trace(job),
                  later_job_attempt(job), later_job_max_attempts(job), later_job_data(job));
    document = later_job_document(job, &len);
    later_log("cxx", LATER_INFO, "%.*s", (int)len, document);
    later_job_error(job, "%s", "none");
    if (later_job_cancelled(job))
        later_job_finish(job, LATER_RETRY);
    return LATER_DONE;
}

static const struct later_type types[] = { { .name = "cxx",
                                             .mode = LATER_SERIAL,
                                             .reserved = 0,
                                             .perform = all,
                                             .cancel = nullptr,
                                             .room = nullptr,
                                             .ready = nullptr,
                                             .flags = 0,
                                             .stopping = nullptr },
                                           {} };

LATER_PLUGIN(.name = "cxx", .version = "1.0", .types = types, .config = nullptr,
             .config_done = nullptr, .start = nullptr, .stop = nullptr, .config_help = nullptr,
             .more_types = nullptr);
