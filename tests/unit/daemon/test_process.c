/* test_process.c: the end of a worker, seen from the supervisor: when it gets TERM and KILL, who is
 * to blame, what is left of it; and forks. */
#include "supervisor/process.h"

#include "tests/unit/config_files.h"
#include "supervisor/checker.h"
#include "tests/unit/unit.h"

#include "base/clock.h"

#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENDED(code, signal) ((code) << 8 | (signal)) /* as waitpid() says it */

static struct later_error err;

/* ---- kill(), as the supervisor calls it */

static pid_t killed_group;
static bool killed_before_reaped;

/* Notes whether the leader of a group that is killed still has its number. */
int kill(pid_t pid, int number)
{
    siginfo_t info = { 0 };

    if (pid < 0) {
        killed_group = -pid;
        killed_before_reaped =
            waitid(P_PID, (id_t)-pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
    }
    return (int)syscall(SYS_kill, pid, number);
}

/* ---- TERM and KILL */

#define NOBODY 0x7ffffff0 /* no process has this number */

/* Nobody reads its orders. */
static struct process quiet(void)
{
    static struct slots_page page;
    static struct slots slots = { .page = &page };

    return (struct process){ .pid = NOBODY,
                             .slots = &slots,
                             .control_fd = open("/dev/null", O_WRONLY | O_CLOEXEC) };
}

CASE("end", config_files_begin, config_files_end);

/* A job is over its time, and then laterd stops or reloads: neither a second grace nor another
 * reason. */
TEST(test_drained_in_its_grace)
{
    struct process process = quiet();
    double kill_at;

    process_end(&process, LATER_ENDED_TIMEOUT, "over its time", 4);
    kill_at = process.kill_at;
    process_drain(&process, 60, 4, "laterd was reloaded");
    process_end(&process, LATER_ENDED_TIMEOUT, "over its time", 4);
    ck_assert(process.draining);
    ck_assert_double_eq(process.kill_at, kill_at);
    ck_assert_str_eq(process.why, "over its time");
    ck_assert_int_eq(process_ending(&process, ENDED(0, SIGKILL)), LATER_ENDED_TIMEOUT);
    close(process.control_fd);
}

/* The other way round, and the time to drain ends before the grace would. */
TEST(test_over_its_time_while_it_drains)
{
    struct process process = quiet();
    double kill_at;

    process_drain(&process, 1, 0, "laterd was stopped");
    kill_at = process.kill_at;
    process_end(&process, LATER_ENDED_TIMEOUT, "over its time", 60);
    ck_assert_double_le(process.term_at, later_clock());
    ck_assert_double_eq(process.kill_at, kill_at);
    ck_assert_int_eq(process_ending(&process, ENDED(0, SIGTERM)), LATER_ENDED_TIMEOUT);
    close(process.control_fd);
}

/* What is said of the jobs that were cut is what happened. */
TEST(test_cut)
{
    static const char *const reasons[] = { "laterd was stopped", "laterd was reloaded" };

    for (int i = 0; i < 2; i++) {
        struct process process = quiet();
        char text[100];

        process_drain(&process, 0, 60, reasons[i]);
        process_drain(&process, 0, 60, "a second time");
        process_tick(&process);
        process_describe(&process, ENDED(0, SIGTERM), text, sizeof text);
        ck_assert_str_eq(text, reasons[i]);
        ck_assert_int_eq(process_ending(&process, ENDED(0, SIGTERM)), LATER_ENDED_INTERRUPTED);
        close(process.control_fd);
    }
}

/* ---- who is to blame */

enum { WORKS, DRAINS };

static const struct {
    int state, status;
    enum later_ending ending;
} ends[] = {
    { WORKS, ENDED(0, SIGABRT), LATER_ENDED_CRASH },
    { WORKS, ENDED(0, SIGTERM), LATER_ENDED_CRASH },
    { WORKS, ENDED(0, SIGKILL), LATER_ENDED_CRASH },
    { WORKS, ENDED(0, 0), LATER_ENDED_CRASH },
    /* A crash is one also while we stop, as long as we have not ended the worker. */
    { DRAINS, ENDED(0, SIGABRT), LATER_ENDED_CRASH },
    { DRAINS, ENDED(0, SIGKILL), LATER_ENDED_CRASH },
    { DRAINS, ENDED(1, 0), LATER_ENDED_CRASH },
    { DRAINS, ENDED(0, 0), LATER_ENDED_CRASH },
    /* Some stop a service by a TERM to each of its processes. */
    { DRAINS, ENDED(0, SIGTERM), LATER_ENDED_INTERRUPTED },
};

TEST_EACH(test_cause, COUNT(ends))
{
    struct process process = quiet();

    if (ends[_i].state == DRAINS)
        process_drain(&process, 60, 60, "laterd was stopped");
    ck_assert_int_eq(process_ending(&process, ends[_i].status), ends[_i].ending);
    close(process.control_fd);
}

/* A worker that ends well while Redis is away leaves its settlements to the keeper. */
TEST(test_crashed)
{
    static const struct {
        enum slot_state left;
        int status;
        bool crashed;
    } rows[] = {
        { SLOT_FREE, ENDED(0, 0), false },       { SLOT_FINISHED, ENDED(0, 0), false },
        { SLOT_RETURNING, ENDED(0, 0), false },  { SLOT_HELD, ENDED(0, 0), true },
        { SLOT_RUNNING, ENDED(0, 0), true },     { SLOT_FREE, ENDED(78, 0), true },
        { SLOT_FREE, ENDED(0, SIGSEGV), true },  { SLOT_RUNNING, ENDED(0, SIGKILL), false },
        { SLOT_FREE, ENDED(0, SIGTERM), false },
    };
    struct process process = quiet();

    process.slots = slots_create(config_path("page"), 4, &err);
    ck_assert_msg(process.slots != NULL, "%s", err.text);
    atomic_store(&process.slots->page->used, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        atomic_store(&process.slots->page->slots[3].state, rows[i].left);
        ck_assert_msg(process_crashed(&process, rows[i].status) == rows[i].crashed, "row %zu", i);
    }
    slots_close(process.slots, true);
    close(process.control_fd);
}

/* ---- its group */

/* The worker leaves a child that holds the pipe. */
static pid_t leave_child(int held[2])
{
    pid_t pid;

    ck_assert_int_eq(pipe2(held, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (fork() == 0) {
            close(held[0]);
            for (;;)
                pause();
        }
        _exit(3);
    }
    close(held[1]);
    return pid;
}

TEST(test_group_is_killed_before_its_number_is_free)
{
    int held[2], last[2];
    struct process process = { .pid = leave_child(held) };
    siginfo_t info;
    char byte;

    ck_assert_int_eq(pipe2(last, O_CLOEXEC | O_NONBLOCK), 0);
    process.status_fd = last[0];
    ck_assert_int_eq(waitid(P_PID, (id_t)process.pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(process_reap(&process), ENDED(3, 0));
    ck_assert_int_eq(killed_group, process.pid);
    ck_assert(killed_before_reaped);
    ck_assert_int_eq(read(held[0], &byte, 1), 0); /* it is gone */
}

/* ---- forks */

static volatile int *ran_in_child; /* shared with children */
static pid_t parent;

static void on_term(int number)
{
    (void)number;
    *ran_in_child = getpid() != parent;
}

static void term_in_child(void)
{
    raise(SIGTERM);
}

static bool done;

static void on_checked(void *arg, const char *why)
{
    (void)arg;
    done = true;
    ck_assert_ptr_nonnull(why);
    ck_assert_ptr_nonnull(strstr(why, "signal 15"));
}

CASE("forks", config_files_begin, config_files_end);

/* A TERM comes right after the fork. Our handler would tell our own loop of it. */
TEST(test_signal_between_fork_and_child)
{
    struct event_base *base = event_base_new();
    struct config *config;
    struct checker *checker;
    char text[2000];
    int status;

    ran_in_child =
        mmap(NULL, sizeof *ran_in_child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    parent = getpid();
    signal(SIGTERM, on_term);
    snprintf(text, sizeof text, "state_dir = \"%s\";\nplugins = { dir = \"%s\"; };\n", config_dir,
             config_dir);
    config_put("fork.conf", text);
    pthread_atfork(NULL, NULL, term_in_child);
    config = config_load(config_path("fork.conf"), &err);
    checker = checker_start(base, config, on_checked, NULL, &err);
    ck_assert_msg(checker != NULL, "%s", err.text);
    ck_assert_int_eq(waitpid(checker_pid(checker), &status, 0), checker_pid(checker));
    ck_assert_int_eq(*ran_in_child, 0);
    checker_ended(checker, status);
    ck_assert(done);
    config_free(config);
    event_base_free(base);
}
