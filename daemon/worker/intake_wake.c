/*
 * intake_wake.c: a worker waits for work.
 *
 * On one server it waits in BLPOP on the wake keys of its queues, at most 5 seconds or a third of
 * the lease. With one queue a reserve for a few jobs is written right after it, which Redis runs as
 * soon as the wake comes. A worker that has been idle for half a minute costs Redis less: its BLPOP
 * is longer and has no reserve behind it, so that its next job comes one round trip later, and it
 * may be broken off at any time. If the supervisor allows it (supervisor/sleepers.h), the worker
 * then closes its connections until it is roused. On a Redis Cluster the worker says that it is
 * idle; the supervisor waits for all workers and calls it (wake_listener.h).
 */
#include "worker/intake_inner.h"

#include "base/clock.h"
#include "client/call.h"
#include "log.h"
#include "redis/script.h"
#include "worker/admission.h"

#include <math.h>
#include <string.h>

#define WAIT_SECONDS    5.0    /* one BLPOP, at most */
#define VAIN_WAITS      6      /* after so many in a row that have brought nothing, */
#define WAIT_LONG       60.0   /* it is this one, with nothing behind it */
#define PRESSED_SECONDS 0.005  /* of being idle, or less: pressed */
#define QUICK_SECONDS   0.0005 /* a job: a batch of several queues is a matter of milliseconds */
#define UNTIL_SLACK     0.2    /* how long after the BLPOP's end the reserve may still take jobs */

/* --- without connections --- */

/* Returns whether it may. */
static bool fall_asleep(struct intake *intake)
{
    struct worker *worker = intake->worker;

    if (worker->draining || worker->paused || !intake_is_still(intake) ||
        admission_looks_after(worker->admission) ||
        !slots_move_sleep(worker->slots, SLOTS_MAY_SLEEP, SLOTS_ASLEEP))
        return false;
    atomic_store(&worker->slots->page->waits, 0);
    log_line(LOG_DEBUG, "asleep: without connections until others are busy");
    link_rest(worker->wake);
    link_rest(worker->main);
    later_call_abort(worker->client); /* its next call connects again */
    return true;
}

void intake_rouse(struct intake *intake)
{
    intake->vain = 0;
    link_resume(intake->worker->main);
    if (intake->worker->wake)
        link_resume(intake->worker->wake);
}

/* --- in BLPOP --- */

static void intake_wake_on_wake(void *arg, struct later_answer *answer)
{
    struct intake *intake = arg;
    const char *key = later_reply_text(later_reply_at(answer->reply, 0), NULL);

    intake->waiting = intake->unblocking = false;
    intake->vain = answer->outcome == LATER_ANSWERED && !*key ? intake->vain + 1 : 0;
    for (uint32_t i = 0; i < intake->queue_count; i++) {
        struct intake_queue *queue = &intake->queues[i];

        if (strcmp(key, queue->known.keys.name[LATER_KEY_WAKE]) != 0)
            continue;
        /* With one queue, the reserve after this BLPOP already takes the first jobs. */
        intake_live(intake, queue, !queue->asked);
        if (intake->worker->draining || intake->worker->paused || intake->worker->load->alone ||
            intake_full(intake))
            link_wake(intake->worker->main, &queue->known.keys);
    }
    if (intake->vain == 0)
        worker_stir(intake->worker);
    if (answer->outcome == LATER_REFUSED)
        intake_deaf(intake);
    if (answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_RECONNECT)
        link_break(intake->worker->wake, answer->text);
    worker_pump_soon(intake->worker);
}

/* We count the lease of a reserve after a BLPOP from when it was sent. So with a short lease the
 * BLPOP must not wait long, or the lease would be over before the jobs begin. */
static double longest_wait(const struct intake *intake)
{
    return intake->waits_long ? WAIT_LONG : fmin(WAIT_SECONDS, intake->worker->config->lease / 3);
}

static void begin_to_wait(struct intake *intake)
{
    struct later_command cmd = { 0 };
    uint32_t count = intake->queue_count;
    double wait;

    if (intake->waiting && !intake->unblocking)
        atomic_store(&intake->worker->slots->page->waits, 1);
    if (intake->waiting || intake->deaf || !link_is_up(intake->worker->wake))
        return;
    intake->waits_long = intake->vain >= VAIN_WAITS;
    if (intake->waits_long && fall_asleep(intake))
        return;
    wait = longest_wait(intake);
    later_command_open(&cmd, count + 1, "BLPOP");
    for (uint32_t i = 0; i < count; i++)
        later_command_text(&cmd, intake->queues[i].known.keys.name[LATER_KEY_WAKE]);
    later_command_seconds(&cmd, wait);
    if (link_send(intake->worker->wake, &cmd, wait + LINK_TIMEOUT, intake_wake_on_wake, intake) < 0)
        return;
    intake->waiting = true;
    atomic_store(&intake->worker->slots->page->waits, 1);
    if (count == 1 && !intake->waits_long && intake->worker->redis_offset != 0)
        intake_ask_behind(intake, &intake->queues[0],
                          later_clock() + intake->worker->redis_offset + wait + UNTIL_SLACK,
                          wait + LINK_TIMEOUT);
    link_flush(intake->worker->wake);
}

void intake_doubt(struct intake *intake)
{
    if (intake->waiting && intake->waits_long)
        link_break(intake->worker->wake, "a long wait is begun anew");
}

/* 0: nobody was blocked. The BLPOP goes by another connection, and may not have arrived yet. */
static void on_unblocked(void *arg, struct later_answer *answer)
{
    struct intake *intake = arg;

    if (answer->outcome != LATER_ANSWERED)
        intake_doubt(intake);
    if (answer->outcome != LATER_ANSWERED || later_reply_int(answer->reply) != 0)
        return;
    intake->unblocking = false;
    intake_unblock(intake);
}

/* Returns whether Redis was told. */
static bool say_unblock(struct intake *intake)
{
    int64_t id = later_redis_id(link_redis(intake->worker->wake));
    struct later_command cmd = { 0 };

    if (!id)
        return false;
    later_command_say(&cmd, "CLIENT UNBLOCK %ju", (uintmax_t)id);
    return link_send(intake->worker->main, &cmd, LINK_TIMEOUT, on_unblocked, intake) == 0;
}

void intake_unblock(struct intake *intake)
{
    if (!intake->waiting || intake->unblocking)
        return;
    intake->unblocking = say_unblock(intake);
    if (intake->unblocking)
        link_flush(intake->worker->main);
    else
        intake_doubt(intake);
}

void intake_end_long_wait(struct intake *intake)
{
    if (intake->waits_long)
        intake_unblock(intake);
}

/* --- called by the supervisor --- */

/* Several queues are asked at once where jobs are quick. */
static bool is_quick(const struct intake *intake)
{
    return intake->many && intake->average < QUICK_SECONDS;
}

/* Has it time for this queue, too? */
static bool has_time(const struct intake *intake, const struct intake_queue *queue)
{
    return (is_quick(intake) && intake_average(intake, queue) < QUICK_SECONDS) ||
           (!intake->held_count && !intake_any_ready(intake));
}

/* A worker that is called but has other things to do puts the wake back for another. */
void intake_called(struct intake *intake, const char *name)
{
    struct intake_queue *queue;
    bool takes;

    intake_follow(intake);
    queue = later_names_find(&intake->names, name);
    takes = queue && has_time(intake, queue) && !intake->worker->draining &&
            !intake->worker->paused && !intake->worker->load->alone && !intake_full(intake);
    slots_move_idle(intake->worker->slots, SLOTS_IDLE_CALLED,
                    takes && is_quick(intake) ? SLOTS_IDLE_QUICK : SLOTS_IDLE_OFF);
    if (!queue)
        return;
    intake->found++;
    intake_live(intake, queue, true);
    if (!takes)
        link_wake(intake->worker->main, &queue->known.keys);
}

/* If work comes as soon as a worker is idle, there is probably more. */
static void note_idle(struct intake *intake, bool idle)
{
    double now = later_clock();

    if (idle && intake->idle_since <= 0) {
        intake->idle_since = now;
        intake->found = 0;
    } else if (!idle && intake->idle_since > 0) {
        if (intake->found < INTAKE_SOME)
            intake->found = now - intake->idle_since < PRESSED_SECONDS;
        intake->idle_since = 0;
    }
}

/* Who has no room since a job of its was admitted, or drains, does not wait again when its BLPOP
 * has ended. If it did not say so, it would be taken for the one that waits while others sleep. */
static void wait_itself(struct intake *intake, bool idle)
{
    if (idle)
        begin_to_wait(intake);
    else if (!intake->waiting)
        worker_stir(intake->worker);
}

void intake_wait(struct intake *intake, bool idle)
{
    if (intake->worker->wake) {
        wait_itself(intake, idle);
    } else {
        note_idle(intake, idle);
        if (slots_set_idle(intake->worker->slots, idle))
            worker_report(intake->worker, WORKER_IDLE);
    }
}
