/* test_exec_lines_end.c: the exec plugin with long-lived programs: how they end. */
#include "base/clock.h"
#include "tests/unit/exec_fixture.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *script, *error;
} deaths[] = {
    { "read -r line; exit 3", "the program died: exit status 3" },
    { "read -r line; echo first >&2; echo last; exit 3",
      "the program died: exit status 3: first\nlast" },
    { "read -r line; printf cut >&2; exit 0", "the program died: exit status 0: cut" },
    { "read -r line; kill -9 $$", "the program died: killed by signal 9 (Killed)" },
    { "read -r line; echo ouch >&2; kill -11 $$",
      "the program died: killed by signal 11 (Segmentation fault): ouch" },
    { "read -r line; exec 3>&-; sleep 60",
      "the program was ended, since it closed descriptor 3, where its answers go" },
    { "trap 'exit 7' TERM; read -r line; exec 3>&-; sleep 60 & wait",
      "the program was ended, since it closed descriptor 3, where its answers go: exit status 7" },
};

EXEC_CASE("deaths");

TEST_EACH(how_it_dies, COUNT(deaths))
{
    double begun = later_clock();

    lines(deaths[_i].script);
    expect(LATER_RETRY);
    expect_error(deaths[_i].error);
    ck_assert_int_eq(job->kind, LATER_KIND_CRASH);
    ck_assert_msg(later_clock() - begun < 50, "%f", later_clock() - begun);
}

/* Replaces libc's for the whole program. With `stands_still`, a look that finds the program running
 * is followed by a standstill in which it ends, and in which its time to do so passes. With
 * `is_slow`, none that comes a second after the program has closed its files finds it running: on a
 * busy machine it may take as long. */
static bool stands_still, is_slow;
static double closed;

static bool has_closed_3(id_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%d/fd/3", (int)pid);
    return lstat(path, &st) != 0;
}

int waitid(idtype_t kind, id_t id, siginfo_t *info, int options)
{
    int result = (int)syscall(SYS_waitid, kind, id, info, options, NULL);

    if ((!stands_still && !is_slow) || result != 0 || info->si_pid != 0 || !has_closed_3(id))
        return result;
    closed = closed > 0 ? closed : later_clock();
    if (is_slow && later_clock() - closed < 1)
        return result;
    syscall(SYS_waitid, kind, id, NULL, WEXITED | WNOWAIT, NULL);
    if (is_slow)
        return (int)syscall(SYS_waitid, kind, id, info, options, NULL);
    stands_still = false;
    usleep(2100000);
    return result;
}

/* A program closes its files a moment before it has ended. */
TEST(ends_while_we_stand_still)
{
    stands_still = true;
    lines("read -r line; exec 3>&-; sleep 0.1; exit 7");
    expect(LATER_RETRY);
    ck_assert(!stands_still);
    expect_error("the program died: exit status 7");
}

TEST(ends_slowly)
{
    is_slow = true;
    lines("read -r line; exec 3>&-; sleep 0.8; exit 7");
    expect(LATER_RETRY);
    expect_error("the program died: exit status 7");
}

TEST(closed_input)
{
    large_job(1 << 20); /* does not fit into the pipe */
    lines("head -c 10 >/dev/null; exec <&-; sleep 60");
    expect(LATER_RETRY);
    expect_error("the program was ended, since it closed its standard input");
}

TEST(cannot_run)
{
    char path[] = "/tmp/later-exec-XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    ck_assert_int_eq(write(fd, "#!/bin/sh\n", 10), 10);
    ck_assert_int_eq(fchmod(fd, 0755), 0);
    close(fd);
    option("it.argv.0", path);
    option("it.lines", "true");
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), 0);
    unlink(path);
    ck_assert_int_eq(fake_job_perform(plugin, job), LATER_RETURN);
    ck_assert_msg(strstr(job->error, "could not be run: No such file") != NULL, "%s", job->error);
}

/* It answers and dies: the answer counts, and the next job has a fresh one, without delay. */
TEST(answers_and_dies)
{
    double begun = later_clock();

    lines("read -r line; " DONE "; exit 1");
    for (int i = 0; i < 15; i++) {
        again(LATER_DONE);
        usleep(20000);
    }
    ck_assert_msg(later_clock() - begun < 40, "%f",
                  later_clock() - begun); /* growing delays would last 46 s */
}

/* What it answers last counts without a newline, too: the work is done. */
static const struct {
    const char *end;
    enum later_result result;
} last_lines[] = {
    { "printf '{\"id\":\"job-1\",\"result\":\"done\"}' >&3; exit 0", LATER_DONE },
    { "printf '{\"id\":\"job-1\",\"result\":\"bury\"}' >&3; kill -9 $$", LATER_BURY },
    { "printf '{\"id\":\"job-1\",\"result\":\"done\"} ' >&3; exec 3>&-; sleep 60", LATER_DONE },
    { "printf '{\"id\":\"job-1\",\"result\":\"done\"' >&3; exit 0", LATER_RETRY }, /* cut */
};

TEST_EACH(answers_without_newline, COUNT(last_lines))
{
    char text[200];

    snprintf(text, sizeof text, "read -r line; %s", last_lines[_i].end);
    lines(text);
    expect(last_lines[_i].result);
    if (last_lines[_i].result == LATER_RETRY)
        ck_assert_int_eq(job->kind, LATER_KIND_CRASH);
}

/* A job that a program has not read is not charged for its death. */
static const char *const unread[] = { "exit 0", "exit 1", "kill -9 $$", "exec <&-; exit 0",
                                      "echo 'no module of that name' >&2; exit 1" };

TEST_EACH(unread_is_given_back, COUNT(unread))
{
    lines(unread[_i]);
    expect(LATER_RETURN);
    ck_assert_msg(strstr(job->error, "it ends before it has read a job: ") != NULL, "%s",
                  job->error);
    ck_assert_double_gt(job->retry_in, 0);
    ck_assert_double_le(job->retry_in, 5);
}

/* More than the pipe holds: what was written tells what it has not read. */
TEST(unread_large)
{
    large_job(1 << 20);
    lines("exit 1");
    expect(LATER_RETURN);
}

TEST(read_in_part_is_charged)
{
    lines("head -c 10 >/dev/null; exit 1");
    expect(LATER_RETRY);
    expect_error("the program died: exit status 1");
}

/* It ends after each job, at any moment: the next job has a fresh one, within the same attempt. */
TEST(ends_after_each)
{
    lines("read -r line; " DONE "; exit 0");
    for (int i = 0; i < 200; i++)
        again(LATER_DONE);
}

/* A program that says that it ends gets no more jobs, and is not killed. */
TEST(last)
{
    lines("read -r line; " ANSWER("\"result\":\"done\",\"last\":true") "; echo leaving; exit 0");
    for (int i = 0; i < 20; i++)
        again(LATER_DONE);
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
    ck_assert_ptr_null(strstr(fake.log, "ended between two jobs"));
}

/* The line that says what was wrong goes first, since a line of `later` has room for no more. */
static const struct {
    const char *said, *kept;
} said_last[] = {
    /* Python: it is the last one */
    { "Traceback:\n  File \"a.py\", line 7\napp.errors.NotFoundError: bad",
      "app.errors.NotFoundError: bad\nTraceback:\n  File \"a.py\", line 7" },
    /* Node: above its stack and its version */
    { "/a.mjs:1\nx = ;\n    ^\n\nSyntaxError: odd\n    at b (c:1)\n\nNode.js v18.1.0",
      "SyntaxError: odd\n/a.mjs:1\nx = ;\n    ^\n\nSyntaxError: odd\n    at b (c:1)\n\nNode.js "
      "v18.1.0" },
    { "a:1\nError [ERR_X]: odd\n    at b {\n  code: 7\n}\n\nNode.js v18.1.0",
      "Error [ERR_X]: odd\na:1\nError [ERR_X]: odd\n    at b {\n  code: 7\n}\n\nNode.js "
      "v18.1.0" },
    /* others stay as they are: it is there already, it was printed before, it is none */
    { "a.rb:1: bad (RuntimeError)\n    from b", "a.rb:1: bad (RuntimeError)\n    from b" },
    { "ValueError: bad\n    in b", "ValueError: bad\n    in b" },
    { "a\nValueError: bad\nb", "a\nValueError: bad\nb" },
    { "a\nErrors: 7", "a\nErrors: 7" },
};

TEST_EACH(error_line, COUNT(said_last))
{
    char text[600], kept[600];

    snprintf(text, sizeof text, "read -r line; cat >&2 <<'END'\n%s\nEND\nexit 1",
             said_last[_i].said);
    snprintf(kept, sizeof kept, "the program died: exit status 1: %s", said_last[_i].kept);
    lines(text);
    expect(LATER_RETRY);
    expect_error(kept);
}

/* What it prints as it dies is kept: several lines, cut at a whole character. */
TEST(traceback)
{
    lines("read -r line; echo 'Traceback:'; echo '  line 7' >&2; "
          "printf 'ValueError: bad\\nthing\\n' >&2; exit 1");
    expect(LATER_RETRY);
    expect_error("the program died: exit status 1: Traceback:\n  line 7\nValueError: bad\nthing");
}

TEST(long_traceback)
{
    lines(
        "read -r line; i=0; while [ $i -lt 700 ]; do printf '\303\244'; i=$((i+1)); done; exit 1");
    expect(LATER_RETRY);
    ck_assert_uint_le(strlen(job->error), 1000);
    ck_assert_uint_ge(strlen(job->error), 990);
    ck_assert_ptr_nonnull(strstr(job->error, "exit status 1: \303\244\303\244"));
}

static unsigned bytes_in(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? (unsigned)st.st_size : 0;
}

/* Its jobs do not wait here for the next start, and of many starts one is logged. */
TEST(no_hot_loop)
{
    char path[] = "/tmp/later-exec-XXXXXX", text[200];
    int fd = mkstemp(path);
    double begun = later_clock();
    unsigned jobs = 0;
    const char *said;

    ck_assert_int_ne(fd, -1);
    snprintf(text, sizeof text, "printf x >>%s; echo last words >&2; exit 1", path);
    lines(text);
    for (; bytes_in(fd) < 4 && later_clock() < begun + 60; jobs++)
        again(LATER_RETURN); /* without a pause, which on a busy machine may be as long as a wait */
    ck_assert_uint_eq(bytes_in(fd), 4);
    ck_assert_uint_gt(jobs, 8);
    ck_assert_msg(later_clock() - begun >= 0.65, "%f",
                  later_clock() - begun); /* 0.1, 0.2, 0.4 s after each other */
    /* As the program's, or as that of the job which it was to have. */
    said = strstr(fake.log, ": last words\n");
    ck_assert_ptr_nonnull(said);
    ck_assert_msg(!strstr(said + 1, ": last words\n"), "%s", fake.log);
    close(fd);
    unlink(path);
}

/* What it printed last is kept, as of one that dies later. */
TEST(last_words)
{
    lines("i=0; while [ $i -lt 200 ]; do echo \"line $i\"; i=$((i+1)); done; echo the end; exit 1");
    expect(LATER_RETURN);
    ck_assert_uint_ge(strlen(job->error), 990);
    ck_assert_msg(strstr(job->error, "it ends before it has read a job: exit status 1: ") ==
                      job->error,
                  "%s", job->error);
    ck_assert_str_eq(job->error + strlen(job->error) - 7, "the end");
}

static const char *const read_only[] = {
    "read -r line; echo \"[Errno 30] Read-only file system: '/srv/x'\"; exit 1",
    "read -r line; " ANSWER("\"result\":\"retry\",\"error\":\"EROFS: read-only file system\""),
    "echo \"[Errno 30] Read-only file system: '/srv/x'\"; exit 1",
};

TEST_EACH(sandbox_hint, COUNT(read_only))
{
    lines(read_only[_i]);
    expect(_i < 2 ? LATER_RETRY : LATER_RETURN);
    ck_assert_msg(strstr(job->error, ": is that the sandbox? laterd(8), SANDBOX"), "%s",
                  job->error);
}

/* ---- its start */

EXEC_CASE("starting");

/* It is handed nothing before its hello. */
TEST(says_hello)
{
    char path[] = "/tmp/later-exec-XXXXXX", text[400];
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    snprintf(text, sizeof text,
             "{ sleep 0.3; echo x >%s; echo '{\"hello\":1,\"types\":[]}' >&3; } & "
             "while IFS= read -r line; do [ -s %s ] || exit 1; " DONE "; done",
             path, path);
    lines(text);
    option("it.hello", "true");
    for (int i = 0; i < 3; i++)
        again(LATER_DONE);
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
    close(fd);
    unlink(path);
}

/* What it printed while it started is not forgotten when its first job comes. */
TEST(last_words_before_its_job)
{
    lines("echo no licence; echo '{\"hello\":1,\"types\":[]}' >&3; sleep 0.3; exit 1");
    option("it.hello", "true");
    expect(LATER_RETURN);
    expect_error("it ends before it has read a job: exit status 1: no licence");
}

#define LATE_LINE "warn it: it said no hello within 1 s, and is ended\n"

TEST(says_no_hello)
{
    unsigned said = 0;

    lines("echo importing >&2; sleep 60 & wait");
    option("it.hello", "true");
    option("it.start_max", "1");
    expect(LATER_RETURN);
    /* If it stands still for that second it prints nothing, and another one is started. */
    for (int i = 0; i < 400 && !strstr(job->error, "importing"); i++) {
        usleep(50000);
        again(LATER_RETURN);
    }
    expect_error("it ends before it has read a job: it said no hello within 1 s, and is ended: "
                 "importing");
    for (const char *at = fake.log; (at = strstr(at, LATE_LINE)); at++)
        said++;
    ck_assert_uint_ge(said, 1);
    ck_assert_uint_eq(fake.logged[LATER_WARN], said);
}

/* Without that option its job comes when it begins to read, whole; its time begins then. */
TEST(starts_slowly)
{
    lines("sleep 0.5; while IFS= read -r line; do case $line in '{\"id\":\"job-1\",'*) " DONE
          ";; *) exit 1;; esac; done");
    job->timeout = 300;
    for (int i = 0; i < 3; i++)
        again(LATER_DONE);
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
}

/* One that never reads gets its job all the same, and is charged for nothing that it has not read.
 */
TEST(never_reads)
{
    lines("sleep 60 & wait");
    option("it.start_max", "1");
    job->timeout = 3;
    expect(LATER_RETRY);
    ck_assert_int_eq(job->kind, LATER_KIND_TIMEOUT);
}

/* No job came: its input ends with a whole line. */
TEST(no_job_came)
{
    char path[] = "/tmp/later-exec-XXXXXX", text[300], got[64] = "";
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    snprintf(text, sizeof text, "cat >%s", path);
    lines(text);
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), 0);
    while (plugin->types[0].ready("exec.it") != LATER_YES)
        usleep(1000);
    plugin->stop();
    ck_assert_int_gt(read(fd, got, sizeof got - 1), 0);
    ck_assert_str_eq(got, "{\"id\":\"\",\"cancel\":true}\n");
    close(fd);
    unlink(path);
}

EXEC_CASE("ending");

TEST(timed_out)
{
    double begun = later_clock();

    each_line("echo hanging >&2; sleep 60 & wait; " DONE);
    job->timeout = 3;
    expect(LATER_RETRY);
    expect_error("timed out: hanging");
    ck_assert_int_eq(job->kind, LATER_KIND_TIMEOUT);
    ck_assert_msg(later_clock() - begun < 50, "%f", later_clock() - begun);
    ck_assert_msg(later_clock() - begun >= 2.3, "%f", later_clock() - begun);
}

/* Its process group is killed, even what ignores TERM. Nothing of it is left when the job ends. */
TEST(deaf_to_term)
{
    char path[] = "/tmp/later-exec-XXXXXX", text[200], pid[16] = "";
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    snprintf(text, sizeof text,
             "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >%s; while :; do sleep 0.1; done' & "
             "read -r line; wait; wait",
             path);
    lines(text);
    job->timeout = 3;
    expect(LATER_RETRY);
    expect_error("timed out");
    ck_assert_int_gt(read(fd, pid, sizeof pid - 1), 0);
    for (int i = 0; i < 500 && kill(atoi(pid), 0) == 0; i++) { /* dead, but perhaps not reaped */
        char status[64], state = 'R';
        FILE *file;

        snprintf(status, sizeof status, "/proc/%d/stat", atoi(pid));
        file = fopen(status, "r");
        if (!file || fscanf(file, "%*d %*s %c", &state) != 1 || state == 'Z')
            i = 500;
        if (file)
            fclose(file);
        ck_assert_int_ne(i, 499);
        usleep(10000);
    }
    close(fd);
    unlink(path);
}

TEST(cancelled)
{
    double begun = later_clock();

    each_line("sleep 60 & wait");
    job->cancelled = true;
    expect(LATER_RETRY);
    ck_assert_msg(strncmp(job->error, "cancelled", 9) == 0, "%s", job->error);
    ck_assert(later_clock() - begun < 50);
}

/* A program that listens for it gives the job up, and is still there for the next one. */
TEST(gives_up_when_asked)
{
    lines("read -r one; read -r two; case $two in *'\"id\":\"job-1\",\"cancel\":true'*) " ANSWER(
        "\"result\":\"retry\",\"error\":\"gave up\"") ";; esac; read -r three; " DONE "; cat");
    job->cancelled = true;
    expect(LATER_RETRY);
    /* Whoever stands still for the second that it has is ended, and another one is asked. */
    for (int i = 0; i < 5 && strncmp(job->error, "cancelled", 9) == 0; i++)
        again(LATER_RETRY);
    expect_error("gave up");
    job->cancelled = false;
    again(LATER_DONE);
}

/* Performs the job in a process that then gets TERM, and returns what its program has said to
 * `ends`. */
static void end_worker(const int ends[2], char said[32])
{
    int status = 0;
    pid_t worker;

    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), 0);
    worker = fork();
    if (worker == 0) {
        signal(SIGTERM, SIG_DFL); /* not what Check does then */
        fake_job_perform(plugin, job);
        _exit(0);
    }
    ck_assert_int_eq(read(ends[0], said, 4), 4);
    ck_assert_str_eq(said, "run\n");
    kill(worker, SIGTERM);
    ck_assert_int_eq(waitpid(worker, &status, 0), worker);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert_int_eq(read(ends[0], said, 4), 4);
}

/* The program hears of its worker's end before it: by an order, if its job was cancelled, as the
 * supervisor ends the worker of such a job at once; otherwise by TERM. */
TEST_EACH(worker_is_told_to_end, 2)
{
    static const struct {
        const char *script, *said;
        bool cancelled;
    } cases[] = {
        { "trap 'echo bye >&9; exit' TERM; read -r one; echo run >&9; while :; do sleep 0.05; done",
          "bye\n", false },
        { "read -r one; echo run >&9; read -r two; case $two in *cancel*) echo two >&9; "
          "esac; " ANSWER("\"result\":\"retry\""),
          "two\n", true },
    };
    char text[400], said[32] = "";
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    snprintf(text, sizeof text, "exec 9>/proc/%d/fd/%d; %s", (int)getpid(), ends[1],
             cases[_i].script);
    lines(text);
    job->cancelled = cases[_i].cancelled;
    end_worker(ends, said);
    ck_assert_str_eq(said, cases[_i].said);
    close(ends[0]);
    close(ends[1]);
}

/* After a job that was ended for its time, the next one finds a fresh program. */
TEST(goes_on_after_timeout)
{
    each_line("case $line in *'\"attempt\":1'*) sleep 60 & wait;; esac; " DONE);
    job->timeout = 3;
    expect(LATER_RETRY);
    job->attempt = 2;
    job->timeout = 300;
    again(LATER_DONE);
}

TEST(ended_politely)
{
    char path[] = "/tmp/later-exec-XXXXXX", text[200], said[16] = "";
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    snprintf(text, sizeof text, "while read -r line; do " DONE "; done; echo bye >%s", path);
    lines(text);
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_int_eq(read(fd, said, sizeof said - 1), 4);
    ck_assert_str_eq(said, "bye\n");
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    close(fd);
    unlink(path);
}

TEST(ended_by_term)
{
    double begun = later_clock();

    lines("read -r line; " DONE "; sleep 60 & wait");
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_msg(later_clock() - begun < 20, "%f", later_clock() - begun);
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

TEST(nothing_is_left_open)
{
    int before = folder_open_files();

    lines("read -r line; " DONE);
    option("it.recycle", "1");
    for (int i = 0; i < 20; i++)
        again(LATER_DONE);
    plugin->stop();
    ck_assert_int_eq(folder_open_files(), before);
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
