/* services.c: what is done for the queues of this host. */
#include "queues/services.h"

#include "log.h"
#include "queues/lookers.h"
#include "queues/losses.h"
#include "queues/migrator.h"
#include "queues/mover.h"
#include "queues/overrides.h"
#include "queues/recorder.h"
#include "queues/reshard.h"
#include "queues/subscriber.h"
#include "queues/ticker.h"
#include "queues/wake_listener.h"

#include <stdlib.h>

/* In this order they are told of everything. What a service does is a row in its own file. */
static const struct {
    int (*make)(struct queues *queues, struct later_error *err);
    const struct service *row;
} services[] = {
    { .make = recorder_new, .row = &recorder_service },
    { .make = lookers_new, .row = &lookers_service },
    { .make = ticker_new, .row = &ticker_service },
    { .make = mover_new, .row = &mover_service },
    { .make = migrator_new, .row = &migrator_service },
    { .make = overrides_new, .row = &overrides_service },
    { .make = subscriber_new, .row = &subscriber_service },
    { .make = wake_listener_new, .row = &wake_listener_service },
    { .make = reshard_new, .row = &reshard_service },
    { .make = losses_new, .row = &losses_service },
};
#define SERVICES (sizeof services / sizeof *services)

/* Calls this function of each service that has it. */
#define SERVICES_EACH(function, ...)                                                               \
    do {                                                                                           \
        for (size_t i = 0; i < SERVICES; i++) {                                                    \
            if (services[i].row->function)                                                         \
                services[i].row->function(__VA_ARGS__);                                            \
        }                                                                                          \
    } while (0)

/* --- one queue --- */

static void services_end(struct queue *queue)
{
    queue->config = NULL;
    SERVICES_EACH(end, queue);
}

static void services_begin(struct queue *queue)
{
    bool failed = false;

    for (size_t i = 0; i < SERVICES; i++)
        failed = (services[i].row->begin && services[i].row->begin(queue) < 0) || failed;
    if (!failed)
        return;
    log_line(LOG_ERROR, "queue %s: no memory; it is served after a reload", queue->keys.queue);
    services_end(queue);
}

static void services_drop(struct queue *queue)
{
    SERVICES_EACH(drop, queue);
}

static void services_told(struct queue *queue, const struct later_migrated *migrated)
{
    SERVICES_EACH(told, queue, migrated);
}

/* --- a configuration --- */

static bool services_keep(const struct queue *queue)
{
    bool kept = queue->config || queue->open > 0 || queue->leases;

    for (size_t i = 0; i < SERVICES && !kept; i++)
        kept = services[i].row->busy && services[i].row->busy(queue);
    return kept;
}

/* later_names_sift(): frees a queue of which nobody has anything. */
static const char *services_stays(void *arg, void *item)
{
    struct queue *queue = item;

    (void)arg;
    if (services_keep(queue))
        return queue->keys.queue;
    services_drop(queue);
    free(queue);
    return NULL;
}

/* Gives each queue its new row, and ends those that have none. Marks those that are new. */
static void services_rows(struct queues *queues, const struct config *config)
{
    for (uint32_t i = 0; i < queues->names.count; i++)
        queues_at(queues, i)->served = queues_at(queues, i)->config != NULL;
    for (uint32_t i = 0; i < config->served.count; i++) {
        const struct config_queue *row = config->served.items[i];
        struct queue *queue = queues_need(queues, row->name);

        if (queue)
            queue->config = row;
        else
            log_line(LOG_ERROR, "queue %s: no memory; it is served after a reload", row->name);
    }
    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct queue *queue = queues_at(queues, i);

        if (queue->served && config_serves(config, queue->keys.queue) == NULL)
            services_end(queue);
    }
}

void services_configure(struct queues *queues, const struct config *config)
{
    queues->config = config;
    services_rows(queues, config);
    SERVICES_EACH(configure, queues);
    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct queue *queue = queues_at(queues, i);

        if (queue->config && !queue->served)
            services_begin(queue);
    }
    later_names_sift(&queues->names, services_stays, NULL);
}

void services_follow(struct queues *queues, const struct config_queue *row)
{
    struct queue *queue = queues_need(queues, row->name);

    if (!queue) {
        log_line(LOG_ERROR, "queue %s: no memory; it is served after a reload", row->name);
        return;
    }
    queue->config = row;
    services_begin(queue);
}

/* --- all of them --- */

int services_make(struct queues *queues, struct later_error *err)
{
    queues->told = services_told;
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].make(queues, err) < 0)
            return -1;
    }
    return 0;
}

void services_unmake(struct queues *queues)
{
    if (!queues)
        return;
    for (uint32_t i = 0; queues->migrator && i < queues->names.count; i++)
        services_drop(queues_at(queues, i));
    for (size_t i = SERVICES; i > 0; i--)
        services[i - 1].row->unmake(queues);
}

void services_link_up(struct queues *queues)
{
    SERVICES_EACH(link_up, queues);
}

void services_moved(struct queues *queues, const char *peer)
{
    SERVICES_EACH(moved, queues, peer);
}

const char *services_fault(const struct queues *queues)
{
    const char *fault = NULL;

    for (size_t i = 0; i < SERVICES && !fault; i++)
        fault = services[i].row->fault ? services[i].row->fault(queues) : NULL;
    return fault;
}

void services_count(const struct queues *queues, struct connections *connections)
{
    SERVICES_EACH(count, queues, connections);
}
