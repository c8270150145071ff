/* flow_plan.c: which job of a flow waits for which. */
#include "job/flow_plan.h"

#include "base/names.h"
#include "base/uncleared.h"
#include "job/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a document says */

/* Writes the names of a list that is checked, with commas between. */
static void flow_put_after(char to[LATER_AFTER_SIZE], const char *list)
{
    while (*(list += strcspn(list, "\"]")) == '"') {
        size_t len = strcspn(++list, "\"");

        memcpy(to, list, len);
        to[len] = ',';
        to += len + 1;
        list += len + 1;
    }
    to[-1] = '\0';
}

int later_flow_tie(struct later_flow_tie *tie, const char *document, size_t len,
                   struct later_error *err)
{
    struct later_json_member found[] = {
        { .name = "flow" }, { .name = "step" }, { .name = "after" }, { .name = "when" }
    };
    const size_t count = sizeof found / sizeof *found;
    struct later_document doc LATER_UNCLEARED; /* only these four are read */

    doc.flow[0] = doc.step[0] = doc.when[0] = '\0';
    doc.after = NULL;
    if (later_json_scan(document, len, found, count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (found[i].value && later_document_member(&doc, &found[i], err) < 0)
            return -1;
    }
    if (doc.when[0] && !doc.after)
        return later_fail(err, LATER_E_DATA, "when: needs `after`");
    strcpy(tie->flow, doc.flow);
    strcpy(tie->step, doc.step);
    tie->after[0] = '\0';
    if (doc.after)
        flow_put_after(tie->after, doc.after);
    tie->when = doc.when[0] == 'e' ? "ended" : doc.when[0] == 'f' ? "failed" : "done";
    return 0;
}

/* ---- the plan */

/* A job that has a step or waits. */
struct planned {
    char *step, *after; /* owned; after: "" = it waits for nothing */
    uint64_t line;
    uint32_t waiters; /* how many wait for this step */
    uint32_t left;    /* steps of `after` that are not known to come */
    uint32_t next;    /* in a list: 0 = the end, else an index plus 1 */
};

struct later_flow_plan {
    struct planned **jobs; /* owned */
    size_t count, room;
    struct later_names steps; /* of the jobs that have one */
};

struct later_flow_plan *later_flow_plan_new(void)
{
    return calloc(1, sizeof(struct later_flow_plan));
}

static void flow_plan_forget(struct planned *job)
{
    if (job) {
        free(job->step);
        free(job->after);
    }
    free(job);
}

static struct planned *flow_plan_make(const struct later_flow_tie *tie, uint64_t line)
{
    struct planned *job = calloc(1, sizeof *job);

    if (!job)
        return NULL;
    job->line = line;
    job->step = strdup(tie->step);
    job->after = strdup(tie->after);
    if (job->step && job->after)
        return job;
    flow_plan_forget(job);
    return NULL;
}

static int flow_plan_keep(struct later_flow_plan *plan, struct planned *job)
{
    if (plan->count == plan->room) {
        size_t room = plan->room ? 2 * plan->room : 64;
        struct planned **jobs = realloc(plan->jobs, room * sizeof(*jobs));

        if (!jobs)
            return -1;
        plan->jobs = jobs;
        plan->room = room;
    }
    if (job->step[0] && !later_names_add(&plan->steps, job->step, job))
        return -1;
    plan->jobs[plan->count++] = job;
    return 0;
}

int later_flow_plan_add(struct later_flow_plan *plan, const struct later_flow_tie *tie,
                        uint64_t line, struct later_error *err)
{
    const struct planned *same;
    struct planned *job;

    if (!tie->step[0] && !tie->after[0])
        return 0;
    same = tie->step[0] ? later_names_find(&plan->steps, tie->step) : NULL;
    if (same)
        return later_fail(err, LATER_E_DATA, "step: %s is also the step of line %" PRIu64,
                          tie->step, same->line);
    job = flow_plan_make(tie, line);
    if (job && flow_plan_keep(plan, job) == 0)
        return 0;
    flow_plan_forget(job);
    return later_fail(err, LATER_E_SYSTEM, "no memory");
}

/* Copies the next of names with commas between; returns what is behind it, or NULL. */
static const char *flow_plan_name(const char *after, char name[LATER_STEP_MAX + 1])
{
    size_t len = strcspn(after, ",");

    if (len == 0)
        return NULL;
    memcpy(name, after, len);
    name[len] = '\0';
    return after + len + (after[len] == ',');
}

/* Counts what a job waits for. */
static int flow_plan_count(struct later_flow_plan *plan, struct planned *job, bool open,
                           struct later_error *err)
{
    char name[LATER_STEP_MAX + 1];

    for (const char *rest = job->after; strcmp(job->after, "*") != 0;) {
        struct planned *step;

        rest = flow_plan_name(rest, name);
        if (!rest)
            break;
        step = later_names_find(&plan->steps, name);
        if (!step && !open)
            return later_fail(err, LATER_E_DATA, "line %" PRIu64 ": after: there is no step %s",
                              job->line, name);
        if (step && strcmp(step->after, "*") == 0)
            return later_fail(err, LATER_E_DATA,
                              "line %" PRIu64 ": after: step %s waits for all jobs, this one too",
                              job->line, name);
        if (step && ++step->waiters > LATER_WAITERS_MAX)
            return later_fail(err, LATER_E_DATA,
                              "line %" PRIu64 ": after: more than %d jobs wait for step %s; put a "
                              "job between them",
                              job->line, LATER_WAITERS_MAX, name);
        job->left += step != NULL;
    }
    return 0;
}

/* Has this job a step before it that can never come? */
static struct planned *flow_plan_stuck(const struct later_flow_plan *plan,
                                       const struct planned *job)
{
    char name[LATER_STEP_MAX + 1];

    for (const char *rest = job->after; (rest = flow_plan_name(rest, name));) {
        struct planned *step = later_names_find(&plan->steps, name);

        if (step && step->left > 0)
            return step;
    }
    return NULL;
}

/* Says the circle into which the steps before this job lead. */
static int flow_plan_tell_circle(const struct later_flow_plan *plan, struct planned *job,
                                 struct later_error *err)
{
    char text[300] = "";
    size_t len = 0;
    const struct planned *first;

    for (size_t i = 0; i < plan->count; i++) /* far enough to be within the circle */
        job = flow_plan_stuck(plan, job);
    first = job;
    do {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s (line %" PRIu64 ") waits for ",
                                job->step, job->line);
        job = flow_plan_stuck(plan, job);
    } while (job != first && len < 150);
    snprintf(text + len, sizeof text - len, "%s%s", job == first ? "" : "… ", first->step);
    return later_fail(err, LATER_E_DATA, "a circle: %s", text);
}

/* Takes away, again and again, the jobs that wait for nothing that is left. Who waits for a step is
 * found by a list of (waiter, next) for each. */
struct flow_edges {
    struct edge {
        struct planned *waiter;
        size_t next; /* index plus 1; 0 = the end */
    } * edges;       /* owned */
    size_t count;
};

static int flow_plan_edges(const struct later_flow_plan *plan, struct flow_edges *edges)
{
    char name[LATER_STEP_MAX + 1];
    size_t total = 1;

    for (size_t i = 0; i < plan->count; i++)
        total += plan->jobs[i]->left;
    edges->edges = calloc(total, sizeof *edges->edges);
    edges->count = 0;
    for (size_t i = 0; edges->edges && i < plan->count; i++) {
        for (const char *rest = plan->jobs[i]->after; (rest = flow_plan_name(rest, name));) {
            struct planned *step = later_names_find(&plan->steps, name);

            if (!step)
                continue;
            edges->edges[edges->count++] =
                (struct edge){ .waiter = plan->jobs[i], .next = step->next };
            step->next = (uint32_t)edges->count;
        }
    }
    return edges->edges ? 0 : -1;
}

static int flow_plan_circle(struct later_flow_plan *plan, struct later_error *err)
{
    struct planned **ready = calloc(plan->count + 1, sizeof(*ready));
    struct flow_edges edges = { 0 };
    size_t count = 0;
    int result = 0;

    if (!ready || flow_plan_edges(plan, &edges) < 0)
        result = later_fail(err, LATER_E_SYSTEM, "no memory");
    for (size_t i = 0; result == 0 && i < plan->count; i++) {
        if (plan->jobs[i]->left == 0)
            ready[count++] = plan->jobs[i];
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        for (size_t at = ready[i]->next; at > 0; at = edges.edges[at - 1].next) {
            if (--edges.edges[at - 1].waiter->left == 0)
                ready[count++] = edges.edges[at - 1].waiter;
        }
    }
    for (size_t i = 0; result == 0 && count < plan->count && i < plan->count; i++) {
        if (plan->jobs[i]->left > 0)
            result = flow_plan_tell_circle(plan, plan->jobs[i], err);
    }
    free(ready);
    free(edges.edges);
    return result;
}

int later_flow_plan_check(struct later_flow_plan *plan, bool open, struct later_error *err)
{
    for (size_t i = 0; i < plan->count; i++)
        plan->jobs[i]->left = plan->jobs[i]->waiters = plan->jobs[i]->next = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (flow_plan_count(plan, plan->jobs[i], open, err) < 0)
            return -1;
    }
    return flow_plan_circle(plan, err);
}

void later_flow_plan_free(struct later_flow_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->count; i++)
        flow_plan_forget(plan->jobs[i]);
    later_names_free(&plan->steps, NULL);
    free(plan->jobs);
    free(plan);
}
