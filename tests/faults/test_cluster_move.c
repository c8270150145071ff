/*
 * test_cluster_move.c: a stock, a lock and a limit are used without a pause while their slots move
 * from master to master again and again. As many are sold as there were, each number once. One at a
 * time has the lock, and its fencing number grows. No more pass the limit than allowed. While a
 * slot's keys are partly here and partly there (TRYAGAIN), nothing is half done. And before any key
 * has moved, a script that removes a key cannot make it again (ASK in its middle), so no script
 * does that.
 */
#include "arena.h"
#include "tap.h"
#include "tests/support/cluster.h"

#include "client/call.h"
#include "queue/lock.h"
#include "queue/permit.h"
#include "queue/queue.h"
#include "script_names.h"
#include "queue/stock.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUYERS     3
#define STOCK      100000
#define MOVES      4
#define MOVES_MOST 30
#define ENOUGH     300 /* claims, and takings of the lock */
#define LIMIT      200 /* in the whole test */
#define CLAIMED    (STOCK + 1)

/* What the users of the stock and the lock have seen; shared by their processes. */
struct seen {
    _Atomic uint32_t stop, claims, failed;
    _Atomic uint32_t number[CLAIMED]; /* how often a claim has got it */
    _Atomic uint32_t inside;          /* who has the lock */
    _Atomic uint32_t taken, together, backwards;
    _Atomic uint64_t fence;
    _Atomic uint32_t passed, asked;
};

static struct cluster cluster;
static struct seen *seen;

static struct later_reply *ask(struct later_client *client, struct later_command *cmd)
{
    struct later_error err;
    struct later_reply *reply = later_call(client, cmd, 0, true, &err);

    if (!reply && atomic_fetch_add(&seen->failed, 1) < 3)
        tap_note("%s", err.text);
    return reply;
}

static void claim(struct later_client *client, int buyer, unsigned turn)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    uint64_t number = 0;
    char who[32];

    snprintf(who, sizeof who, "buyer-%d-%u", buyer, turn);
    later_stock_take(&cmd, "later", "phones", who);
    reply = ask(client, &cmd);
    if (reply && later_stock_taken(reply, &number) == LATER_STOCK_TAKEN && number < CLAIMED) {
        atomic_fetch_add(&seen->number[number], 1);
        atomic_fetch_add(&seen->claims, 1);
    }
    later_reply_free(reply);
}

/* The answer of a call that is repeated is still one: its token says so. */
static void lock_and_free(struct later_client *client)
{
    struct later_command cmd = { 0 };
    char token[LATER_TOKEN_LEN + 1];
    struct later_reply *reply;
    uint64_t fence = 0;

    later_token(token);
    later_lock_take(&cmd, "later", "door", token, "test", 30, NULL, "");
    reply = ask(client, &cmd);
    if (reply && later_lock_taken(reply, &fence, NULL) == LATER_LOCK_YES) {
        if (atomic_fetch_add(&seen->inside, 1) > 0)
            atomic_fetch_add(&seen->together, 1);
        if (atomic_exchange(&seen->fence, fence) >= fence)
            atomic_fetch_add(&seen->backwards, 1);
        atomic_fetch_add(&seen->taken, 1);
        atomic_fetch_sub(&seen->inside, 1);
        later_lock_free(&cmd, "later", "door", token);
        later_reply_free(reply);
        reply = ask(client, &cmd);
    }
    later_reply_free(reply);
}

static void pass(struct later_client *client)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_limit_ask(&cmd, "later", "gate", LIMIT, 3600, false);
    reply = ask(client, &cmd);
    atomic_fetch_add(&seen->asked, reply != NULL);
    atomic_fetch_add(&seen->passed, reply && later_limit_wait(reply) <= 0);
    later_reply_free(reply);
}

/* Patient enough for a slot that moves slowly on a busy machine. */
static struct later_client *open_client(void)
{
    struct later_error err;

    return later_client_open_with(
        &(struct later_client_options){ .url = cluster.url, .timeout = 30 }, &err);
}

static pid_t start_buyer(int buyer)
{
    pid_t pid = fork();
    struct later_client *client;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    client = open_client();
    for (unsigned turn = 0; client && !atomic_load(&seen->stop); turn++) {
        claim(client, buyer, turn);
        lock_and_free(client);
        if (turn % 8 == 0)
            pass(client);
    }
    later_client_close(client);
    _exit(0);
}

static bool set_stock(void)
{
    struct later_client *client = open_client();
    struct later_command cmd = { 0 };
    struct later_reply *reply = NULL;

    later_stock_set(&cmd, "later", "phones", STOCK);
    if (client)
        reply = ask(client, &cmd);
    later_reply_free(reply);
    later_client_close(client);
    return reply != NULL;
}

/* --- the only element of a key, renewed while its slot is about to move --- */

static bool lost_none(struct later_client *client, struct later_command *cmd)
{
    struct later_reply *reply = ask(client, cmd);
    bool good = reply && later_reply_count(reply) == 0;

    later_reply_free(reply);
    return good;
}

static bool passes(struct later_client *client)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    bool yes;

    later_limit_ask(&cmd, "later", "twice", 2, 3600, false);
    reply = ask(client, &cmd);
    yes = reply && later_limit_wait(reply) <= 0;
    later_reply_free(reply);
    return yes;
}

static bool touch_job(struct later_client *client, const struct later_keys *keys, const char *token)
{
    const struct later_settlement job = { .token = token, .id = "only" };
    struct later_command cmd = { 0 };

    later_queue_settle(&cmd, keys, LATER_VERB_TOUCH, 60, &job, 1);
    return lost_none(client, &cmd);
}

static bool touch_place(struct later_client *client, const char *token)
{
    struct later_command cmd = { 0 };

    later_permit_touch(&cmd, "later", "seat", 60, &token, 1);
    return lost_none(client, &cmd);
}

static void take_all(struct later_client *client, const struct later_keys *keys, const char *token)
{
    const struct later_new_job job = { .type = "t", .id = "only" };
    struct later_command cmd = { 0 };
    struct later_error err;

    tap_ok(later_push(client, "moved", &job, NULL, NULL, &err) == 0, "a job is pushed");
    later_queue_reserve(
        &cmd, keys,
        &(struct later_take){
            .token = token, .lease = 60, .limit = 1, .bytes = LATER_RESERVE_BYTES });
    later_reply_free(ask(client, &cmd));
    later_permit_take(&cmd, "later", "seat", token, 1, 60, "");
    later_reply_free(ask(client, &cmd));
    tap_ok(passes(client) && touch_job(client, keys, token) && touch_place(client, token),
           "it is reserved, has a place, and one of two has passed");
}

static void test_only_ones(void)
{
    static const char *const names[] = { "later:{moved}:reserved", "later:running:{seat}",
                                         "later:limit:{twice}" };
    struct later_client *client = open_client();
    char token[LATER_TOKEN_LEN + 1];
    struct later_keys keys;

    later_keys_init(&keys, "later", "moved");
    later_token(token);
    take_all(client, &keys, token);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int slot = cluster_slot(&cluster, names[i]);

        tap_ok(cluster_move_begin(&cluster, slot,
                                  (cluster_master(&cluster, slot) + 1) % CLUSTER_MASTERS),
               "the slot of %s is about to move", names[i]);
    }
    tap_ok(touch_job(client, &keys, token) && touch_job(client, &keys, token),
           "its lease is renewed, and again");
    tap_ok(touch_place(client, token) && touch_place(client, token), "its place, too");
    tap_ok(passes(client) && !passes(client), "one more has passed, and no other");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int slot = cluster_slot(&cluster, names[i]);
        int to = (cluster_master(&cluster, slot) + 1) % CLUSTER_MASTERS;

        tap_ok(cluster_move_keys(&cluster, slot, to, 0) && cluster_move_end(&cluster, slot, to),
               "the slot of %s has moved", names[i]);
    }
    tap_ok(touch_job(client, &keys, token) && touch_place(client, token) && !passes(client),
           "all is as it was");
    later_client_close(client);
}

/* --- many, while slots move --- */

/* Each of the three slots goes to another master, its keys one by one in between. */
static void move_all(int round)
{
    static const char *const keys[] = { "later:stock:{phones}", "later:lock:{door}",
                                        "later:limit:{gate}" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int slot = cluster_slot(&cluster, keys[i]), from = cluster_master(&cluster, slot);
        int to = (from + 1) % CLUSTER_MASTERS;
        bool ok = cluster_move_begin(&cluster, slot, to);

        arena_sleep(0.1);
        ok = ok && cluster_move_keys(&cluster, slot, to, 1);
        arena_sleep(0.1); /* some are here, some are there */
        ok = ok && cluster_move_keys(&cluster, slot, to, 0) && cluster_move_end(&cluster, slot, to);
        tap_ok(ok, "round %d: the slot of %s goes from %d to %d", round, keys[i], from, to);
        arena_sleep(0.1);
    }
}

/* On a slow machine it takes more rounds until enough is done meanwhile. */
static bool is_enough(int rounds)
{
    return rounds >= MOVES_MOST || (rounds >= MOVES && atomic_load(&seen->claims) > ENOUGH &&
                                    atomic_load(&seen->taken) > ENOUGH);
}

/* Every number from 1 up to the count, once; a claim without an answer may have one more. */
static void judge_numbers(void)
{
    uint32_t twice = 0, none = 0, claims = atomic_load(&seen->claims);

    for (uint32_t i = 1; i <= claims; i++) {
        twice += atomic_load(&seen->number[i]) > 1;
        none += atomic_load(&seen->number[i]) == 0;
    }
    tap_ok(claims > ENOUGH && twice == 0 && none == 0, "%u claims: %u numbers twice, %u not at all",
           claims, twice, none);
}

int main(void)
{
    pid_t buyers[BUYERS];

    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!tap_ok(seen != MAP_FAILED && cluster_start(&cluster, 5000, NULL) == 0 && set_stock(),
                "a Cluster of six")) {
        cluster_stop(&cluster);
        return tap_end();
    }
    test_only_ones();
    for (int i = 0; i < BUYERS; i++)
        buyers[i] = start_buyer(i);
    for (int round = 0; !is_enough(round); round++)
        move_all(round);
    atomic_store(&seen->stop, 1);
    for (int i = 0; i < BUYERS; i++)
        waitpid(buyers[i], NULL, 0);
    tap_ok(atomic_load(&seen->failed) == 0, "%u calls have failed", atomic_load(&seen->failed));
    judge_numbers();
    tap_ok(atomic_load(&seen->taken) > ENOUGH && atomic_load(&seen->together) == 0,
           "the lock was taken %u times, by two at once %u times", atomic_load(&seen->taken),
           atomic_load(&seen->together));
    tap_ok(atomic_load(&seen->backwards) == 0, "its fencing number grows");
    tap_ok(atomic_load(&seen->passed) ==
               (atomic_load(&seen->asked) < LIMIT ? atomic_load(&seen->asked) : LIMIT),
           "of %u that asked %u have passed the limit of %d", atomic_load(&seen->asked),
           atomic_load(&seen->passed), LIMIT);
    cluster_stop(&cluster);
    return tap_end();
}
