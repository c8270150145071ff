/* test_redis_faults.c: a connection that breaks at every place. What was sent is UNKNOWN, what was
 * not sent is UNSENT, and each command is answered exactly once. */
#include "redis/script.h"
#include "tests/support/folder.h"
#include "tests/unit/redis_rig.h"
#include "tests/unit/resolved.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define CLOSED "Redis closed the connection"

static volatile sig_atomic_t pipe_signals;

static void on_sigpipe(int number)
{
    (void)number;
    pipe_signals++;
}

static void set_up(void)
{
    pipe_signals = 0;
    signal(SIGPIPE, on_sigpipe);
}

static void tear_down(void)
{
    rig_end();
    ck_assert_int_eq(pipe_signals, 0);
}

/* ---- connecting */

CASE("connecting", set_up, tear_down);

TEST(test_no_socket)
{
    struct later_error err = { LATER_OK, "" };

    rig_begin_fake(rig_echo, NULL);
    strcpy(rig.options.address.path, "/tmp/later-no-such-socket");
    rig_begin_redis();
    ck_assert_int_lt(later_redis_connect(rig.redis, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert(later_redis_down(rig.redis));
    ck_assert_int_eq(rig.downs, 0);
    ck_assert(isinf(later_redis_deadline(rig.redis)));
    later_redis_handle(rig.redis); /* all harmless while it is down */
    later_redis_flush(rig.redis);
    later_redis_tick(rig.redis);
    later_redis_wait(rig.redis, later_clock() + 10);
    later_redis_disconnect(rig.redis, "nothing");
    ck_assert_int_eq(rig.downs, 0);
}

/* A port on which nobody listens, reserved by a bound socket. */
static int closed_port(uint16_t *port)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof in;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof in), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
    *port = ntohs(in.sin_port);
    return fd;
}

static void begin_tcp(fake_script *script)
{
    struct later_error err;

    memset(&rig, 0, sizeof rig);
    rig_begin_fake(rig_echo, NULL); /* for its callbacks */
    fake_stop(rig.fake);
    rig.fake = fake_start_tcp(script, NULL);
    ck_assert_ptr_nonnull(rig.fake);
    ck_assert_int_eq(later_address_parse(&rig.options.address, "redis://somewhere", &err), 0);
}

TEST(test_tcp_refused)
{
    struct later_error err = { LATER_OK, "" };
    int fd = closed_port(&resolved[0]);

    resolved_count = 1;
    begin_tcp(rig_echo);
    rig_begin_redis();
    if (later_redis_connect(rig.redis, &err) == 0) {
        RIG_UNTIL(rig.downs == 1);
        ck_assert_str_eq(rig.why, "connect: Connection refused");
    } else {
        ck_assert_ptr_nonnull(strstr(err.text, "Connection refused"));
        ck_assert_int_eq(rig.downs, 0);
    }
    ck_assert(later_redis_down(rig.redis));
    close(fd);
}

/* ::1 refuses and 127.0.0.1 serves, as for `localhost` on most machines. The one that served is
 * tried first the next time. */
TEST(test_second_address)
{
    int fd = closed_port(&resolved[0]), other = closed_port(&resolved[2]);

    begin_tcp(rig_echo);
    resolved[1] = (uint16_t)fake_port(rig.fake);
    resolved_count = 3;
    rig_begin_redis();
    for (int round = 1; round <= 3; round++) {
        rig_connect();
        RIG_UNTIL(rig.ups == round);
        rig_send(round, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
        RIG_UNTIL(rig.answers == round);
        rig_answered(round, round);
        ck_assert_int_eq(rig.downs, round - 1);
        later_redis_disconnect(rig.redis, "again");
    }
    close(fd);
    close(other);
}

TEST(test_all_addresses_refuse)
{
    struct later_error err;
    int fd = closed_port(&resolved[0]), other = closed_port(&resolved[1]);

    begin_tcp(rig_echo);
    resolved_count = 2;
    rig_begin_redis();
    if (later_redis_connect(rig.redis, &err) == 0)
        RIG_UNTIL(rig.downs == 1);
    ck_assert(later_redis_down(rig.redis));
    ck_assert_int_eq(rig.ups, 0);
    close(fd);
    close(other);
}

/* ---- the handshake breaks */

static void accept_and_hush(struct fake_redis *fake, void *arg)
{
    (void)arg;
    while (fake_accept(fake))
        fake_wait_closed(fake);
}

/* The moment a deadline was kept, best of several: a busy machine is late now and then, a wrong
 * deadline always. */
#define LATE 0.050

TEST(test_handshake_silence)
{
    double best = 10;

    rig_begin_fake(accept_and_hush, NULL);
    rig.options.connect_timeout = 0.15;
    rig_begin_redis();
    for (int i = 1; i <= 30 && best > 0.15 + LATE * rig_slowness(); i++) {
        double from = later_clock(), took;

        rig_connect();
        ck_assert(later_redis_deadline(rig.redis) - from > 0.1499);
        RIG_UNTIL(rig.downs == i);
        took = rig.down_at - from;
        ck_assert_str_eq(rig.why, "no connection in time");
        ck_assert_double_ge(took, 0.15);
        best = took < best ? took : best;
    }
    ck_assert_double_le(best, 0.15 + LATE * rig_slowness());
}

/* Cuts the handshake after this many bytes of its answers. */
static void cut_handshake(struct fake_redis *fake, void *arg)
{
    static const char answers[] = ":7\r\n+PONG\r\n";

    for (size_t len = 0; len + 1 < sizeof answers && fake_accept(fake); len++) {
        if (fake_read(fake) && fake_read(fake))
            fake_say_bytes(fake, answers, len);
        fake_cut(fake);
    }
    rig_echo(fake, arg);
}

TEST(test_handshake_cut)
{
    rig_begin(cut_handshake, NULL);
    for (int i = 1; i <= 11; i++) {
        rig_connect();
        RIG_UNTIL(rig.downs == i);
        ck_assert_int_eq(rig.ups, 0);
    }
    rig_connect();
    RIG_UNTIL(rig.ups == 1);
    ck_assert_int_eq(rig.downs, 11);
}

/* ---- before and after the write */

static void shake_and_hush(struct fake_redis *fake, void *arg)
{
    (void)arg;
    while (fake_shake(fake))
        fake_wait_closed(fake);
}

CASE("writing", set_up, tear_down);

TEST(test_not_flushed)
{
    rig_up(shake_and_hush, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_disconnect(rig.redis, "off");
    rig_broke(0, LATER_UNSENT, "off");
    rig_broke(1, LATER_UNSENT, "off");
    ck_assert_int_eq(rig.downs, 1);
}

TEST(test_flushed)
{
    rig_up(shake_and_hush, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_flush(rig.redis);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_disconnect(rig.redis, "off");
    rig_broke(0, LATER_UNKNOWN, "off");
    rig_broke(1, LATER_UNSENT, "off");
}

TEST(test_freed)
{
    rig_up(shake_and_hush, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_flush(rig.redis);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_free(rig.redis);
    rig.redis = NULL;
    rig_broke(0, LATER_UNKNOWN, "closed");
    rig_broke(1, LATER_UNSENT, "closed");
    ck_assert_int_eq(rig.downs, 0);
}

/* Hangs up after the handshake and says so in *arg. */
static void shake_and_cut(struct fake_redis *fake, void *arg)
{
    _Atomic int *cuts = arg;

    while (fake_shake(fake)) {
        fake_cut(fake);
        atomic_fetch_add(cuts, 1);
    }
}

/* We write before we notice: not a byte leaves. */
TEST(test_cut_before_the_write)
{
    static _Atomic int cuts; /* the thread of the fake outlives the test */

    rig_up(shake_and_cut, &cuts);
    while (atomic_load(&cuts) == 0)
        usleep(1000);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_flush(rig.redis);
    ck_assert_int_eq(rig.answers, 0); /* a flush never answers */
    ck_assert(!later_redis_wants_write(rig.redis));
    ck_assert_double_le(later_redis_deadline(rig.redis), later_clock());
    RIG_UNTIL(rig.answers == 1);
    rig_broke(0, LATER_UNSENT, rig.why);
    ck_assert_int_eq(rig.downs, 1);
}

/* The same for an owner whose loop sees nothing but the deadline. */
TEST(test_cut_seen_by_tick)
{
    static _Atomic int cuts; /* the thread of the fake outlives the test */

    rig_up(shake_and_cut, &cuts);
    while (atomic_load(&cuts) == 0)
        usleep(1000);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_flush(rig.redis);
    later_redis_tick(rig.redis);
    rig_broke(0, LATER_UNSENT, rig.why);
}

static void read_and_cut(struct fake_redis *fake, void *arg)
{
    _Atomic int *cuts = arg;

    while (fake_shake(fake)) {
        fake_read(fake);
        fake_cut(fake);
        atomic_fetch_add(cuts, 1);
    }
}

TEST(test_cut_after_the_write)
{
    static _Atomic int cuts; /* the thread of the fake outlives the test */

    rig_up(read_and_cut, &cuts);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 1);
    rig_broke(0, LATER_UNKNOWN, rig.why);
    ck_assert_int_eq(rig.downs, 1);
}

/* Answers one, then hangs up while the next is on its way: the first answer is not lost. */
static void answer_and_cut(struct fake_redis *fake, void *arg)
{
    _Atomic int *cuts = arg;

    if (fake_shake(fake) && fake_read(fake))
        fake_say(fake, ":0\r\n");
    fake_cut(fake);
    atomic_fetch_add(cuts, 1);
    fake_accept(fake);
}

TEST(test_answer_then_cut)
{
    static _Atomic int cuts; /* the thread of the fake outlives the test */

    rig_up(answer_and_cut, &cuts);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    later_redis_flush(rig.redis);
    while (atomic_load(&cuts) == 0)
        usleep(1000);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 2);
    rig_answered(0, 0);
    rig_broke(1, LATER_UNSENT, rig.why);
}

/* ---- in the middle of a large write */

static void send_large(int number, size_t size)
{
    struct later_command cmd = { 0 };
    char *bytes = calloc(1, size);

    rig_send(number, "BEFORE", LATER_NO_SCRIPT, 0.3);
    later_command_begin(&cmd, 1);
    later_command_bytes(&cmd, bytes, size);
    free(bytes);
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, 0.3, NULL, NULL), 0);
    rig_send(number + 1, "BEHIND", LATER_NO_SCRIPT, 0.3);
}

static void swallow_and_cut(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (fake_shake(fake) && fake_swallow(fake, 1000000))
        fake_cut(fake);
    fake_accept(fake);
}

TEST(test_cut_within_a_write)
{
    rig_up(swallow_and_cut, NULL);
    send_large(0, 16 << 20);
    RIG_UNTIL(rig.answers == 2);
    rig_broke(0, LATER_UNKNOWN, rig.why);
    rig_broke(1, LATER_UNSENT, rig.why);
}

static void shake_and_stall(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (fake_shake(fake))
        fake_pause(fake, 60); /* reads nothing more */
}

TEST(test_stalled_write)
{
    rig_up(shake_and_stall, NULL);
    send_large(0, 16 << 20);
    RIG_UNTIL(rig.answers == 2);
    ck_assert_str_eq(rig.why, "no answer in time");
    rig_broke(0, LATER_UNKNOWN, rig.why);
    rig_broke(1, LATER_UNSENT, rig.why);
}

/* ---- deadlines */

static void half_an_answer(struct fake_redis *fake, void *arg)
{
    (void)arg;
    while (fake_shake(fake)) {
        if (fake_read(fake) && fake_say(fake, "*2\r\n$3\r\nab"))
            fake_wait_closed(fake);
    }
}

/* Sends 0 with its time, and 1 with its own, until it broke soon enough, thirty times at most.
 * Returns the best. */
static double best_break(double timeout, double timeout_behind, double most)
{
    double best = 100;

    for (int i = 0; i < 30 && best > most; i++) {
        double from;

        memset(rig.told, 0, sizeof rig.told);
        rig_send(0, "ECHO", LATER_NO_SCRIPT, timeout);
        rig_send(1, "ECHO", LATER_NO_SCRIPT, timeout_behind);
        from = later_clock();
        RIG_UNTIL(rig.downs == i + 1);
        ck_assert_str_eq(rig.why, "no answer in time");
        rig_broke(0, LATER_UNKNOWN, rig.why);
        rig_broke(1, LATER_UNKNOWN, rig.why);
        ck_assert_double_ge(rig.down_at - from,
                            (timeout < timeout_behind ? timeout : timeout_behind) - 0.001);
        best = rig.down_at - from < best ? rig.down_at - from : best;
        rig_connect();
        RIG_UNTIL(rig.ups == i + 2);
    }
    return best;
}

CASE("answers", set_up, tear_down);

TEST(test_half_an_answer)
{
    double most = 0.1 + LATE * rig_slowness();

    rig_up(half_an_answer, NULL);
    ck_assert_double_le(best_break(0.1, 0.1, most), most);
}

#define PIECES 40

static void answer_in_pieces(struct fake_redis *fake, void *arg)
{
    (void)arg;
    while (fake_shake(fake)) {
        bool said = fake_read(fake) && fake_say(fake, "$40\r\n");

        for (int i = 0; i < PIECES && said; i++) {
            fake_pause(fake, 0.03 * rig_slowness());
            said = fake_say(fake, "x");
        }
        if (said && fake_say(fake, "\r\n+b\r\n"))
            fake_wait_closed(fake);
    }
}

/* Neither it nor the one behind it is late while it comes, as over a slow line. */
TEST(test_answer_in_pieces)
{
    double timeout = 0.6 * rig_slowness(), from = later_clock();

    rig_up(answer_in_pieces, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, timeout);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, timeout);
    RIG_UNTIL(rig.answers == 2 || rig.downs > 0);
    ck_assert_str_eq(rig.why, "");
    ck_assert_double_gt(later_clock() - from, timeout); /* or it proves nothing */
}

static void answer_one(struct fake_redis *fake, void *arg)
{
    (void)arg;
    while (fake_shake(fake))
        if (fake_read(fake) && fake_pause(fake, 0.1) && fake_say(fake, ":1\r\n"))
            fake_wait_closed(fake);
}

/* An answer that is whole gives the one behind it no more time. On a busy machine the first one may
 * come too late itself, which says nothing. The wrong deadline would be at 0.3. */
TEST(test_deadline_behind_an_answer)
{
    double best = 100, from;

    rig_up(answer_one, NULL);
    for (int i = 0; i < 30 && best > 0.2 + LATE; i++) {
        rig.answers = 0;
        memset(rig.told, 0, sizeof rig.told);
        rig_send(0, "ECHO", LATER_NO_SCRIPT, 60);
        rig_send(1, "ECHO", LATER_NO_SCRIPT, 0.2);
        from = later_clock();
        RIG_UNTIL(rig.downs == i + 1);
        rig_broke(1, LATER_UNKNOWN, "no answer in time");
        if (rig.told[0].outcome == LATER_ANSWERED)
            best = fmin(best, rig.down_at - from);
        rig_connect();
        RIG_UNTIL(rig.ups == i + 2);
    }
    ck_assert_double_le(best, 0.2 + LATE);
}

/* Each has a deadline of its own, also the second. */
TEST(test_deadline_of_the_second)
{
    double most = 0.1 + LATE * rig_slowness();

    rig_up(shake_and_hush, NULL);
    ck_assert_double_le(best_break(60, 0.1, most), most);
}

/* The time counts from when the command has been written, not from when it was queued. */
TEST(test_deadline_counts_from_the_write)
{
    double from, to;

    rig_up(shake_and_hush, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, 0.3);
    usleep(200000);
    from = later_clock();
    later_redis_flush(rig.redis);
    to = later_clock();
    usleep(150000); /* by now it would be over if it counted from when it was queued */
    ck_assert_double_ge(later_redis_deadline(rig.redis), from + 0.3);
    ck_assert_double_le(later_redis_deadline(rig.redis), to + 0.3);
}

/* ---- an owner that waits by a read, since it has a second and more */

/* Waits as later_call() does. Returns how often. */
static int wait_by_reads(int answers)
{
    int waits = 0;

    for (; rig.answers < answers && rig.downs == 0; waits++) {
        later_redis_wait(rig.redis, later_clock() + 100);
        if (waits == 0 && rig.downs == 0)
            ck_assert_int_eq(fcntl(later_redis_fd(rig.redis), F_GETFL) & O_NONBLOCK, 0);
    }
    return waits;
}

CASE("reads", set_up, tear_down);

TEST(test_read_in_pieces)
{
    double timeout = 1.1 * rig_slowness(), from = later_clock();

    rig_up(answer_in_pieces, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, timeout);
    rig_send(1, "ECHO", LATER_NO_SCRIPT, timeout);
    ck_assert_int_ge(wait_by_reads(2), PIECES / 2);
    ck_assert_str_eq(rig.why, "");
    ck_assert_double_gt(later_clock() - from, timeout); /* or it proves nothing */
}

TEST(test_read_in_vain)
{
    double from, took;

    rig_up(shake_and_hush, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, 1.2);
    from = later_clock();
    wait_by_reads(1);
    took = rig.down_at - from;
    rig_broke(0, LATER_UNKNOWN, "no answer in time");
    ck_assert_double_ge(took, 1.199);
    ck_assert_double_lt(took, 1.9 * rig_slowness()); /* less than two reads take */
}

static void pause_and_cut(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (fake_shake(fake) && fake_read(fake) && fake_pause(fake, 0.1)) {
        fake_cut(fake);
        fake_accept(fake);
    }
}

TEST(test_read_until_cut)
{
    rig_up(pause_and_cut, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, 60);
    wait_by_reads(1);
    rig_broke(0, LATER_UNKNOWN, CLOSED);
}

static void pause_and_answer(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (fake_shake(fake) && fake_read(fake) && fake_pause(fake, 0.5) && fake_say(fake, ":7\r\n"))
        fake_wait_closed(fake);
}

static void on_alarm(int number)
{
    (void)number;
}

/* An owner may look after each signal whether it still wants to wait. */
TEST(test_read_is_interrupted)
{
    const struct timeval tenth = { .tv_usec = 100000 };

    rig_up(pause_and_answer, NULL);
    sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm, .sa_flags = SA_RESTART }, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){ tenth, tenth }, NULL);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, 60);
    ck_assert_int_ge(wait_by_reads(1), 2);
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
    rig_answered(0, 7);
}

/* ---- nonsense */

static void say_it(struct fake_redis *fake, void *arg)
{
    const char *const *lines = arg;

    for (; *lines && fake_shake(fake); lines++) {
        if (fake_read(fake) && fake_say(fake, *lines))
            fake_wait_closed(fake);
    }
    fake_accept(fake);
}

TEST(test_garbage)
{
    static const char *const lines[] = {
        "?what\r\n",
        "\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
        "*2\r\n:1\r\n?\r\n",
        "*-2\r\n",
        "$-2\r\n",
        "*99999999999999999999\r\n",
        "*2147483647\r\n", /* room for 16 GiB */
        "$99999999999999999999\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
        ":1\r\n",
        NULL
    };
    int i;

    rig_begin(say_it, (void *)lines);
    for (i = 0; lines[i]; i++) {
        memset(rig.told, 0, sizeof rig.told);
        rig_connect();
        RIG_UNTIL(rig.ups == i + 1);
        rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
        RIG_UNTIL(rig.downs == i + 1);
        rig_broke(0, LATER_UNKNOWN, rig.why);
        ck_assert_msg(strcmp(rig.why, "no answer in time") != 0 && rig.why[0], "%s", lines[i]);
    }
}

static void too_much(struct fake_redis *fake, void *arg)
{
    (void)arg;
    if (fake_shake(fake) && fake_say(fake, "+surprise\r\n"))
        fake_wait_closed(fake);
    if (fake_shake(fake) && fake_read(fake) && fake_say(fake, ":0\r\n:1\r\n"))
        fake_wait_closed(fake);
    fake_accept(fake);
}

TEST(test_unasked)
{
    rig_up(too_much, NULL);
    RIG_UNTIL(rig.downs == 1);
    ck_assert_str_eq(rig.why, "unexpected answer: surprise");
    rig_connect();
    RIG_UNTIL(rig.ups == 2);
    rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
    RIG_UNTIL(rig.downs == 2);
    rig_answered(0, 0); /* the first of the two was its own */
    ck_assert_int_eq(rig.answers, 1);
}

/* ---- scripts */

struct cutting {
    int commands; /* read before the cut */
    _Atomic int cuts;
};

static void noscript_and_cut(struct fake_redis *fake, void *arg)
{
    struct cutting *cutting = arg;

    if (!fake_shake(fake) || !fake_read(fake))
        return;
    fake_say(fake, "-NOSCRIPT\r\n");
    for (int i = 1; i < cutting->commands && fake_read(fake); i++)
        fake_say(fake, "+sha\r\n");
    fake_cut(fake);
    atomic_fetch_add(&cutting->cuts, 1);
    fake_accept(fake);
}

/* After NOSCRIPT nothing has run; after the same bytes again it may have. The answer and the end of
 * the connection are both there when we look: not a byte of the repeat can leave. */
TEST(test_noscript_then_cut)
{
    static struct cutting cutting = { .commands = 1 };

    rig_up(noscript_and_cut, &cutting);
    rig_send(0, "EVALSHA", LATER_SCRIPT_ACK, UNIT_PATIENT);
    later_redis_flush(rig.redis);
    while (atomic_load(&cutting.cuts) == 0)
        usleep(1000);
    RIG_UNTIL(rig.answers == 1);
    rig_broke(0, LATER_UNSENT, rig.why);
}

TEST(test_noscript_repeated_then_cut)
{
    static struct cutting cutting = { .commands = 2 };

    rig_up(noscript_and_cut, &cutting);
    rig_send(0, "EVALSHA", LATER_SCRIPT_ACK, UNIT_PATIENT);
    RIG_UNTIL(rig.answers == 1);
    rig_broke(0, LATER_UNKNOWN, rig.why);
}

/* ---- again and again */

/* Half of the connections end by us, half by Redis. */
static void answer_once(struct fake_redis *fake, void *arg)
{
    char answer[32];

    (void)arg;
    for (int i = 0; fake_shake(fake); i++) {
        fake_read(fake);
        snprintf(answer, sizeof answer, ":%.20s\r\n", fake_word(fake, 1));
        fake_say(fake, answer);
        if (i % 2)
            fake_cut(fake);
        else
            fake_wait_closed(fake);
    }
}

CASE("again", set_up, tear_down);

TEST(test_thousand_reconnects)
{
    int before;

    rig_up(answer_once, NULL);
    before = folder_open_files();
    for (int i = 1; i <= 1000; i++) {
        memset(rig.told, 0, sizeof rig.told);
        rig_send(0, "ECHO", LATER_NO_SCRIPT, UNIT_PATIENT);
        RIG_UNTIL(rig.answers == i);
        rig_answered(0, 0);
        if (i % 2)
            later_redis_disconnect(rig.redis, "again");
        RIG_UNTIL(rig.downs == i);
        rig_connect();
        RIG_UNTIL(rig.ups == i + 1);
    }
    ck_assert_int_eq(folder_open_files(), before);
}

/* A Redis that does anything at any moment. It counts how often each command arrived whole. */
static _Atomic int came[RIG_TOLD];

static void moody(struct fake_redis *fake, void *arg)
{
    unsigned seed = *(unsigned *)arg;
    char answer[32];

    while (fake_shake(fake)) {
        int calls = rand_r(&seed) % 40;

        while (calls-- > 0 && fake_read(fake)) {
            int number = atoi(fake_word(fake, 1)), mood = rand_r(&seed) % 100;

            if (strcmp(fake_word(fake, 0), "EVALSHA") != 0) { /* SCRIPT LOAD */
                fake_say(fake, "+sha\r\n");
                continue;
            }
            if (mood < 5) {
                fake_say(fake, "-NOSCRIPT none\r\n");
                continue;
            }
            atomic_fetch_add(&came[number], 1);
            snprintf(answer, sizeof answer, ":%d\r\n", number);
            if (mood < 90)
                fake_say(fake, answer);
            else
                fake_say_bytes(fake, answer, (size_t)mood % 4);
            if (mood >= 90)
                break;
        }
        fake_cut(fake);
    }
}

/* UNSENT never arrived, ANSWERED has its own answer, and each has exactly one outcome. */
TEST_EACH(test_moods, 8)
{
    unsigned seed = (unsigned)_i + 1, ours = seed * 7919;
    int sent = 0, of[3] = { 0 };

    memset(came, 0, sizeof came);
    rig_begin(moody, &seed);
    while (sent < RIG_TOLD) {
        int ups = rig.ups, downs = rig.downs;

        rig_connect();
        RIG_UNTIL(rig.ups > ups || rig.downs > downs);
        while (later_redis_up(rig.redis) && sent < RIG_TOLD) {
            for (int i = rand_r(&ours) % 12; i >= 0 && sent < RIG_TOLD; i--)
                rig_send(sent++, "EVALSHA", LATER_SCRIPT_ACK, 10);
            if (rand_r(&ours) % 3)
                later_redis_wait(rig.redis, later_clock() + 0.001);
            if (rand_r(&ours) % 50 == 0)
                later_redis_disconnect(rig.redis, "a mood of ours");
        }
        if (!later_redis_down(rig.redis))
            RIG_UNTIL(later_redis_pending(rig.redis) == 0);
        later_redis_disconnect(rig.redis, "end of a round");
        RIG_UNTIL(later_redis_down(rig.redis));
    }
    fake_stop(rig.fake);
    rig.fake = NULL;
    for (int i = 0; i < RIG_TOLD; i++) {
        struct rig_told *told = &rig.told[i];

        ck_assert_msg(told->times == 1, "%d was answered %d times", i, told->times);
        if (told->outcome == LATER_ANSWERED)
            ck_assert_int_eq(told->value, i);
        if (told->outcome == LATER_REFUSED)
            ck_assert_str_eq(told->text, "NOSCRIPT none");
        ck_assert_msg(came[i] == 1 || (came[i] == 0 && told->outcome != LATER_ANSWERED),
                      "%d came %d times, outcome %d", i, came[i], (int)told->outcome);
        ck_assert_msg(came[i] == 0 || told->outcome != LATER_UNSENT, "%d came, and was UNSENT", i);
        of[told->outcome == LATER_ANSWERED ? 0 : told->outcome == LATER_UNSENT ? 1 : 2]++;
    }
    ck_assert_int_gt(of[0], 100); /* it was not all the same */
    ck_assert_int_gt(of[1], 10);
    ck_assert_int_gt(of[2], 10);
}
