/* supervisor.c: keeps workers alive. */
#include "supervisor/supervisor.h"

#include "supervisor/supervisor_inner.h"

#include "base/clock.h"
#include "embedded.h"
#include "link/follow.h"
#include "log.h"
#include "notify.h"
#include "queues/lookers.h"
#include "reservation/value.h"
#include "supervisor/pages.h"
#include "supervisor/cut_off.h"
#include "supervisor/heartbeat.h"
#include "supervisor/silent.h"
#include "supervisor/sleepers.h"
#include "supervisor/wake_dispatch.h"
#include "timer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define BEAT_SECONDS  1
#define JUDGE_SECONDS 5 /* how long we wait to be told whether our Redis is fit */

/* --- signals: which, and what they do; a row each --- */

static const struct {
    int number;
    event_callback_fn fn;
} signal_table[SUPERVISOR_SIGNALS] = {
    { SIGTERM, supervisor_on_stop },  { SIGINT, supervisor_on_stop },
    { SIGQUIT, supervisor_on_quit },  { SIGHUP, supervisor_on_reload },
    { SIGCHLD, supervisor_on_child },
};

/* --- workers --- */

/* Publishes our state: the health page, and what later:hosts says of us. */
static void tell_health(struct supervisor *supervisor, struct announce_state *state)
{
    workers_sum(supervisor->workers, state);
    state->fault =
        supervisor->redis == UNFIT ? supervisor->unfit : announce_fault(supervisor->announce);
    if (!state->fault)
        state->fault = services_fault(supervisor->queues);
    if (!state->fault)
        state->fault = patterns_fault(supervisor->patterns);
    if (!state->fault && supervisor->all_silent)
        state->fault = fault_text(&supervisor->silent);
    health_fault(supervisor->health, state->fault);
    if (!state->fault) /* another start would not help, or others work */
        state->fault = fault_text(&supervisor->cut_off);
    if (!state->fault)
        state->fault = fault_text(&supervisor->silent);
    if (!state->fault)
        state->fault = fault_text(&supervisor->crowded);
    health_beat(supervisor->health, link_is_up(supervisor->link), state->workers, state->busy);
}

/* Does Redis take commands, all that we need? While a master of a Cluster is away that is not
 * known, and the jobs of the others run all the same. */
static bool supervisor_is_linked(const struct supervisor *supervisor)
{
    return link_is_up(supervisor->link) &&
           (supervisor->redis == FIT ||
            (supervisor->redis == UNJUDGED && supervisor->linked_at > 0 &&
             later_clock() - supervisor->linked_at >= JUDGE_SECONDS));
}

/* We are ready when every worker has loaded its plugins, and we have our Redis. Whoever waits for
 * that may then push. */
static void look_if_ready(struct supervisor *supervisor)
{
    if (supervisor->ready || supervisor->stopping || !supervisor->staffed ||
        !supervisor_is_linked(supervisor))
        return;
    supervisor->ready = true;
    notify_ready();
    log_line(LOG_INFO, "ready: %zu worker%s", workers_seats(supervisor->workers),
             workers_seats(supervisor->workers) == 1 ? "" : "s");
}

static void on_ready(void *arg)
{
    struct supervisor *supervisor = arg;

    tell_health(supervisor, &(struct announce_state){ 0 });
    supervisor->staffed = true;
    look_if_ready(supervisor);
}

static void on_idle(void *arg)
{
    const struct supervisor *supervisor = arg;

    wake_listener_idle(supervisor->queues);
}

static void on_stirred(void *arg)
{
    const struct supervisor *supervisor = arg;

    sleepers_look(supervisor->workers, supervisor->generation, supervisor->queues->others,
                  link_is_up(supervisor->link));
}

static void on_uncalled(void *arg, const char *queue)
{
    const struct supervisor *supervisor = arg;

    wake_listener_uncalled(supervisor->queues, queue);
}

static void on_gone(void *arg)
{
    struct supervisor *supervisor = arg;

    timer_in(supervisor->tick, 0);
}

static void on_crashed(void *arg)
{
    const struct supervisor *supervisor = arg;

    recorder_crashed(supervisor->queues->recorder);
}

static void supervisor_expel(void *arg, struct slots *slots, const char *why)
{
    struct supervisor *supervisor = arg;

    workers_expel(supervisor->workers, slots, why, supervisor->generation->config->grace);
}

static void page_settled(void *arg, struct slots *slots)
{
    const struct supervisor *supervisor = arg;

    recorder_leave(supervisor->queues->recorder, slots);
    value_sweep(slots);
    slots_close(slots, true);
}

/* --- every second --- */

static void read_counts(struct process *process, void *arg)
{
    recorder_read(arg, process->slots, process->pool);
}

static void look_for_cut_off(struct supervisor *supervisor)
{
    cut_off_look(&supervisor->cut_off, supervisor->workers,
                 supervisor->linked_at > 0 ? later_clock() - supervisor->linked_at : 0);
}

/* Others may have got what was held here; nothing else tells the operator why. */
static void supervisor_tell_still(struct supervisor *supervisor)
{
    double now = later_clock(), since = supervisor->beaten > 0 ? now - supervisor->beaten : 0;

    supervisor->beaten = now;
    if (since > HEALTH_STILL)
        log_line(LOG_WARN, "laterd stood still for %.0f s: meanwhile it renewed no leases", since);
}

static void on_beat(void *arg)
{
    struct supervisor *supervisor = arg;
    struct announce_state state = { .redis_now = migrator_redis_now(supervisor->queues->migrator),
                                    .reload_refused = supervisor->refused,
                                    .paused = supervisor->paused,
                                    .weighs = announce_weighs(supervisor->announce),
                                    .others_look = supervisor->queues->others_look,
                                    .others = supervisor->queues->others };

    supervisor_tell_still(supervisor);
    workers_tick(supervisor->workers);
    heartbeat_look(supervisor->workers);
    on_stirred(supervisor);
    look_for_cut_off(supervisor);
    supervisor->all_silent = silent_look(&supervisor->silent, supervisor->workers);
    supervisor_reload_look(supervisor);
    tell_health(supervisor, &state);
    connections_add(&state.connections, link_redis(supervisor->link));
    services_count(supervisor->queues, &state.connections);
    notify_alive();
    if (supervisor->server && !supervisor->stopping &&
        embedded_mend(supervisor->generation->config))
        log_line(LOG_WARN, "the socket of the embedded redis-server was removed: made again");
    look_if_ready(supervisor);
    if (!supervisor->ready && !supervisor_is_linked(supervisor))
        notify_waiting();
    workers_each(supervisor->workers, read_counts, supervisor->queues->recorder);
    recorder_write(supervisor->queues->recorder, state.redis_now);
    if (announce_was_lost(supervisor->announce))
        losses_compare(supervisor->queues->losses, state.redis_now);
    losses_beat(supervisor->queues->losses, state.redis_now);
    if (state.weighs) {
        reshard_beat(supervisor->queues);
        lookers_beat(supervisor->queues);
    }
    announce_tell(supervisor->announce, &state);
    if (supervisor->redis != FIT)
        announce_ask(supervisor->announce);
}

/* --- Redis --- */

static void supervisor_on_link_up(void *arg)
{
    struct supervisor *supervisor = arg;

    supervisor->met = true;
    supervisor->linked_at = later_clock();
    announce_link_up(supervisor->announce);
    keeper_link_up(supervisor->keeper);
    services_link_up(supervisor->queues);
    on_stirred(supervisor); /* nobody was roused meanwhile */
    tell_health(supervisor, &(struct announce_state){ 0 });
    look_if_ready(supervisor);
}

/* The Sentinels have named another master; links to the old one are dropped. */
static void on_moved(void *arg, const char *peer)
{
    struct supervisor *supervisor = arg;

    link_moved(supervisor->link, peer);
    services_moved(supervisor->queues, peer);
    workers_moved(supervisor->workers, peer);
}

static void supervisor_refuse(struct supervisor *supervisor, const char *why)
{
    log_line(LOG_ERROR, "%s", why);
    supervisor->status = LATER_E_CONFIG;
    supervisor_on_stop(-1, 0, supervisor);
}

/* At the start, a Redis that is not fit is an error in the configuration. Later somebody may be
 * working on it. It may become fit again, and a service that has ended would not notice. */
static void on_judged(void *arg, const char *why)
{
    struct supervisor *supervisor = arg;

    if (supervisor->stopping || (why && supervisor->redis == UNFIT))
        return;
    if (why && supervisor->redis == UNJUDGED) {
        supervisor_refuse(supervisor, why);
        return;
    }
    if (why) {
        supervisor->unfit_since = later_clock();
        snprintf(supervisor->unfit, sizeof supervisor->unfit, "%s", why);
        log_line(LOG_ERROR, "%s; until then nothing is begun", why);
    } else if (supervisor->redis == UNFIT) {
        log_line(LOG_INFO, "this Redis is fit to keep jobs again, after %.0f s: going on",
                 later_clock() - supervisor->unfit_since);
    }
    supervisor->redis = why ? UNFIT : FIT;
    supervisor->queues->paused = why != NULL;
    supervisor_pause(supervisor);
    look_if_ready(supervisor);
}

/* Its jobs may be kept by another protocol, older or newer. At the start that is fatal; later
 * somebody works on it, and we wait. */
static void supervisor_on_link_down(void *arg)
{
    struct supervisor *supervisor = arg;

    supervisor->linked_at = 0;
    if (!supervisor->stopping)
        workers_doubt(supervisor->workers);
    if (!supervisor->met && !supervisor->stopping &&
        later_redis_other_protocol(link_redis(supervisor->link)))
        supervisor_refuse(supervisor,
                          "redis: another version of laterd keeps its jobs there "
                          "(later:protocol); use that version, or another redis.prefix");
}

static int start_server(struct supervisor *supervisor, const struct config *config,
                        struct later_error *err)
{
    int output;
    pid_t pid = embedded_start(config, &output, err);

    if (pid < 0)
        return -1;
    supervisor->server = pid;
    server_log_read(supervisor->server_log, output);
    return 0;
}

static void on_server_timer(void *arg)
{
    struct supervisor *supervisor = arg;
    struct later_error err;

    if (start_server(supervisor, supervisor->generation->config, &err) < 0) {
        fault_note(&supervisor->server_fault, LOG_ERROR, "%s; trying again", err.text);
        timer_in(supervisor->server_timer, 1);
    } else {
        fault_over(&supervisor->server_fault);
    }
}

/* --- making and unmaking --- */

static int watch_pausing(struct supervisor *supervisor)
{
    sigset_t both;

    sigemptyset(&both);
    sigaddset(&both, SIGTSTP);
    sigaddset(&both, SIGCONT);
    sigprocmask(SIG_BLOCK, &both, NULL);
    supervisor->pausing_fd = signalfd(-1, &both, SFD_NONBLOCK | SFD_CLOEXEC);
    if (supervisor->pausing_fd < 0)
        return -1;
    supervisor->pausing = event_new(supervisor->base, supervisor->pausing_fd, EV_READ | EV_PERSIST,
                                    supervisor_on_pausing, supervisor);
    return supervisor->pausing ? event_add(supervisor->pausing, NULL) : -1;
}

static int make_loop(struct supervisor *supervisor, struct later_error *err)
{
    struct event_config *precise = event_config_new(); /* due jobs start within a millisecond */
    bool ok = precise && event_config_set_flag(precise, EVENT_BASE_FLAG_PRECISE_TIMER) == 0;

    supervisor->base = ok ? event_base_new_with_config(precise) : NULL;
    if (precise)
        event_config_free(precise);
    if (!supervisor->base)
        return later_fail(err, LATER_E_SYSTEM, "no event loop");
    supervisor->tick = timer_new(supervisor->base, supervisor_on_tick, supervisor);
    supervisor->server_timer = timer_new(supervisor->base, on_server_timer, supervisor);
    supervisor->server_log = server_log_new(supervisor->base);
    supervisor->beat = timer_new(supervisor->base, on_beat, supervisor);
    if (!supervisor->tick || !supervisor->server_timer || !supervisor->beat ||
        !supervisor->server_log)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    timer_every(supervisor->beat, BEAT_SECONDS);
    for (size_t i = 0; i < sizeof signal_table / sizeof *signal_table; i++) {
        supervisor->signals[i] =
            evsignal_new(supervisor->base, signal_table[i].number, signal_table[i].fn, supervisor);
        if (!supervisor->signals[i] || event_add(supervisor->signals[i], NULL) < 0)
            return later_fail(err, LATER_E_SYSTEM, "no memory");
    }
    if (watch_pausing(supervisor) < 0)
        return later_fail(err, LATER_E_SYSTEM, "TSTP and CONT: %s", strerror(errno));
    return 0;
}

/* A queue has more shards than we serve: loads the same file again, with the new shards. */
static void on_grown(void *arg)
{
    supervisor_on_reload(-1, 0, arg);
}

static void on_spent(void *arg)
{
    supervisor_on_stop(-1, 0, arg);
}

static struct workers *make_workers(struct supervisor *supervisor)
{
    const struct workers_options options = { .host = supervisor->host,
                                             .slots_dir = supervisor->slots_dir,
                                             .keeper = supervisor->keeper,
                                             .ready = on_ready,
                                             .gone = on_gone,
                                             .tried = supervisor_on_tried,
                                             .crashed = on_crashed,
                                             .listens = wake_listener_wanted(
                                                 supervisor->generation->config),
                                             .idle = on_idle,
                                             .stirred = on_stirred,
                                             .uncalled = on_uncalled,
                                             .spent = on_spent,
                                             .quota = supervisor->quota,
                                             .overlay = supervisor->overlay,
                                             .arg = supervisor };

    return workers_new(supervisor->base, &options);
}

static void on_cancelled(void *arg, const char *member)
{
    const struct supervisor *supervisor = arg;

    keeper_cancelled(supervisor->keeper, member);
}

static void on_host_told(void *arg)
{
    const struct supervisor *supervisor = arg;

    announce_ask_quiet(supervisor->announce);
}

static bool on_wake_idle(void *arg, uint32_t pools)
{
    const struct supervisor *supervisor = arg;

    return wake_dispatch_idle(supervisor->workers, pools);
}

static bool on_wake_call(void *arg, uint32_t pools, const char *queue)
{
    const struct supervisor *supervisor = arg;

    return wake_dispatch_call(supervisor->workers, pools, queue);
}

static void on_settled(void *arg)
{
    struct supervisor *supervisor = arg;

    if (supervisor->workers)
        supervisor_pause(supervisor);
}

static int make_queues(struct supervisor *supervisor, struct later_error *err)
{
    const struct config *config = supervisor->generation->config;
    const struct queues_options options = { .host = supervisor->host,
                                            .identity = supervisor->identity,
                                            .cancelled = on_cancelled,
                                            .host_told = on_host_told,
                                            .grown = on_grown,
                                            .all = wake_listener_wanted(config),
                                            .idle = on_wake_idle,
                                            .call = on_wake_call,
                                            .overlay = supervisor->overlay,
                                            .settled = on_settled,
                                            .arg = supervisor };

    supervisor->queues = queues_new(supervisor->base, config, supervisor->link, &options);
    if (!supervisor->queues)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (services_make(supervisor->queues, err) < 0)
        return -1;
    services_configure(supervisor->queues, config);
    return 0;
}

static int make_keeper(struct supervisor *supervisor, struct later_error *err)
{
    const struct keeper_options options = { .host = supervisor->host,
                                            .expel = supervisor_expel,
                                            .settled = page_settled,
                                            .arg = supervisor };

    supervisor->keeper = keeper_new(supervisor->queues, &options);
    if (supervisor->keeper)
        supervisor->workers = make_workers(supervisor);
    if (supervisor->workers)
        supervisor_pause(supervisor);
    return supervisor->workers ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory");
}

static int make_parts(struct supervisor *supervisor, struct later_error *err)
{
    struct config *config = supervisor->generation->config;
    const struct link_options link = { .what = "laterd",
                                       .up = supervisor_on_link_up,
                                       .down = supervisor_on_link_down,
                                       .arg = supervisor };

    if (!(supervisor->overlay = overlay_new()))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (config->stop_after && !(supervisor->quota = quota_new(config->stop_after)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (embedded_wanted(config) && start_server(supervisor, config, err) < 0)
        return -1;
    supervisor->link = link_new(supervisor->base, config, &link, err);
    if (!supervisor->link || make_queues(supervisor, err) < 0 || make_keeper(supervisor, err) < 0)
        return -1;
    supervisor->announce =
        announce_new(config, supervisor->link, supervisor->host,
                     &(struct announce_calls){ on_judged, supervisor_on_quieted, supervisor });
    supervisor->patterns =
        patterns_new(supervisor->base, config, supervisor->link, supervisor_on_found, supervisor);
    if (!supervisor->announce || !supervisor->patterns)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (follow_wanted(config) &&
        !(supervisor->follow = follow_new(supervisor->base, config, on_moved, supervisor, err)))
        return -1;
    pages_adopt(supervisor->slots_dir, supervisor->keeper);
    supervisor->checker =
        checker_start(supervisor->base, config, supervisor_on_checked, supervisor, err);
    return supervisor->checker ? 0 : -1;
}

static void supervisor_tear_down(struct supervisor *supervisor)
{
    follow_free(supervisor->follow);
    link_free(supervisor->link);
    announce_free(supervisor->announce);
    patterns_free(supervisor->patterns);
    services_unmake(supervisor->queues);
    workers_free(supervisor->workers);
    keeper_free(supervisor->keeper);
    queues_free(supervisor->queues);
    health_close(supervisor->health);
    checker_free(supervisor->checker);
    for (size_t i = 0; i < sizeof supervisor->signals / sizeof *supervisor->signals; i++) {
        if (supervisor->signals[i])
            event_free(supervisor->signals[i]);
    }
    if (supervisor->pausing) {
        event_free(supervisor->pausing);
        close(supervisor->pausing_fd);
    }
    timer_free(supervisor->tick);
    timer_free(supervisor->beat);
    timer_free(supervisor->server_timer);
    server_log_free(supervisor->server_log);
    if (supervisor->base)
        event_base_free(supervisor->base);
    fault_free(&supervisor->crowded);
    fault_free(&supervisor->cut_off);
    fault_free(&supervisor->silent);
    fault_free(&supervisor->server_fault);
    free(supervisor->refused);
    quota_free(supervisor->quota);
    overlay_free(supervisor->overlay);
    config_free(supervisor->next);
    generation_release(supervisor->trying);
    generation_release(supervisor->generation);
}

int supervisor_run(struct config *config, const char *path, bool verbose)
{
    struct supervisor supervisor = { .path = path, .verbose = verbose };
    struct later_error err;

    supervisor.generation = generation_new(config);
    if (!supervisor.generation)
        return LATER_E_SYSTEM;
    supervisor_use_log(&supervisor);
    gethostname(supervisor.host, sizeof supervisor.host - 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* write() answers EFBIG */
    slots_guard();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pages_make_folder(config->state_dir, supervisor.slots_dir, sizeof supervisor.slots_dir,
                          &err) < 0 ||
        !(supervisor.health = health_open(config->state_dir, &err)) ||
        identity_read(config->state_dir, supervisor.host, supervisor.identity, &err) < 0 ||
        make_loop(&supervisor, &err) < 0 || make_parts(&supervisor, &err) < 0) {
        log_line(LOG_ERROR, "%s", err.text);
        supervisor.status = (int)err.code;
        if (supervisor.server)
            kill(supervisor.server, SIGTERM);
    } else {
        log_line(LOG_INFO, "laterd " VERSION " starts, pid %d", (int)getpid());
        event_base_dispatch(supervisor.base);
        log_line(LOG_INFO, "stopped");
    }
    supervisor_tear_down(&supervisor);
    return supervisor.status;
}
