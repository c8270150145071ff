/* test_key.c: the names of the keys, as doc/protocol.md spells them. */
#include "redis/key.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static const struct {
    enum later_key key;
    const char *name, *spelled;
} contract[] = {
    { LATER_KEY_READY, "ready", "later:{mail}:ready" },
    { LATER_KEY_DELAYED, "delayed", "later:{mail}:delayed" },
    { LATER_KEY_RESERVED, "reserved", "later:{mail}:reserved" },
    { LATER_KEY_DEAD, "dead", "later:{mail}:dead" },
    { LATER_KEY_JOBS, "jobs", "later:{mail}:jobs" },
    { LATER_KEY_RECORDS, "records", "later:{mail}:records" },
    { LATER_KEY_UNIQUE, "unique", "later:{mail}:unique" },
    { LATER_KEY_WAKE, "wake", "later:{mail}:wake" },
    { LATER_KEY_PAUSED, "paused", "later:{mail}:paused" },
    { LATER_KEY_STATS, "stats", "later:{mail}:stats" },
    { LATER_KEY_SHARDS, "shards", "later:{mail}:shards" },
    { LATER_KEY_TOTALS, "totals", "later:{mail}:totals" },
    { LATER_KEY_CRON, "cron", "later:{mail}:cron" },
    { LATER_KEY_CRONTAB, "crontab", "later:{mail}:crontab" },
    { LATER_KEY_DONE, "done", "later:{mail}:done" },
    { LATER_KEY_KEPT, "kept", "later:{mail}:kept" },
    { LATER_KEY_WAITING, "waiting", "later:{mail}:waiting" },
    { LATER_KEY_FLOWS, "flows", "later:{mail}:flows" },
    { LATER_KEY_NEWS, "news", "later:{mail}:news" },
    { LATER_KEY_AWAY, "away", "later:{mail}:away" },
    { LATER_KEY_HEARD, "heard", "later:{mail}:heard" },
    { LATER_KEY_FAIR, "fair", "later:{mail}:fair" },
    { LATER_KEY_GROUPS, "groups", "later:{mail}:groups" },
    { LATER_KEY_EVENTS, "events", "later:{mail}:events" },
    { LATER_KEY_OVERRIDES, "overrides", "later:{mail}:overrides" },
    { LATER_KEY_DUE, "due", "later:{mail}:due" },
    { LATER_KEY_CANCELLED, "cancelled", "later:{mail}:cancelled" },
};

CASE("names", NULL, NULL);

TEST(test_names)
{
    struct later_keys keys;

    ck_assert_uint_eq(sizeof contract / sizeof *contract, LATER_KEY_COUNT);
    later_keys_init(&keys, "later", "mail");
    ck_assert_str_eq(keys.queue, "mail");
    for (size_t i = 0; i < LATER_KEY_COUNT; i++) {
        ck_assert_uint_eq(contract[i].key, i); /* each once, in the order of the enum */
        ck_assert_str_eq(keys.name[i], contract[i].spelled);
        ck_assert_uint_eq(keys.len[i], strlen(contract[i].spelled));
        ck_assert_str_eq(later_key_name(contract[i].key), contract[i].name);
    }
}

TEST(test_other_names)
{
    struct later_keys keys;
    char out[LATER_KEY_MAX];

    later_keys_init(&keys, "app:later", "mail.out");
    ck_assert_uint_eq(later_key_call(out, &keys, "c-1"), 29);
    ck_assert_str_eq(out, "app:later:{mail.out}:call:c-1");
    ck_assert_uint_eq(later_key_flow(out, &keys, "night", ""), 31);
    ck_assert_str_eq(out, "app:later:{mail.out}:flow:night");
    later_key_flow(out, &keys, "night", ":unknown");
    ck_assert_str_eq(out, "app:later:{mail.out}:flow:night:unknown");
    ck_assert_uint_eq(later_key_period(out, &keys, "minute", 29395000), 36);
    ck_assert_str_eq(out, "app:later:{mail.out}:minute:29395000");
    ck_assert_uint_eq(later_key_stock(out, "later", "phone", false), 19);
    ck_assert_str_eq(out, "later:stock:{phone}");
    ck_assert_uint_eq(later_key_stock(out, "later", "phone", true), 26);
    ck_assert_str_eq(out, "later:stock:{phone}:claims");
    ck_assert_uint_eq(later_key_limit(out, "later", "sms"), 17);
    ck_assert_str_eq(out, "later:limit:{sms}");
    ck_assert_uint_eq(later_key_lock(out, "later", "sms", LATER_LOCK_ITSELF), 16);
    ck_assert_str_eq(out, "later:lock:{sms}");
    ck_assert_uint_eq(later_key_lock(out, "later", "sms", LATER_LOCK_FENCE), 22);
    ck_assert_str_eq(out, "later:lock:{sms}:fence");
    ck_assert_uint_eq(later_key_lock(out, "later", "sms", LATER_LOCK_WAKE), 21);
    ck_assert_str_eq(out, "later:lock:{sms}:wake");
    ck_assert_uint_eq(later_key_queues(out, "later"), 12);
    ck_assert_str_eq(out, "later:queues");
    ck_assert_uint_eq(later_key_hosts(out, "later"), 11);
    ck_assert_str_eq(out, "later:hosts");
    ck_assert(later_keys_of_host(&keys, "later", "web-1.example"));
    ck_assert_str_eq(keys.name[LATER_KEY_PAUSED], "later:{host:web-1.example}:paused");
    ck_assert(!later_keys_of_host(&keys, "later", "a b"));
    later_keys_of_limits(&keys, "later");
    ck_assert_str_eq(keys.name[LATER_KEY_OVERRIDES], "later:{limits:}:overrides");
    ck_assert_uint_eq(later_key_lost(out, "later"), 10);
    ck_assert_str_eq(out, "later:lost");
    ck_assert_uint_eq(later_key_forgotten(out, "later"), 15);
    ck_assert_str_eq(out, "later:forgotten");
    ck_assert_uint_eq(later_key_marks(out, "later"), 11);
    ck_assert_str_eq(out, "later:marks");
    ck_assert_uint_eq(later_key_searches(out, "later"), 14);
    ck_assert_str_eq(out, "later:searches");
    ck_assert_uint_eq(later_key_totals(out, "later"), 12);
    ck_assert_str_eq(out, "later:totals");
    ck_assert_uint_eq(later_key_protocol(out, "later"), 14);
    ck_assert_str_eq(out, "later:protocol");
}

TEST(test_protocol)
{
    static const char *const fine[] = { "", "0", "2", "02", "OK", "3x", "-3", "x", "2.9", " 3" };
    static const char *const newer[] = { "3", "10", "99999999999999999999999999" };
    char why[LATER_PROTOCOL_WHY];

    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        ck_assert_msg(!later_protocol_differs(fine[i], "k", why), "differs: %s", fine[i]);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        ck_assert_msg(later_protocol_differs(newer[i], "k", why), "the same: %s", newer[i]);
        ck_assert_ptr_nonnull(strstr(why, "a newer later"));
    }
    ck_assert(later_protocol_differs("1", "shop:protocol", why));
    ck_assert_ptr_nonnull(strstr(why, "an older later"));
    ck_assert_ptr_nonnull(strstr(why, "(shop:protocol is 1, we know 2)"));
    ck_assert_ptr_nonnull(strstr(why, "delete its keys"));
}

/* What Redis Cluster hashes: the text between the first brace and the next closing one. */
static void check_tag(const char *key, const char *tag)
{
    const char *open = strchr(key, '{');
    const char *close = open ? strchr(open, '}') : NULL;

    ck_assert_msg(close != NULL, "no hash tag in %s", key);
    ck_assert_uint_eq((size_t)(close - open - 1), strlen(tag));
    ck_assert_msg(strncmp(open + 1, tag, strlen(tag)) == 0, "%s is not the hash tag of %s", tag,
                  key);
}

TEST(test_one_slot)
{
    struct later_keys keys;
    char out[LATER_KEY_MAX];

    later_keys_init(&keys, "a:b", "Q_1.x-y");
    for (int i = 0; i < LATER_KEY_COUNT; i++)
        check_tag(keys.name[i], "Q_1.x-y");
    later_key_call(out, &keys, "5");
    check_tag(out, "Q_1.x-y");
    later_key_flow(out, &keys, "f", "");
    check_tag(out, "Q_1.x-y");
    later_key_period(out, &keys, "hour", 7);
    check_tag(out, "Q_1.x-y");
    later_key_stock(out, "a:b", "tv", false);
    check_tag(out, "tv");
    later_key_stock(out, "a:b", "tv", true);
    check_tag(out, "tv");
    later_key_limit(out, "a:b", "tv");
    check_tag(out, "tv");
    later_key_running(out, "a:b", "tv");
    check_tag(out, "tv");
    for (int i = LATER_LINE_LOCK; i <= LATER_LINE_LIMIT; i++) {
        later_key_line(out, "a:b", (enum later_line_for)i, "tv", i % 2);
        check_tag(out, "tv");
    }
    for (int i = LATER_LOCK_ITSELF; i <= LATER_LOCK_WAKE; i++) {
        later_key_lock(out, "a:b", "tv", (enum later_lock_key)i);
        check_tag(out, "tv");
    }
}

static void fill(char *text, char c, size_t len)
{
    memset(text, c, len);
    text[len] = '\0';
}

TEST(test_longest_names_fit)
{
    char prefix[LATER_PREFIX_MAX + 1], queue[LATER_QUEUE_MAX + 1], name[201], call[65];
    char out[LATER_KEY_MAX], wanted[LATER_KEY_MAX];
    struct later_keys keys;

    fill(prefix, 'p', LATER_PREFIX_MAX);
    fill(queue, 'q', LATER_QUEUE_MAX);
    fill(name, 'n', 200);
    fill(call, 'c', 64);
    ck_assert(later_key_prefix_valid(prefix) && later_key_queue_valid(queue));
    ck_assert(later_key_name_valid(name));
    later_keys_init(&keys, prefix, queue);
    for (size_t i = 0; i < LATER_KEY_COUNT; i++) {
        snprintf(wanted, sizeof wanted, "%s:{%s}:%s", prefix, queue, contract[i].name);
        ck_assert_str_eq(keys.name[i], wanted);
        ck_assert_uint_eq(keys.len[i], strlen(wanted));
    }
    snprintf(wanted, sizeof wanted, "%s:{%s}:call:%s", prefix, queue, call);
    ck_assert_uint_eq(later_key_call(out, &keys, call), strlen(wanted));
    ck_assert_str_eq(out, wanted);
    snprintf(wanted, sizeof wanted, "%s:stock:{%s}:claims", prefix, name);
    ck_assert_uint_eq(later_key_stock(out, prefix, name, true), strlen(wanted));
    ck_assert_str_eq(out, wanted);
    snprintf(wanted, sizeof wanted, "%s:lock:{%s}:fence", prefix, name);
    ck_assert_uint_eq(later_key_lock(out, prefix, name, LATER_LOCK_FENCE), strlen(wanted));
    ck_assert_str_eq(out, wanted);
    snprintf(wanted, sizeof wanted, "%s:running:{%s}", prefix, name);
    ck_assert_uint_eq(later_key_running(out, prefix, name), strlen(wanted));
    ck_assert_str_eq(out, wanted);
    snprintf(wanted, sizeof wanted, "%s:running:{%s}:waiting", prefix, name);
    ck_assert_uint_eq(later_key_line(out, prefix, LATER_LINE_PERMIT, name, false), strlen(wanted));
    ck_assert_str_eq(out, wanted);
    snprintf(wanted, sizeof wanted, "%s:limit:{%s}", prefix, name);
    ck_assert_uint_eq(later_key_limit(out, prefix, name), strlen(wanted));
    ck_assert_str_eq(out, wanted);
}

/* Every byte, alone and after a letter, and every length around the longest. */
static void check_valid(bool (*valid)(const char *), const char *allowed, size_t max)
{
    char text[512];

    for (int c = 1; c < 256; c++) {
        bool wanted = strchr(allowed, c) != NULL;

        snprintf(text, sizeof text, "%c", c);
        ck_assert_msg(valid(text) == wanted, "byte %d", c);
        snprintf(text, sizeof text, "a%c", c);
        ck_assert_msg(valid(text) == wanted, "byte %d behind a letter", c);
    }
    for (size_t len = 0; len <= max + 100; len++) {
        fill(text, 'x', len);
        ck_assert_msg(valid(text) == (len >= 1 && len <= max), "%zu characters", len);
    }
}

CASE("validity", NULL, NULL);

TEST(test_queue_valid)
{
    check_valid(later_key_queue_valid, LETTERS "_.-", 64);
}

TEST(test_shard_valid)
{
    static const char *const fine[] = { "mail/0", "mail/3", "a/31", "m.a-i_l/10", "a/99", "mail" };
    static const char *const bad[] = { "",        "/",       "/3",      "mail/",   "mail/x",
                                       "mail/3x", "mail/-1", "mail/03", "mail/00", "mail/100",
                                       "mail//3", "a/1/2",   "a b/3",   "a/ 3",    "{a}/3",
                                       "a/3 ",    "a/+3" };
    char name[LATER_QUEUE_MAX + 10];

    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        ck_assert_msg(later_key_shard_valid(fine[i]), "%s", fine[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!later_key_shard_valid(bad[i]), "%s", bad[i]);
    for (size_t len = 0; len <= LATER_QUEUE_MAX + 1; len++) {
        fill(name, 'q', len);
        ck_assert(later_key_shard_valid(name) == later_key_queue_valid(name));
        strcat(name, "/31");
        ck_assert_msg(later_key_shard_valid(name) == (len >= 1 && len <= 61), "%zu", len);
        ck_assert(!later_key_queue_valid(name)); /* a shard cannot be named by hand */
    }
}

TEST(test_prefix_valid)
{
    check_valid(later_key_prefix_valid, LETTERS "_.:-", 32);
}

TEST(test_name_valid)
{
    check_valid(later_key_name_valid, LETTERS "!\"#$%&'()*+,-./:;<=>?@[\\]^_`|~", 200);
}

TEST(test_tag)
{
    char out[6];

    ck_assert_str_eq(later_key_tag(out, sizeof out, "later:{mail}:wake"), ":wake");
    ck_assert_str_eq(out, "mail");
    ck_assert_str_eq(later_key_tag(out, sizeof out, "{q/31}"), "");
    ck_assert_str_eq(out, "q/31");
    ck_assert_str_eq(later_key_tag(out, sizeof out, "{12345}x"), "x");
    ck_assert_ptr_null(later_key_tag(out, sizeof out, "{123456}x"));
    ck_assert_ptr_null(later_key_tag(out, sizeof out, "later:queues"));
    ck_assert_ptr_null(later_key_tag(out, sizeof out, "later:{mail"));
    ck_assert_ptr_null(later_key_tag(out, sizeof out, "}{"));
    ck_assert_str_eq(later_key_tag(out, sizeof out, "{}"), "");
    ck_assert_str_eq(out, "");
}
