/* test_outbox.c: settlements on their way to a live Redis: grouped, refused, lost, repeated. Each
 * takes effect once. */
#include "reservation/outbox.h"
#include "reservation/sending.h"
#include "reservation/value.h"

#include "tests/unit/page.h"

#include "client/call.h"
#include "later/client.h"
#include "log.h"
#include "tests/support/fake_redis.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct outbox *outbox;
static struct slots *page;
static struct fake_redis *fake;
static struct later_keys keys[2];
static int dones, losts;

static void set_up(void)
{
    live_begin();
    later_keys_init(&keys[0], "later", "q");
    later_keys_init(&keys[1], "later", "r");
    dones = losts = 0;
    fake = NULL;
    outbox = NULL;
}

static void tear_down(void)
{
    live_unlink();
    outbox_free(outbox);
    live_unloop();
    page_free_all();
    if (fake)
        fake_stop(fake);
    live_end();
}

static const struct later_keys *keys_of(void *arg, struct slots *slots, uint32_t queue)
{
    ck_assert_ptr_eq(arg, &dones);
    ck_assert_ptr_eq(slots, page);
    return queue < 2 ? &keys[queue] : NULL;
}

static void on_done(void *arg, struct slots *slots, struct slot *slot, bool lost)
{
    ck_assert_ptr_eq(arg, &dones);
    ck_assert_ptr_eq(slots, page);
    /* The slot of one that goes into a line is freed when it is there. */
    ck_assert_int_eq(slot_state(slot),
                     slot_ending(slot) == LATER_ENDED_LINE ? SLOT_FINISHED : SLOT_FREE);
    dones++;
    losts += lost;
}

/* As every owner does: what was put back while the link was down is sent when it is up. */
static void on_up(void)
{
    if (outbox)
        outbox_flush(outbox);
    if (live_link)
        link_flush(live_link);
}

static void begin_at(const char *url, uint32_t capacity)
{
    live_loop_at(url, on_up);
    outbox = outbox_new(live_base, live_link, "the-host", keys_of, on_done, &dones);
    ck_assert_ptr_nonnull(outbox);
    page = page_new(capacity);
}

static void begin(uint32_t capacity)
{
    begin_at(live_url, capacity);
}

static void flush(void)
{
    outbox_flush(outbox);
    link_flush(live_link);
}

static void add(struct slot *slot)
{
    ck_assert(outbox_add(outbox, page, slot));
}

/* A job that ended so, in a slot, without a word. */
static struct slot *ended(uint32_t i, const char *queue, const char *id, enum later_ending ending)
{
    return page_finished(page, i, queue, id, ending, false, 0, "");
}

/* So many of q are done: 0, 1 … */
static void add_done(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char id[16];

        snprintf(id, sizeof id, "%u", i);
        add(ended(i, "q", id, LATER_ENDED_DONE));
    }
}

/* ---- each verb */

LIVE_CASE("settled", set_up, tear_down);

TEST(test_verbs)
{
    double now = live_time();
    json_t *error;

    begin(10);
    add(ended(0, "q", "acked", LATER_ENDED_DONE));
    add(ended(1, "q", "expired", LATER_ENDED_EXPIRED));
    add(page_finished(page, 2, "q", "later", LATER_ENDED_RETRY, false, 50, "a \"why\""));
    add(page_finished(page, 3, "q", "soon", LATER_ENDED_CRASH, false, 0, "boom"));
    add(ended(4, "q", "back", LATER_ENDED_HELD));
    add(page_finished(page, 5, "q", "buried", LATER_ENDED_BAD, false, 0, "no JSON"));
    add(page_finished(page, 6, "q", "lined", LATER_ENDED_LINE, false, now + 60, "p group:q:g"));
    add(page_finished(page, 7, "q", "torn", LATER_ENDED_LINE, false, 60, "p a\nb=1"));
    ck_assert_uint_eq(outbox_waiting(outbox), 8);
    ck_assert_uint_eq(outbox_open(outbox), 8);
    flush();
    ck_assert_uint_eq(outbox_waiting(outbox), 0);
    LIVE_UNTIL(outbox_open(outbox) == 0);
    ck_assert_int_eq(dones, 8);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_held("q"), 0);
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs acked"), 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 1);
    ck_assert_int_eq(live_number("HGET later:{q}:stats expired"), 1);
    ck_assert(fabs(live_score("q", "delayed", "later") - now - 50) < 10);
    ck_assert(fabs(live_score("q", "ready", "soon") - now) < 10);
    ck_assert_double_eq(live_score("q", "ready", "back"), 1004); /* its place */
    ck_assert(!isnan(live_score("q", "dead", "buried")));
    ck_assert(fabs(live_score("q", "delayed", "lined") - now - 60) < 0.001);
    ck_assert_str_eq(strchr(live_noted("q", "l", "lined"), ' '), " p group:q:g");
    ck_assert_double_eq(atof(live_noted("q", "l", "lined")), live_score("q", "delayed", "lined"));
    ck_assert(!isnan(live_score("q", "delayed", "torn"))); /* a page may hold anything */
    ck_assert_str_eq(live_noted("q", "l", "torn"), "");
    ck_assert_int_eq(atoi(live_noted("q", "a", "later")), 1);
    ck_assert_int_eq(atoi(live_noted("q", "c", "soon")), 1);
    ck_assert_str_eq(live_noted("q", "a", "back"), "");
    ck_assert_str_eq(live_noted("q", "a", "buried"), "");
    error = json_loads(live_noted("q", "e", "later"), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(error, "kind")), "retry");
    ck_assert_str_eq(json_string_value(json_object_get(error, "text")), "a \"why\"");
    ck_assert_str_eq(json_string_value(json_object_get(error, "host")), "the-host");
    json_decref(error);
    live_check("q");
}

/* Jobs that leave a result, with what their slots have. */
TEST(test_results)
{
    struct slot *slot;
    struct later_error err;
    json_t *error;

    begin(4);
    slot = ended(0, "q", "short", LATER_ENDED_DONE);
    slot->kept = 60;
    ck_assert_int_eq(value_keep(page, slot, "[1]", 3, &err), 0);
    add(slot);
    slot = ended(1, "q", "none", LATER_ENDED_DONE);
    slot->kept = 1e9; /* what no document could ask for */
    add(slot);
    slot = page_finished(page, 2, "q", "dead", LATER_ENDED_RETRY, true, 0, "why");
    slot->kept = 60;
    add(slot);
    slot = ended(3, "q", "lost", LATER_ENDED_DONE);
    slot->kept = 60;
    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " lost");
    add(slot);
    flush();
    LIVE_UNTIL(outbox_open(outbox) == 0);
    ck_assert_int_eq(dones, 4);
    ck_assert_int_eq(losts, 1);
    ck_assert_str_eq(strchr(live_string("LINDEX later:{q}:result:short 0"), '\n'), "\n[1]");
    ck_assert_str_eq(strchr(live_string("LINDEX later:{q}:result:none 0"), '\n'), "\nnull");
    ck_assert_int_le(live_number("PTTL later:{q}:result:none"), 1000LL * LATER_RESULT_MAX);
    error = json_loads(strchr(live_string("LINDEX later:{q}:result:dead 0"), '\n'), 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(error, "text")), "why");
    ck_assert_str_eq(json_string_value(json_object_get(error, "host")), "the-host");
    json_decref(error);
    ck_assert_int_eq(live_number("EXISTS later:{q}:result:lost"), 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 2);
}

/* 600 done jobs of one token with results are two calls; those that are dead, kept in another way
 * or have a hook, and what has too many bytes, go in others. */
TEST(test_results_together)
{
    static char value[60000];
    struct later_error err;
    long long calls;
    char id[16], folder[100];

    memset(value, '1', sizeof value);
    value[0] = value[sizeof value - 1] = '"';
    begin(610);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(page->path, '/') - page->path),
             page->path);
    ck_assert_int_eq(mkdir(folder, 0700), 0); /* page_new() has deleted it */
    for (int round = 0; round < 2; round++) { /* the scripts are loaded in the first one */
        calls = live_calls();
        for (uint32_t i = 0; i < 610; i++) {
            struct slot *slot;

            snprintf(id, sizeof id, "%d-%u", round, i);
            slot = page_finished(page, i, "q", id, i == 604 ? LATER_ENDED_BURY : LATER_ENDED_DONE,
                                 false, 0, "");
            slot->kept = 60;
            slot->keep = i >= 606 && i <= 607 ? i - 546 : 0; /* 60, 61 seconds */
            slot->keep_max = 5;
            snprintf(slot->on_done, sizeof slot->on_done, "%s", i == 605 ? "tell" : "");
            ck_assert_int_eq(i >= 608 || i < 4 ? value_keep(page, slot, value, sizeof value, &err)
                                               : value_keep(page, slot, "11", 2, &err),
                             0);
            add(slot);
        }
        flush();
        LIVE_UNTIL(outbox_open(outbox) == 0);
    }
    /* 4 long ones leave no room for a fifth, but for 498 short ones: 500. 608 and 609 go with what
     * is left of the short ones. And 604, 605, 606 and 607 by themselves. */
    ck_assert_int_eq(live_calls() - calls, 6);
    ck_assert_int_eq(dones, 1220);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 1218);
    ck_assert_int_eq(live_number("ZCARD later:{q}:dead"), 2);
    ck_assert_int_eq(live_number("ZCARD later:{q}:delayed"), 2);
    ck_assert_int_eq(live_number("ZCARD later:{q}:done"), 4);
    ck_assert_ptr_nonnull(strstr(live_string("LINDEX later:{q}:result:1-609 0"), "\n\"111"));
    ck_assert_str_eq(strchr(live_string("LINDEX later:{q}:result:1-600 0"), '\n'), "\n11");
    ck_assert_int_eq(rmdir(folder), 0); /* no file of a value is left */
    live_check("q");
}

/* ---- grouping */

/* Four acks of q, two of r, a return, and again, which are flushed. */
static void end_groups(const char *prefix)
{
    for (uint32_t i = 0; i < 2100; i++) {
        char id[16];

        snprintf(id, sizeof id, "%s%u", prefix, i);
        add(ended(i, i % 7 < 4 || i % 7 == 6 ? "q" : "r", id,
                  i % 7 < 6 ? LATER_ENDED_DONE : LATER_ENDED_HELD));
    }
    flush();
}

/* 1,200 + 600 acks of two queues and 300 returns are 3 + 2 + 1 calls, whatever order they came in.
 */
TEST(test_groups)
{
    long long calls;

    begin(2100);
    end_groups("a");
    LIVE_UNTIL(outbox_open(outbox) == 0); /* scripts are loaded now, or not: count the next */
    calls = live_calls();
    end_groups("b");
    LIVE_UNTIL(outbox_open(outbox) == 0);
    ck_assert_int_eq(live_calls() - calls, 6);
    ck_assert_int_eq(dones, 4200);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 2400);
    ck_assert_int_eq(live_number("HGET later:{r}:stats done"), 1200);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 600);
    live_check("q");
    live_check("r");
}

/* ---- not ours any more */

TEST(test_lost)
{
    begin(6);
    add_done(6);
    for (int i = 1; i < 6; i += 2) { /* it lapsed meanwhile, and somebody else has it */
        live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " %d", i);
        live_do("ZADD later:{q}:reserved 9e9 anothertokenxxxx");
        live_do("ZADD later:{q}:reserved:anothertokenxxxx 1 %d", i);
    }
    flush();
    LIVE_UNTIL(dones == 6);
    ck_assert_int_eq(losts, 3);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 3);
    ck_assert_int_eq(live_held("q"), 3);
    live_check("q");
}

/* ---- all that a token was given */

/* The first `count` of the five jobs of one reserve, done. */
static void add_given(uint32_t count)
{
    static const char *const ids[] = { "0", "1", "2", "3", "4" };

    for (uint32_t i = 0; i < count; i++) {
        struct slot *slot = ended(i, "q", ids[i], LATER_ENDED_DONE);

        slot->given = 5;
        add(slot);
    }
}

TEST(test_whole)
{
    begin(5);
    add_given(5);
    flush();
    LIVE_UNTIL(dones == 5);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 5);
    ck_assert_int_eq(live_held("q"), 0);
    live_check("q");
}

/* Two are gone meanwhile: which ones is learnt by their ids. */
TEST(test_whole_but_for_some)
{
    begin(5);
    add_given(5);
    live_do("ZREM later:{q}:reserved:" PAGE_TOKEN " 1 3");
    live_do("HDEL later:{q}:jobs 1 3");
    live_do("HINCRBY later:{q}:stats cancelled 2");
    flush();
    LIVE_UNTIL(dones == 5);
    ck_assert_int_eq(losts, 2);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 3);
    ck_assert_int_eq(live_held("q"), 0);
    live_check("q");
}

/* One of them still runs: the others go by their ids, and it stays. */
TEST(test_not_whole)
{
    begin(5);
    add_given(4);
    page_hold(page, 4, "q", "4", SLOT_RUNNING, 1000)->given = 5;
    flush();
    LIVE_UNTIL(dones == 4);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_held("q"), 1);
    live_check("q");
}

/* In the middle of a batch its acks stay; those of one that is over go, whole or not. */
TEST(test_early)
{
    struct slot *slot;

    begin(8);
    for (uint32_t i = 0; i < 2; i++) {
        slot = ended(i, "q", i ? "1" : "0", LATER_ENDED_DONE);
        slot->given = 3;
        add(slot);
    }
    add(ended(2, "q", "back", LATER_ENDED_HELD));
    outbox_flush_early(outbox);
    link_flush(live_link);
    ck_assert_uint_eq(outbox_waiting(outbox), 2);
    LIVE_UNTIL(dones == 1);
    slot = page_hold_by(page, 3, "q", "new", "newtokennewtoken", SLOT_RUNNING, 1000);
    slot->given = 2;
    slot_finish(slot, (struct later_verdict){ .ending = LATER_ENDED_DONE }, "");
    atomic_store(&slot->state, SLOT_FINISHED);
    add(slot);
    outbox_flush_early(outbox);
    link_flush(live_link);
    ck_assert_uint_eq(outbox_waiting(outbox), 1);
    LIVE_UNTIL(dones == 3);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 2);
    flush();
    LIVE_UNTIL(dones == 4);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_held("q"), 0);
    live_check("q");
}

/* What may go in one call with a reserve stays; all else goes before that. */
TEST(test_but_acks)
{
    begin(2);
    add(ended(0, "q", "0", LATER_ENDED_DONE));
    add(ended(1, "q", "back", LATER_ENDED_HELD));
    outbox_flush_but_joining(outbox);
    link_flush(live_link);
    ck_assert_uint_eq(outbox_waiting(outbox), 1);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(live_number("HGET later:{q}:stats returned"), 1);
    flush();
    LIVE_UNTIL(dones == 2);
    live_check("q");
}

TEST(test_unknown_queue)
{
    struct slot *slot;

    begin(1);
    slot = ended(0, "q", "a", LATER_ENDED_DONE);
    slot->queue = 7;
    ck_assert(!outbox_add(outbox, page, slot));
    ck_assert_uint_eq(outbox_open(outbox), 0);
    ck_assert_int_eq(slot_state(slot), SLOT_FREE); /* its lease is not renewed any more */
}

/* ---- Redis refuses */

static void add_all_verbs(void)
{
    add(ended(0, "q", "0", LATER_ENDED_DONE));
    add(ended(1, "q", "1", LATER_ENDED_EXPIRED));
    add(page_finished(page, 2, "q", "2", LATER_ENDED_RETRY, false, 50, "why"));
    add(page_finished(page, 3, "q", "3", LATER_ENDED_RETRY, false, 0, "why"));
    add(ended(4, "q", "4", LATER_ENDED_HELD));
    add(page_finished(page, 5, "q", "5", LATER_ENDED_RETRY, true, 0, "why"));
}

LIVE_CASE("refused", set_up, tear_down);

/* A full Redis takes every settlement; it refuses what is pushed, and only that. */
TEST(test_full)
{
    struct later_error err;
    struct later_client *client = live_client();
    const struct later_new_job job = { .type = "t" };

    begin(6);
    add_all_verbs();
    live_do("CONFIG SET maxmemory 1");
    flush();
    LIVE_UNTIL(outbox_open(outbox) == 0);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_lt(later_push(client, "q", &job, NULL, NULL, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "OOM"));
    later_client_close(client);
    live_check("q");
}

/* A master that became a replica: tried again twice a second, over a new connection, until it or
 * another takes it. One line in the log. */
TEST(test_readonly)
{
    double from;

    begin(6);
    add_all_verbs();
    live_do("REPLICAOF 127.0.0.1 1");
    live_log_begin(LOG_WARN);
    from = later_clock();
    while (live_downs < 4) { /* a busy owner flushes again and again */
        flush();
        live_turn();
    }
    ck_assert_double_ge(later_clock() - from, 0.9);
    ck_assert_int_eq(dones, 0);
    ck_assert_int_eq(live_logged("jobs of queue q: READONLY"), 1);
    ck_assert_int_eq(live_logged("redis refuses"), 1);
    live_do("REPLICAOF NO ONE");
    LIVE_UNTIL(dones == 6);
    ck_assert_int_eq(losts, 0);
    ck_assert_uint_eq(outbox_open(outbox), 0);
    live_check("q");
    live_log_end();
}

/* What is in the way of one queue does not hold up another. */
TEST(test_wrong_type_in_one_queue)
{
    begin(2);
    log_open(LOG_ERROR, false, "test");
    add(ended(0, "q", "a", LATER_ENDED_DONE));
    add(ended(1, "r", "b", LATER_ENDED_DONE));
    live_do("RENAME later:{q}:stats kept");
    live_do("SET later:{q}:stats nonsense");
    flush();
    LIVE_UNTIL(dones == 1);
    flush();
    ck_assert_int_eq(live_number("HGET later:{r}:stats done"), 1);
    ck_assert_uint_eq(outbox_open(outbox), 1);
    live_do("RENAME kept later:{q}:stats");
    LIVE_UNTIL(dones == 2);
    live_check("q");
}

/* ---- the connection breaks */

LIVE_CASE("broken", set_up, tear_down);

/* The settlement was carried out; its repeat finds nothing, which is no loss: acks by their ids,
 * and of a whole token. */
TEST(test_lost_answer)
{
    int lose = 0;

    fake = fake_start(live_lose, &lose);
    begin_at(fake_url(fake), 500);
    add(ended(0, "q", "warm", LATER_ENDED_DONE));
    flush();
    LIVE_UNTIL(dones == 1); /* the script is there now */
    add_done(500);
    lose = 1;
    flush();
    LIVE_UNTIL(dones == 501);
    ck_assert_int_eq(lose, 0);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 501); /* each once */
    ck_assert_int_eq(live_number("HLEN later:{q}:jobs"), 0);
    add_given(5);
    flush();
    LIVE_UNTIL(dones == 506); /* the script is there now */
    add_given(5);
    lose = 1;
    flush();
    LIVE_UNTIL(dones == 511);
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), 511);
    live_check("q");
}

/* ---- in one call with a reserve */

#define NEXT "nextnextnextnext"

static int stepped; /* outcome of the last step; -1: none yet */

static void on_stepped(void *arg, struct later_answer *answer)
{
    stepped = (int)answer->outcome;
    outbox_joined(arg, answer);
}

static struct sending *join(size_t most, bool early)
{
    return outbox_join(outbox, &keys[0], most, early);
}

static void send_step(const char *token)
{
    const struct later_take take = { .token = token, .lease = 30, .limit = 1, .bytes = 1000 };
    struct sending *sending = join(16, false);
    struct later_command cmd = { 0 };

    ck_assert_ptr_nonnull(sending);
    ck_assert_uint_eq(outbox_waiting(outbox), 0);
    ck_assert(sending_encode(sending, &take, &cmd));
    stepped = -1;
    ck_assert_int_eq(link_send(live_link, &cmd, LINK_TIMEOUT, on_stepped, sending), 0);
    link_flush(live_link);
}

/* One that is done, and one that is ready. */
static void begin_step(const char *url)
{
    begin_at(url, 20);
    add(ended(0, "q", "a", LATER_ENDED_DONE));
    live_do("HSET later:{q}:jobs b {}");
    live_do("ZADD later:{q}:ready 5 b");
    live_do("HINCRBY later:{q}:stats pushed 1");
}

static void check_step(int done, int next)
{
    ck_assert_int_eq(losts, 0);
    ck_assert_int_eq(live_number("HGET later:{q}:stats done"), done);
    ck_assert_int_eq(live_number("ZCARD later:{q}:reserved:" NEXT), next);
    ck_assert_int_eq(live_number("ZCARD later:{q}:reserved:" PAGE_TOKEN), 0);
    live_check("q");
}

LIVE_CASE("joined", set_up, tear_down);

TEST(test_step)
{
    begin_step(live_url);
    send_step(NEXT);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(stepped, LATER_ANSWERED);
    check_step(1, 1);
}

/* Its value goes along; nothing of it is sent before. */
TEST(test_step_with_a_result)
{
    struct later_error err;
    struct slot *slot;

    begin_at(live_url, 20);
    slot = ended(0, "q", "a", LATER_ENDED_DONE);
    slot->kept = 60;
    ck_assert_int_eq(value_keep(page, slot, "[1]", 3, &err), 0);
    add(slot);
    outbox_flush_but_joining(outbox);
    ck_assert_ptr_null(join(16, true));
    send_step(NEXT);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(stepped, LATER_ANSWERED);
    ck_assert_str_eq(strchr(live_string("LINDEX later:{q}:result:a 0"), '\n'), "\n[1]");
    check_step(1, 0);
}

TEST(test_step_of_a_lost_one)
{
    begin_step(live_url);
    live_do("DEL later:{q}:reserved:" PAGE_TOKEN);
    live_do("ZREM later:{q}:reserved " PAGE_TOKEN);
    live_do("ZADD later:{q}:delayed 9e9 a");
    send_step(NEXT);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(losts, 1);
    live_check("q");
}

/* Which acks go with a reserve: a few of one token and of the same queue, and not a part of those
 * that will go by their number. */
TEST(test_what_joins)
{
    struct sending *sending;

    begin(20);
    ck_assert_ptr_null(join(16, false)); /* none */
    add(ended(5, "r", "r", LATER_ENDED_DONE));
    add(ended(6, "q", "back", LATER_ENDED_HELD));
    ck_assert_ptr_null(join(16, false)); /* none of this queue */
    add_given(3);                        /* of five */
    ck_assert_ptr_null(join(2, false));  /* too many */
    ck_assert_ptr_null(join(16, true));  /* more are to come */
    ck_assert_uint_eq(outbox_waiting(outbox), 5);
    sending = join(3, false);
    ck_assert_ptr_nonnull(sending);
    ck_assert_uint_eq(outbox_waiting(outbox), 2);
    outbox_joined(sending, NULL); /* it was not sent */
    ck_assert_uint_eq(outbox_waiting(outbox), 5);
    ck_assert_uint_eq(outbox_open(outbox), 5);
    flush();
    LIVE_UNTIL(dones == 5);
    ck_assert_int_eq(losts, 0);
}

/* Redis refuses the call for what the reserve asks: the ack goes by itself. */
TEST(test_refused_step)
{
    begin_step(live_url);
    live_do("ZADD later:{q}:reserved:" NEXT " 1 x");
    send_step(NEXT);
    LIVE_UNTIL(stepped >= 0);
    ck_assert_int_eq(stepped, LATER_REFUSED);
    ck_assert_uint_eq(outbox_waiting(outbox), 1);
    flush();
    LIVE_UNTIL(dones == 1);
    live_do("DEL later:{q}:reserved:" NEXT);
    check_step(1, 0);
}

/* ---- the connection breaks, at a step and anywhere */

LIVE_CASE("broken", set_up, tear_down);

/* It was carried out: the ack is sent again, and finds nothing, which is no loss. */
TEST(test_lost_answer_of_a_step)
{
    int lose = 0;

    fake = fake_start(live_lose, &lose);
    begin_step(fake_url(fake));
    send_step("warmwarmwarmwarm"); /* the script is there then */
    LIVE_UNTIL(dones == 1);
    add(ended(1, "q", "c", LATER_ENDED_DONE));
    live_do("HSET later:{q}:jobs d {}");
    live_do("ZADD later:{q}:ready 6 d");
    live_do("HINCRBY later:{q}:stats pushed 1");
    lose = 1;
    send_step(NEXT);
    LIVE_UNTIL(dones == 2);
    ck_assert_int_eq(stepped, LATER_UNKNOWN);
    ck_assert_int_eq(live_number("ZSCORE later:{q}:reserved:" NEXT " d"), 6); /* for find.h */
    check_step(2, 1);
}

static void cut_somewhere(struct fake_redis *f, void *arg)
{
    unsigned seed = *(unsigned *)arg;

    while (fake_accept(f)) {
        size_t up = SIZE_MAX, down = SIZE_MAX;

        *(rand_r(&seed) % 2 ? &up : &down) = 20 + (size_t)rand_r(&seed) % 20000;
        fake_relay(f, live_server.socket, up, down);
    }
}

TEST_EACH(test_cut_anywhere, 4)
{
    unsigned seed = (unsigned)_i + 23;
    char id[16];

    fake = fake_start(cut_somewhere, &seed);
    begin_at(fake_url(fake), 400);
    for (int round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < 400; i++) {
            static const enum later_ending endings[] = { LATER_ENDED_DONE, LATER_ENDED_EXPIRED,
                                                         LATER_ENDED_RETRY, LATER_ENDED_HELD,
                                                         LATER_ENDED_BURY };
            struct slot *slot;

            snprintf(id, sizeof id, "%d-%u", round, i);
            slot = page_finished(page, i, i % 3 ? "q" : "r", id, endings[i % 5], false, 0, "");
            slot->kept = i % 2 ? 60 : 0;
            add(slot);
        }
        flush();
        LIVE_UNTIL(outbox_open(outbox) == 0);
    }
    ck_assert_int_eq(dones, 2000);
    for (int i = 0; i < 2; i++) {
        const char *queue = i ? "r" : "q";

        ck_assert_int_eq(live_held(queue), 0);
        live_check(queue);
    }
    ck_assert_int_eq(
        live_number("HGET later:{q}:stats done") + live_number("HGET later:{r}:stats done"), 400);
    ck_assert_int_eq(live_number("HGET later:{q}:stats released") +
                         live_number("HGET later:{r}:stats released"),
                     400);
}

/* Put in while the link is down: sent when it is up. */
TEST(test_while_down)
{
    begin(1);
    add(ended(0, "q", "a", LATER_ENDED_DONE));
    link_break(live_link, "off");
    flush();
    ck_assert_uint_eq(outbox_waiting(outbox), 1);
    LIVE_UNTIL(dones == 1);
    ck_assert_int_eq(losts, 0);
}

TEST(test_freed_with_some_open)
{
    begin(600);
    add_done(600);
    flush();
    add(ended(0, "q", "more", LATER_ENDED_DONE));
    live_unlink(); /* answers what is out: back into its group */
    ck_assert_uint_eq(outbox_waiting(outbox), 601);
    outbox_free(outbox);
    outbox_free(NULL);
    outbox = NULL;
    for (int i = 0; i < 60; i++)
        live_turn(); /* its timer is gone too */
}
