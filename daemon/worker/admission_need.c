/* admission_need.c: what a job needs, by its document and the configuration. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/state.h"

#include <stdio.h>
#include <string.h>

static void limit_name(const struct config_limit *limit, const struct later_job *job,
                       char name[LATER_LOCK_MAX + 1])
{
    char base[CONFIG_LIMIT_NAME], bucket[LATER_BUCKET_MAX + 1] = "";

    if (limit->member[0])
        later_document_bucket(&job->doc, limit->member, bucket);
    config_limit_name(limit, base);
    later_line_named(name, base, bucket);
}

static bool nth_limit(const struct later_job *job, uint32_t n, struct admission_need *need)
{
    const struct config *config = job->worker->config;

    for (uint32_t i = 0; i < config->limit_count; i++) {
        const struct config_limit *limit = &config->limits[i];

        if (limit->type[0] ? !config_type_matches(limit->type, job->doc.type)
                           : strcmp(limit->queue, job->queue) != 0)
            continue;
        if (n-- > 0)
            continue;
        need->line = (struct later_line){ .what = LATER_LINE_LIMIT,
                                          .max = limit->max,
                                          .per = limit->per,
                                          .sliding = limit->sliding,
                                          .name = need->name };
        limit_name(limit, job, need->name);
        return true;
    }
    return false;
}

static bool is_need(struct admission_need *need, enum later_line_for what, uint32_t max,
                    const char *word, const char *name)
{
    need->line = (struct later_line){ .what = what, .max = max, .name = need->name };
    snprintf(need->name, sizeof need->name, "%s%s", word, name);
    return true;
}

bool admission_need(const struct later_job *job, uint32_t n, struct admission_need *need)
{
    const struct config_type *rules = job->rules;
    const struct config_queue *queue = job->from->config;

    if (job->doc.lock[0] && n-- == 0)
        return is_need(need, LATER_LINE_LOCK, 1, "", job->doc.lock);
    if (rules && rules->exclusive && n-- == 0)
        return is_need(need, LATER_LINE_LOCK, 1, "type:", job->doc.type);
    if (rules && rules->max_running && n-- == 0)
        return is_need(need, LATER_LINE_PERMIT, rules->max_running, "type:", rules->name);
    if (queue->max_running && n-- == 0)
        return is_need(need, LATER_LINE_PERMIT, queue->max_running, "queue:", job->queue);
    return nth_limit(job, n, need);
}
