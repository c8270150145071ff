/* test_redis.c: one connection that holds: the handshake, answers in order, scripts that have to be
 * loaded, calls from inside an answer. test_redis_faults.c breaks it. */
#include "tests/unit/redis_rig.h"
#include "redis/script.h"

#include <stdatomic.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the handshake */

static char heard[4096]; /* the script's words, told before it answers */

/* Notes each command of the handshake, and answers OK, except as `arg` says: "NAME answer". */
static void listen_closely(struct fake_redis *fake, void *arg)
{
    const char *special = arg;
    size_t name = strcspn(special, " "), len = 0;

    while (fake_accept(fake)) {
        while (fake_read(fake)) {
            const char *answer = "+OK\r\n";

            for (size_t i = 0; i < fake_count(fake); i++)
                len += (size_t)snprintf(heard + len, sizeof heard - len, "%s%c", fake_word(fake, i),
                                        i + 1 < fake_count(fake) ? ' ' : '\n');
            if (name && strncmp(fake_word(fake, fake_count(fake) == 2), special, name) == 0)
                answer = special + name + 1;
            fake_say(fake, answer);
        }
    }
}

static void check_handshake(const char *user, const char *password, uint32_t db, const char *name,
                            const char *expected)
{
    static char nothing[] = "";

    heard[0] = '\0';
    rig_begin_fake(listen_closely, nothing);
    rig.options.password = password;
    rig.options.name = name;
    rig.options.address.db = db;
    snprintf(rig.options.address.user, sizeof rig.options.address.user, "%s", user);
    rig_begin_redis();
    rig_connect();
    RIG_UNTIL(rig.ups == 1);
    ck_assert_str_eq(heard, expected);
    rig_end();
}

CASE("handshake", NULL, rig_end);

TEST(test_handshake)
{
    check_handshake("", NULL, 0, NULL, "CLIENT ID\nPING\n");
    check_handshake("", "secret", 0, NULL, "AUTH secret\nCLIENT ID\nPING\n");
    check_handshake("ann", "secret", 3, "laterd-test",
                    "AUTH ann secret\nSELECT 3\nCLIENT SETNAME laterd-test\nCLIENT ID\nPING\n");
    check_handshake("ann", NULL, 0, NULL, "CLIENT ID\nPING\n"); /* nopass, or told so by PING */
}

/* `answer` to the command `name` of the handshake. why: how it goes down; NULL: it comes up. */
static void check_refusal(const char *name, const char *answer, const char *why)
{
    char special[200];

    snprintf(special, sizeof special, "%s %s\r\n", name, answer);
    rig_begin_fake(listen_closely, special);
    rig.options.password = "secret";
    rig.options.name = "me";
    rig.options.address.db = 3;
    rig_begin_redis();
    rig_connect();
    RIG_UNTIL(rig.ups + rig.downs > 0);
    ck_assert_msg(rig.ups == !why && rig.downs == (why != NULL), "%s", special);
    if (why)
        ck_assert_str_eq(rig.why, why);
    rig_end();
}

TEST(test_handshake_refused)
{
    check_refusal("secret", "-WRONGPASS invalid username-password pair",
                  "WRONGPASS invalid username-password pair");
    check_refusal("secret", "-ERR AUTH <password> called without any password configured",
                  "ERR AUTH <password> called without any password configured");
    check_refusal("3", "-ERR DB index is out of range", "ERR DB index is out of range");
    check_refusal("PING", "-NOAUTH Authentication required.", "NOAUTH Authentication required.");
    check_refusal("PING", "-LOADING Redis is loading", "LOADING Redis is loading");
    check_refusal("PING", "-MASTERDOWN Link with MASTER is down",
                  "MASTERDOWN Link with MASTER is down");
    check_refusal("PING", "-ERR max number of clients reached",
                  "ERR max number of clients reached");
    /* It hangs up after that: the answer comes to whatever was sent first. */
    check_refusal("CLIENT", "-ERR max number of clients reached",
                  "ERR max number of clients reached");
    /* Reading still works, and it may heal. */
    check_refusal("PING", "-MISCONF cannot write", NULL);
    check_refusal("PING", "-BUSY a script runs", NULL);
    check_refusal("PING", "-NOPERM no ping", NULL);
    check_refusal("CLIENT", "-ERR no name", NULL);
}

/* Redis says at once that there are too many, and hangs up: those are the words to be told. */
static atomic_bool hung_up;

static void too_many(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (fake_accept(fake) && fake_say(fake, "-ERR max number of clients reached\r\n"))
        fake_cut(fake);
    hung_up = true;
    fake_accept(fake);
}

TEST(test_too_many_clients)
{
    hung_up = false;
    rig_begin(too_many, NULL);
    rig_connect();
    while (!hung_up) /* before we write, since what it has said might be lost otherwise */
        later_redis_tick(rig.redis);
    RIG_UNTIL(rig.downs == 1);
    ck_assert_str_eq(rig.why, "ERR max number of clients reached");
}

TEST(test_id)
{
    rig_up(rig_echo, NULL);
    ck_assert_int_eq(later_redis_id(rig.redis), 7);
    later_redis_disconnect(rig.redis, "enough");
    ck_assert_int_eq(later_redis_id(rig.redis), 0);
    ck_assert_str_eq(rig.why, "enough");
}

/* Connects anew, for the nth time. */
static void come_again(int n)
{
    later_redis_disconnect(rig.redis, "again");
    rig_connect();
    RIG_UNTIL(rig.ups == n);
}

TEST(test_password_changes)
{
    static char nothing[] = "";
    char path[] = "/tmp/later-password-XXXXXX";
    int fd = mkstemp(path);

    heard[0] = '\0';
    rig_begin_fake(listen_closely, nothing);
    rig.options.password = "old";
    rig.options.password_file = path;
    rig_begin_redis();
    come_again(1); /* the file is empty */
    ck_assert_int_eq(write(fd, "new\n", 4), 4);
    come_again(2);
    ck_assert_int_eq(ftruncate(fd, 0) + (int)pwrite(fd, "newer\n", 6, 0), 6);
    come_again(3);
    close(fd);
    unlink(path);
    come_again(4);
    ck_assert_str_eq(heard, "AUTH old\nCLIENT ID\nPING\nAUTH new\nCLIENT ID\nPING\n"
                            "AUTH newer\nCLIENT ID\nPING\nAUTH newer\nCLIENT ID\nPING\n");
}

/* ---- answers */

CASE("answers", NULL, rig_end);

TEST(test_one)
{
    int flags;

    rig_up(rig_echo, NULL);
    flags = fcntl(later_redis_fd(rig.redis), F_GETFD);
    ck_assert_int_eq(flags, FD_CLOEXEC);
    ck_assert(isinf(later_redis_deadline(rig.redis)));
    ck_assert(!later_redis_wants_write(rig.redis));
    rig_send(5, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    ck_assert_uint_eq(later_redis_pending(rig.redis), 1);
    ck_assert(later_redis_wants_write(rig.redis));
    RIG_UNTIL(rig.answers == 1);
    rig_answered(5, 5);
    ck_assert_uint_eq(later_redis_pending(rig.redis), 0);
    ck_assert(isinf(later_redis_deadline(rig.redis)));
}

static int order[RIG_TOLD], ordered;

static void note_order(int number)
{
    order[ordered++] = number;
}

TEST(test_many_in_order)
{
    rig_up(rig_echo, NULL);
    rig.then = note_order;
    for (int i = 0; i < 2000; i++)
        rig_send(i, "ECHO", LATER_NO_SCRIPT, 20);
    RIG_UNTIL(rig.answers == 2000);
    for (int i = 0; i < 2000; i++) {
        rig_answered(i, i);
        ck_assert_int_eq(order[i], i);
    }
}

/* An answer a byte at a time. */
static void drop_by_drop(struct fake_redis *fake, void *arg)
{
    static const char answer[] = "*2\r\n$5\r\na\r\nbc\r\n:3\r\n";

    (void)arg;
    if (!fake_shake(fake) || !fake_read(fake))
        return;
    for (size_t i = 0; i + 1 < sizeof answer; i++) {
        fake_say_bytes(fake, answer + i, 1);
        fake_pause(fake, 0.002);
    }
    fake_wait_closed(fake);
}

static struct later_reply *taken;

static void take_reply(void *arg, struct later_answer *answer)
{
    (void)arg;
    rig.answers++;
    taken = answer->reply;
    answer->reply = NULL; /* kept beyond the call */
}

TEST(test_drop_by_drop)
{
    struct later_command cmd = { 0 };
    size_t len;

    rig_up(drop_by_drop, NULL);
    later_command_begin(&cmd, 1);
    later_command_text(&cmd, "X");
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, 5, take_reply, NULL), 0);
    RIG_UNTIL(rig.answers == 1);
    ck_assert_uint_eq(later_reply_count(taken), 2);
    ck_assert_str_eq(later_reply_text(later_reply_at(taken, 0), &len), "a\r\nbc");
    ck_assert_uint_eq(len, 5);
    ck_assert_int_eq(later_reply_int(later_reply_at(taken, 1)), 3);
    later_reply_free(taken);
}

/* 16 MiB up and the same down, through sockets that hold far less. */
static void mirror(struct fake_redis *fake, void *arg)
{
    size_t len = *(size_t *)arg;
    char head[32];

    if (!fake_shake(fake) || !fake_read(fake))
        return;
    snprintf(head, sizeof head, "$%zu\r\n", len);
    fake_say(fake, head);
    fake_say_bytes(fake, fake_word(fake, 1), len);
    fake_say(fake, "\r\n");
    fake_wait_closed(fake);
}

TEST(test_large)
{
    struct later_command cmd = { 0 };
    size_t size = 16 << 20, len;
    char *bytes = malloc(size);

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 + (i >> 12));
    rig_up(mirror, &size);
    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "MIRROR");
    later_command_bytes(&cmd, bytes, size);
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, 60, take_reply, NULL), 0);
    RIG_UNTIL(rig.answers == 1);
    ck_assert_mem_eq(later_reply_text(taken, &len), bytes, size);
    ck_assert_uint_eq(len, size);
    later_reply_free(taken);
    free(bytes);
}

/* A callback is no duty, and what cannot be sent is refused, not answered. */
TEST(test_send)
{
    struct later_command cmd = { 0 };

    rig_up(rig_echo, NULL);
    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "ECHO");
    later_command_int(&cmd, 1);
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, 2, NULL, NULL), 0);
    RIG_UNTIL(later_redis_pending(rig.redis) == 0);
    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "TOO FEW");
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, 2, take_reply, NULL), -1);
    ck_assert_ptr_null(cmd.data);
    later_redis_disconnect(rig.redis, "off");
    later_command_begin(&cmd, 1);
    later_command_text(&cmd, "PING");
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, 2, take_reply, NULL), -1);
    ck_assert_ptr_null(cmd.data);
    ck_assert_int_eq(rig.answers, 0);
}

static void refuse_all(struct fake_redis *fake, void *arg)
{
    static const char *const answers[] = { "-OOM full\r\n", "-READONLY now\r\n", "-ERR no\r\n",
                                           "-ODD one\r\n" };

    (void)arg;
    if (!fake_shake(fake))
        return;
    for (size_t i = 0; i < 4 && fake_read(fake); i++)
        fake_say(fake, answers[i]);
    fake_wait_closed(fake);
}

TEST(test_refusals)
{
    rig_up(refuse_all, NULL);
    for (int i = 0; i < 4; i++)
        rig_send(i, "SET", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 4);
    rig_refused(0, LATER_REMEDY_RETRY, "OOM full");
    rig_refused(1, LATER_REMEDY_RECONNECT, "READONLY now");
    rig_refused(2, LATER_REMEDY_ABANDON, "ERR no");
    rig_refused(3, LATER_REMEDY_RETRY, "ODD one");
    ck_assert(later_redis_up(rig.redis)); /* what to do is the owner's policy */
}

/* ---- messages */

static char messages[200];

static void on_message(void *arg, const char *channel, const char *text)
{
    (void)arg;
    snprintf(messages + strlen(messages), sizeof messages - strlen(messages), "%s=%s;", channel,
             text);
}

static void publish(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (!fake_shake(fake) || !fake_read(fake))
        return;
    fake_say(fake, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
                   "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\none\r\n"
                   "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$0\r\n\r\n");
    fake_wait_closed(fake);
}

TEST(test_messages)
{
    messages[0] = '\0';
    rig_begin_fake(publish, NULL);
    rig.options.message = on_message;
    rig_begin_redis();
    rig_connect();
    RIG_UNTIL(rig.ups == 1);
    rig_send(0, "SUBSCRIBE", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(strlen(messages) == 9);
    ck_assert_str_eq(messages, "c=one;c=;");
    ck_assert_int_eq(rig.told[0].times, 1);
    ck_assert_int_eq(rig.downs, 0);
}

/* ---- scripts */

/* Plays one answer after the other, from the NULL-terminated list `arg`. */
static void recite(struct fake_redis *fake, void *arg)
{
    const char *const *answers = arg;

    heard[0] = '\0';
    if (!fake_shake(fake))
        return;
    for (size_t i = 0; answers[i] && fake_read(fake); i++) {
        snprintf(heard + strlen(heard), 64, "%.6s %.4s;", fake_word(fake, 0), fake_word(fake, 1));
        fake_say(fake, answers[i]);
    }
    fake_wait_closed(fake);
}

#define NOSCRIPT "-NOSCRIPT No matching script.\r\n"

static void script_case(const char *const *answers, int script, const char *expected)
{
    rig_up(recite, (void *)answers);
    rig_send(1, "EVALSHA", script, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 1);
    later_redis_wait(rig.redis, later_clock() + 0.05); /* nothing more may be sent */
    ck_assert_str_eq(heard, expected);
    ck_assert_uint_eq(later_redis_pending(rig.redis), 0);
    ck_assert_int_eq(rig.answers, 1);
}

CASE("scripts", NULL, rig_end);

TEST(test_noscript)
{
    static const char *const answers[] = { NOSCRIPT, "$3\r\nsha\r\n", ":42\r\n", NULL };

    script_case(answers, LATER_SCRIPT_ACK, "EVALSH 1;SCRIPT LOAD;EVALSH 1;");
    rig_answered(1, 42);
}

TEST(test_noscript_twice)
{
    static const char *const answers[] = { NOSCRIPT, "$3\r\nsha\r\n", NOSCRIPT, NULL };

    script_case(answers, LATER_SCRIPT_ACK, "EVALSH 1;SCRIPT LOAD;EVALSH 1;");
    rig_refused(1, LATER_REMEDY_LOAD, "NOSCRIPT No matching script.");
}

/* If loading scripts is not allowed, the error says so, and not that there are none. */
TEST(test_noscript_and_no_permission)
{
    static const char *const answers[] = { NOSCRIPT, "-NOPERM script|load\r\n", NOSCRIPT, NULL };

    script_case(answers, LATER_SCRIPT_ACK, "EVALSH 1;SCRIPT LOAD;EVALSH 1;");
    rig_refused(1, LATER_REMEDY_ABANDON, "NOPERM script|load");
}

TEST(test_noscript_of_another_command)
{
    static const char *const answers[] = { NOSCRIPT, NULL };

    script_case(answers, LATER_NO_SCRIPT, "EVALSH 1;");
    rig_refused(1, LATER_REMEDY_LOAD, "NOSCRIPT No matching script.");
}

/* Others on the way meanwhile keep their answers, each its own; one load is for all of them. */
TEST(test_noscript_among_others)
{
    static const char *const answers[] = { ":0\r\n",   NOSCRIPT, ":2\r\n", NOSCRIPT, ":4\r\n",
                                           "+sha\r\n", ":1\r\n", ":3\r\n", NULL };

    rig_up(recite, (void *)answers);
    for (int i = 0; i < 5; i++)
        rig_send(i, "EVALSHA", LATER_SCRIPT_PUSH, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 5);
    for (int i = 0; i < 5; i++)
        rig_answered(i, i);
    ck_assert_str_eq(heard, "EVALSH 0;EVALSH 1;EVALSH 2;EVALSH 3;EVALSH 4;"
                            "SCRIPT LOAD;EVALSH 1;EVALSH 3;");
}

/* Once that load is answered, another one is needed after a SCRIPT FLUSH. */
TEST(test_noscript_again)
{
    static const char *const answers[] = { NOSCRIPT,   "+sha\r\n", ":1\r\n", NOSCRIPT,
                                           "+sha\r\n", ":2\r\n",   NULL };

    rig_up(recite, (void *)answers);
    for (int i = 1; i <= 2; i++) {
        rig_send(i, "EVALSHA", LATER_SCRIPT_PUSH, UNIT_PATIENT);
        RIG_UNTIL(rig.answers == i);
        rig_answered(i, i);
    }
    ck_assert_str_eq(heard, "EVALSH 1;SCRIPT LOAD;EVALSH 1;EVALSH 2;SCRIPT LOAD;EVALSH 2;");
}

/* ---- from inside an answer */

static void send_next(int number)
{
    if (number < 200)
        rig_send(number + 1, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
}

CASE("inside", NULL, rig_end);

TEST(test_send_from_an_answer)
{
    rig_up(rig_echo, NULL);
    rig.then = send_next;
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 201);
    for (int i = 0; i <= 200; i++)
        rig_answered(i, i);
}

static void flush_inside(int number)
{
    send_next(number);
    later_redis_flush(rig.redis);
    ck_assert_int_eq(rig.answers, number + 1); /* nothing is answered in here */
}

TEST(test_flush_from_an_answer)
{
    rig_up(rig_echo, NULL);
    rig.then = flush_inside;
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 201);
}

static void hang_up_at_3(int number)
{
    if (number == 3)
        later_redis_disconnect(rig.redis, "had enough");
}

/* What was answered stays so. The rest is reported once, from inside. */
TEST(test_disconnect_from_an_answer)
{
    rig_up(rig_echo, NULL);
    rig.then = hang_up_at_3;
    for (int i = 0; i < 10; i++)
        rig_send(i, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 10);
    for (int i = 0; i < 10; i++) {
        if (i <= 3)
            rig_answered(i, i);
        else
            rig_broke(i, LATER_UNKNOWN, "had enough");
    }
    ck_assert_int_eq(rig.downs, 1);
}

static void connect_again(void)
{
    rig_connect();
}

TEST(test_connect_from_down)
{
    rig_up(rig_echo, NULL);
    rig.then = hang_up_at_3;
    rig.then_down = connect_again;
    for (int i = 0; i < 10; i++)
        rig_send(i, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.ups == 2);
    ck_assert_int_eq(rig.answers, 10);
    rig.then = NULL;
    rig_send(20, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 11);
    rig_answered(20, 20);
    rig.then_down = NULL;
}
