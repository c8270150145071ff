/* undefined.c: a plugin that needs a function which does not exist. */
#include <later/job.h>

void function_that_is_nowhere(void);

static enum later_result perform(struct later_job *job)
{
    (void)job;
    function_that_is_nowhere();
    return LATER_DONE;
}

static const struct later_type types[] = { { .name = "undefined", .perform = perform }, { 0 } };

LATER_PLUGIN(.name = "undefined", .types = types);
