/* cron.c: schedules from a program: set, deleted, listed. */
#include "client/cron.h"

#include "client/call.h"
#include "queue/crontab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 5 /* a try fails only if a tick passes meanwhile */

/* --- put --- */

struct cron_putting {
    struct later_client *client;
    const struct later_keys *keys;
    const char *name;
    const struct later_schedule *schedule;
    const struct later_zone *zone;
    const char *definition;
    size_t len;
    enum later_put was;
};

/* Asks for the clock of Redis and for the state of the schedule, and works out its first tick. */
static int cron_find_first(const struct cron_putting *putting, int64_t *first,
                           struct later_error *err)
{
    char from[LATER_SCHEDULE_NAME_MAX + 2];
    struct later_command cmd = { 0 };
    struct later_crontab crontab;
    struct later_crontab_row row;
    struct later_reply *reply;

    snprintf(from, sizeof from, "=%s", putting->name);
    later_crontab_look(&cmd, putting->keys, from, 1);
    reply = later_call(putting->client, &cmd, 0, true, err);
    if (!reply)
        return -1;
    later_crontab_looked(reply, &crontab);
    later_crontab_row(reply, 0, &row);
    *first = later_crontab_first(putting->schedule, putting->zone, row.state, crontab.now);
    later_reply_free(reply);
    return 0;
}

static int cron_put_once(struct cron_putting *putting, int64_t *next, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (cron_find_first(putting, next, err) < 0)
        return -1;
    later_crontab_put(&cmd, putting->keys, putting->name, putting->definition, putting->len, *next,
                      "set");
    reply = later_call(putting->client, &cmd, 0, true, err);
    if (!reply)
        return -1;
    putting->was = later_crontab_was_put(reply);
    later_reply_free(reply);
    return 0;
}

static int cron_put_written(struct cron_putting *putting, struct later_cron_put *put,
                            struct later_error *err)
{
    struct later_zone *zone = later_zone_open(later_schedule_zone(putting->schedule), err);
    int ok = zone ? 0 : -1;

    putting->zone = zone;
    putting->was = LATER_CRON_AGAIN;
    for (int i = 0; i < TRIES && ok == 0 && putting->was == LATER_CRON_AGAIN; i++)
        ok = cron_put_once(putting, &put->next, err);
    later_zone_free(zone);
    if (ok == 0 && putting->was == LATER_CRON_AGAIN)
        ok = later_fail(err, LATER_E_LATER, "ticks pass too fast; try again");
    put->changed = putting->was == LATER_CRON_PUT;
    return ok;
}

int later_cron_put(struct later_client *client, const struct later_keys *keys, const char *name,
                   const struct later_schedule *schedule, const char *document, size_t size,
                   struct later_cron_put *put, struct later_error *err)
{
    struct cron_putting putting = {
        .client = client, .keys = keys, .name = name, .schedule = schedule
    };
    char *definition = later_schedule_write(schedule, document, size, &putting.len);
    int ok;

    if (!definition)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    putting.definition = definition;
    ok = cron_put_written(&putting, put, err);
    free(definition);
    return ok;
}

/* --- set --- */

/* Of the options of a job, those that say when and how it comes into a queue, and into a flow. */
static int cron_check_job(const struct later_new_job *job, struct later_error *err)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "document", job->document != NULL },
        { "id", job->id != NULL },
        { "expires_at", job->expires_at != 0 },
        { "flow", job->flow != NULL },
        { "step", job->step != NULL },
        { "after", job->after != NULL },
        { "when", job->when != NULL },
        /* @options line,item,tie,part: { "{name}", job->{name} != 0 }, */
        { "in", job->in != 0 },
        { "at", job->at != 0 },
        { "expires_in", job->expires_in != 0 },
        { "adder", job->adder != 0 },
        { "home", job->home != 0 },
        { "queue", job->queue != 0 },
        { "unique_for", job->unique_for != 0 },
        { "replace", job->replace != 0 },
        { "again", job->again != 0 },
        { "debounce", job->debounce != 0 },
        { "max_wait", job->max_wait != 0 },
        { "throttle", job->throttle != 0 },
        /* @end */
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given && strcmp(options[i].name, "expires_in") != 0)
            return later_fail(err, LATER_E_DATA, "%s: not for a job of a schedule",
                              options[i].name);
    }
    return 0;
}

static const struct later_schedule_option *cron_option(const char *name)
{
    const struct later_schedule_option *option = later_schedule_options;

    while (strcmp(option->name, name) != 0)
        option++;
    return option;
}

/* NULL is the first word. */
static int cron_take_word(struct later_schedule *schedule, const char *name, const char *given,
                          struct later_error *err)
{
    const struct later_schedule_option *option = cron_option(name);
    int at = given ? later_schedule_word(option, given) : 0;

    if (at < 0)
        return later_fail(err, LATER_E_DATA, "%s: no such word: %.40s", name, given);
    later_schedule_put(schedule, option, at);
    return 0;
}

static int cron_take_number(struct later_schedule *schedule, const char *name, double number,
                            struct later_error *err)
{
    const struct later_schedule_option *option = cron_option(name);
    bool fits = number >= option->least && number <= option->most && number == floor(number);

    if (!fits && number != (double)option->unsaid)
        return later_fail(err, LATER_E_DATA, "%s: a whole number from %.0f to %.0f", name,
                          option->least, option->most);
    later_schedule_put(schedule, option, (int64_t)number);
    return 0;
}

static int cron_take(const struct later_new_schedule *given, struct later_schedule *schedule,
                     struct later_error *err)
{
    double late = given->late == 0 ? LATER_SCHEDULE_LATE : fmax(given->late, 0);

    if (!given->name || !later_schedule_name_valid(given->name))
        return later_fail(err, LATER_E_DATA, "name: 1 to 64 of A-Z a-z 0-9 _ . -");
    *schedule = later_schedule_unsaid();
    if (cron_take_word(schedule, "catch_up", given->catch_up, err) < 0 ||
        cron_take_word(schedule, "overlap", given->overlap, err) < 0 ||
        cron_take_number(schedule, "spread", given->spread, err) < 0 ||
        cron_take_number(schedule, "late", late, err) < 0 ||
        cron_take_number(schedule, "limit", given->limit, err) < 0 ||
        cron_take_number(schedule, "priority", given->job.priority, err) < 0 ||
        cron_take_number(schedule, "expires_in", given->job.expires_in, err) < 0 ||
        later_schedule_between(schedule, given->from, given->until, err) < 0)
        return -1;
    snprintf(schedule->group, sizeof schedule->group, "%s",
             given->job.group ? given->job.group : "");
    return later_schedule_set(schedule, given->at ? given->at : "", given->zone, err);
}

/* Returns the document of its jobs, malloc'ed, without what the schedule has. NULL with *err. */
static char *cron_document(struct later_client *client, const struct later_new_job *given,
                           size_t *size, struct later_error *err)
{
    struct later_new_job job = *given;

    if (cron_check_job(given, err) < 0)
        return NULL;
    job.priority = 0;
    job.expires_in = 0;
    return later_document_build(&job, later_call_document_max(client), size, err);
}

int later_cron_set(struct later_client *client, const char *queue,
                   const struct later_new_schedule *given, int *changed, struct later_error *err)
{
    struct later_schedule schedule;
    struct later_cron_put put;
    struct later_keys keys;
    char *document;
    size_t size;
    int ok;

    if (later_call_whole(queue, err) < 0 || cron_take(given, &schedule, err) < 0 ||
        later_call_keys(client, queue, &keys, err) < 0)
        return -1;
    document = cron_document(client, &given->job, &size, err);
    if (!document)
        return -1;
    later_call_announce(client, &keys);
    ok = later_cron_put(client, &keys, given->name, &schedule, document, size, &put, err);
    free(document);
    if (ok == 0 && changed)
        *changed = put.changed;
    return ok;
}

/* --- delete --- */

int later_cron_delete(struct later_client *client, const char *queue, const char *name, int *had,
                      struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    if (!name || !later_schedule_name_valid(name))
        return later_fail(err, LATER_E_DATA, "name: 1 to 64 of A-Z a-z 0-9 _ . -");
    if (later_call_whole(queue, err) < 0 || later_call_keys(client, queue, &keys, err) < 0)
        return -1;
    later_crontab_move(&cmd, &keys, LATER_CRON_DROP, &name, NULL, 1);
    reply = later_call(client, &cmd, 0, true, err);
    if (!reply)
        return -1;
    if (had)
        *had = later_reply_int(later_reply_at(reply, 0)) > 0;
    later_reply_free(reply);
    return 0;
}

/* --- list --- */

#define ROOM(member) sizeof((struct later_known_schedule *)NULL)->member
_Static_assert(ROOM(name) == LATER_SCHEDULE_NAME_MAX + 1, "a name");
_Static_assert(ROOM(at) == LATER_EXPRESSION_MAX + 1, "an expression");
_Static_assert(ROOM(zone) == LATER_ZONE_MAX + 1, "a zone");

static void cron_take_row(struct later_known_schedule *known, const struct later_crontab_row *row)
{
    char paused[4];

    *known = (struct later_known_schedule){ .next = isinf(row->next) ? 0 : row->next };
    snprintf(known->name, sizeof known->name, "%s", row->name);
    later_schedule_value(row->lines, "at", known->at, sizeof known->at);
    later_schedule_value(row->lines, "zone", known->zone, sizeof known->zone);
    later_schedule_value(row->state, "origin", known->origin, sizeof known->origin);
    later_schedule_value(row->state, "paused", paused, sizeof paused);
    known->paused = strcmp(paused, "1") == 0;
    if (!*known->zone)
        snprintf(known->zone, sizeof known->zone, "UTC");
}

/* Where it goes: one that is fired meanwhile may be found twice. */
static size_t cron_index(const struct later_schedules *list, const char *name)
{
    size_t at = 0;

    while (at < list->count && strcmp(list->schedules[at].name, name) != 0)
        at++;
    return at;
}

static int cron_take_page(struct later_schedules *list, const struct later_reply *reply,
                          size_t count, struct later_error *err)
{
    struct later_known_schedule *grown =
        realloc(list->schedules, (list->count + count) * sizeof *grown);

    if (!grown)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    list->schedules = grown;
    for (size_t i = 0; i < count; i++) {
        struct later_crontab_row row;
        size_t at;

        later_crontab_row(reply, i, &row);
        at = cron_index(list, row.name);
        cron_take_row(&list->schedules[at], &row);
        list->count += at == list->count;
    }
    return 0;
}

/* Adds those from a rank on. Returns how many there were; -1 with *err. */
static int cron_list_from(struct later_client *client, const struct later_keys *keys, size_t rank,
                          struct later_schedules *list, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_crontab crontab;
    struct later_reply *reply;
    char from[24];
    int ok = 0;

    snprintf(from, sizeof from, "%zu", rank);
    later_crontab_look(&cmd, keys, from, LATER_BATCH_MAX);
    reply = later_call(client, &cmd, 0, true, err);
    if (!reply)
        return -1;
    later_crontab_looked(reply, &crontab);
    if (crontab.count > 0)
        ok = cron_take_page(list, reply, crontab.count, err);
    later_reply_free(reply);
    return ok < 0 ? -1 : (int)crontab.count;
}

int later_cron_list(struct later_client *client, const char *queue, struct later_schedules *list,
                    struct later_error *err)
{
    struct later_keys keys;
    size_t rank = 0;
    int count;

    *list = (struct later_schedules){ .count = 0 };
    if (later_call_whole(queue, err) < 0 || later_call_keys(client, queue, &keys, err) < 0)
        return -1;
    while ((count = cron_list_from(client, &keys, rank, list, err)) > 0)
        rank += (size_t)count;
    if (count < 0)
        later_schedules_free(list);
    return count;
}

void later_schedules_free(struct later_schedules *list)
{
    free(list->schedules);
    *list = (struct later_schedules){ .count = 0 };
}
