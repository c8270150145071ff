/* config_cron.c: the option `cron`: schedules. */
#include "config/config_cron.h"

#include "config/config_text.h"
#include "job/document.h"
#include "later/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CRONS_MAX 5000

static int config_cron_fault(struct config_reader *in, const config_setting_t *element,
                             const char *member, const char *what)
{
    const config_setting_t *setting = config_setting_get_member(element, strrchr(member, '.') + 1);

    return config_fault(in, setting ? setting : element, member, "%s", what);
}

static void free_cron(struct config_cron *cron)
{
    config_strings_free(CONFIG_IN_CRON, cron);
    free(cron->definition);
}

void config_cron_free(struct config_cron *crons, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free_cron(&crons[i]);
    free(crons);
}

/* --- one entry --- */

/* Sets when the schedule fires: `at`, or `every` as an expression. */
static int set_when(struct config_reader *in, const config_setting_t *element,
                    const struct config_cron *cron, struct later_schedule *schedule)
{
    struct later_error err;
    char every[32];

    if (!cron->at == !(cron->every > 0))
        return config_cron_fault(in, element, "cron.at",
                                 "an entry has `at` or `every`; give exactly one");
    if (!cron->at && cron->every != (double)(int32_t)cron->every)
        return config_cron_fault(in, element, "cron.every",
                                 "not a whole number of seconds; ticks are whole");
    snprintf(every, sizeof every, "@every %.0f", cron->every);
    if (later_schedule_set(schedule, cron->at ? cron->at : every, cron->zone, &err) == 0)
        return 0;
    return config_cron_fault(
        in, element, cron->zone && strstr(err.text, "zone") ? "cron.zone" : "cron.at", err.text);
}

static char *config_cron_make_document(const struct config_cron *cron, size_t max, size_t *len,
                                       struct later_error *err)
{
    const struct later_new_job job = {
        .type = cron->type,
        .payload = cron->payload,
        .group = cron->group[0] ? cron->group : NULL,
        .max_attempts = cron->max_attempts,
        .timeout = cron->timeout > 0 ? cron->timeout : 0,
    };

    return later_document_build(&job, max, len, err);
}

static int define(struct config_reader *in, const config_setting_t *element,
                  struct config_cron *cron)
{
    struct later_schedule schedule = { .late = 0 };
    struct later_error err;
    char *document;
    size_t len;

    /* @schedule choice,count: schedule.{name} = cron->{name}; */
    schedule.catch_up = cron->catch_up;
    schedule.overlap = cron->overlap;
    schedule.limit = cron->limit;
    /* @end */
    /* @schedule span,rank: schedule.{name} = (int32_t)cron->{name}; */
    schedule.spread = (int32_t)cron->spread;
    schedule.late = (int32_t)cron->late;
    schedule.priority = (int32_t)cron->priority;
    /* @end */
    /* @schedule life: schedule.{name} = (int32_t)fmax(cron->{name}, 0); */
    schedule.expires_in = (int32_t)fmax(cron->expires_in, 0);
    /* @end */
    /* @schedule option.group: strcpy(schedule.{name}, cron->{name}); */
    strcpy(schedule.group, cron->group);
    /* @end */
    if (set_when(in, element, cron, &schedule) < 0)
        return -1;
    if (later_schedule_bound(&schedule, cron->from, cron->until, &err) < 0)
        return config_cron_fault(in, element,
                                 strncmp(err.text, "from", 4) == 0 ? "cron.from" : "cron.until",
                                 strchr(err.text, ' ') + 1);
    document = config_cron_make_document(cron, (size_t)in->draft->config.document_max, &len, &err);
    if (!document)
        return config_cron_fault(in, element, cron->payload ? "cron.payload" : "cron.type",
                                 err.text);
    cron->definition = later_schedule_write(&schedule, document, len, &cron->definition_len);
    free(document);
    return cron->definition ? 0 : config_no_memory(in->err);
}

static bool is_whole(double number)
{
    return number == floor(number);
}

static int config_cron_check(struct config_reader *in, const config_setting_t *element,
                             const struct config_cron *cron)
{
    if (!later_schedule_name_valid(cron->name))
        return config_cron_fault(in, element, "cron.name",
                                 "missing, or not a name; 1 to 64 of A-Z a-z 0-9 _ . -");
    if (!cron->type[0])
        return config_cron_fault(in, element, "cron.type", "missing; each entry needs one");
    /* clang-format off */
    /* @schedule span,rank,life: if (!is_whole(cron->{name}))\n    return config_cron_fault(in, element, "cron.{name}", "{whole}"); */
    if (!is_whole(cron->spread))
        return config_cron_fault(in, element, "cron.spread", "not a whole number of seconds; ticks are whole");
    if (!is_whole(cron->late))
        return config_cron_fault(in, element, "cron.late", "not a whole number of seconds; ticks are whole");
    if (!is_whole(cron->priority))
        return config_cron_fault(in, element, "cron.priority", "not a whole number; -100 to 100");
    if (!is_whole(cron->expires_in))
        return config_cron_fault(in, element, "cron.expires_in", "not a whole number of seconds");
    /* @end */
    /* clang-format on */
    return 0;
}

/* --- the list --- */

/* Adds an entry at the end, or in place of one of the same name from an earlier file. */
static int add_cron(struct config_reader *in, const config_setting_t *element,
                    struct config_cron *cron)
{
    struct config *config = &in->draft->config;
    struct config_location location = config_read_location(in, element);
    uint32_t i = 0;

    while (i < config->cron_count && strcmp(config->crons[i].name, cron->name) != 0)
        i++;
    if (i < config->cron_count && config->crons[i].round == in->draft->round)
        return config_cron_fault(in, element, "cron.name",
                                 "another entry has this name; each needs its own");
    if (i == CRONS_MAX)
        return config_cron_fault(in, element, "cron.name",
                                 "too many entries; at most 5000 in all files");
    if (i < config->cron_count)
        free_cron(&config->crons[i]);
    cron->round = in->draft->round;
    cron->file = location.file;
    cron->line = location.line;
    config->crons[i] = *cron;
    config->cron_count += i == config->cron_count;
    return 0;
}

static int read_cron(struct config_reader *in, config_setting_t *element)
{
    struct config_cron cron = { .name = "" };
    int result = config_read_element(in, element, "cron", CONFIG_IN_CRON, &cron);

    if (!cron.queue[0])
        strcpy(cron.queue, "default");
    if (result == 0 && (config_cron_check(in, element, &cron) < 0 ||
                        define(in, element, &cron) < 0 || add_cron(in, element, &cron) < 0))
        result = -1;
    if (result < 0)
        free_cron(&cron);
    return result;
}

int config_cron_read(struct config_reader *in, config_setting_t *list, const struct config_row *row,
                     void *base)
{
    struct config *config = &in->draft->config;
    int length = config_read_list(in, list, row->path, 0, CRONS_MAX, false);
    struct config_cron *crons;

    (void)base;
    if (length < 0)
        return -1;
    crons = realloc(config->crons, (config->cron_count + (size_t)length + 1) * sizeof *crons);
    if (!crons)
        return config_no_memory(in->err);
    config->crons = crons;
    for (int i = 0; i < length; i++) {
        if (read_cron(in, config_setting_get_elem(list, (unsigned)i)) < 0)
            return -1;
    }
    return 0;
}

/* If a schedule names a queue that only a pattern matches, adds that queue from the start. */
static bool config_cron_serve(struct config *config, const char *queue)
{
    uint32_t number;
    struct config_pool *pool;

    if (config_serves(config, queue))
        return true;
    if (config_follow(config, queue, true, &number) != CONFIG_FOLLOW_ADDED)
        return false;
    pool = &config->pools[number];
    pool->queues[pool->queue_count - 1].is_followed = false;
    return true;
}

int config_cron_finish(struct config *config, struct later_error *err)
{
    for (uint32_t i = 0; i < config->cron_count; i++) {
        struct config_cron *cron = &config->crons[i];
        struct config_location location = { cron->file, cron->line };

        if (!config_cron_serve(config, cron->queue))
            return config_text_fault(&location, "cron.queue", err,
                                     "queue %s is not served here, so nobody would fire %s; name "
                                     "it in queues as well",
                                     cron->queue, cron->name);
        cron->file = NULL; /* it is freed with the text */
    }
    return 0;
}
