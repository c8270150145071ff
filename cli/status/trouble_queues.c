/* trouble_queues.c: reads what trouble.h decides on, of queues. */
#include "status/trouble_queues.h"

#include "ahead.h"
#include "base/clock.h"
#include "history/history.h"
#include "kept.h"
#include "queue/crontab.h"
#include "queue/flow.h"
#include "queues/laid.h"

#include <stdlib.h>
#include <string.h>

#define TOGETHER 200 /* queues that are asked at a time */
#define MINUTES  3   /* of history, the present one included */
#define FRONT    20  /* of the delayed jobs, the first to come due */
#define FLOWS    100 /* of a queue that have not ended */
#define NEWS     100 /* of flows in a queue, that were not moved */
#define OVERDUE  30.0
#define SETTLED  5.0 /* seconds after which all that was done is in the history */

/* One queue. It is looked at twice: first the questions are sent, then the answers are there. */
struct trouble_queue {
    struct later_trouble_queue seen;
    const struct sized *sized;
    struct later_keys keys;
    struct ahead ahead;
    struct later_tallies read, totals;  /* owned */
    const struct later_tallies *recent; /* `read`, or what is kept; NULL: nothing */
    struct kept_queue *kept;            /* NULL: nothing is kept */
    struct later_pause pause;
    struct later_override type_pause;                        /* the one that lasts longest */
    double since;                                            /* the first minute that was read */
    char types[LATER_TROUBLE_TYPES + 1][LATER_TYPE_MAX + 1]; /* that nobody has, in their order */
    size_t type_count;
    char elsewhere[LATER_TYPE_MAX + 1]; /* the first that only some hosts have */
    char schedule[LATER_SCHEDULE_NAME_MAX + 1], flow[LATER_FLOW_MAX + 1];
    struct later_news news; /* the first that was not moved yet */
};

static struct later_reply *trouble_ask(struct trouble_look *look, struct trouble_queue *queue,
                                       struct later_command *cmd)
{
    return cli_look(look->cli, look->sends ? &queue->ahead : NULL, cmd, &look->away, look->err);
}

/* --- a queue --- */

static void trouble_ask_pause(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    queue->seen.paused = queue->sized->paused == queue->sized->parts;
    if (!queue->seen.paused)
        return;
    later_inspect_why_paused(&cmd, &queue->keys);
    reply = trouble_ask(look, queue, &cmd);
    later_inspect_paused(reply, &queue->pause);
    later_reply_free(reply);
    queue->seen.paused_since = queue->pause.since;
    queue->seen.paused_until = queue->pause.until;
}

/* Which pause of a type lasts longest, and how many jobs does it keep? */
static void trouble_ask_types(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 }, kept = { 0 };
    struct later_reply *reply;
    struct laid laid;

    if (queue->sized->sizes.counters[LATER_COUNT_OVERRIDES] == 0)
        return;
    later_override_ask(&cmd, &queue->keys);
    reply = trouble_ask(look, queue, &cmd);
    laid_take(&laid, reply, look->now);
    later_reply_free(reply);
    for (size_t i = 0; i < laid.count; i++) {
        if (i == 0 || laid.list[i].since < queue->type_pause.since)
            queue->type_pause = laid.list[i];
    }
    if (laid.count == 0)
        return;
    later_override_kept(&kept, &queue->keys, later_override_type(&queue->type_pause));
    reply = trouble_ask(look, queue, &kept);
    queue->seen.type_pause = &queue->type_pause;
    queue->seen.type_kept = later_reply_int(reply);
    later_reply_free(reply);
}

/* The counts come into the history within seconds. */
static bool trouble_history_is_kept(const struct trouble_queue *queue, int64_t minute)
{
    return queue->kept && queue->kept->minute == minute &&
           kept_stays(queue->kept->recent_read, SETTLED, queue->sized->still);
}

static void trouble_keep_history(struct trouble_look *look, struct trouble_queue *queue,
                                 int64_t minute)
{
    struct kept_queue *kept = queue->kept;

    queue->recent = &queue->read;
    if (!kept || look->sends)
        return;
    later_tallies_free(&kept->recent);
    kept->recent = queue->read;
    queue->read = (struct later_tallies){ 0 };
    kept->minute = minute;
    kept->recent_read = later_clock();
    queue->recent = &kept->recent;
}

static void trouble_ask_history(struct trouble_look *look, struct trouble_queue *queue)
{
    int64_t minute = later_period(LATER_BY_MINUTE, look->now);
    bool is_kept = trouble_history_is_kept(queue, minute);
    struct later_tally sum;

    queue->since = 60.0 * (double)(minute - MINUTES + 1);
    for (int64_t n = minute - MINUTES + 1; !is_kept && n <= minute; n++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        later_history_ask(&cmd, &queue->keys, LATER_BY_MINUTE, n);
        reply = trouble_ask(look, queue, &cmd);
        later_history_read(&queue->read, reply);
        later_reply_free(reply);
    }
    if (is_kept)
        queue->recent = &queue->kept->recent;
    else
        trouble_keep_history(look, queue, minute);
    later_tallies_sum(queue->recent, &sum);
    queue->seen.rate = (double)later_tally_attempts(&sum) / (look->now - queue->since);
}

/* What is usual is only asked for where something fails. */
static const struct later_tallies *trouble_totals(struct trouble_look *look,
                                                  struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (queue->sized->totals || queue->totals.count > 0)
        return queue->sized->totals ? queue->sized->totals : &queue->totals;
    later_history_ask_totals(&cmd, &queue->keys);
    reply = trouble_ask(look, queue, &cmd);
    later_history_read(&queue->totals, reply);
    later_reply_free(reply);
    return &queue->totals;
}

static void trouble_ask_dead(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 }, first = { 0 };
    char from[LATER_SECONDS_SIZE];
    struct later_reply *reply;

    if (queue->sized->sizes.dead == 0 ||
        (queue->kept && kept_stays(queue->kept->none_died, 0, queue->sized->still)))
        return;
    later_seconds_spell(from, look->now - LATER_TROUBLE_DEAD);
    later_inspect_from(&first, &queue->keys, LATER_KEY_DEAD, from, 0, 1);
    reply = trouble_ask(look, queue, &first);
    queue->seen.died_since = later_reply_seconds(later_reply_at(reply, 1), 0);
    if (queue->kept && !look->sends)
        queue->kept->none_died = later_reply_count(reply) == 0 ? later_clock() : 0;
    if (later_reply_count(reply) > 0) {
        later_reply_free(reply);
        later_command_say(&cmd, "ZCOUNT %s %s +inf", queue->keys.name[LATER_KEY_DEAD], from);
        reply = trouble_ask(look, queue, &cmd);
        queue->seen.died = later_reply_int(reply);
    }
    later_reply_free(reply);
}

/* A job that came first to a host without its type is given back, and waits for another one. Does
 * one run this type, or has one run it in the last minutes? It may only be busy. */
static bool trouble_is_had(const struct trouble_look *look, const struct trouble_queue *queue,
                           const char *type)
{
    const struct later_tally *row = queue->recent ? later_tallies_find(queue->recent, type) : NULL;
    bool is_had = row && later_tally_attempts(row) > 0;

    for (size_t i = 0; !is_had && i < served_count(look->served); i++)
        is_had = served_runs_type(look->served, i, type);
    return is_had;
}

/* Notes the type of a job that has waited for it since then. Has nobody that type? */
static bool trouble_note_type(const struct trouble_look *look, struct trouble_queue *queue,
                              const char *text, size_t len, double since)
{
    struct later_document doc = { 0 };
    struct later_error ignored;
    size_t at = 0;

    if (later_document_parse(&doc, LATER_DOCUMENT_JOB, text, len, SIZE_MAX, &ignored) < 0)
        return false;
    if (trouble_is_had(look, queue, doc.type)) {
        if (look->now - since >= LATER_TROUBLE_ELSEWHERE && queue->seen.elsewhere++ == 0) {
            memcpy(queue->elsewhere, doc.type, sizeof doc.type);
            queue->seen.elsewhere_since = since;
        }
        return false;
    }
    while (at < queue->type_count && strcmp(queue->types[at], doc.type) < 0)
        at++;
    if (at < queue->type_count && strcmp(queue->types[at], doc.type) == 0)
        return true;
    memmove(queue->types[at + 1], queue->types[at],
            (queue->type_count - at) * sizeof *queue->types);
    memcpy(queue->types[at], doc.type, sizeof doc.type);
    queue->type_count++;
    return true;
}

/* Of the jobs at the front, those that have waited for their types. */
struct trouble_ripe {
    const char *ids[LATER_TROUBLE_TYPES]; /* the first ones */
    double since[LATER_TROUBLE_TYPES];
    size_t count; /* of all */
};

static void trouble_read_types(struct trouble_look *look, struct trouble_queue *queue,
                               const struct trouble_ripe *ripe)
{
    size_t count = ripe->count < LATER_TROUBLE_TYPES ? ripe->count : LATER_TROUBLE_TYPES;
    struct later_command cmd = { 0 };
    struct later_reply *documents;

    if (count == 0)
        return;
    later_inspect_fields(&cmd, &queue->keys, LATER_KEY_JOBS, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(&cmd, ripe->ids[i]);
    documents = trouble_ask(look, queue, &cmd);
    for (size_t i = 0; documents && i < count; i++) {
        size_t len;
        const char *text = later_reply_text(later_reply_at(documents, i), &len);

        if (trouble_note_type(look, queue, text, len, ripe->since[i]) && queue->seen.unknown++ == 0)
            queue->seen.unknown_since = ripe->since[i];
    }
    if (queue->seen.unknown > 0)
        queue->seen.unknown += (int64_t)(ripe->count - count);
    later_reply_free(documents);
}

/* Jobs of a type that nobody has come due again and again, so they are at the front. Returns
 * whether there is one for whose type a host is sought, however short the time. */
static bool trouble_read_front(struct trouble_look *look, struct trouble_queue *queue,
                               const struct later_reply *front)
{
    struct trouble_ripe ripe = { .count = 0 };
    struct later_command cmd = { 0 };
    struct later_reply *records;
    size_t count = later_reply_count(front) / 2;
    bool some = false;

    if (count == 0)
        return false;
    later_inspect_fields(&cmd, &queue->keys, LATER_KEY_RECORDS, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(&cmd, later_reply_text_at(front, 2 * i));
    records = trouble_ask(look, queue, &cmd);
    for (size_t i = 0; i < count; i++) {
        struct later_record record;
        size_t len;
        const char *text = later_reply_text(later_reply_at(records, i), &len);

        later_record_read(&record, text, len);
        some |= record.unknown_since > 0;
        if (record.unknown_since <= 0 || look->now - record.unknown_since < LATER_TROUBLE_UNKNOWN)
            continue;
        if (ripe.count < LATER_TROUBLE_TYPES) {
            ripe.ids[ripe.count] = later_reply_text_at(front, 2 * i);
            ripe.since[ripe.count] = record.unknown_since;
        }
        ripe.count++;
    }
    trouble_read_types(look, queue, &ripe);
    later_reply_free(records);
    return some;
}

static void trouble_ask_delayed(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    bool some;

    if (queue->sized->sizes.delayed == 0 ||
        (queue->kept && kept_stays(queue->kept->none_unknown, 0, queue->sized->still)))
        return;
    later_inspect_from(&cmd, &queue->keys, LATER_KEY_DELAYED, "-inf", 0, FRONT);
    reply = trouble_ask(look, queue, &cmd);
    some = trouble_read_front(look, queue, reply);
    if (queue->kept && reply)
        queue->kept->none_unknown = some ? 0 : later_clock();
    later_reply_free(reply);
}

static void trouble_ask_overdue(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    char till[LATER_SECONDS_SIZE];
    struct later_reply *reply;

    if (queue->sized->sizes.overdue == 0)
        return;
    later_seconds_spell(till, look->now - OVERDUE);
    later_command_say(&cmd, "ZCOUNT %s -inf %s", queue->keys.name[LATER_KEY_RESERVED], till);
    reply = trouble_ask(look, queue, &cmd);
    queue->seen.overdue = later_reply_int(reply);
    later_reply_free(reply);
}

/* Counts those of the first schedules that are late. */
static void trouble_read_schedules(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    struct later_crontab_row row;
    struct later_crontab crontab;
    struct later_reply *reply;

    later_crontab_look(&cmd, &queue->keys, "0", FRONT);
    reply = trouble_ask(look, queue, &cmd);
    later_crontab_looked(reply, &crontab);
    for (size_t i = 0; i < crontab.count; i++) {
        later_crontab_row(reply, i, &row);
        if (row.next > look->now - LATER_TROUBLE_LATE)
            continue;
        if (queue->seen.missed++ > 0 && row.next >= queue->seen.missed_at)
            continue;
        queue->seen.missed_at = row.next;
        snprintf(queue->schedule, sizeof queue->schedule, "%s", row.name);
    }
    later_reply_free(reply);
}

/* Most queues have none that comes soon, which costs less to ask than a script. */
static void trouble_ask_schedules(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    char till[LATER_SECONDS_SIZE];
    struct later_reply *reply;
    bool some;

    if (look->no_schedules)
        return;
    later_seconds_spell(till, look->now + LATER_CRON_HELD);
    later_command_say(&cmd, "ZRANGEBYSCORE %s -inf %s LIMIT 0 1", queue->keys.name[LATER_KEY_CRON],
                      till);
    reply = trouble_ask(look, queue, &cmd);
    some = later_reply_count(reply) > 0;
    later_reply_free(reply);
    if (some)
        trouble_read_schedules(look, queue);
}

/* The flows that have not ended have the score inf. Dead jobs alone can block one. */
static void trouble_ask_flows(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    struct later_reply *names;

    if (queue->sized->sizes.dead == 0 || queue->sized->sizes.waiting == 0)
        return;
    later_command_say(&cmd, "ZRANGEBYSCORE %s inf inf LIMIT 0 %d",
                      queue->keys.name[LATER_KEY_FLOWS], FLOWS);
    names = trouble_ask(look, queue, &cmd);
    for (size_t i = 0; i < later_reply_count(names); i++) {
        const char *name = later_reply_text_at(names, i);
        struct later_flow_sizes sizes;
        struct later_reply *reply;

        cmd = (struct later_command){ 0 };
        later_flow_look(&cmd, &queue->keys, name);
        reply = trouble_ask(look, queue, &cmd);
        later_flow_looked(reply, &sizes);
        later_reply_free(reply);
        if (!sizes.exists || strcmp(later_flow_state(&sizes), "blocked") != 0)
            continue;
        snprintf(queue->flow, sizeof queue->flow, "%s", name);
        queue->seen.blocked++;
        queue->seen.blocked_since = sizes.made;
    }
    later_reply_free(names);
}

/* News is moved at once, if this queue and the one that it is for are served. */
static void trouble_ask_news(struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (queue->sized->sizes.counters[LATER_COUNT_NEWS] == 0)
        return;
    later_flow_news(&cmd, &queue->keys, 0, NEWS);
    reply = trouble_ask(look, queue, &cmd);
    queue->seen.news = (int64_t)later_reply_count(reply);
    later_flow_news_read(&queue->news, later_reply_text_at(reply, 0));
    later_reply_free(reply);
}

static void trouble_round(struct trouble_look *look, struct trouble_queue *queue)
{
    trouble_ask_pause(look, queue);
    trouble_ask_types(look, queue);
    if (sizes_traces(&queue->sized->sizes) > 0)
        trouble_ask_history(look, queue);
    trouble_ask_dead(look, queue);
    trouble_ask_delayed(look, queue);
    trouble_ask_overdue(look, queue);
    trouble_ask_schedules(look, queue);
    trouble_ask_flows(look, queue);
    trouble_ask_news(look, queue);
}

/* --- from what was read to troubles --- */

static void trouble_tell_types(struct trouble_look *look, struct trouble_queue *queue)
{
    for (size_t i = 0; queue->recent && i < queue->recent->count; i++) {
        const struct later_tally *row = queue->recent->rows[i];
        uint64_t attempts = later_tally_attempts(row), failed = later_tally_failed(row);
        const struct later_tally *all =
            failed ? later_tallies_find(trouble_totals(look, queue), row->type) : NULL;
        uint64_t ever = all ? later_tally_attempts(all) : 0;
        uint64_t bad = all ? later_tally_failed(all) : 0;

        later_trouble_type(
            look->troubles,
            &(struct later_trouble_type){ .queue = queue->keys.queue,
                                          .name = *row->type ? row->type : "(other)",
                                          .since = queue->since,
                                          .attempts = attempts,
                                          .failed = failed,
                                          .usual_attempts = ever > attempts ? ever - attempts : 0,
                                          .usual_failed = bad > failed ? bad - failed : 0 });
    }
}

static void trouble_tell_news(const struct trouble_look *look, struct trouble_queue *queue)
{
    struct later_trouble_queue *seen = &queue->seen;

    if (!queue->news.queue[0] ||
        (seen->served != 0 && served_by(look->served, queue->news.queue) != 0))
        seen->news = 0;
    if (seen->news == 0)
        return;
    seen->news_since = (double)queue->news.number / 1e6;
    seen->news_for = seen->served == 0 ? seen->name : queue->news.queue;
}

static void trouble_tell(struct trouble_look *look, struct trouble_queue *queue)
{
    const struct later_sizes *sizes = &queue->sized->sizes;
    struct later_trouble_queue *seen = &queue->seen;

    seen->now = look->now;
    seen->name = queue->keys.queue;
    seen->ready = (int64_t)sizes->ready;
    seen->delayed = (int64_t)sizes->delayed;
    seen->dead = (int64_t)sizes->dead;
    seen->oldest = sizes->oldest_ready;
    seen->alive = look->alive;
    seen->served = served_by(look->served, queue->keys.queue);
    seen->paused_by = queue->pause.who;
    for (seen->unknown_type_count = 0; seen->unknown_type_count < queue->type_count;
         seen->unknown_type_count++)
        seen->unknown_types[seen->unknown_type_count] = queue->types[seen->unknown_type_count];
    seen->elsewhere_type = queue->elsewhere;
    seen->missed_name = queue->schedule;
    seen->blocked_name = queue->flow;
    trouble_tell_news(look, queue);
    look->waiting += seen->ready + seen->delayed;
    later_trouble_queue(look->troubles, seen);
    trouble_tell_types(look, queue);
}

/* --- the queues --- */

/* Most hosts have no schedules: one question tells that of all these queues, except on a Cluster.
 */
static void trouble_seek_schedules(struct trouble_look *look, const struct sized *sized,
                                   size_t count)
{
    struct later_client *client = look->cli->client;
    struct later_command cmd = { 0 };
    struct later_error ignored;
    struct later_reply *reply;

    look->no_schedules = false;
    if (count < 2 || later_redis_is_cluster(later_call_redis(client)))
        return;
    later_command_begin(&cmd, 1 + count);
    later_command_text(&cmd, "EXISTS");
    for (size_t i = 0; i < count; i++) {
        struct later_keys keys;

        later_keys_init(&keys, later_call_prefix(client), sized[i].name);
        later_command_text(&cmd, keys.name[LATER_KEY_CRON]);
    }
    reply = cli_call(look->cli, &cmd, &ignored);
    look->no_schedules = reply && later_reply_int(reply) == 0;
    later_reply_free(reply);
}

static int trouble_some(struct trouble_look *look, const struct sized *sized,
                        struct trouble_queue *queues, size_t count)
{
    struct cli *cli = look->cli;

    trouble_seek_schedules(look, sized, count);
    look->sends = true;
    for (size_t i = 0; i < count; i++) {
        queues[i].sized = &sized[i];
        queues[i].kept = cli->kept ? kept_find(cli->kept, sized[i].name) : NULL;
        later_keys_init(&queues[i].keys, later_call_prefix(cli->client), sized[i].name);
        trouble_round(look, &queues[i]);
    }
    ahead_await(cli->client);
    look->sends = false;
    for (size_t i = 0; i < count && !look->away; i++) {
        cli->ahead = &queues[i].ahead;
        trouble_round(look, &queues[i]);
        cli->ahead = NULL;
        trouble_tell(look, &queues[i]);
    }
    return look->away ? -1 : 0;
}

static void trouble_queue_free(struct trouble_queue *queue)
{
    ahead_clear(&queue->ahead);
    later_tallies_free(&queue->read);
    later_tallies_free(&queue->totals);
}

int trouble_queues(struct trouble_look *look, const struct queue_list *list)
{
    struct sized *sized = calloc(TOGETHER, sizeof *sized);
    struct trouble_queue *queues = calloc(TOGETHER, sizeof *queues);
    int ok = sized && queues ? 0 : later_fail(look->err, LATER_E_SYSTEM, "no memory");

    for (size_t from = 0; ok == 0 && from < list->count; from += TOGETHER) {
        size_t count = list->count - from < TOGETHER ? list->count - from : TOGETHER;

        for (size_t i = 0; i < count; i++) {
            sized[i] = (struct sized){ .name = list->names[from + i] };
            queues[i] = (struct trouble_queue){ 0 };
        }
        ok = look->known ? 0 : sizes_ask(look->cli, sized, count, false, look->now, look->err);
        if (ok == 0)
            ok = trouble_some(look, look->known ? look->known + from : sized, queues, count);
        for (size_t i = 0; i < count; i++)
            trouble_queue_free(&queues[i]);
    }
    free(sized);
    free(queues);
    return ok;
}
