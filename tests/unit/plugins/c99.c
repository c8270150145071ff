/* c99.c: the example of the contract, to be built with -std=c99 -pedantic-errors -Werror. The
 * header comes first and alone, so that it is seen to need nothing before it. */
#include <later/job.h>

static enum later_result hello(struct later_job *job)
{
    size_t len;
    const char *payload = later_job_payload(job, &len);

    if (len == 0) {
        later_job_error(job, "smtp: %s", "why");
        later_job_retry_in(job, 60.0);
        return LATER_RETRY;
    }
    later_job_log(job, LATER_INFO, "hello %.*s", (int)len, payload);
    return LATER_DONE;
}

static const struct later_type types[] = { { .name = "c99.hello", .perform = hello }, { 0 } };
LATER_PLUGIN(.name = "c99", .version = "1.0", .types = types);
