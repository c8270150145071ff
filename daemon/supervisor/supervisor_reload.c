/* supervisor_reload.c: configurations, one after another. */
#include "supervisor/supervisor_inner.h"

#include "log.h"
#include "notify.h"

#include <stdlib.h>

void supervisor_use_log(const struct supervisor *supervisor)
{
    struct config *config = supervisor->generation->config;

    if (supervisor->verbose)
        config->log.level = CONFIG_LOG_DEBUG;
    log_open((enum log_level)config->log.level, config->log.json, NULL);
    log_limit(config->log.rate);
}

/* --- generations --- */

struct upkeep *supervisor_make_tend(const struct supervisor *supervisor,
                                    const struct config *config, struct later_error *err)
{
    return upkeep_new(supervisor->base, config, supervisor->link, supervisor->host,
                      supervisor->keeper, supervisor->workers, err);
}

/* The checked configuration comes into force: new workers first; when all are ready, the old ones
 * drain. */
static void use_next(struct supervisor *supervisor)
{
    struct generation *generation = generation_new(supervisor->next);
    struct upkeep *upkeep = NULL;
    struct later_error err = { .text = "no memory" };

    if (generation)
        upkeep = supervisor_make_tend(supervisor, supervisor->next, &err);
    if (!upkeep) {
        log_line(LOG_ERROR, "reload: %s; nothing was changed", err.text);
        free(generation);
        config_free(supervisor->next);
        supervisor->next = NULL;
        return;
    }
    supervisor->next = NULL;
    supervisor->reloading = true;
    workers_replace(supervisor->workers);
    upkeep_free(supervisor->upkeep);
    supervisor->upkeep = upkeep;
    upkeep_pause(upkeep, supervisor->redis == UNFIT);
    keeper_configure(supervisor->keeper, generation->config);
    announce_configure(supervisor->announce, generation->config);
    reshard_configure(supervisor->reshard, generation->config);
    generation_release(supervisor->generation);
    supervisor->generation = generation;
    supervisor_use_log(supervisor);
    if (link_is_up(supervisor->link))
        upkeep_link_up(upkeep);
    workers_start(supervisor->workers, supervisor->generation);
}

static void reload(struct supervisor *supervisor);

void supervisor_on_checked(void *arg, bool good)
{
    struct supervisor *supervisor = arg;
    bool again = supervisor->again;

    supervisor->checker = NULL;
    supervisor->again = false;
    if (!supervisor->next) { /* the first: workers wait for it */
        if (good && !supervisor->stopping) {
            workers_start(supervisor->workers, supervisor->generation);
        } else if (!supervisor->stopping) {
            supervisor->status = LATER_E_CONFIG;
            supervisor_on_stop(-1, 0, supervisor);
        }
    } else if (good && !supervisor->stopping) {
        use_next(supervisor);
    } else {
        config_free(supervisor->next);
        supervisor->next = NULL;
        log_line(LOG_ERROR, "reload: the new configuration is bad; nothing was changed");
        notify_ready();
    }
    if (again && !supervisor->stopping)
        reload(supervisor);
}

static void reload(struct supervisor *supervisor)
{
    const char *fixed;
    struct later_error err;

    notify_reloading();
    supervisor->next = config_load(supervisor->path, &err);
    if (!supervisor->next) {
        log_line(LOG_ERROR, "reload: %s; nothing was changed", err.text);
    } else if ((fixed =
                    config_fixed_difference(supervisor->generation->config, supervisor->next))) {
        log_line(LOG_ERROR,
                 "reload: %s cannot change while running; restart laterd. Nothing was "
                 "changed",
                 fixed);
    } else if (reshard_widen(supervisor->reshard, supervisor->next, &err) < 0) {
        log_line(LOG_ERROR, "reload: %s; nothing was changed", err.text);
    } else if ((supervisor->checker = checker_start(supervisor->base, supervisor->next,
                                                    supervisor_on_checked, supervisor, &err))) {
        return;
    } else {
        log_line(LOG_ERROR, "reload: %s; nothing was changed", err.text);
    }
    config_free(supervisor->next);
    supervisor->next = NULL;
    notify_ready();
}

void supervisor_on_reload(evutil_socket_t fd, short what, void *arg)
{
    struct supervisor *supervisor = arg;

    (void)fd;
    (void)what;
    if (supervisor->checker)
        supervisor->again = true;
    else if (!supervisor->stopping)
        reload(supervisor);
}
