/* why.c: why a job does not run: its queue, the daemons, Redis. */
#include "why/why_inner.h"

#include "history/history.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL 0.99 /* of its memory: what Redis counts itself differs a little */

void why_end(struct why *why)
{
    served_free(why->served);
    why->served = NULL;
}

struct later_reply *why_ask(struct why_look *look, struct later_command *cmd)
{
    return cli_look(look->why->cli, look->sends ? &look->ahead : NULL, cmd, &look->away, look->err);
}

/* --- its queue --- */

static bool why_is_paused(struct why_look *look, const struct later_keys *keys)
{
    struct later_command cmd = { 0 };
    struct later_pause pause;
    struct later_reply *reply;
    bool paused;

    later_inspect_why_paused(&cmd, keys);
    reply = why_ask(look, &cmd);
    paused = later_inspect_paused(reply, &pause);
    later_reply_free(reply);
    if (paused && look->pause.since <= 0)
        look->pause = pause;
    return paused;
}

/* A shard that came after the pause does not know who paused the queue. */
static void why_pause(struct why_look *look)
{
    struct later_why_facts *facts = look->facts;
    bool whole = why_is_paused(look, &look->whole->parts[0]);

    facts->paused = look->whole->count > 1 ? why_is_paused(look, look->part) : whole;
    facts->paused_by = look->pause.who;
    facts->paused_since = look->pause.since;
    facts->paused_until = look->pause.until;
}

/* Is its type paused? If that keeps it aside, its record says so. */
static void why_types(struct why_look *look)
{
    const struct later_record *record = &look->seen->record;
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_override_ask(&cmd, look->part);
    reply = why_ask(look, &cmd);
    laid_take(&look->laid, reply, look->facts->now);
    later_reply_free(reply);
    look->facts->type_pause = laid_of_type(&look->laid, look->doc->type);
    look->facts->kept = strcmp(look->seen->state, "delayed") == 0 && record->line_len > 2 &&
                        strncmp(record->line, "t ", 2) == 0;
}

static void why_redis(struct why_look *look)
{
    struct later_command cmd = { 0 };
    struct later_redis_state state;
    struct later_reply *reply;
    char used[40], most[40];

    later_inspect_state(&cmd);
    reply = why_ask(look, &cmd);
    later_inspect_stated(reply, &state);
    later_reply_free(reply);
    if (state.most > 0 && state.used >= FULL * state.most) {
        text_put_bytes(used, sizeof used, (uint64_t)state.used);
        text_put_bytes(most, sizeof most, (uint64_t)state.most);
        snprintf(look->full, sizeof look->full, "%s of %s", used, most);
    }
    look->facts->full = look->full;
    look->facts->disk = state.disk ? state.disk : "";
}

/* --- the daemons --- */

/* The last one that served the queue counts; if none is alive, the last one of all. */
static void why_gone(struct why_look *look, const json_t *host, bool serves)
{
    const char *name = text_member(host, "host");
    double seen = text_number_member(host, "seen");

    if (!*name || seen <= look->facts->lost_since || (look->facts->alive > 0 && !serves))
        return;
    look->facts->lost_since = seen;
    snprintf(look->lost, sizeof look->lost, "%s", name);
}

static void why_serves(struct why_look *look, size_t i, const json_t *host, bool *well,
                       bool *all_quiet)
{
    const char *fault = text_member(host, "fault");

    look->facts->serving++;
    look->facts->elsewhere |= served_runs_type(look->why->served, i, look->doc->type);
    look->facts->workers += (int64_t)text_number_member(host, "workers");
    look->facts->runs += (int64_t)text_number_member(host, "running");
    *well |= !*fault;
    if (!json_object_get(host, "quiet"))
        *all_quiet = false;
    else
        look->quiet = host;
    if (!look->fault[0])
        snprintf(look->fault, sizeof look->fault, "%s", fault);
}

static void why_all_quiet(struct later_why_facts *facts, const json_t *host)
{
    const json_t *quiet = json_object_get(host, "quiet");

    facts->quiet = text_member(host, "host");
    facts->quiet_by = text_member(quiet, "by");
    facts->quiet_since = text_number_member(quiet, "since");
}

static void why_hosts(struct why_look *look)
{
    const struct served *served = look->why->served;
    struct later_why_facts *facts = look->facts;
    bool well = false, all_quiet = true;

    facts->alive = served_count_alive(served);
    facts->serving = 0;
    facts->workers = facts->runs = 0;
    for (size_t i = 0; i < served_count(served); i++) {
        const json_t *host = served_host(served, i);
        bool serves = host && served_serves(host, look->part->queue);

        if (host && !served_alive(served, i))
            why_gone(look, host, serves);
        else if (serves)
            why_serves(look, i, host, &well, &all_quiet);
    }
    facts->lost = look->lost;
    facts->fault = well ? "" : look->fault;
    if (all_quiet && look->quiet)
        why_all_quiet(facts, look->quiet);
}

/* --- a ready job --- */

/* Scores are whole microseconds, which a double does not hold exactly. */
static void why_ahead_of(struct why_look *look)
{
    struct later_command cmd = { 0 };
    char below[40];
    struct later_reply *reply;

    snprintf(below, sizeof below, "%.7f", look->seen->score - 5e-7);
    later_command_say(&cmd, "ZCOUNT %s -inf %s", look->part->name[LATER_KEY_READY], below);
    reply = why_ask(look, &cmd);
    if (reply)
        look->facts->ahead = later_reply_int(reply);
    later_reply_free(reply);
}

/* Attempts a second in the present minute and the one before it. */
static void why_rate(struct why_look *look)
{
    int64_t minute = later_period(LATER_BY_MINUTE, look->facts->now);
    double seconds = look->facts->now - 60.0 * (double)(minute - 1);
    struct later_tallies tallies = { 0 };
    struct later_tally sum;
    struct later_keys keys;
    later_queue_name whole;
    bool known = true;

    later_shard_whole(whole, look->part->queue);
    later_keys_init(&keys, later_call_prefix(look->why->cli->client), whole);
    for (int64_t n = minute - 1; n <= minute; n++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        later_history_ask(&cmd, &keys, LATER_BY_MINUTE, n);
        reply = why_ask(look, &cmd);
        known &= reply != NULL;
        later_history_read(&tallies, reply);
        later_reply_free(reply);
    }
    later_tallies_sum(&tallies, &sum);
    later_tallies_free(&tallies);
    if (known && look->whole->count > 0)
        look->facts->rate = (double)later_tally_attempts(&sum) / seconds /
                            (double)(look->whole->plan.count > 1 ? look->whole->plan.count : 1);
}

/* --- all of it --- */

/* Copies a text of the last error. */
static void why_error(struct why_look *look)
{
    const struct later_record *record = &look->seen->record;
    json_t *error = json_loadb(record->error, record->error_len, 0, NULL);

    snprintf(look->kind, sizeof look->kind, "%s", text_member(error, "kind"));
    snprintf(look->text, sizeof look->text, "%s", text_member(error, "text"));
    json_decref(error);
    look->facts->error_kind = look->kind;
    look->facts->error_text = look->text;
}

static void why_job(struct why_look *look)
{
    const struct later_seen *seen = look->seen;
    struct later_why_facts *facts = look->facts;

    facts->state = seen->state;
    facts->queue = look->whole->name;
    facts->type = look->doc->type;
    facts->score = seen->score;
    facts->attempts = seen->record.attempts;
    facts->unknown_since = seen->record.unknown_since;
    facts->suspect = seen->record.crashes == 0;
    facts->again = seen->record.next_len > 0;
    facts->expires_at = look->doc->expires_at;
    why_error(look);
}

static void why_round(struct why_look *look, bool sends)
{
    const char *state = look->seen->state;

    look->sends = sends;
    why_pause(look);
    why_types(look);
    why_redis(look);
    if (strcmp(state, "ready") == 0) {
        why_ahead_of(look);
        why_rate(look);
    } else if (strcmp(state, "delayed") == 0) {
        why_line_look(look);
    } else {
        why_flow_look(look);
    }
}

static bool why_may_wait(const char *state)
{
    return strcmp(state, "ready") == 0 || strcmp(state, "delayed") == 0 ||
           strcmp(state, "waiting") == 0;
}

static void why_both_rounds(struct why_look *look)
{
    struct cli *cli = look->why->cli;

    why_round(look, true);
    ahead_await(cli->client);
    cli->ahead = &look->ahead;
    why_round(look, false);
    cli->ahead = NULL;
    ahead_clear(&look->ahead);
}

/* Returns 0, or -1 with *err. Without the right to read them nothing is known of the daemons. */
static int why_served(struct why *why, double *now, struct later_error *err)
{
    if (!why->asked) {
        why->asked = true;
        why->served = served_read(why->cli, err);
        if (!why->served && err->code == LATER_E_REDIS)
            return -1;
    }
    if (why->served)
        *now = served_at(why->served);
    else if (cli_clock(why->cli, now, err) < 0 && err->code == LATER_E_REDIS)
        return -1;
    return 0;
}

int why_find(struct why *why, const struct whole *whole, const struct later_keys *part,
             const struct later_seen *seen, struct why_answer *answer, struct later_error *err)
{
    struct later_why_facts facts = LATER_WHY_FACTS;
    struct later_document doc;
    struct later_error ignored;
    struct why_look look = { .why = why,
                             .whole = whole,
                             .part = part,
                             .seen = seen,
                             .doc = &doc,
                             .facts = &facts,
                             .err = err };

    if (why_served(why, &facts.now, err) < 0)
        return -1;
    if (later_document_parse(&doc, LATER_DOCUMENT_JOB, seen->document, seen->document_len, SIZE_MAX,
                             &ignored) < 0)
        doc = (struct later_document){ .payload = "null", .payload_len = 4 };
    why_job(&look);
    if (why->served)
        why_hosts(&look);
    if (why_may_wait(seen->state))
        why_both_rounds(&look);
    answer->count = later_why_find(&facts, answer->whys);
    return look.away ? -1 : 0;
}

/* --- what is printed --- */

void why_say(char *out, size_t room, const struct why_answer *answer)
{
    size_t len = 0;

    *out = '\0';
    for (size_t i = 0; i < answer->count && len < room; i++)
        len += (size_t)snprintf(out + len, room - len, "%s%s",
                                i == 0   ? ""
                                : i == 1 ? "; also: "
                                         : "; ",
                                answer->whys[i].text);
}

static void why_put(struct jsonl *json, const struct later_why *why)
{
    jsonl_add(json, "reason:%s text:%s for:%s by:%s since:%f until:%f count:%f",
              later_reasons[why->reason].name, why->text, text_known(why->thing),
              text_known(why->by), text_known_time(why->since), text_known_time(why->until),
              why->count >= 0 ? (double)why->count : NAN);
}

void why_json(struct jsonl *json, const struct why_answer *answer)
{
    if (answer->count == 0) {
        jsonl_raw(json, "why", "null");
        return;
    }
    jsonl_open(json, "why", '{');
    why_put(json, &answer->whys[0]);
    jsonl_open(json, "also", '[');
    for (size_t i = 1; i < answer->count; i++) {
        jsonl_open(json, NULL, '{');
        why_put(json, &answer->whys[i]);
        jsonl_close(json, '}');
    }
    jsonl_close(json, ']');
    jsonl_close(json, '}');
}
