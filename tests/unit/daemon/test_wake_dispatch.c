/* test_wake_dispatch.c: workers that do not wait for wakes themselves: listener, dispatch and real
 * worker processes on one server, without a migrator, so that a lost wake does not come back by
 * itself. */
#include "queues/wake_listener.h"
#include "supervisor/heartbeat.h"
#include "supervisor/silent.h"
#include "supervisor/wake_dispatch.h"

#include "tests/unit/config_files.h"
#include "tests/unit/live.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEVERAL "queues = ( { name = \"q\"; }, { name = \"r\"; }, { name = \"s\"; } );\n"

static struct keeper *keeper;
static struct workers *workers;
static struct generation *generation; /* owns the configuration of the listener */
static struct event *reaping;
static int generations, uncalled, ready, gone;
static struct later_error err;

static void on_expel(void *arg, struct slots *slots, const char *why)
{
    (void)arg;
    (void)slots;
    ck_abort_msg("expelled: %s", why);
}

static void on_settled(void *arg, struct slots *slots)
{
    (void)arg;
    slots_close(slots, true);
}

static void on_ready(void *arg)
{
    (void)arg;
    ready++;
}

static bool on_tried(void *arg, const char *why)
{
    (void)arg;
    return !why;
}

static void on_gone(void *arg)
{
    (void)arg;
    gone++;
}

static void on_idle(void *arg)
{
    (void)arg;
    wake_listener_idle(live_queues);
}

static void on_uncalled(void *arg, const char *queue)
{
    (void)arg;
    uncalled++;
    wake_listener_uncalled(live_queues, queue);
}

static bool is_idle(void *arg, uint32_t pools)
{
    (void)arg;
    return wake_dispatch_idle(workers, pools);
}

static bool call(void *arg, uint32_t pools, const char *queue)
{
    (void)arg;
    return wake_dispatch_call(workers, pools, queue);
}

static void reap(evutil_socket_t fd, short what, void *arg)
{
    siginfo_t info = { 0 };

    (void)fd;
    (void)what;
    (void)arg;
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
        ck_assert(workers_ended(workers, info.si_pid));
}

/* The next generation, as a reload makes it. */
static void load(const char *options)
{
    char top[PATH_MAX], text[PATH_MAX + 4000];
    struct config *next;

    ck_assert_ptr_nonnull(realpath(getenv("top_builddir") ? getenv("top_builddir") : ".", top));
    snprintf(text, sizeof text,
             "redis = { url = \"%s\"; };\nstate_dir = \"%s\";\n"
             "plugins = { dir = \"%s/tests/faults\"; load = ( \"trace\" );\n"
             "    config = { trace = { file = \"%s/trace\"; }; }; };\n%s",
             live_url, config_dir, top, config_dir, options);
    config_put("dispatch.conf", text);
    next = config_load(config_path("dispatch.conf"), &err);
    ck_assert_msg(next != NULL, "%s", err.text);
    ready = 0;
    live_queues->config = next;
    for (uint32_t i = 0; i < next->served.count; i++) {
        const struct config_queue *row = next->served.items[i];

        queues_need(live_queues, row->name)->config = row;
    }
    wake_listener_configure(live_queues);
    generation_release(generation);
    generation = generation_new(next);
    if (generations++)
        workers_try(workers, generation);
    else
        workers_start(workers, generation);
    LIVE_UNTIL(ready);
}

static void set_up(void)
{
    static const struct workers_options options = { .host = "the-host",
                                                    .slots_dir = config_dir,
                                                    .listens = true,
                                                    .ready = on_ready,
                                                    .tried = on_tried,
                                                    .gone = on_gone,
                                                    .idle = on_idle,
                                                    .uncalled = on_uncalled };
    const struct keeper_options keeping = { .host = "the-host",
                                            .expel = on_expel,
                                            .settled = on_settled };
    struct workers_options with_keeper = options;

    config_files_begin();
    live_begin();
    live_loop(NULL);
    live_queues->options.all = true;
    live_queues->options.idle = is_idle;
    live_queues->options.call = call;
    ck_assert_int_eq(wake_listener_new(live_queues, &err), 0);
    generation = NULL;
    generations = uncalled = gone = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    keeper = keeper_new(live_queues, &keeping);
    with_keeper.keeper = keeper;
    workers = workers_new(live_base, &with_keeper);
    reaping = event_new(live_base, -1, EV_PERSIST, reap, NULL);
    event_add(reaping, &(struct timeval){ 0, 5000 });
}

static void tear_down(void)
{
    workers_retire(workers);
    LIVE_UNTIL(workers_count(workers) == 0);
    LIVE_UNTIL(keeper_open(keeper) == 0);
    wake_listener_free(live_queues);
    live_unlink();
    event_free(reaping);
    workers_free(workers);
    generation_release(generation);
    keeper_free(keeper);
    live_unloop();
    live_end();
    config_files_end();
}

/* Pushes a job and leaves a wake, as push does. */
static void push(const char *queue, const char *id, const char *payload)
{
    live_do("EVAL %s 4 later:{%s}:jobs later:{%s}:ready later:{%s}:wake later:{%s}:stats %s %s",
            "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) "
            "redis.call('ZADD', KEYS[2], 1, ARGV[1]) "
            "redis.call('HINCRBY', KEYS[4], 'pushed', 1) "
            "redis.call('DEL', KEYS[3]) redis.call('LPUSH', KEYS[3], 1)",
            queue, queue, queue, queue, id,
            payload[0] ? payload : "{\"type\":\"trace\",\"payload\":\"sleep 0\"}");
}

static long long done(const char *queue)
{
    return live_number("HGET later:{%s}:stats done", queue);
}

struct look {
    enum slots_idle state;
    int count;
    struct process *found;
};

static void look_one(struct process *process, void *arg)
{
    struct look *look = arg;

    if (atomic_load(&process->slots->page->idle) != (uint32_t)look->state)
        return;
    look->count++;
    look->found = process;
}

static int count_idle(enum slots_idle state)
{
    struct look look = { .state = state };

    workers_each(workers, look_one, &look);
    return look.count;
}

static struct process *find_one(enum slots_idle state)
{
    struct look look = { .state = state };

    workers_each(workers, look_one, &look);
    return look.found;
}

static void all_idle(int count)
{
    LIVE_UNTIL(count_idle(SLOTS_IDLE_FREE) == count);
}

static void signal_one(struct process *process, void *arg)
{
    kill(process->pid, *(int *)arg);
}

static void signal_all(int number)
{
    workers_each(workers, signal_one, &number);
}

LIVE_CASE("wake_dispatch", set_up, tear_down);

/* One job after another into each of three queues, with two workers that serve all of them. */
TEST(test_every_queue)
{
    static const char *const names[] = { "q", "r", "s" };
    double best = 1e9;
    char id[20];

    load("workers = 2;\n" SEVERAL);
    all_idle(2);
    for (int i = 0; i < 30; i++) {
        double began = later_clock();

        snprintf(id, sizeof id, "j%d", i);
        push(names[i % 3], id, "");
        LIVE_UNTIL(done(names[i % 3]) == i / 3 + 1);
        best = later_clock() - began < best ? later_clock() - began : best;
    }
    ck_assert_double_lt(best, 0.1 * live_slowness());
    all_idle(2);
    live_check("q");
    live_check("r");
    live_check("s");
}

/* A whole batch in one queue keeps all workers busy: each leaves a wake for the next. */
TEST(test_many)
{
    char id[20];

    load("workers = 3;\n" SEVERAL);
    all_idle(3);
    for (int i = 0; i < 12; i++) {
        snprintf(id, sizeof id, "j%d", i);
        push("r", id, "{\"type\":\"trace\",\"payload\":\"sleep 50\"}");
    }
    LIVE_UNTIL(live_held("r") >= 3);
    LIVE_UNTIL(done("r") == 12);
}

/* Both are stopped, and one is called and killed: the other gets what it did not look at. */
TEST(test_dies_after_it_was_called)
{
    pid_t called;

    load("workers = 2;\n" SEVERAL);
    all_idle(2);
    signal_all(SIGSTOP);
    push("r", "a", "");
    LIVE_UNTIL(count_idle(SLOTS_IDLE_CALLED) == 1);
    called = find_one(SLOTS_IDLE_CALLED)->pid;
    workers_pause(workers, true); /* so that the one in its place does not take it */
    kill(called, SIGKILL);
    LIVE_UNTIL(uncalled == 1);
    LIVE_UNTIL(count_idle(SLOTS_IDLE_CALLED) == 1 && find_one(SLOTS_IDLE_CALLED)->pid != called);
    signal_all(SIGCONT);
    workers_pause(workers, false);
    LIVE_UNTIL(done("r") == 1);
    LIVE_UNTIL(workers_count(workers) == 2);
    ck_assert_int_eq(uncalled, 1);
    live_check("r");
}

static void set_running(struct process *process, void *arg)
{
    atomic_store(&process->slots->page->running, *(uint32_t *)arg);
}

/* A look, of which there is one a second. Returns whether no worker answers. */
static bool look_once(struct fault *fault)
{
    heartbeat_look(workers);
    return silent_look(fault, workers);
}

static void look_silent(struct fault *fault, uint32_t running, int looks)
{
    workers_each(workers, set_running, &running);
    while (looks--)
        look_once(fault);
}

static bool silent_is_over(struct fault *fault)
{
    look_once(fault);
    return !fault_text(fault);
}

/* Whoever runs a job need not answer; ten looks of silence are a fault, until they go on. */
TEST(test_silent)
{
    struct fault fault = { 0 };

    load("workers = 2;\n" SEVERAL);
    all_idle(2);
    signal_all(SIGSTOP);
    look_silent(&fault, 1, 20);
    ck_assert_ptr_null(fault_text(&fault));
    look_silent(&fault, 0, 10);
    ck_assert_ptr_null(fault_text(&fault));
    ck_assert(look_once(&fault));
    ck_assert_ptr_nonnull(strstr(fault_text(&fault), "2 of 2 workers do not answer, process "));
    look_silent(&fault, 1, 1);
    ck_assert_ptr_null(fault_text(&fault));
    look_silent(&fault, 0, 10);
    ck_assert_ptr_nonnull(fault_text(&fault));
    signal_all(SIGCONT);
    LIVE_UNTIL(silent_is_over(&fault));
    for (int i = 0; i < 20; i++)
        ck_assert(silent_is_over(&fault));
}

/* The one that runs a job is not called. The wake is in Redis, for other hosts. */
TEST(test_nobody_is_idle)
{
    load("workers = 1;\n" SEVERAL);
    all_idle(1);
    push("q", "a", "{\"type\":\"trace\",\"payload\":\"sleep 4000\"}");
    LIVE_UNTIL(live_held("q") == 1);
    push("r", "b", "");
    LIVE_FOR(0.2, live_number("ZCARD later:{r}:ready") == 1);
    ck_assert_int_eq(live_number("EXISTS later:{r}:wake"), 1);
    LIVE_UNTIL(done("q") == 1 && done("r") == 1);
    all_idle(1);
    push("s", "c", "");
    LIVE_UNTIL(done("s") == 1);
}

TEST(test_paused)
{
    load("workers = 2;\n" SEVERAL);
    all_idle(2);
    workers_pause(workers, true);
    LIVE_UNTIL(count_idle(SLOTS_IDLE_FREE) == 0);
    push("r", "a", "");
    LIVE_FOR(0.2, live_number("ZCARD later:{r}:ready") == 1);
    ck_assert_int_eq(live_number("EXISTS later:{r}:wake"), 1);
    workers_pause(workers, false);
    LIVE_UNTIL(done("r") == 1);
}

/* Paused in the moment in which one is called. */
TEST(test_paused_when_called)
{
    load("workers = 2;\n" SEVERAL);
    all_idle(2);
    signal_all(SIGSTOP);
    workers_pause(workers, true); /* before the call in the pipe */
    push("r", "a", "");
    LIVE_UNTIL(count_idle(SLOTS_IDLE_CALLED) == 1);
    signal_all(SIGCONT);
    LIVE_UNTIL(live_number("EXISTS later:{r}:wake") == 1);
    LIVE_FOR(0.1, live_number("ZCARD later:{r}:ready") == 1);
    workers_pause(workers, false);
    LIVE_UNTIL(done("r") == 1);
}

/* Each worker ends after one job: it drains by itself, and another comes. */
TEST(test_recycled)
{
    char id[20];

    load("workers = 2; recycle = { jobs = 1; };\n" SEVERAL);
    all_idle(2);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "j%d", i);
        push(i % 2 ? "q" : "r", id, "");
        LIVE_FOR(0.01, true);
    }
    LIVE_UNTIL(done("q") == 10 && done("r") == 10);
}

/* Another listener, other workers, again and again, while jobs are pushed. */
TEST(test_reloaded)
{
    char id[20];

    load("workers = 2;\n" SEVERAL);
    for (int i = 0; i < 12; i++) {
        snprintf(id, sizeof id, "j%d", i);
        push(i % 2 ? "q" : "r", id, "");
        if (i % 4 == 3)
            load("workers = 2;\n" SEVERAL);
    }
    LIVE_UNTIL(done("q") == 6 && done("r") == 6);
    LIVE_UNTIL(workers_count(workers) == 2);
    push("s", "last", "");
    LIVE_UNTIL(done("s") == 1);
}

/* A pool is called for its own queues only. */
TEST(test_pools)
{
    load("pools = ( { name = \"a\"; queues = ( { name = \"q\"; } ); workers = 1; },\n"
         "          { name = \"b\"; queues = ( { name = \"r\"; }, { name = \"q\"; } ); workers = "
         "1; } "
         ");\n");
    all_idle(2);
    push("r", "long", "{\"type\":\"trace\",\"payload\":\"sleep 4000\"}");
    LIVE_UNTIL(live_held("r") == 1);
    push("q", "a", "");
    push("r", "b", "");
    LIVE_UNTIL(done("q") == 1);
    ck_assert_int_eq(done("r"), 0);
    LIVE_UNTIL(done("r") == 2);
}

/* More queues than a worker waits for itself, all with work in the same moment, again and again:
 * nothing that was heard is lost, whether it was taken or put back. */
TEST(test_large)
{
    char options[3000] = "workers = 2;\nqueues = (", name[20];

    for (int i = 0; i < 100; i++)
        sprintf(options + strlen(options), "%s { name = \"q%d\"; }", i ? "," : "", i);
    strcat(options, " );\n");
    load(options);
    for (int round = 1; round <= 5; round++) {
        all_idle(2);
        for (int i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "q%d", i);
            push(name, round % 2 ? "a" : "b", "");
        }
        for (int i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "q%d", i);
            LIVE_UNTIL(done(name) == round);
        }
    }
}
