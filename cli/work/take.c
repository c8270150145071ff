/* take.c: taking jobs by hand. */
#include "work/take.h"

#include "base/clock.h"
#include "queue/inspect.h"
#include "choose/members.h"
#include "status/served.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define LEASE 30.0 /* seconds, unless --lease is given */

char *take_error(enum later_ending ending, const char *text)
{
    const char *kind = later_endings[ending].kind;
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    return kind ? later_queue_error(kind, text, host, 0) : NULL;
}

int take_lease(const struct cli *cli, double *lease, struct later_error *err)
{
    *lease = LEASE;
    if (cli_duration(cli, "lease", lease, err) < 0)
        return -1;
    if (*lease < 1 || *lease > LATER_TIMEOUT_MAX)
        return later_fail(err, LATER_E_USAGE, "--lease: 1 second to 7 days");
    return 0;
}

int taker_begin(struct taker *taker, struct cli *cli, double lease, struct later_error *err)
{
    struct where_given given = cli_given(cli);

    *taker = (struct taker){ .cli = cli, .lease = lease };
    taker->config = where_config(&given, err);
    if (!taker->config)
        return -1;
    taker->lapse = take_error(LATER_ENDED_LAPSED, "the lease ran out");
    return taker->lapse ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory");
}

void taker_end(struct taker *taker)
{
    free(taker->lapse);
    config_free(taker->config);
    served_free(taker->served);
}

/* If Redis has just come back, it may have been away for longer than the leases. */
static bool redis_is_new(struct taker *taker)
{
    struct later_command cmd = { 0 };
    struct later_error ignored;
    struct later_reply *reply;
    double uptime;

    later_inspect_server(&cmd);
    reply = cli_call(taker->cli, &cmd, &ignored);
    uptime = later_inspect_uptime(reply);
    later_reply_free(reply);
    return uptime < taker->lease / 3;
}

static void look_around(struct taker *taker, double since)
{
    struct later_error
        ignored; /* if nobody may know who serves the queue, it is right to be patient */

    if (taker->since > 0)
        return;
    taker->since = since;
    taker->served = served_read(taker->cli, &ignored);
    taker->redis_is_new = redis_is_new(taker);
}

static bool may_lapse(struct taker *taker, const char *queue)
{
    const struct later_redis *redis = later_call_redis(taker->cli->client);
    double since = later_redis_since(redis);

    if (!later_redis_up(redis))
        return false;
    if (later_clock() - since > taker->lease / 3)
        return true;
    look_around(taker, since);
    /* On a Cluster the start of one node says nothing about the others. */
    return since <= taker->since && !taker->redis_is_new && !later_redis_is_cluster(redis) &&
           served_by(taker->served, queue) == 0;
}

static int take_lapse(struct taker *taker, const struct later_keys *keys, const char *token,
                      double deadline, struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_queue_lapse(&cmd, keys, token, deadline, taker->lapse);
    return cli_count(cli_call(taker->cli, &cmd, err)) < 0 ? -1 : 0;
}

int take_due(struct taker *taker, const struct later_keys *keys, double *next,
             struct later_error *err)
{
    bool lapses = may_lapse(taker, keys->queue);
    struct later_command cmd = { 0 };
    struct later_migrated migrated;
    struct later_reply *reply;
    int ok = 0;

    later_queue_migrate(&cmd, keys, LATER_BATCH_MAX);
    reply = cli_call(taker->cli, &cmd, err);
    if (!reply)
        return -1;
    later_queue_migrated(reply, &migrated);
    /* A call that was stuck in a frozen Redis must not lapse jobs before their holders can
     * renew. */
    for (size_t i = 0; ok == 0 && lapses && i < migrated.run_out; i++)
        ok = take_lapse(taker, keys, later_queue_run_out(reply, i), migrated.now + taker->lease / 6,
                        err);
    later_reply_free(reply);
    *next = migrated.next_due;
    if (lapses && migrated.next_lapse > 0)
        *next = *next < 0 ? migrated.next_lapse : fmin(*next, migrated.next_lapse);
    return ok;
}

int take_jobs(struct taker *taker, const struct later_keys *keys, size_t limit, take_fn *fn,
              void *arg, struct later_error *err)
{
    char token[LATER_TOKEN_LEN + 1];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    size_t count;
    int ok = 0;

    later_token(token);
    later_queue_reserve(
        &cmd, keys,
        &(struct later_take){
            .token = token, .lease = taker->lease, .limit = limit, .bytes = LATER_RESERVE_BYTES });
    reply = cli_call_once(taker->cli, &cmd, err);
    if (!reply && err->code == LATER_E_REDIS)
        members_return(taker->cli, keys, token);
    if (!reply)
        return -1;
    count = later_queue_reserved_count(reply);
    for (size_t i = 0; ok == 0 && i < count; i++) {
        struct later_reserved job;

        later_queue_reserved(reply, i, &job);
        ok = fn(arg, keys, token, &job, later_queue_reserved_now(reply), err);
    }
    later_reply_free(reply);
    return ok < 0 ? -1 : (int)count;
}

void take_wake_back(struct cli *cli, const struct later_keys *keys)
{
    struct later_command cmd = { 0 };
    struct later_error ignored;

    later_inspect_plain(&cmd, keys, LATER_SCRIPT_WAKE);
    later_reply_free(cli_call(cli, &cmd, &ignored));
}

int take_settle(struct cli *cli, const struct later_keys *keys, enum later_verb verb, double lease,
                const struct later_settlement *job, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    size_t cursor = 0;
    int result;

    later_queue_settle(&cmd, keys, verb, lease, job, 1);
    if (verb == LATER_VERB_TOUCH) /* only a touch can be repeated and give the same answer */
        reply = cli_call(cli, &cmd, err);
    else
        reply = cli_call_once(cli, &cmd, err);
    if (!reply)
        return -1;
    result = later_queue_lost(reply, 0, &cursor) ? LATER_E_TOKEN : LATER_OK;
    later_reply_free(reply);
    return result;
}

static int settle_unrun(struct taker *taker, const struct later_keys *keys,
                        struct later_settlement *job, enum later_ending ending, const char *why,
                        struct later_error *err)
{
    char *error = take_error(ending, why);
    int result;

    job->how = later_endings[ending].how;
    job->error = error;
    result = take_settle(taker->cli, keys, later_endings[ending].verb, 0, job, err);
    free(error);
    return result < 0 ? -1 : 0;
}

int take_screen(struct taker *taker, const struct later_keys *keys, const char *token,
                const struct later_reserved *job, double now, struct later_document *doc,
                struct later_policy *policy, bool *runs, struct later_error *err)
{
    struct later_settlement settlement = { .token = token, .id = job->id };
    struct later_error why;

    *runs = false;
    if (later_document_parse(doc, LATER_DOCUMENT_JOB, job->document, job->document_len,
                             taker->cli->where.document_max, &why) < 0) {
        cli_say(taker->cli, "%s: buried: %s", job->id, why.text);
        return settle_unrun(taker, keys, &settlement, LATER_ENDED_BAD, why.text, err);
    }
    config_policy(taker->config, config_type_find(taker->config, doc->type), policy);
    later_policy_apply(policy, doc);
    switch (later_verdict_before(policy, doc, job->attempts, job->crashes, job->begun, now)) {
    case LATER_FIT_EXPIRED:
        cli_say(taker->cli, "%s: expired", job->id);
        return settle_unrun(taker, keys, &settlement, LATER_ENDED_EXPIRED, "", err);
    case LATER_FIT_USED_UP:
        cli_say(taker->cli, "%s: buried: %u attempts are used up", job->id,
                (unsigned)job->attempts);
        return settle_unrun(taker, keys, &settlement, LATER_ENDED_USED_UP, "", err);
    case LATER_FIT:
        break;
    }
    *runs = true;
    return 0;
}
