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

/* A job that waits for a program takes its room. */
bool intake_full(const struct worker *worker)
{
    size_t taken = worker->load->starting ? worker->load->in_admission : 0;

    if (worker->load->starting && worker->load->single)
        return true;
    for (uint32_t i = 0; worker->limited && i < worker->queue_count; i++) {
        if (room_of(&worker->queues[i]) <= taken)
            return true;
    }
    return false;
}

size_t intake_free(const struct worker *worker)
{
    size_t in_use = worker->held_count + worker->load->in_flight + worker->load->in_admission +
                    outbox_open(worker->outbox) + worker->promised;
    size_t capacity = worker->slots->page->capacity;

    return capacity > in_use ? capacity - in_use : 0;
}

/* Returns how many jobs have not begun or are on their way. What a silent queue may bring is not
 * waited for: if it comes all the same, some jobs may have to go back. */
static size_t to_come(const struct worker *worker)
{
    return worker->held_count + worker->load->in_admission + worker->promised - worker->unheard;
}

/* Returns how many more jobs may begin beside those in flight. */
static size_t more_events(const struct worker *worker)
{
    size_t under_way = worker->load->in_flight + to_come(worker);

    return worker->config->events > under_way ? worker->config->events - under_way : 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Jobs that have not begun yet will need that room, too. */
static size_t at_most_room(const struct worker *worker, const struct worker_queue *queue,
                           size_t size)
{
    size_t waiting = to_come(worker), room = room_of(queue);

    return least(size, room > waiting ? room - waiting : 0);
}

size_t intake_room(const struct worker *worker, const struct worker_queue *queue)
{
    double average = intake_average(worker, queue);
    double jobs = INTAKE_SECONDS / (average > 1e-6 ? average : 1e-6);
    size_t size = jobs < 1 ? 1 : jobs > LATER_BATCH_MAX ? LATER_BATCH_MAX : (size_t)jobs;

    if (worker->weighted)
        size = least(size, intake_share(worker, queue));
    size = at_most_room(worker, queue, least(size, intake_free(worker)));
    return worker->load->in_flight + worker->load->in_admission ? least(size, more_events(worker))
                                                                : size;
}
