/* push.c: later_push() and later_push_many(). */
#include "client/push_inner.h"

#include "base/spell.h"
#include "client/bulk.h"
#include "job/document.h"
#include "job/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what a caller says, as the script takes it --- */

static int check_option(const char *word, double number, struct later_error *err)
{
    return later_option_check(later_option_find(word), number, err);
}

/* Checks what is not read back from the document (later_document_build()). Most is not set. */
static int check_times(const struct later_new_job *job, struct later_error *err)
{
    /* clang-format off */
    /* @options seconds,span,time: if (job->{name} != 0 && check_option("{dashed}", job->{name}, err) < 0)\n    return -1; */
    if (job->in != 0 && check_option("in", job->in, err) < 0)
        return -1;
    if (job->at != 0 && check_option("at", job->at, err) < 0)
        return -1;
    if (job->retry_for != 0 && check_option("retry-for", job->retry_for, err) < 0)
        return -1;
    if (job->timeout != 0 && check_option("timeout", job->timeout, err) < 0)
        return -1;
    if (job->expires_at != 0 && check_option("expires-at", job->expires_at, err) < 0)
        return -1;
    if (job->expires_in != 0 && check_option("expires-in", job->expires_in, err) < 0)
        return -1;
    if (job->result != 0 && check_option("result", job->result, err) < 0)
        return -1;
    if (job->unique_for != 0 && check_option("unique-for", job->unique_for, err) < 0)
        return -1;
    if (job->debounce != 0 && check_option("debounce", job->debounce, err) < 0)
        return -1;
    if (job->max_wait != 0 && check_option("max-wait", job->max_wait, err) < 0)
        return -1;
    if (job->throttle != 0 && check_option("throttle", job->throttle, err) < 0)
        return -1;
    /* @end */
    /* clang-format on */
    return 0;
}

/* Some of what a push can do, the push into a flow cannot. */
static int check_tied(const struct later_push_item *item, struct later_error *err)
{
    if (item->expires_in > 0 || item->unique_for > 0 || item->throttle > 0 || item->again ||
        item->replace || item->debounce > 0)
        return later_fail(err, LATER_E_DATA,
                          "expires_in, unique_for, replace, again, debounce, throttle: not for a "
                          "job of a flow");
    return 0;
}

static int check_tie(const struct later_new_job *job, const struct later_push_item *item,
                     struct later_error *err)
{
    if (job->flow)
        return check_tied(item, err);
    if (job->step || job->after || job->when || job->adder || job->home)
        return later_fail(err, LATER_E_DATA, "step, after, when, adder, home: go with flow");
    return 0;
}

int later_push_goes(const struct later_new_job *job, struct later_error *err)
{
    struct later_push_item item = { 0 };

    later_option_take(&item, job);
    if (later_push_check(&item, err) < 0 || check_times(job, err) < 0)
        return -1;
    return job->document ? 0 : check_tie(job, &item, err);
}

/* Sets its id, or a new one, and checks whether what it asks for goes with the id. */
static int name(struct later_making *to, const char *id, struct later_error *err)
{
    if (id && strlen(id) >= sizeof to->id)
        return later_fail(err, LATER_E_DATA, "id: longer than %d characters", LATER_ID_MAX);
    to->item.id = id;
    if (later_push_check(&to->item, err) < 0)
        return -1;
    if (id)
        strcpy(to->id, id);
    else
        to->item.bits = later_document_id(to->id);
    to->item.id = to->id;
    return 0;
}

/* Reads from its document how it is tied to its flow. */
static int push_tie(struct later_making *to, const struct later_new_job *job,
                    struct later_error *err)
{
    to->adder = job->adder ? job->adder : "";
    to->home = job->home;
    to->tie = malloc(sizeof *to->tie);
    if (!to->tie)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (check_tied(&to->item, err) < 0)
        return -1;
    return later_flow_tie(to->tie, to->item.document, to->item.document_len, err);
}

static int build(struct later_making *to, const struct later_new_job *job, size_t max,
                 struct later_error *err)
{
    struct later_new_job named = *job;
    char step_id[LATER_ID_SIZE];

    if (!job->type)
        return later_fail(err, LATER_E_DATA, "no type");
    if (job->flow && job->step && !job->id && later_key_queue_valid(job->step)) {
        snprintf(step_id, sizeof step_id, "%s.%s", job->flow, job->step);
        named.id = step_id;
    }
    if (check_tie(job, &to->item, err) < 0 || name(to, named.id, err) < 0)
        return -1;
    named.id = to->id;
    to->item.priority = job->priority;
    to->built = later_document_build(&named, max, &to->item.document_len, err);
    to->item.document = to->built;
    if (!to->built)
        return -1;
    return job->flow ? push_tie(to, job, err) : 0;
}

/* Takes a document of the caller, whose bytes are pushed as they are. */
static int push_take(struct later_making *to, const struct later_new_job *job, size_t max,
                     struct later_error *err)
{
    struct later_document doc;
    size_t len = job->document_len ? job->document_len : strlen(job->document);

    if (later_document_parse(&doc, LATER_DOCUMENT_JOB, job->document, len, max, err) < 0)
        return -1;
    to->item.priority = doc.priority;
    strcpy(to->item.group, doc.group);
    to->item.document = job->document;
    to->item.has_expires_at = doc.expires_at > 0;
    to->item.document_len = len;
    if (name(to, doc.id[0] ? doc.id : NULL, err) < 0)
        return -1;
    return doc.flow[0] ? push_tie(to, job, err) : 0;
}

int later_making_make(struct later_making *to, const struct later_client *client,
                      const struct later_new_job *job, struct later_error *err)
{
    size_t max = later_call_document_max(client);

    if (job->expires_in > 0)
        max -= max < LATER_EXPIRES_ROOM ? max : LATER_EXPIRES_ROOM;
    *to = (struct later_making){ .built = NULL };
    later_option_take(&to->item, job);
    if (job->queue)
        return later_fail(err, LATER_E_DATA, "queue: for jobs of later_push_flow()");
    if (check_times(job, err) < 0)
        return -1;
    return job->document ? push_take(to, job, max, err) : build(to, job, max, err);
}

void later_making_free(struct later_making *made)
{
    free(made->built);
    free(made->tie);
    made->built = NULL;
    made->tie = NULL;
}

/* --- one --- */

/* What is reported about it. */
struct one {
    struct later_pushed *pushed;
    struct later_error *err;
    int ok;
};

static void take_one(void *arg, const struct later_bulk_told *told)
{
    struct one *one = arg;

    one->ok = told->err ? -1 : 0;
    if (told->err)
        *one->err = *told->err;
    one->pushed->how = told->how;
    later_spell_text(one->pushed->id, sizeof one->pushed->id, told->id);
    later_spell_text(one->pushed->state, sizeof one->pushed->state, told->state);
}

int later_push_made(struct later_client *client, const char *queue,
                    const struct later_push_item *item, struct later_pushed *pushed,
                    struct later_error *err)
{
    struct one one = { .pushed = pushed, .err = err };
    struct later_bulk *bulk = later_bulk_new(client, take_one, &one);

    if (!bulk)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    later_bulk_one(bulk);
    if (later_bulk_add(bulk, queue, item, 0, err) < 0 || later_bulk_finish(bulk, err) < 0)
        one.ok = -1;
    later_bulk_free(bulk);
    return one.ok;
}

int later_push_told(struct later_client *client, const char *queue, const struct later_new_job *job,
                    struct later_pushed *pushed, struct later_error *err)
{
    struct later_making made;
    int ok;

    ok = later_making_make(&made, client, job, err);
    if (ok == 0)
        ok = made.tie ? later_push_tied(client, queue, &made, pushed, err)
                      : later_push_made(client, queue, &made.item, pushed, err);
    later_making_free(&made);
    return ok;
}

int later_push(struct later_client *client, const char *queue, const struct later_new_job *job,
               char *id, enum later_push_result *result, struct later_error *err)
{
    struct later_pushed pushed;

    if (later_push_told(client, queue, job, &pushed, err) < 0)
        return -1;
    if (result)
        *result = pushed.how;
    if (id)
        memcpy(id, pushed.id, sizeof pushed.id);
    return 0;
}

/* --- many --- */

/* What is reported about them. */
struct tally {
    enum later_push_result *results;
    bool failed;
    struct later_error err;
};

static void push_count_one(void *arg, const struct later_bulk_told *told)
{
    struct tally *tally = arg;

    if (told->err && !tally->failed) {
        tally->failed = true;
        tally->err = *told->err;
    }
    if (tally->results && !told->err)
        tally->results[told->mark] = told->how;
}

/* Sends a job that is made: with others, or at once if it is of a flow. Returns 0, or -1
 * with *err: then the rest need not be tried. */
static int push_send(struct later_bulk *bulk, struct later_client *client, const char *queue,
                     struct later_making *made, size_t i, struct tally *tally,
                     struct later_error *err)
{
    struct later_pushed pushed;

    if (!made->tie)
        return later_bulk_add(bulk, queue, &made->item, i, err);
    if (later_push_tied(client, queue, made, &pushed, err) < 0)
        return -1;
    if (tally->results)
        tally->results[i] = pushed.how;
    return 0;
}

int later_push_many(struct later_client *client, const char *queue,
                    const struct later_new_job *jobs, size_t count, enum later_push_result *results,
                    struct later_error *err)
{
    struct tally tally = { .results = results };
    struct later_bulk *bulk = later_bulk_new(client, push_count_one, &tally);
    struct later_error bad, why;
    int ok = 0, good = 0; /* good: -1 once a job was refused; `bad` says why */

    if (!bulk)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    /* Each job is checked when its turn comes, while Redis works on the ones before. To check all
     * first would take as long as pushing them. */
    for (size_t i = 0; ok == 0 && good == 0 && i < count; i++) {
        struct later_making made;

        if (later_making_make(&made, client, &jobs[i], &why) < 0)
            good = later_fail(&bad, why.code, "job %zu: %s", i + 1, why.text);
        else
            ok = push_send(bulk, client, queue, &made, i, &tally, err);
        later_making_free(&made);
    }
    if (ok == 0)
        ok = later_bulk_finish(bulk, err);
    if (ok == 0 && (tally.failed || good < 0)) {
        *err = tally.failed ? tally.err : bad;
        ok = -1;
    }
    later_bulk_free(bulk);
    return ok;
}
