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
               const struct later_document *doc, const struct later_policy *policy,
               struct later_error *err)
{
    char attempt[16];
    later_queue_name whole;
    struct child_variable variables[] = { { "LATER_ID", job->id },
                                          { "LATER_TYPE", doc->type },
                                          { "LATER_QUEUE", whole },
                                          { "LATER_ATTEMPT", attempt },
                                          { NULL, NULL } };
    bool ours = seating->timeout > 0 && !(doc->timeout > 0);
    double now = later_clock(), timeout = ours ? seating->timeout : policy->timeout;

    *seat = (struct seat){ .keys = keys,
                           .policy = *policy,
                           .attempt = job->attempts + 1,
                           .crashes = job->crashes,
                           .begun = now,
                           .touch_at = now + seating->taker->lease / 3,
                           .timeout_at = now + timeout,
                           .kill_at = INFINITY };
    snprintf(seat->id, sizeof seat->id, "%s", job->id);
    strcpy(seat->type, doc->type);
    snprintf(seat->token, sizeof seat->token, "%s", token);
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

static uint64_t random_bits(void)
{
    uint64_t random = 0;

    (void)!getrandom(&random, sizeof random, 0);
    return random;
}

/* A program that is killed by a signal of its own is a crash, as a worker is. */
static enum later_ending ending_of(const struct seat *seat)
{
    int code = WIFEXITED(seat->status) ? WEXITSTATUS(seat->status) : -1;

    if (code == 0)
        return LATER_ENDED_DONE;
    if (seat->reason == SEAT_INTERRUPTED)
        return LATER_ENDED_INTERRUPTED;
    if (code == STATUS_BURY)
        return LATER_ENDED_BURY;
    if (seat->reason == SEAT_TIMED_OUT)
        return LATER_ENDED_TIMEOUT;
    return WIFSIGNALED(seat->status) ? LATER_ENDED_CRASH : LATER_ENDED_RETRY;
}

static struct later_verdict judge(const struct seat *seat)
{
    struct later_attempt attempt = { .ending = ending_of(seat),
                                     .number = seat->attempt,
                                     .crashes = seat->crashes,
                                     .max_attempts = seat->policy.max_attempts,
                                     .crash_max = seat->policy.crash_max,
                                     .retry_in = -1,
                                     .backoff = &seat->policy.backoff,
                                     .random = random_bits() };

    return later_verdict_after(&attempt);
}

/* Why it failed, in words. */
static void describe(const struct seat *seat, const struct later_verdict *verdict, char *text,
                     size_t room)
{
    if (strcmp(verdict->kind, "timeout") == 0)
        snprintf(text, room, "over its time: %.3g s", seat->timeout_at - seat->begun);
    else
        child_describe(seat->status, text, room);
}

static void say(const struct seat *seat, const struct seating *seating,
                const struct later_verdict *verdict, const char *text)
{
    char wait[32];

    if (verdict->verb == LATER_VERB_BURY)
        cli_say(seating->cli, "%s: buried: %s", seat->id, text);
    else if (verdict->verb == LATER_VERB_RELEASE)
        cli_say(seating->cli, "%s: %s; again in %s", seat->id, text,
                text_put_age(wait, sizeof wait, verdict->wait));
}

static void tell(const struct seat *seat, const struct seating *seating, const char *result)
{
    later_queue_name whole;
    struct jsonl json;

    if (!seating->cli->json)
        return;
    later_shard_whole(whole, seat->keys->queue);
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", whole);
    jsonl_text(&json, "id", seat->id);
    jsonl_text(&json, "type", seat->type);
    jsonl_int(&json, "attempt", seat->attempt);
    jsonl_text(&json, "result", result);
    jsonl_real(&json, "seconds", later_clock() - seat->begun);
    jsonl_end(&json);
    fflush(stdout);
}

static int settle(const struct seat *seat, const struct seating *seating,
                  const struct later_verdict *verdict, const char *text, struct later_error *err)
{
    struct later_settlement settlement = { .token = seat->token,
                                           .id = seat->id,
                                           .wait = verdict->wait,

                                           .how = verdict->how };
    char *error = verdict->kind[0] ? take_error(verdict->kind, text) : NULL;
    int result;

    settlement.error = error;
    result = take_settle(seating->cli, seat->keys, verdict->verb, 0, &settlement, err);
    free(error);
    return result;
}

int seat_settle(struct seat *seat, const struct seating *seating, struct later_error *err)
{
    static const char *const results[] = { [LATER_VERB_ACK] = "acked",
                                           [LATER_VERB_RELEASE] = "released",
                                           [LATER_VERB_RETURN] = "returned",
                                           [LATER_VERB_BURY] = "buried" };
    struct later_verdict verdict = judge(seat);
    int result = LATER_E_TOKEN;
    char text[200] = "";

    describe(seat, &verdict, text, sizeof text);
    if (seat->reason != SEAT_LOST)
        result = settle(seat, seating, &verdict, text, err);
    if (result < 0) {
        seat->again = true;
        return -1;
    }
    if (result == LATER_OK) {
        say(seat, seating, &verdict, text);
        tell(seat, seating, results[verdict.verb]);
    } else {
        if (seat->reason != SEAT_LOST && !seat->again)
            cli_say(seating->cli, "%s: the reservation is lost; its result is not counted",
                    seat->id);
        tell(seat, seating, seat->again ? "unknown" : "lost");
    }
    seat->state = SEAT_FREE;
    return 0;
}
