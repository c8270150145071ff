/* test_health.c: the small file that says how a laterd is; its lock; the name of a state_dir. */
#include "health.h"
#include "identity.h"
#include "supervisor/process.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/later-health-XXXXXX";
static char path[64];
static struct later_error err;
static struct health_report report;

static void set_up(void)
{
    strcpy(dir + sizeof dir - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/health", dir);
    err = (struct later_error){ LATER_OK, "" };
}

static void tear_down(void)
{
    unlink(path);
    rmdir(dir);
}

static struct health *open_it(void)
{
    struct health *health = health_open(dir, &err);

    ck_assert_msg(health != NULL, "%s", err.text);
    return health;
}

static void read_it(void)
{
    ck_assert_msg(health_read(dir, &report, &err) == 0, "%s", err.text);
}

CASE("file", set_up, tear_down);

/* It stays over restarts; another folder has another one; a damaged file is made anew. */
TEST(test_identity)
{
    char first[IDENTITY_SIZE], second[IDENTITY_SIZE], file[64];

    snprintf(file, sizeof file, "%s/identity", dir);
    ck_assert_msg(identity_read(dir, "h", first, &err) == 0, "%s", err.text);
    ck_assert_int_eq(identity_read(dir, "h", second, &err), 0);
    ck_assert_str_eq(first, second);
    ck_assert_uint_eq(strlen(first), strlen("h:") + 16);
    ck_assert_int_eq(truncate(file, 5), 0);
    ck_assert_int_eq(identity_read(dir, "h", second, &err), 0);
    ck_assert_uint_eq(strlen(second), strlen("h:") + 16);
    ck_assert_str_ne(first, second);
    unlink(file);
    ck_assert_int_eq(identity_read("/nowhere", "h", second, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "state_dir: /nowhere/identity: "));
}

TEST(test_report)
{
    struct health *health = open_it();

    health_beat(health, true, 4, 2);
    read_it();
    ck_assert(report.running);
    ck_assert(report.redis_up);
    ck_assert_uint_eq(report.workers, 4);
    ck_assert_uint_eq(report.busy, 2);
    ck_assert_int_eq(report.pid, getpid());
    ck_assert_double_ge(report.heartbeat_age, 0);
    ck_assert_double_le(report.heartbeat_age, 60);
    usleep(30000);
    health_beat(health, false, 3, 0);
    read_it();
    ck_assert(!report.redis_up);
    ck_assert_uint_eq(report.workers, 3);
    ck_assert_double_le(report.heartbeat_age, 60);
    usleep(100000);
    read_it();
    ck_assert_double_ge(report.heartbeat_age, 0.1);
    health_close(health);
    read_it();
    ck_assert(!report.running);
    health_close(NULL);
}

/* What went wrong is told until it is over. */
TEST(test_faults)
{
    struct health *health = open_it();

    health_fault(health, "no room");
    health_reload(health, "line 3");
    read_it();
    ck_assert_str_eq(report.fault, "no room");
    ck_assert_str_eq(report.reload, "line 3");
    health_fault(health, NULL);
    read_it();
    ck_assert_str_eq(report.fault, "");
    ck_assert_str_eq(report.reload, "line 3");
    health_reload(health, NULL);
    read_it();
    ck_assert_str_eq(report.reload, "");
    health_close(health);
}

TEST(test_nothing_there)
{
    ck_assert_int_lt(health_read(dir, &report, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_NONE);
    ck_assert(!report.running);
    ck_assert_ptr_nonnull(strstr(err.text, path));
    ck_assert_ptr_null(health_open("/nonexistent/later", &err));
    ck_assert_int_eq(err.code, LATER_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/later"));
}

/* A file of another kind does not come from a running laterd. */
TEST(test_short_file)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0644);

    ck_assert_int_eq(write(fd, "x", 1), 1);
    close(fd);
    read_it();
    ck_assert(!report.running);
}

TEST(test_no_permission)
{
    struct health *health = open_it();

    if (geteuid() == 0) {
        ck_assert_int_eq(chmod(path, 0600), 0);
        ck_assert_int_eq(seteuid(65534), 0);
        ck_assert_int_lt(health_read(dir, &report, &err), 0);
        ck_assert_int_eq(seteuid(0), 0);
        ck_assert_int_eq(err.code, LATER_E_TOKEN);
    }
    health_close(health);
}

CASE("lock", set_up, tear_down);

TEST(test_one_at_a_time)
{
    struct health *health = open_it();

    ck_assert_ptr_null(health_open(dir, &err));
    ck_assert_int_eq(err.code, LATER_E_LATER);
    ck_assert_ptr_nonnull(strstr(err.text, "in use by another laterd"));
    read_it();
    ck_assert(report.running);
    health_close(health);
    health_close(open_it());
}

/* Readers, however many, never keep a laterd from starting. */
TEST(test_looking_is_harmless)
{
    pid_t pids[2];
    int status;

    health_close(open_it());
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            for (;;)
                health_read(dir, &report, &err);
        }
    }
    for (int i = 0; i < 3000; i++) {
        struct health *health = health_open(dir, &err);

        if (!health) {
            kill(pids[0], SIGKILL);
            kill(pids[1], SIGKILL);
        }
        ck_assert_msg(health != NULL, "start %d: %s", i, err.text);
        health_close(health);
    }
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], &status, 0);
    }
}

/* The lock goes with the laterd that had it, however it ends, and no child keeps it: a worker
 * closes its descriptors, a program that a handler starts has none. */
/* A child that has all descriptors, and stands still. */
TEST(test_closed_beside_a_child)
{
    struct health *health = open_it();
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    health_close(health);
    health_close(open_it());
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

TEST(test_killed)
{
    int hold[2], ready[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(hold), 0);
    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        struct health *health = health_open(dir, &err);

        if (!health)
            _exit(1);
        health_beat(health, true, 1, 1);
        if (fork() == 0) { /* as a worker: outlives us */
            close(hold[1]);
            process_close_from(ready[1] + 1);
            (void)!write(ready[1], "c", 1);
            (void)!read(hold[0], &byte, 1); /* until the test ends */
            _exit(0);
        }
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    read_it();
    ck_assert(report.running);
    ck_assert_int_eq(report.pid, pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    read_it();
    ck_assert(!report.running);
    health_close(open_it());
}

/* Another file in its place, through a link, is not written to. */
TEST(test_symlink)
{
    ck_assert_int_eq(symlink("/tmp/later-health-target", path), 0);
    ck_assert_ptr_null(health_open(dir, &err));
    ck_assert_int_eq(access("/tmp/later-health-target", F_OK), -1);
}
