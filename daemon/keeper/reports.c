/* reports.c: sends the progress of running jobs. */
#include "keeper/reports.h"

#include "reservation/progress.h"

#include <stdlib.h>
#include <string.h>

#define EVERY 1.0 /* seconds */
#define MOST  64  /* jobs in one call */

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
    size_t count;
    char id[MOST][LATER_ID_MAX + 1];
    char *text[MOST];
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
    struct later_settlement jobs[MOST];
    struct later_command cmd = { 0 };

    for (size_t i = 0; i < report->count; i++)
        jobs[i] = (struct later_settlement){ .token = report->token,
                                             .id = report->id[i],
                                             .error = report->text[i] };
    if (keys && report->count > 0) {
        later_queue_progress(&cmd, keys, jobs, report->count);
        link_send(reports->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    for (size_t i = 0; i < report->count; i++)
        free(report->text[i]);
    report->count = 0;
}

/* Does the slot's job fit into the call with those already in it? */
static bool reports_goes_with(const struct report *report, const struct slot_copy *copy,
                              uint32_t queue)
{
    return report->count < MOST && report->queue == queue &&
           strcmp(report->token, copy->token) == 0;
}

static void reports_add(const struct reports *reports, struct slots *slots, struct slot *slot,
                        struct report *report)
{
    uint32_t queue = slot->queue;
    struct progress progress;
    struct slot_copy copy;
    char *text;

    if (!progress_read(slot, slot->progress_told, &progress))
        return;
    text = progress_text(&progress);
    if (!text)
        return;
    slot_copy(slot, LATER_VERB_TOUCH, &copy);
    if (report->count > 0 && !reports_goes_with(report, &copy, queue))
        send_report(reports, slots, report);
    report->queue = queue;
    memcpy(report->token, copy.token, sizeof report->token);
    memcpy(report->id[report->count], copy.id, sizeof copy.id);
    report->text[report->count++] = text;
    slot->progress_told = progress.change;
}

void reports_send(const struct reports *reports, struct slots *slots)
{
    struct report report = { .count = 0 };
    uint32_t used = slots_used(slots);

    for (uint32_t i = 0; i < used; i++) {
        struct slot *slot = &slots->page->slots[i];

        if (slot_state(slot) == SLOT_RUNNING)
            reports_add(reports, slots, slot, &report);
    }
    if (report.count > 0)
        send_report(reports, slots, &report);
}
