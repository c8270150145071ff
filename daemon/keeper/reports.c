/* reports.c: sends the progress, the checkpoints and the log lines of running jobs. */
#include "keeper/reports.h"

#include "reservation/logbook.h"
#include "reservation/progress.h"
#include "reservation/value.h"

#include <stdlib.h>
#include <string.h>

#define EVERY     1.0    /* seconds */
#define MOST      64     /* jobs in one call, */
#define BYTES_MAX 262144 /* and of their checkpoints and lines, as of documents in a reserve */

struct reports {
    struct link *link;
    outbox_keys_fn *keys;
    void *arg;
    double next;
};

/* A call that is being made; it owns its texts. */
struct report {
    char token[LATER_TOKEN_LEN + 1];
    uint32_t queue;
    size_t count, bytes;
    char id[MOST][LATER_ID_MAX + 1];
    struct later_progress jobs[MOST];
};

/* What is new of a slot's job: a text, a checkpoint, lines; malloc'ed, NULL = nothing. */
struct news {
    struct progress progress;
    char *text, *checkpoint, *log;
    size_t checkpoint_len, log_len;
    uint32_t left;   /* the number of the checkpoint */
    uint32_t logged; /* how many lines there are */
};

struct reports *reports_new(struct link *link, outbox_keys_fn *keys, void *arg)
{
    struct reports *reports = calloc(1, sizeof *reports);

    if (reports)
        *reports = (struct reports){ .link = link, .keys = keys, .arg = arg };
    return reports;
}

void reports_free(struct reports *reports)
{
    free(reports);
}

bool reports_due(struct reports *reports, double now)
{
    if (now < reports->next || !link_is_up(reports->link))
        return false;
    reports->next = now + EVERY;
    return true;
}

static void send_report(const struct reports *reports, struct slots *slots, struct report *report)
{
    const struct later_keys *keys = reports->keys(reports->arg, slots, report->queue);
    struct later_command cmd = { 0 };

    if (keys && report->count > 0) {
        later_queue_progress(&cmd, keys, report->token, report->jobs, report->count);
        link_send(reports->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    for (size_t i = 0; i < report->count; i++) {
        free((char *)(uintptr_t)report->jobs[i].text);
        free((char *)(uintptr_t)report->jobs[i].checkpoint);
        free((char *)(uintptr_t)report->jobs[i].log);
    }
    report->count = report->bytes = 0;
}

/* Does the slot's job fit into the call with those already in it? */
static bool reports_goes_with(const struct report *report, const struct slot_copy *copy,
                              uint32_t queue, const struct news *news)
{
    return report->count < MOST && report->queue == queue &&
           strcmp(report->token, copy->token) == 0 &&
           report->bytes + news->checkpoint_len + news->log_len <= BYTES_MAX;
}

static void reports_free_news(struct news *news)
{
    free(news->text);
    free(news->checkpoint);
    free(news->log);
}

/* Reads what is new. Returns false if nothing is. */
static bool reports_read(struct slots *slots, const struct slot *slot, struct news *news)
{
    *news = (struct news){ .left = atomic_load_explicit(&slot->checkpoint, memory_order_acquire),
                           .logged = atomic_load_explicit(&slot->logged, memory_order_acquire) };
    if (progress_read(slot, slot->progress_told, &news->progress))
        news->text = progress_text(&news->progress);
    if (news->left != slot->checkpoint_told)
        news->checkpoint = malloc(LATER_VALUE_MAX);
    if (news->checkpoint)
        news->checkpoint_len = value_read_checkpoint(slots, slot, news->checkpoint);
    if (news->logged != slot->logged_told)
        news->log = malloc(LOGBOOK_SIZE);
    if (news->log)
        news->log_len = logbook_read(slots, slot, news->log);
    return news->text || news->checkpoint || news->log;
}

/* Takes what is new, with its job's id and token, and notes that Redis is told. Returns false if
 * nothing is, or if the slot has become another job's while it was read: what one job left must not
 * be told of another. */
static bool reports_take(struct slots *slots, struct slot *slot, struct slot_copy *copy,
                         struct news *news)
{
    uint32_t serial = atomic_load(&slot->serial);

    if (slot_state(slot) != SLOT_RUNNING || !reports_read(slots, slot, news))
        return false;
    slot_copy(slot, LATER_VERB_TOUCH, copy);
    atomic_thread_fence(memory_order_acquire);
    if (slot_state(slot) != SLOT_RUNNING || atomic_load(&slot->serial) != serial) {
        reports_free_news(news);
        return false;
    }
    if (news->text)
        slot->progress_told = news->progress.change;
    if (news->checkpoint)
        slot->checkpoint_told = news->left;
    if (news->log_len) /* a line was being written: the next look finds it */
        slot->logged_told = news->logged;
    return true;
}

static void reports_add(const struct reports *reports, struct slots *slots, struct slot *slot,
                        struct report *report)
{
    uint32_t queue = slot->queue;
    struct slot_copy copy;
    struct news news;

    if (!reports_take(slots, slot, &copy, &news))
        return;
    if (report->count > 0 && !reports_goes_with(report, &copy, queue, &news))
        send_report(reports, slots, report);
    report->queue = queue;
    report->bytes += news.checkpoint_len + news.log_len;
    memcpy(report->token, copy.token, sizeof report->token);
    memcpy(report->id[report->count], copy.id, sizeof copy.id);
    report->jobs[report->count] = (struct later_progress){ .id = report->id[report->count],
                                                           .text = news.text,
                                                           .checkpoint = news.checkpoint,
                                                           .checkpoint_len = news.checkpoint_len,
                                                           .log = news.log,
                                                           .log_len = news.log_len };
    report->count++;
}

void reports_send(const struct reports *reports, struct slots *slots)
{
    struct report report = { .count = 0, .bytes = 0 };
    uint32_t used = slots_used(slots);

    for (uint32_t i = 0; i < used; i++)
        reports_add(reports, slots, &slots->page->slots[i], &report);
    if (report.count > 0)
        send_report(reports, slots, &report);
}
