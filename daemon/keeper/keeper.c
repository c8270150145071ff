/* keeper.c: renews the leases of living workers, settles for dead ones. */
#include "keeper/keeper.h"

#include "base/clock.h"
#include "reservation/find.h"
#include "keeper/aftermath.h"
#include "keeper/lock_leases.h"
#include "keeper/reports.h"
#include "fault.h"
#include "log.h"
#include "queues/queues.h"
#include "reservation/outbox.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCAN_SECONDS   0.050 /* between looks at the pages while a worker is busy */
#define BEHIND_SECONDS 0.050 /* jobs that wait behind a longer job are given back */
#define DRAIN_SECONDS  10    /* at most, until a worker that is to drain reserves no more */
#define CANCEL_SECONDS 1.0   /* for a handler to give up a job that somebody has cancelled */
#define AGAIN_SECONDS  0.5   /* before leases are renewed again after Redis refused */
#define SEEK_SECONDS   1.0   /* between looks for what a reserve took whose answer is not read */

/* The page of a living worker. */
struct living {
    struct slots *slots;
    int64_t beat;  /* the last heartbeat that was seen */
    unsigned same; /* looks since then, with event jobs in flight */
    double sought; /* when it was looked for what its unread reserves took */
};

/* The part of a queue whose jobs workers hold; it is there until the end. On a Redis Cluster its
 * node may be away while others are not, so each queue is renewed by itself. */
struct leases {
    const struct later_keys *keys;
    struct leases *next;
    size_t touching;       /* calls without an answer */
    struct touching *made; /* of the page that is looked at; not sent yet */
    double again;          /* when to renew its leases again; INFINITY = in the next round */
    bool now;              /* it is renewed in this round */
    struct fault refused;
};

struct keeper {
    struct keeper_options options;
    struct queues *queues;
    const struct config *config;
    struct link *link;
    struct outbox *outbox;
    struct aftermath *aftermath;
    struct lock_leases *lock_leases;
    struct reports *reports;
    struct timer *scan;
    struct living *pages;
    size_t page_count;
    struct leases *first;      /* of all queues that were seen in pages */
    double touched;            /* the last round: when all leases were renewed */
    double brisk, brisk_until; /* seconds between rounds after a reload, and until when */
};

/* --- keys --- */

static struct leases *leases_of(struct keeper *keeper, struct slots *slots, uint32_t number)
{
    char name[LATER_QUEUE_MAX + 1];
    struct queue *queue;
    struct leases *leases;

    if (!slots_queue_name(slots, number, name) || !later_key_shard_valid(name) ||
        !(queue = queues_need(keeper->queues, name)))
        return NULL;
    leases = queue->leases;
    if (leases || !(leases = malloc(sizeof *leases)))
        return leases;
    *leases = (struct leases){
        .keys = &queue->keys, .next = keeper->first, .again = INFINITY, .now = true
    };
    return keeper->first = queue->leases = leases;
}

static const struct later_keys *keeper_keys_of(void *arg, struct slots *slots, uint32_t queue)
{
    const struct leases *leases = leases_of(arg, slots, queue);

    return leases ? leases->keys : NULL;
}

/* --- renewing --- */

struct touched {
    uint64_t page; /* its number */
    struct slot *slot;
    uint32_t serial;
};

/* One touch without an answer. */
struct touching {
    struct keeper *keeper;
    struct leases *leases;
    struct touching *next, *unsent; /* the next one of this queue; of the page */
    double lease_end;
    char token[LATER_TOKEN_LEN + 1];
    size_t count;
    struct touched items[LATER_BATCH_MAX];
};

static bool watched(const void *arg, uint64_t page)
{
    const struct keeper *keeper = arg;

    for (size_t i = 0; i < keeper->page_count; i++) {
        if (keeper->pages[i].slots->number == page)
            return true;
    }
    return false;
}

static void on_touched(void *arg, struct later_answer *answer)
{
    struct touching *touching = arg;
    struct keeper *keeper = touching->keeper;
    size_t cursor = 0;

    touching->leases->touching--;
    for (size_t i = 0; i < touching->count && answer->outcome == LATER_ANSWERED; i++) {
        struct touched *item = &touching->items[i];
        bool lost = later_queue_lost(answer->reply, i, &cursor);

        /* By now the page may be gone, or the slot another job's. */
        if (!watched(keeper, item->page) || atomic_load(&item->slot->serial) != item->serial)
            continue;
        if (lost)
            atomic_store(&item->slot->cancelled, SLOT_WITHDRAWN);
        else
            atomic_store(&item->slot->lease_end, (int64_t)(touching->lease_end * 1e6));
    }
    fault_judge(&touching->leases->refused, answer, LOG_WARN, "redis refuses to renew leases: %s",
                answer->text);
    if (answer->outcome != LATER_ANSWERED)
        touching->leases->again = later_clock() + AGAIN_SECONDS;
    free(touching);
}

static void send_touch(struct touching *touching)
{
    struct keeper *keeper = touching->keeper;
    struct slot_copy *copies = malloc(touching->count * sizeof *copies);
    struct later_settlement jobs[LATER_BATCH_MAX];
    struct later_command cmd = { 0 };

    if (!copies) { /* it is tried again a third of a lease later */
        free(touching);
        return;
    }
    for (size_t i = 0; i < touching->count; i++) {
        slot_copy(touching->items[i].slot, LATER_VERB_TOUCH, &copies[i]);
        jobs[i] = (struct later_settlement){ .token = touching->token, .id = copies[i].id };
    }
    touching->lease_end = later_clock() + keeper->config->lease;
    later_queue_settle(&cmd, touching->leases->keys, LATER_VERB_TOUCH, keeper->config->lease, jobs,
                       touching->count);
    free(copies);
    if (link_send(keeper->link, &cmd, LINK_TIMEOUT, on_touched, touching) < 0)
        free(touching);
    else
        touching->leases->touching++;
}

/* Finds the call for the slot's token among those being made, or adds one. NULL: no memory. */
static struct touching *touching_of(struct keeper *keeper, struct leases *leases,
                                    struct touching **unsent, const struct slot *slot)
{
    struct touching *touching = leases->made;

    while (touching &&
           (strcmp(touching->token, slot->token) != 0 || touching->count == LATER_BATCH_MAX))
        touching = touching->next;
    if (touching || !(touching = malloc(sizeof *touching)))
        return touching;
    touching->keeper = keeper;
    touching->leases = leases;
    touching->next = leases->made;
    touching->unsent = *unsent;
    touching->count = 0;
    memcpy(touching->token, slot->token, LATER_TOKEN_LEN);
    touching->token[LATER_TOKEN_LEN] = '\0';
    return *unsent = leases->made = touching;
}

static void send_all(struct touching *unsent)
{
    struct touching *next;

    for (struct touching *touching = unsent; touching; touching = next) {
        next = touching->unsent;
        touching->leases->made = NULL;
        send_touch(touching);
    }
}

/* Renews everything in one page, with a call for each queue and token. */
static void touch_page(struct keeper *keeper, struct slots *slots)
{
    uint32_t used = slots_used(slots);
    struct touching *unsent = NULL, *touching;

    for (uint32_t i = 0; i < used; i++) {
        struct slot *slot = &slots->page->slots[i];
        struct leases *leases;

        if (slot_state(slot) == SLOT_FREE || atomic_load(&slot->cancelled) == SLOT_WITHDRAWN)
            continue;
        leases = leases_of(keeper, slots, slot->queue);
        if (!leases || !leases->now)
            continue;
        touching = touching_of(keeper, leases, &unsent, slot);
        if (!touching)
            break; /* no memory: it is tried again a third of a lease later */
        touching->items[touching->count++] =
            (struct touched){ slots->number, slot, atomic_load(&slot->serial) };
    }
    send_all(unsent);
}

/* Chooses the queues of this round: all, or those that were refused in the last one; but none with
 * answers to come. Returns whether there are any. */
static bool keeper_choose(struct keeper *keeper, bool all, double now)
{
    bool any = all;

    for (struct leases *leases = keeper->first; leases; leases = leases->next) {
        if (all)
            leases->again = 0;
        leases->now = !leases->touching && leases->again <= now;
        if (leases->now)
            leases->again = INFINITY;
        any = any || leases->now;
    }
    return any;
}

static void keeper_touch(struct keeper *keeper, bool all)
{
    double now = later_clock();

    if (!link_is_up(keeper->link) || !keeper_choose(keeper, all, now))
        return;
    if (all)
        keeper->touched = now;
    for (size_t i = 0; i < keeper->page_count; i++) {
        if (atomic_load(&keeper->pages[i].slots->page->busy))
            touch_page(keeper, keeper->pages[i].slots);
    }
    link_flush(keeper->link);
}

/* --- looking at the pages --- */

/* Gives back jobs that have not begun, to their places in ready. */
static void give_back_held(struct keeper *keeper, struct slots *slots)
{
    uint32_t used = slots_used(slots);

    for (uint32_t i = 0; i < used; i++) {
        struct slot *slot = &slots->page->slots[i];

        if (slot_state(slot) != SLOT_HELD || !slot_move(slot, SLOT_HELD, SLOT_RETURNING))
            continue;
        slot_return(slot, 0);
        outbox_add(keeper->outbox, slots, slot);
    }
}

/* Takes over a reserve whose answer its worker does not read, or goes on with it; then *copy is
 * what to look for. Only we make it CEDED. So if it still is after the copy, the worker has not
 * given its place to another reserve meanwhile. */
static bool take_call(struct slot_call *call, bool again, struct slot_call *copy)
{
    if (!slot_call_move(call, SLOT_CALL_CEDED) &&
        !(again && atomic_load(&call->asked) == SLOT_CALL_CEDED))
        return false;
    copy->queue = call->queue;
    memcpy(copy->token, call->token, sizeof copy->token);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load(&call->asked) == SLOT_CALL_CEDED;
}

/* Gives back what the worker has asked for and would read of only after its long job. Redis may run
 * such a reserve after we looked, so it is looked for again and again. */
static void give_back_unread(struct keeper *keeper, struct living *living, double now)
{
    struct slots *slots = living->slots;
    bool again = now - living->sought >= SEEK_SECONDS;
    struct slot_call copy;

    for (uint32_t i = 0; i < SLOTS_CALLS; i++) {
        struct leases *leases;

        if (!take_call(&slots->page->calls[i], again, &copy))
            continue;
        living->sought = now;
        leases = leases_of(keeper, slots, copy.queue);
        if (leases) /* else: no such queue, or no memory, and it is looked for again */
            (void)find_and_return(keeper->link, leases->keys, copy.token, NULL, NULL);
    }
}

static bool is_member(const struct slot *slot, const char *member)
{
    struct slot_copy copy;

    slot_copy(slot, LATER_VERB_TOUCH, &copy);
    return strncmp(member, copy.token, LATER_TOKEN_LEN) == 0 && member[LATER_TOKEN_LEN] == ':' &&
           strcmp(member + LATER_TOKEN_LEN + 1, copy.id) == 0;
}

void keeper_cancelled(struct keeper *keeper, const char *member)
{
    for (size_t i = 0; i < keeper->page_count; i++) {
        struct slots *slots = keeper->pages[i].slots;

        for (uint32_t k = 0; k < slots_used(slots); k++) {
            struct slot *slot = &slots->page->slots[k];

            if (slot_state(slot) == SLOT_FREE || !is_member(slot, member))
                continue;
            slot->told_cancel = later_clock();
            atomic_store(&slot->cancelled, SLOT_WITHDRAWN); /* on_scan() and the worker see it */
        }
    }
}

/* Does its loop stand still? This counts our own looks without a heartbeat between them. So neither
 * a pause without event jobs, in which nobody beats, nor one in which we stood still counts against
 * it. */
static bool hangs(const struct keeper *keeper, struct living *page, bool events)
{
    int64_t beat = atomic_load(&page->slots->page->heartbeat);

    page->same = events && beat == page->beat ? page->same + 1 : 0;
    page->beat = beat;
    return page->same * SCAN_SECONDS > keeper->config->grace + 1;
}

/* Ends the worker of a page because of the job in this slot, or of all (NULL). */
static void keeper_expel(const struct keeper *keeper, struct slots *slots, const struct slot *slot,
                         const char *why)
{
    struct slot_words words;

    if (!slots->expelled && slot)
        log_job(LOG_WARN, slot_log_fields(slots, slot, &words), "%s: its worker is ended", why);
    else if (!slots->expelled)
        log_line(LOG_WARN, "worker %u: %s: it is ended", (unsigned)slots->worker, why);
    slots->expelled = true;
    keeper->options.expel(keeper->options.arg, slots, why);
}

static void look_at_page(struct keeper *keeper, struct living *living, double now)
{
    struct slots *slots = living->slots;
    struct slots_page *page = slots->page;
    uint32_t used = slots_used(slots);
    bool behind = false, events = false;

    for (uint32_t i = 0; i < used; i++) {
        struct slot *slot = &page->slots[i];

        if (slot_state(slot) != SLOT_RUNNING || slot->began <= 0)
            continue;
        events = events || slot->event;
        if (slot->event)
            continue;
        behind = behind || now - slot->began > BEHIND_SECONDS;
        if (atomic_load(&slot->cancelled) == SLOT_UNLOCKED)
            keeper_expel(keeper, slots, slot, "a lock or permit of it was lost");
        else if (atomic_load(&slot->cancelled) && now - slot->told_cancel > CANCEL_SECONDS)
            keeper_expel(keeper, slots, slot, "its reservation was withdrawn");
        else if (slot->deadline > 0 && now > slot->deadline)
            keeper_expel(keeper, slots, slot, "over its time");
    }
    if (behind) {
        give_back_held(keeper, slots);
        give_back_unread(keeper, living, now);
    }
    if (hangs(keeper, living, events))
        keeper_expel(keeper, slots, NULL, "its event loop hangs");
    if (!slots_busy(slots)) {
        atomic_store(&page->busy, 0);
        if (slots_busy(slots)) /* it took a job in between and saw the old mark */
            atomic_store(&page->busy, 1);
    }
}

/* Seconds between two rounds. */
static double keeper_pace(const struct keeper *keeper, double now)
{
    double pace = keeper->config->lease / 3;

    return now < keeper->brisk_until ? fmin(pace, keeper->brisk) : pace;
}

static void on_scan(void *arg)
{
    struct keeper *keeper = arg;
    double now = later_clock();
    bool busy = false, report = reports_due(keeper->reports, now);

    for (size_t i = 0; i < keeper->page_count; i++) {
        struct slots *slots = keeper->pages[i].slots;

        if (slots->cut)
            keeper->options.expel(keeper->options.arg, slots, "its slot page is gone");
        if (!atomic_load(&slots->page->busy))
            continue;
        lock_leases_renew(keeper->lock_leases, slots, now);
        look_at_page(keeper, &keeper->pages[i], now);
        if (report)
            reports_send(keeper->reports, slots);
        busy = busy || atomic_load(&slots->page->busy);
    }
    if (busy && now - keeper->touched >= keeper_pace(keeper, now))
        keeper_touch(keeper, true);
    else if (busy)
        keeper_touch(keeper, false);
    outbox_flush(keeper->outbox);
    link_flush(keeper->link);
    if (busy)
        keeper_busy(keeper);
}

void keeper_busy(struct keeper *keeper)
{
    if (!timer_soon(keeper->scan, SCAN_SECONDS))
        return;
    /* Nothing was held until now, so the leases are fresh. */
    if (later_clock() - keeper->touched > keeper->config->lease)
        keeper->touched = later_clock();
}

void keeper_link_up(struct keeper *keeper)
{
    keeper_touch(keeper, true);
    outbox_flush(keeper->outbox);
    aftermath_link_up(keeper->aftermath);
    link_flush(keeper->link);
}

/* --- pages come and go --- */

void keeper_watch(struct keeper *keeper, struct slots *slots)
{
    struct living *pages = realloc(keeper->pages, (keeper->page_count + 1) * sizeof *pages);

    if (!pages) {
        log_line(LOG_ERROR, "no memory to watch %s", slots->path);
        return;
    }
    keeper->pages = pages;
    pages[keeper->page_count++] = (struct living){ .slots = slots };
}

static void unwatch(struct keeper *keeper, const struct slots *slots)
{
    for (size_t i = 0; i < keeper->page_count; i++) {
        if (keeper->pages[i].slots == slots)
            keeper->pages[i--] = keeper->pages[--keeper->page_count];
    }
}

static void keeper_on_settled(void *arg, struct slots *slots, struct slot *slot, bool lost)
{
    struct keeper *keeper = arg;

    (void)lost;
    aftermath_settled(keeper->aftermath, slots, slot);
}

static void on_buried(void *arg, struct slots *slots)
{
    struct keeper *keeper = arg;

    keeper->options.settled(keeper->options.arg, slots);
}

void keeper_died(struct keeper *keeper, struct slots *slots, enum later_ending ending,
                 const char *text)
{
    if (slots->cut)
        log_line(LOG_WARN, "%s was cut short: what its worker held comes back by its leases",
                 slots->path);
    unwatch(keeper, slots);
    aftermath_take(keeper->aftermath, slots, ending, text, keeper->config->crash_max);
    outbox_flush(keeper->outbox);
    link_flush(keeper->link);
}

struct keeper *keeper_new(struct queues *queues, const struct keeper_options *options)
{
    struct event_base *base = queues->base;
    struct link *link = queues->link;
    struct keeper *keeper = calloc(1, sizeof *keeper);

    if (!keeper)
        return NULL;
    *keeper = (struct keeper){
        .options = *options, .queues = queues, .config = queues->config, .link = link
    };
    keeper->scan = timer_new(base, on_scan, keeper);
    keeper->outbox =
        outbox_new(base, link, options->host, keeper_keys_of, keeper_on_settled, keeper);
    if (keeper->scan && keeper->outbox)
        keeper->aftermath = aftermath_new(base, link, queues->prefix, keeper->outbox,
                                          keeper_keys_of, on_buried, keeper);
    keeper->lock_leases = lock_leases_new(base, link, queues->prefix, watched, keeper);
    keeper->reports = reports_new(link, keeper_keys_of, keeper);
    if (!keeper->aftermath || !keeper->lock_leases || !keeper->reports) {
        keeper_free(keeper);
        return NULL;
    }
    return keeper;
}

void keeper_free(struct keeper *keeper)
{
    if (!keeper)
        return;
    aftermath_free(keeper->aftermath);
    lock_leases_free(keeper->lock_leases);
    reports_free(keeper->reports);
    outbox_free(keeper->outbox);
    timer_free(keeper->scan);
    while (keeper->first) {
        struct leases *next = keeper->first->next;

        fault_free(&keeper->first->refused);
        free(keeper->first);
        keeper->first = next;
    }
    free(keeper->pages);
    free(keeper);
}

/* What is held has the lease of the former configuration until it is renewed, and so has what its
 * workers reserve until they have read that they are to drain. */
void keeper_configure(struct keeper *keeper, const struct config *config)
{
    double now = later_clock();

    keeper->brisk = keeper_pace(keeper, now);
    keeper->brisk_until = now + 3 * keeper->brisk + DRAIN_SECONDS;
    keeper->config = config;
}

size_t keeper_open(const struct keeper *keeper)
{
    return outbox_open(keeper->outbox) + aftermath_open(keeper->aftermath);
}

void keeper_each_dead(const struct keeper *keeper, void (*fn)(void *arg, struct slots *slots),
                      void *arg)
{
    aftermath_each(keeper->aftermath, fn, arg);
}
