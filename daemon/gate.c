/*
 * gate.c: what a job needs beyond its reservation before it may run, and holds while it runs: locks
 * (its document's, its type's), places (max_running of its type, of its queue), limits.
 *
 * Locks and places are taken first, since they can be given back; a limit has counted for good. A
 * hold is entered in the slot page before it is asked for (slots.h), so that it is freed whatever
 * becomes of this worker. A job that finds a gate closed is returned for as long as waits.h says;
 * no attempt, and nobody waits behind it. When a lock or a place is freed, the job that has waited
 * for it the longest, as far as this worker knows, is due at once (hasten.lua).
 *
 * Calls are made on the worker's blocking client: one round trip each. A job that needs nothing
 * pays for none.
 */
#include "job.h"
#include "worker.h"

#include "call.h"
#include "clock.h"
#include "holds.h"
#include "lock_wait.h"
#include "place.h"
#include "sha1.h"
#include "stock.h"
#include "waits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUT_SECONDS  0.02 /* a lock or places that were not to be had are not asked for again */
#define FIRST_SECONDS 0.2  /* until the first that waits for them looks again */
#define FIRST_MOST    2.0  /* more and more, up to this, while they stay closed */
#define APART_SECONDS 0.25 /* between the looks of those behind it */
#define LIMIT_LEAST   0.01 /* a limit that opens sooner is not asked again and again */
#define AWAY_SECONDS  1.0  /* where Redis does not answer */
#define QUIET_SECONDS 10.0 /* between two lines in the log about that */
#define HASTEN_SLACK  1.0  /* a job due later than we know of waits for something else */

enum need_kind { NEED_LOCK = 'l', NEED_PLACE = 'p', NEED_LIMIT = 'm' };

struct worker_need {
    enum need_kind kind;
    uint32_t max;
    double per;
    bool sliding;
    char name[LATER_LOCK_MAX + 1];
};

/* --- what it needs --- */

static struct worker_need *next_need(struct worker *worker, size_t *count, enum need_kind kind)
{
    struct worker_need *need = &worker->needs[(*count)++];

    *need = (struct worker_need){ .kind = kind };
    return need;
}

static void limit_name(const struct config_limit *limit, const struct later_job *job,
                       char name[LATER_LOCK_MAX + 1])
{
    char whole[400], bucket[LATER_BUCKET_MAX + 1] = "", nth[16] = "";

    if (limit->member[0])
        later_document_bucket(&job->doc, limit->member, bucket);
    if (limit->nth)
        snprintf(nth, sizeof nth, "/%u", (unsigned)limit->nth + 1);
    snprintf(whole, sizeof whole, "%s:%s%s%s%s%s%s", limit->type[0] ? "type" : "queue",
             limit->type[0] ? limit->type : limit->queue, nth, limit->member[0] ? ":" : "",
             limit->member, limit->member[0] ? "=" : "", bucket);
    if (strlen(whole) <= LATER_LOCK_MAX)
        strcpy(name, whole);
    else
        later_sha1(whole, strlen(whole), name);
}

static void add_limits(const struct later_job *job, size_t *count)
{
    const struct config *config = job->worker->config;

    for (uint32_t i = 0; i < config->limit_count; i++) {
        const struct config_limit *limit = &config->limits[i];
        struct worker_need *need;

        if (limit->type[0] ? !config_type_matches(limit->type, job->doc.type)
                           : strcmp(limit->queue, job->queue) != 0)
            continue;
        need = next_need(job->worker, count, NEED_LIMIT);
        need->max = limit->max;
        need->per = limit->per;
        need->sliding = limit->sliding;
        limit_name(limit, job, need->name);
    }
}

/* Fills worker->needs; returns how many, or -1 without memory. Locks first, then places, limits:
 * every job asks in the same order. */
static ssize_t needs_of(const struct later_job *job)
{
    struct worker *worker = job->worker;
    const struct config_type *rules = job->rules;
    const struct config_queue *queue = &worker->start->pool->queues[job->slot->queue];
    bool exclusive = rules && rules->exclusive;
    uint32_t running = rules ? rules->max_running : 0;
    struct worker_need *need;
    size_t count = 0;

    if (!job->doc.lock[0] && !exclusive && !running && !queue->max_running &&
        !worker->config->limit_count)
        return 0;
    if (!worker->needs)
        worker->needs = calloc(4 + worker->config->limit_count, sizeof *worker->needs);
    if (!worker->needs)
        return -1;
    if (job->doc.lock[0])
        strcpy(next_need(worker, &count, NEED_LOCK)->name, job->doc.lock);
    if (exclusive)
        snprintf(next_need(worker, &count, NEED_LOCK)->name, sizeof need->name, "type:%s",
                 job->doc.type);
    if (running) {
        need = next_need(worker, &count, NEED_PLACE);
        snprintf(need->name, sizeof need->name, "type:%s", rules->name);
        need->max = running;
    }
    if (queue->max_running) {
        need = next_need(worker, &count, NEED_PLACE);
        snprintf(need->name, sizeof need->name, "queue:%s", job->queue);
        need->max = queue->max_running;
    }
    add_limits(job, &count);
    return (ssize_t)count;
}

/* --- asking Redis --- */

/* One line now and then: with Redis away each job would say it. */
static void complain(struct worker *worker, const char *name, const struct later_error *err)
{
    double now = later_clock();

    if (now < worker->complained + QUIET_SECONDS)
        return;
    worker->complained = now;
    log_line(LOG_WARN, "%s: %s; jobs that need it are returned", name, err->text);
}

static bool still_free(const struct slot_hold *hold)
{
    return atomic_load_explicit(&hold->state, memory_order_acquire) == HOLD_NONE;
}

/* Enters what will be asked for. NULL: the table is full. */
static struct slot_hold *hold_enter(const struct later_job *job, enum hold_kind kind,
                                    const char *name, double ttl)
{
    struct slots_page *page = job->worker->slots->page;
    struct slot_hold *hold;
    uint32_t i = 0;

    while (i < SLOTS_HOLDS && !still_free(&page->held[i]))
        i++;
    if (i == SLOTS_HOLDS)
        return NULL;
    hold = &page->held[i];
    hold->kind = (uint32_t)kind;
    hold->slot = (uint32_t)(job->slot - page->slots);
    hold->slot_serial = atomic_load(&job->slot->serial);
    hold->ttl = ttl;
    hold->fence = 0;
    snprintf(hold->name, sizeof hold->name, "%s", name);
    later_token(hold->token);
    atomic_fetch_add_explicit(&hold->serial, 1, memory_order_relaxed);
    atomic_store(&hold->touched, (int64_t)(later_clock() * 1e6));
    if (i >= atomic_load(&page->holds))
        atomic_store(&page->holds, i + 1);
    atomic_store_explicit(&hold->state, HOLD_ASKED, memory_order_release);
    job->worker->holding++;
    return hold;
}

/* It is not ours any more, or never was; `state` says whether the keeper has to see to it. */
static void hold_leave(struct worker *worker, struct slot_hold *hold, enum hold_state state)
{
    struct slots_page *page = worker->slots->page;
    uint32_t used = slots_holds(worker->slots);

    atomic_store_explicit(&hold->state, (uint32_t)state, memory_order_release);
    if (state == HOLD_LEFT)
        worker_busy(worker);
    if (--worker->holding > 0)
        return;
    while (used > 0 && still_free(&page->held[used - 1]))
        used--;
    atomic_store(&page->holds, used);
}

static void hold_free(struct worker *worker, struct slot_hold *hold)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    int script;

    atomic_store_explicit(&hold->state, HOLD_ENDING, memory_order_release);
    if (!hold_free_command(hold, worker->config->redis.prefix, &cmd, &script)) {
        hold_leave(worker, hold, HOLD_NONE);
        return;
    }
    reply = later_call(worker->client, &cmd, script, 0, true, &err);
    hold_leave(worker, hold, reply || err.code == LATER_E_DATA ? HOLD_NONE : HOLD_LEFT);
    later_reply_free(reply);
}

/* Seconds until it is worth asking again, 0: it is taken; < 0: Redis does not answer. */
static double take_place(const struct later_job *job, const struct worker_need *need)
{
    struct worker *worker = job->worker;
    struct slot_hold *hold = hold_enter(job, HOLD_PLACE, need->name, worker->config->lease);
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    double wait;

    if (!hold)
        return SHUT_SECONDS;
    later_place_take(&cmd, worker->config->redis.prefix, need->name, hold->token, need->max,
                     hold->ttl);
    reply = later_call(worker->client, &cmd, LATER_SCRIPT_PLACE_TAKE, 0, true, &err);
    if (!reply) {
        complain(worker, need->name, &err);
        hold_leave(worker, hold, HOLD_LEFT);
        return -1;
    }
    wait = later_place_wait(reply) > 0 ? SHUT_SECONDS : 0;
    later_reply_free(reply);
    if (wait > 0)
        hold_leave(worker, hold, HOLD_NONE);
    else
        atomic_store_explicit(&hold->state, HOLD_TAKEN, memory_order_release);
    return wait;
}

int gate_lock(struct later_job *job, const char *name, double ttl, double wait,
              struct later_error *err)
{
    struct worker *worker = job->worker;
    struct slot_hold *hold = hold_enter(job, HOLD_LOCK, name, ttl);
    char owner[LATER_LOCK_OWNER_MAX + 1];
    struct later_lock_wish wish = { .name = name, .owner = owner, .ttl = ttl, .wait = wait };
    struct later_locked locked;
    int taken;

    if (!hold)
        return later_fail(err, LATER_E_LATER, "this worker's jobs hold %d locks and places already",
                          SLOTS_HOLDS);
    snprintf(owner, sizeof owner, "%s %s %s", worker->start->host, job->queue, job->id);
    wish.token = hold->token;
    wish.stop = -1;
    taken = later_lock_wait(worker->client, &wish, &locked, err);
    if (taken != LATER_LOCK_YES) {
        hold_leave(worker, hold, taken < 0 ? HOLD_LEFT : HOLD_NONE);
        return taken;
    }
    hold->fence = locked.fence;
    atomic_store(&hold->touched, (int64_t)(locked.since * 1e6));
    atomic_store_explicit(&hold->state, HOLD_TAKEN, memory_order_release);
    return taken;
}

static double take_lock(struct later_job *job, const struct worker_need *need)
{
    struct later_error err;
    int taken;

    if (gate_held(job, need->name))
        return 0; /* its document asks for its type's */
    taken = gate_lock(job, need->name, job->worker->config->lease, 0, &err);
    if (taken < 0)
        complain(job->worker, need->name, &err);
    return taken < 0 ? -1 : taken == LATER_LOCK_YES ? 0 : SHUT_SECONDS;
}

static double ask_limit(const struct later_job *job, const struct worker_need *need)
{
    struct worker *worker = job->worker;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    double wait;

    later_limit_ask(&cmd, worker->config->redis.prefix, need->name, need->max, need->per,
                    need->sliding);
    reply = later_call(worker->client, &cmd,
                       need->sliding ? LATER_SCRIPT_LIMIT_SLIDING : LATER_SCRIPT_LIMIT_FIXED, 0,
                       false, &err);
    if (!reply) {
        complain(worker, need->name, &err);
        return -1;
    }
    wait = later_limit_wait(reply);
    later_reply_free(reply);
    return wait > 0 ? fmax(wait, LIMIT_LEAST) : 0;
}

static double ask(struct later_job *job, const struct worker_need *need)
{
    switch (need->kind) {
    case NEED_LOCK:
        return take_lock(job, need);
    case NEED_PLACE:
        return take_place(job, need);
    case NEED_LIMIT:
        break;
    }
    return ask_limit(job, need);
}

/* --- a closed gate --- */

/* Enters it in the list of those that wait. Best effort: its turn comes in any case. */
static void note(const struct later_job *job, const struct worker_need *need, double wait)
{
    struct worker *worker = job->worker;
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX], member[LATER_QUEUE_MAX + LATER_ID_MAX + 2];

    if (!worker->redis_offset)
        return;
    later_key_waiting(key, worker->config->redis.prefix, need->kind == NEED_LOCK, need->name);
    snprintf(member, sizeof member, "%s %s", job->queue, job->id);
    later_command_begin(&cmd, 4);
    later_command_text(&cmd, "ZADD");
    later_command_text(&cmd, key);
    later_command_seconds(&cmd, later_clock() + worker->redis_offset + wait);
    later_command_text(&cmd, member);
    link_send(worker->main, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "PEXPIRE");
    later_command_text(&cmd, key);
    later_command_int(&cmd, (int64_t)(2 * WAITS_MOST * 1000));
    link_send(worker->main, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
}

/* Seconds until this job's turn. */
static double turn_of(const struct later_job *job, const struct worker_need *need,
                      struct waits_row *row)
{
    double now = later_clock(), wait = waits_turn(row, now);

    if (need->kind != NEED_LIMIT)
        note(job, need, wait);
    return wait;
}

/* `shut`: as ask() says. */
static double close_gate(const struct later_job *job, const struct worker_need *need, double shut)
{
    struct worker *worker = job->worker;
    double now = later_clock(), chance = (double)(run_random() % 1024) / 1024;
    struct waits_row *row = waits_make(worker->waits, (char)need->kind, need->name, now);
    double first = fmin(fmax(waits_closed_for(row, now) / 8, FIRST_SECONDS), FIRST_MOST);

    first *= 0.75 + chance / 2; /* not all workers at once */
    if (!row)
        return need->kind == NEED_LIMIT ? fmin(shut, WAITS_MOST) : first + chance;
    if (need->kind == NEED_LIMIT)
        waits_close(row, now, shut, shut, need->max, need->per);
    else
        waits_close(row, now, shut, first, 1, APART_SECONDS);
    return turn_of(job, need, row);
}

double gate_pass(struct later_job *job, const char **name)
{
    struct worker *worker = job->worker;
    ssize_t count = needs_of(job);
    double now = count > 0 ? later_clock() : 0;

    if (count < 0)
        return AWAY_SECONDS;
    for (ssize_t i = 0; i < count; i++) {
        const struct worker_need *need = &worker->needs[i];
        struct waits_row *row = waits_find(worker->waits, (char)need->kind, need->name);

        *name = need->name;
        if (waits_closed(row, now))
            return turn_of(job, need, row);
    }
    for (ssize_t i = 0; i < count; i++) {
        const struct worker_need *need = &worker->needs[i];
        double shut = ask(job, need);
        struct waits_row *row;

        *name = need->name;
        if (shut != 0)
            gate_free(job);
        if (shut != 0)
            return shut < 0 ? AWAY_SECONDS : close_gate(job, need, shut);
        row = waits_find(worker->waits, (char)need->kind, need->name);
        if (row)
            waits_open(row);
    }
    return 0;
}

/* --- the end --- */

/* The call of the next one: two answers to wait for. */
struct calling {
    struct worker *worker;
    bool lock;
    char name[LATER_LOCK_MAX + 1];
};

static void call_next(struct calling *calling);

/* Who was not there any more leaves its turn to the next. */
static void on_hastened(void *arg, struct later_answer *answer)
{
    if (answer->outcome == LATER_ANSWERED && later_reply_int(answer->reply) == 0)
        call_next(arg);
    else
        free(arg);
}

/* A job of a queue that is not ours is left to its turn. */
static const struct later_keys *keys_of(const struct worker *worker, const char *member, size_t len)
{
    for (uint32_t i = 0; i < worker->queue_count; i++) {
        const struct later_keys *keys = &worker->queues[i].keys;

        if (strlen(keys->queue) == len && memcmp(keys->queue, member, len) == 0)
            return keys;
    }
    return NULL;
}

static void on_next(void *arg, struct later_answer *answer)
{
    struct calling *calling = arg;
    struct worker *worker = calling->worker;
    const char *member = "", *id = NULL;
    const struct later_keys *keys = NULL;
    struct later_command cmd = { 0 };

    if (answer->outcome == LATER_ANSWERED && later_reply_count(answer->reply) == 2) {
        member = later_reply_text(later_reply_at(answer->reply, 0), NULL);
        id = strchr(member, ' ');
    }
    if (id)
        keys = keys_of(worker, member, (size_t)(id - member));
    if (!keys) {
        free(calling);
        return;
    }
    later_place_hasten(&cmd, keys,
                       later_reply_seconds(later_reply_at(answer->reply, 1), 0) + HASTEN_SLACK,
                       id + 1);
    if (link_send(worker->main, &cmd, LATER_SCRIPT_HASTEN, LINK_TIMEOUT, on_hastened, calling) < 0)
        free(calling);
    else
        link_flush(worker->main);
}

static void call_next(struct calling *calling)
{
    struct worker *worker = calling->worker;
    struct later_command cmd = { 0 };

    later_place_next(&cmd, worker->config->redis.prefix, calling->lock, calling->name);
    if (link_send(worker->main, &cmd, LATER_SCRIPT_WAIT_NEXT, LINK_TIMEOUT, on_next, calling) < 0)
        free(calling);
    else
        link_flush(worker->main);
}

/* Frees a hold; who waits for it is next. */
static void let_go(struct worker *worker, struct slot_hold *hold)
{
    struct calling *calling = malloc(sizeof *calling);
    struct waits_row *row;

    if (calling) {
        *calling = (struct calling){ .worker = worker, .lock = hold->kind == HOLD_LOCK };
        snprintf(calling->name, sizeof calling->name, "%s", hold->name);
        row = waits_find(worker->waits, calling->lock ? NEED_LOCK : NEED_PLACE, calling->name);
        if (row)
            waits_open(row);
    }
    hold_free(worker, hold);
    if (calling)
        call_next(calling);
}

static bool is_of(const struct slot_hold *hold, const struct later_job *job)
{
    uint32_t state = atomic_load(&hold->state);

    return (state == HOLD_TAKEN || state == HOLD_LOST) &&
           hold->slot == (uint32_t)(job->slot - job->worker->slots->page->slots) &&
           hold->slot_serial == atomic_load(&job->slot->serial);
}

struct slot_hold *gate_held(const struct later_job *job, const char *name)
{
    uint32_t used = job->worker->holding ? slots_holds(job->worker->slots) : 0;

    for (uint32_t i = 0; i < used; i++) {
        struct slot_hold *hold = &job->worker->slots->page->held[i];

        if (hold->kind == HOLD_LOCK && is_of(hold, job) && strcmp(hold->name, name) == 0)
            return hold;
    }
    return NULL;
}

void gate_unlock(struct later_job *job, struct slot_hold *hold)
{
    let_go(job->worker, hold);
}

void gate_free(struct later_job *job)
{
    for (uint32_t i = 0; job->worker->holding && i < slots_holds(job->worker->slots); i++) {
        struct slot_hold *hold = &job->worker->slots->page->held[i];

        if (is_of(hold, job))
            let_go(job->worker, hold);
    }
}
