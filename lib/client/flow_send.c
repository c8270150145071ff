/* flow_send.c: jobs on their way into a flow. */
#include "client/flow_send.h"

#include "queue/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 64 /* parts for which jobs are gathered at once */

/* A queue that jobs are for. */
struct target {
    later_queue_name name;
    struct later_plan plan;
};

/* Jobs for one part: a queue, or a shard. */
struct batch {
    struct target *target;
    struct later_keys keys;                       /* of the part */
    bool is_home;                                 /* they go there by flow_push */
    struct later_flow_job jobs[LATER_FLOW_BATCH]; /* their texts are owned */
    uint64_t marks[LATER_FLOW_BATCH];
    size_t count, bytes;
};

struct later_flow_send {
    struct later_client *client;
    struct later_flow_goal goal;
    struct later_keys home;
    struct target targets[LATER_FLOW_QUEUES];
    size_t target_count;
    struct batch *batches[BATCHES]; /* owned */
    size_t batch_count;
    bool turned; /* later_flow_send_turn() was called, and a batch may have some that wait */
    later_flow_sent_fn *fn;
    void *arg;
};

/* ---- jobs */

static void flow_job_free(struct later_flow_job *job)
{
    free((char *)job->item.id);
    free((char *)job->item.document);
    free((char *)job->step);
    free((char *)job->after);
    *job = (struct later_flow_job){ 0 };
}

static bool flow_job_copy(struct later_flow_job *to, const struct later_flow_job *from)
{
    char *document = malloc(from->item.document_len + 1);

    *to = *from;
    to->item.id = strdup(from->item.id);
    to->item.document = document;
    to->step = strdup(from->step);
    to->after = strdup(from->after);
    if (!document || !to->item.id || !to->step || !to->after) {
        flow_job_free(to);
        return false;
    }
    memcpy(document, from->item.document, from->item.document_len);
    return true;
}

static void batch_clear(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        flow_job_free(&batch->jobs[i]);
    batch->count = batch->bytes = 0;
}

static int send_no_memory(struct later_error *err)
{
    return later_fail(err, LATER_E_SYSTEM, "no memory");
}

static struct later_flow_call flow_send_call(const struct later_flow_send *send, bool close)
{
    return (struct later_flow_call){ .name = send->goal.name,
                                     .adder = send->goal.adder,
                                     .close = close };
}

static int send_closed(const struct later_flow_send *send, struct later_error *err)
{
    return later_fail(err, LATER_E_DATA,
                      "flow %s is closed: only a running job of it may add to it", send->goal.name);
}

static void send_tell(const struct later_flow_send *send, const struct batch *batch, size_t i,
                      int how, const char *state)
{
    const struct later_flow_sent sent = { .queue = batch->target->name,
                                          .id = batch->jobs[i].item.id,
                                          .state = state,
                                          .mark = batch->marks[i],
                                          .how = (enum later_push_result)how };

    send->fn(send->arg, &sent);
}

/* ---- into the flow's own queue */

static int send_home(struct later_flow_send *send, struct batch *batch, bool close,
                     struct later_error *err)
{
    const struct later_flow_call call = flow_send_call(send, close);
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int ok = 0;

    later_flow_push(&cmd, &send->home, &call, batch->jobs, batch->count);
    reply =
        later_call(send->client, &cmd, 0, true, err); /* may be repeated: what is there is known */
    if (!reply)
        return -1;
    if (later_flow_was_closed(reply))
        ok = send_closed(send, err);
    for (size_t i = 0; ok == 0 && i < batch->count; i++) {
        const char *state;
        int how = later_flow_pushed(reply, i, &state);

        ok = later_queue_refused(how, send->home.queue, err);
        if (ok == 0)
            send_tell(send, batch, i, how, state);
    }
    later_reply_free(reply);
    return ok;
}

/* ---- elsewhere: announced, then parked */

/* Those of a batch that are still to be parked. */
struct parking {
    struct batch *batch;
    size_t at[LATER_FLOW_BATCH];        /* in the batch */
    char numbers[LATER_FLOW_BATCH][24]; /* by their place in the batch */
    size_t count;
    bool settled[LATER_FLOW_BATCH]; /* told to the caller; by their place in the batch */
};

static void send_settle(const struct later_flow_send *send, struct parking *parking, size_t i,
                        int how, const char *state)
{
    send_tell(send, parking->batch, i, how, state);
    parking->settled[i] = true;
}

/* Announces them to the flow, which says which of them are to be parked. */
static int send_join(struct later_flow_send *send, struct parking *parking, struct later_error *err)
{
    const struct later_flow_call call = flow_send_call(send, false);
    const struct batch *batch = parking->batch;
    const char *queues[LATER_FLOW_BATCH];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int ok = 0;

    for (size_t i = 0; i < batch->count; i++)
        queues[i] = batch->keys.queue;
    later_flow_join(&cmd, &send->home, &call, batch->jobs, queues, batch->count);
    reply = later_call(send->client, &cmd, 0, true, err);
    if (!reply)
        return -1;
    if (later_flow_was_closed(reply))
        ok = send_closed(send, err);
    parking->count = 0;
    for (size_t i = 0; ok == 0 && i < batch->count; i++) {
        const char *text;
        int how = later_flow_joined(reply, i, &text);

        if (parking->settled[i])
            continue;
        ok = later_queue_refused(how, send->home.queue, err);
        if (how == LATER_IS_PUSHED) {
            snprintf(parking->numbers[i], sizeof parking->numbers[i], "%.20s", text);
            parking->at[parking->count++] = i;
        } else if (ok == 0) {
            send_settle(send, parking, i, how, text);
        }
    }
    later_reply_free(reply);
    return ok;
}

/* Parks some of them in one part, and takes those that are settled off the list. */
static int send_park(struct later_flow_send *send, struct parking *parking, const char *part,
                     bool seek, const size_t *some, size_t count, struct later_error *err)
{
    const struct batch *batch = parking->batch;
    const struct later_flow_park park = { .name = send->goal.name,
                                          .home = send->home.queue,
                                          .seek = seek,
                                          .epoch = batch->target->plan.epoch };
    struct later_flow_job jobs[LATER_FLOW_BATCH];
    const char *numbers[LATER_FLOW_BATCH];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;
    int ok = 0;

    if (later_call_keys(send->client, part, &keys, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        jobs[i] = batch->jobs[some[i]];
        numbers[i] = parking->numbers[some[i]];
    }
    later_call_announce(send->client, &keys);
    later_flow_park(&cmd, &keys, &park, jobs, numbers, count);
    reply = later_call(send->client, &cmd, 0, true,
                       err); /* may be repeated: the flow drops what is too many */
    if (!reply)
        return -1;
    for (size_t i = 0; ok == 0 && i < count; i++) {
        const char *state;
        int how = later_flow_pushed(reply, i, &state);

        ok = later_queue_refused(how, part, err);
        if (ok == 0 && how != LATER_IS_ABSENT)
            send_settle(send, parking, some[i], how, state);
    }
    later_reply_free(reply);
    return ok;
}

/* Parks those that are not settled in the `step`-th part of their ways. */
static int send_park_step(struct later_flow_send *send, struct parking *parking, size_t step,
                          bool seek, struct later_error *err)
{
    const struct target *target = parking->batch->target;
    bool done[LATER_FLOW_BATCH] = { false };

    for (size_t first = 0; first < parking->count; first++) {
        later_queue_name route[LATER_COUNTS_MAX], part = "";
        size_t some[LATER_FLOW_BATCH], count = 0;

        for (size_t i = first; i < parking->count; i++) {
            size_t row = parking->at[i], last;

            if (done[i] || parking->settled[row])
                continue;
            last = later_plan_route(&target->plan, target->name, parking->batch->jobs[row].item.id,
                                    route) -
                   1;
            if (seek && step >= last)
                continue;
            if (!part[0])
                strcpy(part, route[seek ? step : last]);
            if (strcmp(part, route[seek ? step : last]) != 0)
                continue;
            done[i] = true;
            some[count++] = row;
        }
        if (count > 0 && send_park(send, parking, part, seek, some, count, err) < 0)
            return -1;
    }
    return 0;
}

static int send_away_once(struct later_flow_send *send, struct parking *parking,
                          struct later_error *err)
{
    if (send_join(send, parking, err) < 0)
        return -1;
    for (size_t step = 0; step < parking->batch->target->plan.formers; step++) {
        if (send_park_step(send, parking, step, true, err) < 0)
            return -1;
    }
    return send_park_step(send, parking, 0, false, err);
}

/* If the plan of shards has changed, by the new one. */
static int send_away(struct later_flow_send *send, struct batch *batch, struct later_error *err)
{
    struct parking *parking = calloc(1, sizeof *parking);
    const char *words;
    int ok = -1;

    if (!parking)
        return send_no_memory(err);
    parking->batch = batch;
    for (unsigned heard = 0;; heard++) {
        ok = send_away_once(send, parking, err);
        if (ok == 0 || !later_shards_stale(err->text, &words))
            break;
        if (later_call_await_plan(batch->target->name, heard, err) < 0 ||
            later_call_ask_plan(send->client, batch->target->name, &batch->target->plan, err) < 0)
            break;
    }
    free(parking);
    return ok;
}

/* close: of a batch for the home only. */
static int flow_send_batch(struct later_flow_send *send, struct batch *batch, bool close,
                           struct later_error *err)
{
    int ok = 0;

    if (batch->count > 0)
        ok = batch->is_home ? send_home(send, batch, close, err) : send_away(send, batch, err);
    batch_clear(batch);
    return ok;
}

/* ---- adding */

static struct target *send_target(struct later_flow_send *send, const char *queue,
                                  struct later_error *err)
{
    struct target *target = send->targets;

    for (size_t i = 0; i < send->target_count; i++, target++) {
        if (strcmp(target->name, queue) == 0)
            return target;
    }
    if (send->target_count == LATER_FLOW_QUEUES) {
        later_fail(err, LATER_E_DATA, "queue %s: a flow lies in at most %d queues", queue,
                   LATER_FLOW_QUEUES);
        return NULL;
    }
    if (later_call_whole(queue, err) < 0 ||
        later_call_ask_plan(send->client, queue, &target->plan, err) < 0)
        return NULL;
    strcpy(target->name, queue);
    send->target_count++;
    return target;
}

/* Sends what is left; what goes to the home last, so that it can close the flow. Returns whether it
 * did, or -1 with *err. */
static int flow_send_all(struct later_flow_send *send, bool close, struct later_error *err)
{
    struct batch *home = NULL;
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < send->batch_count; i++) {
        if (send->batches[i]->is_home)
            home = send->batches[i];
        else
            ok = flow_send_batch(send, send->batches[i], false, err);
    }
    close = close && home && home->count > 0;
    if (ok == 0 && home)
        ok = flow_send_batch(send, home, close, err);
    return ok < 0 ? -1 : close;
}

static struct batch *send_find(struct later_flow_send *send, struct target *target,
                               const char *part, struct later_error *err)
{
    struct batch *batch;

    for (size_t i = 0; i < send->batch_count; i++) {
        if (strcmp(send->batches[i]->keys.queue, part) == 0)
            return send->batches[i];
    }
    if (send->batch_count == BATCHES || send->turned) {
        send->turned = false;
        if (flow_send_all(send, false, err) < 0)
            return NULL;
        while (send->batch_count > 0)
            free(send->batches[--send->batch_count]);
    }
    batch = calloc(1, sizeof *batch);
    if (!batch || later_call_keys(send->client, part, &batch->keys, err) < 0) {
        if (!batch)
            send_no_memory(err);
        free(batch);
        return NULL;
    }
    batch->target = target;
    batch->is_home = strcmp(part, send->home.queue) == 0 && target->plan.epoch == 0;
    return send->batches[send->batch_count++] = batch;
}

int later_flow_send_add(struct later_flow_send *send, const char *queue,
                        const struct later_flow_job *job, uint64_t mark, struct later_error *err)
{
    struct target *target = send_target(send, queue, err);
    later_queue_name part;
    struct batch *batch;

    if (!target)
        return -1;
    later_shard_of(part, queue, target->plan.count, job->item.id);
    batch = send_find(send, target, part, err);
    if (!batch)
        return -1;
    if ((batch->count == LATER_FLOW_BATCH ||
         (batch->count > 0 && batch->bytes + job->item.document_len > LATER_CALL_BYTES)) &&
        flow_send_batch(send, batch, false, err) < 0)
        return -1;
    if (!flow_job_copy(&batch->jobs[batch->count], job))
        return send_no_memory(err);
    batch->marks[batch->count++] = mark;
    batch->bytes += job->item.document_len;
    return 0;
}

/* In one batch those that wait come first as they are. */
int later_flow_send_turn(struct later_flow_send *send, struct later_error *err)
{
    send->turned = send->batch_count == 1;
    return send->turned ? 0 : flow_send_all(send, false, err);
}

int later_flow_send_end(struct later_flow_send *send, bool close, struct later_error *err)
{
    const struct later_flow_call call = flow_send_call(send, true);
    int closed = flow_send_all(send, close, err);
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    if (closed != 0 || !close)
        return closed < 0 ? -1 : 0;
    later_flow_push(&cmd, &send->home, &call, NULL, 0);
    reply = later_call(send->client, &cmd, 0, true, err);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* ---- making and unmaking */

struct later_flow_send *later_flow_send_new(struct later_client *client,
                                            const struct later_flow_goal *goal,
                                            later_flow_sent_fn *fn, void *arg,
                                            struct later_error *err)
{
    struct later_flow_send *send = calloc(1, sizeof *send);

    if (!send) {
        send_no_memory(err);
        return NULL;
    }
    *send = (struct later_flow_send){ .client = client, .goal = *goal, .fn = fn, .arg = arg };
    if (later_call_whole(goal->home, err) < 0 ||
        later_call_keys(client, goal->home, &send->home, err) < 0) {
        free(send);
        return NULL;
    }
    later_call_announce(client, &send->home);
    return send;
}

void later_flow_send_free(struct later_flow_send *send)
{
    if (!send)
        return;
    for (size_t i = 0; i < send->batch_count; i++) {
        batch_clear(send->batches[i]);
        free(send->batches[i]);
    }
    free(send);
}
