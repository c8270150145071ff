/* test_log.c: the form of a line, whatever is in it; and that logging never blocks. */
#include "log.h"

#include "base/clock.h"
#include "fault.h"
#include "server_log.h"
#include "tests/support/comma.h"
#include "tests/unit/unit.h"

#include <event2/event.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096

/* Standard error of a test: the two ends. fds[1] is also STDERR_FILENO. */
static int fds[2], stderr_before;

static void take_stderr(void)
{
    fflush(stderr);
    stderr_before = dup(STDERR_FILENO);
    ck_assert_int_eq(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    ck_assert_int_eq(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
}

static void set_up_pipe(void)
{
    ck_assert_int_eq(pipe(fds), 0);
    take_stderr();
}

static void set_up_socket(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    take_stderr();
}

static void tear_down(void)
{
    dup2(stderr_before, STDERR_FILENO);
    log_open(LOG_INFO, false, NULL);
    close(stderr_before);
    if (fds[0] >= 0)
        close(fds[0]);
    close(fds[1]);
}

/* All that was written until now, NUL-terminated; lives until the next call. */
static char output[1 << 21];

static size_t read_output(void)
{
    size_t len = 0;
    ssize_t got;

    while ((got = read(fds[0], output + len, sizeof output - 1 - len)) > 0)
        len += (size_t)got;
    output[len] = '\0';
    return len;
}

/* The one line that was written, without its time: "info laterd: …". */
static const char *text_line(void)
{
    size_t len = read_output();

    ck_assert_uint_gt(len, 26);
    ck_assert_uint_le(len, LINE_MAX_BYTES);
    ck_assert_int_eq(output[len - 1], '\n');
    output[len - 1] = '\0';
    ck_assert_ptr_null(strchr(output, '\n'));
    ck_assert_int_eq(output[10], 'T'); /* 2024-01-02T03:04:05.678Z */
    ck_assert_str_eq(output + 23, strstr(output, "Z "));
    return output + 25;
}

/* The one line that was written, as an object; to be freed by json_decref(). */
static json_t *json_line(void)
{
    static const char controls[] =
        "\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13"
        "\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f";
    size_t len = read_output();
    json_error_t why;
    json_t *line;

    ck_assert_uint_gt(len, 1);
    ck_assert_uint_le(len, LINE_MAX_BYTES);
    ck_assert_int_eq(output[len - 1], '\n');
    output[len - 1] = '\0';
    ck_assert_ptr_null(strpbrk(output, controls));
    line = json_loadb(output, len - 1, JSON_REJECT_DUPLICATES, &why);
    ck_assert_msg(json_is_object(line), "%s: %s", why.text, output);
    return line;
}

static void check_member(const json_t *line, const char *name, const char *text)
{
    ck_assert_str_eq(json_string_value(json_object_get(line, name)), text);
}

/* ---- text */

CASE("text", set_up_pipe, tear_down);

TEST(test_text)
{
    const struct log_job job = { .id = "a1",
                                 .queue = "mail",
                                 .type = "mail.send",
                                 .trace = "has space",
                                 .attempt = 3,
                                 .ms = 12.3456 };

    log_open(LOG_INFO, false, "worker 3");
    log_line(LOG_WARN, "%d of %s", 5, "them");
    ck_assert_str_eq(text_line(), "warn worker 3: 5 of them");
    log_job(LOG_INFO, &job, "done");
    ck_assert_str_eq(text_line(), "info worker 3: done job=a1 queue=mail type=mail.send attempt=3 "
                                  "ms=12.346 trace=\"has space\"");
    log_job(LOG_ERROR, &(struct log_job){ .id = "q\"b\\", .ms = -1 }, "x");
    ck_assert_str_eq(text_line(), "error worker 3: x job=\"q\\\"b\\\\\"");
    log_job(LOG_ERROR, &(struct log_job){ .id = "", .trace = "a=b", .ms = -1 }, "x");
    ck_assert_str_eq(text_line(), "error worker 3: x job=\"\" trace=\"a=b\"");
}

/* systemd names the stream to its journal by device and inode. Any other stream is none. */
TEST(test_journal)
{
    static const char *const lines[] = { "<3>error x: it\n", "<4>warn x: it\n", "<6>info x: it\n",
                                         "<7>debug x: it\n" };
    char stream[64];
    struct stat st;

    ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
    for (unsigned other = 0; other < 2; other++) {
        snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)st.st_dev,
                 (unsigned long long)st.st_ino + other);
        ck_assert_int_eq(setenv("JOURNAL_STREAM", stream, 1), 0);
        log_open(LOG_DEBUG, false, "x");
        for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
            log_line((enum log_level)level, "it");
            read_output();
            if (other)
                ck_assert_str_eq(output + 25, strchr(lines[level], '>') + 1);
            else
                ck_assert_str_eq(output, lines[level]);
        }
    }
    unsetenv("JOURNAL_STREAM");
}

TEST(test_levels)
{
    static const enum log_level levels[] = { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

    for (size_t set = 0; set < 4; set++) {
        log_open(levels[set], false, "x");
        for (size_t i = 0; i < 4; i++) {
            ck_assert_int_eq(log_wants(levels[i]), i <= set);
            log_line(levels[i], "here");
            ck_assert_int_eq(read_output() > 0, i <= set);
        }
    }
}

/* No job can forge a line, ring a bell, colour a terminal, or turn its text around. */
TEST(test_text_hostile)
{
    log_open(LOG_INFO, false, "x");
    log_line(LOG_INFO, "a\nb\rc\x1b[31md\x07\x7f\te\x01");
    ck_assert_str_eq(text_line(), "info x: a b c?[31md?? e?");
    log_line(LOG_INFO, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"); /* letters stay */
    ck_assert_str_eq(text_line(), "info x: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    log_line(LOG_INFO, "\xff \xc3 \xe2\x82 \xed\xa0\x80 \xc0\x80"); /* what is no UTF-8 */
    ck_assert_ptr_null(strpbrk(text_line(), "\xff\xc3\xe2\xed\xc0"));
    log_line(LOG_INFO, "<\xc2\x9b"
                       "31m \xe2\x80\xae \xe2\x80\xa8 \xe2\x81\xa6>"); /* CSI, RLO, LS, LRI */
    ck_assert_str_eq(text_line(), "info x: <?31m ? ? ?>");
    log_job(LOG_INFO, &(struct log_job){ .trace = "a\nb \x1b\xc2\x85", .ms = -1 }, "x");
    ck_assert_str_eq(text_line(), "info x: x trace=\"a b ??\"");
}

TEST(test_text_long)
{
    static char words[10000];
    const struct log_job job = { .id = "the-id", .queue = "q", .type = "t", .ms = -1 };
    const char *line;

    memset(words, 'w', sizeof words - 1);
    log_open(LOG_INFO, false, "x");
    log_job(LOG_INFO, &job, "%s", words);
    line = text_line();
    ck_assert_uint_gt(strlen(line), 1900);
    ck_assert_ptr_nonnull(strstr(line, "www job=the-id queue=q type=t"));
}

/* A line of the embedded redis-server that is too long goes on in the next, and no byte is lost. */
TEST(test_server_long)
{
    static char words[2047];
    struct event_base *base = event_base_new();
    struct server_log *log = server_log_new(base);
    int from[2];

    memset(words, 'w', sizeof words);
    ck_assert_int_eq(pipe(from), 0);
    ck_assert_int_eq(write(from[1], words, sizeof words), sizeof words);
    ck_assert_int_eq(write(from[1], "the rest\n", 9), 9);
    close(from[1]);
    log_open(LOG_INFO, false, "x");
    server_log_read(log, from[0]);
    server_log_free(log);
    event_base_free(base);
    read_output();
    ck_assert_ptr_nonnull(strstr(output, "warn redis: www"));
    ck_assert_ptr_nonnull(strstr(output, "warn redis: the rest\n"));
}

/* ---- JSON */

CASE("json", set_up_pipe, tear_down);

TEST(test_json)
{
    const struct log_job job = { .id = "a1",
                                 .queue = "mail",
                                 .type = "mail.send",
                                 .trace = "t\"\\/",
                                 .attempt = 4294967295U,
                                 .ms = 0.0004 };
    json_t *line;

    log_open(LOG_INFO, true, "worker 3");
    log_job(LOG_WARN, &job, "say \"%s\"", "x\\y");
    line = json_line();
    ck_assert_uint_eq(json_object_size(line), 10);
    check_member(line, "level", "warn");
    check_member(line, "process", "worker 3");
    check_member(line, "text", "say \"x\\y\"");
    check_member(line, "job", "a1");
    check_member(line, "queue", "mail");
    check_member(line, "type", "mail.send");
    check_member(line, "trace", "t\"\\/");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "attempt")), 4294967295);
    ck_assert_double_eq(json_number_value(json_object_get(line, "ms")), 0);
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(line, "time"))), 24);
    json_decref(line);
    log_job(LOG_WARN, &(struct log_job){ .id = "a", .ms = (double)NAN }, "x");
    line = json_line();
    ck_assert_uint_eq(json_object_size(line), 5);
    json_decref(line);
    log_job(LOG_WARN, &(struct log_job){ .ms = (double)INFINITY }, "x");
    json_decref(json_line());
}

/* A plugin may have set a locale with a comma. */
TEST(test_json_in_a_locale)
{
    json_t *line;

    ck_assert(comma_begin());
    log_open(LOG_INFO, true, "x");
    log_job(LOG_INFO, &(struct log_job){ .ms = 1234.5 }, "x");
    comma_end();
    line = json_line();
    ck_assert_double_eq(json_number_value(json_object_get(line, "ms")), 1234.5);
    json_decref(line);
}

/* Each of these bytes, as words and as every member, alone and many of them. */
TEST(test_json_hostile)
{
    static const char *const pieces[] = {
        "\x01",         "\n",           "\"",           "\\",       "\x7f",
        "\xff",         "\xc3",         "\xc3\xa4",     "\xe2\x82", "\xe2\x82\xac",
        "\xed\xa0\x80", "\xf4\x90\x80", "\xf0\x9f\x98", "\xc2\x9b", "\xe2\x80\xae",
        "\xc0\x80",     "\xf8\x88",     "a\xe2",        "\\u0000",  "\xf0\x9f\x98\x80"
    };
    static char words[9000];

    log_open(LOG_INFO, true, "x");
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        for (size_t times = 1; times < 3000; times = times * 3 + i) {
            struct log_job job = { .attempt = 7, .ms = 1 };

            words[0] = '\0';
            for (size_t t = 0, at = 0; t < times && at + 8 < sizeof words; t++)
                at += (size_t)sprintf(words + at, "%s", pieces[i]);
            log_line(LOG_INFO, "%s", words);
            json_decref(json_line());
            words[1000] = '\0';
            job.id = job.queue = job.type = job.trace = words;
            log_job(LOG_INFO, &job, "%s", words);
            json_decref(json_line());
        }
    }
}

/* Random bytes, seeded: each line is JSON, and keeps its level. */
TEST(test_json_random)
{
    unsigned seed = 4711;
    char words[3][2500];

    log_open(LOG_INFO, true, "x");
    for (int round = 0; round < 3000; round++) {
        json_t *line;

        for (size_t w = 0; w < 3; w++) {
            size_t len = (size_t)rand_r(&seed) % (sizeof words[w] - 1);

            for (size_t i = 0; i < len; i++)
                words[w][i] = (char)(rand_r(&seed) % 255 + 1);
            words[w][len] = '\0';
        }
        log_job(LOG_ERROR, &(struct log_job){ .id = words[0], .trace = words[1], .ms = -1 }, "%s",
                words[2]);
        line = json_line();
        check_member(line, "level", "error");
        json_decref(line);
    }
}

/* A job's name is not lost after long words. */
TEST(test_json_long)
{
    static char words[10000];
    const struct log_job job = { .id = "the-id", .queue = "q", .type = "t", .trace = "r", .ms = 1 };
    json_t *line;

    memset(words, '"', sizeof words - 1); /* each becomes two */
    log_open(LOG_INFO, true, "x");
    log_job(LOG_INFO, &job, "%s", words);
    line = json_line();
    check_member(line, "job", "the-id");
    check_member(line, "queue", "q");
    check_member(line, "type", "t");
    check_member(line, "trace", "r");
    ck_assert_uint_gt(strlen(json_string_value(json_object_get(line, "text"))), 1000);
    json_decref(line);
}

/* ---- logging never blocks */

/* Logs until one line is dropped. */
static void fill(void)
{
    int before, now = 0, lines = 0;

    do {
        before = now;
        log_line(LOG_INFO, "line %d", lines++);
        ck_assert_int_eq(ioctl(fds[0], FIONREAD, &now), 0);
        ck_assert_int_lt(lines, 100000);
    } while (now > before);
}

/* What was dropped is counted, and reported before the next line. */
static void check_dropped(int lost)
{
    const char *told;
    int count;

    log_open(LOG_INFO, false, "x");
    fill();
    for (int i = 0; i < lost; i++)
        log_line(LOG_INFO, "lost"); /* nobody reads, so a call that blocks would block for ever */
    read_output();
    ck_assert_ptr_nonnull(strstr(output, "line 0\n"));
    ck_assert_ptr_null(strstr(output, "lost"));
    log_line(LOG_INFO, "here again");
    read_output();
    told = strstr(output, "warn x: ");
    ck_assert_ptr_nonnull(told);
    ck_assert_int_eq(
        sscanf(told, "warn x: %d log lines were dropped: standard error was full", &count), 1);
    ck_assert_int_eq(count, lost + 1);
    told = strchr(told, '\n');
    ck_assert_ptr_nonnull(strstr(told, "info x: here again\n"));
    log_line(LOG_INFO, "and on");
    ck_assert_str_eq(text_line(), "info x: and on");
}

CASE("pipe", set_up_pipe, tear_down);

TEST(test_full)
{
    check_dropped(1000);
    check_dropped(0); /* and again */
}

static int count_of(const char *text, const char *word)
{
    int count = 0;

    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

/* Each line is written, or told as dropped when the next second begins. */
TEST(test_limit)
{
    enum { LINES = 100, LIMIT = 10 };
    double from = later_clock(), until = from + 60;
    const char *told = NULL;
    int written, dropped = 0, tries = 0;

    log_open(LOG_INFO, false, "x");
    log_limit(LIMIT);
    for (int i = 0; i < LINES; i++)
        log_line(LOG_INFO, "many");
    read_output();
    written = count_of(output, "info x: many\n");
    ck_assert_int_ge(written, LIMIT);
    /* New seconds may have begun meanwhile. */
    ck_assert_double_le(written, LIMIT * (later_clock() - from + 2));
    while (!told && later_clock() < until) {
        usleep(10000);
        tries++;
        log_line(LOG_INFO, "again");
        read_output();
        written += count_of(output, "info x: again\n");
        told = strstr(output, "warn x: ");
    }
    ck_assert_ptr_nonnull(told);
    ck_assert_int_eq(
        sscanf(told, "warn x: %d log lines were dropped: more than log.rate a second", &dropped),
        1);
    ck_assert_int_eq(written + dropped, LINES + tries);
    log_limit(0);
}

/* Nobody reads at all any more. */
TEST(test_reader_gone)
{
    signal(SIGPIPE, SIG_IGN);
    log_open(LOG_INFO, false, "x");
    close(fds[0]);
    fds[0] = -1;
    for (int i = 0; i < 100; i++)
        log_line(LOG_INFO, "to nobody");
}

/* Many processes and one full pipe: each sees it writable at the same moment, and one of them is
 * right. None may hang. */
TEST(test_full_for_many)
{
    enum { WRITERS = 8, ROUNDS = 60 };

    for (int round = 0; round < ROUNDS; round++) {
        pid_t pids[WRITERS];
        double until;
        int alive = WRITERS;

        for (int i = 0; i < WRITERS; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                static char words[2000];

                memset(words, 'w', sizeof words - 1);
                log_open(LOG_INFO, false, "x");
                for (int line = 0; line < 200; line++)
                    log_line(LOG_INFO, "%s", words);
                _exit(0);
            }
        }
        until = later_clock() + 120;
        while (alive > 0 && later_clock() < until) {
            if (waitpid(-1, NULL, WNOHANG) > 0)
                alive--;
            else
                usleep(500);
        }
        for (int i = 0; alive > 0 && i < WRITERS; i++)
            kill(pids[i], SIGKILL);
        ck_assert_msg(alive == 0, "round %d: %d of %d hang", round, alive, WRITERS);
        read_output();
    }
}

/* The end of a fault is told if its begin, or a worse one since, was. */
TEST(test_end_of_a_fault)
{
    struct fault fault = { .since = 0 };

    log_open(LOG_INFO, false, NULL);
    fault_note(&fault, LOG_DEBUG, "a trifle");
    fault_over(&fault);
    ck_assert_uint_eq(read_output(), 0);
    fault_note(&fault, LOG_DEBUG, "a trifle");
    fault_note(&fault, LOG_WARN, "it is worse");
    fault_over(&fault);
    ck_assert_ptr_nonnull(strstr(text_line(), ", 2 times: it is worse"));
    fault_note(&fault, LOG_DEBUG, "a trifle again");
    fault_over(&fault);
    ck_assert_uint_eq(read_output(), 0);
}

CASE("socket", set_up_socket, tear_down);

AGAIN(test_text);
AGAIN(test_json);
AGAIN(test_full);
AGAIN(test_reader_gone);
AGAIN(test_full_for_many);
