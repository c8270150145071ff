/* push_then.c: `later push TYPE … --then TYPE[=PAYLOAD]`, a flow of jobs that run one by one. */
#include "queue/flow.h"

#include "client/push.h"
#include "push/push.h"
#include "status/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One job of the chain. */
struct link {
    struct later_new_job job;
    char type[LATER_TYPE_MAX + 1], step[LATER_STEP_MAX + 1], after[LATER_STEP_MAX + 1];
    char id[LATER_ID_SIZE];
};

/* Reads TYPE or TYPE=PAYLOAD. */
static int push_then_read(struct link *link, const char *text, int is_text, struct later_error *err)
{
    size_t len = strcspn(text, "=");

    if (len == 0 || len > LATER_TYPE_MAX)
        return later_fail(err, LATER_E_USAGE, "--then: TYPE or TYPE=PAYLOAD, not %.70s", text);
    memcpy(link->type, text, len);
    link->type[len] = '\0';
    link->job.type = link->type;
    if (text[len] == '=') {
        link->job.payload = text + len + 1;
        link->job.text = is_text;
    }
    return 0;
}

/* Names the step, and ties it to the one before. */
static void push_then_tie(struct link *links, size_t i, const char *flow)
{
    struct link *link = &links[i];

    link->job.flow = flow;
    if (i == 0 && link->job.step)
        snprintf(link->step, sizeof link->step, "%s", link->job.step);
    else
        snprintf(link->step, sizeof link->step, "%zu", i + 1);
    link->job.step = link->step;
    if (i > 0) {
        strcpy(link->after, links[i - 1].step);
        link->job.after = link->after;
    }
    if (link->job.id)
        snprintf(link->id, sizeof link->id, "%s", link->job.id);
    else
        snprintf(link->id, sizeof link->id, "%s.%s", flow, link->step);
}

static int push_then_push(struct cli *cli, const char *flow, const struct link *links, size_t count,
                          struct later_error *err)
{
    struct later_new_job jobs[ARGS_GIVEN_MAX + 1];
    enum later_push_result results[ARGS_GIVEN_MAX + 1] = { LATER_IS_PUSHED };
    struct later_error why;
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        jobs[i] = links[i].job;
    if (later_push_flow(cli->client, cli_queue(cli), flow, false, jobs, count, results, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        known += results[i] == LATER_IS_KNOWN;
        if (cli->json)
            push_print_json(cli_queue(cli), links[i].id, results[i], "", 0);
        else
            puts(links[i].id);
    }
    if (cli->err_terminal || known)
        cli_say(cli, "flow %s: %zu pushed, %zu existed", flow, count - known, known);
    served_warn(cli, "pushed to", cli_queue(cli));
    (void)later_call_drain(cli->client, &why); /* only the announcement can fail */
    return LATER_OK;
}

int push_chain(struct cli *cli, const struct later_new_job *first, struct later_error *err)
{
    struct link *links = calloc(ARGS_GIVEN_MAX + 1, sizeof *links);
    const char *flow = first->flow, *text;
    char name[LATER_NEW_ID_SIZE];
    size_t count = 1, at = 0;
    int ok = 0;

    if (!links)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (!flow) {
        later_document_id(name);
        flow = name;
    }
    links[0].job = *first;
    while (ok == 0 && (text = args_next(&cli->args, "then", &at)))
        ok = push_then_read(&links[count++], text, first->text, err);
    for (size_t i = 0; i < count; i++)
        push_then_tie(links, i, flow);
    if (ok == 0)
        ok = push_then_push(cli, flow, links, count, err);
    free(links);
    return ok;
}
