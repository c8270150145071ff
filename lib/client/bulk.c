/* bulk.c: pushes many jobs. */
#include "client/bulk_batch.h"

#include "base/clock.h"
#include "job/document.h"

#include <stdlib.h>
#include <string.h>

#define QUEUES_MAX 64
#define UNDER_WAY  4                 /* batches sent and not answered */
#define OPEN_BYTES (4 * 1024 * 1024) /* in all batches that are being filled */
#define LOSSES     6                 /* of one batch, if its connection keeps breaking */
#define LOSSES_ONE 2                 /* the same for a job by itself */
#define PAUSE      0.2               /* seconds between tries to reach Redis */

struct later_bulk {
    struct later_client *client;
    bool one;          /* job */
    bool alone;        /* the master has no replicas */
    double patience;   /* seconds */
    double lost_since; /* since when Redis has not answered; 0 = it does */
    bool absent;       /* a batch did not get there, so a pause is due before the next try */
    later_bulk_fn *fn;
    void *arg;
    struct later_batch *open[QUEUES_MAX]; /* being filled, one for each part */
    size_t open_count, open_bytes;
    struct later_batch *sent; /* under way or lost, oldest first, to be sent again in this order */
    size_t sent_count;
    struct later_batch *returned; /* answered, with jobs that must go on to another part */
    bool rerouting;
};

struct later_bulk *later_bulk_new(struct later_client *client, later_bulk_fn *fn, void *arg)
{
    struct later_bulk *bulk = calloc(1, sizeof *bulk);

    if (bulk)
        *bulk = (struct later_bulk){ .client = client, .fn = fn, .arg = arg };
    return bulk;
}

void later_bulk_one(struct later_bulk *bulk)
{
    bulk->one = true;
}

void later_bulk_patience(struct later_bulk *bulk, double seconds)
{
    bulk->patience = seconds;
}

static void link_sent(struct later_bulk *bulk, struct later_batch *batch)
{
    struct later_batch **link = &bulk->sent;

    while (*link)
        link = &(*link)->next;
    batch->next = NULL;
    *link = batch;
    bulk->sent_count++;
}

static void unlink_sent(struct later_bulk *bulk, struct later_batch *batch)
{
    struct later_batch **link = &bulk->sent;

    while (*link != batch)
        link = &(*link)->next;
    *link = batch->next;
    bulk->sent_count--;
}

/* The plan was another one: all jobs of the batch begin again. */
static void begin_again(struct later_batch *batch, const char *words)
{
    later_call_learn(batch->bulk->client, batch->queue, batch->keys.queue, words);
    batch->epoch = UINT64_MAX; /* no plan has this epoch */
    for (size_t i = 0; i < batch->count; i++)
        batch->slots[i].tries++;
}

/* The batch was answered, so Redis is there, and later batches count their losses from 0 again. If
 * many are under way and a connection keeps breaking, each of them is lost several times before its
 * turn. */
static void bulk_note_answer(struct later_bulk *bulk)
{
    bulk->lost_since = 0;
    for (struct later_batch *other = bulk->sent; other; other = other->next)
        other->losses = 0;
}

/* Redis does not answer: may we go on trying? */
static bool has_patience(struct later_bulk *bulk)
{
    double now = later_clock();

    if (bulk->lost_since == 0)
        bulk->lost_since = now;
    return now - bulk->lost_since < bulk->patience;
}

/* It is sent again under the same call id. If it did not get there, as on a Cluster whose node is
 * away, that is no sign of a batch that Redis cannot bear, so it does not count. */
static void note_loss(struct later_bulk *bulk, struct later_batch *batch,
                      const struct later_answer *answer)
{
    batch->lost = true;
    later_call_check(answer, &batch->why);
    if (answer->outcome == LATER_UNSENT && has_patience(bulk))
        bulk->absent = true;
    else
        batch->losses++;
}

/* Redis has said that nothing was done and that it may work soon: may the batch wait for that? */
static bool bulk_waits(struct later_bulk *bulk, struct later_batch *batch,
                       const struct later_answer *answer)
{
    bool away = answer->outcome == LATER_REFUSED && later_reply_away(answer->text);

    if (!away)
        bulk_note_answer(bulk);
    else if (has_patience(bulk))
        bulk->absent = batch->lost = true;
    return batch->lost;
}

static void bulk_take_answer(void *arg, struct later_answer *answer)
{
    struct later_batch *batch = arg;
    struct later_bulk *bulk = batch->bulk;
    struct later_error err;
    const char *words;
    bool told = false;

    bulk->alone |= later_call_alone(answer);
    if (answer->outcome == LATER_UNSENT || answer->outcome == LATER_UNKNOWN) {
        note_loss(bulk, batch, answer);
        return;
    }
    if (bulk_waits(bulk, batch, answer))
        return;
    if (batch->shortly && answer->reply && later_queue_asks(answer->reply)) {
        batch->shortly = false; /* now by the other script, since nothing has happened */
        later_document_id(batch->call);
        batch->lost = true;
        batch->losses = 0;
        return;
    }
    unlink_sent(bulk, batch);
    if (answer->outcome == LATER_REFUSED && later_shards_stale(answer->text, &words))
        begin_again(batch, words);
    else if (later_call_check(answer, &err) < 0)
        told = later_batch_report(batch, NULL, &err, bulk->fn, bulk->arg);
    else
        told = later_batch_report(batch, answer->reply, NULL, bulk->fn, bulk->arg);
    if (told) {
        later_batch_free(batch);
    } else { /* reroute() goes on after this callback */
        batch->next = bulk->returned;
        bulk->returned = batch;
    }
}

static int send_batch(struct later_batch *batch, struct later_error *err)
{
    struct later_bulk *bulk = batch->bulk;
    struct later_command cmd = { 0 };

    later_batch_call(batch, &cmd);
    batch->lost = false;
    if (!(batch->flags & LATER_PUSH_SEEK))
        later_call_announce(bulk->client, &batch->keys);
    if (later_call_begin(bulk->client, &cmd, bulk_take_answer, batch, err) == 0)
        return 0;
    batch->lost = true;
    return -1;
}

/* Calls send_batch() again and again while patience lasts. */
static int send_patiently(struct later_batch *batch, struct later_error *err)
{
    while (send_batch(batch, err) < 0) {
        if (err->code != LATER_E_REDIS || !has_patience(batch->bulk))
            return -1;
        later_sleep(PAUSE);
    }
    return 0;
}

static int bulk_give_up(const struct later_batch *batch, struct later_error *err)
{
    if (!batch->bulk->one)
        return later_fail(err, LATER_E_REDIS,
                          "Redis went away %d times; some jobs of queue %s may not have been "
                          "pushed",
                          LOSSES, batch->queue);
    *err = batch->why;
    return -1;
}

/* Sends what is new or lost. Gives up if that has failed too often in a row. */
static int send_lost(struct later_bulk *bulk, struct later_error *err)
{
    for (struct later_batch *batch = bulk->sent, *next; batch; batch = next) {
        next = batch->next;
        if (batch->lost && batch->losses >= (bulk->one ? LOSSES_ONE : LOSSES))
            return bulk_give_up(batch, err);
        if (batch->lost && send_patiently(batch, err) < 0)
            return -1;
    }
    return 0;
}

static int reroute(struct later_bulk *bulk, struct later_error *err);

static bool is_any_lost(const struct later_bulk *bulk)
{
    const struct later_batch *batch = bulk->sent;

    while (batch && !batch->lost)
        batch = batch->next;
    return batch;
}

/* Waits until at most `most` batches are without an answer. */
static int bulk_settle(struct later_bulk *bulk, size_t most, struct later_error *err)
{
    while (bulk->sent_count > most) {
        while (bulk->sent_count > most && !is_any_lost(bulk))
            later_call_wait(bulk->client);
        if (bulk->alone)
            later_call_ask_sentinels(bulk->client);
        bulk->alone = false;
        if (bulk->absent)
            later_sleep(PAUSE);
        bulk->absent = false;
        if (send_lost(bulk, err) < 0 || reroute(bulk, err) < 0)
            return -1;
    }
    return 0;
}

static int bulk_flush(struct later_bulk *bulk, struct later_batch *batch, struct later_error *err)
{
    /* A rerouted job replaces one that was under way, so it need not wait. */
    if (!bulk->rerouting && bulk_settle(bulk, UNDER_WAY - 1, err) < 0) {
        later_batch_free(batch);
        return -1;
    }
    batch->shortly = batch->count == 1 && !(batch->flags & LATER_PUSH_SEEK) &&
                     later_queue_plain(&batch->slots[0].item);
    if (batch->shortly)
        batch->number = later_call_number(bulk->client, batch->slots[0].item.bits);
    else
        later_document_id(batch->call);
    batch->lost = true;
    link_sent(bulk, batch);
    return send_lost(bulk, err);
}

static int flush_open(struct later_bulk *bulk, size_t i, struct later_error *err)
{
    struct later_batch *batch = bulk->open[i];

    bulk->open[i] = bulk->open[--bulk->open_count];
    bulk->open_bytes -= batch->len;
    return bulk_flush(bulk, batch, err);
}

/* Sends the fullest batch, so that many queues do not hold much more than one. */
static int flush_fullest(struct later_bulk *bulk, struct later_error *err)
{
    size_t fullest = 0;

    for (size_t i = 1; i < bulk->open_count; i++) {
        if (bulk->open[i]->len > bulk->open[fullest]->len)
            fullest = i;
    }
    return flush_open(bulk, fullest, err);
}

static bool is_for(const struct later_batch *batch, const char *part, unsigned flags,
                   uint64_t epoch)
{
    return batch->flags == flags && batch->epoch == epoch && strcmp(batch->keys.queue, part) == 0;
}

/* Finds the open batch for a part, or makes it; -1 with *err. */
static int find_open(struct later_bulk *bulk, const char *queue, const char *part, unsigned flags,
                     uint64_t epoch, struct later_error *err)
{
    struct later_batch *batch;

    for (size_t i = 0; i < bulk->open_count; i++) {
        if (is_for(bulk->open[i], part, flags, epoch))
            return (int)i;
    }
    if (bulk->open_count == QUEUES_MAX && flush_fullest(bulk, err) < 0)
        return -1;
    batch = later_batch_new(bulk);
    if (!batch)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (later_call_keys(bulk->client, part, &batch->keys, err) < 0) {
        later_batch_free(batch);
        return -1;
    }
    strcpy(batch->queue, queue);
    batch->flags = flags;
    batch->epoch = epoch;
    bulk->open[bulk->open_count] = batch;
    return (int)bulk->open_count++;
}

/* Adds a job to the batch for the next part on its way, by the plan known now. If that is not the
 * plan that it began with, it begins again. */
static int bulk_add(struct later_bulk *bulk, const char *queue, const struct later_batch_slot *from,
                    uint64_t epoch, struct later_error *err)
{
    struct later_plan plan = later_call_plan(bulk->client, queue);
    unsigned step = plan.epoch == epoch ? from->step : 0;
    later_queue_name route[LATER_COUNTS_MAX];
    size_t last = later_plan_route(&plan, queue, from->item.id, route) - 1, before;
    unsigned flags = later_queue_flags(&from->item) | (step < last ? LATER_PUSH_SEEK : 0);
    int at = find_open(bulk, queue, route[step < last ? step : last], flags, plan.epoch, err);
    struct later_batch *batch;
    struct later_batch_slot *slot;

    if (at < 0)
        return -1;
    batch = bulk->open[at];
    before = batch->len;
    slot = later_batch_add(batch, from);
    if (!slot)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    slot->step = step;
    bulk->open_bytes += batch->len - before;
    if (batch->count == LATER_BATCH_MAX || batch->len >= LATER_CALL_BYTES)
        return flush_open(bulk, (size_t)at, err);
    return bulk->open_bytes > OPEN_BYTES ? flush_fullest(bulk, err) : 0;
}

/* Reroutes one batch, whose jobs go on, or begin again by another plan. */
static int reroute_batch(struct later_batch *batch, struct later_error *err)
{
    unsigned tries = batch->slots[0].tries;
    struct later_error enough;
    const struct later_bulk_told told = { .state = "", .err = &enough };
    bool given_up = later_call_await_plan(batch->queue, tries, &enough) < 0;

    for (size_t i = 0; i < batch->count; i++) {
        struct later_batch_slot *slot = &batch->slots[i];

        if (slot->told)
            continue;
        if (given_up) {
            later_batch_tell(batch, slot, &told, batch->bulk->fn, batch->bulk->arg);
            continue;
        }
        slot->item = later_batch_item(batch, slot);
        slot->step++;
        if (bulk_add(batch->bulk, batch->queue, slot, batch->epoch, err) < 0)
            return -1;
    }
    return 0;
}

static int reroute(struct later_bulk *bulk, struct later_error *err)
{
    bool inner = bulk->rerouting;
    int ok = 0;

    bulk->rerouting = true;
    while (ok == 0 && bulk->returned && !inner) {
        struct later_batch *batch = bulk->returned;

        bulk->returned = batch->next;
        ok = reroute_batch(batch, err);
        later_batch_free(batch);
    }
    bulk->rerouting = inner;
    return ok;
}

int later_bulk_add(struct later_bulk *bulk, const char *queue, const struct later_push_item *item,
                   uint64_t mark, struct later_error *err)
{
    const struct later_batch_slot slot = { .item = *item, .mark = mark };

    return later_call_whole(queue, err) < 0 ? -1 : bulk_add(bulk, queue, &slot, UINT64_MAX, err);
}

int later_bulk_finish(struct later_bulk *bulk, struct later_error *err)
{
    while (bulk->open_count || bulk->sent_count || bulk->returned) {
        while (bulk->open_count) {
            if (flush_open(bulk, 0, err) < 0)
                return -1;
        }
        if (bulk_settle(bulk, 0, err) < 0 || reroute(bulk, err) < 0)
            return -1;
    }
    return 0;
}

void later_bulk_free(struct later_bulk *bulk)
{
    if (!bulk)
        return;
    if (bulk->sent)
        later_call_abort(bulk->client); /* no answer may arrive for what is freed here */
    for (size_t i = 0; i < bulk->open_count; i++)
        later_batch_free(bulk->open[i]);
    later_batch_free_all(bulk->sent);
    later_batch_free_all(bulk->returned);
    free(bulk);
}
