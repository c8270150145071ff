/* tend.c: migrator, ears and bells of one configuration. */
#include "tend.h"

#include "bell.h"
#include "ears.h"
#include "migrator.h"
#include "ring.h"

#include <stdlib.h>

struct tend {
    struct keeper *keeper;
    struct workers *workers;
    struct migrator *migrator;
    struct ears *ears;
    struct bells *bells; /* NULL: workers wait for wakes themselves */
};

static void on_due(void *arg, const char *queue, double at)
{
    const struct tend *tend = arg;

    migrator_told(tend->migrator, queue, at);
}

static void on_cancelled(void *arg, const char *member)
{
    const struct tend *tend = arg;

    keeper_cancelled(tend->keeper, member);
}

static bool is_idle(void *arg, const char *queue)
{
    const struct tend *tend = arg;

    return ring_idle(tend->workers, queue);
}

static bool call(void *arg, const char *queue)
{
    const struct tend *tend = arg;

    return ring_call(tend->workers, queue);
}

struct tend *tend_new(struct event_base *base, const struct config *config, struct link *link,
                      const char *host, struct keeper *keeper, struct workers *workers,
                      struct later_error *err)
{
    struct tend *tend = calloc(1, sizeof *tend);
    const struct ears_options ears = { .due = on_due, .cancelled = on_cancelled, .arg = tend };
    const struct bells_options bells = { .idle = is_idle, .call = call, .arg = tend };
    bool ok;

    if (!tend) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *tend = (struct tend){ .keeper = keeper, .workers = workers };
    tend->migrator = migrator_new(base, config, link, host, err);
    if (tend->migrator)
        tend->ears = ears_new(base, config, &ears, err);
    ok = tend->ears != NULL;
    if (ok && bells_wanted(config))
        ok = (tend->bells = bells_new(base, config, &bells, err)) != NULL;
    if (!ok) {
        tend_free(tend);
        return NULL;
    }
    return tend;
}

void tend_free(struct tend *tend)
{
    if (!tend)
        return;
    bells_free(tend->bells);
    ears_free(tend->ears);
    migrator_free(tend->migrator);
    free(tend);
}

void tend_link_up(struct tend *tend)
{
    migrator_link_up(tend->migrator);
}

void tend_moved(struct tend *tend, const char *peer)
{
    ears_moved(tend->ears, peer);
}

void tend_idle(struct tend *tend)
{
    bells_idle(tend->bells);
}

void tend_uncalled(struct tend *tend, const char *queue)
{
    bells_uncalled(tend->bells, queue);
}

void tend_count(const struct tend *tend, struct connections *connections)
{
    ears_count(tend->ears, connections);
    bells_count(tend->bells, connections);
}

double tend_redis_now(const struct tend *tend)
{
    return migrator_redis_now(tend->migrator);
}
