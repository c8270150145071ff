/* test_link.c: a connection on a loop that reconnects by itself. */
#include "tests/unit/live.h"

#include "log.h"
#include "tests/support/fake_redis.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fake_redis *fake;
static struct link *link_;
static struct config config;
static struct later_error err;
static int ups, downs;
static char prefix[] = "later", fake_at[100];

static void set_up(void)
{
    live_log_begin(LOG_INFO);
    live_base = event_base_new();
    config = (struct config){ .redis.url = fake_at, .redis.prefix = prefix, .lease = 30 };
    ups = downs = 0;
    fake = NULL;
    link_ = NULL;
}

static void tear_down(void)
{
    link_free(link_);
    if (fake)
        fake_stop(fake);
    live_unloop();
    live_log_end();
}

static void on_up(void *arg)
{
    ck_assert_ptr_eq(arg, &config);
    ck_assert(link_is_up(link_));
    ups++;
}

static void on_down(void *arg)
{
    ck_assert_ptr_eq(arg, &config);
    ck_assert(!link_is_up(link_));
    downs++;
}

static char message[100];

static void on_message(void *arg, const char *channel, const char *text)
{
    ck_assert_ptr_eq(arg, &config); /* the owner's, not the link's own */
    snprintf(message, sizeof message, "%s %s", channel, text);
}

static const struct link_options options = {
    .what = "test", .up = on_up, .down = on_down, .message = on_message, .arg = &config
};

static void begin(fake_script *script, void *arg)
{
    fake = fake_start(script, arg);
    ck_assert_ptr_nonnull(fake);
    snprintf(fake_at, sizeof fake_at, "%s", fake_url(fake));
    link_ = link_new(live_base, &config, &options, &err);
    ck_assert_msg(link_ != NULL, "%s", err.text);
}

static int answers[4];
static double answered_at;

static void on_answer(void *arg, struct later_answer *answer)
{
    (void)arg;
    answers[answer->outcome]++;
    answered_at = later_clock();
}

static int say(const char *word, double timeout)
{
    struct later_command cmd = { 0 };
    int sent;

    later_command_begin(&cmd, 1);
    later_command_text(&cmd, word);
    sent = link_send(link_, &cmd, timeout, on_answer, NULL);
    link_flush(link_);
    return sent;
}

/* ---- making */

CASE("making", set_up, tear_down);

TEST(test_refused_at_once)
{
    static char url[] = "http://h", nowhere[] = "/nonexistent/password";

    snprintf(fake_at, sizeof fake_at, "unix:/tmp/x");
    config.redis.password_file = nowhere;
    ck_assert_ptr_null(link_new(live_base, &config, &options, &err));
    ck_assert_int_eq(err.code, LATER_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(err.text, nowhere));
    config.redis.password_file = NULL;
    config.redis.url = url;
    ck_assert_ptr_null(link_new(live_base, &config, &options, &err));
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    link_free(NULL);
}

TEST(test_url)
{
    static char embedded[] = "embedded", dir[] = "/var/lib/laterd";
    char url[200];

    config.redis.url = embedded;
    config.state_dir = dir;
    link_url(&config, url, sizeof url);
    ck_assert_str_eq(url, "unix:/var/lib/laterd/redis.sock");
    snprintf(fake_at, sizeof fake_at, "redis://h:1/2");
    config.redis.url = fake_at;
    link_url(&config, url, sizeof url);
    ck_assert_str_eq(url, "redis://h:1/2");
}

static void echo_pong(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_shake(f)) {
        while (fake_read(f) && strcmp(fake_word(f, 0), "HANGUP") != 0)
            fake_say(f, "+PONG\r\n");
        fake_cut(f);
    }
}

TEST(test_up_and_away)
{
    memset(answers, 0, sizeof answers);
    begin(echo_pong, NULL);
    ck_assert_int_lt(say("EARLY", 60), 0); /* not connected yet: not taken */
    LIVE_UNTIL(ups == 1);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(say("PING", 60), 0);
    LIVE_UNTIL(answers[LATER_ANSWERED] == 10);
    for (int round = 1; round <= 20; round++) {
        ck_assert_int_eq(say("HANGUP", 60), 0);
        LIVE_UNTIL(downs == round);
        LIVE_UNTIL(ups == round + 1);
    }
    ck_assert_int_eq(answers[LATER_UNKNOWN], 20);
    ck_assert_int_eq(say("PING", 60), 0);
    LIVE_UNTIL(answers[LATER_ANSWERED] == 11);
    link_break(link_, "for fun");
    ck_assert_int_eq(downs, 21);
    LIVE_UNTIL(ups == 22);
    ck_assert_int_eq(live_logged("redis is"), 0); /* short ones are not worth a line */
}

static void publish(struct fake_redis *f, void *arg)
{
    (void)arg;
    if (fake_shake(f) && fake_read(f))
        fake_say(f, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
                    "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n");
    fake_wait_closed(f);
}

TEST(test_message)
{
    begin(publish, NULL);
    LIVE_UNTIL(ups == 1);
    say("SUBSCRIBE", 60);
    LIVE_UNTIL(message[0]);
    ck_assert_str_eq(message, "c hi");
}

/* ---- breaking */

static void accept_and_hush(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_shake(f))
        fake_wait_closed(f);
}

CASE("breaking", set_up, tear_down);

/* The loop keeps the deadline. */
TEST(test_deadline)
{
    double best = 100;

    begin(accept_and_hush, NULL);
    for (int i = 1; i <= 30 && best > 0.1 + 0.05 * live_slowness(); i++) {
        double from;

        LIVE_UNTIL(ups == i);
        from = later_clock();
        say("PING", 0.1);
        LIVE_UNTIL(downs == i);
        ck_assert_double_ge(answered_at - from, 0.0999);
        best = answered_at - from < best ? answered_at - from : best;
    }
    ck_assert_double_le(best, 0.1 + 0.05 * live_slowness());
}

TEST(test_freed_with_answers_open)
{
    memset(answers, 0, sizeof answers);
    begin(accept_and_hush, NULL);
    LIVE_UNTIL(ups == 1);
    say("PING", 60);
    say("PING", 60);
    link_free(link_);
    link_ = NULL;
    ck_assert_int_eq(answers[LATER_UNKNOWN], 2);
    ck_assert_int_eq(downs, 0);
    for (int i = 0; i < 20; i++)
        live_turn(); /* no timer of it is left */
}

static void cut_all(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_accept(f))
        fake_cut(f);
}

/* Tries come at growing intervals: of 3 s, at 0.05 + 0.1 + 0.2 … s, each shortened by chance. */
TEST(test_backoff)
{
    begin(cut_all, NULL);
    LIVE_FOR(3, ups == 0);
    ck_assert_uint_ge(fake_accepted(fake), 4);
    ck_assert_uint_le(fake_accepted(fake), 40);
    LIVE_UNTIL(downs == (int)fake_accepted(fake));     /* the last one may not be cut yet */
    ck_assert_int_eq(live_logged("redis is away"), 1); /* however often it failed */
    ck_assert_int_eq(live_logged("redis is back"), 0);
}

/* The last of its tries comes when it has known for 0.25 s that it is away: then it says so. */
static void away_for_a_while(struct fake_redis *f, void *arg)
{
    double known = 0, at = 0;

    for (int i = 0; at <= known + 0.25 && fake_accept(f); i++) {
        at = later_clock();
        known = i < 2 ? at : known;
        fake_cut(f);
    }
    echo_pong(f, arg);
}

TEST(test_outage_is_two_lines)
{
    begin(away_for_a_while, NULL);
    LIVE_UNTIL(ups == 1);
    ck_assert_int_eq(live_logged("redis is away"), 1);
    ck_assert_int_eq(live_logged("redis is back"), 1);
    ck_assert_int_eq(live_logged("(test)"), 2);
}

/* ---- a password that is changed */

static void only_new(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_accept(f)) {
        while (fake_read(f)) {
            bool bad = strcmp(fake_word(f, 0), "AUTH") == 0 && strcmp(fake_word(f, 1), "new") != 0;

            fake_say(f, bad ? "-WRONGPASS invalid\r\n" : "+OK\r\n");
        }
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

TEST(test_password_is_read_again)
{
    static char path[] = "/tmp/later-password-XXXXXX";
    char said[100];
    int fd = mkstemp(path);

    close(fd);
    write_file(path, "old\n");
    config.redis.password_file = path;
    begin(only_new, NULL);
    config.redis.password_file = NULL; /* as after a reload: the link keeps what it needs */
    LIVE_UNTIL(downs >= 2);
    ck_assert_int_eq(ups, 0);
    snprintf(said, sizeof said, "WRONGPASS invalid (test); password file: %s; trying again", path);
    LIVE_UNTIL(live_logged(said) == 1);
    unlink(path); /* no file for a moment: no harm */
    LIVE_UNTIL(downs >= 4);
    umask(0077); /* a file that others may read is refused */
    write_file(path, "new\n");
    LIVE_UNTIL(ups == 1);
    unlink(path);
}
