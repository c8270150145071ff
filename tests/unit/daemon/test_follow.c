/* test_follow.c: the master that Sentinels name moves: who is told, and which connections end. */
#include "tests/unit/live.h"

#include "link/follow.h"
#include "redis/sentinel.h"
#include "tests/support/fake_redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_redis *sentinel, *old, *new;
static struct config config;
static struct link *link_;
static struct follow *follow;
static struct later_error err;
static char prefix[] = "later", url[300], old_peer[LATER_PEER_SIZE], new_peer[LATER_PEER_SIZE];
static char told[LATER_PEER_SIZE];
static int ups, downs, tellings;
static _Atomic bool switched;

/* Names the old master, then the new one; whoever has subscribed hears of it. */
static bool name_master(struct fake_redis *f)
{
    char port[8], text[64];

    snprintf(port, sizeof port, "%u", fake_port(switched ? new : old));
    snprintf(text, sizeof text, "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n", strlen(port), port);
    return fake_say(f, text);
}

static bool publish(struct fake_redis *f)
{
    char body[100], text[200];

    while (!switched) {
        if (!fake_pause(f, 0.005))
            return false;
    }
    snprintf(body, sizeof body, "main 127.0.0.1 %u 127.0.0.1 %u", fake_port(old), fake_port(new));
    snprintf(text, sizeof text, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$%zu\r\n%s\r\n",
             strlen(body), body);
    return fake_say(f, text);
}

static bool play_sentinel_once(struct fake_redis *f)
{
    const char *word = fake_word(f, 0);

    if (strcmp(word, "SENTINEL") == 0)
        return name_master(f);
    if (strcmp(word, "PING") == 0)
        return fake_say(f, "+PONG\r\n");
    if (strcmp(word, "SUBSCRIBE") != 0)
        return fake_say(f, ":7\r\n");
    return fake_say(f, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n") &&
           (strcmp(fake_word(f, 1), "+switch-master") == 0 || publish(f));
}

static void play_sentinel(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_accept(f)) {
        while (fake_read(f) && play_sentinel_once(f)) {
        }
    }
}

static void play_master(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_accept(f)) {
        while (fake_read(f) &&
               fake_say(f, strcmp(fake_word(f, 0), "ROLE") == 0   ? "*1\r\n$6\r\nmaster\r\n"
                           : strcmp(fake_word(f, 0), "PING") == 0 ? "+PONG\r\n"
                                                                  : ":7\r\n")) {
        }
    }
}

static struct fake_redis *start(fake_script *script, char peer[LATER_PEER_SIZE])
{
    struct fake_redis *f = fake_start_tcp(script, NULL);

    ck_assert_ptr_nonnull(f);
    snprintf(peer, LATER_PEER_SIZE, "127.0.0.1:%u", fake_port(f));
    return f;
}

static void set_up(void)
{
    char peer[LATER_PEER_SIZE];

    live_base = event_base_new();
    switched = false;
    ups = downs = tellings = 0;
    told[0] = '\0';
    link_ = NULL;
    follow = NULL;
    old = start(play_master, old_peer);
    new = start(play_master, new_peer);
    sentinel = start(play_sentinel, peer);
    snprintf(url, sizeof url, "sentinel://%s/main", peer);
    config = (struct config){ .redis.url = url, .redis.prefix = prefix, .lease = 30 };
}

static void tear_down(void)
{
    link_free(link_);
    follow_free(follow);
    fake_stop(sentinel);
    fake_stop(new);
    fake_stop(old);
    live_unloop();
}

static void on_up(void *arg)
{
    (void)arg;
    ups++;
}

static void on_down(void *arg)
{
    (void)arg;
    downs++;
}

static const char *peer_now(void)
{
    return later_redis_peer(link_redis(link_));
}

CASE("moving", set_up, tear_down);

/* A master that is cut off keeps its connections and goes on answering. */
TEST(test_link_moves)
{
    const struct link_options options = { .what = "test", .up = on_up, .down = on_down };

    link_ = link_new(live_base, &config, &options, &err);
    ck_assert_msg(link_ != NULL, "%s", err.text);
    LIVE_UNTIL(ups == 1);
    ck_assert_str_eq(peer_now(), old_peer);
    link_moved(link_, old_peer);
    LIVE_FOR(0.1, downs == 0);
    switched = true;
    link_moved(link_, new_peer);
    LIVE_UNTIL(ups == 2);
    ck_assert_int_eq(downs, 1);
    ck_assert_str_eq(peer_now(), new_peer);
}

static void on_moved(void *arg, const char *peer)
{
    ck_assert_ptr_eq(arg, &config);
    strcpy(told, peer);
    tellings++;
}

/* It stays with the Sentinel, and never goes to the Redis that it names. */
TEST(test_follows)
{
    int before;

    ck_assert(follow_wanted(&config));
    follow = follow_new(live_base, &config, on_moved, &config, &err);
    ck_assert_msg(follow != NULL, "%s", err.text);
    LIVE_UNTIL(tellings > 0);
    ck_assert_str_eq(told, old_peer);
    switched = true;
    LIVE_UNTIL(strcmp(told, new_peer) == 0);
    before = tellings;
    LIVE_UNTIL(tellings == before + 3); /* other Sentinels may still name the old one */
    ck_assert_str_eq(told, new_peer);
    ck_assert_uint_eq(fake_accepted(old) + fake_accepted(new), 0);
}
