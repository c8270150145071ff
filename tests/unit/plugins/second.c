/* second.c: a plugin with only what is required. Its start can be made to fail. */
#include <later/job.h>

#include <stdio.h>
#include <stdlib.h>

LATER_EXPORT int second_stopped;

static enum later_result perform(struct later_job *job)
{
    (void)job;
    return LATER_DONE;
}

static int start(char *err, size_t n)
{
    if (!getenv("SECOND_REFUSES"))
        return 0;
    snprintf(err, n, "no such host");
    return -1;
}

static void stop(void)
{
    second_stopped++;
}

static const struct later_type types[] = { { .name = "second", .perform = perform },
                                           { .name = "*", .perform = perform },
                                           { 0 } };

LATER_PLUGIN(.name = "second", .types = types, .start = start, .stop = stop);
