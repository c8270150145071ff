/*
 * intake_many.c: which of very many queues to look at.
 *
 * If a pool has more queues than a worker can wait for, the supervisor waits (wake_listener.h). A
 * busy worker learns which queues have a wake by a few EXISTS for all of them (seek.h), not by a
 * reserve for each. Several queues with work are asked in one write, each for a part of a batch.
 */
#include "worker/intake.h"

#include "base/clock.h"
#include "link/seek.h"

#include <stdlib.h>

#define AT_ONCE      8      /* queues that are asked in one write */
#define LOOK_SECONDS 0.020  /* between looks at queues without work, */
#define LOOK_EACH    0.0001 /* or this long for each of them, */
#define LOOK_APART   0.0004 /* on a Cluster, where each costs a command */
#define ENOUGH       64     /* queues that are enough for one look */

static double pause_of(const struct worker *worker)
{
    bool apart = later_redis_is_cluster(link_redis(worker->main));
    double wait = worker->queue_count * (apart ? LOOK_APART : LOOK_EACH);

    return wait > LOOK_SECONDS ? wait : LOOK_SECONDS;
}

static const char *wake_of(void *arg, uint32_t queue, unsigned k)
{
    const struct worker *worker = arg;

    (void)k;
    return worker->queues[queue].keys.name[LATER_KEY_WAKE];
}

static void on_found(void *arg, bool ok, const uint32_t *found, size_t count)
{
    struct worker *worker = arg;

    (void)ok;                                            /* the next look finds the others */
    worker->sought = count < ENOUGH ? later_clock() : 0; /* there are more */
    worker->found_some = count >= INTAKE_SOME;
    worker->pressed = count > 0;
    for (size_t i = 0; i < count; i++)
        intake_live(worker, &worker->queues[found[i]], true);
    seek_free(worker->seek); /* and `found` */
    worker->seek = NULL;
    worker_pump_soon(worker);
}

/* Lists the queues without known work: in strict order, those above the first that has work; by
 * weight, all. */
static size_t list_quiet(struct worker *worker, uint32_t *list)
{
    size_t listed = 0;

    for (uint32_t i = 0; i < worker->queue_count; i++) {
        const struct worker_queue *queue = intake_in_turn(worker, i);

        if (intake_is_ready(queue) && !worker->weighted)
            break;
        if (!queue->live && intake_is_open(queue) && !queue->asked)
            list[listed++] = queue->index;
    }
    return listed;
}

static void look_for_wakes(struct worker *worker, bool now)
{
    const struct seek_options options = {
        .key = wake_of, .keys = 1, .most = ENOUGH, .done = on_found, .arg = worker
    };
    uint32_t *list;
    size_t count;

    if (worker->seek || (!now && later_clock() - worker->sought < pause_of(worker)))
        return;
    list = malloc(worker->queue_count * sizeof *list);
    count = list ? list_quiet(worker, list) : 0;
    worker->sought = later_clock();
    if (count)
        worker->seek = seek_new(worker->main, &options, list, count);
    free(list);
    if (worker->seek)
        seek_ask(worker->seek);
}

/* Chooses queues of the group whose turn it is, or in strict order of all. */
static size_t choose(struct worker *worker, struct worker_queue **list)
{
    const struct worker_group *group;

    if (!worker->weighted)
        return intake_ready(worker, list, AT_ONCE);
    group = intake_choose(worker);
    return group ? intake_ready_of(worker, group, list, AT_ONCE) : 0;
}

void intake_many(struct worker *worker)
{
    struct worker_queue *list[AT_ONCE];
    size_t count;

    intake_follow(worker);
    count = choose(worker, list);
    for (size_t i = 0; i < count; i++) {
        if (intake_look_at(worker, list[i], intake_room(worker, list[i]) / count))
            intake_turn(worker, list[i], later_clock());
    }
    look_for_wakes(worker, false);
}

/* A worker that was called as soon as it was idle first looks whether there is more. Otherwise each
 * job would bring the wakes of all queues to this host, only to be put back. While each look finds
 * some, it looks without a pause, which costs less than to hear of them one by one. Not on a
 * Cluster, where a node that stands still would keep the worker from being called for the others.
 */
bool intake_many_first(struct worker *worker)
{
    bool apart = later_redis_is_cluster(link_redis(worker->main));

    if (worker->many && worker->pressed && !apart)
        look_for_wakes(worker, worker->found_some);
    return worker->seek && !apart;
}
