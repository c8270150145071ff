/* test_cluster.c: a Cluster of two scripted nodes. A has the slots of the keys 2 and 3, B those of
 * 1, 4 and 5, until a test says otherwise. */
#include "redis/cluster.h"
#include "tests/unit/redis_rig.h"
#include "redis/script.h"
#include "redis/slot.h"

#include <math.h>
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
    atomic_uint asked;  /* CLUSTER SLOTS */
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

    if (strcmp(name, "CLUSTER") == 0) {
        atomic_fetch_add(&play->asked, 1);
        return say_slots(fake, play);
    }
    if (strcmp(name, "SCRIPT") == 0)
        return fake_say(fake, "+sha\r\n");
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

/* Both say from now on that `first` has the slots up to `last`, and `second` all others. */
static void share_between(int last, unsigned first, unsigned second)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) {
        char *slots = i ? b.slots : a.slots;

        snprintf(slots, sizeof a.slots,
                 "*2\r\n*3\r\n:0\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n"
                 "*3\r\n:%d\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n",
                 last, first, last + 1, second);
    }
    pthread_mutex_unlock(&lock);
}

static void share(int last)
{
    share_between(last, fake_port(rig.fake), fake_port(node_b));
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

/* A node that stands still for longer than one is asked is given up, and whoever wants the Cluster
 * connects again. */
static void up(void)
{
    do {
        rig_connect();
        RIG_UNTIL(later_redis_up(rig.redis) || later_redis_down(rig.redis));
    } while (later_redis_down(rig.redis));
    rig.downs = 0;
}

#define ANSWERED(number) (rig.told[number].times == 1)

/* Sends 2 to A, once more where this process stood still for all of that time and nothing was
 * tried. Returns when the last began. */
static double send_briefly(double timeout)
{
    double start;

    do {
        memset(&rig.told[2], 0, sizeof rig.told[2]);
        start = later_clock();
        rig_send(2, "ECHO", LATER_NO_SCRIPT, timeout);
        RIG_UNTIL(ANSWERED(2));
    } while (fake_called(rig.fake, "ECHO") == 0);
    return start;
}

/* 2 was refused until its time was over. It was not sent once more where that was over before the
 * pause between two tries. */
static void told_in_vain(const char *text)
{
    ck_assert_int_eq(rig.told[2].times, 1);
    ck_assert(rig.told[2].outcome == LATER_REFUSED || rig.told[2].outcome == LATER_UNSENT);
    ck_assert_msg(strstr(rig.told[2].text, text) != NULL, "%s", rig.told[2].text);
}

CASE("cluster", begin, finish);

TEST(test_each_to_its_node)
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

TEST(test_moved)
{
    a.answers[0] = moved_to_b;
    up();
    share(5000); /* 5649 is B's now */
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 1);
    /* Everything is asked for again after it: `up` tells that something has moved. */
    RIG_UNTIL(rig.ups == 2);
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    rig_send(3, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(rig.answers == 3);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 2);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 2);
}

TEST(test_round_and_round)
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

TEST(test_ask)
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

TEST(test_waited_for)
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

TEST(test_waited_for_in_vain)
{
    for (int i = 0; i < ANSWERS; i++)
        a.answers[i] = "-CLUSTERDOWN The cluster is down\r\n";
    up();
    send_briefly(0.3);
    told_in_vain("CLUSTERDOWN The cluster is down");
    ck_assert_int_eq(rig.downs, 0);
}

TEST(test_other_errors_are_answers)
{
    a.answers[0] = "-ERR no\r\n";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_refused(2, LATER_REMEDY_ABANDON, "ERR no");
}

/* What was on its way to the node is UNKNOWN and is not sent again. B's commands are not
 * affected. */
TEST(test_a_node_is_lost)
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

TEST(test_silence)
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

/* Nobody is at A's address any more; B says that it has A's slots now. */
TEST(test_a_node_is_gone)
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

/* While no node has its slots, a command waits. In the end nothing has happened to it. */
TEST(test_a_node_is_away)
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

TEST(test_all_are_away)
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

TEST(test_no_cluster)
{
    strcpy(a.slots, "-ERR This instance has cluster support disabled\r\n");
    /* Who stands still for half a second is given up before any node was asked. */
    for (int i = 0; i < 50 && !strstr(rig.why, "cluster support disabled"); i++) {
        int downs = rig.downs;

        rig_connect();
        RIG_UNTIL(rig.downs > downs);
    }
    ck_assert_msg(strstr(rig.why, "cluster support disabled") != NULL, "%s", rig.why);
    ck_assert_int_eq(rig.ups, 0);
}

TEST(test_a_newer_version)
{
    later_redis_free(rig.redis);
    rig.options.protocol = "later:protocol";
    rig_begin_redis();
    a.protocol = b.protocol = "$3\r\n999\r\n";
    /* As in up(): who stands still is given up before it has told, or after. */
    for (int i = 0; i < 50 && !later_redis_other_protocol(rig.redis); i++) {
        if (later_redis_up(rig.redis))
            later_redis_disconnect(rig.redis, "once more");
        rig_connect();
        RIG_UNTIL(later_redis_up(rig.redis) || later_redis_down(rig.redis));
    }
    ck_assert(later_redis_other_protocol(rig.redis));
    ck_assert(later_redis_down(rig.redis));
    ck_assert_ptr_nonnull(strstr(rig.why, "later:protocol is 999"));
    a.protocol = b.protocol = NULL;
    up();
    ck_assert(!later_redis_other_protocol(rig.redis));
}

TEST(test_given_up)
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

/* ---- the same, more exactly */

static void echo(int number)
{
    rig_send(number, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
}

static int before[2]; /* the last number answered by A, and by B */

static void in_order(int number)
{
    char key[12];
    int len = snprintf(key, sizeof key, "%d", number);
    int *last = &before[later_slot_of_key(key, (size_t)len) > 8191];

    ck_assert_int_gt(number, *last);
    *last = number;
}

CASE("exactly", begin, finish);

/* Also those that were sent before the node was connected. */
TEST(test_order)
{
    up();
    rig.then = in_order;
    for (int i = 100; i < 400; i++)
        echo(i);
    RIG_UNTIL(rig.answers == 300);
    for (int i = 100; i < 400; i++)
        rig_answered(i, i);
    ck_assert_uint_gt(fake_called(rig.fake, "ECHO"), 50);
    ck_assert_uint_gt(fake_called(node_b, "ECHO"), 50);
}

static void echo_more(int number)
{
    if (number < 50)
        echo(number + 10);
}

TEST(test_from_inside_answers)
{
    up();
    rig.then = echo_more;
    for (int i = 10; i < 20; i++)
        echo(i);
    RIG_UNTIL(rig.answers == 50);
    for (int i = 10; i < 60; i++)
        rig_answered(i, i);
}

/* A connection with nothing to do sleeps. */
TEST(test_idle)
{
    up();
    echo(1);
    echo(2);
    RIG_UNTIL(rig.answers == 2);
    RIG_UNTIL(isinf(later_redis_deadline(rig.redis)));
}

/* Two nodes learn of a move one after the other. */
TEST(test_round_a_while)
{
    for (int i = 0; i < 5; i++) {
        a.answers[i] = moved_to_b;
        b.answers[i] = moved_to_a;
    }
    up();
    echo(2);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
}

/* While its keys move, a command whose keys are nowhere yet goes back and forth until its time is
 * over. */
TEST(test_ask_and_try_again)
{
    for (int i = 0; i < 20; i++) {
        a.answers[i] = ask_b;
        b.answers[i] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    }
    up();
    echo(2);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(atomic_load(&b.asking), 20);
    ck_assert_uint_eq(fake_called(rig.fake, "ECHO"), 21);
}

TEST(test_tried_again_in_time)
{
    double start;

    for (int i = 0; i < ANSWERS; i++)
        a.answers[i] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    up();
    start = send_briefly(0.5);
    told_in_vain("TRYAGAIN Multiple keys request during rehashing of slot");
    ck_assert(rig.told[2].at - start > 0.4);
    ck_assert(rig.told[2].at - start < 0.5 + 3 * rig_slowness());
    ck_assert_int_eq(rig.downs, 0);
}

/* A master that became a replica. */
TEST(test_no_master_any_more)
{
    for (int i = 3; i < ANSWERS; i++)
        a.answers[i] = "-READONLY You can't write against a read only replica.\r\n";
    a.answers[0] = "-READONLY You can't write against a read only replica.\r\n";
    a.answers[1] = "-UNBLOCKED force unblock from blocking operation, instance state changed\r\n";
    a.answers[2] = "-MASTERDOWN Link with MASTER is down\r\n";
    up();
    share(0);
    echo(2);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 1);
}

/* The new master does not have the script yet. */
TEST(test_no_script)
{
    a.answers[0] = moved_to_b;
    b.answers[0] = "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    up();
    share(5000); /* 5649 is B's now */
    rig_send(2, "ECHO", LATER_SCRIPT_ACK, 5);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(rig.fake, "SCRIPT"), 0);
    ck_assert_uint_eq(fake_called(node_b, "SCRIPT"), 1);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 2);
}

/* Its last try is close to its deadline: that is not the end of the connection, on which others
 * wait. */
TEST(test_late_try)
{
    a.answers[0] = a.answers[1] = a.answers[2] =
        "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    up();
    rig_send(2, "ECHO", LATER_NO_SCRIPT, 0.16); /* the fourth try begins at 0.15 */
    RIG_UNTIL(ANSWERED(2));
    echo(3);
    RIG_UNTIL(ANSWERED(3));
    rig_answered(3, 3);
    ck_assert_int_eq(rig.ups, 1);
    ck_assert_uint_eq(fake_accepted(rig.fake), 1);
}

/* Nobody waits for it with a command; `up` tells those who lost one. */
TEST(test_a_node_is_looked_for)
{
    b.answers[0] = "cut";
    up();
    echo(1);
    RIG_UNTIL(ANSWERED(1));
    ck_assert_int_eq(rig.told[1].outcome, LATER_UNKNOWN);
    RIG_UNTIL(fake_accepted(node_b) == 2);
    RIG_UNTIL(rig.ups >= 2);
    echo(4);
    RIG_UNTIL(ANSWERED(4));
    rig_answered(4, 4);
    ck_assert_int_eq(rig.told[1].times, 1);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 2);
}

/* A node that was never reached. It is tried, and the others are asked, until one has its slots. */
TEST(test_never_there)
{
    share_between(8191, fake_port(rig.fake), 1);
    up();
    echo(1);
    echo(2);
    RIG_UNTIL(ANSWERED(2));
    RIG_UNTIL(atomic_load(&a.asked) >= 3);
    ck_assert_int_eq(rig.told[1].times, 0);
    share(8191);
    RIG_UNTIL(ANSWERED(1));
    rig_answered(1, 1);
    ck_assert_int_eq(rig.ups, 2);
    ck_assert_int_eq(rig.downs, 0);
}

TEST(test_never_there_in_time)
{
    double start;

    share_between(8191, fake_port(rig.fake), 1);
    up();
    start = later_clock();
    rig_send(1, "ECHO", LATER_NO_SCRIPT, 0.4);
    RIG_UNTIL(ANSWERED(1));
    ck_assert_int_eq(rig.told[1].outcome, LATER_UNSENT);
    ck_assert_ptr_nonnull(strstr(rig.told[1].text, "no node of the Cluster took it in time"));
    ck_assert_ptr_nonnull(strstr(rig.told[1].text, "127.0.0.1:1: "));
    ck_assert(rig.told[1].at - start >= 0.4);
    ck_assert(rig.told[1].at - start < 0.4 + 3 * rig_slowness());
    share(8191); /* though nothing waits any more: */
    echo(4);
    RIG_UNTIL(rig.ups == 2);
    ck_assert_int_eq(rig.downs, 0);
}

/* Returns how long they take. */
static double fifty_answers(void)
{
    double start = later_clock();

    for (int i = 0; i < 50; i++) {
        rig.told[2].times = 0;
        echo(2);
        while (!rig.told[2].times && later_clock() < start + 20)
            later_redis_wait(rig.redis, later_clock() + 1);
    }
    return later_clock() - start;
}

/* Waiting for one node holds up no other: fifty answers, one after another, in the time of a few
 * pauses between tries of the first. */
TEST(test_holds_up_nobody)
{
    double best = 100;
    int rounds = 0;

    share_between(8191, fake_port(rig.fake), 1);
    up();
    echo(1);
    later_redis_wait(rig.redis, later_clock() + 0.3);
    for (; rounds < 3 && best >= 1 * rig_slowness(); rounds++) /* we may stand still in one */
        best = fmin(best, fifty_answers());
    ck_assert_int_eq(rig.answers, 50 * rounds);
    ck_assert(best < 1 * rig_slowness());
}

/* The node that we are connected to is cut off from the others, so those are asked too. */
TEST(test_doubt)
{
    char url[100];
    struct later_error err;

    for (int i = 0; i < ANSWERS; i++)
        a.answers[i] = "-CLUSTERDOWN The cluster is down\r\n";
    later_redis_free(rig.redis);
    snprintf(url, sizeof url, "cluster://127.0.0.1:%u,127.0.0.1:%u", fake_port(rig.fake),
             fake_port(node_b));
    ck_assert_int_eq(later_address_parse(&rig.options.address, url, &err), 0);
    rig_begin_redis();
    up();
    ck_assert_uint_eq(fake_accepted(node_b), 0);
    pthread_mutex_lock(&lock); /* only B knows better */
    snprintf(b.slots, sizeof b.slots,
             "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n", fake_port(node_b));
    pthread_mutex_unlock(&lock);
    echo(2);
    RIG_UNTIL(ANSWERED(2));
    rig_answered(2, 2);
    ck_assert_uint_eq(fake_called(node_b, "ECHO"), 1);
}

/* Subscriptions at a node that is gone must be made again: `up` says so. */
TEST(test_subscriber)
{
    a.answers[0] = "*3\r\n$9\r\nsubscribe\r\n$1\r\n7\r\n:1\r\n";
    a.answers[1] = "cut";
    up();
    rig_send(7, "SUBSCRIBE", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(ANSWERED(7));
    echo(2);
    RIG_UNTIL(ANSWERED(2));
    ck_assert_int_eq(rig.told[2].outcome, LATER_UNKNOWN);
    RIG_UNTIL(rig.ups >= 2);
    ck_assert_int_eq(rig.downs, 0);
}

/* ---- the URL */

CASE("urls", NULL, NULL);

TEST(test_urls)
{
    static const struct {
        const char *url, *user, *hosts[3], *ports[3];
        unsigned count;
    } rows[] = {
        { "cluster://h", "", { "h" }, { "6379" }, 1 },
        { "cluster://h:7000", "", { "h" }, { "7000" }, 1 },
        { "cluster://a:1,b,c:3", "", { "a", "b", "c" }, { "1", "6379", "3" }, 3 },
        { "cluster://me@10.0.0.1:7000,[::1]:7001",
          "me",
          { "10.0.0.1", "::1" },
          { "7000", "7001" },
          2 },
        { "cluster://a,b,c,d,e,f,g,h", "", { "a", "b", "c" }, { "6379", "6379", "6379" }, 8 },
    };
    struct later_address address, one;
    struct later_error err;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(later_address_parse(&address, rows[i].url, &err) == 0, "%s: %s", rows[i].url,
                      err.text);
        ck_assert(address.cluster);
        ck_assert_str_eq(address.user, rows[i].user);
        ck_assert_uint_eq(later_address_hosts(&address), rows[i].count);
        ck_assert_uint_eq(later_address_sentinels(&address), 0);
        for (unsigned h = 0; h < rows[i].count && h < 3; h++) {
            later_address_host(&address, h, &one);
            ck_assert_str_eq(one.host, rows[i].hosts[h]);
            ck_assert_str_eq(one.port, rows[i].ports[h]);
        }
    }
    ck_assert_int_eq(later_address_parse(&address, "redis://h", &err), 0);
    ck_assert(!address.cluster);
    ck_assert_uint_eq(later_address_hosts(&address), 0);
}

TEST(test_bad_urls)
{
    static const char *const urls[] = {
        "cluster://",
        "cluster://@h",
        "cluster://h,",
        "cluster://,h",
        "cluster://h:0",
        "cluster://h:65536",
        "cluster://h:x",
        "cluster://u:p@h",
        "cluster://h/1",
        "cluster://a,b/0",
        "cluster://a,b,c,d,e,f,g,h,i",
        "cluster://a,,b",
        "cluster:h",
    };
    struct later_address address;
    struct later_error err;

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        ck_assert_msg(later_address_parse(&address, urls[i], &err) < 0, "%s is taken", urls[i]);
        ck_assert_int_eq(err.code, LATER_E_USAGE);
    }
}
