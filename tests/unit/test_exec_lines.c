/* test_exec_lines.c: the exec plugin with long-lived programs: lines in, lines out, deaths, time.
 */
#include "exec_fixture.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* exec.it shall be sh -c TEXT, long-lived. */
static void lines(const char *text)
{
    script(text);
    option("it.lines", "true");
}

/* As `lines`, for each line of input. */
static void each(const char *text)
{
    char whole[2000];

    snprintf(whole, sizeof whole, "while IFS= read -r line; do %s; done", text);
    lines(whole);
}

/* Performs the job once more. */
static void again(enum later_result result)
{
    job->ended = false;
    job->error[0] = '\0';
    expect(result);
}

static void same_error(const char *error)
{
    ck_assert_msg(strcmp(job->error, error) == 0, "\"%s\", not \"%s\"", job->error, error);
}

#define ANSWER(rest) "echo '{\"id\":\"job-1\"," rest "}'"
#define DONE         ANSWER("\"result\":\"done\"")

START_TEST(what_it_gets)
{
    const char *begin =
        "output: {\"id\":\"a\\\"b\\\\c\",\"type\":\"exec.it\",\"queue\":\"mail\",\"attempt\":3,"
        "\"max_attempts\":25,\"time_left\":";
    const char *end =
        ",\"trace\":\"t\\\"9\",\"document\":{\"type\":\"exec.it\",\"payload\":{\"n\": "
        " 12345678901234567890,  \"s\":\"a\\nb\" }}}\n";

    fake_job_free(job);
    job = fake_job_new("exec.it", "{\"n\": \n12345678901234567890,\r\n\"s\":\"a\\nb\"\n}");
    job->id = "a\"b\\c";
    job->queue = "mail";
    job->attempt = 3;
    job->trace = "t\"9";
    each("printf '%s\\n' \"$line\" >&2; printf '%s\\n' "
         "'{\"id\":\"a\\\"b\\\\c\",\"result\":\"done\"}'");
    expect(LATER_DONE);
    plugin->stop(); /* so that its standard error has been read */
    ck_assert_msg(strstr(fake.log, begin) != NULL, "%s", fake.log);
    ck_assert_msg(strstr(fake.log, end) != NULL, "%s", fake.log);
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
}
END_TEST

static const struct {
    const char *answer;
    enum later_result result;
    const char *error;
    double in;
} answers[] = {
    { "\"result\":\"done\"", LATER_DONE, "", -1 },
    { "\"result\":\"done\",\"error\":\"none\",\"new\":[1]", LATER_DONE, "", -1 },
    { "\"result\":\"retry\",\"error\":\"busy\"", LATER_RETRY, "busy", -1 },
    { "\"result\":\"retry\",\"error\":\"busy\",\"in\":1.5", LATER_RETRY, "busy", 1.5 },
    { "\"result\":\"retry\",\"in\":0", LATER_RETRY, "the program gave no reason", 0 },
    { "\"result\":\"retry\",\"in\":1e300", LATER_RETRY, "the program gave no reason", 315360000 },
    { "\"result\":\"retry\",\"in\":-5", LATER_RETRY, "the program gave no reason", -1 },
    { "\"result\":\"bury\",\"error\":\"bad %s\"", LATER_BURY, "bad %s", -1 },
    { "\"result\":\"DONE\"", LATER_RETRY,
      "the program answered with result \"DONE\": done, retry or bury", -1 },
    { "\"x\":1", LATER_RETRY, "the program answered with result \"\": done, retry or bury", -1 },
};

START_TEST(what_it_answers)
{
    char text[300];

    snprintf(text, sizeof text, "echo '{\"id\":\"job-1\",%s}'", answers[_i].answer);
    each(text);
    expect(answers[_i].result);
    same_error(answers[_i].error);
    ck_assert_double_eq(job->retry_in, answers[_i].in);
}
END_TEST

/* The number of jobs is told in the error, so that another process would be noticed. */
START_TEST(one_for_many)
{
    char expected[16];

    lines("n=0; while read -r line; do n=$((n+1)); "
          "echo '{\"id\":\"job-1\",\"result\":\"retry\",\"error\":\"'$n'\"}'; done");
    for (int i = 1; i <= 100; i++) {
        again(LATER_RETRY);
        snprintf(expected, sizeof expected, "%d", i);
        same_error(expected);
    }
}
END_TEST

START_TEST(recycled)
{
    static const char *const expected[] = { "1", "2", "3", "1", "2", "3", "1" };

    lines("n=0; while read -r line; do n=$((n+1)); "
          "echo '{\"id\":\"job-1\",\"result\":\"retry\",\"error\":\"'$n'\"}'; done; echo bye >&2");
    option("it.recycle", "3");
    for (int i = 0; i < COUNT(expected); i++) {
        again(LATER_RETRY);
        same_error(expected[i]);
    }
    ck_assert_ptr_nonnull(strstr(fake.log, "info it: bye\n"));
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
}
END_TEST

static const struct {
    const char *line, *why;
} refused[] = {
    { "hello", "not JSON: hello" },
    { "[1]", "not a JSON object: [1]" },
    { "{}", "without id: {}" },
    { "{\"id\":7,\"result\":\"bury\"}", "without id: " },
    { "{\"id\":\"job-2\",\"result\":\"bury\"}", "for another job than the present one: " },
    { "{\"id\":\"job-1\",\"result\":\"bury\",\"result\":\"done\"}", "not JSON: " },
    { "", "not JSON: \n" },
};

START_TEST(lines_refused)
{
    char text[300], expected[100];

    snprintf(text, sizeof text, "echo '%s'; echo '%s'; %s", refused[_i].line, refused[_i].line,
             DONE);
    each(text);
    expect(LATER_DONE);
    snprintf(expected, sizeof expected, "warn refused a line of it: %s", refused[_i].why);
    ck_assert_msg(strstr(fake.log, expected) != NULL, "%s", fake.log);
    ck_assert_ptr_nonnull(strstr(fake.log, "warn refused 2 lines of it in all\n"));
    ck_assert_uint_eq(fake.logged[LATER_WARN], 2);
}
END_TEST

START_TEST(line_too_long)
{
    each("head -c 1000000 /dev/zero | tr '\\0' x; echo; " DONE);
    expect(LATER_DONE);
    ck_assert_ptr_nonnull(
        strstr(fake.log, "warn refused a line of it: longer than 65536 bytes: xx"));
    again(LATER_DONE);
}
END_TEST

/* A second answer is no answer to the job's next attempt. */
START_TEST(second_answer)
{
    lines("read -r l; " DONE "; " ANSWER("\"result\":\"bury\"") "; read -r l; " DONE "; read -r l");
    expect(LATER_DONE);
    usleep(100000); /* nothing tells when the line is in the pipe */
    again(LATER_DONE);
    ck_assert_ptr_nonnull(strstr(fake.log, "warn it: refused a line, it has no job: {\"id\""));
}
END_TEST

/* It writes much before it reads, and gets much before it writes. */
START_TEST(large_both_ways)
{
    large_job(1 << 20);
    each("head -c 300000 /dev/zero | tr '\\0' '\\n'; head -c 300000 /dev/zero | tr '\\0' e >&2; "
         "echo '{\"id\":\"job-1\",\"result\":\"retry\",\"error\":\"'${#line}'\"}'");
    expect(LATER_RETRY);
    ck_assert_msg(atoi(job->error) > 1 << 20, "%s", job->error);
}
END_TEST

START_TEST(log_lines)
{
    each("echo one >&2; printf two >&2; " DONE "; exit 0");
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_ptr_nonnull(strstr(fake.log, "one\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "two\n"));
}
END_TEST

static const struct {
    const char *script, *error;
} deaths[] = {
    { "exit 3", "the program died: exit status 3" },
    { "echo first >&2; echo last >&2; exit 3", "the program died: exit status 3: last" },
    { "read -r line; printf cut >&2; exit 0", "the program died: exit status 0: cut" },
    { "read -r line; kill -9 $$", "the program died: killed by signal 9 (Killed)" },
    { "read -r line; echo ouch >&2; kill -11 $$",
      "the program died: killed by signal 11 (Segmentation fault): ouch" },
    { "exec >&-; sleep 60", "the program was ended, since it closed its standard output" },
};

START_TEST(how_it_dies)
{
    double begun = now();

    lines(deaths[_i].script);
    expect(LATER_RETRY);
    same_error(deaths[_i].error);
    ck_assert_msg(now() - begun < 10, "%f", now() - begun);
}
END_TEST

START_TEST(closed_input)
{
    large_job(1 << 20); /* does not fit into the pipe */
    lines("exec <&-; sleep 60");
    expect(LATER_RETRY);
    same_error("the program was ended, since it closed its standard input");
}
END_TEST

START_TEST(cannot_run)
{
    char path[] = "/tmp/later-exec-XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    ck_assert_int_eq(fchmod(fd, 0755), 0);
    close(fd);
    option("it.argv.0", path);
    option("it.lines", "true");
    ck_assert_int_eq(plugin->config_done(fake.refusal, sizeof fake.refusal), 0);
    unlink(path);
    ck_assert_int_eq(fake_job_perform(plugin, job), LATER_RETRY);
    ck_assert_msg(strstr(job->error, "could not be run: No such file") != NULL, "%s", job->error);
}
END_TEST

/* It answers and dies: the answer counts, and the next job has a fresh one, without delay. */
START_TEST(answers_and_dies)
{
    double begun = now();

    lines("read -r line; " DONE "; exit 1");
    for (int i = 0; i < 10; i++) {
        again(LATER_DONE);
        usleep(20000);
    }
    ck_assert_msg(now() - begun < 10, "%f", now() - begun);
}
END_TEST

/* Starts after 0, 0.1, 0.2, 0.4, 0.8 seconds. */
START_TEST(no_hot_loop)
{
    double begun = now();

    lines("exit 1");
    for (int i = 0; i < 5; i++)
        again(LATER_RETRY);
    ck_assert_msg(now() - begun >= 1.45, "%f", now() - begun);
}
END_TEST

START_TEST(timed_out)
{
    double begun = now();

    each("echo hanging >&2; sleep 60 & wait; " DONE);
    job->timeout = 1;
    expect(LATER_RETRY);
    same_error("timed out: hanging");
    ck_assert_msg(now() - begun < 10, "%f", now() - begun);
    ck_assert_msg(now() - begun >= 0.8, "%f", now() - begun);
}
END_TEST

/* Its process group goes, also what is deaf to TERM: nothing of it is left when the job ends. */
START_TEST(deaf_to_term)
{
    char path[] = "/tmp/later-exec-XXXXXX", text[200], pid[16] = "";
    int fd = mkstemp(path);

    ck_assert_int_ne(fd, -1);
    snprintf(text, sizeof text,
             "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >%s; while :; do sleep 0.1; done' & "
             "read -r line; wait; wait",
             path);
    lines(text);
    job->timeout = 1;
    expect(LATER_RETRY);
    same_error("timed out");
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
END_TEST

START_TEST(cancelled)
{
    double begun = now();

    each("sleep 60");
    job->cancelled = true;
    expect(LATER_RETRY);
    ck_assert_msg(strncmp(job->error, "cancelled", 9) == 0, "%s", job->error);
    ck_assert(now() - begun < 10);
}
END_TEST

/* The job after one that was ended for its time finds a fresh program. */
START_TEST(goes_on_after_timeout)
{
    each("case $line in *'\"attempt\":1'*) sleep 60 & wait;; esac; " DONE);
    job->timeout = 0.5;
    expect(LATER_RETRY);
    job->attempt = 2;
    job->timeout = 300;
    again(LATER_DONE);
}
END_TEST

START_TEST(ended_politely)
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
END_TEST

START_TEST(ended_by_term)
{
    double begun = now();

    lines("read -r line; " DONE "; sleep 60 & wait");
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_msg(now() - begun < 20, "%f", now() - begun);
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
END_TEST

START_TEST(environment)
{
    lines("env >&2; read -r line; " DONE);
    option("it.env.KEY", "v=1");
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_ptr_nonnull(strstr(fake.log, "LATER_TYPE=exec.it\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "KEY=v=1\n"));
    ck_assert_ptr_null(strstr(fake.log, "LATER_ID="));
}
END_TEST

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

START_TEST(nothing_is_left_open)
{
    int before = open_files();

    lines("read -r line; " DONE);
    option("it.recycle", "1");
    for (int i = 0; i < 20; i++)
        again(LATER_DONE);
    plugin->stop();
    ck_assert_int_eq(open_files(), before);
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
END_TEST

static const struct {
    const char *key, *value, *refusal;
} bad_options[] = {
    { "it.lines", "yes", "must be true or false" },
    { "it.lines", "1", "must be true or false" },
    { "it.recycle", "-1", "must be a number of jobs" },
    { "it.recycle", "1000000001", "must be a number of jobs" },
    { "it.recycle", "", "must be a number of jobs" },
    { "it.recycle", "5", "it: recycle is for long-lived programs only" },
};

START_TEST(refused_options)
{
    option("it.argv.0", "/bin/cat");
    ck_assert_int_eq(
        fake_configure(plugin, bad_options[_i].key, bad_options[_i].value, (char *)NULL), -1);
    ck_assert_msg(strstr(fake.refusal, bad_options[_i].refusal) != NULL, "%s", fake.refusal);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("exec_lines");
    TCase *tc = tcase_create("lines"), *ends = tcase_create("ends");

    exec_fixture(tc);
    tcase_add_test(tc, what_it_gets);
    tcase_add_loop_test(tc, what_it_answers, 0, COUNT(answers));
    tcase_add_test(tc, one_for_many);
    tcase_add_test(tc, recycled);
    tcase_add_loop_test(tc, lines_refused, 0, COUNT(refused));
    tcase_add_test(tc, line_too_long);
    tcase_add_test(tc, second_answer);
    tcase_add_test(tc, large_both_ways);
    tcase_add_test(tc, log_lines);
    tcase_add_test(tc, environment);
    tcase_add_loop_test(tc, refused_options, 0, COUNT(bad_options));
    suite_add_tcase(s, tc);
    exec_fixture(ends);
    tcase_add_loop_test(ends, how_it_dies, 0, COUNT(deaths));
    tcase_add_test(ends, closed_input);
    tcase_add_test(ends, cannot_run);
    tcase_add_test(ends, answers_and_dies);
    tcase_add_test(ends, no_hot_loop);
    tcase_add_test(ends, timed_out);
    tcase_add_test(ends, deaf_to_term);
    tcase_add_test(ends, cancelled);
    tcase_add_test(ends, goes_on_after_timeout);
    tcase_add_test(ends, ended_politely);
    tcase_add_test(ends, ended_by_term);
    tcase_add_test(ends, nothing_is_left_open);
    suite_add_tcase(s, ends);
    return unit_run(s);
}
