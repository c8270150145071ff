/*
 * intake.c: what a worker reserves, and when.
 *
 * A batch has as many jobs as recent jobs of the queue suggest for about 10 ms, at most 500, so
 * slow jobs are never hoarded. Before any job has run in this worker it is one job, and one more
 * for each that needed no run. The next batch is asked for when half of this one has run.
 * Settlements go with it in one write, but for the acks of this batch, which wait for its end. A
 * few acks go in one call with the reserve (scripts/step.lua).
 *
 * A queue is `live` from when a wake names it until a reserve comes back short. With several queues
 * a worker asks the live ones. While it is busy it does not wait for wakes, so it looks at the
 * others every 20 ms. With nothing live and nothing to run it waits (intake_wake.c). A queue whose
 * jobs have no room in their program is passed over until they have.
 *
 * A look asks at most eight queues in one write: those with work, each for a part of a batch, up to
 * the first that may fill a batch by itself, since its last answer was cut. If the pool is small
 * and others are due, it asks only the first with work, which gives nothing if one of the others
 * has a wake.
 *
 * If a pool has more queues than a worker can wait for, the supervisor waits (wake_listener.h). A
 * busy worker learns which queues have a wake by a few EXISTS for all of them (seek.h), not by a
 * reserve for each.
 */
#include "worker/admission.h"
#include "worker/attempt.h"
#include "worker/intake_inner.h"

#include "base/clock.h"
#include "link/seek.h"
#include "timer.h"

#include <stdlib.h>

#define AT_ONCE      (LATER_AHEAD_MAX + 1) /* queues that are asked in one look: one has work */
#define LOOK_SECONDS 0.020                 /* between looks at queues without work, */
#define LOOK_EACH    0.0001                /* or this long for each of very many, */
#define LOOK_APART   0.0004                /* on a Cluster, where each costs a command */
#define ENOUGH       64                    /* queues that are enough for one look */

/* --- queues without known work --- */

/* Returns the next of them from *turn in turn on, NULL after the last: in strict order, they are
 * above the first that has work; by weight, it is all. */
static struct intake_queue *next_quiet(struct intake *intake, uint32_t *turn)
{
    while (*turn < intake->queue_count) {
        struct intake_queue *queue = intake_in_turn(intake, (*turn)++);

        if (intake_is_ready(intake, queue) && !intake->weighted)
            return NULL;
        if (!queue->live && intake_may_ask(intake, queue) && !queue->asked)
            return queue;
    }
    return NULL;
}

/* Lists those that have not been looked at for a while, but leaves a turn for one that has work.
 * If there are more, the next look goes on with them. Returns how many. */
static size_t list_due(struct intake *intake, struct intake_queue **list)
{
    double now = later_clock();
    struct intake_queue *queue;
    uint32_t turn = 0;
    size_t count = 0;

    while (count < LATER_AHEAD_MAX && (queue = next_quiet(intake, &turn))) {
        if (turn > intake->looked && now - queue->checked >= LOOK_SECONDS)
            list[count++] = queue;
    }
    intake->looked = count == LATER_AHEAD_MAX ? turn : 0;
    return count;
}

static double intake_pause_of(const struct intake *intake)
{
    double wait = intake->queue_count * (intake->apart ? LOOK_APART : LOOK_EACH);

    return wait > LOOK_SECONDS ? wait : LOOK_SECONDS;
}

static const char *wake_of(void *arg, uint32_t queue, unsigned k)
{
    const struct intake *intake = arg;

    (void)k;
    return intake->queues[queue].known.keys.name[LATER_KEY_WAKE];
}

static void intake_on_found(void *arg, bool ok, const uint32_t *found, size_t count)
{
    struct intake *intake = arg;

    (void)ok;                                            /* the next look finds the others */
    intake->sought = count < ENOUGH ? later_clock() : 0; /* there are more */
    intake->found = count;
    for (size_t i = 0; i < count; i++)
        intake_live(intake, &intake->queues[found[i]], true);
    seek_free(intake->seek); /* and `found` */
    intake->seek = NULL;
    worker_pump_soon(intake->worker);
}

static void look_for_wakes(struct intake *intake, bool now)
{
    const struct seek_options options = {
        .key = wake_of, .keys = 1, .most = ENOUGH, .done = intake_on_found, .arg = intake
    };
    const struct intake_queue *queue;
    uint32_t *list, turn = 0;
    size_t count = 0;

    if (intake->seek || (!now && later_clock() - intake->sought < intake_pause_of(intake)))
        return;
    list = malloc(intake->queue_count * sizeof *list);
    while (list && (queue = next_quiet(intake, &turn)))
        list[count++] = queue->known.index;
    intake->sought = later_clock();
    if (count)
        intake->seek = seek_new(intake->worker->main, &options, list, count);
    free(list);
    if (intake->seek)
        seek_ask(intake->seek);
}

/* --- a look --- */

/* Lists queues that have work: of the group whose turn it is by weight, or in strict order of all.
 * The first that may fill a batch is the last. Returns how many. */
static size_t list_ready(struct intake *intake, struct intake_queue **list, size_t most)
{
    const struct intake_group *group = intake->weighted ? intake_choose(intake) : NULL;
    size_t count = 0, listed;

    if (group)
        listed = intake_ready_of(intake, group, list, most);
    else
        listed = intake->weighted ? 0 : intake_ready(intake, list, most);
    while (count < listed && !list[count++]->more)
        ;
    return count;
}

/* Asks queues without known work, and then those that have, each for its share of a batch. All
 * together are asked for no more than what is free. */
static void ask_each(struct intake *intake, struct intake_queue **list, size_t quiet, size_t ready)
{
    size_t share = quiet + ready ? intake_free_slots(intake) / (quiet + ready) : 0;

    for (size_t i = 0; i < quiet; i++)
        intake_ask(intake, list[i], share, NULL, 0);
    for (size_t i = quiet; i < quiet + ready; i++) {
        size_t batch = intake_room(intake, list[i]) / ready;

        if (intake_ask(intake, list[i], batch < share ? batch : share, NULL, 0))
            intake_turn(intake, list[i], later_clock());
    }
}

/* Asks some of the queues that have work, and finds out which of the others have. On one server
 * that costs an EXISTS for all of them, in the reserve from the first that has: mostly none has,
 * and to ask each would cost a reserve. */
static void look(struct intake *intake)
{
    struct intake_queue *list[AT_ONCE];
    size_t quiet, ready;

    intake_follow(intake);
    quiet = intake->many ? 0 : list_due(intake, list);
    ready = list_ready(intake, list + quiet, AT_ONCE - quiet);
    if (quiet && ready && !intake->apart &&
        intake_ask(intake, list[quiet], intake_free_slots(intake), list, quiet))
        intake_turn(intake, list[quiet], later_clock());
    else
        ask_each(intake, list, quiet, ready);
    if (intake->many)
        look_for_wakes(intake, false);
}

/* A worker that was called as soon as it was idle first looks whether there is more. Otherwise each
 * job would bring the wakes of all queues to this host, only to be put back. While each look finds
 * some, it looks without a pause, which costs less than to hear of them one by one. Not on a
 * Cluster, where a node that stands still would keep the worker from being called for the others.
 */
static bool looks_first(struct intake *intake)
{
    if (intake->many && intake->found && !intake->apart)
        look_for_wakes(intake, intake->found >= INTAKE_SOME);
    return intake->seek && !intake->apart;
}

/* Where the program of some queue's jobs has no room, the worker does not wait for wakes, which
 * others may need. So it looks for those of the other queues, without a reserve for each. */
static void look_beside(struct intake *intake)
{
    look_for_wakes(intake, false);
    timer_soon(intake->beside, intake_pause_of(intake));
}

/* --- when --- */

static bool may_fetch(const struct intake *intake)
{
    return !intake->worker->draining && !intake->worker->paused && !intake->worker->load->alone &&
           intake->asked == 0 && link_is_up(intake->worker->main);
}

static void flush_rest(struct intake *intake)
{
    admission_flush(intake->worker->admission);
    link_flush(intake->worker->main);
}

void intake_flush(struct intake *intake)
{
    outbox_flush(intake->worker->outbox);
    flush_rest(intake);
}

void intake_ahead(struct intake *intake)
{
    double average;

    if (!may_fetch(intake) || !intake_any_ready(intake))
        return;
    average = intake_slowest(intake);
    /* What runs now may take as long as the batch, so do not hoard jobs behind a slow one. */
    if ((double)intake->held_count * average > INTAKE_SECONDS / 2 || average > INTAKE_SECONDS / 4)
        return;
    look(intake);
    if (!intake->asked && !intake->seek)
        return;
    outbox_flush_early(intake->worker->outbox);
    flush_rest(intake);
}

void intake_go_on(struct intake *intake)
{
    const struct run_load *load = intake->worker->load;
    bool may = may_fetch(intake) && !intake->held_count && !load->single, full;

    if (may && intake_any_ready(intake)) {
        outbox_flush_but_joining(intake->worker->outbox);
        look(intake);
    }
    if (may && !intake->asked && looks_first(intake))
        may = false;
    may = may && !intake->asked && load->in_flight < intake->worker->config->events;
    full = may && intake_full(intake);
    if (full && intake->queue_count > 1)
        look_beside(intake);
    intake_flush(intake);
    intake_wait(intake, may && !full);
}

/* --- what run tells and takes --- */

bool intake_take(struct intake *intake, struct held *held)
{
    while (intake->held_count) {
        *held = intake->held[intake->held_first];
        intake->held_first = (intake->held_first + 1) % intake->held_room;
        intake->held_count--;
        if (slot_move(held->slot, SLOT_HELD, SLOT_RUNNING))
            return true;
        intake_live_more(intake, &intake->queues[held->from->index]); /* before those after it */
        batch_release(held->batch);
        intake->was_behind = true;
    }
    return false;
}

size_t intake_held(const struct intake *intake)
{
    return intake->held_count;
}

void intake_learn(struct intake *intake, const struct worker_queue *from, double seconds)
{
    struct intake_queue *queue = &intake->queues[from->index];

    queue->average = intake_average(intake, queue);
    attempt_learn(&queue->average, seconds);
    attempt_learn(&intake->average, seconds);
    intake->trusted = LATER_BATCH_MAX;
}

void intake_pass_by(struct intake *intake)
{
    intake->trusted++;
}

void intake_has_more(struct intake *intake, const struct worker_queue *from)
{
    intake_live_more(intake, &intake->queues[from->index]);
}

void intake_freed(struct intake *intake, const struct worker_queue *from)
{
    struct intake_queue *queue = &intake->queues[from->index];

    if (!queue->asked)
        intake_live(intake, queue, true);
}

/* --- what the worker asks --- */

const struct worker_queue *intake_queue(const struct intake *intake, uint32_t index)
{
    return &intake->queues[index].known;
}

bool intake_awaits_ids(const struct intake *intake)
{
    return intake->awaits_ids > 0;
}

/* Has any reserve, BLPOP or search for a lost one no answer yet? */
static bool intake_is_open(const struct intake *intake)
{
    for (uint32_t i = 0; i < intake->queue_count; i++) {
        if (intake->queues[i].asked)
            return true;
    }
    return intake->waiting || intake->finding;
}

bool intake_has_jobs(const struct intake *intake)
{
    return intake->held_count || intake->worker->load->in_flight ||
           intake->worker->load->in_admission;
}

bool intake_is_idle(const struct intake *intake)
{
    return !intake_has_jobs(intake) && outbox_open(intake->worker->outbox) == 0;
}

bool intake_is_still(const struct intake *intake)
{
    return intake_is_idle(intake) && !intake_is_open(intake) &&
           !admission_open(intake->worker->admission);
}

void intake_link_up(struct intake *intake)
{
    for (uint32_t i = 0; i < intake->queue_count && !intake->many; i++)
        intake_live_more(intake, &intake->queues[i]);
    intake_recover(intake);
    worker_pump_soon(intake->worker);
}

/* --- making and unmaking --- */

/* Called a while after Redis refused something. */
static void intake_on_again(void *arg)
{
    struct intake *intake = arg;

    intake_recover(intake);
    worker_pump_soon(intake->worker);
}

static void intake_on_beside(void *arg)
{
    const struct intake *intake = arg;

    worker_pump_soon(intake->worker);
}

struct intake *intake_new(struct worker *worker)
{
    struct intake *intake = calloc(1, sizeof *intake);

    if (!intake)
        return NULL;
    intake->worker = worker;
    intake->average = 0.001;
    intake->trusted = 1;
    intake->again = timer_new(worker->base, intake_on_again, intake);
    intake->beside = timer_new(worker->base, intake_on_beside, intake);
    intake->apart = later_redis_is_cluster(link_redis(worker->main));
    if (intake->apart)
        intake->late = timer_new(worker->base, intake_late, intake);
    if (intake->again && intake->beside && (intake->late || !intake->apart) &&
        intake_serve(intake) == 0)
        return intake;
    intake_free(intake);
    return NULL;
}

void intake_free(struct intake *intake)
{
    if (!intake)
        return;
    timer_free(intake->again);
    timer_free(intake->beside);
    timer_free(intake->late);
    later_names_free(&intake->names, NULL);
    free(intake->held);
    for (uint32_t i = 0; i < intake->queue_count; i++)
        fault_free(&intake->queues[i].refused);
    free(intake->queues);
    free(intake->order);
    free(intake->groups);
    free(intake);
}
