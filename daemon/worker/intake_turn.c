/*
 * intake_turn.c: whose turn it is: queues in strict order or by weight, those of a group in turn.
 */
#include "worker/intake.h"

#include "base/clock.h"

#define TURN_SECONDS 0.050 /* at one shard before the next */
#define SHARE_JOBS   16    /* of the lightest queue at a time, while others have jobs */
#define SLOW_SECONDS 0.001 /* how long the slowest time found stays valid */
#define LOOK_SECONDS 0.020 /* between looks at queues without work */

static struct worker_queue *at(const struct worker *worker, uint32_t rank)
{
    return &worker->queues[worker->order[rank]];
}

void intake_live(struct worker *worker, struct worker_queue *queue, bool live)
{
    uint64_t bit = (uint64_t)1 << queue->rank % 64;

    queue->live = live;
    if (live)
        worker->live[queue->rank / 64] |= bit;
    else
        worker->live[queue->rank / 64] &= ~bit;
}

/* Returns the first rank from here on whose queue is live; `end` if there is none before it. */
static uint32_t next_live(const struct worker *worker, uint32_t rank, uint32_t end)
{
    while (rank < end) {
        uint64_t rest = worker->live[rank / 64] >> rank % 64;

        if (rest) {
            rank += (uint32_t)__builtin_ctzll(rest);
            return rank < end ? rank : end;
        }
        rank = (rank / 64 + 1) * 64;
    }
    return end;
}

bool intake_is_open(const struct worker_queue *queue)
{
    return !queue->resting && !queue->silent;
}

bool intake_is_ready(const struct worker_queue *queue)
{
    return queue->live && intake_is_open(queue);
}

bool intake_any_ready(const struct worker *worker)
{
    uint32_t end = worker->queue_count;

    for (uint32_t p = next_live(worker, 0, end); p < end; p = next_live(worker, p + 1, end)) {
        if (intake_is_open(at(worker, p)))
            return true;
    }
    return false;
}

double intake_average(const struct worker *worker, const struct worker_queue *queue)
{
    return queue->average > 0 ? queue->average : worker->average;
}

double intake_slowest(struct worker *worker)
{
    uint32_t end = worker->queue_count;
    double now;

    if (worker->many && (now = later_clock()) - worker->slowest_at < SLOW_SECONDS)
        return worker->slowest;
    worker->slowest_at = worker->many ? now : 0;
    worker->slowest = 0;
    for (uint32_t p = next_live(worker, 0, end); p < end; p = next_live(worker, p + 1, end)) {
        double average = intake_average(worker, at(worker, p));

        if (intake_is_open(at(worker, p)) && average > worker->slowest)
            worker->slowest = average;
    }
    return worker->slowest;
}

struct worker_queue *intake_in_turn(struct worker *worker, uint32_t n)
{
    const struct worker_group *group = &worker->groups[at(worker, n)->group];

    return at(worker, group->first + (n - group->first + group->turn) % group->count);
}

void intake_turn(struct worker *worker, const struct worker_queue *queue, double now)
{
    struct worker_group *group = &worker->groups[queue->group];
    uint32_t rank = queue->rank - group->first;

    if (group->count > LATER_WHOLE_MAX) { /* these are no shards: each gets one batch */
        group->turn = (rank + 1) % group->count;
        return;
    }
    if (rank == group->turn && now - group->turned < TURN_SECONDS)
        return;
    group->turn = rank == group->turn ? (rank + 1) % group->count : rank;
    group->turned = now;
}

static size_t ready_between(struct worker *worker, uint32_t from, uint32_t end,
                            struct worker_queue **list, size_t most)
{
    size_t count = 0;

    for (uint32_t p = next_live(worker, from, end); p < end && count < most;
         p = next_live(worker, p + 1, end)) {
        if (intake_is_open(at(worker, p)))
            list[count++] = at(worker, p);
    }
    return count;
}

size_t intake_ready_of(struct worker *worker, const struct worker_group *group,
                       struct worker_queue **list, size_t most)
{
    uint32_t turn = group->first + group->turn, end = group->first + group->count;
    size_t count = ready_between(worker, turn, end, list, most);

    return count + ready_between(worker, group->first, turn, list + count, most - count);
}

size_t intake_ready(struct worker *worker, struct worker_queue **list, size_t most)
{
    uint32_t end = worker->queue_count, rank = next_live(worker, 0, end);
    size_t count = 0;

    while (rank < end && count < most) {
        const struct worker_group *group = &worker->groups[at(worker, rank)->group];

        count += intake_ready_of(worker, group, list + count, most - count);
        rank = next_live(worker, group->first + group->count, end);
    }
    return count;
}

/* Start-time fair queueing (Goyal, Vin, Cheng 1996), counted in jobs. Each group has a clock, which
 * advances for each job that it gave, by less the higher its weight is. The group that is furthest
 * behind comes next. A group without work for a while does not catch up: it begins where the others
 * are. */
struct worker_group *intake_choose(struct worker *worker)
{
    uint32_t end = worker->queue_count, rank = next_live(worker, 0, end);
    struct worker_group *chosen = NULL;
    struct worker_queue *ready;

    while (rank < end) {
        struct worker_group *group = &worker->groups[at(worker, rank)->group];

        rank = next_live(worker, group->first + group->count, end);
        if (intake_ready_of(worker, group, &ready, 1) == 0)
            continue;
        if (group->clock < worker->clock)
            group->clock = worker->clock;
        if (!chosen || group->clock < chosen->clock)
            chosen = group;
    }
    if (chosen)
        worker->clock = chosen->clock;
    return chosen;
}

void intake_count(struct worker *worker, const struct worker_queue *queue, size_t jobs)
{
    struct worker_group *group = &worker->groups[queue->group];

    if (group->weight)
        group->clock += (double)jobs / group->weight;
}

size_t intake_share(const struct worker *worker, const struct worker_queue *queue)
{
    uint32_t end = worker->queue_count, weight = worker->groups[queue->group].weight;
    uint32_t least = weight, others = 0;

    for (uint32_t p = next_live(worker, 0, end); p < end; p = next_live(worker, p + 1, end)) {
        const struct worker_queue *other = at(worker, p);

        if (other->group == queue->group || !intake_is_open(other))
            continue;
        others++;
        if (worker->groups[other->group].weight < least)
            least = worker->groups[other->group].weight;
    }
    return others && least ? (size_t)SHARE_JOBS * weight / least : LATER_BATCH_MAX;
}

/* Lists the queues that intake_few() asks, in order; returns how many. *live: the one that has
 * work.
 */
static size_t list_few(struct worker *worker, struct worker_queue **list,
                       struct worker_queue **live)
{
    const struct worker_group *group = worker->weighted ? intake_choose(worker) : NULL;
    struct worker_queue *chosen = NULL;
    double now = later_clock();
    size_t count = 0;

    if (group)
        intake_ready_of(worker, group, &chosen, 1);
    for (uint32_t i = 0; i < worker->queue_count && !(*live && !worker->weighted); i++) {
        struct worker_queue *queue = intake_in_turn(worker, i);

        if (!intake_is_open(queue) || (queue->live && worker->weighted && queue != chosen))
            continue;
        if (queue->live || now - queue->checked >= LOOK_SECONDS)
            list[count++] = queue;
        if (queue->live)
            *live = queue;
    }
    return count;
}

void intake_few(struct worker *worker)
{
    struct worker_queue *list[CONFIG_WAITED], *live = NULL;
    size_t count = list_few(worker, list, &live), most = count ? intake_free(worker) / count : 0;

    for (size_t i = 0; i < count; i++)
        intake_look_at(worker, list[i], most);
    if (live)
        intake_turn(worker, live, later_clock());
}
