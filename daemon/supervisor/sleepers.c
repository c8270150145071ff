/* sleepers.c: lets workers of a fleet sleep, and rouses them. */
#include "supervisor/sleepers.h"

#include "base/clock.h"
#include "supervisor/heartbeat.h"

#define COMING_SECONDS 2.0 /* from when it is roused until it waits or has got jobs, at most */
#define ASK_SECONDS    0.9 /* between two questions: one in each look of a second */
#define STILL_LOOKS    3   /* who has not answered for so many stands still */

/* The workers of one pool. */
struct sleepers_pool {
    const struct config_pool *pool;
    const struct generation *generation;
    uint32_t asleep;                 /* or may be at any moment */
    uint32_t awake, waiting, coming; /* the last two are of the first */
    uint32_t most;                   /* to be roused, or to be let sleep */
};

static bool sleepers_is_of(const struct sleepers_pool *look, const struct process *process)
{
    return process->generation == look->generation && process->pool == look->pool &&
           !process->draining;
}

static void sleepers_count(struct process *process, void *arg)
{
    struct sleepers_pool *look = arg;

    if (!sleepers_is_of(look, process))
        return;
    if (atomic_load(&process->slots->page->sleep) == SLOTS_AWAKE)
        look->awake++;
    else
        look->asleep++;
}

/* Does it wait, so that a job that comes is taken? If so it tells when it does not any more. One
 * that stands still would wait for ever, and never tell, so whoever waits is asked each second. */
static bool sleepers_waits(struct process *process)
{
    if (!slots_watch(process->slots))
        return false;
    heartbeat_ask(process, ASK_SECONDS);
    return process->unanswered < STILL_LOOKS;
}

/* Those that wait, or will in a moment, are to tell when they have got jobs. Nobody else: a busy
 * one would tell of each batch. */
static void sleepers_watch(struct process *process, void *arg)
{
    struct sleepers_pool *look = arg;
    struct slots_page *page = process->slots->page;
    bool coming = process->roused > 0 && later_clock() - process->roused < COMING_SECONDS;

    if (!sleepers_is_of(look, process) || atomic_load(&page->sleep) != SLOTS_AWAKE ||
        (!coming && !atomic_load(&page->waits)))
        return;
    if (sleepers_waits(process))
        look->waiting++;
    else if (coming)
        look->coming++;
}

/* One that may sleep but does not has its connections still. If it is busy, or stands still,
 * another is roused, too. */
static void rouse_one(struct process *process, void *arg)
{
    struct sleepers_pool *look = arg;

    if (look->most == 0 || !sleepers_is_of(look, process))
        return;
    if (slots_move_sleep(process->slots, SLOTS_MAY_SLEEP, SLOTS_AWAKE)) {
        look->most -= sleepers_waits(process) ? 1 : 0;
    } else if (slots_move_sleep(process->slots, SLOTS_ASLEEP, SLOTS_AWAKE)) {
        process->roused = later_clock();
        (void)slots_watch(process->slots); /* before it is told */
        process_order(process, WORKER_ROUSE);
        look->most--;
    }
}

static void let_sleep(struct process *process, void *arg)
{
    struct sleepers_pool *look = arg;

    if (look->most == 0 || !sleepers_is_of(look, process) ||
        !atomic_load(&process->slots->page->waits) ||
        !slots_move_sleep(process->slots, SLOTS_AWAKE, SLOTS_MAY_SLEEP))
        return;
    process_order(process, WORKER_SLEEP);
    look->most--;
}

static void sleepers_look_at(const struct workers *workers, struct sleepers_pool *look,
                             uint32_t hosts, bool linked)
{
    bool may_sleep = hosts > SLEEPERS_HOSTS, few = hosts <= SLEEPERS_FEW;

    workers_each(workers, sleepers_count, look);
    if (!look->asleep && !may_sleep)
        return;
    workers_each(workers, sleepers_watch, look);
    if ((look->waiting + look->coming == 0 || few) && linked && !workers_paused(workers)) {
        look->most = few ? look->asleep : look->awake ? look->awake : 1;
        workers_each(workers, rouse_one, look);
    } else if (look->waiting > 1 && may_sleep) {
        look->most = look->waiting - 1;
        workers_each(workers, let_sleep, look);
    }
}

void sleepers_look(const struct workers *workers, const struct generation *generation,
                   uint32_t hosts, bool linked)
{
    const struct config *config = generation->config;

    for (uint32_t p = 0; p < config->pool_count; p++) {
        struct sleepers_pool look = { .pool = &config->pools[p], .generation = generation };

        if (look.pool->workers > 1)
            sleepers_look_at(workers, &look, hosts, linked);
    }
}
