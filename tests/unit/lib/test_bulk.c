/* test_bulk.c: pushing many jobs: each exactly once and in order, whatever the connection does. */
#include "tests/unit/live.h"

#include "client/bulk.h"
#include "later/client.h"
#include "tests/support/fake_redis.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS   10000
#define QUEUES 3

static const char *const queues[QUEUES] = { "a", "b", "c" };

static struct later_client *client;
static struct later_bulk *bulk;
static struct fake_redis *fake;
static struct later_error err;

/* What each job was told, and how far each queue has come. */
static int told[JOBS], how[4], failed;
static uint64_t last_mark[QUEUES];
static bool in_order;

static void set_up(void)
{
    live_begin();
    client = NULL;
    bulk = NULL;
    fake = NULL;
    memset(told, 0, sizeof told);
    memset(how, 0, sizeof how);
    memset(last_mark, 0, sizeof last_mark);
    failed = 0;
    in_order = true;
}

static void tear_down(void)
{
    later_bulk_free(bulk);
    later_client_close(client);
    if (fake)
        fake_stop(fake);
    live_end();
}

static size_t queue_number(const char *name)
{
    size_t q = 0;

    while (q < QUEUES - 1 && strcmp(queues[q], name) != 0)
        q++;
    return q;
}

static void on_told(void *arg, const struct later_bulk_told *job)
{
    size_t q = queue_number(job->queue);
    char id[32];

    (void)arg;
    ck_assert_uint_lt(job->mark, JOBS);
    snprintf(id, sizeof id, "j%06u", (unsigned)job->mark);
    ck_assert_str_eq(job->id, id);
    told[job->mark]++;
    if (job->err)
        failed++;
    else
        how[job->how]++;
    in_order = in_order && (last_mark[q] == 0 || job->mark > last_mark[q]);
    last_mark[q] = job->mark;
}

static void open_bulk(const char *url, double timeout, double patience)
{
    client = later_client_open_with(
        &(struct later_client_options){ .url = url, .timeout = timeout }, &err);
    ck_assert_msg(client != NULL, "%s", err.text);
    bulk = later_bulk_new(client, on_told, NULL);
    ck_assert_ptr_nonnull(bulk);
    later_bulk_patience(bulk, patience);
}

static int add(uint64_t mark)
{
    char id[32];
    const struct later_push_item item = { .id = id,
                                          .document = "{\"type\":\"t\"}",
                                          .document_len = 12 };

    snprintf(id, sizeof id, "j%06u", (unsigned)mark);
    return later_bulk_add(bulk, queues[mark % QUEUES], &item, mark, &err);
}

static void add_all(void)
{
    for (uint64_t i = 0; i < JOBS; i++)
        ck_assert_msg(add(i) == 0, "%u: %s", (unsigned)i, err.text);
    ck_assert_msg(later_bulk_finish(bulk, &err) == 0, "%s", err.text);
}

/* Each was told once, is there once, and none was seen a second time. */
static void check_all(void)
{
    for (int i = 0; i < JOBS; i++)
        ck_assert_msg(told[i] == 1, "job %d was told %d times", i, told[i]);
    ck_assert_int_eq(how[LATER_IS_PUSHED], JOBS);
    ck_assert_int_eq(failed, 0);
    for (size_t q = 0; q < QUEUES; q++) {
        long long expected = JOBS / QUEUES + (q < JOBS % QUEUES);

        ck_assert_int_eq(live_number("HGET later:{%s}:stats pushed", queues[q]), expected);
        ck_assert_int_eq(live_number("HLEN later:{%s}:jobs", queues[q]), expected);
        ck_assert_str_eq(live_string("HGET later:{%s}:stats duplicate", queues[q]), "");
        ck_assert_int_eq(live_number("SISMEMBER later:queues %s", queues[q]), 1);
        live_check(queues[q]);
    }
}

/* Ready holds each queue's jobs in the order in which they were added. */
static void check_order(void)
{
    redisContext *redis = server_connect(&live_server);

    for (size_t q = 0; q < QUEUES; q++) {
        redisReply *ids = redisCommand(redis, "ZRANGE later:{%s}:ready 0 -1", queues[q]);

        ck_assert_ptr_nonnull(ids);
        for (size_t i = 1; i < ids->elements; i++)
            ck_assert_str_lt(ids->element[i - 1]->str, ids->element[i]->str);
        freeReplyObject(ids);
    }
    redisFree(redis);
    ck_assert(in_order);
}

LIVE_CASE("whole", set_up, tear_down);

TEST(test_plain)
{
    open_bulk(live_url, 5, 0);
    add_all();
    check_all();
    check_order();
    add_all(); /* more may be added: all are known by now */
    ck_assert_int_eq(how[LATER_IS_KNOWN], JOBS);
}

/* ---- the connection is cut */

LIVE_CASE("cut", set_up, tear_down);

TEST_EACH(test_cut_anywhere, 6)
{
    unsigned seed = (unsigned)_i * 7 + 1;

    fake = fake_start(live_cut, &seed);
    ck_assert_ptr_nonnull(fake);
    open_bulk(fake_url(fake), 5, 20);
    add_all();
    ck_assert_uint_gt(fake_accepted(fake), 4); /* it was cut */
    check_all();
    check_order();
}

/* Redis itself throws us out, every few milliseconds. */
static pid_t start_killer(void)
{
    pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        redisContext *redis = server_connect(&live_server);

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (redis && getppid() == parent) {
            freeReplyObject(redisCommand(redis, "CLIENT KILL TYPE normal SKIPME yes"));
            usleep((useconds_t)(10000 * live_slowness()));
        }
        _exit(0);
    }
    return pid;
}

/* Connections that Redis has seen. */
static long connections(void)
{
    const char *line = strstr(live_string("INFO stats"), "total_connections_received:");

    ck_assert_ptr_nonnull(line);
    return strtol(strchr(line, ':') + 1, NULL, 10);
}

TEST_EACH(test_client_kill, 3)
{
    long before = connections();
    pid_t killer = start_killer();

    open_bulk(live_url, 5, 20);
    add_all();
    kill(killer, SIGKILL);
    waitpid(killer, NULL, 0);
    /* The killer's, ours, that of this look: without more, the push was over before the first cut.
     * test_cut_anywhere cuts for sure. */
    if (connections() <= before + 4)
        printf("# this time nobody was cut\n");
    check_all();
    check_order();
}

/* ---- answers that say no */

TEST(test_refused)
{
    open_bulk(live_url, 5, 0);
    live_do("CONFIG SET maxmemory 1");
    for (uint64_t i = 0; i < 1200; i++)
        ck_assert_int_eq(add(i), 0);
    ck_assert_int_eq(later_bulk_finish(bulk, &err), 0); /* all was answered */
    ck_assert_int_eq(failed, 1200);
    live_do("CONFIG SET maxmemory 0");
    ck_assert_int_eq(add(0), 0);
    ck_assert_int_eq(later_bulk_finish(bulk, &err), 0);
    ck_assert_int_eq(how[LATER_IS_PUSHED], 1);
    ck_assert_int_eq(failed, 1200);
}

TEST(test_bad_queue)
{
    const struct later_push_item item = { .id = "x", .document = "{}", .document_len = 2 };

    open_bulk(live_url, 5, 0);
    ck_assert_int_lt(later_bulk_add(bulk, "no queue", &item, 0, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_int_eq(later_bulk_finish(bulk, &err), 0);
}

/* ---- Redis is gone */

LIVE_CASE("gone", set_up, tear_down);

TEST(test_gone)
{
    double from = later_clock();
    int result = 0;

    open_bulk("unix:/tmp/later-no-such-socket", 60, 0);
    for (uint64_t i = 0; i < JOBS && result == 0; i++)
        result = add(i);
    ck_assert_int_lt(result, 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_double_le(later_clock() - from, 30); /* not the time that a call may take */
}

static void refuse(struct fake_redis *f, int times)
{
    for (int i = 0; i < times && fake_accept(f); i++)
        fake_cut(f);
}

/* Reads up to a push, and leaves it without an answer. */
static void cut_push(struct fake_redis *f)
{
    while (fake_read(f) && strcmp(fake_word(f, 0), "EVALSHA") != 0)
        fake_say(f, ":1\r\n");
    fake_cut(f);
}

static void relay_all(struct fake_redis *f)
{
    while (fake_accept(f))
        fake_relay(f, live_server.socket, SIZE_MAX, SIZE_MAX);
}

/* It comes back while patience lasts. */
static void absent_at_first(struct fake_redis *f, void *arg)
{
    (void)arg;
    refuse(f, 3);
    relay_all(f);
}

TEST(test_patience)
{
    fake = fake_start(absent_at_first, NULL);
    open_bulk(fake_url(fake), 5, 20);
    add_all();
    check_all();
    check_order();
    ck_assert_uint_eq(fake_accepted(fake), 4);
}

static void cut_each_answer(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_shake(f))
        cut_push(f);
}

/* Tries that do not get there are not counted with the ones whose answer is lost. */
static void absent_then_cut(struct fake_redis *f, void *arg)
{
    (void)arg;
    refuse(f, 8);
    if (fake_shake(f))
        cut_push(f);
    relay_all(f);
}

TEST(test_patience_and_a_loss)
{
    fake = fake_start(absent_then_cut, NULL);
    open_bulk(fake_url(fake), 5, 60);
    add_all();
    check_all();
    check_order();
}

/* Says to `times` pushes that the Cluster is down. */
static void say_down(struct fake_redis *f, int times)
{
    while (times > 0 && fake_read(f)) {
        bool push = strcmp(fake_word(f, 0), "EVALSHA") == 0;

        fake_say(f, push ? "-CLUSTERDOWN The cluster is down\r\n" : ":1\r\n");
        times -= push;
    }
}

static void down_at_first(struct fake_redis *f, void *arg)
{
    (void)arg;
    if (fake_shake(f))
        say_down(f, 12);
    fake_cut(f);
    relay_all(f);
}

TEST(test_down_at_first)
{
    fake = fake_start(down_at_first, NULL);
    open_bulk(fake_url(fake), 5, 60);
    add_all();
    check_all();
    check_order();
}

static void down_for_good(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_shake(f))
        say_down(f, INT_MAX);
}

/* All is told, in the words of Redis. */
TEST(test_down_for_good)
{
    fake = fake_start(down_for_good, NULL);
    open_bulk(fake_url(fake), 5, 0.5);
    for (uint64_t i = 0; i < 1200; i++)
        ck_assert_int_eq(add(i), 0);
    ck_assert_int_eq(later_bulk_finish(bulk, &err), 0);
    ck_assert_int_eq(failed, 1200);
}

/* A connection that can be made but breaks each time: not for ever. */
TEST(test_never_an_answer)
{
    int result = 0;

    fake = fake_start(cut_each_answer, NULL);
    open_bulk(fake_url(fake), 5, 20);
    for (uint64_t i = 0; i < JOBS && result == 0; i++)
        result = add(i);
    if (result == 0)
        result = later_bulk_finish(bulk, &err);
    ck_assert_int_lt(result, 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_uint_le(fake_accepted(fake), 40);
    later_bulk_free(bulk); /* with batches that have no answer */
    bulk = NULL;
}

/* ---- sizes */

static uint64_t counted;

static void count_told(void *arg, const struct later_bulk_told *job)
{
    (void)arg;
    counted += job->err == NULL;
}

/* More queues than there are places, and documents larger than a batch. */
TEST(test_many_queues_large_documents)
{
    size_t len = 300 * 1024;
    char *document = malloc(len), queue[16], id[16];

    memset(document, ' ', len);
    memcpy(document, "{\"type\":\"t\"}", 12);
    counted = 0;
    client = live_client();
    bulk = later_bulk_new(client, count_told, NULL);
    for (int i = 0; i < 400; i++) {
        struct later_push_item item = { .id = id,
                                        .document = document,
                                        .document_len = i % 50 ? 12 : len };

        snprintf(queue, sizeof queue, "q%d", i % 200);
        snprintf(id, sizeof id, "%d", i);
        ck_assert_int_eq(later_bulk_add(bulk, queue, &item, (uint64_t)i, &err), 0);
    }
    ck_assert_int_eq(later_bulk_finish(bulk, &err), 0);
    ck_assert_uint_eq(counted, 400);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(live_number("ZCARD later:{q%d}:ready", i), 2);
    ck_assert_int_eq(live_number("HSTRLEN later:{q0}:jobs 0"), (long long)len);
    free(document);
}

TEST(test_free_unfinished)
{
    open_bulk(live_url, 5, 0);
    for (uint64_t i = 0; i < 5000; i++)
        ck_assert_int_eq(add(i), 0);
    later_bulk_free(bulk);
    bulk = NULL;
    later_bulk_free(NULL);
    ck_assert_int_le(live_number("HLEN later:{a}:jobs"), 5000 / QUEUES + 1);
}
