/*
 * push_flow.c: later_push_flow(), and jobs that are added to a flow one by one.
 *
 * A whole flow is gone through three times. First each job is checked, and what waits for what: so
 * nothing is pushed of a flow that cannot end. Then those that wait are pushed, and after them the
 * others: so nothing has begun whose successor is not there, whenever we die. The last call closes
 * the flow. To push it again adds what is missing.
 */
#include "client/push_inner.h"

#include "client/flow_send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one */

static void push_flow_told(void *arg, const struct later_flow_sent *sent)
{
    struct later_pushed *pushed = arg;

    pushed->how = sent->how;
    snprintf(pushed->id, sizeof pushed->id, "%s", sent->id);
    snprintf(pushed->state, sizeof pushed->state, "%s", sent->state);
}

/* Sends it now, or with others later. */
static int push_flow_send(struct later_flow_send *send, const char *queue,
                          const struct later_making *made, uint64_t mark, struct later_error *err)
{
    const struct later_flow_job job = { .step = made->tie->step,
                                        .after = made->tie->after,
                                        .when = made->tie->when,
                                        .item = made->item };

    return later_flow_send_add(send, queue, &job, mark, err);
}

int later_push_tied(struct later_client *client, const char *queue, struct later_making *made,
                    struct later_pushed *pushed, struct later_error *err)
{
    const struct later_flow_goal goal = { .home = made->home ? made->home : queue,
                                          .name = made->tie->flow,
                                          .adder = made->adder };
    struct later_flow_send *send = later_flow_send_new(client, &goal, push_flow_told, pushed, err);
    int ok = send ? push_flow_send(send, queue, made, 0, err) : -1;

    if (ok == 0)
        ok = later_flow_send_end(send, false, err);
    later_flow_send_free(send);
    return ok;
}

/* ---- a whole flow */

enum pass { CHECK, WAITING, OTHERS };

/* A flow that is being pushed. */
struct flowing {
    struct later_client *client;
    const char *name, *home;
    struct later_flow_plan *plan;
    struct later_flow_send *send;
    const struct later_new_job *jobs;
    size_t count;
    enum later_push_result *results; /* of the caller; may be NULL */
};

static void push_flow_note(void *arg, const struct later_flow_sent *sent)
{
    const struct flowing *flowing = arg;

    if (flowing->results)
        flowing->results[sent->mark] = sent->how;
}

/* Makes job i of the flow. Without an id and a step its id is by its place, so that the same jobs
 * again are the same. */
static int push_flow_make(const struct flowing *flowing, size_t i, struct later_making *made,
                          struct later_error *err)
{
    const char *flow = flowing->name;
    struct later_new_job job = flowing->jobs[i];
    char id[LATER_STEP_MAX + 24];

    *made = (struct later_making){ .built = NULL };
    if (job.document)
        return later_fail(err, LATER_E_DATA, "document: not in a flow; give type and payload");
    if (job.flow && strcmp(job.flow, flow) != 0)
        return later_fail(err, LATER_E_DATA, "flow: is not %s", flow);
    if (job.home && strcmp(job.home, flowing->home) != 0)
        return later_fail(err, LATER_E_DATA, "home: is not %s", flowing->home);
    if (job.queue && !later_key_queue_valid(job.queue))
        return later_call_whole(job.queue, err);
    job.flow = flow;
    job.queue = NULL;
    snprintf(id, sizeof id, "%s:%zu", flow, i + 1);
    if (!job.id && !job.step)
        job.id = id;
    return later_making_make(made, flowing->client, &job, err);
}

static int push_flow_one(struct flowing *flowing, size_t i, enum pass pass, struct later_error *err)
{
    const char *queue = flowing->jobs[i].queue ? flowing->jobs[i].queue : flowing->home;
    struct later_making made;
    int ok = push_flow_make(flowing, i, &made, err);

    if (ok == 0 && pass == CHECK)
        ok = later_flow_plan_add(flowing->plan, made.tie, i + 1, err);
    if (ok == 0 && pass != CHECK && (made.tie->after[0] != '\0') == (pass == WAITING))
        ok = push_flow_send(flowing->send, queue, &made, i, err);
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
    const struct later_flow_goal goal = { .home = flowing->home,
                                          .name = flowing->name,
                                          .adder = "" };

    if (push_flow_pass(flowing, CHECK, err) < 0 ||
        later_flow_plan_check(flowing->plan, open, err) < 0)
        return -1;
    flowing->send = later_flow_send_new(flowing->client, &goal, push_flow_note, flowing, err);
    if (!flowing->send || push_flow_pass(flowing, WAITING, err) < 0 ||
        later_flow_send_turn(flowing->send, err) < 0 || push_flow_pass(flowing, OTHERS, err) < 0)
        return -1;
    return later_flow_send_end(flowing->send, !open, err);
}

int later_push_flow(struct later_client *client, const char *queue, const char *flow, int open,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err)
{
    struct flowing flowing = { .client = client,
                               .name = flow,
                               .home = queue,
                               .jobs = jobs,
                               .count = count,
                               .results = results };
    struct later_error ignored;
    int ok;

    if (!later_key_queue_valid(flow))
        return later_fail(err, LATER_E_USAGE, "flow: must be 1 to %d letters, digits and _ . -",
                          LATER_STEP_MAX);
    if (later_call_whole(queue, err) < 0)
        return -1;
    if (count > LATER_FLOW_JOBS)
        return later_fail(err, LATER_E_DATA, "a flow has at most %d jobs", LATER_FLOW_JOBS);
    flowing.plan = later_flow_plan_new();
    ok = flowing.plan ? push_flow_all(&flowing, open != 0, err)
                      : later_fail(err, LATER_E_SYSTEM, "no memory");
    /* On a Cluster the queue's name goes to another node: who looks for the flow now shall find it.
     */
    if (ok == 0)
        (void)later_call_drain(client, &ignored);
    later_flow_plan_free(flowing.plan);
    later_flow_send_free(flowing.send);
    return ok;
}
