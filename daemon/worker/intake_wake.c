/*
 * intake_wake.c: a worker waits for work.
 *
 * On one server it waits in BLPOP on the wake keys of its queues, at most 5 seconds or a third of
 * the lease. With one queue a reserve for a few jobs is written right after it, which Redis runs as
 * soon as the wake comes. On a Redis Cluster the worker says that it is idle; the supervisor waits
 * for all workers and calls it (wake_listener.h).
 */
#include "worker/intake.h"

#include "base/clock.h"
#include "redis/script.h"

#include <math.h>
#include <string.h>

#define WAIT_SECONDS    5.0    /* one BLPOP, at most */
#define PRESSED_SECONDS 0.005  /* of being idle, or less: pressed */
#define QUICK_SECONDS   0.0005 /* a job: a batch of several queues is a matter of milliseconds */
#define UNTIL_SLACK     0.2    /* how long after the BLPOP's end the reserve may still take jobs */

/* --- in BLPOP --- */

static void on_wake(void *arg, struct later_answer *answer)
{
    struct worker *worker = arg;
    const char *key = later_reply_text(later_reply_at(answer->reply, 0), NULL);

    worker->waiting = worker->unblocking = false;
    for (uint32_t i = 0; i < worker->queue_count; i++) {
        struct worker_queue *queue = &worker->queues[i];

        if (strcmp(key, queue->keys.name[LATER_KEY_WAKE]) != 0)
            continue;
        /* With one queue, the reserve after this BLPOP already takes the first jobs. */
        intake_live(worker, queue, !queue->asked);
        if (worker->draining || worker->paused || worker->load->alone || intake_full(worker))
            link_wake(worker->main, &queue->keys);
    }
    if (answer->outcome == LATER_REFUSED)
        intake_deaf(worker);
    if (answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_RECONNECT)
        link_break(worker->wake, answer->text);
    worker_pump_soon(worker);
}

/* We count the lease of a reserve after a BLPOP from when it was sent. So with a short lease the
 * BLPOP must not wait long, or the lease would be over before the jobs begin. */
static double longest_wait(const struct worker *worker)
{
    return fmin(WAIT_SECONDS, worker->config->lease / 3);
}

static void begin_to_wait(struct worker *worker)
{
    struct later_command cmd = { 0 };
    uint32_t count = worker->queue_count;
    double wait = longest_wait(worker);

    if (worker->waiting || worker->deaf || !link_is_up(worker->wake))
        return;
    later_command_begin(&cmd, count + 2);
    later_command_text(&cmd, "BLPOP");
    for (uint32_t i = 0; i < count; i++)
        later_command_text(&cmd, worker->queues[i].keys.name[LATER_KEY_WAKE]);
    later_command_seconds(&cmd, wait);
    if (link_send(worker->wake, &cmd, wait + LINK_TIMEOUT, on_wake, worker) < 0)
        return;
    worker->waiting = true;
    if (count == 1 && worker->redis_offset)
        intake_behind(worker, &worker->queues[0],
                      later_clock() + worker->redis_offset + wait + UNTIL_SLACK,
                      wait + LINK_TIMEOUT);
    link_flush(worker->wake);
}

/* 0: nobody was blocked. The BLPOP goes by another connection, and may not have arrived yet. */
static void on_unblocked(void *arg, struct later_answer *answer)
{
    struct worker *worker = arg;

    if (answer->outcome != LATER_ANSWERED || later_reply_int(answer->reply) != 0)
        return;
    worker->unblocking = false;
    intake_unblock(worker);
}

void intake_unblock(struct worker *worker)
{
    struct later_command cmd = { 0 };
    int64_t id;

    if (!worker->waiting || worker->unblocking)
        return;
    id = later_redis_id(link_redis(worker->wake));
    if (!id)
        return;
    later_command_say(&cmd, "CLIENT UNBLOCK %ju", (uintmax_t)id);
    worker->unblocking = link_send(worker->main, &cmd, LINK_TIMEOUT, on_unblocked, worker) == 0;
    link_flush(worker->main);
}

/* --- called by the supervisor --- */

/* Several queues are asked at once where jobs are quick. */
static bool is_quick(const struct worker *worker)
{
    return worker->many && worker->average < QUICK_SECONDS;
}

/* Has it time for this queue, too? */
static bool has_time(const struct worker *worker, const struct worker_queue *queue)
{
    return (is_quick(worker) && intake_average(worker, queue) < QUICK_SECONDS) ||
           (!worker->held_count && !intake_any_ready(worker));
}

/* A worker that is called but has other things to do puts the wake back for another. */
void intake_called(struct worker *worker, const char *name)
{
    struct worker_queue *queue;
    bool takes;

    intake_follow(worker);
    queue = later_names_find(&worker->names, name);
    takes = queue && has_time(worker, queue) && !worker->draining && !worker->paused &&
            !worker->load->alone && !intake_full(worker);
    slots_move_idle(worker->slots, SLOTS_IDLE_CALLED,
                    takes && is_quick(worker) ? SLOTS_IDLE_QUICK : SLOTS_IDLE_OFF);
    if (!queue)
        return;
    if (++worker->calls >= INTAKE_SOME)
        worker->pressed = worker->found_some = true;
    intake_live(worker, queue, true);
    if (!takes)
        link_wake(worker->main, &queue->keys);
}

/* If work comes as soon as a worker is idle, there is probably more. */
static void note_idle(struct worker *worker, bool idle)
{
    double now = later_clock();

    if (idle && worker->idle_since <= 0) {
        worker->idle_since = now;
        worker->calls = 0;
    } else if (!idle && worker->idle_since > 0) {
        worker->pressed =
            worker->calls >= INTAKE_SOME || now - worker->idle_since < PRESSED_SECONDS;
        worker->idle_since = 0;
    }
}

void intake_wait(struct worker *worker, bool idle)
{
    if (worker->wake && idle) {
        begin_to_wait(worker);
    } else if (!worker->wake) {
        note_idle(worker, idle);
        if (slots_set_idle(worker->slots, idle))
            worker_report(worker, WORKER_IDLE);
    }
}
