/* test_slot.c: hash slots, and which node has them. */
#include "redis/key.h"
#include "redis/nodes.h"
#include "redis/script.h"
#include "redis/slot.h"

#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(test_crc)
{
    ck_assert_uint_eq(later_slot_crc16("123456789", 9), 0x31C3); /* the specification's */
    ck_assert_uint_eq(later_slot_crc16("", 0), 0);
}

/* As CLUSTER KEYSLOT of Redis 7.0.15 has them. */
TEST(test_keys)
{
    static const struct {
        const char *key;
        int slot;
    } rows[] = {
        { "foo", 12182 },
        { "1", 9842 },
        { "2", 5649 },
        { "user1000", 3443 },
        { "{user1000}.a", 3443 },
        { "foo{}{bar}", 8363 },
        { "foo{{bar}}zap", 4015 },
        { "{bar", 4015 },
        { "foo{bar}{zap}", 5061 },
        { "bar", 5061 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(later_slot_of_key(rows[i].key, strlen(rows[i].key)) == rows[i].slot, "%s: %d",
                      rows[i].key, later_slot_of_key(rows[i].key, strlen(rows[i].key)));
}

/* Bytes after the end are not the key's. */
TEST(test_bytes)
{
    ck_assert_int_eq(later_slot_of_key("foo}", 3), 12182);
    ck_assert_int_eq(later_slot_of_key("{foo}", 4), later_slot_crc16("{foo", 4) % LATER_SLOTS);
    ck_assert_int_eq(later_slot_of_key("a{b\0c}", 6), later_slot_crc16("b\0c", 3) % LATER_SLOTS);
}

static int slot_of(const char *const *words)
{
    struct later_command cmd = { 0 };
    size_t count = 0;
    int slot;

    while (words[count])
        count++;
    later_command_begin(&cmd, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(&cmd, words[i]);
    slot = later_slot_of_command(&cmd);
    later_command_free(&cmd);
    return slot;
}

TEST(test_commands)
{
    static const struct {
        const char *words[6];
        int slot;
    } rows[] = {
        { { "GET", "foo" }, 12182 },
        { { "BLPOP", "{foo}x", "5" }, 12182 },
        { { "SADD", "{foo}", "bar" }, 12182 },
        { { "EVALSHA", "0123", "2", "foo", "{foo}2" }, 12182 },
        { { "evalsha", "0123", "12", "foo" }, 12182 },
        { { "EVALSHA", "0123", "0", "foo" }, LATER_NO_SLOT },
        { { "EVALSHA", "0123", "1" }, LATER_NO_SLOT },
        { { "PING" }, LATER_NO_SLOT },
        { { "SUBSCRIBE", "foo" }, LATER_NO_SLOT },
        { { "CLIENT", "ID" }, LATER_NO_SLOT },
        { { "SCRIPT", "LOAD", "foo" }, LATER_NO_SLOT },
        { { "INFO", "foo" }, LATER_NO_SLOT },
        { { "GET", "" }, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(slot_of(rows[i].words) == rows[i].slot, "row %zu: %d", i,
                      slot_of(rows[i].words));
}

/* All keys of a script belong to one queue, and so to its slot. */
TEST(test_scripts)
{
    static const char other[] = "later:{default}:other";
    const char *const others[16] = { other, other, other, other, other, other, other, other,
                                     other, other, other, other, other, other, other, other };
    struct later_keys keys;

    later_keys_init(&keys, "later", "default");
    for (int script = 0; script < LATER_SCRIPT_COUNT; script++) {
        struct later_command cmd = { 0 };
        int slot =
            later_script_texts[script].key_count ? later_slot_of_key("default", 7) : LATER_NO_SLOT;

        later_script_begin(&cmd, (enum later_script)script, &keys, others, 0);
        while (cmd.missing)
            later_command_text(&cmd, "0");
        ck_assert_msg(later_slot_of_command(&cmd) == slot, "%s", later_script_texts[script].name);
        later_command_free(&cmd);
    }
}

/* ---- nodes */

static struct later_nodes nodes;

static void clear(void)
{
    memset(&nodes, 0, sizeof nodes);
}

static int take(const char *text, int from)
{
    struct later_reply *reply = reply_made(text);
    int moved = later_nodes_take(&nodes, reply, from);

    later_reply_free(reply);
    return moved;
}

#define NODE(host_len, host, port) "*3\r\n$" #host_len "\r\n" host "\r\n:" #port "\r\n$2\r\nid\r\n"

TEST(test_slots)
{
    static const char two[] =
        "*2\r\n"
        "*4\r\n:0\r\n:8191\r\n" NODE(9, "127.0.0.1", 7000)
            NODE(9, "127.0.0.1", 7003) "*3\r\n:8192\r\n:16383\r\n" NODE(3, "::1", 7001);

    ck_assert_int_eq(take(two, LATER_NO_NODE), 1);
    ck_assert_int_eq(nodes.count, 3);
    ck_assert_int_eq(later_nodes_of(&nodes, 0), 0);
    ck_assert_int_eq(later_nodes_of(&nodes, 8191), 0);
    ck_assert_int_eq(later_nodes_of(&nodes, 8192), 2);
    ck_assert_int_eq(later_nodes_of(&nodes, 16383), 2);
    ck_assert_int_eq(later_nodes_of(&nodes, 16384), LATER_NO_NODE);
    ck_assert_int_eq(later_nodes_of(&nodes, -1), LATER_NO_NODE);
    ck_assert_str_eq(nodes.list[1].port, "7003");
    ck_assert_str_eq(nodes.list[2].host, "::1");
    ck_assert(nodes.list[0].master && !nodes.list[1].master && nodes.list[2].master);
    ck_assert_int_eq(take(two, LATER_NO_NODE), 0);
    /* An empty host means the one that was asked. */
    ck_assert_int_eq(take("*1\r\n*3\r\n:0\r\n:0\r\n" NODE(0, "", 7001), 2), 1);
    ck_assert_int_eq(nodes.count, 3);
    ck_assert_int_eq(later_nodes_of(&nodes, 0), 2);
    ck_assert_int_eq(later_nodes_of(&nodes, 1), LATER_NO_NODE);
    ck_assert(!nodes.list[0].master);
}

TEST(test_no_slots)
{
    static const char *const replies[] = {
        "*0\r\n",
        "+OK\r\n",
        "$-1\r\n",
        ":5\r\n",
        "*1\r\n:5\r\n",
        "*1\r\n*0\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*0\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*1\r\n$1\r\na\r\n",
        "*1\r\n*3\r\n:5\r\n:4\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:-1\r\n:4\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:0\r\n:16384\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:0\r\n:9223372036854775807\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:0\r\n:5\r\n" NODE(0, "", 1), /* from nobody */
        "*1\r\n*3\r\n:0\r\n:5\r\n" NODE(1, "a", 1234567),
        "*1\r\n*3\r\n:-9223372036854775807\r\n:16383\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:0\r\n:5\r\n" NODE(1, "a", 0),
        "*1\r\n*3\r\n:0\r\n:5\r\n" NODE(1, "a", -1),
        "*1\r\n*3\r\n:0\r\n:5\r\n" NODE(1, "?", 1), /* a host name that it does not know */
    };

    clear();
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        ck_assert_msg(take(replies[i], LATER_NO_NODE) == -1, "row %zu", i);
        ck_assert_int_eq(later_nodes_of(&nodes, 0), LATER_NO_NODE);
    }
}

TEST(test_redirections)
{
    static const struct {
        const char *text, *host, *port;
        int slot;
    } rows[] = {
        { "MOVED 3999 127.0.0.1:6381", "127.0.0.1", "6381", 3999 },
        { "ASK 0 h.example:1", "h.example", "1", 0 },
        { "MOVED 16383 ::1:6381", "::1", "6381", 16383 },
        { "MOVED 1 :6381", "seed", "6381", 1 },
        { "MOVED 16384 a:1", NULL, NULL, 0 },
        { "MOVED -1 a:1", NULL, NULL, 0 },
        { "MOVED x a:1", NULL, NULL, 0 },
        { "MOVED 1", NULL, NULL, 0 },
        { "MOVED 1 a", NULL, NULL, 0 },
        { "MOVED 1 a:1234567", NULL, NULL, 0 },
        { "MOVED 1 a:", NULL, NULL, 0 },
        { "MOVED 1 a:x", NULL, NULL, 0 },
        { "MOVED 1 a:0", NULL, NULL, 0 },
        { "MOVED 1 a:65536", NULL, NULL, 0 },
        { "MOVED 1 ?:1", NULL, NULL, 0 },
        { "MOVED 4294967297 a:1", NULL, NULL, 0 },
        { "MOVED", NULL, NULL, 0 },
        { "MOVED ", NULL, NULL, 0 },
    };

    clear();
    ck_assert_int_eq(later_nodes_enter(&nodes, "seed", "1"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int slot, node = later_nodes_redirected(&nodes, rows[i].text, 0, &slot);

        ck_assert_msg((node == LATER_NO_NODE) == !rows[i].host, "row %zu", i);
        if (!rows[i].host)
            continue;
        ck_assert_int_eq(slot, rows[i].slot);
        ck_assert_str_eq(nodes.list[node].host, rows[i].host);
        ck_assert_str_eq(nodes.list[node].port, rows[i].port);
    }
}

TEST(test_too_many)
{
    char port[8], host[300];

    clear();
    for (int i = 0; i < LATER_NODES_MAX; i++) {
        snprintf(port, sizeof port, "%d", i + 1);
        ck_assert_int_eq(later_nodes_enter(&nodes, "a", port), i);
    }
    ck_assert_int_eq(later_nodes_enter(&nodes, "a", "999"), LATER_NO_NODE);
    ck_assert_int_eq(later_nodes_enter(&nodes, "a", "5"), 4);
    clear();
    memset(host, 'h', sizeof host - 1);
    host[sizeof host - 1] = '\0';
    ck_assert_int_eq(later_nodes_enter(&nodes, host, "1"), LATER_NO_NODE);
}

/* Nodes that no answer names any more make room; those of the URL stay. */
TEST(test_forgotten)
{
    int seed, old, replica;

    clear();
    seed = later_nodes_enter(&nodes, "seed", "1");
    nodes.list[seed].seed = true;
    ck_assert_int_eq(take("*1\r\n*4\r\n:0\r\n:16383\r\n" NODE(1, "a", 1) NODE(1, "b", 1), seed), 1);
    old = later_nodes_enter(&nodes, "a", "1");
    replica = later_nodes_enter(&nodes, "b", "1");
    ck_assert_int_eq(nodes.count, 3);
    ck_assert(!later_nodes_is_gone(&nodes, seed) && !later_nodes_is_gone(&nodes, old) &&
              !later_nodes_is_gone(&nodes, replica));
    ck_assert_int_eq(take("*0\r\n", seed), -1); /* says nothing about them */
    ck_assert(!later_nodes_is_gone(&nodes, old) && !later_nodes_is_gone(&nodes, replica));
    ck_assert_int_eq(take("*1\r\n*3\r\n:0\r\n:16383\r\n" NODE(1, "b", 1), seed), 1);
    ck_assert(!later_nodes_is_gone(&nodes, seed) && later_nodes_is_gone(&nodes, old) &&
              !later_nodes_is_gone(&nodes, replica));
    later_nodes_forget(&nodes, old);
    ck_assert(!later_nodes_is_gone(&nodes, old));
    ck_assert_int_eq(later_nodes_enter(&nodes, "c", "1"), old);
    ck_assert_int_eq(nodes.count, 3);
    ck_assert_int_eq(later_nodes_of(&nodes, 5), replica);
}
