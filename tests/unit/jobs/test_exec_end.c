/* test_exec_end.c: the exec plugin: time limits, deaths, and its configuration. */
#include "base/clock.h"
#include "tests/unit/exec_fixture.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

EXEC_CASE("ending");

TEST(timed_out)
{
    double begun = later_clock();

    script("echo half done; exec sleep 60");
    job->timeout = 3;
    expect(LATER_RETRY);
    ck_assert_str_eq(job->error, "timed out: half done");
    ck_assert_msg(later_clock() - begun < 50, "%f", later_clock() - begun);
    ck_assert_msg(later_clock() - begun >= 3, "%f", later_clock() - begun);
}

TEST(deaf_to_term)
{
    double begun = later_clock(), took;

    script("trap '' TERM; while :; do sleep 0.2; done");
    job->timeout = 4;
    expect(LATER_RETRY);
    took = later_clock() - begun;
    ck_assert_str_eq(job->error, "timed out");
    ck_assert_msg(took >= 6 && took < 60, "%f", took);
}

/* It ends well on TERM; its time was over all the same. */
TEST(polite_on_term)
{
    script("trap 'kill $!; exit 0' TERM; sleep 60 & wait");
    job->timeout = 0.1;
    expect(LATER_RETRY);
    ck_assert_str_eq(job->error, "timed out");
}

/* A stopped program does not hear TERM. */
TEST(stopped)
{
    script("kill -STOP $$");
    job->timeout = 0.1;
    expect(LATER_RETRY);
    ck_assert_str_eq(job->error, "timed out");
}

TEST(cancelled)
{
    double begun = later_clock();

    option("it.argv.0", "/bin/sleep");
    option("it.argv.1", "60");
    job->cancelled = true;
    expect(LATER_RETRY);
    ck_assert_str_eq(job->error, "cancelled");
    ck_assert(later_clock() - begun < 50);
}

/* Its own child holds the output open: the job ends with the program, not with that child. */
TEST(background_child)
{
    double begun = later_clock();

    script("sleep 60 & echo begun");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: begun\n");
    ck_assert_msg(later_clock() - begun < 50, "%f", later_clock() - begun);
}

/* The program dies with the worker, however that dies. */
TEST(worker_dies)
{
    int ends_of_pipe[2], status = 0;
    char path[64], pid_text[16] = "";
    pid_t worker, program;

    ck_assert_int_eq(pipe(ends_of_pipe), 0);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    snprintf(path, sizeof path, "echo $$ >/proc/%d/fd/%d; exec sleep 60", (int)getpid(),
             ends_of_pipe[1]);
    script(path);
    worker = fork();
    if (worker == 0) {
        fake_job_perform(plugin, job);
        _exit(0);
    }
    ck_assert_int_gt(read(ends_of_pipe[0], pid_text, sizeof pid_text - 1), 0);
    program = atoi(pid_text);
    ck_assert_int_gt(program, 0);
    kill(worker, SIGKILL);
    ck_assert_int_eq(waitpid(worker, &status, 0), worker);
    ck_assert_int_eq(waitpid(program, &status, 0), program);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(ends_of_pipe[0]);
    close(ends_of_pipe[1]);
}

/* The program hears of its worker's end before it, and the worker ends as it was told. */
TEST(worker_is_told_to_end)
{
    int pipe_ends[2], status = 0;
    char text[160], said[16] = "";
    pid_t worker;

    ck_assert_int_eq(pipe(pipe_ends), 0);
    snprintf(text, sizeof text,
             "exec 9>/proc/%d/fd/%d; trap 'echo bye >&9; exit' TERM; echo run >&9; "
             "while :; do sleep 0.05; done",
             (int)getpid(), pipe_ends[1]);
    script(text);
    worker = fork();
    if (worker == 0) {
        signal(SIGTERM, SIG_DFL); /* not what Check does then */
        fake_job_perform(plugin, job);
        _exit(0);
    }
    ck_assert_int_eq(read(pipe_ends[0], said, 4), 4);
    ck_assert_str_eq(said, "run\n");
    kill(worker, SIGTERM);
    ck_assert_int_eq(waitpid(worker, &status, 0), worker);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert_int_eq(read(pipe_ends[0], said, 4), 4);
    ck_assert_str_eq(said, "bye\n");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST(nobody_keeps_its_status)
{
    script("echo done");
    signal(SIGCHLD, SIG_IGN);
    expect(LATER_RETRY);
    signal(SIGCHLD, SIG_DFL);
    ck_assert_str_eq(job->error, "its exit status was taken by another part of the process: done");
}

static void on_alarm(int number)
{
    (void)number;
}

TEST(interrupted_all_the_time)
{
    struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm };

    sigaction(SIGALRM, &action, NULL);
    large_job(1 << 20);
    script("cat; sleep 0.3; echo; wc -c </dev/stdin");
    setitimer(ITIMER_REAL, &often, NULL);
    expect(LATER_DONE);
    setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_ptr_nonnull(strstr(fake.log, "debug output: 1048605\n"));
}

EXEC_CASE("configuration");

TEST(unknown)
{
    option("other.argv.0", "/bin/cat");
    expect(LATER_BURY);
    ck_assert_str_eq(job->error, "no program configured: plugins.config.exec.it is missing");
}

/* Half a deployment: it is there, and has nothing in it yet. */
TEST(empty_then_removed)
{
    char path[] = "/tmp/later-exec-XXXXXX", expected[200];
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    fchmod(fd, 0755);
    option("it.argv.0", path);
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), -1);
    snprintf(expected, sizeof expected, "it: %s: not a program: it is empty", path);
    ck_assert_str_eq(fake.refusal, expected);
    ck_assert_int_eq(write(fd, "#!/bin/sh\n", 10), 10);
    close(fd);
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), 0);
    unlink(path);
    ck_assert_int_eq(fake_job_perform(plugin, job), LATER_RETRY);
    snprintf(expected, sizeof expected, "%s could not be run: No such file or directory", path);
    ck_assert_str_eq(job->error, expected);
}

TEST(nothing_is_left_open)
{
    int before = folder_open_files();

    option("it.argv.0", "/bin/true");
    for (int i = 0; i < 20; i++) {
        job->ended = false;
        expect(LATER_DONE);
    }
    plugin->stop();
    ck_assert_int_eq(folder_open_files(), before);
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static const struct {
    const char *key, *value, *refusal;
} bad_options[] = {
    { "it", "/bin/cat", "must be a group" },
    { ".argv.0", "/bin/cat", "must be a group" },
    { "it.argv", "/bin/cat", "unknown; there are argv" },
    { "it.argv.0", "cat", "must be an absolute path" },
    { "it.argv.0", "", "must be an absolute path" },
    { "it.argv.1", "/bin/cat", "argv must be one list" },
    { "it.argv.x", "/bin/cat", "argv must be one list" },
    { "it.shell", "true", "unknown; there are argv" },
    { "it.env", "x", "unknown; there are argv" },
    { "it.env.", "x", "not a variable's name" },
    { "it.env.A-B", "x", "not a variable's name" },
    { "it.env.1A", "x", "not a variable's name" },
    { "it.env.LATER_ID", "x", "set by laterd" },
    { "it.dir", "tmp", "must be an absolute path" },
    { "it.inherit", "maybe", "true or false" },
    { "it.output_max", "-1", "from 0 to 16777216" },
    { "it.output_max", "16777217", "from 0 to 16777216" },
    { "it.output_max", "99999999999999999999", "from 0 to 16777216" },
    { "it.output_max", "1k", "from 0 to 16777216" },
    { "it.output_max", "", "from 0 to 16777216" },
};

TEST_EACH(refused_options, COUNT(bad_options))
{
    ck_assert_int_eq(
        fake_configure(plugin, bad_options[_i].key, bad_options[_i].value, (char *)NULL), -1);
    ck_assert_msg(strstr(fake.refusal, bad_options[_i].refusal) != NULL, "%s", fake.refusal);
}

static const struct {
    const char *program, *dir, *refusal;
} bad_programs[] = {
    { NULL, "/", "it: argv is missing" },
    { "/nonexistent/x", "/", "it: /nonexistent/x: No such file or directory" },
    { "/tmp", "/", "it: /tmp: not a program" },
    { "/etc/passwd", "/", "it: /etc/passwd: Permission denied" },
    { "/bin/cat", "/nonexistent", "it: dir /nonexistent: No such file or directory" },
    { "/bin/cat", "/etc/passwd", "it: dir /etc/passwd: not a directory" },
};

TEST_EACH(refused_programs, COUNT(bad_programs))
{
    if (bad_programs[_i].program)
        option("it.argv.0", bad_programs[_i].program);
    option("it.dir", bad_programs[_i].dir);
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), -1);
    ck_assert_str_eq(fake.refusal, bad_programs[_i].refusal);
}

TEST(no_programs)
{
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), 0);
}
