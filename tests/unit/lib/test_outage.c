/* test_outage.c: waits that outlast a Redis that is away, and those that do not. */
#include "tests/unit/live.h"
#include "tests/support/fake_redis.h"

#include "client/call.h"
#include "client/outage.h"
#include "queue/queue.h"
#include "queue/result.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef"

static struct later_client *client;
static struct later_error err;
static struct later_end end;

/* A server that a test can stop, and that knows its jobs when it is started again. */
static void set_up(void)
{
    ck_assert_int_eq(server_start(&live_server, "appendonly yes\n"), 0);
    snprintf(live_url, sizeof live_url, "unix:%s", live_server.socket);
    live_begin();
    ck_assert_ptr_nonnull(client = live_client());
    end = (struct later_end){ .how = LATER_JOB_GOES_ON };
}

static void tear_down(void)
{
    later_end_free(&end);
    later_client_close(client);
    live_end();
    live_stop();
}

static void finish(const char *id, const char *value)
{
    struct later_settlement job = { .token = TOKEN, .id = id, .how = "done", .error = value };
    struct later_remains remains = { .result = 60, .value = value, .value_len = strlen(value) };
    struct later_client *other = live_client();
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    ck_assert_ptr_nonnull(other);
    ck_assert_int_eq(later_call_keys(other, "q", &keys, &err), 0);
    later_queue_finish(&cmd, &keys, &job, &remains);
    reply = later_call(other, &cmd, 0, false, &err);
    ck_assert_msg(reply && later_reply_count(reply) == 0, "%s", err.text);
    later_reply_free(reply);
    later_client_close(other);
}

/* ---- how long */

CASE("outage", set_up, tear_down);

TEST(how_long)
{
    ck_assert_double_eq(later_outage_pause(100, INFINITY, 100), LATER_OUTAGE_AGAIN);
    ck_assert_double_eq(later_outage_pause(100, INFINITY, 129), LATER_OUTAGE_AGAIN);
    ck_assert_double_eq(later_outage_pause(100, INFINITY, 129.75), 0.25);
    ck_assert_double_eq(later_outage_pause(100, INFINITY, 130), 0);
    ck_assert_double_eq(later_outage_pause(100, 103, 102), LATER_OUTAGE_AGAIN);
    ck_assert_double_eq(later_outage_pause(100, 103, 102.75), 0.25);
    ck_assert_double_eq(later_outage_pause(100, 103, 103), 0);
    ck_assert_double_eq(later_outage_pause(100, 103, 110), 0);
}

/* Only an outage without a break is too long. */
TEST(since_it_worked)
{
    struct later_outage outage = { .client = client, .until = INFINITY };
    struct later_error away = { LATER_E_REDIS, "Redis: away" };

    ck_assert(later_outage_wait(&outage, &away));
    ck_assert(outage.since > 0);
    outage.since -= LATER_OUTAGE_PATIENCE;
    ck_assert(!later_outage_wait(&outage, &away));
    later_outage_over(&outage);
    ck_assert(later_outage_wait(&outage, &away));
    away.code = LATER_E_TOKEN;
    ck_assert(!later_outage_wait(&outage, &away));
}

/* ---- waits that go on */

struct patient {
    pthread_t thread;
    struct later_end end;
    struct later_error err;
    int ok;
};

static void *wait_in_thread(void *arg)
{
    struct patient *patient = arg;

    patient->ok = later_wait(client, "q", "a", UNIT_PATIENT, &patient->end, &patient->err);
    return NULL;
}

static void patient_begin(struct patient *patient)
{
    *patient = (struct patient){ .err = { LATER_OK, "" } };
    ck_assert_int_eq(pthread_create(&patient->thread, NULL, wait_in_thread, patient), 0);
}

static void patient_end(struct patient *patient, const char *value)
{
    ck_assert_int_eq(pthread_join(patient->thread, NULL), 0);
    ck_assert_msg(patient->ok == 0, "%s", patient->err.text);
    ck_assert_int_eq(patient->end.how, LATER_JOB_IS_DONE);
    ck_assert_str_eq(patient->end.value, value);
    later_end_free(&patient->end);
}

static bool somebody_waits(void)
{
    return strstr(live_string("INFO clients"), "blocked_clients:1\r") != NULL;
}

static void until(bool (*is_so)(void))
{
    double end_of_patience = later_clock() + UNIT_PATIENT;

    while (!is_so()) {
        ck_assert_double_lt(later_clock(), end_of_patience);
        usleep(10000);
    }
}

TEST(killed_and_started_again)
{
    struct patient patient;

    live_hold("q", "a", TOKEN, 600);
    patient_begin(&patient);
    until(somebody_waits);
    server_end(&live_server, SIGKILL);
    ck_assert_int_eq(server_again(&live_server), 0);
    finish("a", "[1]");
    patient_end(&patient, "[1]");
}

/* The result came when it was not waited for. */
TEST(ended_meanwhile)
{
    struct patient patient;

    live_hold("q", "a", TOKEN, 600);
    patient_begin(&patient);
    until(somebody_waits);
    live_do("CLIENT KILL TYPE normal SKIPME yes");
    finish("a", "2");
    patient_end(&patient, "2");
}

/* ---- its first look is no exception */

static void load_first(struct fake_redis *fake, void *arg)
{
    int *loads = arg;

    while (fake_accept(fake)) {
        while (fake_read(fake)) {
            bool loading = *loads > 0 && strcmp(fake_word(fake, 0), "EVALSHA") == 0;

            if (loading)
                --*loads;
            if (loading ? !fake_say(fake, "-LOADING Redis is loading the dataset in memory\r\n")
                        : !fake_forward(fake, live_server.socket, false))
                break;
        }
    }
}

TEST(it_is_starting)
{
    int loads = 2;
    struct fake_redis *fake = fake_start(load_first, &loads);
    const struct later_client_options options = { .url = fake_url(fake), .timeout = UNIT_PATIENT };
    struct later_client *other = later_client_open_with(&options, &err);

    ck_assert_ptr_nonnull(other);
    live_hold("q", "a", TOKEN, 600);
    finish("a", "3");
    ck_assert_msg(later_wait(other, "q", "a", UNIT_PATIENT, &end, &err) == 0, "%s", err.text);
    ck_assert_str_eq(end.value, "3");
    ck_assert_uint_ge(fake_called(fake, "EVALSHA"), 3);
    later_client_close(other);
    fake_stop(fake);
}

/* ---- waits that end */

TEST(longer_than_the_wait)
{
    double from = later_clock();

    live_hold("q", "a", TOKEN, 600);
    server_end(&live_server, SIGKILL);
    ck_assert_int_eq(later_wait(client, "q", "a", 0.6, &end, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_double_ge(later_clock() - from, 0.6);
    ck_assert_int_eq(later_wait(client, "q", "a", 0, &end, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
}

/* Asked for in vain, until the wait is over, it would take longer than an outage may. */
static void refused_at_once(struct later_client *whose, enum later_code code, const char *word)
{
    double from = later_clock();

    ck_assert_int_eq(later_wait(whose, "q", "a", INFINITY, &end, &err), -1);
    ck_assert_double_lt(later_clock() - from, LATER_OUTAGE_PATIENCE);
    ck_assert_msg(err.code == code && strstr(err.text, word), "%d %s", (int)err.code, err.text);
}

TEST(a_wrong_password)
{
    live_do("CONFIG SET requirepass secret");
    refused_at_once(client, LATER_E_TOKEN, "NOAUTH");
}

TEST(a_missing_right)
{
    live_do("ACL SETUSER default -blmove");
    live_hold("q", "a", TOKEN, 600);
    refused_at_once(client, LATER_E_TOKEN, "NOPERM");
}

TEST(a_wrong_type)
{
    live_hold("q", "a", TOKEN, 600);
    live_do("SET later:{q}:result:a 1");
    refused_at_once(client, LATER_E_REDIS, "WRONGTYPE");
}

TEST(another_protocol)
{
    live_do("SET later:protocol 999");
    refused_at_once(client, LATER_E_REDIS, "999");
}
