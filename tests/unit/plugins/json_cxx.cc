/* json_cxx.cc: later/job_json.h alone and first, to be built with -std=c++11 -Wall -Wextra
 * -pedantic-errors -Werror. C++11 has no designated initialisers, so it is only compiled, and
 * defines no plugin. */
#include <later/job_json.h>

enum later_result json_cxx(struct later_job *job);

enum later_result json_cxx(struct later_job *job)
{
    json_error_t error;
    json_t *payload = later_job_json(job, &error);
    const char *to = later_json_string(payload, "to", nullptr);
    bool wanted = later_json_integer(payload, "copies", 1) > 0 &&
                  later_json_number(payload, "share", 0.5) > 0.25;

    if (!to)
        later_job_error(job, "payload: %s", error.text);
    json_decref(payload);
    return to && wanted ? LATER_DONE : LATER_BURY;
}
