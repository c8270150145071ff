/* test_push_shards.c: pushing into a queue with shards, while their number changes: no id is in two
 * places, none is lost. Where ids belong is calculated here from their CRC, not by
 * lib/queue/shards. */
#include "tests/unit/live.h"

#include "client/bulk.h"
#include "client/flow_send.h"
#include "later/client.h"
#include "redis/script.h"
#include "redis/slot.h"
#include "tests/support/fake_redis.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS   20000
#define SHARDS 33 /* the plain queue, and q/0 … q/31 */

static struct later_client *client;
static struct later_bulk *bulk;
static struct fake_redis *fake;
static struct later_error err;

/* What each push answered, and where the job was found. */
static int told[JOBS], how[4], failed, answered;
static int found[JOBS], place_of[JOBS];

static void set_up(void)
{
    live_begin();
    client = NULL;
    bulk = NULL;
    fake = NULL;
    memset(told, 0, sizeof told);
    memset(how, 0, sizeof how);
    failed = answered = 0;
}

static void tear_down(void)
{
    later_bulk_free(bulk);
    later_client_close(client);
    if (fake)
        fake_stop(fake);
    live_end();
}

static void open_at(const char *url)
{
    client = later_client_open_with(
        &(struct later_client_options){ .url = url, .timeout = 30 * live_slowness() }, &err);
    ck_assert_msg(client != NULL, "%s", err.text);
}

static void reopen(void)
{
    later_client_close(client);
    open_at(live_url);
}

/* The number of a queue of the whole: 0 is the plain one, 1 + i the shard i. */
static const char *place_name(int place)
{
    static char name[8];

    snprintf(name, sizeof name, place ? "q/%d" : "q", place - 1);
    return name;
}

static int place_under(const char *id, int count)
{
    return count > 1 ? 1 + later_slot_crc16(id, strlen(id)) % count : 0;
}

/* The script, by Redis itself. */
static void reshard(const char *counts)
{
    static char before[100];
    const char *after;

    snprintf(before, sizeof before, "%s", live_string("GET later:{q}:shards"));
    after = live_string("EVAL %s 1 later:{q}:shards %s %s",
                        later_script_texts[LATER_SCRIPT_RESHARD].text, before, counts);
    ck_assert_str_ne(after, before);
    ck_assert_str_eq(strchr(after, ' ') + 1, counts);
}

static const char *name_id(char id[16], int n)
{
    snprintf(id, 16, "j%06d", n);
    return id;
}

static enum later_push_result push(int n, int replace)
{
    char id[16];
    struct later_new_job job = { .type = "t", .id = name_id(id, n), .replace = replace };
    enum later_push_result result = (enum later_push_result)9;

    ck_assert_msg(later_push(client, "q", &job, NULL, &result, &err) == 0, "%s", err.text);
    return result;
}

/* Jobs `from` to `to` − 1; all must be answered the same. */
static void push_many(int from, int to, enum later_push_result expected)
{
    static struct later_new_job jobs[JOBS];
    static enum later_push_result results[JOBS];
    static char ids[JOBS][16];
    size_t count = (size_t)(to - from);

    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct later_new_job){ .type = "t", .id = name_id(ids[i], from + (int)i) };
        results[i] = (enum later_push_result)9;
    }
    ck_assert_msg(later_push_many(client, "q", jobs, count, results, &err) == 0, "%s", err.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(results[i] == expected, "%s: %d", ids[i], (int)results[i]);
}

/* Looks into all places: fills found and place_of. */
static void look(void)
{
    redisContext *redis = server_connect(&live_server);

    memset(found, 0, sizeof found);
    for (int place = 0; place < SHARDS; place++) {
        redisReply *ids = redisCommand(redis, "HKEYS later:{%s}:jobs", place_name(place));

        ck_assert_ptr_nonnull(ids);
        for (size_t i = 0; i < ids->elements; i++) {
            long n = strtol(ids->element[i]->str + 1, NULL, 10);

            ck_assert_int_lt(n, JOBS);
            found[n]++;
            place_of[n] = place;
        }
        freeReplyObject(ids);
        live_check(place_name(place));
    }
    redisFree(redis);
}

/* Each of the first `jobs` is there once; no other is. */
static void check_once(int jobs)
{
    look();
    for (int n = 0; n < JOBS; n++)
        ck_assert_msg(found[n] == (n < jobs), "job %d is there %d times", n, found[n]);
}

/* They are where they belong under this count. */
static void check_places(int from, int to, int count)
{
    char id[16];

    for (int n = from; n < to; n++)
        ck_assert_msg(place_of[n] == place_under(name_id(id, n), count), "job %d is in %s", n,
                      place_name(place_of[n]));
}

/* This many were pushed, and as many are known in all places together. */
static void check_counters(long long pushed, long long duplicate)
{
    long long sum[2] = { 0, 0 };

    for (int place = 0; place < SHARDS; place++) {
        sum[0] += live_number("HGET later:{%s}:stats pushed", place_name(place));
        sum[1] += live_number("HGET later:{%s}:stats duplicate", place_name(place));
    }
    ck_assert_int_eq(sum[0], pushed);
    ck_assert_int_eq(sum[1], duplicate);
}

/* ---- a plan that stays */

LIVE_CASE("stays", set_up, tear_down);

TEST(test_one_by_one)
{
    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    for (int n = 0; n < 200; n++)
        ck_assert_int_eq(push(n, 0), LATER_IS_PUSHED);
    /* It is refused once, in the plain queue, and finds no script twice; there and at the first in
     * each shard push_now leaves it to push. */
    ck_assert_int_le(live_calls(), 200 + 1 + 2 + 5);
    check_once(200);
    check_places(0, 200, 4);
    for (int shard = 0; shard < 4; shard++) {
        long long expected = 0;
        char id[16];

        for (int n = 0; n < 200; n++)
            expected += place_under(name_id(id, n), 4) == 1 + shard;
        ck_assert_int_eq(live_number("ZCARD later:{q/%d}:ready", shard), expected);
        ck_assert_int_gt(expected, 10);
        ck_assert_str_eq(live_string("GET later:{q/%d}:shards", shard), "5");
    }
    ck_assert_int_eq(live_number("SCARD later:queues"), 5);
    ck_assert_int_eq(live_number("SISMEMBER later:queues q"), 1);
    ck_assert_int_eq(live_number("SISMEMBER later:queues q/3"), 1);
    ck_assert_int_eq(push(7, 0), LATER_IS_KNOWN);
    ck_assert_int_eq(push(8, 1), LATER_IS_REPLACED);
    check_once(200);
}

TEST(test_many)
{
    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    push_many(0, 5000, LATER_IS_PUSHED);
    check_once(5000);
    check_places(0, 5000, 4);
    push_many(0, 5000, LATER_IS_KNOWN);
    check_once(5000);
    check_counters(5000, 5000);
}

/* Somebody has asked for one shard: there is a plan, and all is in the plain queue. */
TEST(test_one_shard)
{
    open_at(live_url);
    reshard("1");
    push_many(0, 100, LATER_IS_PUSHED);
    check_once(100);
    check_places(0, 100, 1);
}

/* More places than a bulk has open at a time. */
TEST(test_many_queues)
{
    static const char *const queues[] = { "q", "r", "s", "t" };
    static struct later_new_job jobs[3000];
    static char ids[3000][16];

    open_at(live_url);
    for (size_t q = 0; q < 4; q++)
        live_do("SET later:{%s}:shards %s", queues[q], "5 32");
    for (int i = 0; i < 3000; i++)
        jobs[i] = (struct later_new_job){ .type = "t", .id = name_id(ids[i], i) };
    for (size_t q = 0; q < 4; q++)
        ck_assert_int_eq(later_push_many(client, queues[q], jobs, 3000, NULL, &err), 0);
    for (size_t q = 0; q < 4; q++) {
        long long sum = 0;

        for (int shard = 0; shard < 32; shard++)
            sum += live_number("ZCARD later:{%s/%d}:ready", queues[q], shard);
        ck_assert_int_eq(sum, 3000);
    }
    check_once(3000);
    check_places(0, 3000, 32);
}

TEST(test_nobody_pushes_to_a_shard)
{
    struct later_new_job job = { .type = "t" };

    open_at(live_url);
    ck_assert_int_lt(later_push(client, "q/3", &job, NULL, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_int_lt(later_push_many(client, "q/3", &job, 1, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_int_eq(live_number("DBSIZE"), 0);
}

/* ---- a plan that changes */

LIVE_CASE("changes", set_up, tear_down);

/* The shards are not told. A pusher with the older plan uses it until it meets a fence. That does
 * no harm, since the others look there first. */
TEST(test_changed_between_calls)
{
    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    push_many(0, 1000, LATER_IS_PUSHED);
    reshard("8 4");
    push_many(0, 1000, LATER_IS_KNOWN);
    push_many(1000, 1100, LATER_IS_PUSHED);
    check_once(1100);
    check_places(0, 1100, 4);
    reopen();
    push_many(0, 1100, LATER_IS_KNOWN);
    push_many(1100, 2000, LATER_IS_PUSHED);
    for (int n = 0; n < 100; n++) {
        ck_assert_int_eq(push(n, 0), LATER_IS_KNOWN);
        ck_assert_int_eq(push(n, 1), LATER_IS_REPLACED); /* where it is */
        ck_assert_int_eq(push(2000 + n, n % 2), LATER_IS_PUSHED);
    }
    check_once(2100);
    check_places(0, 1100, 4);
    check_places(1100, 2100, 8);
}

/* Two clients: what the one has learned fences the other. */
TEST(test_fenced_by_another)
{
    struct later_client *stale;

    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    push_many(0, 1000, LATER_IS_PUSHED);
    reshard("8 4");
    stale = client;
    open_at(live_url);
    push_many(1000, 2000, LATER_IS_PUSHED); /* it seeks in all four */
    later_client_close(client);
    client = stale;
    push_many(0, 2000, LATER_IS_KNOWN);
    push_many(2000, 3000, LATER_IS_PUSHED);
    check_once(3000);
    check_places(0, 1000, 4);
    check_places(1000, 3000, 8);
}

/* The client's plan is three changes old; another client's none at all. */
TEST(test_changed_often)
{
    open_at(live_url);
    push_many(0, 500, LATER_IS_PUSHED); /* before there was a plan */
    reshard("4 1");
    push_many(500, 1000, LATER_IS_PUSHED);
    reshard("8 4 1");
    reshard("3 8 4 1");
    reshard("8 3 4 1");
    push_many(0, 1000, LATER_IS_KNOWN);
    push_many(1000, 1500, LATER_IS_PUSHED);
    reopen();
    reshard("3 8 4 1");
    push_many(0, 1500, LATER_IS_KNOWN);
    for (int n = 0; n < 50; n++) {
        ck_assert_int_eq(push(30 * n, 0), LATER_IS_KNOWN);
        ck_assert_int_eq(push(1500 + n, 0), LATER_IS_PUSHED);
    }
    check_once(1550);
    check_places(0, 500, 1);
    check_places(500, 1000, 4);
    check_places(1000, 1500, 8);
    check_places(1500, 1550, 3);
}

/* Pushes nothing over a job that runs or is dead: it is found there and stays. */
TEST(test_reserved_in_a_former_place)
{
    char id[16];

    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    push_many(0, 100, LATER_IS_PUSHED);
    for (int n = 0; n < 100; n++) {
        const char *place = place_name(place_under(name_id(id, n), 4));

        live_do("ZREM later:{%s}:ready %s", place, id);
        if (n % 2) {
            live_do("ZADD later:{%s}:reserved 4000000000 0123456789abcdef", place);
            live_do("ZADD later:{%s}:reserved:0123456789abcdef 1 %s", place, id);
        } else {
            live_do("ZADD later:{%s}:dead 4000000000 %s", place, id);
        }
    }
    reshard("8 4");
    for (int n = 0; n < 100; n++)
        ck_assert_int_eq(push(n, n % 3 == 0), LATER_IS_KNOWN);
    check_once(100);
    check_places(0, 100, 4);
}

/* ---- while a bulk is under way */

static const char *const *changes; /* of the plan, one each `every` answers */
static int every;

static void on_told(void *arg, const struct later_bulk_told *job)
{
    char id[16];

    (void)arg;
    ck_assert_uint_lt(job->mark, JOBS);
    ck_assert_str_eq(job->id, name_id(id, (int)job->mark));
    ck_assert_str_eq(job->queue, "q");
    told[job->mark]++;
    if (job->err)
        failed++;
    else
        how[job->how]++;
    if (changes && *changes && ++answered % every == 0)
        reshard(*changes++);
}

static void fill_bulk(int jobs)
{
    bulk = later_bulk_new(client, on_told, NULL);
    ck_assert_ptr_nonnull(bulk);
    later_bulk_patience(bulk, 20);
    for (int n = 0; n < jobs; n++) {
        char id[16];
        const struct later_push_item item = { .id = name_id(id, n),
                                              .document = "{\"type\":\"t\"}",
                                              .document_len = 12 };

        ck_assert_msg(later_bulk_add(bulk, "q", &item, (uint64_t)n, &err) == 0, "%s", err.text);
    }
    ck_assert_msg(later_bulk_finish(bulk, &err) == 0, "%s", err.text);
}

static void check_told(int jobs)
{
    for (int n = 0; n < jobs; n++)
        ck_assert_msg(told[n] == 1, "job %d was told %d times", n, told[n]);
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq(how[LATER_IS_PUSHED], jobs);
}

LIVE_CASE("under way", set_up, tear_down);

TEST(test_changed_under_way)
{
    static const char *const counts[] = { "8 4", "3 8 4", "4 3 8", NULL };

    changes = counts;
    every = 5000;
    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    fill_bulk(JOBS);
    ck_assert_ptr_eq(changes, counts + 3); /* the last one is at 15,000 */
    check_told(JOBS);
    check_once(JOBS);
    check_counters(JOBS, 0);
    for (int count = 3, n = 0; count <= 8; count += count == 3 ? 1 : 4) {
        char id[16];

        while (n < JOBS && place_of[n] != place_under(name_id(id, n), count))
            n++;
        ck_assert_int_lt(n, JOBS); /* each of the counts was used */
    }
}

/* A queue gets shards while somebody pushes who has never heard of them. */
TEST(test_spread_under_way)
{
    static const char *const counts[] = { "4 1", "1 4", NULL };

    changes = counts;
    every = 3000;
    open_at(live_url);
    fill_bulk(10000);
    check_told(10000);
    check_once(10000);
    check_counters(10000, 0);
}

static void on_sent(void *arg, const struct later_flow_sent *sent)
{
    (void)arg;
    told[sent->mark]++;
    how[sent->how]++;
}

/* The plan of a flow is that read at its first job, until a shard knows a newer one. */
TEST(test_changed_before_a_flow_is_sent)
{
    const struct later_flow_goal goal = { .home = "h", .name = "f", .adder = "" };
    struct later_flow_send *send;
    char id[16];

    open_at(live_url);
    live_do("SET later:{q}:shards %s", "5 4");
    send = later_flow_send_new(client, &goal, on_sent, NULL, &err);
    ck_assert_ptr_nonnull(send);
    for (int n = 0; n < 40; n++) {
        const struct later_flow_job job = { .step = "",
                                            .after = "",
                                            .when = "done",
                                            .item = { .id = name_id(id, n),
                                                      .document = "{\"type\":\"t\",\"flow\":\"f\"}",
                                                      .document_len = 23 } };

        ck_assert_int_eq(later_flow_send_add(send, "q", &job, (uint64_t)n, &err), 0);
    }
    reshard("8 4");
    for (int shard = 0; shard < 4; shard++)
        live_do("SET later:{q/%d}:shards %llu", shard,
                strtoull(live_string("GET later:{q}:shards"), NULL, 10));
    ck_assert_msg(later_flow_send_end(send, true, &err) == 0, "%s", err.text);
    later_flow_send_free(send);
    check_told(40);
    check_once(40);
    check_places(0, 40, 8);
}

TEST_EACH(test_changed_and_cut, 4)
{
    static const char *const counts[] = { "8 4", "3 8 4", NULL };
    unsigned seed = (unsigned)_i * 11 + 3;

    changes = counts;
    every = 2500;
    live_do("SET later:{q}:shards %s", "5 4");
    fake = fake_start(live_cut, &seed);
    ck_assert_ptr_nonnull(fake);
    open_at(fake_url(fake));
    fill_bulk(10000);
    ck_assert_uint_gt(fake_accepted(fake), 2);
    check_told(10000);
    check_once(10000);
    check_counters(10000, 0);
}

/* ---- several pushers of the same ids */

#define SAME 4000

/* A pusher: in bulk or one by one, with a plan of its own that gets old. */
static pid_t start_pusher(int which)
{
    pid_t pid = fork();

    if (pid == 0) {
        open_at(live_url);
        if (which < 2) {
            fill_bulk(SAME);
            _exit(failed > 0);
        }
        for (int n = SAME - 1; n >= 0; n--)
            push(n, n % 5 == 0);
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

TEST(test_same_ids)
{
    static const char *const counts[] = { "8 4",     "3 8 4",     "4 3 8",       "5 4 3 8",
                                          "8 5 4 3", "1 8 5 4 3", "7 1 8 5 4 3", "4 7 1 8 5 3" };
    int status, running = 3, changed = 0;

    changes = NULL;
    live_do("SET later:{q}:shards %s", "5 4");
    for (int i = 0; i < 3; i++)
        start_pusher(i);
    while (running > 0) {
        pid_t pid = waitpid(-1, &status, WNOHANG);

        ck_assert_int_ge(pid, 0);
        if (pid > 0) {
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
            running--;
            continue;
        }
        /* The first two at once, or quick pushers are done before them. */
        usleep(changed < 2 ? 3000 : (useconds_t)(20000 * live_slowness()));
        if (changed < 8)
            reshard(counts[changed++]);
    }
    ck_assert_int_gt(changed, 1);
    check_once(SAME);
    for (int place = 0, pushed = 0; place < SHARDS; place++) {
        pushed += (int)live_number("HGET later:{%s}:stats pushed", place_name(place));
        ck_assert_int_le(pushed, SAME);
    }
}

/* ---- Redis has lost the plan */

static void lose_plan(void)
{
    live_do("SET later:{q}:shards %s", "5 4");
    for (int shard = 0; shard < 4; shard++)
        live_do("SET later:{q/%d}:shards 9", shard);
}

LIVE_CASE("lost", set_up, tear_down);

/* The shards know of a later plan. The pusher cannot know where, and says so. */
TEST(test_lost_plan)
{
    struct later_new_job jobs[] = { { .type = "t", .id = "a" }, { .type = "t", .id = "b" } };
    double from = later_clock();

    lose_plan();
    open_at(live_url);
    ck_assert_int_lt(later_push(client, "q", &jobs[0], NULL, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_ptr_nonnull(strstr(err.text, "queue q: its shards are being changed"));
    ck_assert_double_le(later_clock() - from, 15 * live_slowness());
    from = later_clock();
    err = (struct later_error){ LATER_OK, "" };
    ck_assert_int_lt(later_push_many(client, "q", jobs, 2, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_ptr_nonnull(strstr(err.text, "queue q: its shards are being changed"));
    ck_assert_double_le(later_clock() - from, 15 * live_slowness());
    err = (struct later_error){ LATER_OK, "" };
    jobs[0].queue = "q";
    ck_assert_int_lt(later_push_flow(client, "h", "f", 0, jobs, 1, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_ptr_nonnull(strstr(err.text, "queue q: its shards are being changed"));
    jobs[0].queue = NULL;
    check_once(0);
    reshard("4"); /* as a daemon mends it */
    ck_assert_int_eq(later_push_many(client, "q", jobs, 2, NULL, &err), 0);
}

/* Mended while the push waits. */
TEST(test_lost_plan_is_mended)
{
    pid_t pid;
    int status;

    lose_plan();
    open_at(live_url);
    pid = fork();
    if (pid == 0) {
        live_end(); /* another connection than the parent's */
        usleep(200000);
        reshard("4");
        _exit(0);
    }
    ck_assert_int_eq(push(0, 0), LATER_IS_PUSHED);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    check_once(1);
    check_places(0, 1, 4);
}
