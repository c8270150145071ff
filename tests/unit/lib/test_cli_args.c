/* test_cli_args.c: the pure parts of `later`: its command line, times as people write them,
 * lines. */
#include "tests/unit/../../cli/args.h"
#include "tests/unit/../../cli/lines.h"
#include "tests/unit/../../cli/text.h"

#include "base/duration.h"
#include "cron/instant.h"
#include "trouble/say.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- args --- */

static const struct args_option global[] = {
    { "redis", 0, "URL", "" },
    { "json", 0, NULL, "" },
    { 0 },
};
static const struct args_option own[] = {
    { "queue", 'q', "Q", "" },
    { "yes", 'y', NULL, "" },
    { "priority", 0, "N", "" },
    { "wait", 'w', "[DURATION]", "" },
    { 0 },
};
static const struct args_option *const tables[] = { global, own };

static struct args args;
static struct later_error err;
static char *argv[16];
static int argc;

/* Splits a command line at its spaces into argv. */
static void split(const char *line)
{
    static char copy[256];

    snprintf(copy, sizeof copy, "later %s", line);
    argc = 0;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
}

/* Finds the command and sorts the rest. */
static int parse(const char *line, bool program)
{
    split(line);
    return args_parse(&args, argc, argv, args_command(argc, argv, tables, 2), global, own, program,
                      &err);
}

static void check_words(const char *wanted)
{
    char got[256] = "";

    for (int i = 0; i < args.count; i++)
        strcat(strcat(got, i ? " " : ""), args.words[i]);
    ck_assert_str_eq(got, wanted);
    ck_assert_ptr_null(args.words[args.count]);
}

CASE("args", NULL, NULL);

TEST_EACH(options_may_stand_anywhere, 5)
{
    static const char *const lines[] = {
        "push a b -q mail --json --priority 5",         "-q mail push a --priority=5 --json b",
        "--json --priority 5 -qmail push a b",          "push --queue mail a --priority 5 b --json",
        "--queue=mail --json push --priority=5 a -- b",
    };

    ck_assert_int_eq(parse(lines[_i], false), 0);
    check_words("a b");
    ck_assert_str_eq(args_text(&args, "queue"), "mail");
    ck_assert_str_eq(args_text(&args, "priority"), "5");
    ck_assert(args_flag(&args, "json"));
    ck_assert(!args_flag(&args, "yes"));
    ck_assert_ptr_null(args_text(&args, "redis"));
}

TEST_EACH(the_command_is_the_first_word, 12)
{
    static const struct {
        const char *line;
        int place;
    } cases[] = {
        { "push a", 1 },         { "--json push", 2 },
        { "--redis push", 0 },   { "--redis=x push", 2 },
        { "-q push pop", 3 },    { "-qpush pop", 2 },
        { "--json", 0 },         { "", 0 },
        { "--unknown push", 2 }, { "-- push", 2 },
        { "-y -y push", 3 },     { "--", 0 },
    };

    split(cases[_i].line);
    ck_assert_int_eq(args_command(argc, argv, tables, 2), cases[_i].place);
}

TEST(numbers_and_a_dash_are_words)
{
    ck_assert_int_eq(parse("push t -5 -0 - -1e5", false), 0);
    check_words("t -5 -0 - -1e5");
}

TEST(an_option_takes_the_next_word_as_it_is)
{
    ck_assert_int_eq(parse("push --priority -5 -q --json t", false), 0);
    ck_assert_str_eq(args_text(&args, "priority"), "-5");
    ck_assert_str_eq(args_text(&args, "queue"), "--json");
    ck_assert(!args_flag(&args, "json"));
    check_words("t");
}

TEST_EACH(a_value_that_need_not_be_there, 7)
{
    static const struct {
        const char *line, *value, *words;
    } cases[] = {
        { "push a --wait", "", "a" },       { "push a --wait 5m {}", "5m", "a {}" },
        { "push a --wait {}", "", "a {}" }, { "push --wait=x a", "x", "a" },
        { "push --wait -y a", "", "a" },    { "--wait 5 push a", "5", "a" },
        { "--wait push -w7 a", "7", "a" },
    };

    ck_assert_int_eq(parse(cases[_i].line, false), 0);
    ck_assert_str_eq(args_text(&args, "wait"), cases[_i].value);
    check_words(cases[_i].words);
}

TEST(the_last_one_wins)
{
    ck_assert_int_eq(parse("push -q a --queue b -qc", false), 0);
    ck_assert_str_eq(args_text(&args, "queue"), "c");
    ck_assert_int_eq(parse("push --queue= t", false), 0);
    ck_assert_str_eq(args_text(&args, "queue"), "");
}

TEST(what_is_given_later)
{
    ck_assert_int_eq(parse("push -q a t", false), 0);
    ck_assert_int_eq(args_give(&args, "queue", "b", &err), 0);
    ck_assert_int_eq(args_give(&args, "priority", "1", &err), 0);
    ck_assert_int_eq(args_give(&args, "priority", "2", &err), 0);
    ck_assert_str_eq(args_text(&args, "queue"), "a");
    ck_assert_str_eq(args_text(&args, "priority"), "1");
    ck_assert_uint_eq(args.given_count, 4);
    ck_assert_str_eq(args.given[3].value, "2");
    while (args.given_count < ARGS_GIVEN_MAX)
        ck_assert_int_eq(args_give(&args, "yes", "", &err), 0);
    ck_assert_int_eq(args_give(&args, "yes", "", &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
}

TEST(behind_two_dashes_stands_a_program)
{
    ck_assert_int_eq(parse("work q -y -- cmd -q --json", true), 0);
    check_words("q");
    ck_assert(args_flag(&args, "yes"));
    ck_assert(!args_flag(&args, "json"));
    ck_assert_str_eq(args.program[0], "cmd");
    ck_assert_str_eq(args.program[2], "--json");
    ck_assert_ptr_null(args.program[3]);
    ck_assert_int_eq(parse("work q", true), 0);
    ck_assert_ptr_null(args.program);
    ck_assert_int_eq(parse("work q --", true), 0);
    ck_assert_ptr_null(args.program[0]);
    ck_assert_int_eq(parse("push a -- -b --json", false), 0);
    check_words("a -b --json");
    ck_assert_ptr_null(args.program);
}

TEST_EACH(what_is_wrong_is_said, 10)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        { "push --quue x", "no option --quue; did you mean --queue?" },
        { "push --jsno", "no option --jsno; did you mean --json?" },
        { "push --quue=x", "no option --quue=x; did you mean --queue?" },
        { "push --xyzzy", "no option --xyzzy" },
        { "push -x", "no option -x" },
        { "push -yq", "no option -yq" },
        { "push -q", "--queue needs Q" },
        { "push --priority", "--priority needs N" },
        { "push --yes=no", "--yes takes no value" },
        { "push --que x", "no option --que; did you mean --queue?" },
    };

    ck_assert_int_eq(parse(cases[_i].line, false), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_str_eq(err.text, cases[_i].text);
}

TEST_EACH(the_nearest_name, 12)
{
    static const char *const names[] = { "push", "pause", "purge", "size", "reserve", "release" };
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        { "psuh", "push" },       { "pus", "push" },
        { "pushh", "push" },      { "purg", "purge" },
        { "sizes", "size" },      { "resrve", "reserve" },
        { "relaese", "release" }, { "x", NULL },
        { "quit", NULL },         { "", NULL },
        { "push", "push" },       { "a-word-that-is-much-longer-than-any-name", NULL },
    };
    const char *nearest = args_nearest(cases[_i].word, names, 6);

    if (cases[_i].nearest)
        ck_assert_pstr_eq(nearest, cases[_i].nearest);
    else
        ck_assert_ptr_null(nearest);
}

TEST_SIGNAL(asking_for_what_there_is_not_is_a_fault, SIGABRT)
{
    parse("push", false);
    fclose(stderr);
    args_text(&args, "nothing");
}

/* --- text --- */

CASE("text", NULL, NULL);

TEST_EACH(durations, 11)
{
    static const struct {
        const char *word;
        double seconds;
    } cases[] = {
        { "90", 90 },           { "90s", 90 }, { "5m", 300 },      { "2h", 7200 }, { "1d", 86400 },
        { "1.5", 1.5 },         { "0", 0 },    { "0.001", 0.001 }, { "1.5m", 90 }, { "00090", 90 },
        { "3650d", 315360000 },
    };
    double seconds = -1;

    ck_assert_int_eq(later_duration(cases[_i].word, "--in", &seconds, &err), 0);
    ck_assert_double_eq_tol(seconds, cases[_i].seconds, 1e-9);
}

TEST_EACH(no_durations, 19)
{
    static const char *const words[] = { "",
                                         "s",
                                         "-1",
                                         "+1",
                                         "1.",
                                         ".5",
                                         "5y",
                                         "1 m",
                                         " 1",
                                         "1s ",
                                         "1ms",
                                         "1e3",
                                         "nan",
                                         "inf",
                                         "1,5",
                                         "0x10",
                                         "1m1",
                                         "4000d",
                                         "99999999999999999999999999" };
    double seconds;

    ck_assert_int_eq(later_duration(words[_i], "--in", &seconds, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "--in: "));
}

/* The seconds are those of date(1): `date -u -d WORD +%s`. */
TEST_EACH(times, 14)
{
    static const struct {
        const char *word;
        double seconds;
    } cases[] = {
        { "0", 0 },
        { "1767225600", 1767225600 },
        { "1767225600.25", 1767225600.25 },
        { "1970-01-01T00:00:00Z", 0 },
        { "2026-01-01T00:00:00Z", 1767225600 },
        { "2026-01-01t00:00:00z", 1767225600 },
        { "2026-01-01 00:00:00Z", 1767225600 },
        { "2026-01-01T00:00:00.5Z", 1767225600.5 },
        { "2026-01-01T01:00:00+01:00", 1767225600 },
        { "2025-12-31T18:30:00-05:30", 1767225600 },
        { "2024-02-29T12:00:00Z", 1709208000 },
        { "2000-02-29T00:00:00Z", 951782400 },
        { "2016-12-31T23:59:60Z", 1483228800 },
        { "2099-12-31T23:59:59Z", 4102444799 },
    };
    double seconds = -1;

    ck_assert_int_eq(later_instant_read(cases[_i].word, "--at", &seconds, &err), 0);
    ck_assert_double_eq_tol(seconds, cases[_i].seconds, 1e-6);
}

TEST_EACH(no_times, 23)
{
    static const char *const words[] = { "",
                                         "now",
                                         "-5",
                                         "1e9",
                                         "2026-01-01",
                                         "2026-01-01T00:00:00",
                                         "2026-13-01T00:00:00Z",
                                         "2026-00-01T00:00:00Z",
                                         "2026-02-29T00:00:00Z",
                                         "2100-02-29T00:00:00Z",
                                         "2026-01-32T00:00:00Z",
                                         "2026-01-01T24:00:00Z",
                                         "2026-01-01T00:60:00Z",
                                         "2026-01-01T00:00:61Z",
                                         "2026-01-01T00:00:5Z",
                                         "2026-01-01T00:00:005Z",
                                         "2026-01-01T00:00:00.Z",
                                         "2026-01-01T00:00:00+0100",
                                         "2026-01-01T00:00:00+24:00",
                                         "2026-01-01T00:00:00Zx",
                                         "26-01-01T00:00:00Z",
                                         "1970-01-01T00:00:00+01:00",
                                         "1767225600000" };
    double seconds;

    ck_assert_int_eq(later_instant_read(words[_i], "--at", &seconds, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
}

TEST(numbers)
{
    int64_t number;

    ck_assert_int_eq(text_number("-100", "N", -100, 100, &number, &err), 0);
    ck_assert_int_eq(number, -100);
    ck_assert_int_eq(text_number("007", "N", 0, 10, &number, &err), 0);
    ck_assert_int_eq(number, 7);
    for (size_t i = 0; i < 9; i++) {
        static const char *const bad[] = { "",     "-",   "101",
                                           "-101", "1.0", " 1",
                                           "1 ",   "+1",  "9999999999999999999" };

        ck_assert_int_eq(text_number(bad[i], "N", -100, 100, &number, &err), -1);
    }
}

TEST_EACH(backoffs, 9)
{
    static const struct {
        const char *word, *json;
    } cases[] = {
        { "5", "5" },
        { "1,5m,2h", "[1,300,7200]" },
        { "0.5", "0.5" },
        { "[1, 2]", "[1, 2]" },
        { "{\"base\":1}", "{\"base\":1}" },
        { "7,", NULL },
        { "", NULL },
        { ",7", NULL },
        { "x", NULL },
    };
    char *json = text_backoff(cases[_i].word, &err);

    if (cases[_i].json)
        ck_assert_pstr_eq(json, cases[_i].json);
    else
        ck_assert_ptr_null(json);
    free(json);
}

TEST_EACH(for_people, 16)
{
    static const struct {
        double number;
        const char *real, *age;
    } cases[] = {
        { 0, "0", "0.0 s" },
        { 0.4, "0.4", "0.4 s" },
        { 12, "12", "12 s" },
        { 300, "300", "5.0 min" },
        { 11520, "11520", "3.2 h" },
        { 1036800, "1036800", "12 d" },
        { 1767225600.123456, "1767225600.123456", NULL },
        { 0.1234567, "0.123457", NULL },
        { -2.5, "-2.5", NULL },
        { -0.0000001, "0", NULL },
        { 1e10, "10000000000", NULL },
        { 9.5e12, "9500000000000", NULL },
        { -9.5e12, "-9500000000000", NULL },
        { 1e308, "1e+308", NULL },
        { INFINITY, "inf", NULL },
        { -INFINITY, "-inf", NULL },
    };
    char text[64];

    ck_assert_str_eq(text_put_real(text, sizeof text, cases[_i].number), cases[_i].real);
    if (cases[_i].age)
        ck_assert_str_eq(text_put_age(text, sizeof text, cases[_i].number), cases[_i].age);
}

TEST(bytes_and_dates_for_people)
{
    char text[64];

    ck_assert_str_eq(text_put_bytes(text, sizeof text, 1023), "1023 B");
    ck_assert_str_eq(text_put_bytes(text, sizeof text, 1536), "1.5 KiB");
    ck_assert_str_eq(text_put_bytes(text, sizeof text, 3 * 1048576), "3.0 MiB");
    ck_assert_str_eq(text_put_time(text, sizeof text, 1767225600.9), "2026-01-01T00:00:00Z");
    ck_assert_str_eq(text_put_time(text, sizeof text, 4102444799), "2099-12-31T23:59:59Z");
    ck_assert_str_eq(later_say_since(text, 4102444799, 4102358399), "2099-12-31 23:59 UTC");
    ck_assert_str_eq(later_say_since(text, 4102444799, 4102358400), "23:59 UTC");
    ck_assert_str_eq(text_put_time(text, sizeof text, -1), "-");
    ck_assert_str_eq(text_put_time(text, sizeof text, NAN), "-");
}

/* --- lines --- */

static int feed(const char *bytes, size_t len)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], bytes, len), (ssize_t)len);
    close(ends[1]);
    return ends[0];
}

CASE("lines", NULL, NULL);

TEST(lines_of_all_lengths)
{
    static const struct {
        const char *line;
        size_t len;
    } wanted[] = { { "one", 3 },  { "", 0 },      { "12345678", 8 },  { "123456789", 9 },
                   { "cr\r", 3 }, { "after", 5 }, { "abcdefghi", 9 }, { "end", 3 } };
    static const char bytes[] = "one\n\n12345678\n123456789 and far too long\ncr\r\nafter\n"
                                "abcdefghi\nend";
    struct lines lines;
    size_t len;

    lines_begin(&lines, feed(bytes, sizeof bytes - 1), 8);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *line = lines_next(&lines, &len);

        ck_assert_ptr_nonnull(line);
        ck_assert_uint_eq(len, wanted[i].len);
        ck_assert_mem_eq(line, wanted[i].line, len);
    }
    ck_assert_ptr_null(lines_next(&lines, &len));
    ck_assert_int_eq(lines.failed, 0);
    close(lines.fd);
    lines_end(&lines);
}

/* A line that is too long is passed over in bounded memory, and the next one is whole. */
TEST(lines_beyond_memory)
{
    FILE *file = tmpfile();
    struct lines lines;
    size_t len;

    for (int i = 0; i < 5000000; i++)
        putc('x', file);
    fputs("\nnext\n", file);
    for (int i = 0; i < 3000000; i++)
        putc('y', file);
    rewind(file);
    lines_begin(&lines, fileno(file), 1000);
    ck_assert_int_eq(*lines_next(&lines, &len), 'x');
    ck_assert_uint_eq(len, 1001);
    ck_assert_mem_eq(lines_next(&lines, &len), "next", 4);
    ck_assert_uint_eq(len, 4);
    ck_assert_int_eq(*lines_next(&lines, &len), 'y');
    ck_assert_uint_eq(len, 1001);
    ck_assert_ptr_null(lines_next(&lines, &len));
    ck_assert_uint_lt(lines.room, 400000);
    ck_assert_uint_eq(lines.bytes, 8000006);
    lines_end(&lines);
    fclose(file);
}

TEST(lines_that_are_not_there_yet)
{
    struct lines lines;
    size_t len;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    lines_begin(&lines, ends[0], 100);
    ck_assert(lines_would_wait(&lines));
    ck_assert_int_eq(write(ends[1], "a\nb\nc", 5), 5);
    ck_assert(!lines_would_wait(&lines));
    ck_assert_ptr_nonnull(lines_next(&lines, &len));
    ck_assert(!lines_would_wait(&lines));
    ck_assert_ptr_nonnull(lines_next(&lines, &len));
    ck_assert(lines_would_wait(&lines));
    ck_assert_int_eq(write(ends[1], "d", 1), 1); /* more of the line, but not its end */
    ck_assert(lines_would_wait(&lines));
    close(ends[1]);
    ck_assert(!lines_would_wait(&lines));
    ck_assert_mem_eq(lines_next(&lines, &len), "cd", 2);
    ck_assert_ptr_null(lines_next(&lines, &len));
    lines_end(&lines);
    close(ends[0]);
}

TEST(lines_of_what_cannot_be_read)
{
    struct lines lines;
    size_t len;

    lines_begin(&lines, -1, 100);
    ck_assert_ptr_null(lines_next(&lines, &len));
    ck_assert_int_ne(lines.failed, 0);
    lines_end(&lines);
}

/* --- */
