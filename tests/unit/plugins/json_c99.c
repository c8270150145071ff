/* json_c99.c: later/job_json.h alone and first, to be built with -std=c99 -pedantic-errors -Werror.
 */
#include <later/job_json.h>

static enum later_result mail_send(struct later_job *job)
{
    json_error_t error;
    json_t *payload = later_job_json(job, &error);
    const char *to = later_json_string(payload, "to", NULL);
    enum later_result result = LATER_BURY;

    if (!payload)
        later_job_error(job, "payload: %s", error.text);
    else if (to && later_json_integer(payload, "copies", 1) > 0)
        result = later_json_number(payload, "wait", 0.0) > 0 ? LATER_RETRY : LATER_DONE;
    json_decref(payload);
    return result;
}

static const struct later_type types[] = { { .name = "json.c99", .perform = mail_send }, { 0 } };
LATER_PLUGIN(.name = "json_c99", .version = "1.0", .types = types);
