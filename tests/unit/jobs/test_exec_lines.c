/* test_exec_lines.c: the exec plugin with long-lived programs: lines in, lines out, deaths, time.
 */
#include "tests/unit/exec_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

EXEC_CASE("lines");

TEST(what_it_gets)
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
    each_line("printf '%s\\n' \"$line\" >&2; printf '%s\\n' "
              "'{\"id\":\"a\\\"b\\\\c\",\"result\":\"done\"}' >&3");
    expect(LATER_DONE);
    plugin->stop(); /* so that its standard error has been read */
    ck_assert_msg(strstr(fake.log, begin) != NULL, "%s", fake.log);
    ck_assert_msg(strstr(fake.log, end) != NULL, "%s", fake.log);
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
}

/* Each character of a name may be two in its line. */
TEST(the_longest_names)
{
    static char id[201], trace[257];

    memset(id, '"', 200);
    memset(trace, '\\', 256);
    job->id = id;
    job->trace = trace;
    job->attempt = 1000000;
    each_line("case $line in *'\\\\\"'*'}}') exit 7 ;; esac");
    expect(LATER_RETRY);
    expect_error("the program died: exit status 7");
}

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
    { "\"result\":\"bury\",\"error\":\"bad\",\"in\":5", LATER_BURY, "bad", -1 },
    { "\"result\":\"done\",\"in\":5", LATER_DONE, "", -1 },
    { "\"result\":\"return\",\"error\":\"deploying\",\"in\":9", LATER_RETURN, "deploying", 9 },
    { "\"result\":\"DONE\"", LATER_RETRY,
      "the program answered with result \"DONE\": done, retry, bury or return", -1 },
    { "\"x\":1", LATER_RETRY, "the program answered with result \"\": done, retry, bury or return",
      -1 },
};

TEST_EACH(what_it_answers, COUNT(answers))
{
    char text[300];

    snprintf(text, sizeof text, "echo '{\"id\":\"job-1\",%s}' >&3", answers[_i].answer);
    each_line(text);
    expect(answers[_i].result);
    expect_error(answers[_i].error);
    ck_assert_double_eq(job->retry_in, answers[_i].in);
}

/* The error has the number of jobs, so that another process would be noticed. */
TEST(one_for_many)
{
    char expected[16];

    lines("n=0; while read -r line; do n=$((n+1)); "
          "echo '{\"id\":\"job-1\",\"result\":\"retry\",\"error\":\"'$n'\"}' >&3; done");
    for (int i = 1; i <= 100; i++) {
        again(LATER_RETRY);
        snprintf(expected, sizeof expected, "%d", i);
        expect_error(expected);
    }
}

TEST(recycled)
{
    static const char *const expected[] = { "1", "2", "3", "1", "2", "3", "1" };

    lines("n=0; while read -r line; do n=$((n+1)); "
          "echo '{\"id\":\"job-1\",\"result\":\"retry\",\"error\":\"'$n'\"}' >&3; done; echo bye");
    option("it.recycle", "3");
    for (int i = 0; i < COUNT(expected); i++) {
        again(LATER_RETRY);
        expect_error(expected[i]);
    }
    ck_assert_ptr_nonnull(strstr(fake.log, "info it: bye\n"));
    ck_assert_uint_eq(fake.logged[LATER_WARN], 0);
}

/* What names another job is skipped. */
TEST(of_another_job)
{
    each_line("for i in 1 2; do echo '{\"id\":\"job-2\",\"result\":\"bury\"}' >&3; done; " DONE);
    expect(LATER_DONE);
    ck_assert_ptr_nonnull(strstr(fake.log, "warn refused a line of it for another job than the "
                                           "present one: {\"id\":\"job-2\""));
    ck_assert_ptr_nonnull(strstr(fake.log, "warn refused 2 lines of it in all\n"));
    ck_assert_uint_eq(fake.logged[LATER_WARN], 2);
}

#define LINE(why) "its program answered with a line " why
#define JOB       "{\"id\":\"job-1\","

/* Answers that are not quite answers: each ends its job at once, before the good one behind it.
 * value: NULL = none. */
static const struct {
    const char *line;
    enum later_result result;
    const char *error, *value;
} odd[] = {
    { "hello", LATER_BURY, LINE("that is not JSON: hello"), NULL },
    { "", LATER_BURY, LINE("that is not JSON: "), NULL },
    { "[1]", LATER_BURY, LINE("that is not a JSON object: [1]"), NULL },
    { "\"done\"", LATER_BURY, LINE("that is not a JSON object: \"done\""), NULL },
    { "null ", LATER_BURY, LINE("that is not a JSON object: null "), NULL },
    { "{}", LATER_BURY, LINE("without an id: {}"), NULL },
    { "{\"id\":7,\"result\":\"done\"}", LATER_BURY,
      LINE("without an id: {\"id\":7,\"result\":\"done\"}"), NULL },
    { "{\"id\":\"job-1\"", LATER_BURY, LINE("that is not JSON: {\"id\":\"job-1\""), NULL },
    { "{\"id\":\"job-1", LATER_BURY, LINE("that is not JSON: {\"id\":\"job-1"), NULL },
    { JOB "\"result\":\"bury\",\"result\":\"done\"}", LATER_BURY,
      LINE("that has a member twice: " JOB "\"result\":\"bury\",\"result\":\"done\"}"), NULL },
    { JOB "\"result\":done}", LATER_BURY, LINE("that is not JSON: " JOB "\"result\":done}"), NULL },
    { JOB "\"value\":[1}", LATER_BURY, LINE("that is not JSON: " JOB "\"value\":[1}"), NULL },
    { JOB "\"value\":[1,", LATER_BURY, LINE("that is not JSON: " JOB "\"value\":[1,"), NULL },
    { JOB "\"value\":\"cut", LATER_BURY, LINE("that is not JSON: " JOB "\"value\":\"cut"), NULL },
    { JOB "\"result\":\"done\"", LATER_DONE, "", NULL },
    { JOB "\"result\":\"done\",}", LATER_DONE, "", NULL },
    { JOB "\"result\":\"done\"}}", LATER_DONE, "", NULL },
    { JOB "\"result\":\"done\",\"value\":[1,2", LATER_DONE, "", NULL },
    { JOB "\"result\":\"done\",\"value\":1,\"value\":2}", LATER_DONE, "", NULL },
    { JOB "\"result\":\"done\",\"value\":[19.99,100.1]}", LATER_DONE, "", "[19.99,100.1]" },
    { JOB "\"result\":\"done\",\"value\":12345678901234567890}", LATER_DONE, "",
      "12345678901234567890" },
    { JOB "\"value\":-0.10e+5,\"result\":\"done\"}", LATER_DONE, "", "-0.10e+5" },
    { JOB "\"result\":\"done\",\"value\":1e400}", LATER_DONE, "", "1e400" },
    { JOB "\"result\":\"done\",\"value\":NaN}", LATER_DONE, "", "NaN" },
    { JOB "\"result\":\"done\",\"value\":-Infinity }", LATER_DONE, "", "-Infinity" },
    { JOB "\"result\":\"done\",\"value\":\"a\\u0000b\"}", LATER_DONE, "", "\"a\\u0000b\"" },
    { JOB "\"result\":\"done\",\"value\":\"\\ud800\"}", LATER_DONE, "", "\"\\ud800\"" },
    { JOB "\"result\":\"done\",\"value\":{\"a\": [1, \"]\\\"}\"]} }", LATER_DONE, "",
      "{\"a\": [1, \"]\\\"}\"]}" },
    { JOB "\"result\":\"retry\",\"error\":\"a\\u0000b\"}", LATER_RETRY, "a?b", NULL },
    { JOB "\"result\":\"bury\",\"error\":\"half \\ud800\"}", LATER_BURY, "half \\ud800", NULL },
    { JOB "\"result\":\"bury\",\"error\":\"odd\",\"done\":true}", LATER_BURY, "odd", NULL },
    { JOB "\"result\":\"retry\",\"error\":\"busy\",\"done\":true}", LATER_RETRY, "busy", NULL },
    { JOB "\"result\":\"bury\",\"error\":[1]}", LATER_BURY, "the program gave no reason", NULL },
    { JOB "\"result\":\"retry\",\"error\":\"busy\",\"in\":Infinity}", LATER_RETRY, "busy", NULL },
    { JOB "\"result\":\"return\",\"error\":\"busy\",\"in\":1e999}", LATER_RETURN, "busy", NULL },
    { JOB "\"result\":\"bury\",\"error\":\"bad\",\"more\":nope}", LATER_BURY, "bad", NULL },
};

/* Nobody asked for a value: only what could not tell it is done all the same. */
TEST_EACH(nobody_wants_the_value, 2)
{
    fake.value_answer = LATER_NO;
    if (_i)
        each_line("echo '" JOB "\"result\":\"bury\",\"error\":\"odd\",\"done\":true}' >&3");
    else
        each_line("echo '" JOB "\"result\":\"bury\",\"error\":\"odd\"}' >&3");
    expect(_i ? LATER_DONE : LATER_BURY);
    expect_error(_i ? "" : "odd");
}

TEST_EACH(ends_at_once, COUNT(odd))
{
    char text[400];

    snprintf(text, sizeof text, "cat <<'X' >&3\n%s\nX\n" DONE, odd[_i].line);
    each_line(text);
    expect(odd[_i].result);
    expect_error(odd[_i].error);
    ck_assert_double_eq(job->retry_in, -1);
    ck_assert_uint_eq(job->values, odd[_i].value != NULL);
    ck_assert_str_eq(job->value, odd[_i].value ? odd[_i].value : "");
}

/* Before the answer: these end nothing. */
static const char *const notes[] = {
    "{\"hello\":1,\"types\":[{\"name\":\"mail.*\"}]}",
    "{\"hello\":1}",
    "{\"hello\":1,\"types\":NaN",
    "{\"log\":\"info\",\"text\":\"\\ud800\"}",
    "{\"log\":\"info\",",
    JOB "\"progress\":{\"done\":1}}",
    JOB "\"checkpoint\":{\"done\":1}}",
    JOB "\"progress\":{\"text\":\"\\ud800\"}}",
};

TEST_EACH(ends_nothing, COUNT(notes))
{
    char text[300];

    snprintf(text, sizeof text, "cat <<'X' >&3\n%s\nX\n" DONE, notes[_i]);
    each_line(text);
    expect(LATER_DONE);
    ck_assert_ptr_null(strstr(fake.log, "without an id"));
}

/* Whatever a program prints, on either stream, whole or in part, itself or through a child, before
 * or after its answer: each job is done once. */
static const struct {
    const char *before, *after;
} prints[] = {
    { "echo hello; ", "" },
    { "printf '10%'; ", "" },
    { "printf hello >&2; ", "" },
    { "", "; echo hello" },
    { "", "; printf hello" },
    { "echo; ", "; echo" },
    { "echo '{\"id\":\"job-1\",\"result\":\"bury\"}'; ", "" },
    { "echo '{\"id\":\"job-1\",\"result\":\"bury\"}' >&2; ", "" },
    { "printf '{\"id\":\"job-1\",'; ", "" },
    { "printf '\\000\\001\\377'; ", "" },
    { "head -c 300000 /dev/zero; ", "" },
    { "head -c 300000 /dev/zero | tr '\\0' '\\n'; ", "" },
    { "head -c 5000 /dev/zero | tr '\\0' x >&2; ", "" },
    { "sh -c 'echo child; echo child >&2'; ", "" },
    { "sh -c 'printf child' & ", "; wait" },
    { "sh -c 'echo {}'; ", "; sh -c 'echo {}'" },
    { "printf '\\303'; ", "; printf '\\244\\n'" },
    { "printf '\\r10%\\r20%'; ", "" },
    { "printf '\\033[2J'; ", "" },
    { "echo '<0>emergency'; ", "" },
};

TEST_EACH(printing_is_harmless, COUNT(prints))
{
    char text[400];

    snprintf(text, sizeof text, "%s%s%s", prints[_i].before, DONE, prints[_i].after);
    each_line(text);
    for (int i = 0; i < 5; i++)
        again(LATER_DONE);
    ck_assert_ptr_null(strstr(fake.log, "refused"));
}

static const struct {
    const char *print, *logged;
} levels[] = {
    { "<3>disk", "error output: disk\n" },
    { "<4>disk", "warn output: disk\n" },
    { "<6>disk", "info output: disk\n" },
    { "<7>disk", "debug output: disk\n" },
    { "\033[38;5;3m[Nest]\033[39m \033[1;32mLOG\033[0m", "info output: [Nest] LOG\n" },
    { "\033[31m<3>disk\033[0m", "error output: disk\n" },
    { "half\033[31", "info output: half\n" },
    { "a\033b\033[", "info output: a\033b\n" },
    { "<8>disk", "info output: <8>disk\n" },
    { "disk", "info output: disk\n" },
    { "{\"level\":\"error\",\"msg\":\"x\"}", "error output: {\"level\":\"error\"" },
    { "{\"level\":\"WARNING\"}", "warn output: {" },
    { "{\"level\":20,\"msg\":\"pino\"}", "debug output: {" },
    { "{\"level\":50}", "error output: {" },
    { "{\"level\":[]}", "info output: {" },
    { "{\"level\":", "info output: {" },
};

TEST_EACH(levels_of_lines, COUNT(levels))
{
    char text[200];

    snprintf(text, sizeof text, "echo '%s'; sleep 0.05; " DONE, levels[_i].print);
    each_line(text);
    expect(LATER_DONE);
    plugin->stop(); /* so that its output has been read */
    ck_assert_msg(strstr(fake.log, levels[_i].logged) != NULL, "%s", fake.log);
}

TEST(says_it_on_3)
{
    each_line("echo '{\"log\":\"warn\",\"id\":\"job-1\",\"text\":\"of the job\"}' >&3; "
              "echo '{\"log\":\"error\",\"text\":\"of all\"}' >&3; "
              "echo '{\"log\":\"half done\",\"id\":\"job-1\",\"text\":\"info\"}' >&3; "
              "echo '{\"id\":\"job-1\",\"progress\":{\"done\":3,\"total\":9}}' >&3; " DONE);
    expect(LATER_DONE);
    ck_assert_ptr_nonnull(strstr(fake.log, "warn of the job\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "error it: of all\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "info half done: info\n")); /* no level is lost */
    ck_assert(job->done == 3 && job->total == 9);
}

TEST(gives_back)
{
    each_line(
        "echo '{\"id\":\"job-1\",\"result\":\"done\",\"value\":{\"a\": [1, \"\\u00e9\"]}}' >&3");
    expect(LATER_DONE);
    ck_assert_uint_eq(job->values, 1);
    ck_assert_str_eq(job->value, "{\"a\": [1, \"\\u00e9\"]}");
}

TEST(gives_back_nothing)
{
    each_line("echo '{\"id\":\"job-1\",\"result\":\"bury\",\"value\":1}' >&3");
    expect(LATER_BURY);
    ck_assert_uint_eq(job->values, 0);
}

/* It gets the checkpoint as it was left, and leaves another, by itself or with its answer. */
TEST(goes_on)
{
    job->resumes = "{\"page\": 3}";
    each_line("case $line in *',\"checkpoint\":{\"page\": 3},'*) ;; *) exit 9 ;; esac; "
              "echo '{\"id\":\"job-1\",\"checkpoint\":{\"page\":4}}' >&3; " DONE);
    expect(LATER_DONE);
    ck_assert_str_eq(job->checkpoint, "{\"page\":4}");
}

TEST(leaves_it_with_its_answer)
{
    each_line("echo '{\"id\":\"job-1\",\"result\":\"return\",\"in\":0,\"checkpoint\":[5]}' >&3");
    expect(LATER_RETURN);
    ck_assert_str_eq(job->checkpoint, "[5]");
    ck_assert_str_eq(job->error, "");
    ck_assert_double_eq(job->retry_in, 0);
}

#define TELL "printf '{\"id\":\"job-1\",\"result\":\"done\",\"value\":[%s]}\\n' \"$told\" >&3; "

/* Only a program whose hello asks for it is told that laterd stops. */
TEST(told_of_a_stop)
{
    job->stopping = true;
    lines("echo '{\"hello\":1,\"stopping\":true}' >&3; read -r line; read -r told; " TELL
          "read -r line");
    expect(LATER_DONE);
    ck_assert_str_eq(job->value, "[{\"id\":\"job-1\",\"stopping\":true}]");
}

TEST(not_told_of_a_stop)
{
    job->stopping = true;
    lines("echo '{\"hello\":1}' >&3; read -r line; told=$(timeout 1 head -n 1); " TELL
          "read -r line");
    expect(LATER_DONE);
    ck_assert_str_eq(job->value, "[]");
}

/* A line that is too long still says whose it is, if that comes first. */
TEST(line_too_long)
{
    each_line("{ printf '{\"id\":\"job-1\",\"result\":\"done\",\"value\":\"'; "
              "head -c 1000000 /dev/zero | tr '\\0' x; echo '\"}'; } >&3");
    expect(LATER_DONE);
    ck_assert_uint_eq(job->values, 0);
    ck_assert_ptr_nonnull(strstr(fake.log,
                                 "error done without its value: its program answered with "
                                 "a line longer than 131072 bytes: {\"id\""));
    again(LATER_DONE);
}

/* What it needs came first, so the rest is of no use, but it is not skipped in silence. */
TEST(rest_of_a_line)
{
    each_line("{ printf '{\"id\":\"job-1\",\"result\":\"done\",\"value\":1,\"more\":\"'; "
              "head -c 1000000 /dev/zero | tr '\\0' x; echo '\"}'; } >&3");
    expect(LATER_DONE);
    ck_assert_uint_eq(job->values, 1);
    ck_assert_ptr_nonnull(
        strstr(fake.log,
               "warn it: skipped the rest of a line longer than 131072 bytes: {\"id\":\"job-1\""));
    again(LATER_DONE);
}

TEST(line_too_long_of_nobody)
{
    each_line("{ head -c 1000000 /dev/zero | tr '\\0' x; echo; } >&3; " DONE);
    expect(LATER_BURY);
    ck_assert_msg(strncmp(job->error, LINE("longer than 131072 bytes: xxx"), 60) == 0, "%s",
                  job->error);
}

/* A second answer is no answer to the job's next attempt. */
TEST(second_answer)
{
    /* Both in one write, so that the second is in the pipe when the first is read. */
    lines("read -r l; printf '{\"id\":\"job-1\",\"result\":\"%s\"}\\n' done bury >&3; "
          "read -r l; " DONE "; read -r l");
    expect(LATER_DONE);
    again(LATER_DONE);
    ck_assert_ptr_nonnull(strstr(fake.log, "warn it: refused a line, it has no job: {\"id\""));
}

/* It writes much before it reads, and gets much before it writes. */
TEST(large_both_ways)
{
    large_job(1 << 20);
    each_line("yes '{\"log\":\"debug\",\"text\":\"x\"}' | head -c 297000 >&3; head -c "
              "300000 /dev/zero | tr '\\0' e; "
              "echo '{\"id\":\"job-1\",\"result\":\"retry\",\"error\":\"'${#line}'\"}' >&3");
    expect(LATER_RETRY);
    ck_assert_msg(atoi(job->error) > 1 << 20, "%s", job->error);
}

TEST(log_lines)
{
    each_line("echo one >&2; printf two >&2; " DONE "; exit 0");
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_ptr_nonnull(strstr(fake.log, "one\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "two\n"));
}

TEST(environment)
{
    lines("env >&2; read -r line; " DONE);
    option("it.env.KEY", "v=1");
    expect(LATER_DONE);
    plugin->stop();
    ck_assert_ptr_nonnull(strstr(fake.log, "LATER_TYPE=exec.it\n"));
    ck_assert_ptr_nonnull(strstr(fake.log, "KEY=v=1\n"));
    ck_assert_ptr_null(strstr(fake.log, "LATER_ID="));
}

static const struct {
    const char *key, *value, *refusal;
} bad_options[] = {
    { "it.lines", "yes", "must be true or false" },
    { "it.lines", "1", "must be true or false" },
    { "it.recycle", "-1", "must be a number from 0 to 1000000000" },
    { "it.recycle", "1000000001", "must be a number from 0 to 1000000000" },
    { "it.recycle", "", "must be a number from 0 to 1000000000" },
    { "it.parallel", "10001", "must be a number from 0 to 10000" },
    { "it.parallel", "5", "it: parallel is for long-lived programs only" },
    { "it.programs", "0", "must be a number from 1 to 64" },
    { "it.programs", "2", "it: programs goes with parallel" },
    { "it.hello", "1", "must be true or false" },
    { "it.hello", "true", "it: hello is for long-lived programs only" },
    { "it.start_max", "0", "must be a number from 1 to 3600" },
    { "it.recycle", "5", "it: recycle is for long-lived programs only" },
};

TEST_EACH(refused_options, COUNT(bad_options))
{
    option("it.argv.0", "/bin/cat");
    ck_assert_int_eq(
        fake_configure(plugin, bad_options[_i].key, bad_options[_i].value, (char *)NULL), -1);
    ck_assert_msg(strstr(fake.refusal, bad_options[_i].refusal) != NULL, "%s", fake.refusal);
}

TEST(refused_together)
{
    option("it.argv.0", "/bin/cat");
    option("it.inherit", "true");
    ck_assert_int_eq(fake_configure(plugin, "it.lines", "true", (char *)NULL), -1);
    ck_assert_msg(strstr(fake.refusal, "inherit is not for long-lived") != NULL, "%s",
                  fake.refusal);
}
