/* worker.c: the process of a worker: loop, orders, drain, recycling. */
#include "worker/admission.h"
#include "worker/attempt.h"
#include "worker/host.h"
#include "worker/intake.h"
#include "worker/run.h"
#include "worker/said.h"

#include "client/call.h"
#include "base/clock.h"
#include "log.h"
#include "memory.h"
#include "timer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define WEIGH_SECONDS 0.002   /* between looks at our memory */
#define COUNT_SECONDS 2       /* between looks at our connections */
#define TURN_SECONDS  0.002   /* of running jobs, before the loop sends and reads */
#define LOOK_SECONDS  0.00025 /* the same while an answer with ids is on its way */

/* A worker and what only this file knows of it. */
struct loop {
    struct worker worker;
    struct event *control;
    char orders[1024]; /* the beginning of one that has not come whole */
    size_t orders_len;
    struct timer *count;
    struct timer *age; /* it may be old enough, even if nothing happens */
    double started;
    double weighed; /* when recycle.memory was looked at last */
};

/* --- ending --- */

/* Asking takes a while. So it is not done after each of many quick jobs, but is done after each
 * job that has the time to leak much. */
static bool too_large(struct loop *loop)
{
    const struct worker *worker = &loop->worker;
    double now = later_clock();

    if (!worker->config->recycle.memory || now - loop->weighed < WEIGH_SECONDS ||
        !atomic_load(
            &worker->slots->page->performed)) /* even if it starts too large, it does one job */
        return false;
    loop->weighed = now;
    return (memory_own(getpid()) >> 20) > worker->config->recycle.memory;
}

/* Should a fresh process take over? Asked between jobs. */
static bool worn_out(struct loop *loop)
{
    const struct worker *worker = &loop->worker;
    const struct config *config = worker->config;

    if (config->recycle.jobs &&
        atomic_load(&worker->slots->page->performed) >= config->recycle.jobs)
        return true;
    if (config->recycle.age > 0 && later_clock() - loop->started >= config->recycle.age)
        return true;
    return too_large(loop);
}

static void drain(struct worker *worker)
{
    if (worker->draining)
        return;
    worker->draining = true;
    run_return_held(worker->run);
    intake_unblock(worker->intake);
    worker_pump_soon(worker);
}

/* Either everything is answered, or Redis cannot be reached; then the keeper settles from our page.
 */
static bool may_end(const struct worker *worker)
{
    if (!worker->draining || intake_has_jobs(worker->intake))
        return false;
    return !link_is_up(worker->main) || intake_is_still(worker->intake);
}

/* --- the loop --- */

static bool begins_none(const struct worker *worker)
{
    return worker->draining || worker->paused;
}

/* More jobs are held. They run before any socket is read: large documents are better left in the
 * kernel until these jobs are done, since both would not fit into a CPU cache. But if an answer
 * with ids is there, their documents are asked for, so that Redis sends them meanwhile. */
static void worker_go_on(struct worker *worker)
{
    static const struct timeval at_once = { 0, 0 };

    if (intake_awaits_ids(worker->intake))
        event_add(worker->pump, &at_once); /* after the sockets */
    else
        worker_pump_soon(worker); /* before the sockets */
}

/* Called every few seconds on a Cluster. */
static void worker_on_count(void *arg)
{
    struct worker *worker = arg;
    struct connections *connections = &worker->slots->page->connections;

    connections->count = 0;
    connections_add(connections, link_redis(worker->main));
    connections_add(connections, later_call_redis(worker->client));
}

/* libevent's clock is coarser than ours, and may be early. */
static void worker_on_age(void *arg)
{
    struct loop *loop = arg;
    double left = loop->worker.config->recycle.age - (later_clock() - loop->started);

    if (left > 0)
        timer_in(loop->age, left);
    else
        worker_pump_soon(&loop->worker);
}

/* The master is elsewhere now. What a plugin waits for on its client fails by itself. */
static void moved(struct worker *worker, const char *peer)
{
    struct later_redis *plain = later_call_redis(worker->client);

    link_moved(worker->main, peer);
    if (worker->wake)
        link_moved(worker->wake, peer);
    if (*later_redis_peer(plain) && strcmp(later_redis_peer(plain), peer) != 0)
        later_call_abort(worker->client);
}

/* more: what follows the order. */
static void worker_obey(struct worker *worker, char order, const char *more)
{
    if (order == WORKER_DRAIN) {
        drain(worker);
        run_stop(worker->run);
    } else if (order == WORKER_PAUSE) {
        worker->paused = true;
        run_return_held(worker->run);
        intake_unblock(worker->intake);
    } else if (order == WORKER_RESUME) {
        worker->paused = false;
    } else if (order == WORKER_MOVED) {
        moved(worker, more);
    } else if (order == WORKER_DOUBT) {
        intake_doubt(worker->intake);
    } else if (order == WORKER_WAKE) {
        intake_called(worker->intake, more);
    } else if (order == WORKER_SLEEP) {
        intake_end_long_wait(worker->intake);
    } else if (order == WORKER_ROUSE) {
        intake_rouse(worker->intake);
    } else if (order == WORKER_BEAT) {
        slots_beat(worker->slots);
    }
}

/* The first order, with what follows it, if something does. Returns how long it is; 0: the rest is
 * still to come. Its newline becomes a NUL. */
static size_t cut_order(char *text, size_t len)
{
    char *end;

    if (len == 0 || (*text != WORKER_MOVED && *text != WORKER_WAKE))
        return len > 0;
    end = memchr(text, '\n', len);
    if (!end)
        return 0;
    *end = '\0';
    return (size_t)(end - text) + 1;
}

/* All that have come: wakes of one moment are asked for in one write. */
static void on_control(evutil_socket_t fd, short what, void *arg)
{
    struct loop *loop = arg;
    char *text = loop->orders;
    ssize_t got = read(fd, text + loop->orders_len, sizeof loop->orders - loop->orders_len);
    size_t used = 0, len;

    (void)what;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) /* the supervisor is gone: its successor settles what we hold */
        _exit(0);
    loop->orders_len += (size_t)got;
    while ((len = cut_order(text + used, loop->orders_len - used)) > 0) {
        worker_obey(&loop->worker, text[used], text + used + 1);
        used += len;
    }
    loop->orders_len -= used;
    memmove(text, text + used, loop->orders_len);
    worker_pump_soon(&loop->worker);
}

static void on_pump(evutil_socket_t fd, short what, void *arg)
{
    struct loop *loop = arg;
    struct worker *worker = &loop->worker;
    double began = later_clock();
    size_t in_flight = worker->load->in_flight;
    bool more = true;

    (void)fd;
    (void)what;
    while (more && !begins_none(worker) &&
           later_clock() - began <
               (intake_awaits_ids(worker->intake) ? LOOK_SECONDS : TURN_SECONDS)) {
        more = run_next(worker->run);
        if (more)
            intake_ahead(worker->intake);
    }
    if (!more && worker->load->in_flight > in_flight) {
        worker_pump_soon(worker); /* what these have to write goes out before we ask for more */
        return;
    }
    if (later_clock() - began >= TURN_SECONDS) /* what was said meanwhile holds for the next job */
        on_control(worker->start->control_fd, EV_READ, loop);
    if (!worker->draining && worn_out(loop))
        drain(worker);
    if (begins_none(worker)) /* the answer of a reserve may come after the order */
        run_return_held(worker->run);
    if (more && !begins_none(worker)) {
        admission_flush(worker->admission);
        link_flush(worker->main);
        worker_go_on(worker);
    } else {
        intake_go_on(worker->intake);
    }
    if (may_end(worker))
        event_base_loopbreak(worker->base);
}

static void worker_on_link_up(void *arg)
{
    struct worker *worker = arg;

    if (link_is_up(worker->main) && (!worker->wake || link_is_up(worker->wake)))
        slots_cut_off(worker->slots, "");
    intake_link_up(worker->intake);
}

/* Where laterd itself reaches Redis, it says what hinders us. */
static void worker_on_link_away(void *arg, const char *why)
{
    const struct worker *worker = arg;

    slots_cut_off(worker->slots, why);
}

static void worker_on_link_down(void *arg)
{
    worker_pump_soon(arg);
}

/* --- making and unmaking --- */

static const struct later_keys *worker_keys_of(void *arg, struct slots *slots, uint32_t queue)
{
    const struct worker *worker = arg;

    (void)slots;
    return &intake_queue(worker->intake, queue)->keys;
}

static void worker_on_settled(void *arg, struct slots *slots, struct slot *slot, bool lost)
{
    struct worker *worker = arg;
    struct slot_words words;

    admission_settled(worker->admission, slot, lost);
    if (lost && attempt_is_cancelled(slot) && slot_verb(slot) == LATER_VERB_ACK)
        log_job(LOG_WARN, slot_log_fields(slots, slot, &words),
                "done, although it was cancelled while it ran: its result does not count");
    else if (lost && !attempt_is_given_up(slot)) /* that was told when it ended */
        log_job(LOG_WARN, slot_log_fields(slots, slot, &words),
                "it was no longer ours when we came to %s it", later_verb_name(slot_verb(slot)));
    if (outbox_open(worker->outbox) == 0)
        worker_pump_soon(worker);
}

static int make_links(struct worker *worker, struct later_error *err)
{
    const struct link_options main = { .what = "worker",
                                       .quiet = true,
                                       .up = worker_on_link_up,
                                       .down = worker_on_link_down,
                                       .away = worker_on_link_away,
                                       .arg = worker };
    struct link_options wake = main;
    char url[LATER_URL_SIZE];
    struct later_client_options client = { .url = url,
                                           .password_file = worker->config->redis.password_file,
                                           .prefix = worker->config->redis.prefix,
                                           .name = "laterd-plugins",
                                           .document_max = (size_t)worker->config->document_max };

    wake.what = "wake";
    link_url(worker->config, url, sizeof url);
    worker->main = link_new(worker->base, worker->config, &main, err);
    if (!worker->main)
        return -1;
    if (!worker->start->listens &&
        !(worker->wake = link_new(worker->base, worker->config, &wake, err)))
        return -1;
    worker->client = later_client_open_with(&client, err);
    return worker->client ? 0 : -1;
}

static int make_events(struct loop *loop)
{
    struct worker *worker = &loop->worker;

    worker->pump = event_new(worker->base, -1, 0, on_pump, loop);
    loop->count = timer_new(worker->base, worker_on_count, worker);
    loop->age = timer_new(worker->base, worker_on_age, loop);
    loop->control =
        event_new(worker->base, worker->start->control_fd, EV_READ | EV_PERSIST, on_control, loop);
    if (!worker->pump || !loop->control || !loop->count || !loop->age)
        return -1;
    if (worker->config->recycle.age > 0)
        timer_in(loop->age, worker->config->recycle.age);
    if (worker->start->listens)
        timer_every(loop->count, COUNT_SECONDS);
    return event_add(loop->control, NULL);
}

static int set_up(struct loop *loop, struct later_error *err)
{
    struct worker *worker = &loop->worker;

    worker->base = event_base_new();
    worker->plugins = plugin_set_new();
    if (!worker->base || !worker->plugins || make_events(loop) < 0)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    worker->attempts = attempts_new();
    worker->said = said_new();
    worker->run = run_new(worker);
    if (!worker->attempts || !worker->run)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    snprintf(worker->slots->page->prefix, sizeof worker->slots->page->prefix, "%s",
             worker->config->redis.prefix);
    worker->slots->page->pid = getpid();
    if (make_links(worker, err) < 0)
        return -1;
    worker->intake = intake_new(worker);
    worker->outbox = outbox_new(worker->base, worker->main, worker->start->host, worker_keys_of,
                                worker_on_settled, worker);
    worker->admission = admission_new(worker, run_passed);
    if (!worker->intake || !worker->outbox || !worker->admission)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (plugin_set_load(worker->plugins, worker->config, host_table(worker), err) < 0)
        return -1;
    return plugin_set_start(worker->plugins, err);
}

/* Sets a limit of this process; 0 = none. For glibc `what` is an enum, for musl an int. */
static void limit_to(const char *option, unsigned char what, rlim_t most)
{
    if (most && setrlimit(what, &(struct rlimit){ most, most }) < 0)
        log_line(LOG_WARN, "%s: %s", option, strerror(errno));
}

static void worker_tear_down(struct loop *loop)
{
    struct worker *worker = &loop->worker;

    link_free(worker->wake);
    link_free(worker->main);
    outbox_free(worker->outbox);
    admission_free(worker->admission);
    plugin_set_stop(worker->plugins);
    plugin_set_free(worker->plugins);
    later_client_close(worker->client);
    if (worker->pump)
        event_free(worker->pump);
    if (loop->control)
        event_free(loop->control);
    timer_free(loop->count);
    timer_free(loop->age);
    intake_free(worker->intake);
    run_free(worker->run);
    if (worker->base)
        event_base_free(worker->base);
    attempts_free(worker->attempts);
    said_free(worker->said);
}

/* In a service's sandbox the file system is read-only, which may be why a plugin cannot open a
 * file. */
static const char *worker_sandbox_hint(void)
{
    struct statvfs root;

    return statvfs("/", &root) == 0 && (root.f_flag & ST_RDONLY)
               ? " (the file system is read-only for laterd, but for its state_dir and /tmp: "
                 "laterd(8), SANDBOX)"
               : "";
}

/* The supervisor logs it, once for all workers. */
static void report_refusal(const struct worker *worker, const struct later_error *err)
{
    char report[640];
    int len =
        snprintf(report, sizeof report, "%c%s%s", WORKER_REFUSED, err->text, worker_sandbox_hint());

    if (write(worker->start->status_fd, report, (size_t)len) != len)
        log_line(LOG_ERROR, "%s", err->text);
}

int worker_main(const struct worker_start *start)
{
    struct loop *loop = calloc(1, sizeof *loop);
    struct worker *worker;
    struct later_error err;
    int status = 0;

    if (!loop)
        return LATER_E_SYSTEM;
    worker = &loop->worker;
    worker->start = start;
    worker->config = start->config;
    worker->slots = start->slots;
    loop->started = later_clock();
    config_seal(start->config);
    overlay_seal(start->overlay);
    memory_keep();
    limit_to("memory_max", RLIMIT_AS, start->pool->memory_max << 20);
    limit_to("files_max", RLIMIT_NOFILE, start->pool->files_max);
    if (set_up(loop, &err) < 0) {
        report_refusal(worker, &err);
        status = (int)err.code;
    } else {
        worker_report(worker, WORKER_READY);
        worker_pump_soon(worker);
        event_base_dispatch(worker->base);
    }
    worker_tear_down(loop);
    free(loop);
    return status;
}
