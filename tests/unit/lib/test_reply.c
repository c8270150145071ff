/* test_reply.c: reading replies of every shape; what each error asks for. */
#include "redis/reply.h"
#include "redis/reply_make.h"

#include "tests/support/comma.h"
#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <hiredis/hiredis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the reply in these bytes, which the end of the test or the next call frees. */
static struct later_reply *kept;

static const struct later_reply *reply_of(const char *bytes)
{
    later_reply_free(kept);
    kept = NULL;
    kept = reply_made(bytes);
    return kept;
}

static void tear_down(void)
{
    later_reply_free(kept);
    kept = NULL;
}

/* ---- remedies */

CASE("remedies", NULL, NULL);

/* Each error as Redis 7.0.15 says it. The list is made from Redis's side, not from ours. */
TEST(test_remedies)
{
    static const struct {
        const char *text;
        enum later_remedy remedy;
    } rows[] = {
        { "ASK 3999 127.0.0.1:6381", LATER_REMEDY_REROUTE },
        { "MOVED 3999 127.0.0.1:6381", LATER_REMEDY_REROUTE },
        { "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
          LATER_REMEDY_RETRY },
        { "CLUSTERDOWN Hash slot not served", LATER_REMEDY_RETRY },
        { "CLUSTERDOWN The cluster is down", LATER_REMEDY_RETRY },
        { "EXECABORT Transaction discarded because of previous errors.", LATER_REMEDY_RETRY },
        { "LOADING Redis is loading the dataset in memory", LATER_REMEDY_RETRY },
        { "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
          "to disk.",
          LATER_REMEDY_RETRY },
        { "NOREPLICAS Not enough good replicas to write.", LATER_REMEDY_RETRY },
        { "OOM command not allowed when used memory > 'maxmemory'.", LATER_REMEDY_RETRY },
        { "TRYAGAIN Multiple keys request during rehashing of slot", LATER_REMEDY_RETRY },
        { "UNKILLABLE Sorry the script already executed write commands against the dataset.",
          LATER_REMEDY_RETRY },
        { "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
          LATER_REMEDY_RECONNECT },
        { "NOAUTH Authentication required.", LATER_REMEDY_RECONNECT },
        { "READONLY You can't write against a read only replica.", LATER_REMEDY_RECONNECT },
        { "UNBLOCKED force unblock from blocking operation, instance state changed (master -> "
          "replica?)",
          LATER_REMEDY_RECONNECT },
        { "WRONGPASS invalid username-password pair or user is disabled.", LATER_REMEDY_RECONNECT },
        { "ERR max number of clients reached", LATER_REMEDY_RECONNECT },
        { "ERR max number of clients + cluster connections reached", LATER_REMEDY_RECONNECT },
        { "NOSCRIPT No matching script. Please use EVAL.", LATER_REMEDY_LOAD },
        { "CROSSSLOT Keys in request don't hash to the same slot", LATER_REMEDY_ABANDON },
        { "ERR wrong number of arguments for 'get' command", LATER_REMEDY_ABANDON },
        { "ERR maximum", LATER_REMEDY_ABANDON },
        { "ERR", LATER_REMEDY_ABANDON },
        { "NOPERM this user has no permissions to run the 'evalsha' command",
          LATER_REMEDY_ABANDON },
        { "WRONGTYPE Operation against a key holding the wrong kind of value",
          LATER_REMEDY_ABANDON },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(later_reply_remedy(rows[i].text) == rows[i].remedy, "%s", rows[i].text);
}

TEST(test_unknown_errors)
{
    static const char *const texts[] = { "",
                                         " ",
                                         "NEWERROR of a later version",
                                         "ERRX y",
                                         "er",
                                         "moved 1",
                                         "READONLYX",
                                         "BUSYGROUP name exists",
                                         "NOSCRIP",
                                         "ASKING",
                                         "OO",
                                         "LOADING\t",
                                         "ERR\tx",
                                         " READONLY" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(later_reply_remedy(texts[i]) == LATER_REMEDY_RETRY, "\"%s\"", texts[i]);
}

TEST(test_away)
{
    ck_assert(later_reply_away("CLUSTERDOWN The cluster is down"));
    ck_assert(later_reply_away("LOADING Redis is loading the dataset in memory"));
    ck_assert(!later_reply_away("OOM command not allowed when used memory > 'maxmemory'."));
    ck_assert(!later_reply_away("ERR max number of clients reached"));
    ck_assert(!later_reply_away("CLUSTERDOWNX"));
}

TEST(test_denies)
{
    ck_assert(later_reply_denies("NOAUTH Authentication required."));
    ck_assert(later_reply_denies("HELLO: WRONGPASS invalid username-password pair"));
    ck_assert(!later_reply_denies("NOPERM User a has no permissions to run the 'get' command"));
    ck_assert(!later_reply_denies("connection refused"));
    ck_assert(later_reply_lacks("ERR unknown command 'ZADD', with args beginning with: 'k' "));
    ck_assert(later_reply_lacks("ERR Unknown Redis command called from script"));
    ck_assert(!later_reply_lacks("ERR unknown subcommand 'NO-EVICT'. Try CLIENT HELP."));
}

static const char *cut(const char *bytes, size_t *len)
{
    reply_of(bytes);
    later_reply_cut_script(kept);
    return later_reply_text(kept, len);
}

/* As Redis 7.0 writes it. What is no error is data. */
TEST(test_cut_script)
{
    static const char tail[] =
        " script: d396d55f0e5de9ba2d5b85f9268d54cd12e79bb2, on @user_script:693.";
    char error[200], text[200];
    size_t len;

    snprintf(error, sizeof error, "-OOM command not allowed when used memory > 'maxmemory'.%s\r\n",
             tail);
    snprintf(text, sizeof text, "+done%s\r\n", tail);
    ck_assert_str_eq(cut(error, &len), "OOM command not allowed when used memory > 'maxmemory'.");
    ck_assert_uint_eq(len, strlen("OOM command not allowed when used memory > 'maxmemory'."));
    ck_assert_str_eq(cut("-ERR no script: of that name\r\n", &len), "ERR no script: of that name");
    ck_assert_str_eq(cut("-\r\n", &len), "");
    cut(text, &len);
    ck_assert_uint_eq(len, strlen("done") + strlen(tail));
}

/* ---- shapes */

CASE("shapes", NULL, tear_down);

TEST(test_array)
{
    const struct later_reply *reply = reply_of("*3\r\n$2\r\nab\r\n:-7\r\n*1\r\n+OK\r\n");
    size_t len = 99;

    ck_assert_uint_eq(later_reply_count(reply), 3);
    ck_assert_str_eq(later_reply_text(later_reply_at(reply, 0), &len), "ab");
    ck_assert_uint_eq(len, 2);
    ck_assert_int_eq(later_reply_int(later_reply_at(reply, 1)), -7);
    ck_assert_str_eq(later_reply_text(later_reply_at(later_reply_at(reply, 2), 0), NULL), "OK");
    ck_assert_ptr_null(later_reply_at(reply, 3));
    ck_assert_ptr_null(later_reply_at(reply, (size_t)-1));
    ck_assert_ptr_null(later_reply_at(later_reply_at(reply, 0), 0));
    ck_assert(!later_reply_is_error(reply));
    ck_assert(!later_reply_is_nil(reply));
}

TEST(test_error_and_nil)
{
    ck_assert(later_reply_is_error(reply_of("-ERR no\r\n")));
    ck_assert_str_eq(later_reply_text(kept, NULL), "ERR no");
    ck_assert(!later_reply_is_nil(kept));
    ck_assert(later_reply_is_nil(reply_of("$-1\r\n")));
    ck_assert(!later_reply_is_error(kept));
    ck_assert(later_reply_is_nil(reply_of("*-1\r\n")));
    ck_assert_uint_eq(later_reply_count(kept), 0);
}

/* No reply at all, and each reader on each wrong kind. */
TEST(test_wrong_shapes)
{
    static const char *const bytes[] = { ":5\r\n", "$-1\r\n", "*-1\r\n",   "*0\r\n",
                                         "+x\r\n", "-x\r\n",  "$0\r\n\r\n" };
    size_t len = 99;

    ck_assert(!later_reply_is_error(NULL));
    ck_assert(later_reply_is_nil(NULL));
    ck_assert_uint_eq(later_reply_count(NULL), 0);
    ck_assert_ptr_null(later_reply_at(NULL, 0));
    ck_assert_str_eq(later_reply_text(NULL, &len), "");
    ck_assert_uint_eq(len, 0);
    ck_assert_int_eq(later_reply_int(NULL), 0);
    ck_assert_double_eq(later_reply_seconds(NULL, -1), -1);
    later_reply_free(NULL);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        const struct later_reply *reply = reply_of(bytes[i]);
        bool five = i == 0;

        ck_assert_uint_eq(later_reply_count(reply), 0);
        ck_assert_ptr_null(later_reply_at(reply, 0));
        ck_assert_str_eq(later_reply_text(reply, &len), i == 4 || i == 5 ? "x" : "");
        ck_assert_uint_eq(len, i == 4 || i == 5 ? 1 : 0);
        ck_assert_int_eq(later_reply_int(reply), five ? 5 : 0);
        ck_assert_double_eq(later_reply_seconds(reply, -1), five ? 5 : -1);
    }
}

TEST(test_bytes_with_nul)
{
    redisReader *reader = later_reply_reader();
    void *reply = NULL;
    size_t len;
    const char *text;

    ck_assert_int_eq(redisReaderFeed(reader, "$3\r\na\0b\r\n", 9), REDIS_OK);
    ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    kept = reply;
    text = later_reply_text(kept, &len);
    ck_assert_uint_eq(len, 3);
    ck_assert_mem_eq(text, "a\0b\0", 4);
    redisReaderFree(reader);
}

/* ---- numbers */

enum { ARRAYS = 3, TEXTS = 400, MOST = 9000 };

/* Writes ARRAYS arrays of TEXTS texts each, of all sizes; returns their end. */
static char *write_texts(char *end)
{
    end += sprintf(end, "*%d\r\n", ARRAYS);
    for (int i = 0; i < ARRAYS; i++) {
        end += sprintf(end, "*%d\r\n", TEXTS);
        for (int k = 0; k < TEXTS; k++) {
            int size = k * 7919 % MOST;

            end += sprintf(end, "$%d\r\n", size);
            memset(end, 'a' + (i + k) % 26, (size_t)size);
            end += size;
            end += sprintf(end, "\r\n");
        }
    }
    return end;
}

static void see_texts(const struct later_reply *array, size_t i)
{
    ck_assert_uint_eq(later_reply_count(array), TEXTS);
    for (size_t k = 0; k < TEXTS; k++) {
        size_t len;
        const char *text = later_reply_text(later_reply_at(array, k), &len);
        char of[2] = { (char)('a' + (i + k) % 26), '\0' };

        ck_assert_uint_eq(len, k * 7919 % MOST);
        ck_assert_uint_eq(strspn(text, of), len);
        ck_assert_int_eq(text[len], '\0');
    }
}

/* In pieces, as the network brings them; each text is what was sent. */
TEST(test_many_texts)
{
    char *bytes = malloc((size_t)ARRAYS * TEXTS * (MOST + 20) + 100), *end = write_texts(bytes);
    redisReader *reader = later_reply_reader();
    void *reply = NULL;

    for (char *at = bytes; at < end; at += 5000) {
        ck_assert_ptr_null(reply);
        redisReaderFeed(reader, at, end - at < 5000 ? (size_t)(end - at) : 5000);
        ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    }
    ck_assert_uint_eq(later_reply_count(reply), ARRAYS);
    for (size_t i = 0; i < ARRAYS; i++)
        see_texts(later_reply_at(reply, i), i);
    later_reply_free(reply);
    redisReaderFree(reader);
    free(bytes);
}

/* What has come of an answer is freed with its reader. */
TEST(test_half_an_answer)
{
    static const char half[] = "*3\r\n$2\r\nab\r\n*2\r\n:1\r\n";
    redisReader *reader = later_reply_reader();
    void *reply = NULL;

    redisReaderFeed(reader, half, strlen(half));
    ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    ck_assert_ptr_null(reply);
    redisReaderFree(reader);
}

/* The header alone promises too much, or arrays are too deep. */
TEST(test_too_much)
{
    static const char *const answers[] = {
        "*10000001\r\n", "*2147483647\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        redisReader *reader = later_reply_reader();
        void *reply = NULL;

        redisReaderFeed(reader, answers[i], strlen(answers[i]));
        ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_ERR);
        redisReaderFree(reader);
    }
}

CASE("numbers", NULL, tear_down);

TEST(test_integers)
{
    ck_assert_int_eq(later_reply_int(reply_of(":9223372036854775807\r\n")), INT64_MAX);
    ck_assert_int_eq(later_reply_int(reply_of("$2\r\n42\r\n")), 42);
    ck_assert_int_eq(later_reply_int(reply_of("$3\r\n-42\r\n")), -42);
    ck_assert_int_eq(later_reply_int(reply_of("$3\r\nabc\r\n")), 0);
    ck_assert_int_eq(later_reply_int(reply_of("$20\r\n99999999999999999999\r\n")), INT64_MAX);
}

static void check_seconds(void)
{
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {
        { "0", 0 },
        { "0.000001", 0.000001 },
        { "0.5", 0.5 },
        { "-0.5", -0.5 },
        { "-300000000.25", -300000000.25 },
        { "1700000000.123456", 1700000000.123456 },
        { "1", 1 },
        { "7.", 7 },
        { "1e+20", 1e20 },
        { "1.5e+20", 1.5e20 },
        { "-2e+03", -2000 },
        { "5.0000000000000002e-05", 5e-05 },
        { "2e-07", 2e-07 },
        { "100000000000", 1e11 },
        { "12x", 12 },
        { "1e", 1 },
        { "1.0000000009", 1 },
        { "0e999", 77 },
    };
    char bytes[64];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(bytes, sizeof bytes, "$%zu\r\n%s\r\n", strlen(rows[i].text), rows[i].text);
        ck_assert_msg(later_reply_seconds(reply_of(bytes), 77) == rows[i].seconds, "%s is %.17g",
                      rows[i].text, later_reply_seconds(kept, 77));
    }
}

TEST(test_seconds)
{
    check_seconds();
}

TEST(test_seconds_in_a_locale)
{
    ck_assert(comma_begin());
    check_seconds();
    comma_end();
}

TEST(test_no_seconds)
{
    static const char *const texts[] = { "",    "-",  "x1", ".5",  "inf",   "-inf",  "nan",
                                         "e+3", "+1", " 1", "--1", "1e999", "-1e400" };
    char bytes[32];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(bytes, sizeof bytes, "$%zu\r\n%s\r\n", strlen(texts[i]), texts[i]);
        ck_assert_msg(later_reply_seconds(reply_of(bytes), 77) == 77, "\"%s\"", texts[i]);
    }
}

/* What printf says of a double is read back as the same, to the last microsecond. */
TEST(test_microseconds_survive)
{
    char text[40], bytes[64];

    for (unsigned i = 0; i < 100000; i += unit_stride(10)) {
        double seconds = 1.7e9 + (double)i * 997e-6;

        snprintf(text, sizeof text, "%.6f", seconds);
        snprintf(bytes, sizeof bytes, "$%zu\r\n%s\r\n", strlen(text), text);
        ck_assert_msg(fabs(later_reply_seconds(reply_of(bytes), 0) - seconds) < 6e-7, "%s", text);
    }
}
