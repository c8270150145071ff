/* null.c: does nothing, and succeeds. The smallest complete plugin, and the one that the benchmarks
 * use. */
#include <later/job.h>

static enum later_result null_perform(struct later_job *job)
{
    (void)job;
    return LATER_DONE;
}

static const struct later_type types[] = { { .name = "null", .perform = null_perform }, { 0 } };

LATER_PLUGIN(.name = "null", .version = "1", .types = types);
