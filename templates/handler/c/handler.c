/* Performs jobs of the type @NAME@. later-job(3) has all that a handler can do. */
#include <later/job.h>

#include <stdio.h>
#include <string.h>

/* Blocks: each worker performs one at a time. For handlers on the event loop, use mode =
 * LATER_EVENT. */
static enum later_result perform(struct later_job *job)
{
    size_t len;
    const char *payload = later_job_payload(job, &len); /* JSON; later/job_json.h parses it */
    char value[200];
    int n;

    if (len < 2 || payload[0] != '"') {
        later_job_error(job, "the payload is no string");
        return LATER_BURY; /* dead at once; LATER_RETRY: again later */
    }
    later_job_log(job, LATER_INFO, "attempt %u", (unsigned)later_job_attempt(job));
    n = snprintf(value, sizeof value, "{\"hello\":%.*s}", (int)(len < 150 ? len : 150), payload);
    if (len < 150)
        later_job_value(job, value, (size_t)n); /* for callers that wait for the result */
    return LATER_DONE;
}

static const struct later_type types[] = { { .name = "@NAME@", .perform = perform }, { 0 } };

LATER_PLUGIN(.name = "@NAME@", .version = "1", .types = types);
