/* conservation.c: jobs that came are jobs that went and jobs that are there. */
#include "queue/conservation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first counters of the enum say how many came, the others before LATER_CONSERVED how they
 * went. */
#define CAME (LATER_COUNT_ADOPTED + 1)

bool later_conserved(const struct later_sizes *sizes)
{
    uint64_t came = 0, went = 0;

    for (int i = 0; i < CAME; i++)
        came += sizes->counters[i];
    for (int i = CAME; i < LATER_CONSERVED; i++)
        went += sizes->counters[i];
    return came == went + sizes->jobs;
}

int64_t later_unadopted(const struct later_sizes *sizes)
{
    uint64_t members =
        sizes->ready + sizes->delayed + sizes->reserved + sizes->dead + sizes->waiting;

    return (int64_t)members - (int64_t)sizes->jobs;
}

const char *later_conserved_text(const struct later_sizes *sizes, char *text, size_t size)
{
    size_t len = 0;

    for (int i = 0; i < LATER_CONSERVED && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s %" PRIu64,
                                i == 0      ? ""
                                : i == CAME ? " = "
                                            : " + ",
                                later_counter_name((enum later_counter)i), sizes->counters[i]);
    if (len < size)
        snprintf(text + len, size - len, " + jobs %" PRIu64, sizes->jobs);
    return text;
}
