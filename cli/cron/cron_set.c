/* cron_set.c: `later cron set`. */
#include "cron/cron.h"
#include "client/cron.h"
#include "job/document.h"
#include "job_options.h"
#include "later/client.h"
#include "output/jsonl.h"
#include "redis/key.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cron_set_take_word(const struct later_schedule_option *option, const char *given,
                              int64_t *number, struct later_error *err)
{
    const char *const *words = option->words;

    *number = later_schedule_word(option, given);
    if (*number >= 0)
        return 0;
    return later_fail(err, LATER_E_USAGE, "--%s: %.40s is not one of %s, %s, %s%s%s", option->word,
                      given, words[0], words[1], words[2], words[3] ? ", " : "",
                      words[3] ? words[3] : "");
}

static int cron_set_take_seconds(const struct cli *cli, const struct later_schedule_option *option,
                                 int64_t *seconds, struct later_error *err)
{
    double given = 0;

    if (cli_duration(cli, option->word, &given, err) < 0)
        return -1;
    if (given > option->most || given != floor(given))
        return later_fail(err, LATER_E_USAGE, "--%s: whole seconds, at most a year", option->word);
    if (given < option->least)
        return later_fail(err, LATER_E_USAGE, "--%s: must be above 0", option->word);
    *seconds = (int64_t)given;
    return 0;
}

/* Takes an option that has a number. */
static int cron_set_take_number(const struct cli *cli, const struct later_schedule_option *option,
                                struct later_schedule *schedule, struct later_error *err)
{
    const char *given = args_text(&cli->args, option->word);
    int64_t number;
    int result;

    if (!given)
        return 0;
    if (option->words)
        result = cron_set_take_word(option, given, &number, err);
    else if (option->kind == LATER_SCHEDULE_SPAN || option->kind == LATER_SCHEDULE_LIFE)
        result = cron_set_take_seconds(cli, option, &number, err);
    else
        result = cli_number(cli, option->word, (int64_t)option->least, (int64_t)option->most,
                            &number, err);
    if (result == 0)
        later_schedule_put(schedule, option, number);
    return result;
}

static int cron_set_take(const struct cli *cli, const struct later_schedule_option *option,
                         struct later_schedule *schedule, struct later_error *err)
{
    const char *given;

    switch (option->kind) {
    case LATER_SCHEDULE_EXPRESSION:
    case LATER_SCHEDULE_ZONE:
    case LATER_SCHEDULE_START:
    case LATER_SCHEDULE_END:
        return 0; /* take_schedule() has these */
    case LATER_SCHEDULE_GROUP:
        given = args_text(&cli->args, option->word);
        snprintf((char *)schedule + option->in_schedule, (size_t)option->most + 1, "%s",
                 given ? given : "");
        return 0;
    default:
        return cron_set_take_number(cli, option, schedule, err);
    }
}

static int take_schedule(const struct cli *cli, const char *at, struct later_schedule *schedule,
                         struct later_error *err)
{
    *schedule = later_schedule_unsaid();
    for (size_t i = 0; i < later_schedule_option_count; i++) {
        if (cron_set_take(cli, &later_schedule_options[i], schedule, err) < 0)
            return -1;
    }
    if (later_schedule_bound(schedule, args_text(&cli->args, "from"),
                             args_text(&cli->args, "until"), err) < 0)
        return -1;
    return later_schedule_set(schedule, at, args_text(&cli->args, "zone"), err);
}

static char *cron_set_make_document(const struct cli *cli, char **words, size_t *len,
                                    struct later_error *err)
{
    struct later_new_job job = { .type = words[2],
                                 .payload = words[3],
                                 .text = args_flag(&cli->args, "text") };
    char *backoff, *document = NULL;

    if (job_options_take(cli, &job, &backoff, err) == 0) {
        job.priority = 0; /* the schedule has it */
        document = later_document_build(&job, cli->where.document_max, len, err);
    }
    free(backoff);
    return document;
}

/* was: what it was before, if only its time was changed; else NULL. */
static void cron_set_tell(const struct cli *cli, const char *queue, const char *name,
                          const struct later_cron_put *put, const struct later_schedule *now,
                          const struct later_schedule *was)
{
    struct jsonl json;
    char text[32];

    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_add(&json, "queue:%s name:%s next:%f changed:%c", queue, name,
                  put->next >= 0 ? (double)put->next : NAN, put->changed);
        if (was) {
            jsonl_add(&json, "at:%s zone:%s was:%s was_zone:%s", now->at, later_schedule_zone(now),
                      was->at, later_schedule_zone(was));
        }
        jsonl_end(&json);
    } else if (put->next < 0) {
        puts("over");
    } else {
        printf("%s\n", text_put_time(text, sizeof text, (double)put->next));
    }
}

/* --- only another expression --- */

/* Without a type there is no job that an option could be of. */
static int cron_set_check_plain(const struct cli *cli, struct later_error *err)
{
    for (const struct args_option *option = cli->command->options; option->name; option++) {
        bool plain = strcmp(option->name, "queue") == 0 || strcmp(option->name, "zone") == 0;

        if (!plain && (option->value ? args_text(&cli->args, option->name) != NULL
                                     : args_flag(&cli->args, option->name)))
            return later_fail(err, LATER_E_USAGE,
                              "--%s needs the TYPE, too; without it only the expression is changed",
                              option->name);
    }
    return 0;
}

/* It keeps its zone, unless another one is given. */
static int cron_set_change(struct cli *cli, char **words, struct later_error *err)
{
    const char *zone = args_text(&cli->args, "zone"), *at = words[1];
    struct cron_found found;
    struct later_schedule schedule;
    struct later_reply *reply;
    const char *document;
    char kept[LATER_ZONE_MAX + 1];
    size_t size;
    struct later_cron_put put;
    int status;

    if (cron_set_check_plain(cli, err) < 0 || cron_find(cli, words[0], &found, err) < 0)
        return -1;
    schedule = found.schedule;
    snprintf(kept, sizeof kept, "%s", schedule.zone);
    if (!zone && kept[0] && strncmp(at, "TZ=", 3) != 0 && strncmp(at, "CRON_TZ=", 8) != 0)
        zone = kept;
    schedule.zone[0] = '\0';
    if (later_schedule_set(&schedule, at, zone, err) < 0)
        return -1;
    reply = cron_find_document(cli, &found, words[0], &document, &size, err);
    status = reply ? later_cron_put(cli->client, &found.keys, words[0], &schedule, document, size,
                                    &put, err)
                   : -1;
    later_reply_free(reply);
    if (status == 0)
        cron_set_tell(cli, found.keys.queue, words[0], &put, &schedule, &found.schedule);
    return status < 0 ? -1 : LATER_OK;
}

int cron_set(struct cli *cli, char **words, struct later_error *err)
{
    struct later_schedule schedule;
    struct later_keys keys;
    char *document;
    size_t size;
    struct later_cron_put put;
    int status;

    if (!later_schedule_name_valid(words[0]))
        return later_fail(err, LATER_E_USAGE, "%.80s is not a name; 1 to 64 of A-Z a-z 0-9 _ . -",
                          words[0]);
    if (!words[2])
        return cron_set_change(cli, words, err);
    if (later_call_whole(cli_queue(cli), err) < 0 ||
        take_schedule(cli, words[1], &schedule, err) < 0 ||
        cli_keys(cli, cli_queue(cli), &keys, err) < 0)
        return -1;
    document = cron_set_make_document(cli, words, &size, err);
    if (!document)
        return -1;
    status = later_cron_put(cli->client, &keys, words[0], &schedule, document, size, &put, err);
    free(document);
    if (status < 0 || cli_name_queue(cli, keys.queue, err) < 0)
        return -1;
    cron_set_tell(cli, keys.queue, words[0], &put, &schedule, NULL);
    return LATER_OK;
}
