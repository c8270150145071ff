/*
 * intake_queues.c: the queues that a worker serves, which may become more; whose turn it is, in
 * strict order or by weight, and those of a group in turn; how many of their jobs have room.
 */
#include "worker/intake_inner.h"

#include "base/clock.h"
#include "reservation/job.h"
#include "worker/admission.h"

#include <stdlib.h>
#include <string.h>

#define TURN_SECONDS 0.050 /* at one shard before the next */
#define SHARE_JOBS   16    /* of the lightest queue at a time, while others have jobs */
#define SLOW_SECONDS 0.001 /* how long the slowest time found stays valid */

/* --- which there are --- */

/* Puts it at the end of its group; later queues move up by one. */
static void intake_queues_put_in_order(struct intake *intake, struct intake_queue *queue)
{
    struct intake_group *group = &intake->groups[queue->group];
    uint32_t rank = group->first + group->count++;

    memmove(&intake->order[rank + 1], &intake->order[rank],
            (intake->queue_count - rank) * sizeof *intake->order);
    intake->order[rank] = queue->known.index;
    for (uint32_t g = queue->group + 1; g < intake->group_count; g++)
        intake->groups[g].first++;
    intake->queue_count++;
    if (rank + 1 < intake->queue_count)
        memset(intake->live, 0, sizeof intake->live);
    for (uint32_t p = rank + 1 < intake->queue_count ? 0 : rank; p < intake->queue_count; p++) {
        struct intake_queue *moved = &intake->queues[intake->order[p]];

        moved->rank = p;
        intake_live(intake, moved, moved->live);
    }
}

/* Adds a queue after the others. false: no memory. */
static bool intake_queues_serve(struct intake *intake, const struct config_queue *config)
{
    struct slots_page *page = intake->worker->slots->page;
    uint32_t index = intake->queue_count;
    struct intake_queue *queue = &intake->queues[index];
    const struct intake_queue *whole;

    if (index == intake->queue_room)
        return false;
    *queue = (struct intake_queue){ .known = { .index = index, .config = config },
                                    .group = config->entry };
    later_keys_init(&queue->known.keys, intake->worker->config->redis.prefix, config->name);
    later_shard_whole(queue->known.whole, config->name);
    queue->live = queue->more = !intake->many;
    if (!later_names_add(&intake->names, queue->known.keys.queue, queue))
        return false;
    whole = later_names_find(&intake->names, queue->known.whole);
    queue->known.counted = whole ? whole->known.index : index;
    memcpy(page->queues[index], queue->known.keys.queue, sizeof page->queues[index]);
    page->queue_count = index + 1;
    intake->groups[queue->group].weight = config->weight;
    intake->weighted = intake->weighted || config->weight > 0;
    intake_queues_put_in_order(intake, queue);
    return true;
}

int intake_serve(struct intake *intake)
{
    const struct config_pool *pool = intake->worker->start->pool;

    intake->many = config_pool_is_large(pool);
    intake->queue_room = pool->followed ? CONFIG_QUEUES_MAX : pool->queue_count;
    intake->group_count = pool->entries;
    intake->queues = calloc(intake->queue_room, sizeof *intake->queues);
    intake->order = calloc(intake->queue_room, sizeof *intake->order);
    intake->groups = calloc(intake->group_count, sizeof *intake->groups);
    if (!intake->queues || !intake->order || !intake->groups)
        return -1;
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        if (!intake_queues_serve(intake, &pool->queues[i]))
            return -1;
    }
    return 0;
}

void intake_follow(struct intake *intake)
{
    const struct config_pool *pool = intake->worker->start->pool;
    uint32_t count = pool->followed
                         ? atomic_load_explicit(&pool->followed->count, memory_order_acquire)
                         : intake->queue_count;

    while (intake->queue_count < count &&
           intake_queues_serve(intake, &pool->queues[intake->queue_count]))
        ;
}

/* --- whose turn it is --- */

static struct intake_queue *at(const struct intake *intake, uint32_t rank)
{
    return &intake->queues[intake->order[rank]];
}

void intake_live(struct intake *intake, struct intake_queue *queue, bool live)
{
    uint64_t bit = (uint64_t)1 << queue->rank % 64;

    queue->live = live;
    queue->more = queue->more && live;
    if (live)
        intake->live[queue->rank / 64] |= bit;
    else
        intake->live[queue->rank / 64] &= ~bit;
}

void intake_live_more(struct intake *intake, struct intake_queue *queue)
{
    intake_live(intake, queue, true);
    queue->more = true;
}

/* Returns the first rank from here on whose queue is live; `end` if there is none before it. */
static uint32_t next_live(const struct intake *intake, uint32_t rank, uint32_t end)
{
    while (rank < end) {
        uint64_t rest = intake->live[rank / 64] >> rank % 64;

        if (rest) {
            rank += (uint32_t)__builtin_ctzll(rest);
            return rank < end ? rank : end;
        }
        rank = (rank / 64 + 1) * 64;
    }
    return end;
}

/* Returns how many more jobs its plugin has room for, if this queue's next jobs have the type of
 * its last one. */
static uint32_t room_of(const struct intake_queue *queue)
{
    return queue->limited ? plugin_type_room(queue->limited, queue->limited_name) : UINT32_MAX;
}

/* A job that waits for a program takes its room. */
static bool intake_has_room(const struct intake *intake, const struct intake_queue *queue)
{
    return room_of(queue) >
           (intake->worker->load->starting ? intake->worker->load->in_admission : 0);
}

bool intake_may_ask(const struct intake *intake, const struct intake_queue *queue)
{
    return !queue->resting && !queue->silent && intake_has_room(intake, queue);
}

bool intake_is_ready(const struct intake *intake, const struct intake_queue *queue)
{
    return queue->live && intake_may_ask(intake, queue);
}

bool intake_any_ready(const struct intake *intake)
{
    uint32_t end = intake->queue_count;

    for (uint32_t p = next_live(intake, 0, end); p < end; p = next_live(intake, p + 1, end)) {
        if (intake_may_ask(intake, at(intake, p)))
            return true;
    }
    return false;
}

double intake_average(const struct intake *intake, const struct intake_queue *queue)
{
    return queue->average > 0 ? queue->average : intake->average;
}

double intake_slowest(struct intake *intake)
{
    uint32_t end = intake->queue_count;
    double now;

    if (intake->many && (now = later_clock()) - intake->slowest_at < SLOW_SECONDS)
        return intake->slowest;
    intake->slowest_at = intake->many ? now : 0;
    intake->slowest = 0;
    for (uint32_t p = next_live(intake, 0, end); p < end; p = next_live(intake, p + 1, end)) {
        double average = intake_average(intake, at(intake, p));

        if (average > intake->slowest && intake_may_ask(intake, at(intake, p)))
            intake->slowest = average;
    }
    return intake->slowest;
}

struct intake_queue *intake_in_turn(struct intake *intake, uint32_t n)
{
    const struct intake_group *group = &intake->groups[at(intake, n)->group];

    return at(intake, group->first + (n - group->first + group->turn) % group->count);
}

void intake_turn(struct intake *intake, const struct intake_queue *queue, double now)
{
    struct intake_group *group = &intake->groups[queue->group];
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

static size_t ready_between(struct intake *intake, uint32_t from, uint32_t end,
                            struct intake_queue **list, size_t most)
{
    size_t count = 0;

    for (uint32_t p = next_live(intake, from, end); p < end && count < most;
         p = next_live(intake, p + 1, end)) {
        if (intake_may_ask(intake, at(intake, p)))
            list[count++] = at(intake, p);
    }
    return count;
}

size_t intake_ready_of(struct intake *intake, const struct intake_group *group,
                       struct intake_queue **list, size_t most)
{
    uint32_t turn = group->first + group->turn, end = group->first + group->count;
    size_t count = ready_between(intake, turn, end, list, most);

    return count + ready_between(intake, group->first, turn, list + count, most - count);
}

size_t intake_ready(struct intake *intake, struct intake_queue **list, size_t most)
{
    uint32_t end = intake->queue_count, rank = next_live(intake, 0, end);
    size_t count = 0;

    while (rank < end && count < most) {
        const struct intake_group *group = &intake->groups[at(intake, rank)->group];

        count += intake_ready_of(intake, group, list + count, most - count);
        rank = next_live(intake, group->first + group->count, end);
    }
    return count;
}

/* Start-time fair queueing (Goyal, Vin, Cheng 1996), counted in jobs. Each group has a clock, which
 * advances for each job that it gave, by less the higher its weight is. The group that is furthest
 * behind comes next. A group without work for a while does not catch up: it begins where the others
 * are. */
struct intake_group *intake_choose(struct intake *intake)
{
    uint32_t end = intake->queue_count, rank = next_live(intake, 0, end);
    struct intake_group *chosen = NULL;
    struct intake_queue *ready;

    while (rank < end) {
        struct intake_group *group = &intake->groups[at(intake, rank)->group];

        rank = next_live(intake, group->first + group->count, end);
        if (intake_ready_of(intake, group, &ready, 1) == 0)
            continue;
        if (group->clock < intake->clock)
            group->clock = intake->clock;
        if (!chosen || group->clock < chosen->clock)
            chosen = group;
    }
    if (chosen)
        intake->clock = chosen->clock;
    return chosen;
}

void intake_count(struct intake *intake, const struct intake_queue *queue, size_t jobs)
{
    struct intake_group *group = &intake->groups[queue->group];

    if (group->weight)
        group->clock += (double)jobs / group->weight;
}

static size_t share_of(const struct intake *intake, const struct intake_queue *queue)
{
    uint32_t end = intake->queue_count, weight = intake->groups[queue->group].weight;
    uint32_t least = weight, others = 0;

    for (uint32_t p = next_live(intake, 0, end); p < end; p = next_live(intake, p + 1, end)) {
        const struct intake_queue *other = at(intake, p);

        if (other->group == queue->group || !intake_may_ask(intake, other))
            continue;
        others++;
        if (intake->groups[other->group].weight < least)
            least = intake->groups[other->group].weight;
    }
    return others && least ? (size_t)SHARE_JOBS * weight / least : LATER_BATCH_MAX;
}

/* --- how many jobs have room --- */

void intake_limit(struct intake *intake, const struct later_job *job)
{
    struct intake_queue *queue = &intake->queues[job->from->index];
    const struct plugin_type *limited = job->type->type.room ? job->type : NULL;

    intake->limited += limited ? 1U : 0;
    intake->limited -= queue->limited ? 1U : 0;
    queue->limited = limited;
    if (queue->limited && strcmp(queue->limited_name, job->doc.type) != 0)
        strcpy(queue->limited_name, job->doc.type);
}

bool intake_full(const struct intake *intake)
{
    if (intake->worker->load->starting && intake->worker->load->single)
        return true;
    for (uint32_t i = 0; intake->limited && i < intake->queue_count; i++) {
        if (!intake_has_room(intake, &intake->queues[i]))
            return true;
    }
    return false;
}

/* Returns how many slots have jobs that the keeper gives back: until Redis has said so, which may
 * be long after. There are seldom any, and only then they are counted. */
static size_t given_back(struct intake *intake, size_t open)
{
    struct slots *slots = intake->worker->slots;
    size_t settled = 0;

    for (uint32_t i = 0; intake->was_behind && i < slots_used(slots); i++) {
        uint32_t state = slot_state(&slots->page->slots[i]);

        settled += state == SLOT_FINISHED || state == SLOT_RETURNING;
    }
    intake->was_behind = settled > open;
    return settled > open ? settled - open : 0;
}

size_t intake_free_slots(struct intake *intake)
{
    size_t open =
        outbox_open(intake->worker->outbox) + admission_entering(intake->worker->admission);
    size_t in_use = intake->held_count + intake->worker->load->in_flight +
                    intake->worker->load->in_admission + intake->promised + open +
                    given_back(intake, open);
    size_t capacity = intake->worker->slots->page->capacity;

    return capacity > in_use ? capacity - in_use : 0;
}

/* Returns how many jobs have not begun or are on their way. What a silent queue may bring is not
 * waited for: if it comes all the same, some jobs may have to go back. */
static size_t to_come(const struct intake *intake)
{
    return intake->held_count + intake->worker->load->in_admission + intake->promised -
           intake->unheard;
}

/* Returns how many more jobs may begin beside those in flight. */
static size_t more_events(const struct intake *intake)
{
    size_t under_way = intake->worker->load->in_flight + to_come(intake);

    return intake->worker->config->events > under_way ? intake->worker->config->events - under_way
                                                      : 0;
}

static size_t intake_queues_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Jobs that have not begun yet will need that room, too. */
static size_t at_most_room(const struct intake *intake, const struct intake_queue *queue,
                           size_t size)
{
    size_t waiting = to_come(intake), room = room_of(queue);

    return intake_queues_least(size, room > waiting ? room - waiting : 0);
}

/* Returns how many jobs of this queue make a batch. */
static size_t batch_of(const struct intake *intake, const struct intake_queue *queue)
{
    double average = intake_average(intake, queue);
    double jobs = INTAKE_SECONDS / (average > 1e-6 ? average : 1e-6);
    size_t size = jobs < 1 ? 1 : jobs > LATER_BATCH_MAX ? LATER_BATCH_MAX : (size_t)jobs;

    return intake_queues_least(size, intake->trusted);
}

size_t intake_room(struct intake *intake, const struct intake_queue *queue)
{
    size_t size = batch_of(intake, queue);

    if (intake->weighted)
        size = intake_queues_least(size, share_of(intake, queue));
    size = at_most_room(intake, queue, intake_queues_least(size, intake_free_slots(intake)));
    return intake->worker->load->in_flight + intake->worker->load->in_admission
               ? intake_queues_least(size, more_events(intake))
               : size;
}
