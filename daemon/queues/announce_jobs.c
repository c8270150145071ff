/* announce_jobs.c: which jobs run for the longest time. */
#include "queues/announce_jobs.h"

#include <string.h>

/* The row in whose place it would be. */
static uint32_t announce_jobs_index(const struct announce_jobs *jobs, double began)
{
    uint32_t i = jobs->count;

    while (i > 0 && began < jobs->rows[i - 1].began)
        i--;
    return i;
}

bool announce_jobs_wants(const struct announce_jobs *jobs, double began, double now)
{
    return began > 0 && now - began >= ANNOUNCE_LONG &&
           announce_jobs_index(jobs, began) < ANNOUNCE_JOBS;
}

static bool announce_jobs_is_id(const char *id)
{
    const char *c = id;

    while (*c > ' ' && *c <= '~')
        c++;
    return c > id && !*c;
}

void announce_jobs_add(struct announce_jobs *jobs, const struct announce_job *job)
{
    uint32_t at = announce_jobs_index(jobs, job->began);

    if (at == ANNOUNCE_JOBS || !announce_jobs_is_id(job->id) || !later_document_is_type(job->type))
        return;
    if (jobs->count < ANNOUNCE_JOBS)
        jobs->count++;
    memmove(jobs->rows + at + 1, jobs->rows + at, (jobs->count - at - 1) * sizeof *jobs->rows);
    jobs->rows[at] = *job;
}

void announce_jobs_write(const struct announce_jobs *jobs, double now, double redis_now, FILE *out)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct announce_job *job = &jobs->rows[i];

        fprintf(out, "%s{\"id\":\"", i ? "," : ",\"jobs\":[");
        for (const char *c = job->id; *c; c++)
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fprintf(
            out,
            "\",\"queue\":\"%s\",\"type\":\"%s\",\"since\":%.3f,\"timeout\":%.3f,\"attempt\":%u,"
            "\"worker\":%u}",
            job->queue, job->type, redis_now - (now - job->began), job->timeout,
            (unsigned)job->attempt, (unsigned)job->worker);
    }
    if (jobs->count)
        fputc(']', out);
}
