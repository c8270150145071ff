/* why_flow.c: the steps of its flows that a job waits for. */
#include "why/why_inner.h"

#include "queue/flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS 4  /* flows of a job that are looked at */
#define STEPS 50 /* steps that are looked at */
#define NAMED 5  /* steps that are named */

/* What a job waits for in one flow. */
struct why_flow {
    struct why_look *look;
    struct later_keys home; /* of its queue */
    char name[LATER_FLOW_MAX + 1];
    char after[4096]; /* cut into words */
    const char *steps[STEPS];
    size_t count;
    char when[8];
};

/* Has a step in this state ended as it must? */
static bool why_flow_is_met(const char *when, char state)
{
    if (strcmp(when, "failed") == 0)
        return false; /* the first failure would have made it ready */
    return state == 'd' || (strcmp(when, "ended") == 0 && strchr("xgls", state));
}

static void why_flow_tell(const struct why_flow *flow, const char *step, char state)
{
    struct later_why_facts *facts = flow->look->facts;
    char *steps = flow->look->steps;
    size_t len = strlen(steps), room = sizeof flow->look->steps - len;

    if (why_flow_is_met(flow->when, state))
        return;
    facts->flow.dead += state == 'x' && strcmp(flow->when, "done") == 0;
    if (facts->flow.unmet++ < NAMED)
        snprintf(steps + len, room, "%s%s (%s)", len ? ", " : "", step, later_flow_word(state));
    else if (facts->flow.unmet == NAMED + 1)
        snprintf(steps + len, room, " …");
}

/* A flow needs each queue of its jobs. That its own is not served is said anyway. */
static void why_flow_needs(struct why_look *look, const char *queue)
{
    later_queue_name whole; /* it may be a shard */

    later_shard_whole(whole, queue);
    if (!look->unserved[0] && strcmp(whole, look->whole->name) != 0 &&
        served_by(look->why->served, whole) == 0)
        snprintf(look->unserved, sizeof look->unserved, "%s", whole);
}

/* Its answer has a value for each step. */
static struct later_reply *why_flow_values(const struct why_flow *flow, const char *letter,
                                           const struct later_reply *ids)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX], field[LATER_ID_SIZE + 8];

    later_key_flow(key, &flow->home, flow->name, "");
    later_command_begin(&cmd, 2 + flow->count);
    later_command_text(&cmd, "HMGET");
    later_command_text(&cmd, key);
    for (size_t i = 0; i < flow->count; i++) {
        snprintf(field, sizeof field, "%s:%s", letter,
                 ids ? later_reply_text_at(ids, i) : flow->steps[i]);
        later_command_text(&cmd, field);
    }
    return why_ask(flow->look, &cmd);
}

static void why_flow_steps(const struct why_flow *flow)
{
    struct later_reply *ids = why_flow_values(flow, "s", NULL);
    struct later_reply *jobs = ids ? why_flow_values(flow, "j", ids) : NULL;

    for (size_t i = 0; jobs && i < flow->count; i++) {
        const char *value = later_reply_text_at(jobs, i);
        struct later_flow_member member;

        later_flow_member("j:", value, &member);
        why_flow_tell(flow, flow->steps[i], *value ? *value : '?');
        if (member.queue[0] && !why_flow_is_met(flow->when, *value))
            why_flow_needs(flow->look, member.queue);
    }
    flow->look->facts->flow.all += flow->count;
    later_reply_free(ids);
    later_reply_free(jobs);
}

/* `*`: all jobs of the flow that do not wait so themselves. */
static void why_flow_star(const struct why_flow *flow)
{
    struct later_why_facts *facts = flow->look->facts;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    char key[LATER_KEY_MAX];
    uint64_t counts[5];

    later_key_flow(key, &flow->home, flow->name, "");
    later_command_say(&cmd, "HMGET %s total done open waiting dead closed", key);
    reply = why_ask(flow->look, &cmd);
    for (size_t i = 0; i < 5; i++)
        counts[i] = (uint64_t)later_reply_seconds(later_reply_at(reply, i), 0);
    facts->flow.all += counts[0];
    facts->flow.unmet +=
        strcmp(flow->when, "done") == 0 ? counts[0] - counts[1] : counts[2] + counts[3];
    facts->flow.dead += strcmp(flow->when, "done") == 0 ? counts[4] : 0;
    snprintf(flow->look->steps, sizeof flow->look->steps,
             "all others (%" PRIu64 " open, %" PRIu64 " waiting, %" PRIu64 " dead)%s", counts[2],
             counts[3], counts[4],
             strcmp(later_reply_text_at(reply, 5), "1") != 0 ? ", and until the flow is closed"
                                                             : "");
    later_reply_free(reply);
}

/* Reads what the flow knows of the job. Does it wait for steps? A job of another queue that waits
 * for none runs when the flow has said so. */
static bool why_flow_known(struct why_flow *flow, const struct later_reply *reply)
{
    struct why_look *look = flow->look;
    struct later_flow_member member;
    later_queue_name queue;

    if (!later_flow_member("j:", later_reply_text(reply, NULL), &member) ||
        (member.state != 'w' && member.state != 'o'))
        return false;
    if (look->flow[0] && (member.state != 'w' || member.after_len == 0))
        return false; /* it waits for steps of a flow before */
    snprintf(flow->after, sizeof flow->after, "%.*s", (int)member.after_len, member.after);
    snprintf(flow->when, sizeof flow->when, "%s", member.when);
    snprintf(look->flow, sizeof look->flow, "%s", flow->name);
    later_shard_whole(queue, flow->home.queue);
    why_flow_needs(look, queue);
    if (member.state == 'w' && member.after_len > 0)
        return true;
    snprintf(look->home, sizeof look->home, "%s", queue);
    return false;
}

/* tie: `FLOW`, or `FLOW@QUEUE#NUMBER` if the flow is in another queue. */
static void why_flow_one(struct why_look *look, const char *tie)
{
    struct why_flow flow = { .look = look, .home = *look->part };
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    char key[LATER_KEY_MAX], field[LATER_ID_SIZE + 8], queue[LATER_QUEUE_MAX + 1], *rest = NULL;
    bool waits;

    if (sscanf(tie, "%64[^@]@%64[^#]", flow.name, queue) == 2 && later_key_queue_valid(queue))
        later_keys_init(&flow.home, later_call_prefix(look->why->cli->client), queue);
    later_key_flow(key, &flow.home, flow.name, "");
    snprintf(field, sizeof field, "j:%s", look->seen->id);
    later_command_say(&cmd, "HGET %s %s", key, field);
    reply = why_ask(look, &cmd);
    waits = why_flow_known(&flow, reply);
    later_reply_free(reply);
    if (!waits)
        return;
    if (strcmp(flow.after, "*") == 0) {
        why_flow_star(&flow);
        return;
    }
    for (char *step = strtok_r(flow.after, ",", &rest); step && flow.count < STEPS;
         step = strtok_r(NULL, ",", &rest))
        flow.steps[flow.count++] = step;
    why_flow_steps(&flow);
}

void why_flow_look(struct why_look *look)
{
    char names[FLOWS * (LATER_FLOW_MAX + LATER_QUEUE_MAX + 24)], *rest = NULL, *name;

    snprintf(names, sizeof names, "%.*s", (int)look->seen->record.flows_len,
             look->seen->record.flows);
    name = strtok_r(names, " ", &rest);
    for (int i = 0; name && i < FLOWS; i++, name = strtok_r(NULL, " ", &rest))
        why_flow_one(look, name);
    look->facts->flow.name = look->flow;
    look->facts->flow.steps = look->steps;
    look->facts->flow.home = look->home;
    look->facts->flow.unserved = look->unserved;
}
