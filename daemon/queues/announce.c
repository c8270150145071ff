/* announce.c: writes this laterd's field of later:hosts. */
#include "queues/announce.h"

#include "base/clock.h"
#include "queues/announce_load.h"
#include "queues/announce_needs.h"
#include "link/redis_check.h"
#include "link/follow.h"
#include "fault.h"
#include "log.h"
#include "queue/inspect.h"
#include "queue/queue.h"
#include "queues/marker.h"
#include "queues/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_LEAST    5       /* seconds, */
#define EVERY_MOST     20      /* with so many hosts that together they would write */
#define EVERY_TOGETHER 25      /* more than so many lines a second */
#define RATE_SECONDS   65.0    /* the rate is over so long at most, */
#define SAMPLES        12      /* and over so many lines */
#define RARELY         60      /* seconds between two writes of what others write, too */
#define FIT_EVERY      20      /* between two looks at Redis's fitness, by hosts that look */
#define FORGET_EVERY   720     /* the same between searches for daemons that are long gone */
#define FORGET_SECONDS 86400.0 /* since they were seen */
#define LEAVE_SECONDS  1.0

struct sample {
    double at;
    uint64_t performed;
};

struct announce {
    const struct config *config;
    struct link *link;
    const char *host;
    char field[320];
    struct redis_check *check;
    unsigned beats; /* seconds */
    struct {
        unsigned state, registry, quiet, fit, forget;
    } due;           /* the beats at which each is done next; 0: at the next one */
    unsigned every;  /* between the last line and the next, seconds */
    unsigned waited; /* the same between the last line and the one before */
    unsigned renewed;
    double since, now;
    struct marker marker;
    struct sample samples[SAMPLES]; /* the oldest is overwritten */
    unsigned sampled;
    struct announce_load load;
    bool there, lost;     /* Redis had our field; it did not have it the next time */
    struct fault refused; /* or not answered, twice in a row */
    bool unanswered;      /* the last line was sent, and nobody knows what became of it */
    void (*quieted)(void *arg, const struct later_pause *pause);
    void *arg;
    struct later_keys keys; /* of this host; without a name if it cannot be quiet */
    struct later_pause quiet;
    bool is_quiet;
    bool withdrawn;       /* we are gone, and say nothing more */
    double leaving_until; /* 0: not leaving, or the answer is there */
};

struct announce *announce_new(const struct config *config, struct link *link, const char *host,
                              const struct announce_calls *calls)
{
    struct announce *announce = calloc(1, sizeof *announce);

    if (!announce)
        return NULL;
    *announce = (struct announce){
        .config = config, .link = link, .host = host, .quieted = calls->quieted, .arg = calls->arg
    };
    (void)later_keys_of_host(&announce->keys, config->redis.prefix, host);
    announce->check =
        redis_check_new(config->redis.prefix, follow_wanted(config), calls->judged, calls->arg);
    if (!announce->check) {
        free(announce);
        return NULL;
    }
    snprintf(announce->field, sizeof announce->field, "%s:%ld", host, (long)getpid());
    return announce;
}

void announce_free(struct announce *announce)
{
    if (!announce)
        return;
    redis_check_free(announce->check);
    fault_free(&announce->refused);
    free(announce);
}

void announce_configure(struct announce *announce, const struct config *config)
{
    announce->config = config;
    registry_write(config, announce->link);
    marker_note(config, announce->link, LATER_NOTE_RELOAD, announce->now, "");
    link_flush(announce->link);
}

/* --- is this host to be quiet? --- */

static void announce_on_quiet(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;
    bool was = announce->is_quiet;

    if (answer->outcome != LATER_ANSWERED)
        return;
    announce->is_quiet = later_inspect_paused(answer->reply, &announce->quiet);
    if (announce->is_quiet == was)
        return;
    announce->due.state = 0; /* the next beat says so */
    announce->quieted(announce->arg, announce->is_quiet ? &announce->quiet : NULL);
}

static void send_quiet(struct announce *announce)
{
    struct later_command cmd = { 0 };

    if (!announce->keys.queue[0])
        return;
    later_inspect_why_paused(&cmd, &announce->keys);
    link_send(announce->link, &cmd, LINK_TIMEOUT, announce_on_quiet, announce);
}

void announce_ask_quiet(struct announce *announce)
{
    send_quiet(announce);
    link_flush(announce->link);
}

/* Its time is over, of which nobody tells. Redis, where it may have been prolonged, says so. */
static void announce_end_quiet(struct announce *announce, double now)
{
    if (announce->is_quiet && announce->quiet.until > 0 && now >= announce->quiet.until)
        announce_ask_quiet(announce);
}

/* Writes `,"quiet":{…}`, or nothing. Whoever set it may have written what they like. */
static void write_quiet(const struct announce *announce, bool paused, FILE *out)
{
    const struct later_pause *quiet = &announce->quiet;
    char by[sizeof quiet->who];

    if (!paused && !announce->is_quiet)
        return;
    snprintf(by, sizeof by, "%s", announce->is_quiet ? quiet->who : "");
    for (char *c = by; *c; c++)
        *c = *c > ' ' && *c <= '~' && *c != '"' && *c != '\\' ? *c : '_';
    fprintf(out, ",\"quiet\":{\"since\":%.3f,\"until\":%.3f,\"by\":\"%s\"}",
            announce->is_quiet ? quiet->since : 0.0, announce->is_quiet ? quiet->until : 0.0, by);
}

void announce_link_up(struct announce *announce)
{
    send_quiet(announce);
    redis_check_anew(announce->check, announce->link);
    registry_write(announce->config, announce->link);
    memset(&announce->due, 0, sizeof announce->due);
    announce->due.fit = announce->beats + FIT_EVERY;
    link_flush(announce->link);
}

void announce_ask(struct announce *announce)
{
    if (!link_is_up(announce->link))
        return;
    redis_check_ask(announce->check, announce->link);
    link_flush(announce->link);
}

/* --- every few seconds --- */

void announce_count(struct announce_state *state, const char *queue)
{
    uint32_t i = 0;

    while (i < state->queue_count && strcmp(state->queues[i].name, queue) != 0)
        i++;
    if (i == ANNOUNCE_QUEUES)
        return;
    if (i == state->queue_count) {
        snprintf(state->queues[i].name, sizeof state->queues[i].name, "%s", queue);
        state->queues[state->queue_count++].running = 0;
    }
    state->queues[i].running++;
}

/* Writes `["a","b-*"],"patterns":{"b-*":9}`. Shards, and queues that a pattern added, are not
 * listed; of the latter there is the number. */
static void write_queues(const struct config *config, FILE *out)
{
    const char *between = "";

    fputc('[', out);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];

        for (uint32_t q = 0; q < pool->queue_count; q++) {
            if (pool->queues[q].is_followed || strchr(pool->queues[q].name, '/'))
                continue;
            fprintf(out, "%s\"%s\"", between, pool->queues[q].name);
            between = ",";
        }
        for (uint32_t i = 0; i < pool->pattern_count; i++, between = ",")
            fprintf(out, "%s\"%s\"", between, pool->patterns[i].name);
    }
    fputs("],\"patterns\":{", out);
    between = "";
    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];

        for (uint32_t i = 0; i < pool->pattern_count; i++, between = ",")
            fprintf(out, "%s\"%s\":%u", between, pool->patterns[i].name,
                    (unsigned)config_followed_by(pool, &pool->patterns[i]));
    }
    fputc('}', out);
}

/* Writes `"a":3,"b":1`: the jobs that run, by queue. */
static void write_running(const struct announce_state *state, FILE *out)
{
    for (uint32_t i = 0; i < state->queue_count; i++)
        fprintf(out, "%s\"%s\":%u", i ? "," : "", state->queues[i].name,
                (unsigned)state->queues[i].running);
}

/* Writes the connections to each node: `"127.0.0.1:7000":12`. */
static void write_nodes(const struct connections *connections, FILE *out)
{
    for (uint32_t i = 0; i < connections->count; i++)
        fprintf(out, "%s\"%s\":%u", i ? "," : "", connections->nodes[i].node,
                (unsigned)connections->nodes[i].connections);
}

/* Writes `,"fault":"…"`, or nothing if there is none. Whoever made the text has replaced control
 * bytes. */
static void write_reason(const char *name, const char *why, FILE *out)
{
    if (!why)
        return;
    fprintf(out, ",\"%s\":\"", name);
    for (; *why; why++)
        fprintf(out, *why == '"' || *why == '\\' ? "\\%c" : "%c", *why);
    fputc('"', out);
}

/* Returns attempts per second over the last minute. */
static double announce_rate(struct announce *announce, const struct announce_state *state)
{
    unsigned count = announce->sampled < SAMPLES ? announce->sampled : SAMPLES;
    struct sample now = { state->redis_now, state->performed }, before = now;

    for (unsigned i = 1; i <= count; i++) {
        struct sample one = announce->samples[(announce->sampled - i) % SAMPLES];

        if (now.at - one.at <= RATE_SECONDS)
            before = one;
    }
    announce->samples[announce->sampled++ % SAMPLES] = now;
    return now.at > before.at && now.performed > before.performed
               ? (double)(now.performed - before.performed) / (now.at - before.at)
               : 0;
}

static int announce_forget(struct announce *announce, const char *field, later_answer_fn *fn)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_hosts(key, announce->config->redis.prefix);
    later_command_say(&cmd, "HDEL %s %s", key, field);
    return link_send(announce->link, &cmd, LINK_TIMEOUT, fn, announce);
}

/* Deletes the fields of daemons not seen for a day. One that comes back after all writes its field
 * again within seconds. */
static void announce_on_hosts(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;

    if (answer->outcome == LATER_ANSWERED)
        marker_look(&announce->marker, announce->config, announce->link, announce->now,
                    answer->reply, announce->field);
    for (size_t i = 0; i + 1 < later_reply_count(answer->reply); i += 2) {
        const char *field = later_reply_text(later_reply_at(answer->reply, i), NULL);
        double seen = marker_number(later_reply_at(answer->reply, i + 1), "seen", announce->now);

        if (announce->now - seen < FORGET_SECONDS)
            continue;
        log_line(LOG_INFO, "laterd %s was not seen for a day: forgotten", field);
        (void)announce_forget(announce, field, NULL);
    }
    link_flush(announce->link);
}

static void look_for_gone(struct announce *announce)
{
    struct later_command cmd = { 0 };

    later_inspect_hosts(&cmd, announce->config->redis.prefix);
    link_send(announce->link, &cmd, LINK_TIMEOUT, announce_on_hosts, announce);
}

/* Connections come up and what is read is answered, and yet no line arrives: writes are held back
 * there (CLIENT PAUSE), or are lost on the way. Once, it may be any outage. */
static void announce_judge_silence(struct announce *announce, const struct later_answer *answer)
{
    if (answer->outcome == LATER_UNKNOWN && announce->unanswered)
        fault_note(&announce->refused, LOG_ERROR, "redis does not answer writes: %s", answer->text);
    if (answer->outcome != LATER_UNSENT)
        announce->unanswered = answer->outcome == LATER_UNKNOWN;
}

/* This is the one write that every laterd makes all the time. A Redis that is full, or whose disk
 * is, refuses it just as it refuses pushes. */
static void announce_on_told(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;

    if (answer->outcome == LATER_ANSWERED) {
        announce->lost |= announce->there && later_reply_int(answer->reply) > 0;
        announce->there = true;
        marker_answered(&announce->marker, announce->config, announce->link, announce->now,
                        announce->waited);
    }
    fault_judge(&announce->refused, answer, LOG_ERROR, "redis refuses writes: %s", answer->text);
    announce_judge_silence(announce, answer);
}

bool announce_was_lost(struct announce *announce)
{
    bool lost = announce->lost;

    announce->lost = false;
    return lost;
}

const char *announce_fault(const struct announce *announce)
{
    return fault_text(&announce->refused);
}

/* Seconds between two lines of ours. */
static unsigned announce_every(uint32_t others)
{
    unsigned every = others / EVERY_TOGETHER;

    return every < EVERY_LEAST ? EVERY_LEAST : every > EVERY_MOST ? EVERY_MOST : every;
}

/* Seconds between two looks at whether Redis is still fit, whose settings can be changed. The hosts
 * that do not look do so once a second all together. */
static unsigned announce_fit_every(const struct announce_state *state)
{
    return !state->others_look ? FIT_EVERY : state->others < RARELY ? RARELY : state->others;
}

static void announce_write_line(struct announce *announce, const struct announce_state *state,
                                FILE *out)
{
    fprintf(out,
            "{\"host\":\"%s\",\"pid\":%ld,\"version\":\"" VERSION "\",\"started\":%.3f,"
            "\"seen\":%.3f,\"every\":%u,\"workers\":%u,\"running\":%u,\"performed\":%" PRIu64
            ",\"failed\":%" PRIu64 ",\"rate\":%.3f,\"crashes\":%u,\"memory\":%" PRIu64
            ",\"queues\":",
            announce->host, (long)getpid(), announce->since, state->redis_now, announce->every,
            (unsigned)state->workers, (unsigned)state->running, state->performed, state->failed,
            announce_rate(announce, state), (unsigned)state->crashes, state->memory);
    write_queues(announce->config, out);
    fputs(",\"runs\":{", out);
    write_running(state, out);
    fputs("},\"nodes\":{", out);
    write_nodes(&state->connections, out);
    fputc('}', out);
    announce_load_write(&announce->load, out);
    announce_load_pools(announce->config, out);
    announce_needs_write(announce->config, out);
    announce_jobs_write(&state->jobs, later_clock(), state->redis_now, out);
    write_quiet(announce, state->paused, out);
    write_reason("fault", state->fault, out);
    write_reason("reload_refused", state->reload_refused, out);
    fputc('}', out);
}

/* Makes the field for `hosts`; names need no escapes. To be freed; NULL without memory. */
static char *line(struct announce *announce, const struct announce_state *state)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    announce_write_line(announce, state, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool announce_weighs(const struct announce *announce)
{
    return announce->beats + 1 >= announce->due.state; /* as announce_tell() counts */
}

/* Is this done at this beat? Then it is again after so many. */
static bool announce_is_due(const struct announce *announce, unsigned *due, unsigned every)
{
    if (announce->beats < *due)
        return false;
    *due = announce->beats + every;
    return true;
}

void announce_tell(struct announce *announce, const struct announce_state *state)
{
    struct later_command cmd = { 0 };
    unsigned every = announce_every(state->others);
    char key[LATER_KEY_MAX], *text;

    announce_load_look(&announce->load, later_clock(), state->running);
    if (state->redis_now <= 0 || announce->withdrawn)
        return;
    announce->beats++;
    announce_end_quiet(announce, state->redis_now);
    if (!announce_is_due(announce, &announce->due.state, every))
        return;
    announce->waited = announce->every;
    announce->every = every;
    announce->now = state->redis_now;
    if (announce->since <= 0)
        announce->since = state->redis_now;
    text = line(announce, state);
    if (!text)
        return; /* it is tried again with the next line */
    marker_beat(&announce->marker, announce->config, announce->link, state->redis_now);
    later_key_hosts(key, announce->config->redis.prefix);
    later_command_say(&cmd, "HSET %s %s %s", key, announce->field, text);
    free(text);
    link_send(announce->link, &cmd, LINK_TIMEOUT, announce_on_told, announce);
    if (announce_is_due(announce, &announce->due.quiet, RARELY) ||
        announce->is_quiet) /* whoever deletes the key by hand does not tell */
        send_quiet(announce);
    if (announce_is_due(announce, &announce->due.registry,
                        state->others_look ? RARELY : EVERY_LEAST))
        registry_renew(announce->config, announce->link, announce->renewed++);
    if (announce_is_due(announce, &announce->due.fit, announce_fit_every(state)))
        redis_check_ask(announce->check, announce->link);
    if (announce_is_due(announce, &announce->due.forget, FORGET_EVERY))
        look_for_gone(announce);
    link_flush(announce->link);
}

static void on_left(void *arg, struct later_answer *answer)
{
    struct announce *announce = arg;

    (void)answer;
    announce->leaving_until = 0;
}

void announce_withdraw(struct announce *announce)
{
    announce->withdrawn = true;
    marker_note(announce->config, announce->link, LATER_NOTE_STOP, announce->now, "");
    if (announce_forget(announce, announce->field, on_left) == 0)
        announce->leaving_until = later_clock() + LEAVE_SECONDS;
    link_flush(announce->link);
}

bool announce_leaving(const struct announce *announce)
{
    return later_clock() < announce->leaving_until;
}
