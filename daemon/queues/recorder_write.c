/* recorder_write.c: sends fields of periods and totals to Redis. */
#include "queues/recorder_inner.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define PAST_MAX  4096   /* periods that are over but not in Redis yet */
#define LATE_MOST 1800.0 /* seconds after its end, a period is not written any more */

/* Seconds between two writes. */
static const double every[RECORDER_PARTS] = {
    [LATER_BY_MINUTE] = 1, [LATER_BY_TEN] = 10, [LATER_BY_HOUR] = 60, [RECORDER_TOTALS] = 5
};

/* --- the past --- */

void recorder_put_by(struct recorder_part *part)
{
    struct recorder *recorder = part->queue->recorder;
    struct recorder_past *past;

    if (part->changed || part->asked) {
        past = recorder->past_count < PAST_MAX ? calloc(1, sizeof *past) : NULL;
        if (past && !(past->packed = later_tallies_pack(&part->tallies, &past->len))) {
            free(past);
            past = NULL;
        }
        if (past) {
            past->recorder = recorder;
            past->keys = part->queue->keys;
            past->scale = part->scale;
            past->period = part->period;
            past->next = recorder->past;
            recorder->past = past;
            recorder->past_count++;
        }
    }
    recorder->row_count -= part->tallies.count;
    later_tallies_free(&part->tallies);
    part->changed = false;
}

static void recorder_write_forget(struct recorder_past *past)
{
    struct recorder_past **link = &past->recorder->past;

    while (*link != past)
        link = &(*link)->next;
    *link = past->next;
    past->recorder->past_count--;
    free(past->packed);
    free(past);
}

void recorder_free_past(struct recorder *recorder)
{
    while (recorder->past)
        recorder_write_forget(recorder->past);
}

static bool is_lasting(const struct later_answer *answer)
{
    return answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON;
}

static void on_past(void *arg, struct later_answer *answer)
{
    struct recorder_past *past = arg;

    past->asked = false;
    if (answer->outcome == LATER_ANSWERED || is_lasting(answer))
        recorder_write_forget(past);
}

static void send_past(struct recorder *recorder)
{
    struct recorder_past *next;

    for (struct recorder_past *past = recorder->past; past; past = next) {
        double end = (double)(past->period + 1) * later_scales[past->scale].seconds;
        struct later_command cmd = { 0 };

        next = past->next;
        if (past->asked)
            continue;
        if (recorder->now > end + LATE_MOST) { /* another laterd may have merged its fields */
            recorder_write_forget(past);
            continue;
        }
        later_history_note(&cmd, past->keys, (enum later_scale)past->scale, past->period,
                           recorder->field, past->packed, past->len);
        past->asked = link_send(recorder->queues->link, &cmd, LINK_TIMEOUT, on_past, past) == 0;
    }
}

/* --- the present --- */

static void take_off(struct later_tally *from, const struct later_tally *what)
{
    for (int i = 0; i < LATER_OUTCOMES; i++)
        from->outcomes[i] -= what->outcomes[i];
    from->wait_us -= what->wait_us;
    from->run_us -= what->run_us;
    for (int i = 0; i < LATER_BUCKETS; i++) {
        from->wait.count[i] -= what->wait.count[i];
        from->run.count[i] -= what->run.count[i];
    }
}

/* Our field of the totals is gone. A laterd that took us for dead has merged into its own what
 * Redis had of us. */
static void begin_anew(struct recorder_part *part)
{
    struct later_tallies told = { 0 };

    if (part->told && later_tallies_unpack(&told, part->told, part->told_len)) {
        for (size_t i = 0; i < told.count; i++) {
            struct later_tally *row = later_tallies_find(&part->tallies, told.rows[i]->type);

            if (row)
                take_off(row, told.rows[i]);
        }
    }
    later_tallies_free(&told);
    free(part->told);
    part->told = NULL;
}

static void on_part(void *arg, struct later_answer *answer)
{
    struct recorder_part *part = arg;
    bool answered = answer->outcome == LATER_ANSWERED;

    part->asked = false;
    if (!answered) {
        part->changed = part->changed || !is_lasting(answer);
    } else if (part->scale == RECORDER_TOTALS && later_history_noted(answer->reply)) {
        free(part->told);
        part->told = part->telling;
        part->told_len = part->telling_len;
        part->telling = NULL;
    } else if (part->scale == RECORDER_TOTALS) {
        begin_anew(part);
        part->changed = true;
        part->due = 0;
    }
}

static void send_part(struct recorder_part *part)
{
    struct recorder *recorder = part->queue->recorder;
    struct later_command cmd = { 0 };
    size_t len;
    char *packed = later_tallies_pack(&part->tallies, &len);

    if (!packed)
        return;
    if (part->scale == RECORDER_TOTALS) {
        later_history_note_total(&cmd, part->queue->keys, recorder->field, part->told != NULL,
                                 packed, len);
        free(part->telling);
        part->telling = packed;
        part->telling_len = len;
    } else {
        later_history_note(&cmd, part->queue->keys, (enum later_scale)part->scale, part->period,
                           recorder->field, packed, len);
        free(packed);
    }
    part->asked = link_send(recorder->queues->link, &cmd, LINK_TIMEOUT, on_part, part) == 0;
    part->changed = !part->asked;
    part->due = later_clock() + every[part->scale] - 0.5;
}

void recorder_send(struct recorder *recorder, bool all)
{
    double now = later_clock();

    if (!link_is_up(recorder->queues->link))
        return;
    send_past(recorder);
    for (struct recorder_queue *queue = recorder->first; queue; queue = queue->next) {
        for (int i = 0; i < RECORDER_PARTS; i++) {
            struct recorder_part *part = &queue->parts[i];

            if (part->changed && !part->asked && (all || now >= part->due) &&
                (part->period >= 0 || i == RECORDER_TOTALS))
                send_part(part);
        }
    }
}
