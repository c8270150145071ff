/* recorder_fold.c: merges fields of old periods, and of laterds that are gone. */
#include "queues/recorder_inner.h"

#include "queue/inspect.h"

#include <stdlib.h>
#include <string.h>

#define TOTALS (-1) /* instead of a period */

/* A question for one hash; freed with its answer. */
struct folding {
    struct recorder *recorder;
    struct recorder_queue *queue;
    int scale;
    int64_t period;
};

static bool anybody(void *arg, const char *field)
{
    (void)arg;
    (void)field;
    return true;
}

/* Does a field belong to the laterd with this id? */
static bool recorder_fold_is_of(const char *field, const char *id, size_t len)
{
    return strncmp(field, id, len) == 0 && (field[len] == ':' || field[len] == '\0');
}

/* Does it belong to a laterd that is gone? A field with our HOST:PID and another RANDOM is from
 * before us, so it does. Of such fields of other living laterds nothing is known, so they are left
 * to them. */
static bool recorder_fold_is_gone(void *arg, const char *field)
{
    const struct recorder *recorder = arg;

    if (recorder_fold_is_of(field, recorder->field, recorder->id_len))
        return strcmp(field, recorder->field) != 0;
    for (size_t i = 0; i < later_reply_count(recorder->hosts); i += 2) {
        size_t len;
        const char *id = later_reply_text(later_reply_at(recorder->hosts, i), &len);

        if (recorder_fold_is_of(field, id, len))
            return false;
    }
    return true;
}

/* After the last of them the daemons alive are not needed any more. */
static void one_less(struct recorder *recorder)
{
    if (--recorder->folding > 0)
        return;
    later_reply_free(recorder->hosts);
    recorder->hosts = NULL;
}

static void done(struct folding *folding)
{
    struct recorder *recorder = folding->recorder;

    if (folding->period == TOTALS)
        one_less(recorder);
    free(folding);
}

/* If another laterd is quicker, or a field has changed, the script changes nothing. */
static void on_fields(void *arg, struct later_answer *answer)
{
    struct folding *folding = arg;
    struct recorder *recorder = folding->recorder;
    struct later_command cmd = { 0 };

    if (answer->outcome == LATER_ANSWERED &&
        later_history_fold(&cmd, folding->queue->keys, (enum later_scale)folding->scale,
                           folding->period, recorder->now, answer->reply,
                           folding->period == TOTALS ? recorder_fold_is_gone : anybody,
                           recorder) > 0) {
        link_send(recorder->queues->link, &cmd, LINK_TIMEOUT, NULL, NULL);
        link_flush(recorder->queues->link);
    }
    done(folding);
}

void recorder_fold(struct recorder_queue *queue, int scale, int64_t period)
{
    struct recorder *recorder = queue->recorder;
    struct folding *folding = malloc(sizeof *folding);
    struct later_command cmd = { 0 };

    if (!folding)
        return;
    *folding = (struct folding){ recorder, queue, scale, period };
    recorder->folding += period == TOTALS;
    if (period == TOTALS)
        later_history_ask_totals(&cmd, queue->keys);
    else
        later_history_ask(&cmd, queue->keys, (enum later_scale)scale, period);
    if (link_send(recorder->queues->link, &cmd, LINK_TIMEOUT, on_fields, folding) < 0)
        done(folding);
}

static void recorder_fold_on_hosts(void *arg, struct later_answer *answer)
{
    struct recorder *recorder = arg;

    if (answer->outcome != LATER_ANSWERED || recorder->hosts)
        return;
    recorder->hosts = answer->reply;
    answer->reply = NULL;
    recorder->folding++; /* until all are asked */
    for (struct recorder_queue *queue = recorder->first; queue; queue = queue->next)
        recorder_fold(queue, 0, TOTALS);
    one_less(recorder);
    link_flush(recorder->queues->link);
}

void recorder_fold_totals(struct recorder *recorder)
{
    struct later_command cmd = { 0 };

    if (recorder->hosts)
        return; /* the last search is still under way */
    later_inspect_hosts(&cmd, recorder->queues->prefix);
    link_send(recorder->queues->link, &cmd, LINK_TIMEOUT, recorder_fold_on_hosts, recorder);
}
