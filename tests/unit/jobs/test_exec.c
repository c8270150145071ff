/* test_exec.c: the exec plugin with real programs: what they get, and what comes back. */
#include "tests/unit/exec_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

EXEC_CASE("running");

TEST(document_on_standard_input)
{
    option("it.argv.0", "/bin/cat");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: {\"type\":\"exec.it\",\"payload\":{\"a\":[]}}\n");
    ck_assert_str_eq(job->error, "");
}

/* It can also be opened by name, and be read from its beginning. */
TEST(document_by_name)
{
    script("head -c 3; cat /dev/stdin");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: {\"t{\"type\":\"exec.it\",\"payload\":{\"a\":[]}}\n");
}

/* A program that writes to its standard input must not change the document. */
TEST(document_is_sealed)
{
    script("echo overwritten >&0 || exit 3");
    expect(LATER_RETRY);
    ck_assert_msg(strncmp(job->error, "exit status 3", 13) == 0, "%s", job->error);
}

TEST(no_shell)
{
    option("it.argv.0", "/bin/echo");
    option("it.argv.1", "$HOME; `id` {\"a\":[]}");
    option("it.argv.2", "*");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: $HOME; `id` {\"a\":[]} *\n");
}

static const struct {
    const char *script;
    enum later_result result;
    const char *error;
} ends[] = {
    { "exit 0", LATER_DONE, "" },
    { "echo fine >&2", LATER_DONE, "" },
    { "echo bad data; exit 65", LATER_BURY, "exit status 65: bad data" },
    { "echo not now >&2; exit 75", LATER_RETURN, "exit status 75: not now" },
    { "exit 1", LATER_RETRY, "exit status 1" },
    { "echo; echo ' '; exit 1", LATER_RETRY, "exit status 1" },
    { "echo out; echo err >&2; exit 255", LATER_RETRY, "exit status 255: out\nerr" },
    { "kill -9 $$", LATER_RETRY, "killed by signal 9 (Killed)" },
    { "echo ouch; kill -11 $$", LATER_RETRY, "killed by signal 11 (Segmentation fault): ouch" },
    { "kill -TERM $$", LATER_RETRY, "killed by signal 15 (Terminated)" },
    { "printf 'a\\0b\\n'; exit 2", LATER_RETRY, "exit status 2: a?b" },
};

TEST_EACH(how_it_ends, COUNT(ends))
{
    script(ends[_i].script);
    expect(ends[_i].result);
    ck_assert_str_eq(job->error, ends[_i].error);
}

TEST(bin_false)
{
    option("it.argv.0", "/bin/false");
    expect(LATER_RETRY);
    ck_assert_str_eq(job->error, "exit status 1");
}

TEST(environment)
{
    setenv("SECRET", "of the worker", 1);
    option("it.argv.0", "/usr/bin/env");
    option("it.env.KEY", "v=1");
    option("it.env.HOME", "/root");
    option("it.env.LATER_REDIS_URL", "unix:/r"); /* it pushes: laterd does not say where Redis is */
    job->id = "j-7";
    job->queue = "mail";
    job->attempt = 3;
    job->trace = "t=9";
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: PATH=/usr/local/bin:/usr/bin:/bin\n"
                               "debug output: LANG=C\n"
                               "debug output: LATER_ID=j-7\n"
                               "debug output: LATER_TYPE=exec.it\n"
                               "debug output: LATER_QUEUE=mail\n"
                               "debug output: LATER_ATTEMPT=3\n"
                               "debug output: LATER_TRACE=t=9\n"
                               "debug output: KEY=v=1\n"
                               "debug output: HOME=/root\n"
                               "debug output: LATER_REDIS_URL=unix:/r\n");
}

/* A file of the test's own with these lines and this mode. */
static void write_env_file(char path[32], const char *lines, mode_t mode)
{
    FILE *file;
    int fd;

    strcpy(path, "/tmp/exec_env.XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    file = fdopen(fd, "w");
    fputs(lines, file);
    fclose(file);
}

TEST(environment_of_a_file)
{
    char path[32];

    write_env_file(path,
                   "# the mail server's\n\nPASSWORD=a \"b\"=c \nKEY=of the file\nLAST=", 0640);
    option("it.argv.0", "/usr/bin/env");
    option("it.env_file", path);
    option("it.env.KEY", "of the configuration");
    expect(LATER_DONE);
    ck_assert_ptr_nonnull(strstr(fake.log, "debug output: KEY=of the configuration\n"
                                           "debug output: PASSWORD=a \"b\"=c \n"
                                           "debug output: LAST=\n"));
    ck_assert_ptr_null(strstr(fake.log, "of the file"));
    unlink(path);
}

/* The content of a file, its mode, and the refusal after its path. */
static const struct {
    const char *lines;
    mode_t mode;
    const char *refusal;
} bad_env_files[] = {
    { "A=1\nB\n", 0600, ":2: must be NAME=VALUE, a comment (#) or empty" },
    { "A B=1\n", 0600, ":1: not a variable's name: letters, digits and _ only" },
    { "\nLATER_ID=x", 0600,
      ":2: variables that begin with LATER_ are set by laterd, except LATER_REDIS_*" },
    { "A=1\n", 0644, ": others may read or change it (mode 0644); chmod o-rwx it" },
};

TEST_EACH(bad_environment_file, COUNT(bad_env_files))
{
    char path[32], expected[200];

    write_env_file(path, bad_env_files[_i].lines, bad_env_files[_i].mode);
    option("it.argv.0", "/usr/bin/env");
    option("it.env_file", path);
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), -1);
    snprintf(expected, sizeof expected, "it: env_file %s%s", path, bad_env_files[_i].refusal);
    ck_assert_str_eq(fake.refusal, expected);
    unlink(path);
}

TEST(environment_without_trace)
{
    option("it.argv.0", "/usr/bin/env");
    expect(LATER_DONE);
    ck_assert_ptr_nonnull(strstr(fake.log, "debug output: HOME=/\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "debug output: LATER_TRACE=\n"));
    ck_assert_uint_eq(fake.logged[LATER_DEBUG], 8);
}

TEST_EACH(directory, 2)
{
    option("it.argv.0", "/bin/pwd");
    if (_i)
        option("it.dir", "/usr/bin");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, _i ? "debug output: /usr/bin\n" : "debug output: /\n");
}

static void dirty_process(void)
{
    int fd = open("/dev/null", O_RDONLY), high = fcntl(fd, F_DUPFD, 500);
    sigset_t usr1;

    ck_assert(fd != -1 && high >= 500);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
}

TEST(no_signals_and_no_privileges)
{
    dirty_process();
    /* Signals 32 and 33 are glibc's own. They may be ignored since before the tests were started,
     * and signal(2) does not touch them. */
    option("it.argv.0", "/bin/sed");
    option("it.argv.1", "-nE");
    option("it.argv.2", "s/^(SigIgn:\t0000000)[01]8/\\100/; /^(Sig(Blk|Ign)|NoNewPrivs)/p");
    option("it.argv.3", "/proc/self/status");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: SigBlk:\t0000000000000000\n"
                               "debug output: SigIgn:\t0000000000000000\n"
                               "debug output: NoNewPrivs:\t1\n");
}

TEST(no_descriptors)
{
    dirty_process();
    script("ls /proc/$$/fd");
    expect(LATER_DONE);
    ck_assert_str_eq(fake.log, "debug output: 0\ndebug output: 1\ndebug output: 2\n");
}

TEST(the_process_group_of_the_worker)
{
    char expected[64];

    option("it.argv.0", "/usr/bin/cut");
    option("it.argv.1", "-d ");
    option("it.argv.2", "-f5");
    option("it.argv.3", "/proc/self/stat");
    expect(LATER_DONE);
    snprintf(expected, sizeof expected, "debug output: %d\n", (int)getpgrp());
    ck_assert_str_eq(fake.log, expected);
}

/* With all of 0, 1, 2 closed in the worker the pipes get those numbers at first. */
TEST(without_standard_files)
{
    int saved[3], closed = 0;

    option("it.argv.0", "/bin/cat");
    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        closed += close(fd) == 0;
    }
    fake_job_perform(plugin, job);
    for (int fd = 0; fd < 3; fd++) {
        if (saved[fd] != -1)
            dup2(saved[fd], fd), close(saved[fd]);
    }
    ck_assert_int_gt(closed, 0);
    ck_assert_int_eq(job->result, LATER_DONE);
    ck_assert_uint_eq(fake.logged[LATER_DEBUG], 1);
}

enum { MEBI = 1 << 20 };

/* The document has 29 bytes more. Programs that read all, nothing, or read only after they have
 * written much. */
static const struct {
    const char *script, *log;
} large[] = {
    { "wc -c", "debug output: 1048605\n" },
    { "exit 0", "" },
    { "exec <&-; echo closed", "debug output: closed\n" },
    { "head -c 1048576 /dev/zero | tr '\\0' x; echo; wc -c", "debug output: 1048605\n" },
    { "cat; echo; echo end", "debug output: end\n" },
    { "head -c 1 >/dev/null; echo some", "debug output: some\n" },
};

TEST_EACH(large_document, COUNT(large))
{
    size_t len = strlen(large[_i].log);

    large_job(MEBI);
    script(large[_i].script);
    expect(LATER_DONE);
    ck_assert_uint_ge(fake.log_len, len);
    ck_assert_str_eq(fake.log + fake.log_len - len, large[_i].log);
}

/* The end of a long output is kept. */
TEST(long_output)
{
    const char *tail = "99999\n100000";

    script("seq 1 100000; exit 1");
    expect(LATER_RETRY);
    ck_assert_uint_eq(strlen(job->error), 1000);
    ck_assert_int_eq(strncmp(job->error, "exit status 1: ", 15), 0);
    ck_assert_str_eq(job->error + 1000 - strlen(tail), tail);
}

/* How it writes, how much of it is kept, and what. */
static const struct {
    const char *script, *max, *error;
} kept[] = {
    { "printf abc; printf defg; printf 'hi\\n'; exit 1", "0", "exit status 1" },
    { "printf abc; printf defg; printf 'hi\\n'; exit 1", "5", "exit status 1: fghi" },
    { "printf abc; printf defg; printf 'hi\\n'; exit 1", "16", "exit status 1: abcdefghi" },
    { "printf 0123456789; exit 1", "4", "exit status 1: 6789" },
    { "printf 0123456789; exit 1", "10", "exit status 1: 0123456789" },
    { "printf 01; sleep 0.1; printf 23; sleep 0.1; printf 45; exit 1", "3", "exit status 1: 345" },
};

TEST_EACH(output_max, COUNT(kept))
{
    script(kept[_i].script);
    option("it.output_max", kept[_i].max);
    expect(LATER_RETRY);
    ck_assert_str_eq(job->error, kept[_i].error);
}

/* What it writes just before its end is still read. */
/* What it prints goes where what we print goes, and nowhere else. */
TEST(output_of_ours)
{
    int out = dup(STDOUT_FILENO), both[2];
    char text[16] = "";

    option("it.inherit", "true");
    script("echo out; exit 3");
    fflush(stdout);
    ck_assert_int_eq(pipe(both), 0);
    ck_assert_int_eq(dup2(both[1], STDOUT_FILENO), STDOUT_FILENO);
    expect(LATER_RETRY);
    dup2(out, STDOUT_FILENO);
    close(both[1]);
    ck_assert_int_eq(read(both[0], text, sizeof text - 1), 4);
    ck_assert_str_eq(text, "out\n");
    ck_assert_str_eq(job->error, "exit status 3");
    close(both[0]);
    close(out);
}

TEST(output_at_the_end)
{
    script("exec dd if=/dev/zero bs=60000 count=1 status=none");
    expect(LATER_DONE);
    ck_assert_uint_eq(fake.log_len, strlen("debug output: \n") + 60000);
}

/* The error does not begin in the middle of a character. */
TEST(output_in_utf8)
{
    script("yes \xe2\x82\xac | head -n 2000 | tr -d '\\n'; exit 1");
    expect(LATER_RETRY);
    ck_assert_int_eq(strncmp(job->error, "exit status 1: \xe2\x82\xac\xe2\x82\xac", 21), 0);
    ck_assert_uint_ge(strlen(job->error), 998);
}
