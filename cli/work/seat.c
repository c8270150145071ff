/* seat.c: one job and the program that runs for it. */
#include "work/seat.h"

#include "work/child.h"
#include "base/clock.h"
#include "output/jsonl.h"
#include "queue/shards.h"
#include "text.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>

#define STATUS_BURY 65

int seat_begin(struct seat *seat, const struct seating *seating, const struct later_keys *keys,
               const char *token, const struct later_reserved *job,
               const struct later_document *doc, struct later_error *err)
{
    char attempt[16];
    later_queue_name whole;
    struct child_variable variables[] = { { "LATER_ID", job->id },
                                          { "LATER_TYPE", doc->type },
                                          { "LATER_QUEUE", whole },
                                          { "LATER_ATTEMPT", attempt },
                                          { NULL, NULL } };
    double now = later_clock(), timeout = doc->timeout > 0 ? doc->timeout : seating->timeout;

    *seat = (struct seat){ .keys = keys,
                           .doc = *doc,
                           .attempt = job->attempts + 1,
                           .begun = now,
                           .touch_at = now + seating->taker->lease / 3,
                           .timeout_at = now + timeout,
                           .kill_at = INFINITY };
    snprintf(seat->id, sizeof seat->id, "%s", job->id);
    snprintf(seat->token, sizeof seat->token, "%s", token);
    snprintf(seat->score, sizeof seat->score, "%s", job->score);
    later_shard_whole(whole, keys->queue); /* the programs need not know of shards */
    snprintf(attempt, sizeof attempt, "%u", (unsigned)seat->attempt);
    seat->pid = child_start(seating->program, variables, job->document, job->document_len, err);
    if (seat->pid < 0)
        return -1;
    seat->state = SEAT_RUNNING;
    return 0;
}

void seat_stop(struct seat *seat, enum seat_reason reason)
{
    if (seat->state != SEAT_RUNNING || seat->reason != SEAT_NOT_STOPPED)
        return;
    seat->reason = reason;
    seat->kill_at = later_clock() + SEAT_GRACE;
    child_signal(seat->pid, SIGTERM);
    child_signal(seat->pid, SIGCONT); /* one that is stopped would not hear it */
}

void seat_tick(struct seat *seat, double now)
{
    if (seat->state != SEAT_RUNNING)
        return;
    if (now >= seat->timeout_at)
        seat_stop(seat, SEAT_TIMED_OUT);
    if (now >= seat->kill_at) {
        child_signal(seat->pid, SIGKILL);
        seat->kill_at = INFINITY;
    }
}

double seat_next(const struct seat *seat, bool away)
{
    double next = away ? seat->kill_at : fmin(seat->touch_at, seat->kill_at);

    if (seat->state != SEAT_RUNNING)
        return INFINITY;
    return seat->reason == SEAT_NOT_STOPPED ? fmin(next, seat->timeout_at) : next;
}

int seat_renew(struct seat *seat, const struct seating *seating, struct later_error *err)
{
    struct later_settlement job = { .token = seat->token, .id = seat->id };
    int result;

    result =
        take_settle(seating->cli, seat->keys, LATER_VERB_TOUCH, seating->taker->lease, &job, err);
    if (result < 0)
        return -1;
    seat->touch_at = later_clock() + seating->taker->lease / 3;
    if (result == LATER_E_TOKEN) {
        cli_say(seating->cli, "%s: the reservation is lost; its program is stopped", seat->id);
        seat_stop(seat, SEAT_LOST);
        seat->reason = SEAT_LOST; /* whatever it was stopped for before */
        seat->touch_at = INFINITY;
    }
    return 0;
}

/* --- the end --- */

/* What becomes of it, and why, in words. */
struct ending {
    struct later_settlement settlement;
    enum later_verb verb;
    const char *result, *kind;
    char text[200];
};

static double wait_before_next(const struct seat *seat)
{
    struct later_backoff backoff = { .base = 1, .max = 3600, .jitter = 0.25 };
    const struct later_backoff *said = &seat->doc.backoff;
    uint64_t random = 0;

    (void)!getrandom(&random, sizeof random, 0);
    if (seat->doc.has_backoff && said->list_count > 0) {
        backoff = *said;
    } else if (seat->doc.has_backoff) {
        backoff.base = said->base >= 0 ? said->base : backoff.base;
        backoff.max = said->max >= 0 ? said->max : fmax(backoff.max, backoff.base);
    }
    return later_backoff_delay(&backoff, seat->attempt, random);
}

static void describe(const struct seat *seat, struct ending *ending)
{
    ending->kind = "retry";
    child_describe(seat->status, ending->text, sizeof ending->text);
    if (WIFSIGNALED(seat->status))
        ending->kind = "crash";
    if (seat->reason != SEAT_TIMED_OUT)
        return;
    ending->kind = "timeout";
    snprintf(ending->text, sizeof ending->text, "over its time: %.3g s",
             seat->timeout_at - seat->begun);
}

static void decide(const struct seat *seat, struct ending *ending)
{
    bool exited = WIFEXITED(seat->status);
    int code = exited ? WEXITSTATUS(seat->status) : -1;

    *ending = (struct ending){ .settlement = { .token = seat->token, .id = seat->id } };
    if (exited && code == 0) {
        ending->verb = LATER_VERB_ACK;
        ending->result = "acked";
    } else if (seat->reason == SEAT_INTERRUPTED) {
        ending->verb = LATER_VERB_RETURN;
        ending->result = "returned";
        ending->settlement.score = seat->score;
        ending->settlement.how = "interrupted";
    } else if (code == STATUS_BURY || seat->attempt >= seat->doc.max_attempts) {
        ending->verb = LATER_VERB_BURY;
        ending->result = "buried";
        describe(seat, ending);
    } else {
        ending->verb = LATER_VERB_RELEASE;
        ending->result = "released";
        ending->settlement.wait = wait_before_next(seat);
        describe(seat, ending);
    }
}

static void tell(const struct seat *seat, const struct seating *seating,
                 const struct ending *ending, const char *result)
{
    later_queue_name whole;
    struct jsonl json;
    char wait[32];

    if (ending->verb == LATER_VERB_BURY)
        cli_say(seating->cli, "%s: buried: %s", seat->id, ending->text);
    else if (ending->verb == LATER_VERB_RELEASE)
        cli_say(seating->cli, "%s: %s; again in %s", seat->id, ending->text,
                text_put_age(wait, sizeof wait, ending->settlement.wait));
    if (!seating->cli->json)
        return;
    later_shard_whole(whole, seat->keys->queue);
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", whole);
    jsonl_text(&json, "id", seat->id);
    jsonl_text(&json, "type", seat->doc.type);
    jsonl_int(&json, "attempt", seat->attempt);
    jsonl_text(&json, "result", result);
    jsonl_real(&json, "seconds", later_clock() - seat->begun);
    jsonl_end(&json);
    fflush(stdout);
}

int seat_settle(struct seat *seat, const struct seating *seating, struct later_error *err)
{
    struct ending ending;
    char *error = NULL;
    int result = LATER_E_TOKEN;

    decide(seat, &ending);
    if (ending.kind)
        error = take_error(ending.kind, ending.text);
    ending.settlement.error = error;
    if (seat->reason != SEAT_LOST)
        result = take_settle(seating->cli, seat->keys, ending.verb, 0, &ending.settlement, err);
    free(error);
    if (result < 0) {
        seat->again = true;
        return -1;
    }
    if (result == LATER_OK) {
        tell(seat, seating, &ending, ending.result);
    } else {
        if (seat->reason != SEAT_LOST && !seat->again)
            cli_say(seating->cli, "%s: the reservation is lost; its result is not counted",
                    seat->id);
        ending.verb = LATER_VERB_ACK; /* no more words */
        tell(seat, seating, &ending, seat->again ? "unknown" : "lost");
    }
    seat->state = SEAT_FREE;
    return 0;
}
