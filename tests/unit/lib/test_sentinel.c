/* test_sentinel.c: what Sentinels are asked and answer; which is asked next; a connection through
 * them. */
#include "redis/sentinel.h"

#include "tests/unit/redis_rig.h"
#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct later_address address;
static struct later_error err;

/* ---- URLs */

CASE("pure", NULL, NULL);

TEST(test_urls)
{
    static const struct {
        const char *url, *user, *master, *hosts[3], *ports[3];
        unsigned count;
        uint32_t db;
    } rows[] = {
        { "sentinel://a/main", "", "main", { "a" }, { "26379" }, 1, 0 },
        { "sentinel://a:1,b,[::1]:65535/m/3",
          "",
          "m",
          { "a", "b", "::1" },
          { "1", "26379", "65535" },
          3,
          3 },
        { "sentinel://laterd@a:7,b:8/m.1-x", "laterd", "m.1-x", { "a", "b" }, { "7", "8" }, 2, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(later_address_parse(&address, rows[i].url, &err) == 0, "%s: %s", rows[i].url,
                      err.text);
        ck_assert_str_eq(address.user, rows[i].user);
        ck_assert_str_eq(address.master, rows[i].master);
        ck_assert_uint_eq(address.db, rows[i].db);
        ck_assert_str_eq(address.host, "");
        ck_assert_uint_eq(later_address_sentinels(&address), rows[i].count);
        for (unsigned s = 0; s < rows[i].count; s++) {
            struct later_address one;

            later_address_host(&address, s, &one);
            ck_assert_str_eq(one.host, rows[i].hosts[s]);
            ck_assert_str_eq(one.port, rows[i].ports[s]);
            ck_assert_str_eq(one.user, "");
        }
    }
    ck_assert_int_eq(later_address_parse(&address, "redis://h", &err), 0);
    ck_assert_uint_eq(later_address_sentinels(&address), 0);
}

TEST(test_bad_urls)
{
    static const char *const urls[] = {
        "sentinel://",         "sentinel://a",        "sentinel://a/",
        "sentinel:///m",       "sentinel://a,/m",     "sentinel://,a/m",
        "sentinel://a,,b/m",   "sentinel://a:0/m",    "sentinel://a:x,b/m",
        "sentinel://a/m/x",    "sentinel://a/m/1/2",  "sentinel://@a/m",
        "sentinel://u:pw@a/m", "sentinel://[::1,b/m", "sentinel://a,b,c,d,e,f,g,h,i/m",
    };

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        ck_assert_msg(later_address_parse(&address, urls[i], &err) < 0, "%s is taken", urls[i]);
        ck_assert_int_eq(err.code, LATER_E_USAGE);
    }
}

/* ---- turns */

static void assert_order(const struct later_turns *turns, const char *order)
{
    char text[16] = "";

    for (unsigned i = 0; i < turns->count; i++)
        text[i] = (char)('0' + turns->order[i]);
    ck_assert_str_eq(text, order);
}

TEST(test_turns)
{
    struct later_turns turns;

    later_turns_init(&turns, 3);
    ck_assert_uint_eq(later_turns_now(&turns), 0);
    ck_assert(later_turns_next(&turns));
    ck_assert(later_turns_next(&turns));
    ck_assert_uint_eq(later_turns_now(&turns), 2);
    ck_assert(!later_turns_next(&turns));
    later_turns_right(&turns);
    assert_order(&turns, "201");
    ck_assert_uint_eq(later_turns_now(&turns), 2);
    later_turns_wrong(&turns);
    assert_order(&turns, "012");
    ck_assert(later_turns_next(&turns));
    later_turns_wrong(&turns);
    assert_order(&turns, "021");
    ck_assert_uint_eq(later_turns_now(&turns), 0);
    ck_assert(later_turns_next(&turns));
    later_turns_begin(&turns);
    ck_assert_uint_eq(later_turns_now(&turns), 0);
    assert_order(&turns, "021");
}

TEST(test_one_turn)
{
    struct later_turns turns;

    later_turns_init(&turns, 1);
    ck_assert(!later_turns_next(&turns));
    later_turns_wrong(&turns);
    later_turns_right(&turns);
    ck_assert_uint_eq(later_turns_now(&turns), 0);
}

/* ---- words */

TEST(test_ask)
{
    static const char wanted[] =
        "*3\r\n$8\r\nSENTINEL\r\n$23\r\nget-master-addr-by-name\r\n$4\r\nmain\r\n";
    struct later_command cmd = { 0 };

    later_sentinel_ask(&cmd, "main");
    ck_assert(later_command_ready(&cmd));
    ck_assert_uint_eq(cmd.len, strlen(wanted));
    ck_assert_mem_eq(cmd.data, wanted, cmd.len);
    later_command_free(&cmd);
}

TEST(test_named)
{
    static const char *const bad[] = {
        "*-1\r\n",
        "$-1\r\n",
        "+OK\r\n",
        "*0\r\n",
        "*1\r\n$1\r\na\r\n",
        "*2\r\n$0\r\n\r\n$1\r\n1\r\n",
        "*2\r\n$1\r\na\r\n$1\r\n0\r\n",
        "*2\r\n$1\r\na\r\n$5\r\n65536\r\n",
        "*2\r\n$1\r\na\r\n$2\r\n1x\r\n",
        "*2\r\n$1\r\na\r\n:6379\r\n",
        "*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n1\r\n",
    };
    struct later_reply *reply = reply_made("*2\r\n$8\r\n10.0.0.9\r\n$5\r\n65535\r\n");
    struct later_address to = { .db = 4 };
    char peer[LATER_PEER_SIZE];

    ck_assert_int_eq(later_sentinel_named(reply, &to), 0);
    later_reply_free(reply);
    later_sentinel_peer(&to, peer);
    ck_assert_str_eq(peer, "10.0.0.9:65535");
    ck_assert_uint_eq(to.db, 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        reply = reply_made(bad[i]);
        ck_assert_msg(later_sentinel_named(reply, &to) < 0, "taken: %s", bad[i]);
        ck_assert_str_eq(to.host, "10.0.0.9");
        later_reply_free(reply);
    }
}

TEST(test_role)
{
    static const struct {
        const char *bytes;
        bool master;
    } rows[] = {
        { "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n", true },
        { "*2\r\n$5\r\nslave\r\n$1\r\na\r\n", false },
        { "*2\r\n$8\r\nsentinel\r\n*0\r\n", false },
        { "+master\r\n", false },
        { "*0\r\n", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct later_reply *reply = reply_made(rows[i].bytes);

        ck_assert_int_eq(later_sentinel_is_master(reply), rows[i].master);
        later_reply_free(reply);
    }
}

TEST(test_switched)
{
    static const char *const others[] = {
        "",
        "main",
        "main ",
        "main a 1 b",
        "main a 1 b 0",
        "main a 1 b 70000",
        "main a 1 b 2 c",
        "mainly a 1 b 2",
        "other a 1 b 2",
    };
    char peer[LATER_PEER_SIZE] = "as it was";

    ck_assert(later_sentinel_switched("main 10.0.0.1 6379 10.0.0.2 6380", "main", peer));
    ck_assert_str_eq(peer, "10.0.0.2:6380");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_msg(!later_sentinel_switched(others[i], "main", peer), "taken: %s", others[i]);
        ck_assert_str_eq(peer, "10.0.0.2:6380");
    }
}

TEST(test_promoted)
{
    static const char *const others[] = {
        "",
        "slave",
        "slave 10.0.0.2:6380 10.0.0.2 6380 @",
        "slave 10.0.0.2:6380 10.0.0.2 0 @ main 10.0.0.1 6379",
        "slave 10.0.0.2:6380 10.0.0.2 6380 @ mainly 10.0.0.1 6379",
        "sentinel 10.0.0.2:6380 10.0.0.2 6380 @ main 10.0.0.1 6379",
    };
    char peer[LATER_PEER_SIZE] = "";

    ck_assert(later_sentinel_promoted("slave 10.0.0.2:6380 10.0.0.2 6380 @ main 10.0.0.1 6379",
                                      "main", peer));
    ck_assert_str_eq(peer, "10.0.0.2:6380");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!later_sentinel_promoted(others[i], "main", peer), "taken: %s", others[i]);
    ck_assert_str_eq(peer, "10.0.0.2:6380");
}

/* ---- a connection: one listener plays a Sentinel first, then the Redis that it names */

struct play {
    const char *named; /* the Sentinel's answer; NULL = the listener itself */
    const char *role;  /* what ROLE says */
    double late;       /* seconds before ROLE is answered, the first time */
    unsigned asked;    /* how often the Sentinel was */
};

static bool play_sentinel(struct fake_redis *fake, struct play *play)
{
    char text[64], port[8];

    snprintf(port, sizeof port, "%u", fake_port(fake));
    snprintf(text, sizeof text, "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n", strlen(port), port);
    if (!fake_accept(fake) || !fake_read(fake) || strcmp(fake_word(fake, 0), "SENTINEL") != 0)
        return false;
    play->asked++;
    return fake_say(fake, play->named ? play->named : text) && fake_wait_closed(fake);
}

static bool play_master(struct fake_redis *fake, struct play *play)
{
    if (!fake_accept(fake))
        return false;
    for (;;) {
        if (!fake_read(fake))
            return false;
        if (strcmp(fake_word(fake, 0), "PING") == 0)
            return fake_say(fake, "+PONG\r\n");
        if (strcmp(fake_word(fake, 0), "ROLE") == 0) {
            fake_pause(fake, play->late);
            play->late = 0;
            fake_say(fake, play->role);
        } else {
            fake_say(fake, ":7\r\n");
        }
    }
}

/* Sentinel and Redis in turn; commands are refused as a replica refuses them. */
static void play_all(struct fake_redis *fake, void *arg)
{
    struct play *play = arg;

    while (play_sentinel(fake, play)) {
        if (play->named)
            continue;
        if (play_master(fake, play) && fake_read(fake))
            fake_say(fake, "-READONLY You can't write against a read only replica.\r\n");
        fake_wait_closed(fake);
    }
}

static struct play play;

/* `before`: Sentinels that come before ours in the URL. */
static void begin(const struct play *how, const char *before)
{
    char url[100];

    play = *how;
    rig_begin_fake(play_all, &play);
    fake_stop(rig.fake);
    play = *how;
    rig.fake = fake_start_tcp(play_all, &play);
    ck_assert_ptr_nonnull(rig.fake);
    snprintf(url, sizeof url, "sentinel://%s127.0.0.1:%u/main", before, fake_port(rig.fake));
    ck_assert_msg(later_address_parse(&rig.options.address, url, &err) == 0, "%s", err.text);
    rig_begin_redis();
    rig_connect();
}

#define MASTER "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"
#define SLAVE  "*2\r\n$5\r\nslave\r\n$1\r\na\r\n"

CASE("connection", NULL, rig_end);

TEST(test_follows)
{
    char peer[LATER_PEER_SIZE];

    begin(&(struct play){ .role = MASTER }, "");
    ck_assert_str_eq(later_redis_peer(rig.redis), "");
    RIG_UNTIL(later_redis_up(rig.redis));
    snprintf(peer, sizeof peer, "127.0.0.1:%u", fake_port(rig.fake));
    ck_assert_str_eq(later_redis_peer(rig.redis), peer);
    ck_assert_int_eq(rig.ups, 1);
    ck_assert_int_eq(rig.downs, 0);
    later_redis_disconnect(rig.redis, "enough");
    ck_assert_str_eq(later_redis_peer(rig.redis), "");
}

/* Port 1 refuses: nobody listens there. */
TEST(test_second_sentinel)
{
    begin(&(struct play){ .role = MASTER }, "127.0.0.1:1,");
    RIG_UNTIL(later_redis_up(rig.redis));
    ck_assert_int_eq(rig.downs, 0);
}

TEST(test_no_master_of_that_name)
{
    begin(&(struct play){ .named = "*-1\r\n" }, "");
    RIG_UNTIL(rig.downs == 1);
    ck_assert_ptr_nonnull(strstr(rig.why, "knows no master of the name main"));
    ck_assert_int_eq(rig.ups, 0);
}

TEST(test_replica)
{
    begin(&(struct play){ .role = SLAVE }, "");
    RIG_UNTIL(rig.downs == 1);
    ck_assert_ptr_nonnull(strstr(rig.why, "it is not the master (ROLE)"));
    ck_assert_int_eq(rig.ups, 0);
    rig_connect();
    RIG_UNTIL(rig.downs == 2);
    ck_assert_uint_ge(play.asked, 2); /* one that is slow to answer is asked again */
}

/* What the Sentinel said is outdated when the Redis answers, so it is asked again. */
TEST(test_late)
{
    begin(&(struct play){ .role = MASTER, .late = 0.3 }, "");
    RIG_UNTIL(later_redis_up(rig.redis));
    ck_assert_uint_ge(play.asked, 2);
    ck_assert_int_eq(rig.ups, 1);
    ck_assert_int_eq(rig.downs, 0);
}

TEST(test_readonly)
{
    begin(&(struct play){ .role = MASTER }, "");
    RIG_UNTIL(later_redis_up(rig.redis));
    rig_send(1, "SET", LATER_NO_SCRIPT, 5);
    RIG_UNTIL(rig.downs == 1);
    rig_refused(1, LATER_REMEDY_RECONNECT, "READONLY You can't write against a read only replica.");
    ck_assert_ptr_nonnull(strstr(rig.why, "READONLY"));
    rig_connect();
    RIG_UNTIL(later_redis_up(rig.redis));
    ck_assert_uint_ge(play.asked, 2);
}
