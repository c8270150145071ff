/* aftermath.c: settles what dead workers left. */
#include "keeper/aftermath.h"

#include "base/clock.h"
#include "reservation/find.h"
#include "keeper/lock_leases.h"
#include "log.h"
#include "job/verdict.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>

#define PASSES       2
#define PASS_SECONDS 1 /* between looks for lost reserves */

struct remains {
    struct aftermath *aftermath;
    struct slots *slots;
    size_t finds; /* searches for lost reserves, and freeings, under way */
    int pass;     /* how many passes are complete */
    bool failed;  /* a search of this pass failed */
    struct timer *timer;
    struct remains *next;
};

struct aftermath {
    struct event_base *base;
    struct link *link;
    struct line *line;
    char prefix[LATER_PREFIX_MAX + 1];
    struct outbox *outbox;
    outbox_keys_fn *keys;
    void (*buried)(void *arg, struct slots *slots);
    void *arg;
    struct remains *list;
};

void aftermath_judge(struct slot *slot, bool others, enum later_ending ending, const char *text,
                     uint32_t crash_max)
{
    struct later_attempt attempt = { .ending = ending,
                                     .beside_others = others && slot->event,
                                     .number = slot->attempt,
                                     .crashes = slot->crashes,
                                     .max_attempts = slot->max_attempts,
                                     .crash_max = crash_max,
                                     .too_late = slot_too_late(slot, later_clock()),
                                     .retry_in = slot->retry_in };
    struct later_verdict verdict = later_verdict_after(&attempt);

    if (ending == LATER_ENDED_CRASH || ending == LATER_ENDED_TIMEOUT)
        slot->ran = later_clock() - slot->began;
    slot_finish(slot, verdict, later_endings[verdict.ending].kind ? text : "");
}

static void aftermath_check(struct remains *remains);

static void aftermath_on_found(void *arg, bool ok)
{
    struct remains *remains = arg;

    remains->finds--;
    remains->failed = remains->failed || !ok;
    if (remains->finds == 0 && !remains->failed)
        remains->pass++;
    aftermath_check(remains);
}

/* --- locks and permits --- */

struct freeing {
    struct remains *remains;
    struct lock_lease *lease;
};

static void aftermath_on_freed(void *arg, struct later_answer *answer)
{
    struct freeing *freeing = arg;
    struct remains *remains = freeing->remains;
    bool refused = answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON;
    bool asked = atomic_load(&freeing->lease->state) == LEASE_ASKED;

    if (refused) /* a key of another type: only an expiry can end it */
        log_line(LOG_WARN, "redis refuses to free what a dead job held: %s", answer->text);
    if (refused || (answer->outcome == LATER_ANSWERED && !(asked && remains->pass == 0)))
        atomic_store(&freeing->lease->state, LEASE_NONE);
    free(freeing);
    aftermath_on_found(remains, refused || answer->outcome == LATER_ANSWERED);
}

static int free_lease(struct remains *remains, struct lock_lease *lease)
{
    struct freeing *freeing = malloc(sizeof *freeing);
    struct later_command cmd = { 0 };

    if (!freeing)
        return -1;
    *freeing = (struct freeing){ remains, lease };
    if (!lock_lease_free_command(lease, remains->aftermath->prefix, &cmd)) {
        atomic_store(&lease->state, LEASE_NONE); /* its name is lost: it ends by its ttl */
        free(freeing);
        return 0;
    }
    if (link_send(remains->aftermath->link, &cmd, LINK_TIMEOUT, aftermath_on_freed, freeing) < 0) {
        free(freeing);
        return -1;
    }
    lock_lease_call_next(lease, remains->aftermath->line);
    remains->finds++;
    return 0;
}

/* Frees the locks and permits. Returns whether there are any. */
static bool free_leases(struct remains *remains)
{
    uint32_t used = slots_lock_leases(remains->slots);
    bool any = false;

    for (uint32_t i = 0; i < used; i++) {
        struct lock_lease *lease = &remains->slots->page->lock_leases[i];

        if (atomic_load(&lease->state) == LEASE_NONE)
            continue;
        any = true;
        if (free_lease(remains, lease) < 0)
            remains->failed = true;
    }
    if (any) {
        line_flush(remains->aftermath->line);
        link_flush(remains->aftermath->link);
    }
    return any;
}

/* --- reserves without an answer --- */

/* Looks for every reserve without an answer. If there is none, and nothing to free, the passes are
 * over. */
static void aftermath_look(struct remains *remains)
{
    struct slots_page *page = remains->slots->page;
    bool any = false;

    remains->failed = false;
    any = free_leases(remains);
    for (uint32_t i = 0; i < SLOTS_CALLS; i++) {
        struct slot_call *call = &page->calls[i];
        const struct later_keys *keys;

        if (!atomic_load(&call->asked))
            continue;
        keys = remains->aftermath->keys(remains->aftermath->arg, remains->slots, call->queue);
        if (!keys)
            continue; /* no such queue, or no memory: its jobs will lapse */
        any = true;
        if (find_and_return(remains->aftermath->link, keys, call->token, aftermath_on_found,
                            remains) == 0)
            remains->finds++;
        else
            remains->failed = true;
    }
    if (!any)
        remains->pass = PASSES;
}

static void aftermath_on_timer(void *arg)
{
    struct remains *remains = arg;

    if (remains->finds == 0)
        aftermath_look(remains);
    aftermath_check(remains);
}

static void aftermath_bury(struct remains *remains)
{
    struct aftermath *aftermath = remains->aftermath;
    struct remains **link = &aftermath->list;

    while (*link != remains)
        link = &(*link)->next;
    *link = remains->next;
    timer_free(remains->timer);
    aftermath->buried(aftermath->arg, remains->slots);
    free(remains);
}

/* Goes on with what is next, or ends. */
static void aftermath_check(struct remains *remains)
{
    if (remains->slots->in_outbox == 0 && remains->finds == 0 && remains->pass >= PASSES)
        aftermath_bury(remains);
    else if (remains->finds == 0 && remains->pass < PASSES)
        timer_in(remains->timer, PASS_SECONDS);
}

/* The last line that it logged may say why it died. */
static void judge_with_log(struct slot *slot, bool others, enum later_ending ending,
                           const char *text, uint32_t crash_max)
{
    char words[SLOT_TEXT + 1];

    slot->text[SLOT_TEXT] = '\0'; /* a SIGKILL may have come while it was written */
    snprintf(words, sizeof words, "%.160s%s%.800s", text, slot->text[0] ? "; last log line: " : "",
             slot->text);
    aftermath_judge(slot, others, ending, words, crash_max);
}

/* Logs how the job in this slot has ended. */
static void aftermath_tell(const struct slots *slots, const struct slot *slot, const char *text)
{
    struct slot_words words;
    const struct log_job *job = slot_log_fields(slots, slot, &words);

    if (atomic_load(&slot->cancelled) == SLOT_WITHDRAWN) /* Redis will not accept anything for it */
        log_job(LOG_WARN, job, "ended: %s", text);
    else
        slot_log_end(slot, job, text);
}

/* Counts the attempt where its worker would have. A suspect counts as interrupted. */
static void count_attempt(struct slots *slots, const struct slot *slot, enum later_ending ending)
{
    double seconds = ending == LATER_ENDED_LEFT ? -1 : later_clock() - slot->began;
    enum later_outcome counted = slot_counted(slot);
    struct slot_words words;
    struct counts *row;

    (void)slot_log_fields(slots, slot, &words);
    row = counts_row(&slots->page->counts, slot->queue % SLOTS_QUEUES, words.type, NULL);
    if (row && counted < LATER_OUTCOMES)
        counts_add(row, counted, -1, seconds);
}

/* Decides what to do about one slot, and puts it into the outbox. */
static void aftermath_settle(struct remains *remains, struct slot *slot, bool others,
                             enum later_ending ending, const char *text, uint32_t crash_max)
{
    struct slots *slots = remains->slots;
    bool ran = slot_state(slot) == SLOT_RUNNING && slot->began > 0;

    switch (slot_state(slot)) {
    case SLOT_HELD:
        slot_return(slot, 0);
        break;
    case SLOT_RUNNING:
        if (ran)
            judge_with_log(slot, others, ending, text, crash_max);
        else /* its handler had not begun */
            slot_return(slot, 0);
        break;
    case SLOT_FINISHED:
        break;
    case SLOT_RETURNING:
        if (ending != LATER_ENDED_LEFT)
            return; /* it is in the outbox already */
        /* An earlier keeper may have died between writing the state and the ending, which may
         * then be of the slot's last job, even `done`. */
        slot_return(slot, 0);
        break;
    case SLOT_FREE:
        return;
    }
    if (ran) {
        aftermath_tell(slots, slot, text);
        count_attempt(slots, slot, ending);
    }
    atomic_store(&slot->state, SLOT_FINISHED);
    outbox_add(remains->aftermath->outbox, slots, slot);
}

static size_t aftermath_running(struct slots *slots)
{
    size_t found = 0;

    for (uint32_t i = 0; i < slots->capacity; i++)
        found += slot_state(&slots->page->slots[i]) == SLOT_RUNNING;
    return found;
}

void aftermath_take(struct aftermath *aftermath, struct slots *slots, enum later_ending ending,
                    const char *text, uint32_t crash_max)
{
    struct remains *remains = calloc(1, sizeof *remains);
    bool others = aftermath_running(slots) > 1;

    if (!remains || !(remains->timer = timer_new(aftermath->base, aftermath_on_timer, remains))) {
        log_line(LOG_ERROR, "no memory to settle %s: its leases will lapse", slots->path);
        free(remains);
        if (slots->in_outbox == 0) /* else it stays mapped for good */
            aftermath->buried(aftermath->arg, slots);
        return;
    }
    remains->aftermath = aftermath;
    remains->slots = slots;
    remains->next = aftermath->list;
    aftermath->list = remains;
    for (uint32_t i = 0; i < slots->capacity; i++)
        aftermath_settle(remains, &slots->page->slots[i], others, ending, text, crash_max);
    aftermath_look(remains);
    aftermath_check(remains);
}

/* Who waits for a limit comes by itself when it opens. Of permits we do not know how many there
 * are: if there is one it calls, and else whoever gives one back. */
static void aftermath_enter(struct aftermath *aftermath, struct slots *slots, struct slot *slot)
{
    const struct later_keys *keys = aftermath->keys(aftermath->arg, slots, slot->queue);
    struct line_question *entry;
    char text[SLOT_TEXT + 1];
    struct slot_copy copy;
    struct later_line line;

    slot_copy(slot, LATER_VERB_RETURN, &copy);
    slot_copy_text(slot, text);
    atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
    if (!keys || copy.wait < LATER_WAIT_TIME || !later_line_unlimited(text, &line) ||
        line.what == LATER_LINE_LIMIT)
        return;
    line.max = 1;
    entry = line_entry(aftermath->line, &line, copy.wait, 0, keys->queue, copy.id);
    if (!entry)
        return;
    line_enter(entry, NULL);
    line_flush(aftermath->line);
    link_flush(aftermath->link);
}

void aftermath_settled(struct aftermath *aftermath, struct slots *slots, struct slot *slot)
{
    if (slot_ending(slot) == LATER_ENDED_LINE)
        aftermath_enter(aftermath, slots, slot);
    for (struct remains *remains = aftermath->list; remains; remains = remains->next) {
        if (remains->slots != slots)
            continue;
        aftermath_check(remains);
        return;
    }
}

void aftermath_link_up(struct aftermath *aftermath)
{
    for (struct remains *remains = aftermath->list; remains; remains = remains->next) {
        if (remains->finds == 0 && remains->pass < PASSES)
            timer_in(remains->timer, 0);
    }
}

size_t aftermath_open(const struct aftermath *aftermath)
{
    size_t open = 0;

    for (const struct remains *remains = aftermath->list; remains; remains = remains->next)
        open++;
    return open;
}

void aftermath_each(const struct aftermath *aftermath, void (*fn)(void *arg, struct slots *slots),
                    void *arg)
{
    for (const struct remains *remains = aftermath->list; remains; remains = remains->next)
        fn(arg, remains->slots);
}

struct aftermath *aftermath_new(struct event_base *base, struct link *link, const char *prefix,
                                struct outbox *outbox, outbox_keys_fn *keys,
                                void (*buried)(void *arg, struct slots *slots), void *arg)
{
    struct aftermath *aftermath = calloc(1, sizeof *aftermath);

    if (!aftermath)
        return NULL;
    *aftermath = (struct aftermath){
        .base = base, .link = link, .outbox = outbox, .keys = keys, .buried = buried, .arg = arg
    };
    snprintf(aftermath->prefix, sizeof aftermath->prefix, "%s", prefix);
    aftermath->line = line_new(base, link, aftermath->prefix, NULL, NULL);
    if (aftermath->line)
        return aftermath;
    free(aftermath);
    return NULL;
}

void aftermath_free(struct aftermath *aftermath)
{
    struct remains *next;

    if (!aftermath)
        return;
    for (struct remains *remains = aftermath->list; remains; remains = next) {
        next = remains->next;
        timer_free(remains->timer);
        free(remains);
    }
    line_free(aftermath->line);
    free(aftermath);
}
