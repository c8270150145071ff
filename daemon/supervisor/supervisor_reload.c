/* supervisor_reload.c: configurations, one after another. */
#include "supervisor/supervisor_inner.h"

#include "log.h"
#include "notify.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

void supervisor_use_log(const struct supervisor *supervisor)
{
    struct config *config = supervisor->generation->config;

    if (supervisor->verbose)
        config->log.level = CONFIG_LOG_DEBUG;
    log_open((enum log_level)config->log.level, config->log.json, NULL);
    log_limit(config->log.rate);
}

/* --- generations --- */

struct upkeep *supervisor_make_upkeep(const struct supervisor *supervisor,
                                      const struct config *config, struct later_error *err)
{
    return upkeep_new(supervisor->base, config, supervisor->link, supervisor->host,
                      supervisor->keeper, supervisor->workers, err);
}

/* Puts the new configuration into force. */
static int use(struct supervisor *supervisor, struct generation *generation,
               struct later_error *err)
{
    struct upkeep *upkeep = supervisor_make_upkeep(supervisor, generation->config, err);

    if (!upkeep)
        return -1;
    upkeep_free(supervisor->upkeep);
    supervisor->upkeep = upkeep;
    upkeep_pause(upkeep, supervisor->redis == UNFIT);
    keeper_configure(supervisor->keeper, generation->config);
    announce_configure(supervisor->announce, generation->config);
    recorder_configure(supervisor->recorder, generation->config);
    reshard_configure(supervisor->reshard, generation->config);
    patterns_configure(supervisor->patterns, generation->config);
    generation_release(supervisor->generation);
    supervisor->generation = generation;
    supervisor_use_log(supervisor);
    if (link_is_up(supervisor->link))
        upkeep_link_up(upkeep);
    return 0;
}

static void reload(struct supervisor *supervisor);

/* A reload is over, well or badly. */
static void end_reload(struct supervisor *supervisor)
{
    bool again = supervisor->again;

    supervisor->again = false;
    if (supervisor->stopping)
        return;
    if (supervisor->ready)
        notify_ready();
    if (again)
        reload(supervisor);
}

/* Keeps the reason for `later status`. */
static void remember(struct supervisor *supervisor, const char *why)
{
    free(supervisor->refused);
    supervisor->refused = why ? strdup(why) : NULL;
    health_reload(supervisor->health, why);
}

static void refuse(struct supervisor *supervisor, const char *why)
{
    log_line(LOG_ERROR, "reload refused: %s; nothing was changed", why);
    remember(supervisor, why);
    config_free(supervisor->next);
    supervisor->next = NULL;
    end_reload(supervisor);
}

bool supervisor_on_tried(void *arg, const char *why)
{
    struct supervisor *supervisor = arg;
    struct generation *generation = supervisor->trying;
    struct later_error err;

    supervisor->trying = NULL;
    if (!why && use(supervisor, generation, &err) == 0) {
        remember(supervisor, NULL);
        log_line(LOG_INFO, "reloaded: %zu new workers", workers_on_trial(supervisor->workers));
        timer_in(supervisor->tick, 0);
        end_reload(supervisor);
        return true;
    }
    refuse(supervisor, why ? why : err.text);
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
        refuse(supervisor, "no memory");
        return;
    }
    supervisor->next = NULL;
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
        refuse(supervisor, why);
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
    supervisor_follow_next(supervisor);
    if (fixed)
        later_fail(&err, LATER_E_CONFIG, "%s cannot change while running; restart laterd", fixed);
    else if (reshard_widen(supervisor->reshard, supervisor->next, &err) == 0)
        supervisor->checker = checker_start(supervisor->base, supervisor->next,
                                            supervisor_on_checked, supervisor, &err);
    if (!supervisor->checker)
        refuse(supervisor, err.text);
}

static void reload(struct supervisor *supervisor)
{
    struct later_error err;

    if (supervisor->ready)
        notify_reloading();
    supervisor->next = config_load(supervisor->path, &err);
    if (!supervisor->next)
        refuse(supervisor, err.text);
    else if (config_follows(supervisor->next))
        patterns_read(supervisor->patterns, check_next);
    else
        check_next(supervisor);
}

void supervisor_on_reload(evutil_socket_t fd, short what, void *arg)
{
    struct supervisor *supervisor = arg;

    (void)fd;
    (void)what;
    if (supervisor->next || supervisor->checker || supervisor->trying)
        supervisor->again = true;
    else if (!supervisor->stopping)
        reload(supervisor);
}
