/* verdict.c: decides whether a job may run, and what follows an attempt. */
#include "job/verdict.h"

#include <math.h>

/* No wait is shorter than `least`. */
static void lift(struct later_backoff *backoff, double least)
{
    for (uint32_t i = 0; i < backoff->list_count; i++)
        backoff->list[i] = fmax(backoff->list[i], least);
    backoff->base = fmax(backoff->base, least);
    backoff->max = fmax(backoff->max, least);
}

void later_policy_apply(struct later_policy *policy, const struct later_document *doc)
{
    const struct later_ceiling *ceiling = &policy->ceiling;
    struct later_backoff *backoff = &policy->backoff;

    if (doc->max_attempts)
        policy->max_attempts = doc->max_attempts;
    if (doc->max_attempts > ceiling->attempts && ceiling->attempts > 0)
        policy->max_attempts = ceiling->attempts;
    if (doc->timeout > 0)
        policy->timeout =
            ceiling->timeout > 0 ? fmin(doc->timeout, ceiling->timeout) : doc->timeout;
    if (doc->has_backoff && doc->backoff.list_count) {
        *backoff = doc->backoff;
    } else if (doc->has_backoff) {
        backoff->list_count = 0;
        if (doc->backoff.base >= 0)
            backoff->base = doc->backoff.base;
        if (doc->backoff.max >= 0)
            backoff->max = doc->backoff.max;
        /* If a document sets a base above our cap, the base counts. */
        else if (backoff->max < backoff->base)
            backoff->max = backoff->base;
    }
    if (doc->has_backoff)
        lift(backoff, ceiling->wait);
}

enum later_fitness later_verdict_before(const struct later_policy *policy,
                                        const struct later_document *doc, uint32_t attempts,
                                        int32_t crashes, bool begun, double now)
{
    if (!begun && doc->expires_at > 0 && now >= doc->expires_at)
        return LATER_FIT_EXPIRED;
    if (attempts >= policy->max_attempts || (crashes > 0 && (uint32_t)crashes >= policy->crash_max))
        return LATER_FIT_USED_UP;
    return LATER_FIT;
}

/* --- after an attempt --- */

static bool verdict_is_last(const struct later_attempt *attempt)
{
    uint32_t crashes = attempt->crashes > 0 ? (uint32_t)attempt->crashes : 0;

    if (later_endings[attempt->ending].verb != LATER_VERB_RELEASE)
        return false;
    if (attempt->too_late || (attempt->max_attempts && attempt->number >= attempt->max_attempts))
        return true;
    return attempt->ending == LATER_ENDED_CRASH && attempt->crash_max &&
           crashes + 1 >= attempt->crash_max;
}

/* Only a worker's death leaves it open which of its jobs was to blame, if several ran. */
static bool is_suspect(const struct later_attempt *attempt)
{
    return attempt->beside_others &&
           (attempt->ending == LATER_ENDED_CRASH || attempt->ending == LATER_ENDED_TIMEOUT ||
            attempt->ending == LATER_ENDED_LEFT);
}

double later_verdict_backoff(const struct later_backoff *backoff, uint32_t number, int32_t crashes,
                             uint64_t random)
{
    return later_backoff_delay(backoff, crashes > 0 && number > 0 ? number - 1 : number, random);
}

/* A first crash has no backoff: a neighbour or laterd itself may be to blame. */
static double wait_after(const struct later_attempt *attempt)
{
    uint32_t number = attempt->ending == LATER_ENDED_RETURNED ? 1 : attempt->number;

    if (attempt->ending == LATER_ENDED_LEFT ||
        (attempt->ending == LATER_ENDED_CRASH && attempt->crashes <= 0))
        return 0;
    if (attempt->retry_in >= 0) /* NaN is not */
        return attempt->retry_in;
    if (!attempt->backoff)
        return 0;
    return later_verdict_backoff(attempt->backoff, number, attempt->crashes, attempt->random);
}

static double with_floor(const struct later_attempt *attempt, double wait)
{
    return attempt->number >= LATER_FLOOR_ATTEMPT ? fmax(wait, LATER_FLOOR_SECONDS) : wait;
}

struct later_verdict later_verdict_after(const struct later_attempt *attempt)
{
    struct later_verdict verdict = { .ending = attempt->ending, .last = verdict_is_last(attempt) };

    if (is_suspect(attempt))
        return (struct later_verdict){ .ending = LATER_ENDED_SUSPECT };
    if (attempt->ending == LATER_ENDED_RETURNED)
        verdict.wait = wait_after(attempt);
    else if (later_ending_verb(attempt->ending, verdict.last) == LATER_VERB_RELEASE)
        verdict.wait = with_floor(attempt, wait_after(attempt));
    return verdict;
}
