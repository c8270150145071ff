/* flow.c: `later flow` picks the verb. */
#include "commands.h"
#include "flow/flow.h"

#include "base/clock.h"
#include "base/grow.h"
#include "client/outage.h"
#include "jobs/cancel.h"
#include "push/wait.h"
#include "output/jsonl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_FIRST                                                                                 \
    0.005             /* seconds until the second look of `wait`; then twice as many each time, */
#define LOOK_MOST 0.2 /* at most */

/* ---- wait */

static bool flow_has_ended(const struct later_flow_sizes *sizes)
{
    const char *state = later_flow_state(sizes);

    return strcmp(state, "running") != 0 && strcmp(state, "open") != 0;
}

static int flow_look_again(struct cli *cli, const char *name, struct later_outage *outage,
                           struct flow_found *found, struct later_error *err)
{
    int ok;

    while ((ok = flow_find(cli, name, found, err)) < 0 && later_outage_wait(outage, err)) {
    }
    later_outage_over(outage);
    return ok;
}

/* Who begins while Redis is away is told so at once. */
static int flow_wait(struct cli *cli, char **words, struct later_error *err)
{
    const char *name = words[0];
    struct flow_found found;
    struct table table;
    double seconds, now, nap = LOOK_FIRST;
    struct later_outage outage = { .since = 0 };
    int ok;

    if (wait_option(cli, "timeout", &seconds, err) < 0)
        return -1;
    outage.until = later_clock() + seconds;
    ok = flow_find(cli, name, &found, err);
    outage.client = cli->client;
    while (ok == 0 && !flow_has_ended(&found.sizes)) {
        if (later_clock() >= outage.until) {
            cli_say(cli, "%s is %s; it goes on", name, later_flow_state(&found.sizes));
            return LATER_E_LATER;
        }
        later_sleep(nap);
        nap = fmin(2 * nap, LOOK_MOST);
        ok = flow_look_again(cli, name, &outage, &found, err);
    }
    if (ok < 0 || cli_clock(cli, &now, err) < 0)
        return -1;
    flow_table(cli, &table);
    flow_tell(cli, &table, name, &found, now);
    table_end(&table);
    return strcmp(later_flow_state(&found.sizes), "done") == 0 ? LATER_OK : LATER_E_DATA;
}

/* ---- close, kick, cancel */

/* The jobs in some states: `QUEUE ID`, in the order of their queues; QUEUE is empty for that of the
 * flow. */
struct flow_ids {
    const char *states;
    char **ids; /* owned */
    size_t count, room;
};

static int flow_ids_add(void *arg, const struct later_flow_member *member)
{
    char text[LATER_ID_SIZE + LATER_QUEUE_MAX + 1];
    struct flow_ids *list = arg;

    if (!strchr(list->states, member->state))
        return 0;
    if (!later_grow(&list->ids, &list->room, list->count, sizeof *list->ids))
        return 1;
    snprintf(text, sizeof text, "%s %s", member->queue, member->id);
    list->ids[list->count] = strdup(text);
    return list->ids[list->count++] == NULL;
}

static int flow_by_queue(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Acts on jobs of one queue. Returns how many there were, or -1 with *err. */
typedef int64_t flow_act_fn(struct cli *cli, const struct later_keys *keys, const char *const *ids,
                            size_t count, struct later_error *err);

/* Acts on the first of these jobs, as many as are in one queue and fit into a call; *took: how
 * many. Returns as fn. */
static int64_t flow_act_some(struct cli *cli, const struct flow_found *found, char *const *jobs,
                             size_t count, size_t *took, flow_act_fn *fn, struct later_error *err)
{
    const char *ids[LATER_FLOW_BATCH];
    size_t len = strcspn(jobs[0], " ");
    struct later_keys keys = found->keys;
    later_queue_name queue = "";

    for (*took = 0; *took < count && *took < LATER_FLOW_BATCH; ++*took) {
        if (strncmp(jobs[*took], jobs[0], len + 1) != 0)
            break;
        ids[*took] = jobs[*took] + len + 1;
    }
    snprintf(queue, sizeof queue, "%.*s", (int)len, jobs[0]);
    if (*queue && later_call_keys(cli->client, queue, &keys, err) < 0)
        return -1;
    return fn(cli, &keys, ids, *took, err);
}

/* Acts on each job of the flow in one of these states. Returns how many, or -1 with *err. */
static int64_t flow_act(struct cli *cli, const struct flow_found *found, const char *name,
                        const char *states, flow_act_fn *fn, struct later_error *err)
{
    struct flow_ids list = { .states = states };
    int ok = flow_each(cli, &found->keys, name, flow_ids_add, &list, err);
    int64_t acted = 0, some;

    if (ok > 0)
        ok = later_fail(err, LATER_E_SYSTEM, "no memory");
    else if (list.count)
        qsort(list.ids, list.count, sizeof *list.ids, flow_by_queue);
    for (size_t i = 0, took; ok == 0 && i < list.count; i += took) {
        some = flow_act_some(cli, found, list.ids + i, list.count - i, &took, fn, err);
        if (some < 0)
            ok = -1;
        else
            acted += some;
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.ids[i]);
    free(list.ids);
    return ok < 0 ? -1 : acted;
}

static int flow_print(struct cli *cli, const struct flow_found *found, const char *name,
                      const char *result, int64_t count)
{
    struct jsonl json;

    if (!cli->json) {
        if (count >= 0)
            printf("%lld\n", (long long)count);
        return LATER_OK;
    }
    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s flow:%s", found->keys.queue, name);
    if (count >= 0)
        jsonl_int(&json, result, count);
    else
        jsonl_text(&json, "result", result);
    jsonl_end(&json);
    return LATER_OK;
}

static int flow_shut(struct cli *cli, const struct flow_found *found, const char *name,
                     struct later_error *err)
{
    struct later_flow_call call = { .name = name, .adder = "", .close = true };
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_flow_push(&cmd, &found->keys, &call, NULL, 0);
    reply = cli_call(cli, &cmd, err);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

static int flow_close(struct cli *cli, char **words, struct later_error *err)
{
    const char *name = words[0];
    struct flow_found found;

    if (flow_find(cli, name, &found, err) < 0 || flow_shut(cli, &found, name, err) < 0)
        return -1;
    return flow_print(cli, &found, name, "closed", -1);
}

static int64_t flow_kick_some(struct cli *cli, const struct later_keys *keys,
                              const char *const *ids, size_t count, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int64_t kicked = 0;

    later_queue_ids(&cmd, LATER_SCRIPT_KICK, keys, ids, count);
    reply = cli_call_once(cli, &cmd, err);
    if (!reply)
        return -1;
    for (size_t i = 0; i < count; i++)
        kicked += *later_reply_text_at(reply, i) != '\0';
    later_reply_free(reply);
    return kicked;
}

static int flow_kick(struct cli *cli, char **words, struct later_error *err)
{
    const char *name = words[0];
    struct flow_found found;
    int64_t kicked;

    if (flow_find(cli, name, &found, err) < 0)
        return -1;
    kicked = flow_act(cli, &found, name, "x", flow_kick_some, err);
    return kicked < 0 ? -1 : flow_print(cli, &found, name, "kicked", kicked);
}

/* Those that wait go first: otherwise one that waits for a failure would run now. */
static int flow_cancel(struct cli *cli, char **words, struct later_error *err)
{
    const char *name = words[0];
    struct flow_found found;
    int64_t waited, others;

    if (flow_find(cli, name, &found, err) < 0)
        return -1;
    waited = flow_act(cli, &found, name, "w", cancel_some, err);
    others = waited < 0 ? -1 : flow_act(cli, &found, name, "wox", cancel_some, err);
    if (others < 0 || flow_shut(cli, &found, name, err) < 0)
        return -1;
    return flow_print(cli, &found, name, "cancelled", waited + others);
}

/* ---- the command */

#define NEEDS "the name of a flow"
static const struct cli_verb verbs[] = {
    { "show", 1, 1, NEEDS, flow_show },     { "wait", 1, 1, NEEDS, flow_wait },
    { "close", 1, 1, NEEDS, flow_close },   { "kick", 1, 1, NEEDS, flow_kick },
    { "cancel", 1, 1, NEEDS, flow_cancel },
};

static int flow_run(struct cli *cli, struct later_error *err)
{
    const struct cli_verb *verb;

    if (cli->args.count == 0)
        return flow_list(cli, err);
    verb = cli_verb(cli, verbs, sizeof verbs / sizeof *verbs, err);
    return verb ? verb->run(cli, cli->args.words + 1, err) : -1;
}

static const struct args_option flow_options[] = {
    { "queue", 'q', "Q", "the queue of the flow (the one that has it)" },
    { "state", 0, "STATE", "list: only open, running, blocked, done or ended ones" },
    { "number", 'n', "N", "list: at most N (1000)" },
    { "timeout", 0, "DURATION", "wait: at most this long (until it has ended)" },
    { 0 },
};

const struct command command_flow = {
    .name = "flow",
    .usage = "[show|wait|kick|cancel|close FLOW] [OPTIONS]",
    .brief = "Flows: jobs that wait for jobs",
    .more = "Without a verb, lists the flows. `later push --flow F --file FILE` pushes one. "
            "`kick` kicks\n"
            "its dead jobs, so that it goes on; `cancel` drops all of its jobs that have not "
            "ended;\n"
            "`close` says that no more jobs come. `wait` ends with 0 if all jobs are done, 65 if "
            "the flow\n"
            "is blocked or some jobs are gone, 66 if there is no such flow, 75 if the time is "
            "up.\n",
    .example = "later push --flow night --file night.ndjson\nlater flow\nlater flow show night\n"
               "later flow wait night --timeout 1h\n",
    .options = flow_options,
    .max = 2,
    .run = flow_run,
};
