/* upkeep.c: migrator, mover, subscriber and wake listener of one configuration. */
#include "supervisor/upkeep.h"

#include "supervisor/wake_dispatch.h"

#include <stdlib.h>

static void on_due(void *arg, const char *queue, double at)
{
    const struct upkeep *upkeep = arg;

    migrator_told(upkeep->migrator, queue, at);
}

static void on_tick(void *arg, const char *queue, const struct later_migrated *migrated)
{
    const struct upkeep *upkeep = arg;

    ticker_told(upkeep->ticker, queue, migrated->next_tick);
    mover_told(upkeep->mover, queue, migrated);
    if (!migrated->rests)
        losses_stirred(upkeep->losses, queue);
}

static void on_cancelled(void *arg, const char *member)
{
    const struct upkeep *upkeep = arg;

    keeper_cancelled(upkeep->keeper, member);
}

struct upkeep *upkeep_new(struct event_base *base, const struct config *config, struct link *link,
                          const struct upkeep_options *options, struct later_error *err)
{
    struct upkeep *upkeep = calloc(1, sizeof *upkeep);
    const struct subscriber_options subscriber = { .due = on_due,
                                                   .cancelled = on_cancelled,
                                                   .arg = upkeep };
    const struct wake_listener_options listener = { .all = wake_listener_wanted(config),
                                                    .idle = wake_dispatch_idle,
                                                    .call = wake_dispatch_call,
                                                    .arg = options->workers };
    bool ok;

    if (!upkeep) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    upkeep->keeper = options->keeper;
    upkeep->losses = options->losses;
    upkeep->ticker = ticker_new(base, config, link, options->identity, err);
    if (upkeep->ticker)
        upkeep->mover = mover_new(config, link, err);
    if (upkeep->mover)
        upkeep->migrator = migrator_new(base, config, link, options->host, err);
    if (upkeep->migrator) {
        migrator_on_tick(upkeep->migrator, on_tick, upkeep);
        upkeep->subscriber = subscriber_new(base, config, &subscriber, err);
    }
    ok = upkeep->subscriber != NULL;
    if (ok)
        ok = (upkeep->wake_listener = wake_listener_new(base, config, &listener, err)) != NULL;
    if (!ok) {
        upkeep_free(upkeep);
        return NULL;
    }
    return upkeep;
}

void upkeep_free(struct upkeep *upkeep)
{
    if (!upkeep)
        return;
    wake_listener_free(upkeep->wake_listener);
    subscriber_free(upkeep->subscriber);
    migrator_free(upkeep->migrator);
    mover_free(upkeep->mover);
    ticker_free(upkeep->ticker);
    free(upkeep);
}

void upkeep_link_up(struct upkeep *upkeep)
{
    ticker_link_up(upkeep->ticker);
    migrator_link_up(upkeep->migrator);
}

int upkeep_follow(struct upkeep *upkeep, uint32_t pool, const char *queue)
{
    subscriber_follow(upkeep->subscriber, queue);
    return migrator_follow(upkeep->migrator, queue) < 0 ||
                   ticker_follow(upkeep->ticker, queue) < 0 ||
                   wake_listener_follow(upkeep->wake_listener, pool) < 0
               ? -1
               : 0;
}

void upkeep_pause(struct upkeep *upkeep, bool paused)
{
    ticker_pause(upkeep->ticker, paused);
    migrator_pause(upkeep->migrator, paused);
}

void upkeep_moved(struct upkeep *upkeep, const char *peer)
{
    subscriber_moved(upkeep->subscriber, peer);
    wake_listener_moved(upkeep->wake_listener, peer);
}

void upkeep_count(const struct upkeep *upkeep, struct connections *connections)
{
    subscriber_count(upkeep->subscriber, connections);
    wake_listener_count(upkeep->wake_listener, connections);
}
