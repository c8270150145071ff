/* runner.c: a job and the program that runs for it. */
#include "work/runner.h"

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

int runner_begin(struct runner *runner, const struct runner_shared *shared,
                 const struct later_keys *keys, const char *token, const struct later_reserved *job,
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
    bool ours = shared->timeout > 0 && !(doc->timeout > 0);
    double now = later_clock(), timeout = ours ? shared->timeout : policy->timeout;

    *runner = (struct runner){ .keys = keys,
                               .policy = *policy,
                               .attempt = job->attempts + 1,
                               .crashes = job->crashes,
                               .begun = now,
                               .touch_at = now + shared->taker->lease / 3,
                               .timeout_at = now + timeout,
                               .kill_at = INFINITY };
    snprintf(runner->id, sizeof runner->id, "%s", job->id);
    strcpy(runner->type, doc->type);
    snprintf(runner->token, sizeof runner->token, "%s", token);
    later_shard_whole(whole, keys->queue); /* programs need not know about shards */
    snprintf(attempt, sizeof attempt, "%u", (unsigned)runner->attempt);
    runner->pid = child_start(shared->program, variables, job->document, job->document_len, err);
    if (runner->pid < 0)
        return -1;
    runner->state = RUNNER_RUNNING;
    return 0;
}

void runner_stop(struct runner *runner, enum runner_reason reason)
{
    if (runner->state != RUNNER_RUNNING || runner->reason != RUNNER_NOT_STOPPED)
        return;
    runner->reason = reason;
    runner->kill_at = later_clock() + RUNNER_GRACE;
    child_signal(runner->pid, SIGTERM);
    child_signal(runner->pid, SIGCONT); /* a stopped program would not get the signal */
}

void runner_tick(struct runner *runner, double now)
{
    if (runner->state != RUNNER_RUNNING)
        return;
    if (now >= runner->timeout_at)
        runner_stop(runner, RUNNER_TIMED_OUT);
    if (now >= runner->kill_at) {
        child_signal(runner->pid, SIGKILL);
        runner->kill_at = INFINITY;
    }
}

double runner_next(const struct runner *runner, bool away)
{
    double next = away ? runner->kill_at : fmin(runner->touch_at, runner->kill_at);

    if (runner->state != RUNNER_RUNNING)
        return INFINITY;
    return runner->reason == RUNNER_NOT_STOPPED ? fmin(next, runner->timeout_at) : next;
}

int runner_renew(struct runner *runner, const struct runner_shared *shared, struct later_error *err)
{
    struct later_settlement job = { .token = runner->token, .id = runner->id };
    int result;

    result =
        take_settle(shared->cli, runner->keys, LATER_VERB_TOUCH, shared->taker->lease, &job, err);
    if (result < 0)
        return -1;
    runner->touch_at = later_clock() + shared->taker->lease / 3;
    if (result == LATER_E_TOKEN) {
        cli_say(shared->cli, "%s: the reservation is lost; its program is stopped", runner->id);
        runner_stop(runner, RUNNER_LOST);
        runner->reason = RUNNER_LOST; /* this overrides an earlier reason */
        runner->touch_at = INFINITY;
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

/* If the program is killed by a signal that was not ours, the attempt is a crash, as with a
 * worker. */
static enum later_ending ending_of(const struct runner *runner)
{
    int code = WIFEXITED(runner->status) ? WEXITSTATUS(runner->status) : -1;

    if (code == 0)
        return LATER_ENDED_DONE;
    if (runner->reason == RUNNER_INTERRUPTED)
        return LATER_ENDED_INTERRUPTED;
    if (code == STATUS_BURY)
        return LATER_ENDED_BURY;
    if (runner->reason == RUNNER_TIMED_OUT)
        return LATER_ENDED_TIMEOUT;
    return WIFSIGNALED(runner->status) ? LATER_ENDED_CRASH : LATER_ENDED_RETRY;
}

static struct later_verdict runner_judge(const struct runner *runner)
{
    struct later_attempt attempt = { .ending = ending_of(runner),
                                     .number = runner->attempt,
                                     .crashes = runner->crashes,
                                     .max_attempts = runner->policy.max_attempts,
                                     .crash_max = runner->policy.crash_max,
                                     .retry_in = -1,
                                     .backoff = &runner->policy.backoff,
                                     .random = random_bits() };

    return later_verdict_after(&attempt);
}

/* Writes why it failed. */
static void runner_describe(const struct runner *runner, const struct later_verdict *verdict,
                            char *text, size_t room)
{
    if (verdict->ending == LATER_ENDED_TIMEOUT)
        snprintf(text, room, "over its time: %.3g s", runner->timeout_at - runner->begun);
    else
        child_describe(runner->status, text, room);
}

static void runner_say(const struct runner *runner, const struct runner_shared *shared,
                       const struct later_verdict *verdict, const char *text)
{
    enum later_verb verb = later_ending_verb(verdict->ending, verdict->last);
    char wait[32];

    if (verb == LATER_VERB_BURY)
        cli_say(shared->cli, "%s: buried: %s", runner->id, text);
    else if (verb == LATER_VERB_RELEASE)
        cli_say(shared->cli, "%s: %s; again in %s", runner->id, text,
                text_put_age(wait, sizeof wait, verdict->wait));
}

static void runner_tell(const struct runner *runner, const struct runner_shared *shared,
                        const char *result)
{
    later_queue_name whole;
    struct jsonl json;

    if (!shared->cli->json)
        return;
    later_shard_whole(whole, runner->keys->queue);
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", whole);
    jsonl_text(&json, "id", runner->id);
    jsonl_text(&json, "type", runner->type);
    jsonl_int(&json, "attempt", runner->attempt);
    jsonl_text(&json, "result", result);
    jsonl_real(&json, "seconds", later_clock() - runner->begun);
    jsonl_end(&json);
    fflush(stdout);
}

static int runner_send_verdict(const struct runner *runner, const struct runner_shared *shared,
                               const struct later_verdict *verdict, const char *text,
                               struct later_error *err)
{
    struct later_settlement settlement = { .token = runner->token,
                                           .id = runner->id,
                                           .wait = verdict->wait,
                                           .how = later_endings[verdict->ending].how };
    char *error = take_error(verdict->ending, text);
    int result;

    settlement.error = error;
    result = take_settle(shared->cli, runner->keys,
                         later_ending_verb(verdict->ending, verdict->last), 0, &settlement, err);
    free(error);
    return result;
}

int runner_settle(struct runner *runner, const struct runner_shared *shared,
                  struct later_error *err)
{
    struct later_verdict verdict = runner_judge(runner);
    int result = LATER_E_TOKEN;
    char text[200] = "";

    runner_describe(runner, &verdict, text, sizeof text);
    if (runner->reason != RUNNER_LOST)
        result = runner_send_verdict(runner, shared, &verdict, text, err);
    if (result < 0) {
        runner->again = true;
        return -1;
    }
    if (result == LATER_OK) {
        runner_say(runner, shared, &verdict, text);
        runner_tell(runner, shared,
                    later_verb_past(later_ending_verb(verdict.ending, verdict.last)));
    } else {
        if (runner->reason != RUNNER_LOST && !runner->again)
            cli_say(shared->cli, "%s: the reservation is lost; its result is not counted",
                    runner->id);
        runner_tell(runner, shared, runner->again ? "unknown" : "lost");
    }
    runner->state = RUNNER_FREE;
    return 0;
}
