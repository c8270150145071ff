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

struct service {
    int (*make)(struct queues *queues, struct later_error *err);
    void (*unmake)(struct queues *queues);
    int (*begin)(struct queue *queue);
    void (*end)(struct queue *queue);
    bool (*busy)(const struct queue *queue);
    void (*drop)(struct queue *queue);
    void (*configure)(struct queues *queues);
    void (*link_up)(struct queues *queues);
    void (*moved)(struct queues *queues, const char *peer);
    void (*told)(struct queue *queue, const struct later_migrated *migrated);
    const char *(*fault)(const struct queues *queues);
    void (*count)(const struct queues *queues, struct connections *connections);
};

/* In this order they are told of everything. */
static const struct service services[] = {
    { .make = recorder_new, .unmake = recorder_free, .busy = recorder_busy },
    { .make = lookers_new,
      .unmake = lookers_free,
      .begin = lookers_begin,
      .configure = lookers_configure,
      .link_up = lookers_link_up },
    { .make = ticker_new,
      .unmake = ticker_free,
      .begin = ticker_begin,
      .end = ticker_end,
      .drop = ticker_drop,
      .configure = ticker_configure,
      .link_up = ticker_link_up,
      .told = ticker_told },
    { .make = mover_new,
      .unmake = mover_free,
      .drop = mover_drop,
      .told = mover_told,
      .fault = mover_fault },
    { .make = migrator_new,
      .unmake = migrator_free,
      .begin = migrator_begin,
      .end = migrator_end,
      .drop = migrator_drop,
      .configure = migrator_configure,
      .link_up = migrator_link_up,
      .fault = migrator_fault },
    { .make = overrides_new,
      .unmake = overrides_free,
      .end = overrides_end,
      .drop = overrides_drop,
      .link_up = overrides_link_up,
      .fault = overrides_fault },
    { .make = subscriber_new,
      .unmake = subscriber_free,
      .begin = subscriber_begin,
      .end = subscriber_end,
      .configure = subscriber_configure,
      .moved = subscriber_moved,
      .count = subscriber_count },
    { .make = wake_listener_new,
      .unmake = wake_listener_free,
      .begin = wake_listener_begin,
      .busy = wake_listener_busy,
      .configure = wake_listener_configure,
      .moved = wake_listener_moved,
      .count = wake_listener_count },
    { .make = reshard_new,
      .unmake = reshard_free,
      .begin = reshard_begin,
      .busy = reshard_busy,
      .drop = reshard_drop,
      .configure = reshard_configure,
      .link_up = reshard_link_up },
    { .make = losses_new,
      .unmake = losses_free,
      .busy = losses_busy,
      .configure = losses_configure,
      .link_up = losses_link_up,
      .told = losses_told },
};
#define SERVICES (sizeof services / sizeof *services)

/* --- one queue --- */

static void services_end(struct queue *queue)
{
    queue->config = NULL;
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].end)
            services[i].end(queue);
    }
}

static void services_begin(struct queue *queue)
{
    bool failed = false;

    for (size_t i = 0; i < SERVICES; i++)
        failed = (services[i].begin && services[i].begin(queue) < 0) || failed;
    if (!failed)
        return;
    log_line(LOG_ERROR, "queue %s: no memory; it is served after a reload", queue->keys.queue);
    services_end(queue);
}

static void services_drop(struct queue *queue)
{
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].drop)
            services[i].drop(queue);
    }
}

static void services_told(struct queue *queue, const struct later_migrated *migrated)
{
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].told)
            services[i].told(queue, migrated);
    }
}

/* --- a configuration --- */

static bool services_keep(const struct queue *queue)
{
    bool kept = queue->config || queue->open > 0 || queue->leases;

    for (size_t i = 0; i < SERVICES && !kept; i++)
        kept = services[i].busy && services[i].busy(queue);
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
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].configure)
            services[i].configure(queues);
    }
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
        services[i - 1].unmake(queues);
}

void services_link_up(struct queues *queues)
{
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].link_up)
            services[i].link_up(queues);
    }
}

void services_moved(struct queues *queues, const char *peer)
{
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].moved)
            services[i].moved(queues, peer);
    }
}

const char *services_fault(const struct queues *queues)
{
    const char *fault = NULL;

    for (size_t i = 0; i < SERVICES && !fault; i++)
        fault = services[i].fault ? services[i].fault(queues) : NULL;
    return fault;
}

void services_count(const struct queues *queues, struct connections *connections)
{
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i].count)
            services[i].count(queues, connections);
    }
}
