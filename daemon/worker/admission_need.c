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
    else if (limit->by_group)
        snprintf(bucket, sizeof bucket, "%s", job->doc.group);
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

/* How many jobs of its group may run at once: 0 = any number. Jobs without a group are one. */
static uint32_t group_running(const struct later_job *job)
{
    const struct config *config = job->worker->config;
    const struct config_group *all = NULL;
    later_queue_name whole;

    if (!config->group_count)
        return 0;
    later_shard_whole(whole, job->queue);
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct config_group *entry = &config->groups[i];

        if (strcmp(entry->queue, whole) != 0)
            continue;
        if (entry->max_running && entry->group[0] && strcmp(entry->group, job->doc.group) == 0)
            return entry->max_running;
        if (!entry->group[0])
            all = entry;
    }
    return all ? all->max_running : 0;
}

static bool group_need(const struct later_job *job, struct admission_need *need)
{
    char word[sizeof "group:" + LATER_QUEUE_MAX + 1];
    later_queue_name whole;

    later_shard_whole(whole, job->queue);
    snprintf(word, sizeof word, "group:%s:", whole);
    return is_need(need, LATER_LINE_PERMIT, group_running(job), word, job->doc.group);
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
    if (group_running(job) && n-- == 0)
        return group_need(job, need);
    return nth_limit(job, n, need);
}
