/* supervisor_reload.c: configurations, one after another; new queues that match a pattern. */
#include "supervisor/supervisor_inner.h"

#include "base/clock.h"
#include "log.h"
#include "notify.h"
#include "queues/registry.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

#define LONG_SECONDS 5 /* for one step of a reload; then the log says what it waits for */

void supervisor_use_log(const struct supervisor *supervisor)
{
    struct config *config = supervisor->generation->config;

    if (supervisor->verbose)
        config->log.level = CONFIG_LOG_DEBUG;
    log_open((enum log_level)config->log.level, config->log.json, NULL);
    log_limit(config->log.rate);
}

/* --- queues of patterns --- */

static enum config_follow supervisor_reload_follow(struct supervisor *supervisor,
                                                   struct config *config, const char *name,
                                                   bool used, uint32_t *pool)
{
    enum config_follow followed = config_follow(config, name, used, pool);

    if (followed == CONFIG_FOLLOW_FULL)
        fault_note(&supervisor->crowded, LOG_WARN,
                   "queue %s is not served: pool %s has %d queues and shards already; forget those "
                   "that are no longer used, and reload",
                   name, config->pools[*pool].name, CONFIG_QUEUES_MAX);
    return followed;
}

bool supervisor_on_found(void *arg, const char *name, bool used)
{
    struct supervisor *supervisor = arg;
    struct config *config = supervisor->generation->config;
    const struct config_pool *pool;
    uint32_t number = 0, ignored;
    enum config_follow followed;

    if (supervisor->stopping)
        return true;
    if (supervisor->next)
        (void)config_follow(supervisor->next, name, used, &ignored);
    if (supervisor->trying)
        (void)config_follow(supervisor->trying->config, name, used, &ignored);
    followed = supervisor_reload_follow(supervisor, config, name, used, &number);
    if (followed != CONFIG_FOLLOW_ADDED)
        return followed != CONFIG_FOLLOW_LATER;
    pool = &config->pools[number];
    log_line(LOG_DEBUG, "queue %s is new, and served in pool %s", name, pool->name);
    registry_queue(config, &pool->queues[pool->queue_count - 1], supervisor->link);
    link_flush(supervisor->link);
    services_follow(supervisor->queues, &pool->queues[pool->queue_count - 1]);
    return true;
}

/* What is served stays so. */
static bool on_each(void *arg, const char *name, bool used)
{
    struct supervisor *supervisor = arg;
    const struct generation *now = supervisor->generation;
    bool served = used || (now && config_serves(now->config, name));
    uint32_t pool;

    return supervisor_reload_follow(supervisor, supervisor->next, name, served, &pool) !=
           CONFIG_FOLLOW_LATER;
}

static void follow_next(struct supervisor *supervisor)
{
    fault_over(&supervisor->crowded);
    patterns_each(supervisor->patterns, on_each, supervisor);
}

/* --- generations --- */

/* Puts the new configuration into force. */
static void use(struct supervisor *supervisor, struct generation *generation)
{
    services_configure(supervisor->queues, generation->config);
    keeper_configure(supervisor->keeper, generation->config);
    announce_configure(supervisor->announce, generation->config);
    patterns_configure(supervisor->patterns, generation->config);
    generation_release(supervisor->generation);
    supervisor->generation = generation;
    supervisor_use_log(supervisor);
}

/* The reload goes on when this has come. */
static void supervisor_reload_await(struct supervisor *supervisor, const char *what)
{
    supervisor->awaited = what;
    supervisor->awaited_since = later_clock();
    log_line(LOG_DEBUG, "reload waits for %s", what);
}

void supervisor_reload_look(struct supervisor *supervisor)
{
    double waited = later_clock() - supervisor->awaited_since;

    if (!supervisor->awaited || supervisor->stopping || waited < LONG_SECONDS)
        return;
    log_line(LOG_INFO, "reload waits for %s, %.0f s so far", supervisor->awaited, waited);
    supervisor->awaited = NULL;
}

static void reload(struct supervisor *supervisor);

/* A reload is over, well or badly. */
static void end_reload(struct supervisor *supervisor)
{
    bool again = supervisor->again;

    supervisor->again = false;
    supervisor->awaited = NULL;
    if (supervisor->stopping)
        return;
    if (supervisor->ready)
        notify_ready();
    if (again)
        reload(supervisor);
}

/* Keeps the reason for `later status`. */
static void supervisor_reload_remember(struct supervisor *supervisor, const char *why)
{
    free(supervisor->refused);
    supervisor->refused = why ? strdup(why) : NULL;
    health_reload(supervisor->health, why);
}

static void supervisor_reload_refuse(struct supervisor *supervisor, const char *why)
{
    supervisor_reload_remember(supervisor, why); /* who has read the line finds it in the status */
    log_line(LOG_ERROR, "reload refused: %s; nothing was changed", why);
    config_free(supervisor->next);
    supervisor->next = NULL;
    end_reload(supervisor);
}

bool supervisor_on_tried(void *arg, const char *why)
{
    struct supervisor *supervisor = arg;
    struct generation *generation = supervisor->trying;

    supervisor->trying = NULL;
    if (!why) {
        use(supervisor, generation);
        supervisor_reload_remember(supervisor, NULL);
        log_line(LOG_INFO, "reloaded: %zu new workers", workers_on_trial(supervisor->workers));
        timer_in(supervisor->tick, 0);
        end_reload(supervisor);
        return true;
    }
    supervisor_reload_refuse(supervisor, why);
    generation_release(generation);
    timer_in(supervisor->tick, 0);
    return false;
}

/* Plugins can only be started in workers. So new workers show beside the old ones whether theirs
 * start. */
static void try_next(struct supervisor *supervisor)
{
    supervisor->trying = generation_new(supervisor->next);
    if (!supervisor->trying) {
        supervisor_reload_refuse(supervisor, "no memory");
        return;
    }
    supervisor->next = NULL;
    supervisor_reload_await(supervisor, "new workers to be ready");
    workers_try(supervisor->workers, supervisor->trying);
}

void supervisor_on_checked(void *arg, const char *why)
{
    struct supervisor *supervisor = arg;

    supervisor->checker = NULL;
    if (supervisor->stopping) {
        config_free(supervisor->next);
        supervisor->next = NULL;
    } else if (supervisor->next && !why) {
        try_next(supervisor);
    } else if (supervisor->next) {
        supervisor_reload_refuse(supervisor, why);
    } else if (!why) { /* it is the first: start the workers */
        workers_start(supervisor->workers, supervisor->generation);
        if (supervisor->again)
            end_reload(supervisor);
    } else {
        log_line(LOG_ERROR, "%s", why);
        supervisor->status = LATER_E_CONFIG;
        supervisor_on_stop(-1, 0, supervisor);
    }
}

/* The queues that are there now: one that was forgotten a moment ago is not to be served. */
static void check_next(void *arg)
{
    struct supervisor *supervisor = arg;
    const char *fixed = config_fixed_difference(supervisor->generation->config, supervisor->next);
    struct later_error err;

    if (supervisor->stopping) {
        config_free(supervisor->next);
        supervisor->next = NULL;
        return;
    }
    follow_next(supervisor);
    if (fixed)
        later_fail(&err, LATER_E_CONFIG, "%s cannot change while running; restart laterd", fixed);
    else if (reshard_widen(supervisor->queues, supervisor->next, &err) == 0)
        supervisor->checker = checker_start(supervisor->base, supervisor->next,
                                            supervisor_on_checked, supervisor, &err);
    if (!supervisor->checker)
        supervisor_reload_refuse(supervisor, err.text);
    else
        supervisor_reload_await(supervisor, "a child that loads its plugins");
}

static void reload(struct supervisor *supervisor)
{
    struct later_error err;

    if (supervisor->ready)
        notify_reloading();
    log_line(LOG_DEBUG, "reload reads %s",
             supervisor->path ? supervisor->path : "the configuration");
    supervisor->next = config_load(supervisor->path, &err);
    if (!supervisor->next) {
        supervisor_reload_refuse(supervisor, err.text);
    } else if (!config_follows(supervisor->next)) {
        check_next(supervisor);
    } else {
        supervisor_reload_await(supervisor, "the names of queues in Redis");
        patterns_read(supervisor->patterns, check_next);
    }
}

void supervisor_on_reload(evutil_socket_t fd, short what, void *arg)
{
    struct supervisor *supervisor = arg;

    (void)fd;
    (void)what;
    if (supervisor->next || supervisor->checker || supervisor->trying) {
        supervisor->again = true;
        log_line(LOG_DEBUG, "reload is under way: another one follows");
    } else if (!supervisor->stopping) {
        reload(supervisor);
    }
}
