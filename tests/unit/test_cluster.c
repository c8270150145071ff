/* test_cluster.c: a Cluster of two scripted nodes. A has the slots of the keys 2 and 3, B those of
 * 1, 4 and 5, until a test says otherwise. */
#include "cluster.h"
#include "redis_rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ANSWERS 24

/* A node: what it says to the commands with a key, one after another; then the second word as a
 * number. "cut": it closes the connection; "deaf": it says nothing any more on it. */
struct play {
    const char *answers[ANSWERS];
    const char *protocol; /* of later:protocol; NULL: not set */
    atomic_uint at;
    atomic_uint asking; /* ASKINGs right before a command */
    char slots[300];    /* what it says to CLUSTER SLOTS; under the lock */
};

static struct play a, b;
static struct fake_redis *node_b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char moved_to_a[60], moved_to_b[60], ask_b[60];

static bool say_slots(struct fake_redis *fake, struct play *play)
{
    char text[300];

    pthread_mutex_lock(&lock);
    memcpy(text, play->slots, sizeof text);
    pthread_mutex_unlock(&lock);
    return fake_say(fake, text);
}

static bool perform(struct fake_redis *fake, struct play *play)
{
    const char *name = fake_word(fake, 0);
    unsigned at = atomic_load(&play->at);
    char number[40];

    if (strcmp(name, "CLUSTER") == 0)
        return say_slots(fake, play);
    if (strcmp(name, "GET") == 0)
        return fake_say(fake, play->protocol ? play->protocol : "$-1\r\n");
    if (strcmp(name, "ASKING") == 0) {
        atomic_fetch_add(&play->asking, 1);
        return fake_say(fake, "+OK\r\n");
    }
    if (at < ANSWERS && play->answers[at]) {
        atomic_store(&play->at, at + 1);
        if (strcmp(play->answers[at], "cut") == 0) {
            fake_cut(fake);
            return false;
        }
        if (strcmp(play->answers[at], "deaf") == 0) {
            fake_wait_closed(fake);
            return false;
        }
        return fake_say(fake, play->answers[at]);
    }
    snprintf(number, sizeof number, ":%.20s\r\n", fake_word(fake, 1));
    return fake_say(fake, number);
}

static void play_node(struct fake_redis *fake, void *arg)
{
    while (fake_shake(fake)) {
        while (fake_read(fake) && perform(fake, arg))
            ;
    }
}

/* Both say from now on that A has the slots up to `last`, and B all others. */
static void share(int last)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) {
        char *slots = i ? b.slots : a.slots;

        snprintf(slots, sizeof a.slots,
                 "*2\r\n*3\r\n:0\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n"
                 "*3\r\n:%d\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n",
                 last, fake_port(rig.fake), last + 1, fake_port(node_b));
    }
    pthread_mutex_unlock(&lock);
}

static void begin(void)
{
    struct later_error err;
    char url[100];

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    rig_begin_fake(play_node, &a);
    fake_stop(rig.fake);
    rig.fake = fake_start_tcp(play_node, &a);
    node_b = fake_start_tcp(play_node, &b);
    ck_assert(rig.fake && node_b);
    share(8191);
    snprintf(moved_to_a, sizeof moved_to_a, "-MOVED 5649 127.0.0.1:%u\r\n", fake_port(rig.fake));
    snprintf(moved_to_b, sizeof moved_to_b, "-MOVED 5649 127.0.0.1:%u\r\n", fake_port(node_b));
    snprintf(ask_b, sizeof ask_b, "-ASK 5649 127.0.0.1:%u\r\n", fake_port(node_b));
    snprintf(url, sizeof url, "cluster://127.0.0.1:%u", fake_port(rig.fake));
    ck_assert_msg(later_address_parse(&rig.options.address, url, &err) == 0, "%s", err.text);
    rig_begin_redis();
}

static void finish(void)
{
    rig_end();
    if (node_b)
        fake_stop(node_b);
    node_b = NULL;
}

static void up(void)
{
    rig_connect();
    RIG_UNTIL(later_redis_up(rig.redis));
}

#define ANSWERED(number) (rig.told[number].times == 1)

START_TEST(test_each_to_its_node)
{
    up();
    ck_assert_int_eq(rig.ups, 1);
    ck_assert_uint_eq(fake_accepted(node_b), 0); /* not before it is needed */
    for (int i = 1; i <= 5; i++)
        rig_send(i, "ECHO", LATER_NO_SCRIPT, 5);
    ck_assert_uint_eq(later_redis_pending(rig.redis), 5);
    RIG_UNTIL(rig.answers == 5);
    for (int i = 1; i <= 5; i++)
        rig_answered(i, i);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 2);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 3);
    ck_assert_uint_eq(later_redis_pending(rig.redis), 0);
    ck_assert_int_eq(rig.ups, 1);
    ck_assert_int_eq(rig.downs, 0);
}
END_TEST

START_TEST(test_moved)
{
    a.answers[0] = moved_to_b;
    up();
    share(5000); /* 5649 is B's now */
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 1);
    /* All is asked for behind it: `up` tells that something has moved. */
    RIG_UNTIL(rig.ups == 2);
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    rig_send(3, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(rig.answers == 3);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 2);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 2);
}
END_TEST

START_TEST(test_round_and_round)
{
    for (int i = 0; i < ANSWERS; i++) {
        a.answers[i] = moved_to_b;
        b.answers[i] = moved_to_a;
    }
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 60);
    RIG_UNTIL(ANSWERED(2));
    ck_assert_int_eq(rig.told[2].outcome, LATER_REFUSED);
    ck_assert_int_eq(rig.told[2].remedy, LATER_REMEDY_REROUTE);
    ck_assert_uint_le(fake_called(rig.fake, "ECHO") + fake_called(node_b, "ECHO"), 17);
}
END_TEST

START_TEST(test_ask)
{
    a.answers[0] = a.answers[1] = ask_b;
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(atomic_load(&b.asking), 1);
    /* Once: the next one goes to A again. */
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(rig.answers == 2);
    ck_assert_uint_eq(atomic_load(&b.asking), 2);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 2);
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(rig.answers == 3);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 2);
}
END_TEST

START_TEST(test_waited_for)
{
    a.answers[0] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    a.answers[1] = "-CLUSTERDOWN Hash slot not served\r\n";
    a.answers[2] = "-LOADING Redis is loading the dataset in memory\r\n";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 4);
}
END_TEST

START_TEST(test_waited_for_in_vain)
{
    for (int i = 0; i < ANSWERS; i++)
        a.answers[i] = "-CLUSTERDOWN The cluster is down\r\n";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 0.3);
    RIG_UNTIL(ANSWERED(2));
    rig_refused(2, LATER_REMEDY_RETRY, "CLUSTERDOWN The cluster is down");
    ck_assert_int_eq(rig.downs, 0);
}
END_TEST

START_TEST(test_other_errors_are_answers)
{
    a.answers[0] = "-ERR no\r\n";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_refused(2, LATER_REMEDY_ABANDON, "ERR no");
}
END_TEST

/* What was on its way to the node is UNKNOWN, and is not sent again; B's is not touched. */
START_TEST(test_a_node_is_lost)
{
    a.answers[0] = "cut";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(rig.answers == 2);
    rig_answered(1, 1);
    ck_assert_int_eq(rig.told[2].outcome, LATER_UNKNOWN);
    ck_assert_int_eq(rig.downs, 0);
    /* It is back: what was lost may be looked for. */
    RIG_UNTIL(rig.ups >= 2);
    rig_send(3, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(3));
    rig_answered(3, 3);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 2);
}
END_TEST

START_TEST(test_silence)
{
    a.answers[0] = "deaf";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 0.3);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(1));
    ck_assert_int_eq(rig.told[2].times, 0);
    RIG_UNTIL(ANSWERED(2));
    ck_assert_int_eq(rig.told[2].outcome, LATER_UNKNOWN);
}
END_TEST

/* Nobody is at A's address any more; B says that it has A's slots now. */
START_TEST(test_a_node_is_gone)
{
    up();
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(1));
    share(0);
    fake_stop(rig.fake);
    rig.fake = NULL;
    RIG_UNTIL(rig.ups >= 2);
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 2);
    ck_assert_int_eq(rig.downs, 0);
}
END_TEST

/* As long as nobody has its slots, a command waits, and nothing has happened to it in the end. */
START_TEST(test_a_node_is_away)
{
    up();
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(1));
    fake_stop(rig.fake);
    rig.fake = NULL;
    RIG_UNTIL(rig.ups >= 2);
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 0.5);
    rig_send(4, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(4));
    RIG_UNTIL(ANSWERED(2));
    ck_assert_int_eq(rig.told[2].outcome, LATER_UNSENT);
    ck_assert_int_eq(rig.downs, 0);
}
END_TEST

START_TEST(test_all_are_away)
{
    up();
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(1));
    fake_stop(rig.fake);
    fake_stop(node_b);
    rig.fake = node_b = NULL;
    RIG_UNTIL(rig.downs == 1);
    ck_assert_ptr_nonnull(strstr(rig.why, "no node of the Cluster answers"));
    ck_assert(later_redis_down(rig.redis));
    ck_assert_int_eq(later_redis_fd(rig.redis), -1);
    rig_connect();
    RIG_UNTIL(rig.downs == 2);
    ck_assert_int_eq(rig.ups, 1);
}
END_TEST

START_TEST(test_no_cluster)
{
    strcpy(a.slots, "-ERR This instance has cluster support disabled\r\n");
    rig_connect();
    RIG_UNTIL(rig.downs == 1);
    ck_assert_msg(strstr(rig.why, "cluster support disabled") != NULL, "%s", rig.why);
    ck_assert_int_eq(rig.ups, 0);
}
END_TEST

START_TEST(test_a_newer_version)
{
    later_redis_free(rig.redis);
    rig.options.protocol = "later:protocol";
    rig_begin_redis();
    a.protocol = b.protocol = "$3\r\n999\r\n";
    rig_connect();
    RIG_UNTIL(rig.downs == 1);
    ck_assert(later_redis_too_new(rig.redis));
    ck_assert_ptr_nonnull(strstr(rig.why, "later:protocol is 999"));
    a.protocol = b.protocol = NULL;
    up();
    ck_assert(!later_redis_too_new(rig.redis));
}
END_TEST

START_TEST(test_given_up)
{
    a.answers[0] = b.answers[0] = "deaf";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 60);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 60);
    RIG_UNTIL(atomic_load(&a.at) == 1 && atomic_load(&b.at) == 1);
    rig_send(4, "ECHO", LATER_NO_SCRIPT, 60); /* not a byte has left */
    later_redis_disconnect(rig.redis, "enough");
    ck_assert_int_eq(rig.answers, 3);
    rig_broke(2, LATER_UNKNOWN, "enough");
    rig_broke(1, LATER_UNKNOWN, "enough");
    rig_broke(4, LATER_UNSENT, "enough");
    ck_assert_int_eq(rig.downs, 1);
}
END_TEST

static TCase *cluster(void)
{
    TCase *tc = tcase_create("cluster");

    tcase_add_checked_fixture(tc, begin, finish);
    tcase_add_test(tc, test_each_to_its_node);
    tcase_add_test(tc, test_moved);
    tcase_add_test(tc, test_round_and_round);
    tcase_add_test(tc, test_ask);
    tcase_add_test(tc, test_waited_for);
    tcase_add_test(tc, test_waited_for_in_vain);
    tcase_add_test(tc, test_other_errors_are_answers);
    tcase_add_test(tc, test_a_node_is_lost);
    tcase_add_test(tc, test_silence);
    tcase_add_test(tc, test_a_node_is_gone);
    tcase_add_test(tc, test_a_node_is_away);
    tcase_add_test(tc, test_all_are_away);
    tcase_add_test(tc, test_no_cluster);
    tcase_add_test(tc, test_a_newer_version);
    tcase_add_test(tc, test_given_up);
    return tc;
}

UNIT_MAIN("cluster", cluster)
