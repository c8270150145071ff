/* intake_room.c: how many jobs of a queue may be asked for: 10 ms of work, as far as there is room.
 */
#include "reservation/job.h"
#include "worker/intake.h"

#include <string.h>

/* Returns how many more jobs its plugin has room for, if this queue's next jobs have the type of
 * its last one. */
static uint32_t room_of(const struct worker_queue *queue)
{
    return queue->limited ? plugin_type_room(queue->limited, queue->limited_name) : UINT32_MAX;
}

void intake_limit(struct worker_queue *queue, const struct later_job *job)
{
    const struct plugin_type *limited = job->type->type.room ? job->type : NULL;

    job->worker->limited += limited ? 1U : 0;
    job->worker->limited -= queue->limited ? 1U : 0;
    queue->limited = limited;
    if (queue->limited && strcmp(queue->limited_name, job->doc.type) != 0)
        memcpy(queue->limited_name, job->doc.type, sizeof queue->limited_name);
}

bool intake_full(const struct worker *worker)
{
    for (uint32_t i = 0; worker->limited && i < worker->queue_count; i++) {
        if (room_of(&worker->queues[i]) == 0)
            return true;
    }
    return false;
}

/* Jobs that have not begun yet will need that room, too. */
static size_t at_most_room(const struct worker *worker, const struct worker_queue *queue,
                           size_t size)
{
    size_t waiting = worker->held_count + worker->in_admission, room = room_of(queue);

    room = room > waiting ? room - waiting : 0;
    return size < room ? size : room;
}

size_t intake_room(const struct worker *worker, const struct worker_queue *queue)
{
    size_t under_way = worker->held_count + worker->in_flight + worker->in_admission;
    size_t in_use = under_way + outbox_open(worker->outbox);
    size_t room = worker->slots->page->capacity - in_use;
    size_t more = worker->config->events > under_way ? worker->config->events - under_way : 0;
    double average = intake_average(worker, queue);
    double jobs = INTAKE_SECONDS / (average > 1e-6 ? average : 1e-6);
    size_t size = jobs < 1 ? 1 : jobs > LATER_BATCH_MAX ? LATER_BATCH_MAX : (size_t)jobs;

    if (in_use >= worker->slots->page->capacity)
        return 0;
    if (worker->weighted && size > intake_share(worker, queue))
        size = intake_share(worker, queue);
    size = at_most_room(worker, queue, size < room ? size : room);
    return worker->in_flight + worker->in_admission && size > more ? more : size;
}
