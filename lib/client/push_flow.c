/*
 * push_flow.c: later_push_flow(), and jobs that are added to a flow one by one.
 *
 * A whole flow is gone through three times. First each job is checked, and what waits for what: so
 * nothing is pushed of a flow that cannot end. Then those that wait are pushed, and after them the
 * others: so nothing has begun whose successor is not there, whenever we die. The last call closes
 * the flow. To push it again adds what is missing.
 */
#include "client/push_inner.h"

#include "client/call.h"
#include "queue/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_BYTES 1048576 /* documents in a call, unless the first has more */

/* Jobs of a flow that go together. */
struct flow_batch {
    struct later_client *client;
    struct later_keys keys;
    struct later_flow_call call;
    struct later_making made[LATER_FLOW_BATCH];
    struct later_flow_job jobs[LATER_FLOW_BATCH];
    size_t index[LATER_FLOW_BATCH]; /* among the jobs of the caller */
    size_t count, bytes;
    enum later_push_result *results; /* of the caller; may be NULL */
    struct later_pushed *pushed;     /* of the one job; may be NULL */
};

static int push_flow_told(const struct flow_batch *batch, const struct later_reply *reply,
                          struct later_error *err)
{
    if (later_flow_was_closed(reply))
        return later_fail(err, LATER_E_DATA,
                          "flow %s is closed: only a running job of it may add to it",
                          batch->call.name);
    for (size_t i = 0; i < batch->count; i++) {
        const char *state;
        int how = later_flow_pushed(reply, i, &state);

        if (how == LATER_IS_FULL)
            return later_queue_full(batch->keys.queue, err);
        if (batch->results)
            batch->results[batch->index[i]] = (enum later_push_result)how;
        if (batch->pushed) {
            batch->pushed->how = (enum later_push_result)how;
            snprintf(batch->pushed->id, sizeof batch->pushed->id, "%s", batch->made[i].id);
            snprintf(batch->pushed->state, sizeof batch->pushed->state, "%s", state);
        }
    }
    return 0;
}

/* Sends the batch and empties it. close: no more is added. To send it twice does no harm. */
static int push_flow_send(struct flow_batch *batch, bool close, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int ok;

    batch->call.close = close;
    later_flow_push(&cmd, &batch->keys, &batch->call, batch->jobs, batch->count);
    reply = later_call(batch->client, &cmd, 0, true, err);
    ok = reply ? push_flow_told(batch, reply, err) : -1;
    later_reply_free(reply);
    for (size_t i = 0; i < batch->count; i++)
        later_making_free(&batch->made[i]);
    batch->count = batch->bytes = 0;
    return ok;
}

/* Takes over what was made. */
static int push_flow_add(struct flow_batch *batch, struct later_making *made, size_t index,
                         struct later_error *err)
{
    size_t len = made->item.document_len;
    struct later_making *own;

    if ((batch->count == LATER_FLOW_BATCH ||
         (batch->count > 0 && batch->bytes + len > CALL_BYTES)) &&
        push_flow_send(batch, false, err) < 0) {
        later_making_free(made);
        return -1;
    }
    own = &batch->made[batch->count];
    *own = *made;
    own->item.id = own->id;
    batch->jobs[batch->count] = (struct later_flow_job){
        .step = own->tie->step, .after = own->tie->after, .when = own->tie->when, .item = own->item
    };
    batch->index[batch->count++] = index;
    batch->bytes += len;
    return 0;
}

static struct flow_batch *push_flow_begin(struct later_client *client, const char *queue,
                                          const char *name, struct later_error *err)
{
    struct flow_batch *batch = calloc(1, sizeof *batch);

    if (!batch) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    batch->client = client;
    batch->call = (struct later_flow_call){ .name = name, .adder = "", .keep = LATER_FLOW_KEPT };
    if (later_call_keys(client, queue, &batch->keys, err) < 0) {
        free(batch);
        return NULL;
    }
    return batch;
}

static void push_flow_end(struct flow_batch *batch)
{
    for (size_t i = 0; batch && i < batch->count; i++)
        later_making_free(&batch->made[i]);
    free(batch);
}

/* ---- one */

int later_push_tied(struct later_client *client, const char *queue, struct later_making *made,
                    struct later_pushed *pushed, struct later_error *err)
{
    char name[LATER_STEP_MAX + 1];
    struct flow_batch *batch;
    int ok = -1;

    strcpy(name, made->tie->flow);
    batch = push_flow_begin(client, queue, name, err);
    if (batch) {
        later_call_announce(client, &batch->keys);
        batch->call.adder = made->adder;
        batch->pushed = pushed;
        ok = push_flow_add(batch, made, 0, err);
        *made = (struct later_making){ .built = NULL };
        if (ok == 0)
            ok = push_flow_send(batch, false, err);
    }
    push_flow_end(batch);
    return ok;
}

/* ---- a whole flow */

enum pass { CHECK, WAITING, OTHERS };

/* A flow that is being pushed. */
struct flowing {
    struct flow_batch *batch;
    struct later_flow_plan *plan;
    const struct later_new_job *jobs;
    size_t count;
};

/* Makes job i of the flow. Without an id and a step its id is by its place, so that the same jobs
 * again are the same. */
static int push_flow_make(const struct flowing *flowing, size_t i, struct later_making *made,
                          struct later_error *err)
{
    const char *flow = flowing->batch->call.name;
    struct later_new_job job = flowing->jobs[i];
    char id[LATER_STEP_MAX + 24];

    *made = (struct later_making){ .built = NULL };
    if (job.document)
        return later_fail(err, LATER_E_DATA, "document: not in a flow; give type and payload");
    if (job.flow && strcmp(job.flow, flow) != 0)
        return later_fail(err, LATER_E_DATA, "flow: is not %s", flow);
    job.flow = flow;
    snprintf(id, sizeof id, "%s:%zu", flow, i + 1);
    if (!job.id && !job.step)
        job.id = id;
    return later_making_make(made, flowing->batch->client, &job, err);
}

static int push_flow_one(struct flowing *flowing, size_t i, enum pass pass, struct later_error *err)
{
    struct later_making made;
    int ok = push_flow_make(flowing, i, &made, err);

    if (ok == 0 && pass == CHECK)
        ok = later_flow_plan_add(flowing->plan, made.tie, i + 1, err);
    if (ok == 0 && pass != CHECK && (made.tie->after[0] != '\0') == (pass == WAITING))
        return push_flow_add(flowing->batch, &made, i, err);
    later_making_free(&made);
    return ok;
}

static int push_flow_pass(struct flowing *flowing, enum pass pass, struct later_error *err)
{
    struct later_error why;

    for (size_t i = 0; i < flowing->count; i++) {
        if (push_flow_one(flowing, i, pass, &why) < 0)
            return pass == CHECK ? later_fail(err, why.code, "job %zu: %s", i + 1, why.text)
                                 : later_fail(err, why.code, "%s", why.text);
    }
    return 0;
}

static int push_flow_all(struct flowing *flowing, bool open, struct later_error *err)
{
    if (push_flow_pass(flowing, CHECK, err) < 0 ||
        later_flow_plan_check(flowing->plan, open, err) < 0)
        return -1;
    later_call_announce(flowing->batch->client, &flowing->batch->keys);
    if (push_flow_pass(flowing, WAITING, err) < 0 || push_flow_pass(flowing, OTHERS, err) < 0)
        return -1;
    return push_flow_send(flowing->batch, !open, err);
}

int later_push_flow(struct later_client *client, const char *queue, const char *flow, int open,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err)
{
    struct flowing flowing = { .jobs = jobs, .count = count };
    struct later_error ignored;
    int ok;

    if (!later_key_queue_valid(flow))
        return later_fail(err, LATER_E_USAGE, "flow: must be 1 to %d letters, digits and _ . -",
                          LATER_STEP_MAX);
    if (count > LATER_FLOW_JOBS)
        return later_fail(err, LATER_E_DATA, "a flow has at most %d jobs", LATER_FLOW_JOBS);
    flowing.batch = push_flow_begin(client, queue, flow, err);
    if (!flowing.batch)
        return -1;
    flowing.batch->results = results;
    flowing.plan = later_flow_plan_new();
    ok = flowing.plan ? push_flow_all(&flowing, open != 0, err)
                      : later_fail(err, LATER_E_SYSTEM, "no memory");
    /* On a Cluster the queue's name goes to another node: who looks for the flow now shall find it.
     */
    if (ok == 0)
        (void)later_call_drain(client, 0, &ignored);
    later_flow_plan_free(flowing.plan);
    push_flow_end(flowing.batch);
    return ok;
}
