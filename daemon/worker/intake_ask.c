/*
 * intake_ask.c: one reserve, from the question to its answer; answers that were lost.
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
#include "reservation/sending.h"
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
#define BESIDE_BYTES    2048 /* bytes of a document, from which the second round trip costs less */
#define STEP_FEW                                                                                   \
    16 /* jobs that are acked in one call with a reserve: where more are, a call                   \
        * for each costs little */

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
    struct intake_queue *ahead[LATER_AHEAD_MAX]; /* if one of these has a wake, nothing comes */
    size_t ahead_count;
};

static void asking_free(struct asking *asking)
{
    if (asking)
        free(asking->batch);
    free(asking);
}

/* --- what a reserve brought --- */

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

/* Notes which of the queues ahead have work. Returns whether one has, so that this one was not
 * asked. */
static bool intake_ask_note_ahead(struct asking *asking, const struct later_reply *reply)
{
    uint32_t found = later_queue_reserved_ahead(reply);

    for (size_t i = 0; i < asking->ahead_count; i++) {
        asking->ahead[i]->checked = later_clock();
        if (found >> i & 1)
            intake_live(asking->intake, asking->ahead[i], true);
    }
    return found;
}

/* Notes the script's answer. */
static void intake_ask_note_answer(struct asking *asking, const struct later_reply *reply)
{
    struct intake *intake = asking->intake;
    struct intake_queue *queue = asking->queue;
    size_t count = later_queue_reserved_count(reply);
    size_t bytes = count ? later_queue_reserved_bytes(reply) : 0;

    intake->worker->redis_offset = later_queue_reserved_now(reply) - later_clock();
    if (intake_ask_note_ahead(asking, reply))
        return;
    queue->checked = later_clock();
    intake_count(intake, queue, count);
    if (is_cut(asking, reply, bytes))
        intake_live_more(intake, queue);
    else
        intake_live(intake, queue, false);
    if (count)
        queue->bytes = (double)bytes / (double)count;
}

/* The batch takes over both answers. */
static void intake_ask_keep(struct asking *asking, struct later_reply *reserved,
                            struct later_reply *documents)
{
    struct batch *batch = asking->batch;

    asking->batch = NULL;
    *batch = (struct batch){ .queue = asking->queue,
                             .call = asking->call,
                             .sent = asking->sent,
                             .reply = reserved,
                             .documents = documents };
    intake_keep(asking->intake, batch);
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
        intake_ask_keep(asking, reserved, documents);
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
static void intake_ask_encode(struct asking *asking, double until, struct later_command *cmd)
{
    struct worker *worker = asking->intake->worker;
    const struct later_keys *keys = &asking->queue->known.keys;
    const char *ahead[LATER_AHEAD_MAX];
    const struct later_take take = {
        .token = asking->call->token,
        .lease = worker->config->lease,
        .limit = asking->limit,
        .bytes = asking->beside ? LATER_BESIDE_BYTES : LATER_RESERVE_BYTES,
        .beside = asking->beside,
        .idle = asking->behind_wake || intake_is_idle(asking->intake),
        .until = until,
        .ahead = ahead,
        .ahead_count = asking->ahead_count,
    };

    for (size_t i = 0; i < asking->ahead_count; i++)
        ahead[i] = asking->ahead[i]->known.keys.name[LATER_KEY_WAKE];
    if (!asking->behind_wake)
        asking->joined =
            outbox_join(worker->outbox, keys, STEP_FEW, asking->intake->held_count > 0);
    if (asking->joined && sending_encode(asking->joined, &take, cmd))
        return;
    if (asking->joined)
        outbox_joined(asking->joined, NULL);
    asking->joined = NULL;
    later_queue_reserve(cmd, keys, &take);
}

/* The token is in the page before the call is sent. So if the worker dies before it reads the
 * answer, the keeper finds what it took. question: what is asked, without what is made here. */
static int intake_ask_send(struct intake *intake, const struct asking *question, double until,
                           double timeout)
{
    struct worker *worker = intake->worker;
    struct link *link = question->behind_wake ? worker->wake : worker->main;
    struct slot_call *call = free_call(intake);
    struct asking *asking = call ? malloc(sizeof *asking) : NULL;
    struct batch *batch = asking ? malloc(sizeof *batch) : NULL;
    struct later_command cmd = { 0 };

    if (!batch) {
        free(asking);
        return -1;
    }
    *asking = *question;
    asking->intake = intake;
    asking->call = call;
    asking->batch = batch;
    asking->sent = later_clock();
    call->queue = asking->queue->known.index;
    later_token(call->token);
    atomic_store_explicit(&call->asked, SLOT_CALL_ASKED, memory_order_release);
    intake_ask_encode(asking, until, &cmd);
    if (link_send(link, &cmd, timeout, on_reserved, asking) < 0) {
        atomic_store(&call->asked, 0);
        if (asking->joined)
            outbox_joined(asking->joined, NULL);
        asking_free(asking);
        return -1;
    }
    asking->queue->asked = true;
    asking->queue->promised = asking->limit;
    intake->promised += asking->limit;
    intake->awaits_ids += asking->beside;
    return 0;
}

void intake_ask_behind(struct intake *intake, struct intake_queue *queue, double until,
                       double timeout)
{
    struct asking question = { .queue = queue, .behind_wake = true };
    size_t few = intake_room(intake, queue);

    question.limit = few < WAKE_FEW ? few : WAKE_FEW;
    if (few && !queue->asked)
        intake_ask_send(intake, &question, until, timeout);
}

bool intake_ask(struct intake *intake, struct intake_queue *queue, size_t most,
                struct intake_queue *const *ahead, size_t count)
{
    struct asking question = { .queue = queue,
                               .beside = queue->bytes >= BESIDE_BYTES,
                               .ahead_count = count };
    size_t room = intake_room(intake, queue);

    question.limit = room < most ? room : most;
    if (question.limit == 0 && intake->asked == 0 && room > 0)
        question.limit = 1;
    for (size_t i = 0; i < count; i++)
        question.ahead[i] = ahead[i];
    if (queue->asked || question.limit == 0 ||
        intake_ask_send(intake, &question, 0, LINK_TIMEOUT) < 0)
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
