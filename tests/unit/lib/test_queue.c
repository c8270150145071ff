/* test_queue.c: what is sent for each verb, word by word; what is made of the answers; tokens. The
 * words come from the heads of scripts/VERB.lua. */
#include "queue/queue.h"

#include "queue/inspect.h"
#include "queue/line.h"
#include "queue/permit.h"
#include "queue/stock.h"
#include "tests/support/comma.h"
#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOKEN "0123456789abcdef"

static struct later_keys keys;
static struct later_command cmd;
static struct later_reply *kept;

static void set_up(void)
{
    later_keys_init(&keys, "later", "q");
    cmd = (struct later_command){ 0 };
}

static void tear_down(void)
{
    later_command_free(&cmd);
    later_reply_free(kept);
    kept = NULL;
}

static const struct later_reply *reply_of(const char *bytes)
{
    later_reply_free(kept);
    kept = NULL;
    kept = reply_made(bytes);
    return kept;
}

/* cmd must be EVALSHA of this script, with these words after the hash. `key` stands for
 * "later:{q}:key" if it begins with a colon. Frees cmd. */
static void check_call(enum later_script script, const char *name, const char *const *words)
{
    static char bytes[65536];
    size_t len, count = 2;

    ck_assert_str_eq(later_script_texts[script].name, name);
    for (size_t i = 0; words[i]; i++)
        count++;
    len = (size_t)sprintf(bytes, "*%zu\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n", count,
                          later_script_texts[script].sha);
    for (size_t i = 0; words[i]; i++) {
        const char *head = words[i][0] == ':' ? "later:{q}" : "";

        len += (size_t)sprintf(bytes + len, "$%zu\r\n%s%s\r\n", strlen(head) + strlen(words[i]),
                               head, words[i]);
    }
    ck_assert(later_command_ready(&cmd));
    ck_assert_mem_eq(cmd.data, bytes, len < cmd.len ? len : cmd.len);
    ck_assert_uint_eq(cmd.len, len);
    later_command_free(&cmd);
}

#define CALL(script, name, ...)                                                                    \
    check_call(LATER_SCRIPT_##script, name, (const char *const[]){ __VA_ARGS__, NULL })

#define PUSH_KEYS                                                                                  \
    "10", ":ready", ":delayed", ":dead", ":jobs", ":records", ":wake", ":paused", ":stats",        \
        ":shards"

/* ---- push */

CASE("push", set_up, tear_down);

TEST(test_push)
{
    const struct later_push_item items[] = {
        { .id = "a", .document = "{}", .document_len = 2, .priority = -100 },
        { .id = "b", .document = "xyz", .document_len = 1, .in = 1.5 },
        { .id = "c", .document = "", .at = 1700000000.25, .priority = 7, .unique_for = 60 },
    }, mortal[] = {
        { .id = "a", .document = "{}", .document_len = 2, .expires_in = 60 },
        { .id = "b", .document = "{}", .document_len = 2, .in = 5, .expires_in = 60.25 },
    };

    later_queue_push(&cmd, &keys, "c-1", 0, 0, items, 3);
    CALL(PUSH, "push", PUSH_KEYS, ":call:c-1", "60", "new/0", "a", "", "-100", "{}", "b",
         "+1.500000", "0", "x", "c", "1700000000.250000", "7/60.000000", "");
    later_queue_push(&cmd, &keys, NULL, LATER_PUSH_REPLACE, 0, items, 1);
    CALL(PUSH, "push", PUSH_KEYS, ":call:", "0", "replace/0", "a", "", "-100", "{}");
    ck_assert(!later_queue_plain(&mortal[0]));
    later_queue_push(&cmd, &keys, NULL, 0, 0, mortal, 2);
    CALL(PUSH, "push", PUSH_KEYS, ":call:", "0", "new/0", "a", "!60.000000", "0", "{}", "b",
         "+5.000000!60.250000", "0", "{}");
}

TEST(test_push_hostile_times)
{
    const struct later_push_item items[] = {
        { .id = "a", .document = "{}", .document_len = 2, .in = -3 },
        { .id = "b", .document = "{}", .document_len = 2, .in = NAN },
        { .id = "c", .document = "{}", .document_len = 2, .at = 1e300 },
    };

    later_queue_push(&cmd, &keys, NULL, 0, 0, items, 3);
    CALL(PUSH, "push", PUSH_KEYS, ":call:", "0", "new/0", "a", "+0.000000", "0", "{}", "b",
         "+0.000000", "0", "{}", "c", "1000000000000.000000", "0", "{}");
}

/* By the plan that the caller knows; looking only. */
TEST(test_push_by_plan)
{
    const struct later_push_item item = { .id = "a", .document = "{}", .document_len = 2 };

    later_queue_push(&cmd, &keys, NULL, LATER_PUSH_SEEK, 1764000000123, &item, 1);
    CALL(PUSH, "push", PUSH_KEYS, ":call:", "0", "seek/1764000000123", "a", "", "0", "{}");
    later_queue_push(&cmd, &keys, NULL, LATER_PUSH_SEEK | LATER_PUSH_REPLACE, UINT64_MAX, &item, 1);
    CALL(PUSH, "push", PUSH_KEYS, ":call:", "0", "seek-replace/18446744073709551615", "a", "", "0",
         "{}");
}

/* A document with a NUL and a line's end in it, and 500 jobs. */
TEST(test_push_many)
{
    struct later_push_item items[LATER_BATCH_MAX];
    char ids[LATER_BATCH_MAX][8];
    size_t len;

    for (size_t i = 0; i < LATER_BATCH_MAX; i++) {
        snprintf(ids[i], sizeof ids[i], "%zu", i);
        items[i] =
            (struct later_push_item){ .id = ids[i], .document = "\0\r\n$9\r\n", .document_len = 7 };
    }
    later_queue_push(&cmd, &keys, NULL, 0, 0, items, LATER_BATCH_MAX);
    ck_assert(later_command_ready(&cmd));
    ck_assert_mem_eq(cmd.data, "*2015\r\n$7\r\nEVALSHA", 18); /* 3 + 10 + 2 + 4 × 500 */
    len = strlen("$3\r\n499\r\n$0\r\n\r\n$1\r\n0\r\n$7\r\n") + 9;
    ck_assert_mem_eq(cmd.data + cmd.len - len,
                     "$3\r\n499\r\n$0\r\n\r\n$1\r\n0\r\n$7\r\n\0\r\n$9\r\n\r\n", len);
}

TEST(test_pushed)
{
    const struct later_reply *reply = reply_of("*8\r\n$6\r\nPUSHED\r\n$8\r\nREPLACED\r\n"
                                               "$12\r\nEXISTS ready\r\n$15\r\nEXISTS reserved\r\n"
                                               "$6\r\nABSENT\r\n$4\r\nFULL\r\n"
                                               "$5\r\nAGAIN\r\n$7\r\nLIMITED\r\n");
    const char *state = NULL;
    struct later_error err;

    ck_assert_int_eq(later_queue_pushed(reply, 0, &state), LATER_IS_PUSHED);
    ck_assert_str_eq(state, "");
    ck_assert_int_eq(later_queue_pushed(reply, 1, &state), LATER_IS_REPLACED);
    ck_assert_str_eq(state, "");
    ck_assert_int_eq(later_queue_pushed(reply, 2, &state), LATER_IS_KNOWN);
    ck_assert_str_eq(state, "ready");
    ck_assert_int_eq(later_queue_pushed(reply, 3, NULL), LATER_IS_KNOWN);
    ck_assert_int_eq(later_queue_pushed(reply, 4, &state), LATER_IS_ABSENT);
    ck_assert_str_eq(state, "");
    ck_assert_int_eq(later_queue_pushed(reply, 5, &state), LATER_IS_FULL);
    ck_assert_str_eq(state, "");
    ck_assert_int_eq(later_queue_refused(LATER_IS_FULL, "q", &err), -1);
    ck_assert_int_eq(err.code, LATER_E_LATER);
    ck_assert_int_eq(later_queue_pushed(reply, 6, &state), LATER_IS_AGAIN);
    ck_assert_int_eq(later_queue_refused(LATER_IS_AGAIN, "q", &err), 0);
    ck_assert_int_eq(later_queue_pushed(reply, 7, &state), LATER_IS_STRANGE); /* never: pushed */
    ck_assert_int_eq(later_queue_refused(LATER_IS_STRANGE, "q", &err), -1);
    ck_assert_int_eq(err.code, LATER_E_BUG);
}

/* ---- reserve */

#define RESERVE_KEYS                                                                               \
    "10", ":ready", ":delayed", ":reserved", ":reserved:" TOKEN, ":dead", ":jobs", ":records",     \
        ":wake", ":paused", ":stats"

static struct later_take take_of(double lease, size_t limit, size_t bytes)
{
    return (struct later_take){ .token = TOKEN, .lease = lease, .limit = limit, .bytes = bytes };
}

CASE("reserve", set_up, tear_down);

TEST(test_reserve)
{
    struct later_take take = take_of(30, 500, LATER_RESERVE_BYTES);

    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", RESERVE_KEYS, TOKEN, "30.000000", "500", "262144", "0");
    take.idle = true;
    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", RESERVE_KEYS, TOKEN, "30.000000", "500", "262144", "0/idle");
    take.until = 1700000005.2;
    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", RESERVE_KEYS, TOKEN, "30.000000", "500", "262144",
         "1700000005.200000/idle");
    take = take_of(0.05, 1, 0);
    take.until = 1700000005.2;
    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", RESERVE_KEYS, TOKEN, "0.050000", "1", "0", "1700000005.200000");
}

TEST(test_ahead)
{
    struct later_keys high, top;
    const char *const ahead[] = { high.name[LATER_KEY_WAKE], top.name[LATER_KEY_WAKE] };
    struct later_take take = take_of(30, 1, 1000);

    later_keys_init(&high, "later", "high");
    later_keys_init(&top, "later", "top");
    take.ahead = ahead;
    take.ahead_count = 2;
    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", "12", ":ready", ":delayed", ":reserved", ":reserved:" TOKEN, ":dead",
         ":jobs", ":records", ":wake", ":paused", ":stats", "later:{high}:wake", "later:{top}:wake",
         TOKEN, "30.000000", "1", "1000", "0");
    ck_assert_uint_eq(later_queue_reserved_ahead(reply_of("*1\r\n$13\r\n1.5 ahead 1 3\r\n")), 5);
    ck_assert_uint_eq(later_queue_reserved_ahead(reply_of("*1\r\n$14\r\n1.5 ahead 8 99\r\n")), 128);
    ck_assert_uint_eq(later_queue_reserved_ahead(reply_of("*1\r\n$11\r\n1.5 ahead x\r\n")), 0);
    ck_assert_uint_eq(later_queue_reserved_ahead(reply_of("*1\r\n$5\r\n1.5 9\r\n")), 0);
    ck_assert_uint_eq(later_queue_reserved_ahead(reply_of("*1\r\n$3\r\n1.5\r\n")), 0);
}

static const char *text_of(const struct later_command *command)
{
    static char text[500];

    ck_assert_uint_lt(command->len, sizeof text);
    memcpy(text, command->data, command->len);
    text[command->len] = '\0';
    return text;
}

TEST(test_reserve_beside)
{
    const struct later_reply *reply = reply_of("*7\r\n$17\r\n1700000000.500000\r\n"
                                               "$1\r\na\r\n$0\r\n\r\n:5000\r\n"
                                               "$2\r\nbb\r\n$4\r\na=3\n\r\n:0\r\n");
    struct later_take take = take_of(30, 500, LATER_BESIDE_BYTES);
    struct later_reserved job;

    take.beside = true;
    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", RESERVE_KEYS, TOKEN, "30.000000", "500", "2097152/beside", "0");
    later_queue_documents(&cmd, &keys, reply);
    ck_assert(later_command_ready(&cmd));
    ck_assert_str_eq(text_of(&cmd), "*4\r\n$5\r\nHMGET\r\n$14\r\nlater:{q}:jobs\r\n"
                                    "$1\r\na\r\n$2\r\nbb\r\n");
    later_command_free(&cmd);
    ck_assert_uint_eq(later_queue_reserved_count(reply), 2);
    ck_assert_uint_eq(later_queue_reserved_bytes(reply), 5000);
    later_queue_reserved(reply, 1, &job);
    ck_assert_uint_eq(job.attempts, 3);
    ck_assert_str_eq(job.document, "");
    ck_assert_uint_eq(job.document_len, 0);
    ck_assert_uint_eq(later_queue_reserved_bytes(reply_of("*4\r\n$1\r\n0\r\n$1\r\na\r\n"
                                                          "$0\r\n\r\n$2\r\n{}\r\n")),
                      2);
    ck_assert_uint_eq(later_queue_reserved_bytes(reply_of("*4\r\n$1\r\n0\r\n$1\r\na\r\n"
                                                          "$0\r\n\r\n:-7\r\n")),
                      0);
}

TEST(test_reserved_left)
{
#define ONE "$1\r\na\r\n$-1\r\n$2\r\n{}\r\n"
    ck_assert_uint_eq(later_queue_reserved_left(reply_of("*4\r\n$7\r\n1.5 9 7\r\n" ONE)), 7);
    ck_assert_uint_eq(later_queue_reserved_left(reply_of("*4\r\n$5\r\n1.5 9\r\n" ONE)), 0);
    ck_assert_uint_eq(later_queue_reserved_left(reply_of("*4\r\n$0\r\n\r\n" ONE)), 0);
    ck_assert_uint_eq(later_queue_reserved_left(reply_of("*7\r\n$7\r\n1.5 9 7\r\n" ONE ONE)), 0);
    ck_assert_uint_eq(later_queue_reserved_left(reply_of("*1\r\n$3\r\n1.5\r\n")), 0);
#undef ONE
}

TEST(test_reserve_in_a_locale)
{
    struct later_take take = take_of(0.05, 1, 0);

    ck_assert(comma_begin());
    take.until = 1700000005.2;
    later_queue_reserve(&cmd, &keys, &take);
    CALL(RESERVE, "reserve", RESERVE_KEYS, TOKEN, "0.050000", "1", "0", "1700000005.200000");
    comma_end();
}

TEST(test_reserved)
{
    const struct later_reply *reply = reply_of("*7\r\n$17\r\n1700000000.500000\r\n"
                                               "$1\r\na\r\n$0\r\n\r\n$2\r\n{}\r\n"
                                               "$2\r\nbb\r\n$8\r\na=3\nc=0\n\r\n$0\r\n\r\n");
    struct later_reserved job;

    ck_assert_uint_eq(later_queue_reserved_count(reply), 2);
    ck_assert_double_eq(later_queue_reserved_now(reply), 1700000000.5);
    later_queue_reserved(reply, 0, &job);
    ck_assert_str_eq(job.id, "a");
    ck_assert_uint_eq(job.id_len, 1);
    ck_assert_uint_eq(job.attempts, 0);
    ck_assert_int_eq(job.crashes, -1);
    ck_assert_str_eq(job.document, "{}");
    ck_assert_uint_eq(job.document_len, 2);
    later_queue_reserved(reply, 1, &job);
    ck_assert_str_eq(job.id, "bb");
    ck_assert_uint_eq(job.attempts, 3);
    ck_assert_int_eq(job.crashes, 0);
    ck_assert_uint_eq(job.document_len, 0);
}

/* Of 34 jobs: the first, the 17th, the 33rd, the last; in between by rank. */
TEST(test_reserved_scores)
{
    static const char now[] = "1700000000.5 1699999000 1699999016.25 1e+20 -inf";
    char bytes[2048];
    const struct later_reply *reply;
    struct later_scores scores;
    double got[34];
    int len = sprintf(bytes, "*%d\r\n$%zu\r\n%s\r\n", 1 + 3 * 34, sizeof now - 1, now);

    for (int i = 0; i < 3 * 34; i++)
        len += sprintf(bytes + len, "$1\r\nx\r\n");
    reply = reply_of(bytes);
    ck_assert_double_eq(later_queue_reserved_now(reply), 1700000000.5);
    later_scores_begin(&scores, reply);
    for (size_t i = 0; i < 34; i++)
        got[i] = later_scores_next(&scores);
    ck_assert_double_eq(got[0], 1699999000);
    ck_assert_double_eq_tol(got[8], 1699999008.125, 1e-5);
    ck_assert_double_eq_tol(got[16], 1699999016.25, 1e-5);
    ck_assert(isnan(got[33]));
    reply = reply_of("*4\r\n$12\r\n1700000000.5\r\n$1\r\nx\r\n$1\r\nx\r\n$1\r\nx\r\n");
    later_scores_begin(&scores, reply);
    ck_assert(isnan(later_scores_next(&scores))); /* of a script of before */
}

/* Of 20 jobs: the first, the 17th, the last. */
TEST(test_reserved_scores_of_few)
{
    static const char now[] = "1700000000.5 1000 1032 1041";
    char bytes[2048];
    struct later_scores scores;
    int len = sprintf(bytes, "*%d\r\n$%zu\r\n%s\r\n", 1 + 3 * 20, sizeof now - 1, now);

    for (int i = 0; i < 3 * 20; i++)
        len += sprintf(bytes + len, "$1\r\nx\r\n");
    later_scores_begin(&scores, reply_of(bytes));
    for (int i = 0; i < 20; i++)
        ck_assert_double_eq_tol(later_scores_next(&scores),
                                i < 16 ? 1000 + 2.0 * i : 1032 + 3.0 * (i - 16), 1e-6);
}

/* Of 200 jobs: the first, the 65th, the 129th, the 193rd, the last. */
TEST(test_reserved_scores_of_many)
{
    static const char now[] = "1700000000.5 1000 1064 1192 1384 1412";
    static char bytes[8192];
    struct later_scores scores;
    int len = sprintf(bytes, "*%d\r\n$%zu\r\n%s\r\n", 1 + 3 * 200, sizeof now - 1, now);

    for (int i = 0; i < 3 * 200; i++)
        len += sprintf(bytes + len, "$1\r\nx\r\n");
    later_scores_begin(&scores, reply_of(bytes));
    for (int i = 0; i < 200; i++) {
        double want = i < 64    ? 1000 + i
                      : i < 128 ? 1064 + 2.0 * (i - 64)
                      : i < 192 ? 1192 + 3.0 * (i - 128)
                                : 1384 + 4.0 * (i - 192);

        ck_assert_double_eq_tol(later_scores_next(&scores), want, 1e-6);
    }
}

/* Answers that cannot be: nothing is read beyond them. */
TEST(test_reserved_hostile)
{
    static const char *const bytes[] = {
        "*0\r\n", "*-1\r\n",           "$1\r\nx\r\n",
        ":1\r\n", "*1\r\n$1\r\n5\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n"
    };
    struct later_reserved job;

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        const struct later_reply *reply = reply_of(bytes[i]);

        ck_assert_uint_eq(later_queue_reserved_count(reply), 0);
        later_queue_reserved(reply, 0, &job);
        later_queue_reserved(reply, SIZE_MAX / 16 + 1, &job);
        ck_assert_str_eq(job.id, "");
        ck_assert_str_eq(job.document, "");
        ck_assert_int_eq(job.crashes, -1);
    }
    later_queue_reserved(reply_of("*4\r\n*0\r\n*0\r\n:5\r\n-ERR\r\n"), 0, &job);
    ck_assert_str_eq(job.id, "");
    ck_assert_int_eq(job.crashes, -1);
    ck_assert_str_eq(job.document, "ERR");
}

/* ---- settle */

CASE("settle", set_up, tear_down);

TEST(test_settle)
{
    const struct later_settlement bare[] = { { .token = TOKEN, .id = "a" },
                                             { .token = TOKEN, .id = "b" } };
    const struct later_settlement full = {
        .token = TOKEN, .id = "a", .wait = 2.5, .how = "crashed", .error = "\"kind\":\"crash\"}"
    };
    const struct later_kept how = { .most = 10, .life = 60, .ms = 1.5, .host = "h" };
    const struct later_remains left = {
        .result = 2.5, .value = "[1]", .value_len = 3, .kept = &how
    };

    later_queue_settle(&cmd, &keys, LATER_VERB_ACK, 0, bare, 2);
    CALL(ACK, "ack", "7", ":delayed", ":reserved", ":reserved:" TOKEN, ":jobs", ":records",
         ":unique", ":stats", "a", "b");
    later_queue_ack_all(&cmd, &keys, TOKEN, 2);
    CALL(ACK_ALL, "ack_all", "7", ":delayed", ":reserved", ":reserved:" TOKEN, ":jobs", ":records",
         ":unique", ":stats", "2");
    ck_assert(later_queue_wants_ids(reply_of("$3\r\nIDS\r\n")));
    ck_assert(!later_queue_wants_ids(reply_of("*0\r\n")));
    ck_assert(!later_queue_wants_ids(reply_of("*1\r\n:1\r\n")));
    later_queue_finish_all(&cmd, &keys, TOKEN, 2, &how);
    later_queue_finish_add(&cmd, "a", &left);
    later_queue_finish_add(&cmd, "b", &(struct later_remains){ 0 });
    CALL(FINISH_ALL, "finish_all", "9", ":delayed", ":reserved", ":reserved:" TOKEN, ":jobs",
         ":records", ":unique", ":stats", ":done", ":kept", "10", "60.000000", "a", "[1]",
         "2.500000", "\"ms\":1.500,\"host\":\"h\"}", "b", "null", "0.000000", "\"ms\":null}");
    later_queue_settle(&cmd, &keys, LATER_VERB_EXPIRE, 0, &full, 1);
    CALL(EXPIRE, "expire", "7", ":delayed", ":reserved", ":reserved:" TOKEN, ":jobs", ":records",
         ":unique", ":stats", "a");
    later_queue_settle(&cmd, &keys, LATER_VERB_TOUCH, 30, bare, 2);
    CALL(TOUCH, "touch", "2", ":reserved", ":reserved:" TOKEN, "30.000000", "a", "b");
    later_queue_settle(&cmd, &keys, LATER_VERB_BURY, 0, &full, 1);
    CALL(BURY, "bury", "7", ":delayed", ":reserved", ":reserved:" TOKEN, ":dead", ":jobs",
         ":records", ":stats", "a", "crashed", "\"kind\":\"crash\"}");
    later_queue_settle(&cmd, &keys, LATER_VERB_BURY, 0, bare, 1);
    CALL(BURY, "bury", "7", ":delayed", ":reserved", ":reserved:" TOKEN, ":dead", ":jobs",
         ":records", ":stats", "a", "ran", "");
}

#define RELEASE_KEYS                                                                               \
    "9", ":reserved", ":reserved:" TOKEN, ":ready", ":delayed", ":jobs", ":records", ":wake",      \
        ":paused", ":stats"
#define RETURN_KEYS                                                                                \
    "9", ":reserved", ":reserved:" TOKEN, ":ready", ":delayed", ":jobs", ":records", ":wake",      \
        ":paused", ":stats"

TEST(test_release_and_return)
{
    const struct later_settlement bare = { .token = TOKEN, .id = "a" };
    const struct later_settlement full = {
        .token = TOKEN, .id = "b", .wait = 2.5, .how = "crashed", .error = "e"
    };
    struct later_settlement hostile = bare;

    later_queue_settle(&cmd, &keys, LATER_VERB_RELEASE, 0, &bare, 1);
    CALL(RELEASE, "release", RELEASE_KEYS, "a", "0.000000", "ran", "");
    later_queue_settle(&cmd, &keys, LATER_VERB_RELEASE, 0, &full, 1);
    CALL(RELEASE, "release", RELEASE_KEYS, "b", "2.500000", "crashed", "e");
    later_queue_settle(&cmd, &keys, LATER_VERB_RETURN, 0, &bare, 1);
    CALL(RETURN, "return", RETURN_KEYS, "a", "0.000000", "held");
    later_queue_settle(&cmd, &keys, LATER_VERB_RETURN, 0, &full, 1);
    CALL(RETURN, "return", RETURN_KEYS, "b", "2.500000", "e");
    hostile.wait = NAN; /* one bad wait must not make Redis refuse the 499 others */
    later_queue_settle(&cmd, &keys, LATER_VERB_RELEASE, 0, &hostile, 1);
    CALL(RELEASE, "release", RELEASE_KEYS, "a", "0.000000", "ran", "");
}

TEST(test_verbs)
{
    static const struct {
        enum later_verb verb;
        enum later_script script;
        const char *name;
    } rows[] = { { LATER_VERB_ACK, LATER_SCRIPT_ACK, "ack" },
                 { LATER_VERB_EXPIRE, LATER_SCRIPT_EXPIRE, "expire" },
                 { LATER_VERB_RELEASE, LATER_SCRIPT_RELEASE, "release" },
                 { LATER_VERB_RETURN, LATER_SCRIPT_RETURN, "return" },
                 { LATER_VERB_BURY, LATER_SCRIPT_BURY, "bury" },
                 { LATER_VERB_TOUCH, LATER_SCRIPT_TOUCH, "touch" } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct later_settlement job = { .token = TOKEN, .id = "a" };

        later_queue_settle(&cmd, &keys, rows[i].verb, 0, &job, 1);
        ck_assert_ptr_eq(cmd.script, &later_script_texts[rows[i].script]);
        later_command_free(&cmd);
        ck_assert_str_eq(later_verb_name(rows[i].verb), rows[i].name);
    }
}

static void check_lost(const char *bytes, const char *expected)
{
    const struct later_reply *reply = reply_of(bytes);
    size_t cursor = 0;

    for (size_t i = 0; expected[i]; i++)
        ck_assert_msg(later_queue_lost(reply, i, &cursor) == (expected[i] == 'L'), "%s: %zu",
                      expected, i);
}

TEST(test_lost)
{
    check_lost("*0\r\n", "....");
    check_lost("*1\r\n:1\r\n", "L...");
    check_lost("*2\r\n:2\r\n:4\r\n", ".L.L");
    check_lost("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", "LLLL");
    check_lost("+OK\r\n", "....");
    check_lost("*2\r\n$1\r\nx\r\n:2\r\n", "....");
}

/* What is stored is `{"at":…,"attempt":…,` and this. Together they must be a JSON object. */
static void check_error(const char *kind, const char *text, const char *text_then)
{
    char *tail = later_queue_error(kind, text, "host\"1", 0), whole[8192];
    json_t *error;

    ck_assert_ptr_nonnull(tail);
    snprintf(whole, sizeof whole, "{\"at\":1.5,\"attempt\":2,%s", tail);
    error = json_loads(whole, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(error != NULL, "%s", whole);
    ck_assert_uint_eq(json_object_size(error), 5);
    ck_assert_str_eq(json_string_value(json_object_get(error, "kind")), kind);
    ck_assert_str_eq(json_string_value(json_object_get(error, "text")), text_then);
    ck_assert_str_eq(json_string_value(json_object_get(error, "host")), "host\"1");
    json_decref(error);
    free(tail);
}

TEST(test_error)
{
    char long_text[3000], cut[1001], *tail;

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    memcpy(cut, long_text, 1000);
    cut[1000] = '\0';
    check_error("retry", "", "");
    check_error("crash", "a \"b\" \\ \n\x01 \xff \xc3\xa4",
                "a \"b\" \\ \n\x01 \xef\xbf\xbd \xc3\xa4");
    check_error("bad", long_text, cut);
    tail = later_queue_error("retry", "late", "h", 0.0125);
    ck_assert_str_eq(tail, "\"kind\":\"retry\",\"text\":\"late\",\"host\":\"h\",\"ms\":12.500}");
    free(tail);
}

/* ---- migrate, ids */

#define LAPSE_KEYS                                                                                 \
    "8", ":ready", ":reserved", ":reserved:" TOKEN, ":jobs", ":records", ":wake", ":paused",       \
        ":stats"

CASE("others", set_up, tear_down);

TEST(test_migrate)
{
    const struct later_reply *reply;
    struct later_migrated told;

    later_queue_migrate(&cmd, &keys, 500);
    CALL(MIGRATE, "migrate", "12", ":ready", ":delayed", ":reserved", ":jobs", ":records",
         ":unique", ":wake", ":paused", ":stats", ":cron", ":news", ":away", "500");
    later_queue_lapse(&cmd, &keys, TOKEN, 0, "e");
    CALL(LAPSE, "lapse", LAPSE_KEYS, "0", "e");
    later_queue_lapse(&cmd, &keys, TOKEN, 1700000005.2, "");
    CALL(LAPSE, "lapse", LAPSE_KEYS, "1700000005.200000", "");
    reply = reply_of("*8\r\n:3\r\n$8\r\n0.250000\r\n$0\r\n\r\n$17\r\n1700000000.500000\r\n"
                     "$8\r\n1.500000\r\n:2\r\n"
                     "$16\r\n" TOKEN "\r\n$1\r\nx\r\n");
    later_queue_migrated(reply, &told);
    ck_assert_uint_eq(told.run_out, 2);
    ck_assert_str_eq(later_queue_run_out(reply, 0), TOKEN);
    ck_assert_str_eq(later_queue_run_out(reply, 1), "x");
    ck_assert_uint_eq(told.promoted, 3);
    ck_assert_double_eq(told.next_due, 0.25);
    ck_assert_double_lt(told.next_lapse, 0);
    ck_assert_double_eq(told.now, 1700000000.5);
    ck_assert_double_eq(told.next_tick, 1.5);
    ck_assert(!told.rests && told.has_news && !told.seeks);
    later_queue_migrated(reply_of("+what\r\n"), &told);
    ck_assert_uint_eq(told.promoted + told.run_out, 0);
    ck_assert_double_lt(told.next_due, 0);
    ck_assert_double_lt(told.next_lapse, 0);
}

TEST(test_ids)
{
    later_queue_ids(&cmd, LATER_SCRIPT_SHOW, &keys, (const char *const[]){ "a", "b" }, 2);
    CALL(SHOW, "show", "8", ":ready", ":delayed", ":dead", ":jobs", ":records", ":done", ":kept",
         ":waiting", "a", "b");
    later_inspect_locate(&cmd, &keys, "a", TOKEN);
    CALL(LOCATE, "locate", "6", ":ready", ":delayed", ":dead", ":reserved:" TOKEN, ":jobs",
         ":waiting", "a");
    later_queue_cancel(&cmd, &keys, TOKEN, (const char *const[]){ "a", "b" }, 2);
    CALL(CANCEL, "cancel", "11", ":ready", ":delayed", ":reserved", ":reserved:" TOKEN, ":dead",
         ":jobs", ":records", ":unique", ":stats", ":cancelled", ":waiting", "a", "b");
    later_queue_cancel(&cmd, &keys, "", (const char *const[]){ "a" }, 1);
    CALL(CANCEL, "cancel", "11", ":ready", ":delayed", ":reserved", ":reserved:", ":dead", ":jobs",
         ":records", ":unique", ":stats", ":cancelled", ":waiting", "a");
}

/* ---- stock, limit: keys that are not a queue's */

TEST(test_stock)
{
    uint64_t number = 5;

    later_stock_set(&cmd, "later", "phone", 10);
    CALL(STOCK_SET, "stock_set", "2", "later:stock:{phone}", "later:stock:{phone}:claims", "10");
    later_stock_take(&cmd, "later", "phone", "ann");
    CALL(STOCK_CLAIM, "stock_claim", "2", "later:stock:{phone}", "later:stock:{phone}:claims",
         "ann");
    later_stock_give_back(&cmd, "later", "phone", "ann");
    CALL(STOCK_RELEASE, "stock_release", "1", "later:stock:{phone}:claims", "ann");
    later_stock_look(&cmd, "later", "phone");
    CALL(STOCK_SHOW, "stock_show", "2", "later:stock:{phone}", "later:stock:{phone}:claims");
    ck_assert_int_eq(later_stock_taken(reply_of("*2\r\n:1\r\n:7\r\n"), &number), LATER_STOCK_TAKEN);
    ck_assert_uint_eq(number, 7);
    ck_assert_int_eq(later_stock_taken(reply_of("*2\r\n:0\r\n:3\r\n"), &number), LATER_STOCK_HELD);
    ck_assert_uint_eq(number, 3);
    ck_assert_int_eq(later_stock_taken(reply_of("*1\r\n:-1\r\n"), &number), LATER_STOCK_SOLD_OUT);
    ck_assert_uint_eq(number, 3);
}

TEST(test_limit)
{
    later_limit_ask(&cmd, "later", "type:sms", 10, 1.5, false);
    CALL(LIMIT_FIXED, "limit_fixed", "1", "later:limit:{type:sms}", "10", "1.500000");
    later_limit_ask(&cmd, "later", "type:sms", 4294967295U, 60, true);
    CALL(LIMIT_SLIDING, "limit_sliding", "1", "later:limit:{type:sms}", "4294967295", "60.000000");
    ck_assert_double_eq(later_limit_wait(reply_of("$8\r\n0.125000\r\n")), 0.125);
    ck_assert_double_eq(later_limit_wait(reply_of("$0\r\n\r\n")), 0);
}

TEST(test_place)
{
    const char *const tokens[] = { "t1", "t2" };
    int64_t behind;

    later_permit_take(&cmd, "later", "type:a", "t1", 2, 30, "q id");
    CALL(PERMIT_TAKE, "permit_take", "3", "later:running:{type:a}",
         "later:running:{type:a}:waiting", "later:running:{type:a}:due", "t1", "2", "30.000000",
         "q id");
    later_permit_touch(&cmd, "later", "type:a", 30, tokens, 2);
    CALL(PERMIT_TOUCH, "permit_touch", "1", "later:running:{type:a}", "30.000000", "t1", "t2");
    later_permit_free(&cmd, "later", "type:a", "t1");
    CALL(PERMIT_FREE, "permit_free", "1", "later:running:{type:a}", "t1");
    ck_assert(later_permit_taken(reply_of("$0\r\n\r\n"), &behind) && behind == -1);
    ck_assert(!later_permit_taken(reply_of("$8\r\n0.125000\r\n"), &behind) && behind == -1);
    ck_assert(!later_permit_taken(reply_of("$11\r\n0.125000 17\r\n"), &behind) && behind == 17);
}

TEST(test_line)
{
    const struct later_line lock = { .what = LATER_LINE_LOCK, .max = 1, .name = "a" },
                            permit = { .what = LATER_LINE_PERMIT, .max = 2, .name = "a" },
                            limit = { .what = LATER_LINE_LIMIT,
                                      .max = 3,
                                      .per = 60,
                                      .sliding = true,
                                      .name = "a" };
    const struct later_reply *reply = reply_of("*5\r\n:7\r\n$3\r\n0.5\r\n$4\r\nq id\r\n$17\r\n"
                                               "1700000000.123456\r\n$3\r\n5.5\r\n");
    struct later_line_answer answer;
    struct later_limit_answer taken;
    struct later_called job;
    const struct later_put_off off[] = { { "a", 5.5, 9 }, { "b", 6, 10.25 } };

    later_line_ask(&cmd, "later", &lock, 1700000000.5, 5, "q id");
    CALL(LOCK_LINE, "lock_line", "4", "later:lock:{a}", "later:lock:{a}:wake",
         "later:lock:{a}:waiting", "later:lock:{a}:due", "1700000000.500000", "5.000000", "q id");
    later_line_ask(&cmd, "later", &permit, 0, 0, "");
    CALL(PERMIT_LINE, "permit_line", "3", "later:running:{a}", "later:running:{a}:waiting",
         "later:running:{a}:due", "2", "", "0.000000", "");
    later_line_ask(&cmd, "later", &limit, 0, 0, "q id");
    CALL(LIMIT_LINE, "limit_line", "3", "later:limit:{a}", "later:limit:{a}:waiting",
         "later:limit:{a}:due", "3", "60.000000", "sliding", "", "0.000000", "q id");
    later_limit_take(&cmd, "later", &limit, 2);
    later_command_text(&cmd, "q id");
    later_command_text(&cmd, "q other");
    CALL(LIMIT_TAKE, "limit_take", "3", "later:limit:{a}", "later:limit:{a}:waiting",
         "later:limit:{a}:due", "3", "60.000000", "sliding", "q id", "q other");
    later_limit_free(&cmd, "later", &limit, 5.25);
    CALL(LIMIT_FREE, "limit_free", "1", "later:limit:{a}", "sliding", "5.250000");
    later_limit_begun(&cmd, "later", &limit, 5.25);
    CALL(LIMIT_BEGUN, "limit_begun", "1", "later:limit:{a}", "3", "60.000000", "5.250000");
    later_line_answer(reply, &answer);
    ck_assert_uint_eq(answer.waiting, 7);
    ck_assert_double_eq(answer.opens, 0.5);
    ck_assert_uint_eq(answer.called, 1);
    later_line_called(reply, 0, &job);
    ck_assert_str_eq(job.waiter, "q id");
    later_line_hasten(&cmd, &keys, &job, "id");
    CALL(HASTEN, "hasten", "7", "later:{q}:ready", "later:{q}:delayed", "later:{q}:dead",
         "later:{q}:jobs", "later:{q}:records", "later:{q}:wake", "later:{q}:paused",
         "1700000000.123456", "5.500000", "id");
    later_line_put_off(&cmd, &keys, off, 2);
    CALL(PUT_OFF, "put_off", "2", "later:{q}:delayed", "later:{q}:records", "a", "5.500000",
         "9.000000", "b", "6.000000", "10.250000");
    reply = reply_of("*5\r\n:4\r\n$1\r\n2\r\n$3\r\n9.5\r\n:-1\r\n:17\r\n");
    ck_assert(later_limit_taken(reply, 0, &taken));
    ck_assert(taken.at == 9.5 && taken.waiting == 4 && taken.opens == 2 && taken.behind == -1);
    ck_assert(!later_limit_taken(reply, 1, &taken));
    ck_assert(taken.waiting == 0 && taken.opens == 2 && taken.behind == -1);
    ck_assert(!later_limit_taken(reply, 2, &taken));
    ck_assert(taken.opens == 2 && taken.behind == 17);
}

/* A record names a line; whoever has the name can call those that wait, if nothing limits them. */
TEST(test_line_text)
{
    static const struct {
        struct later_line line;
        const char *text;
    } rows[] = {
        { { .what = LATER_LINE_LOCK, .max = 1, .name = "a" }, "l a" },
        { { .what = LATER_LINE_PERMIT, .max = 7, .name = "group:q:b" }, "p group:q:b" },
        { { .what = LATER_LINE_LIMIT, .max = 7, .per = 9, .name = "c" }, "f c" },
        { { .what = LATER_LINE_LIMIT, .max = 7, .per = 9, .sliding = true, .name = "d" }, "s d" },
    };
    static const char *const others[] = { "", "p", "p ", "pa", "x a", "p a b", "p {a}", " a" };
    char text[LATER_LINE_TEXT];
    struct later_line line;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        later_line_text(text, &rows[i].line);
        ck_assert_str_eq(text, rows[i].text);
        ck_assert(later_line_unlimited(text, &line));
        ck_assert_int_eq(line.what, rows[i].line.what);
        ck_assert_str_eq(line.name, rows[i].line.name);
        ck_assert(line.sliding == rows[i].line.sliding);
        ck_assert_uint_ge(line.max, line.what == LATER_LINE_LOCK ? 1 : 100);
        ck_assert((line.per > 0) == (line.what == LATER_LINE_LIMIT));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!later_line_unlimited(others[i], &line), "%s", others[i]);
}

/* ---- tokens */

#define TOKENS 100000

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, LATER_TOKEN_LEN);
}

TEST(test_tokens)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static char tokens[TOKENS][LATER_TOKEN_LEN + 1];
    unsigned counts[36] = { 0 };

    for (size_t i = 0; i < TOKENS; i++) {
        memset(tokens[i], '#', sizeof tokens[i]);
        later_token(tokens[i]);
        ck_assert_uint_eq(strlen(tokens[i]), 16);
        ck_assert_uint_eq(strspn(tokens[i], digits), 16);
        for (size_t c = 0; c < 16; c++)
            counts[strchr(digits, tokens[i][c]) - digits]++;
    }
    qsort(tokens, TOKENS, sizeof *tokens, compare);
    for (size_t i = 1; i < TOKENS; i++)
        ck_assert_str_ne(tokens[i - 1], tokens[i]);
    /* 44,444 of each are expected; 1,300 are more than six standard deviations. */
    for (size_t i = 0; i < 36; i++)
        ck_assert_msg(counts[i] > 43144 && counts[i] < 45744, "%c: %u", digits[i], counts[i]);
}
