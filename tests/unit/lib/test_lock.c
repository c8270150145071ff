/* test_lock.c: taking a lock and waiting for it, on a live Redis. */
#include "client/lock_wait.h"

#include "client/call.h"
#include "tests/unit/live.h"
#include "queue/queue.h"
#include "redis/script.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct later_client *ann, *bob;
static struct later_error err;
static struct later_locked locked;
static char bobs[LATER_TOKEN_LEN + 1];

static struct later_client *open_client(void)
{
    struct later_client *client = later_client_open_with(
        &(struct later_client_options){ .url = live_url, .timeout = 20 }, &err);

    ck_assert_ptr_nonnull(client);
    return client;
}

static void set_up(void)
{
    live_begin();
    ann = open_client();
    bob = open_client();
    later_token(bobs);
}

static void tear_down(void)
{
    later_client_close(ann);
    later_client_close(bob);
    live_end();
}

static int take(struct later_client *client, const char *token, double ttl, double wait)
{
    struct later_lock_wish wish = {
        .name = "n", .token = token, .owner = "me", .ttl = ttl, .wait = wait, .stop = -1
    };

    return later_lock_wait(client, &wish, &locked, &err);
}

static bool give_back(struct later_client *client, const char *token)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    bool ours;

    later_lock_free(&cmd, "later", "n", token);
    reply = later_call(client, &cmd, 0, false, &err);
    ours = later_lock_still(reply);
    later_reply_free(reply);
    return ours;
}

/* Ends a child by another program: valgrind would look for leaks among its copies of all that the
 * parent has. */
_Noreturn static void leave(bool good)
{
    execlp(good ? "true" : "false", "leave", (char *)NULL);
    _exit(2);
}

/* Runs act(arg) in a process of its own as soon as `count` clients are blocked. */
static pid_t when_blocked(int count, void (*act)(const void *), const void *arg)
{
    pid_t pid = fork();
    struct later_client *client;

    if (pid)
        return pid;
    client = open_client(); /* connections are not shared with the parent */
    for (;;) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        char wanted[40];
        bool there;

        snprintf(wanted, sizeof wanted, "blocked_clients:%d\r", count);
        later_command_begin(&cmd, 2);
        later_command_text(&cmd, "INFO");
        later_command_text(&cmd, "clients");
        reply = later_call(client, &cmd, 0, true, &err);
        there = reply && strstr(later_reply_text(reply, NULL), wanted);
        later_reply_free(reply);
        if (there)
            break;
        usleep(1000);
    }
    later_client_close(client);
    act(arg);
    leave(true);
}

static void joined(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* All connections of Redis's other clients are gone; then ann's lock ends. */
static void cut(const void *nothing)
{
    struct later_command cmd = { 0 };
    struct later_client *client = open_client();

    (void)nothing;
    later_command_begin(&cmd, 6);
    for (size_t i = 0; i < 6; i++)
        later_command_text(
            &cmd, (const char *const[]){ "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes" }[i]);
    later_reply_free(later_call(client, &cmd, 0, false, &err));
    server_advance(&live_server, 30); /* by Redis's clock, since we may be late with all that */
    leave(true);
}

static void let_go(const void *token)
{
    leave(give_back(open_client(), token));
}

static void write_byte(const void *fd)
{
    leave(write(*(const int *)fd, "x", 1) == 1);
}

LIVE_CASE("lock", set_up, tear_down);

TEST(test_taken_and_busy)
{
    double begun = later_clock();

    ck_assert_int_eq(take(ann, "aaaa", 30, 0), LATER_LOCK_YES);
    ck_assert_uint_eq(locked.fence, 1);
    ck_assert_double_ge(locked.since, begun);
    ck_assert_double_le(locked.since, later_clock());
    ck_assert_int_eq(take(bob, "bbbb", 30, 0), LATER_LOCK_NO);
    ck_assert_int_eq(take(ann, "aaaa", 30, 0), LATER_LOCK_YES);
    ck_assert_uint_eq(locked.fence, 1);
    begun = later_clock();
    ck_assert_int_eq(take(bob, "bbbb", 30, 0.25), LATER_LOCK_NO);
    ck_assert_double_ge(later_clock() - begun, 0.249);
    ck_assert_int_eq(live_number("LLEN later:lock:{n}:wake"), 0);
    ck_assert(give_back(ann, "aaaa"));
    ck_assert_int_eq(take(bob, "bbbb", 30, 0.25), LATER_LOCK_YES);
    ck_assert_uint_eq(locked.fence, 2);
}

TEST(test_woken_when_freed)
{
    pid_t pid;

    ck_assert_int_eq(take(ann, "aaaa", 30, 0), LATER_LOCK_YES);
    pid = when_blocked(1, let_go, "aaaa");
    ck_assert_int_eq(take(bob, bobs, 30, INFINITY), LATER_LOCK_YES);
    ck_assert_uint_eq(locked.fence, 2);
    ck_assert_str_eq(live_string("HGET later:lock:{n} token"), bobs);
    joined(pid);
}

TEST(test_owner_dead)
{
    double most = 2 * live_slowness(), best = 100;

    for (int i = 0; i < 3 && best > most; i++) { /* we may stand still in one */
        double begun = later_clock(), took;

        ck_assert_int_eq(take(ann, "aaaa", 0.6, 0), LATER_LOCK_YES);
        ck_assert_int_eq(take(bob, "bbbb", 30, INFINITY), LATER_LOCK_YES);
        took = later_clock() - begun;
        ck_assert_double_ge(took, 0.599);
        best = fmin(best, took);
        ck_assert(!give_back(ann, "aaaa"));
        ck_assert(give_back(bob, "bbbb"));
    }
    ck_assert_double_le(best, most);
}

TEST(test_stopped)
{
    struct later_lock_wish wish = {
        .name = "n", .token = bobs, .owner = "me", .ttl = 30, .wait = INFINITY
    };
    int line[2];
    pid_t pid;

    ck_assert_int_eq(pipe(line), 0);
    wish.stop = line[0];
    ck_assert_int_eq(take(ann, "aaaa", 30, 0), LATER_LOCK_YES);
    pid = when_blocked(1, write_byte, &line[1]);
    ck_assert_int_eq(later_lock_wait(bob, &wish, &locked, &err), LATER_LOCK_NO);
    joined(pid);
    ck_assert(give_back(ann, "aaaa"));
    ck_assert_int_eq(live_number("LLEN later:lock:{n}:wake"), 1); /* nobody is in the line */
    close(line[0]);
    close(line[1]);
}

TEST(test_refused)
{
    struct later_lock_wish wish = {
        .name = "a b", .token = "t", .owner = "", .ttl = 30, .stop = -1
    };

    ck_assert_int_eq(later_lock_wait(ann, &wish, &locked, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    wish.name = "n";
    for (int i = 0; i < 4; i++) {
        wish.ttl = (const double[]){ 0, -1, NAN, 2e9 }[i];
        ck_assert_int_eq(later_lock_wait(ann, &wish, &locked, &err), -1);
        ck_assert_int_eq(err.code, LATER_E_USAGE);
    }
    ck_assert_int_eq(live_number("EXISTS later:lock:{n}"), 0);
}

TEST(test_denied_to_wait)
{
    ck_assert_int_eq(take(ann, "aaaa", 30, 0), LATER_LOCK_YES);
    live_do("ACL SETUSER default -blpop");
    ck_assert_int_eq(take(bob, "bbbb", 30, 20), -1);
    ck_assert_int_eq(err.code, LATER_E_TOKEN);
    live_do("ACL SETUSER default +blpop");
}

TEST(test_cut_off_while_waiting)
{
    pid_t pid;

    ck_assert_int_eq(take(ann, "aaaa", 30, 0), LATER_LOCK_YES);
    pid = when_blocked(1, cut, NULL);
    ck_assert_int_eq(take(bob, bobs, 30, 20), LATER_LOCK_YES);
    ck_assert_uint_eq(locked.fence, 2);
    joined(pid);
    live_end(); /* its own connection is gone too */
    live_begin();
}

TEST(test_replies_of_other_shapes)
{
    struct later_lock_seen seen;
    uint64_t fence = 7;
    double left = 7;

    ck_assert_int_eq(later_lock_taken(NULL, &fence, &left), LATER_LOCK_NO);
    ck_assert_double_eq(left, 0);
    ck_assert(!later_lock_still(NULL));
    ck_assert_ptr_null(later_lock_pass(NULL));
    later_lock_seen(NULL, &seen);
    ck_assert(!seen.held);
    ck_assert_str_eq(seen.owner, "");
}
