/* cron_list.c: `later cron` lists the schedules. */
#include "cron/cron.h"
#include "output/jsonl.h"
#include "queue_list.h"
#include "cron/words.h"
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMING 5 /* the next times that are told */

/* A row of the list. */
struct shown {
    const char *queue;
    const struct later_crontab_row *row;
    char at[LATER_EXPRESSION_MAX + 1], zone[LATER_ZONE_MAX + 1];
    char tick[32], outcome[32], origin[320];
    const char *state;            /* active, paused, stale, over, unreadable */
    char words[LATER_CRON_WORDS]; /* of its expression; unreadable: why it is */
    int64_t coming[COMING];
    size_t count;
};

int64_t cron_count_of(const char *lines, const char *tag)
{
    char text[32];

    return strtoll(later_schedule_value(lines, tag, text, sizeof text), NULL, 10);
}

static const char *cron_list_state_of(const struct shown *shown, double now)
{
    bool of_config = strncmp(shown->origin, "config:", 7) == 0;

    if (cron_count_of(shown->row->state, "paused"))
        return "paused";
    if (of_config && now - (double)cron_count_of(shown->row->state, "seen") > LATER_CRON_STALE)
        return "stale";
    return isinf(shown->row->next) ? "over" : "active";
}

static void cron_list_unreadable(struct shown *shown, const char *why)
{
    if (strcmp(shown->state, "active") == 0)
        shown->state = "unreadable";
    snprintf(shown->words, sizeof shown->words, "%.*s", LATER_CRON_WORDS - 1, why);
}

/* Says its expression in words, and when it is due after the present. This host, or a laterd's, may
 * not be able to read it: it is of a newer version or of an unknown zone, or a client has set what
 * is none. */
static void cron_list_look_ahead(struct shown *shown)
{
    struct later_schedule schedule;
    struct later_error err;
    struct later_zone *zone;
    int64_t left = COMING, tick;

    if (later_schedule_read(&schedule, shown->row->lines, &err) < 0 ||
        !(zone = later_zone_open(later_schedule_zone(&schedule), &err))) {
        cron_list_unreadable(shown, err.text);
        return;
    }
    if (cron_count_of(shown->row->state, "held") > 0) {
        cron_list_unreadable(shown, "a laterd cannot read it; its log says why");
        later_zone_free(zone);
        return;
    }
    later_cron_words(shown->words, &schedule.expr);
    if (schedule.limit)
        left = (int64_t)schedule.limit - cron_count_of(shown->row->state, "fired");
    tick = (int64_t)shown->row->next - 1;
    while (!isinf(shown->row->next) && shown->count < COMING && (int64_t)shown->count < left &&
           later_schedule_next(&schedule, zone, tick, &tick))
        shown->coming[shown->count++] = tick;
    later_zone_free(zone);
}

static void take_apart(struct shown *shown, const char *queue, const struct later_crontab_row *row,
                       double now)
{
    shown->queue = queue;
    shown->row = row;
    later_schedule_value(row->lines, "at", shown->at, sizeof shown->at);
    later_schedule_value(row->lines, "zone", shown->zone, sizeof shown->zone);
    later_schedule_value(row->state, "tick", shown->tick, sizeof shown->tick);
    later_schedule_value(row->state, "outcome", shown->outcome, sizeof shown->outcome);
    later_schedule_value(row->state, "origin", shown->origin, sizeof shown->origin);
    shown->state = cron_list_state_of(shown, now);
    shown->words[0] = '\0';
    shown->count = 0;
    cron_list_look_ahead(shown);
}

/* The next times, and the id of the job that its last time pushed (scripts/cron_fire.lua). */
static void cron_list_tell_times(struct jsonl *json, const struct shown *shown)
{
    char id[LATER_ID_MAX + 1] = "";

    jsonl_open(json, "coming", '[');
    for (size_t i = 0; i < shown->count; i++)
        jsonl_int(json, NULL, shown->coming[i]);
    jsonl_close(json, ']');
    if (strcmp(shown->outcome, "fired") == 0)
        snprintf(id, sizeof id, "cron:%s:%s", shown->row->name, shown->tick);
    jsonl_text(json, "job", text_known(id));
}

static void cron_list_tell_json(const struct shown *shown)
{
    static const char *const bounds[] = { "from", "until", "limit" };
    static const char *const counts[] = { "fired", "skipped", "missed" };
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s name:%s at:%s zone:%s next:%f last:%f outcome:%s state:%s origin:%s",
              shown->queue, shown->row->name, shown->at, shown->zone[0] ? shown->zone : "UTC",
              !isinf(shown->row->next) ? shown->row->next : NAN,
              shown->tick[0] ? strtod(shown->tick, NULL) : NAN, shown->outcome, shown->state,
              shown->origin);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        int64_t bound = cron_count_of(shown->row->lines, bounds[i]);

        jsonl_real(&json, bounds[i], bound > 0 ? (double)bound : NAN);
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        jsonl_int(&json, counts[i], cron_count_of(shown->row->state, counts[i]));
    jsonl_text(&json, "words", text_known(shown->words));
    cron_list_tell_times(&json, shown);
    jsonl_end(&json);
}

static void cron_list_add_time(struct table *table, double at)
{
    char text[32];
    bool known = at > 0 && !isinf(at);

    table_text(table, PLAIN, known ? text_put_time(text, sizeof text, at) : NULL);
}

static void cron_list_tell_row(struct table *table, const struct shown *shown)
{
    bool well = strcmp(shown->state, "active") == 0;

    table_text(table, PLAIN, shown->queue);
    table_text(table, BOLD, shown->row->name);
    table_text(table, PLAIN, shown->at);
    table_text(table, PLAIN, shown->zone[0] ? shown->zone : "UTC");
    cron_list_add_time(table, shown->row->next);
    cron_list_add_time(table, strtod(shown->tick, NULL));
    table_text(table, PLAIN, shown->outcome[0] ? shown->outcome : "-");
    table_text(table, well ? PLAIN : YELLOW, shown->state);
    table_number(table, cron_count_of(shown->row->state, "missed") ? YELLOW : PLAIN,
                 (uint64_t)cron_count_of(shown->row->state, "missed"));
    table_text(table, PLAIN, text_known(shown->words));
}

/* Reads the schedules page by page. Returns how many there are, or -1 with *err. */
static int list_queue(struct cli *cli, const char *queue, struct table *table,
                      struct later_error *err)
{
    struct later_crontab crontab = { .count = 1 };
    struct later_keys keys;
    size_t rank;

    if (cli_keys(cli, queue, &keys, err) < 0)
        return -1;
    for (rank = 0; crontab.count > 0; rank += crontab.count) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        char from[24];

        snprintf(from, sizeof from, "%zu", rank);
        later_crontab_look(&cmd, &keys, from, LATER_BATCH_MAX);
        reply = cli_call(cli, &cmd, err);
        if (!reply)
            return -1;
        later_crontab_looked(reply, &crontab);
        for (size_t i = 0; i < crontab.count; i++) {
            struct later_crontab_row row;
            struct shown shown;

            later_crontab_row(reply, i, &row);
            take_apart(&shown, queue, &row, crontab.now);
            if (cli->json)
                cron_list_tell_json(&shown);
            else
                cron_list_tell_row(table, &shown);
        }
        later_reply_free(reply);
    }
    return rank < INT_MAX ? (int)rank : INT_MAX;
}

int cron_list(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "QUEUE",   "NAME",  "AT",      "ZONE",  "NEXT", "LAST",
                                            "OUTCOME", "STATE", ">MISSED", "WORDS", NULL };
    struct queue_list list = { 0 };
    struct table table;
    int status = queue_list_asked(cli, &list, err);

    cli_table(cli, &table, headings);
    for (size_t i = 0; status >= 0 && i < list.count; i++)
        status = list_queue(cli, list.names[i], &table, err);
    if (status >= 0)
        cli_instead(cli, &table, "no schedule; `later cron set NAME EXPRESSION TYPE` makes one");
    table_end(&table);
    if (status == 0)
        queue_list_warn(cli, args_text(&cli->args, "queue"));
    queue_list_free(&list);
    return status < 0 ? -1 : LATER_OK;
}
