/* push.c: later_push() and later_push_many(). */
#include "client/bulk.h"
#include "job/document.h"
#include "client/route.h"

#include <stdlib.h>
#include <string.h>

#define AT_MAX 1e11 /* UNIX seconds; scripts/push.lua takes no more */

/* A job as the script takes it. `built` is the document to free, if we made it. */
struct prepared {
    char id[LATER_ID_SIZE];
    bool named; /* by the caller */
    char *built;
    struct later_push_item item;
};

static int prepare_document(struct prepared *to, const struct later_new_job *job,
                            struct later_error *err)
{
    struct later_document_parts parts = { .type = job->type,
                                          .payload = job->payload,
                                          .payload_len = job->payload_len,
                                          .id = to->id,
                                          .trace = job->trace,
                                          .backoff = job->backoff,
                                          .priority = job->priority,
                                          .max_attempts = job->max_attempts,
                                          .timeout = job->timeout,
                                          .expires_at = job->expires_at,
                                          .result = job->result };

    if (!job->type)
        return later_fail(err, LATER_E_DATA, "no type");
    if (job->payload && !job->payload_len)
        parts.payload_len = strlen(job->payload);
    if (job->id && strlen(job->id) >= sizeof to->id)
        return later_fail(err, LATER_E_DATA, "id: longer than %d characters", LATER_ID_MAX);
    to->named = job->id != NULL;
    if (job->id)
        strcpy(to->id, job->id);
    else
        later_document_uuid(to->id);
    to->item.priority = job->priority;
    to->built = later_document_build(&parts, LATER_DOCUMENT_MAX, &to->item.document_len, err);
    to->item.document = to->built;
    return to->built ? 0 : -1;
}

/* A document of the caller's: its bytes are pushed as they are. */
static int take_document(struct prepared *to, const struct later_new_job *job,
                         struct later_error *err)
{
    struct later_document doc;
    size_t len = job->document_len ? job->document_len : strlen(job->document);

    if (later_document_parse(&doc, LATER_DOCUMENT_JOB, job->document, len, LATER_DOCUMENT_MAX,
                             err) < 0)
        return -1;
    to->named = doc.id[0] != '\0';
    if (to->named)
        strcpy(to->id, doc.id);
    else
        later_document_uuid(to->id);
    to->item.priority = doc.priority;
    to->item.document = job->document;
    to->item.document_len = len;
    return 0;
}

/* What of the members is not 0. */
static int grant(struct prepared *to, const struct later_new_job *job, struct later_error *err)
{
    const struct later_wish wish = { .named = to->named,
                                     .in = job->in > 0 ? job->in : -1,
                                     .at = job->at > 0 ? job->at : -1,
                                     .unique_for = job->unique_for,
                                     .debounce = job->debounce > 0 ? job->debounce : -1,
                                     .max_wait = job->max_wait,
                                     .throttle = job->throttle,
                                     .again = job->again != 0 };

    if (later_wish_check(&wish, err) < 0)
        return -1;
    later_queue_wish(&to->item, &wish);
    return 0;
}

static int check_seconds(const char *name, double seconds, double most, struct later_error *err)
{
    if (seconds >= 0 && seconds <= most)
        return 0;
    return later_fail(err, LATER_E_DATA, "%s: 0 to %.0f seconds", name, most);
}

static int prepare(struct prepared *to, const struct later_new_job *job, struct later_error *err)
{
    memset(to, 0, sizeof *to);
    if (!(job->in >= 0 && job->in <= LATER_DELAY_MAX) || (job->in > 0 && job->at > 0))
        return later_fail(err, LATER_E_DATA, "in: 0 to %.0f seconds, or else at", LATER_DELAY_MAX);
    if (!(job->at >= 0 && job->at <= AT_MAX))
        return later_fail(err, LATER_E_DATA, "at: UNIX seconds, 0 to %.0f", AT_MAX);
    if (job->at > 0 && job->at < LATER_AT_MIN)
        return later_fail(err, LATER_E_DATA, "at: before the year 2001; a delay is `in`");
    if (check_seconds("unique_for", job->unique_for, LATER_UNIQUE_MAX, err) < 0 ||
        check_seconds("throttle", job->throttle, LATER_UNIQUE_MAX, err) < 0 ||
        check_seconds("debounce", job->debounce, LATER_DELAY_MAX, err) < 0 ||
        check_seconds("max_wait", job->max_wait, LATER_DELAY_MAX, err) < 0)
        return -1;
    if ((job->document ? take_document(to, job, err) : prepare_document(to, job, err)) < 0)
        return -1;
    to->item.id = to->id;
    if (grant(to, job, err) == 0)
        return 0;
    free(to->built);
    to->built = NULL;
    return -1;
}

static unsigned flags_of(const struct prepared *one, const struct later_new_job *job)
{
    return one->item.again ? LATER_PUSH_AGAIN : job->replace ? LATER_PUSH_REPLACE : 0;
}

static enum later_push_result result_of(enum later_pushed how)
{
    return how == LATER_PUSHED_AGAIN    ? LATER_IS_AGAIN
           : how == LATER_PUSH_REPLACED ? LATER_IS_REPLACED
           : how == LATER_PUSH_EXISTS   ? LATER_IS_KNOWN
                                        : LATER_IS_PUSHED;
}

int later_push(struct later_client *client, const char *queue, const struct later_new_job *job,
               char *id, enum later_push_result *result, struct later_error *err)
{
    struct later_routed routed;
    struct prepared one;
    int ok;

    if (later_call_whole(queue, err) < 0 || prepare(&one, job, err) < 0)
        return -1;
    ok = later_route_push(client, queue, flags_of(&one, job), &one.item, &routed, err);
    if (ok == 0 && result)
        *result = result_of(routed.how);
    if (ok == 0 && id)
        memcpy(id, one.id, sizeof one.id);
    free(one.built);
    return ok;
}

/* What later_push_many() collects from the bulk. */
struct tally {
    enum later_push_result *results;
    bool failed;
    struct later_error err;
};

static void count_one(void *arg, const struct later_bulk_told *told)
{
    struct tally *tally = arg;

    if (told->err && !tally->failed) {
        tally->failed = true;
        tally->err = *told->err;
    }
    if (tally->results && !told->err)
        tally->results[told->mark] = result_of(told->how);
}

int later_push_many(struct later_client *client, const char *queue,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err)
{
    struct tally tally = { .results = results };
    struct later_bulk *bulk[2] = { NULL, NULL }; /* plain pushes; replacing ones */
    struct later_error bad;
    int ok = 0, good = 0; /* good: -1 once a job was refused, for `bad` */

    for (size_t i = 0; ok == 0 && i < 2; i++) {
        bulk[i] = later_bulk_new(client, i == 1, count_one, &tally);
        if (!bulk[i])
            ok = later_fail(err, LATER_E_SYSTEM, "no memory");
    }
    /* Checked as they go, while Redis works on those before: checking all first would take as long
     * as pushing them. */
    for (size_t i = 0; ok == 0 && good == 0 && i < count; i++) {
        struct prepared one;
        struct later_error why;

        if (prepare(&one, &jobs[i], &why) < 0)
            good = later_fail(&bad, why.code, "job %zu: %s", i + 1, why.text);
        else
            ok = later_bulk_add(bulk[jobs[i].replace != 0], queue, &one.item, i, err);
        free(one.built);
    }
    for (size_t i = 0; ok == 0 && i < 2; i++)
        ok = later_bulk_finish(bulk[i], err);
    if (ok == 0 && (tally.failed || good < 0)) {
        *err = tally.failed ? tally.err : bad;
        ok = -1;
    }
    later_bulk_free(bulk[0]);
    later_bulk_free(bulk[1]);
    return ok;
}
