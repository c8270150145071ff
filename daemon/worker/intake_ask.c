/*
 * intake_ask.c: one reserve, from the question to its jobs; answers that were lost.
 *
 * Large documents do not pass through Lua. The script answers ids and lengths, and then an HMGET
 * gets the documents. Both together are one reserve, which is under way until the documents are
 * there. That is one more round trip, which the look-ahead hides; after a wake it would be felt, so
 * it is not done there.
 *
 * On a Redis Cluster one queue's node may be away while the others' are not. So a reserve without
 * an answer for a while holds nobody up: its queue is left aside until the answer comes.
 */
#include "reservation/find.h"
#include "reservation/job.h"
#include "worker/intake_inner.h"

#include "base/clock.h"
#include "base/uncleared.h"
#include "log.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

#define WAKE_FEW        16   /* jobs that a reserve right after a BLPOP takes */
#define REFUSED_SECONDS 0.2  /* before asking again after Redis refused */
#define SILENT_SECONDS  0.05 /* without an answer, then the other queues go on */
#define IDLE_SECONDS    60.0 /* more than an answer takes */
#define BESIDE_BYTES    2048 /* bytes of a document, from which the second round trip costs less */
#define STEP_FEW                                                                                   \
    16 /* jobs that are acked in one call with a reserve: where more are, a call                   \
        * for each costs little */

/* The answer of a reserve, kept as long as any of its jobs needs its document. */
struct batch {
    struct later_reply *reply;
    struct later_reply *documents; /* NULL: they are in `reply` */
    size_t users;
    uint32_t given; /* jobs in the answer */
};

/* A reserve under way. */
struct asking {
    struct intake *intake;
    struct intake_queue *queue;
    struct slot_call *call;
    size_t limit;
    double sent;
    bool behind_wake;
    bool beside;                  /* the documents come by HMGET */
    struct batch *batch;          /* for the answer; owned */
    struct later_reply *reserved; /* the answer, while the documents are on their way; owned */
    struct sending *joined;       /* acks in the same call, until its answer; or NULL */
};

static void asking_free(struct asking *asking)
{
    if (asking)
        free(asking->batch);
    free(asking);
}

void batch_release(struct batch *batch)
{
    if (!batch || --batch->users > 0)
        return;
    later_reply_free(batch->reply);
    later_reply_free(batch->documents);
    free(batch);
}

/* --- what a reserve brought --- */

/* Slots are taken in a circle, so that a free one is found quickly. If none is in use, it begins at
 * the first again, so that the keeper has few to look at. */
static struct slot *free_slot(struct intake *intake)
{
    struct slots_page *page = intake->worker->slots->page;

    if (!intake->held_count && !intake->worker->load->in_flight &&
        !outbox_open(intake->worker->outbox))
        intake->next_slot = 0;
    for (uint32_t i = 0; i < page->capacity; i++) {
        uint32_t at = (intake->next_slot + i) % page->capacity;

        if (slot_state(&page->slots[at]) != SLOT_FREE)
            continue;
        intake->next_slot = at + 1;
        if (at >= atomic_load(&page->used))
            atomic_store(&page->used, at + 1);
        return &page->slots[at];
    }
    return NULL;
}

static bool held_room(struct intake *intake)
{
    size_t room = intake->held_room ? intake->held_room * 2 : 64;
    struct held *held;

    if (intake->held_count < intake->held_room)
        return true;
    held = calloc(room, sizeof *held);
    if (!held)
        return false;
    for (size_t i = 0; i < intake->held_count; i++)
        held[i] = intake->held[(intake->held_first + i) % intake->held_room];
    free(intake->held);
    intake->held = held;
    intake->held_first = 0;
    intake->held_room = room;
    return true;
}

/* Enters one job into a slot: first its contents, last its state. */
static bool intake_ask_keep(struct asking *asking, struct batch *batch,
                            const struct later_reserved *job, double score)
{
    struct intake *intake = asking->intake;
    struct slot *slot = free_slot(intake);
    double lease_end = (asking->sent + intake->worker->config->lease) * 1e6;

    if (!slot || job->id_len > LATER_ID_MAX || !held_room(intake))
        return false;
    slot->queue = asking->queue->known.index;
    memcpy(slot->token, asking->call->token, sizeof slot->token);
    memcpy(slot->id, job->id, job->id_len + 1);
    slot->given = batch->given;
    slot->crashes = job->crashes;
    slot->attempt = job->attempts + 1;
    slot->max_attempts = slot->event = 0;
    slot->began = slot->deadline = slot->retry_in = slot->retry_until = 0;
    slot->timed = 0;
    slot->kept = slot->keep = slot->ran = 0;
    slot->waited = -1;
    slot->ends_kept = asking->queue->known.config->events_kept;
    slot->logs_kept = asking->queue->known.config->logs_kept;
    slot->value_len = slot->progress_told = slot->checkpoint_told = slot->logged_told = 0;
    slot->on_dead[0] = slot->on_done[0] = '\0';
    atomic_store_explicit(&slot->progress, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->checkpoint, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->logged, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->log_len, 0, memory_order_relaxed);
    slot->text[0] = slot->type[0] = slot->trace[0] = '\0';
    atomic_fetch_add_explicit(&slot->serial, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->cancelled, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->lease_end, (int64_t)lease_end, memory_order_relaxed);
    atomic_store_explicit(&slot->state, SLOT_HELD, memory_order_release);
    intake->held[(intake->held_first + intake->held_count++) % intake->held_room] =
        (struct held){ .slot = slot,
                       .from = &asking->queue->known,
                       .batch = batch,
                       .document = job->document,
                       .document_len = job->document_len,
                       .attempts = job->attempts,
                       .begun = job->begun,
                       .unknown_since = job->unknown_since,
                       .first_failed = job->first_failed,
                       .flow = job->flow,
                       .flow_len = job->flow_len,
                       .given = later_queue_given(batch->reply),
                       .line = job->line,
                       .line_len = job->line_len,
                       .is_step = job->is_step,
                       .checkpoint = job->checkpoint,
                       .checkpoint_len = job->checkpoint_len,
                       .log = job->log,
                       .log_len = job->log_len,
                       .score = job->since > 0 ? job->since : score };
    batch->users++;
    return true;
}

/* Returns the i-th job of a batch; false if its document is gone. Then it was cancelled before that
 * was read, and is not ours. */
static bool intake_ask_job_of(const struct batch *batch, size_t i, struct later_reserved *job)
{
    const struct later_reply *document = later_reply_at(batch->documents, i);

    later_queue_reserved(batch->reply, i, job);
    if (!batch->documents)
        return true;
    job->document = later_reply_text(document, &job->document_len);
    return !later_reply_is_nil(document);
}

/* If it does not arrive, their lease runs out. */
static void on_given_back(void *arg, struct later_answer *answer)
{
    (void)arg;
    (void)answer;
}

/* Gives back jobs that could not be kept: by their ids, since the others of their token are ours.
 */
static void intake_ask_give_back(struct asking *asking, const struct later_settlement *jobs,
                                 size_t count)
{
    struct link *link = asking->intake->worker->main;
    struct later_command cmd = { 0 };

    if (!count)
        return;
    log_line(LOG_ERROR, "no memory for %zu jobs of queue %s: given back", count,
             asking->queue->known.keys.queue);
    later_queue_settle(&cmd, &asking->queue->known.keys, LATER_VERB_RETURN, 0, jobs, count);
    if (link_send(link, &cmd, LINK_TIMEOUT, on_given_back, NULL) == 0)
        link_flush(link);
}

/* Takes the jobs of an answer, as far as there is memory; the others are given back. documents:
 * NULL, or the answer with their documents. Takes over both. */
static void intake_ask_take_jobs(struct asking *asking, struct later_reply *reserved,
                                 struct later_reply *documents)
{
    size_t count = later_queue_reserved_count(reserved), refused = 0;
    struct later_settlement unkept[LATER_BATCH_MAX] LATER_UNCLEARED;
    struct batch *batch = asking->batch;
    struct later_scores scores;

    asking->batch = NULL;
    *batch = (struct batch){
        .reply = reserved, .documents = documents, .users = 1, .given = (uint32_t)count
    };
    later_scores_begin(&scores, reserved);
    for (size_t i = 0; i < count; i++) {
        double score = later_scores_next(&scores);
        struct later_reserved job;

        if (intake_ask_job_of(batch, i, &job) && !intake_ask_keep(asking, batch, &job, score))
            unkept[refused++] =
                (struct later_settlement){ .token = asking->call->token, .id = job.id };
    }
    intake_ask_give_back(asking, unkept, refused);
    batch_release(batch);
}

static void intake_ask_look_for(struct intake *intake, struct intake_queue *queue,
                                struct slot_call *call);

/* May there be more than came? An answer of at least half of the bytes counts as cut by them. The
 * wake for the rest is there, but after a wake the documents would come through Lua. */
static bool is_cut(const struct asking *asking, const struct later_reply *reply, size_t bytes)
{
    return later_queue_reserved_count(reply) >= asking->limit ||
           later_queue_reserved_left(reply) > 0 ||
           bytes >= (asking->beside ? LATER_BESIDE_BYTES : LATER_RESERVE_BYTES) / 2;
}

/* Notes the script's answer. */
static void intake_ask_note_answer(struct asking *asking, const struct later_reply *reply)
{
    struct intake *intake = asking->intake;
    struct intake_queue *queue = asking->queue;
    size_t count = later_queue_reserved_count(reply);
    size_t bytes = count ? later_queue_reserved_bytes(reply) : 0;

    intake->worker->redis_offset = later_queue_reserved_now(reply) - later_clock();
    queue->checked = later_clock();
    intake_count(intake, queue, count);
    if (is_cut(asking, reply, bytes))
        intake_live_more(intake, queue);
    else
        intake_live(intake, queue, false);
    if (count)
        queue->bytes = (double)bytes / (double)count;
}

/* If it stood unread behind a long job, the keeper has given back what it brought. The keeper may
 * have looked before Redis ran the reserve, so we look once more. */
static void intake_ask_take_answer(struct asking *asking, struct later_reply *reserved,
                                   struct later_reply *documents)
{
    struct intake *intake = asking->intake;
    size_t count = later_queue_reserved_count(reserved);
    bool ours = slot_call_move(asking->call, SLOT_CALL_READ);

    if (ours) {
        intake_ask_take_jobs(asking, reserved, documents);
    } else {
        later_reply_free(reserved);
        later_reply_free(documents);
    }
    atomic_store_explicit(&asking->call->asked, ours || !count ? SLOT_CALL_NONE : SLOT_CALL_LOST,
                          memory_order_release);
    if (ours && count) {
        worker_busy(intake->worker);
        worker_stir(intake->worker);
        intake_wait(intake, false); /* it may have become idle before this late answer */
    } else if (count) {
        intake_ask_look_for(intake, asking->queue, asking->call);
    }
}

static void come_back(struct intake *intake)
{
    timer_soon(intake->again, REFUSED_SECONDS);
}

/* Leaves this queue alone for a while; the others are asked. */
static void intake_ask_rest(struct intake *intake, struct intake_queue *queue)
{
    queue->resting = true;
    come_back(intake);
}

static void on_refused(struct asking *asking, const char *text)
{
    struct intake *intake = asking->intake;

    /* A refused script has taken nothing. */
    atomic_store_explicit(&asking->call->asked, 0, memory_order_release);
    intake_live_more(intake, asking->queue); /* it is not known: ask again after a while */
    fault_note(&asking->queue->refused, LOG_WARN,
               "redis refuses to reserve from queue %s: %s; trying again",
               asking->queue->known.keys.queue, text);
    intake_ask_rest(intake, asking->queue);
}

/* If the link is up, it is only this queue's node that is away. */
static void on_cut_off(struct asking *asking, uint32_t state)
{
    atomic_store_explicit(&asking->call->asked, state, memory_order_release);
    if (link_is_up(asking->intake->worker->main))
        intake_ask_rest(asking->intake, asking->queue);
}

/* The reserve is no longer under way. */
static void end_asking(struct asking *asking)
{
    struct intake *intake = asking->intake;

    asking->queue->asked = false;
    intake->promised -= asking->limit;
    if (asking->queue->silent)
        intake->unheard -= asking->limit;
    else if (!asking->behind_wake)
        intake->asked--;
    asking->queue->silent = false;
    later_reply_free(asking->reserved);
    asking_free(asking);
    worker_pump_soon(intake->worker);
}

/* The jobs are ours in any case. Without their documents they are found by their token and given
 * back. */
static void on_documents(void *arg, struct later_answer *answer)
{
    struct asking *asking = arg;

    if (answer->outcome == LATER_ANSWERED) {
        intake_ask_take_answer(asking, asking->reserved, answer->reply);
        asking->reserved = answer->reply = NULL;
    } else {
        if (answer->outcome == LATER_REFUSED)
            fault_note(&asking->queue->refused, LOG_WARN,
                       "redis refuses to read documents of queue %s: %s; trying again",
                       asking->queue->known.keys.queue, answer->text);
        on_cut_off(asking, SLOT_CALL_LOST);
    }
    end_asking(asking);
}

/* Asks for the documents. Returns whether they are on their way. */
static bool intake_ask_documents(struct asking *asking, struct later_answer *answer)
{
    struct link *link = asking->intake->worker->main;
    struct later_command cmd = { 0 };

    if (!asking->beside || later_queue_reserved_count(answer->reply) == 0)
        return false;
    later_queue_documents(&cmd, &asking->queue->known.keys, answer->reply);
    asking->reserved = answer->reply;
    answer->reply = NULL;
    if (link_send(link, &cmd, LINK_TIMEOUT, on_documents, asking) < 0) {
        on_cut_off(asking, SLOT_CALL_LOST);
        end_asking(asking);
    }
    link_flush(link);
    return true;
}

static void on_reserved(void *arg, struct later_answer *answer)
{
    struct asking *asking = arg;

    asking->intake->awaits_ids -= asking->beside;
    if (asking->joined)
        outbox_joined(asking->joined, answer);
    switch (answer->outcome) {
    case LATER_ANSWERED:
        fault_over(&asking->queue->refused);
        intake_ask_note_answer(asking, answer->reply);
        if (intake_ask_documents(asking, answer))
            return;
        intake_ask_take_answer(asking, answer->reply, NULL);
        answer->reply = NULL;
        break;
    case LATER_REFUSED:
        on_refused(asking, answer->text);
        break;
    case LATER_UNSENT:
        on_cut_off(asking, SLOT_CALL_NONE);
        break;
    case LATER_UNKNOWN: /* intake_recover() looks for the token, or the keeper if we die */
        on_cut_off(asking, SLOT_CALL_LOST);
        break;
    }
    end_asking(asking);
}

/* --- lost answers --- */

struct looking {
    struct intake *intake;
    struct intake_queue *queue;
    struct slot_call *call;
};

static void intake_ask_on_found(void *arg, bool ok)
{
    struct looking *looking = arg;

    looking->intake->finding--;
    looking->queue->finding--;
    if (ok)
        atomic_store_explicit(&looking->call->asked, 0, memory_order_release);
    else /* refused, or cut off: intake_on_again() tries again */
        intake_ask_rest(looking->intake, looking->queue);
    worker_pump_soon(looking->intake->worker);
    free(looking);
}

/* If the link breaks, the token stays in the page and is looked for again. */
static void intake_ask_look_for(struct intake *intake, struct intake_queue *queue,
                                struct slot_call *call)
{
    struct looking *looking = malloc(sizeof *looking);

    if (!looking)
        return;
    *looking = (struct looking){ intake, queue, call };
    if (find_and_return(intake->worker->main, &queue->known.keys, call->token, intake_ask_on_found,
                        looking) < 0) {
        free(looking);
    } else {
        intake->finding++;
        queue->finding++;
    }
}

void intake_deaf(struct intake *intake)
{
    intake->deaf = true;
    come_back(intake);
}

void intake_recover(struct intake *intake)
{
    struct slots_page *page = intake->worker->slots->page;
    bool busy[SLOTS_QUEUES] = { false };

    intake->deaf = false;
    for (uint32_t i = 0; i < intake->queue_count; i++) {
        intake->queues[i].resting = false;
        busy[i] = intake->queues[i].finding > 0;
    }
    for (uint32_t i = 0; i < SLOTS_CALLS && link_is_up(intake->worker->main); i++) {
        struct slot_call *call = &page->calls[i];

        if (atomic_load(&call->asked) == SLOT_CALL_LOST && !busy[call->queue])
            intake_ask_look_for(intake, &intake->queues[call->queue], call);
    }
}

/* --- asking --- */

static struct slot_call *free_call(struct intake *intake)
{
    for (uint32_t i = 0; i < SLOTS_CALLS; i++) {
        if (!atomic_load(&intake->worker->slots->page->calls[i].asked))
            return &intake->worker->slots->page->calls[i];
    }
    return NULL;
}

/* Encodes the reserve; by the main link with acks of the same queue, if some wait. Where jobs are
 * slow, each worker so has one call for a job that is done and the next one. */
static void intake_ask_encode(struct asking *asking, double deadline, struct later_command *cmd)
{
    struct worker *worker = asking->intake->worker;
    const struct later_keys *keys = &asking->queue->known.keys;
    const struct later_take take = {
        .token = asking->call->token,
        .lease = worker->config->lease,
        .limit = asking->limit,
        .bytes = asking->beside ? LATER_BESIDE_BYTES : LATER_RESERVE_BYTES,
        .beside = asking->beside,
    };

    if (!asking->behind_wake)
        asking->joined =
            outbox_join(worker->outbox, keys, STEP_FEW, asking->intake->held_count > 0);
    if (asking->joined && outbox_join_encode(asking->joined, &take, cmd))
        return;
    if (asking->joined)
        outbox_joined(asking->joined, NULL);
    asking->joined = NULL;
    if (asking->beside)
        later_queue_reserve_beside(cmd, keys, take.token, take.lease, take.limit, take.bytes,
                                   deadline);
    else
        later_queue_reserve(cmd, keys, take.token, take.lease, take.limit, take.bytes, deadline);
}

/* The token is in the page before the call is sent. So if the worker dies before it reads the
 * answer, the keeper finds what it took. */
static int intake_ask_ask(struct intake *intake, struct intake_queue *queue, struct link *link,
                          size_t limit, double deadline, double timeout)
{
    struct slot_call *call = free_call(intake);
    struct asking *asking = call ? malloc(sizeof *asking) : NULL;
    struct batch *batch = asking ? malloc(sizeof *batch) : NULL;
    struct later_command cmd = { 0 };

    if (!batch) {
        free(asking);
        return -1;
    }
    call->queue = queue->known.index;
    later_token(call->token);
    atomic_store_explicit(&call->asked, SLOT_CALL_ASKED, memory_order_release);
    *asking =
        (struct asking){ .intake = intake,
                         .queue = queue,
                         .call = call,
                         .batch = batch,
                         .limit = limit,
                         .sent = later_clock(),
                         .behind_wake = link == intake->worker->wake,
                         .beside = link == intake->worker->main && queue->bytes >= BESIDE_BYTES };
    intake_ask_encode(asking, deadline, &cmd);
    if (link_send(link, &cmd, timeout, on_reserved, asking) < 0) {
        atomic_store(&call->asked, 0);
        if (asking->joined)
            outbox_joined(asking->joined, NULL);
        asking_free(asking);
        return -1;
    }
    queue->asked = true;
    queue->promised = limit;
    intake->promised += limit;
    intake->awaits_ids += asking->beside;
    return 0;
}

void intake_ask_behind(struct intake *intake, struct intake_queue *queue, double until,
                       double timeout)
{
    size_t few = intake_room(intake, queue);

    if (few && !queue->asked)
        intake_ask_ask(intake, queue, intake->worker->wake, few < WAKE_FEW ? few : WAKE_FEW, until,
                       timeout);
}

/* A worker that has nothing in hand says so by a deadline, which is too far to come. 0: it has, or
 * the time of Redis is not known yet. */
static double idle_until(const struct intake *intake)
{
    const struct worker *worker = intake->worker;

    if (worker->redis_offset == 0 || intake->held_count || worker->load->in_flight ||
        worker->load->in_admission || outbox_open(worker->outbox))
        return 0;
    return later_clock() + worker->redis_offset + IDLE_SECONDS;
}

bool intake_ask(struct intake *intake, struct intake_queue *queue, size_t most)
{
    size_t room = intake_room(intake, queue), limit = room < most ? room : most;

    if (limit == 0 && intake->asked == 0 && room > 0)
        limit = 1;
    if (queue->asked || limit == 0 ||
        intake_ask_ask(intake, queue, intake->worker->main, limit, idle_until(intake),
                       LINK_TIMEOUT) < 0)
        return false;
    intake->asked++;
    queue->sent = later_clock();
    if (intake->late)
        timer_soon(intake->late, SILENT_SECONDS);
    return true;
}

void intake_late(void *arg)
{
    struct intake *intake = arg;
    double now = later_clock();

    for (uint32_t i = 0; i < intake->queue_count; i++) {
        struct intake_queue *queue = &intake->queues[i];

        if (!queue->asked || queue->silent || now - queue->sent < SILENT_SECONDS)
            continue;
        queue->silent = true;
        intake->unheard += queue->promised;
        intake->asked--;
    }
    if (intake->asked)
        timer_in(intake->late, SILENT_SECONDS);
    worker_pump_soon(intake->worker);
}
