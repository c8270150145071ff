/* test_wait.c: later_wait(): every end of a job, ids with an earlier job, shards, and a thousand
 * waiters. */
#include "tests/unit/live.h"
#include "tests/support/fake_redis.h"

#include "client/call.h"
#include "client/wait.h"
#include "queue/queue.h"
#include "queue/result.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>

#define TOKEN   "0123456789abcdef"
#define WAITERS 1000

static struct later_client *client;
static struct later_error err;
static struct later_end end;

static void set_up(void)
{
    live_begin();
    client = live_client();
    ck_assert_ptr_nonnull(client);
    end = (struct later_end){ .how = LATER_JOB_GOES_ON };
}

static void tear_down(void)
{
    later_end_free(&end);
    later_client_close(client);
    live_end();
}

static void finish(const char *queue, const char *id, const char *how, const char *what)
{
    struct later_settlement job = { .token = TOKEN, .id = id, .how = how, .error = what };
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    ck_assert_int_eq(later_call_keys(client, queue, &keys, &err), 0);
    later_queue_finish(
        &cmd, &keys, &job,
        &(struct later_remains){ .result = 60, .value = what, .value_len = strlen(what) });
    reply = later_call(client, &cmd, 0, false, &err);
    ck_assert_msg(reply && later_reply_count(reply) == 0, "%s", err.text);
    later_reply_free(reply);
}

static enum later_waited wait_for(const char *id, double seconds)
{
    later_end_free(&end);
    ck_assert_msg(later_wait(client, "q", id, seconds, &end, &err) == 0, "%s", err.text);
    return end.how;
}

LIVE_CASE("wait", set_up, tear_down);

TEST(every_end)
{
    ck_assert_int_eq(wait_for("a", INFINITY), LATER_JOB_IS_GONE);
    live_hold("q", "a", TOKEN, 60);
    ck_assert_int_eq(wait_for("a", 0), LATER_JOB_GOES_ON);
    ck_assert_int_eq(wait_for("a", 0.05), LATER_JOB_GOES_ON);
    finish("q", "a", "done", "[1]");
    ck_assert_int_eq(wait_for("a", INFINITY), LATER_JOB_IS_DONE);
    ck_assert_str_eq(end.value, "[1]");
    ck_assert_uint_eq(end.value_len, 3);
    ck_assert_uint_eq(end.attempt, 1);
    ck_assert_double_le(fabs(end.at - live_time()), 10);
    live_hold("q", "b", TOKEN, 60);
    finish("q", "b", "ran", "\"kind\":\"retry\",\"text\":\"no\"}");
    ck_assert_int_eq(wait_for("b", 0), LATER_JOB_IS_DEAD);
    ck_assert_ptr_nonnull(strstr(end.value, "\"text\":\"no\""));
}

/* Its death is reported even if nobody had asked for its result. */
TEST(dead_without_a_result)
{
    live_hold("q", "b", TOKEN, 60);
    finish("q", "b", "ran", "\"kind\":\"retry\",\"text\":\"no\"}");
    live_do("DEL later:{q}:result:b");
    ck_assert_int_eq(wait_for("b", INFINITY), LATER_JOB_IS_DEAD);
    ck_assert_ptr_nonnull(strstr(end.value, "\"text\":\"no\""));
    ck_assert_uint_eq(end.attempt, 1);
}

/* A result from before the job was pushed again is taken away, once. */
TEST(of_an_earlier_life)
{
    live_hold("q", "a", TOKEN, 60);
    finish("q", "a", "done", "1");
    live_hold("q", "a", TOKEN, 60);
    ck_assert_int_eq(wait_for("a", 0), LATER_JOB_GOES_ON);
    ck_assert_int_eq(live_number("EXISTS later:{q}:result:a"), 0);
}

static enum later_push_result push_again(const char *id)
{
    enum later_push_result result;
    struct later_new_job job = { .type = "t", .id = id, .again = 1 };

    ck_assert_msg(later_push(client, "q", &job, NULL, &result, &err) == 0, "%s", err.text);
    return result;
}

/* A push drops it, by either script, so that it is not taken for the new job's end. */
TEST(of_before_the_push)
{
    for (int again = 0; again < 2; again++) {
        live_hold("q", "a", TOKEN, 60);
        finish("q", "a", "done", "1");
        ck_assert_int_eq(wait_for("a", 0), LATER_JOB_IS_DONE);
        if (again)
            push_again("a");
        else
            ck_assert_int_eq(later_push(client, "q",
                                        &(struct later_new_job){ .type = "t", .id = "a" }, NULL,
                                        NULL, &err),
                             0);
        ck_assert_int_eq(live_number("EXISTS later:{q}:result:a"), 0);
        live_do("DEL later:{q}:ready later:{q}:jobs"); /* as if it had been cancelled */
        ck_assert_int_eq(wait_for("a", 0), LATER_JOB_IS_GONE);
    }
    live_hold("q", "a", TOKEN, 60);
    finish("q", "a", "done", "1");
    live_do("HSET later:{q}:stats results 1"); /* it is said that there are none any more */
    push_again("a");
    ck_assert_int_eq(live_number("EXISTS later:{q}:result:a"), 1);
}

/* It waits for the job that was pushed while another of its id ran, not for that one. */
TEST(of_the_job_behind)
{
    static const char *const dues[] = { "delayed", "ready" };

    live_hold("q", "a", TOKEN, 60);
    ck_assert_int_eq(push_again("a"), LATER_IS_AGAIN);
    ck_assert_int_eq(later_wait(client, "q", "a", 0.05, &end, &err), 0);
    ck_assert_int_eq(end.how, LATER_JOB_GOES_ON);
    finish("q", "a", "done", "1");
    ck_assert_int_eq(later_wait(client, "q", "a", 0.05, &end, &err), 0);
    ck_assert_int_eq(end.how, LATER_JOB_GOES_ON); /* and the result of the other one is gone */
    ck_assert_int_eq(live_number("EXISTS later:{q}:result:a"), 0);
    for (size_t i = 0; i < 2; i++)
        live_do("ZREM later:{q}:%s a", dues[i]);
    live_do("HDEL later:{q}:jobs a");
    live_hold("q", "a", TOKEN, 60);
    push_again("a");
    finish("q", "a", "done", "2");
    live_do("ZREM later:{q}:delayed a");
    live_do("HDEL later:{q}:jobs a"); /* the one behind was cancelled */
    ck_assert_int_eq(wait_for("a", 0), LATER_JOB_IS_GONE);
}

TEST(in_a_shard)
{
    later_queue_name place;

    later_shard_of(place, "q", 3, "a");
    live_do("SET later:{q}:shards %s", "2 3 1");
    live_hold(place, "a", TOKEN, 60);
    ck_assert_int_eq(wait_for("a", 0), LATER_JOB_GOES_ON);
    finish(place, "a", "done", "3");
    ck_assert_int_eq(wait_for("a", INFINITY), LATER_JOB_IS_DONE);
    ck_assert_int_eq(wait_for("b", INFINITY), LATER_JOB_IS_GONE);
}

TEST(what_is_no_result)
{
    live_do("LPUSH later:{q}:result:a %s", "{\"state\":\"done\"}");
    ck_assert_int_eq(later_wait(client, "q", "a", 0, &end, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_int_eq(later_wait(client, "q", "", 0, &end, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_int_eq(later_wait(client, "no good", "a", 0, &end, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
}

/* ---- many */

static void *wait_in_thread(void *arg)
{
    struct later_error why;
    struct later_end mine;
    struct later_client *other = later_client_open_with(
        &(struct later_client_options){ .url = live_url, .timeout = 30 }, &why);
    bool served = other && later_wait(other, "q", "a", 600, &mine, &why) == 0 &&
                  mine.how == LATER_JOB_IS_DONE && strcmp(mine.value, "\"yes\"") == 0;

    if (served)
        later_end_free(&mine);
    later_client_close(other);
    *(bool *)arg = served;
    return NULL;
}

static void allow_files(rlim_t count)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < count && limit.rlim_max >= count) {
        limit.rlim_cur = count;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

TEST(a_thousand_at_once)
{
    static pthread_t threads[WAITERS];
    static bool served[WAITERS];
    double until = later_clock() + 20 * live_slowness();
    pthread_attr_t attr;
    int count = 0;

    allow_files(WAITERS + 100);
    live_hold("q", "a", TOKEN, 600);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 262144);
    for (int i = 0; i < WAITERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], &attr, wait_in_thread, &served[i]), 0);
    while (!strstr(live_string("INFO clients"), "blocked_clients:1000\r")) {
        ck_assert_double_lt(later_clock(), until);
        usleep(20000);
    }
    finish("q", "a", "done", "\"yes\"");
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(threads[i], NULL);
        count += served[i];
    }
    pthread_attr_destroy(&attr);
    ck_assert_int_eq(count, WAITERS);
}

/* A replica that is slow to say that it takes no BLMOVE. */
static void refuse_late(struct fake_redis *fake, void *arg)
{
    (void)arg;
    while (fake_accept(fake)) {
        while (fake_read(fake)) {
            bool waits = strcmp(fake_word(fake, 0), "BLMOVE") == 0;

            if (waits ? !(fake_pause(fake, 0.2) && fake_say(fake, "-READONLY no\r\n"))
                      : !fake_forward(fake, live_server.socket, false))
                break;
        }
    }
}

/* The answer is the last look's, however late the refusal comes. A wait that is over before it
 * could send its BLMOVE proves nothing. */
TEST(a_replica_refuses)
{
    double until = later_clock() + 20 * live_slowness();
    struct fake_redis *fake = fake_start(refuse_late, NULL);
    const struct later_client_options options = { .url = fake_url(fake), .timeout = 30 };
    struct later_client *other;

    live_hold("q", "a", TOKEN, 60);
    ck_assert_ptr_nonnull(other = later_client_open_with(&options, &err));
    for (int i = 0; fake_called(fake, "BLMOVE") < 3; i++) {
        double wait = 0.05 + i % 3 * 0.2;

        ck_assert_double_lt(later_clock(), until);
        ck_assert_msg(later_wait(other, "q", "a", wait, &end, &err) == 0, "%s", err.text);
        ck_assert_int_eq(end.how, LATER_JOB_GOES_ON);
    }
    later_client_close(other);
    fake_stop(fake);
}
