/* test_server.c: what a Redis says of itself, read from its bytes. */
#include "queue/server.h"

#include "queue/inspect.h"
#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct later_reply *reply;

static void forget(void)
{
    later_reply_free(reply);
    reply = NULL;
}

static void info(const char *text)
{
    char bytes[2000];

    snprintf(bytes, sizeof bytes, "$%zu\r\n%s\r\n", strlen(text), text);
    forget();
    reply = reply_made(bytes);
}

static const struct later_server_fact *fact(const char *name)
{
    const struct later_server_fact *found = later_server_facts;

    while (found->name && strcmp(found->name, name) != 0)
        found++;
    ck_assert_msg(found->name != NULL, "no fact %s", name);
    return found;
}

TEST(test_facts)
{
    char text[16];
    double number;

    info("# Server\r\nredis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\nxused_memory:9\r\n"
         "used_memory:1234\r\nused_cpu_user:1.250000\r\nmaxmemory:0\r\n");
    ck_assert(later_server_text(reply, fact("version"), text, sizeof text));
    ck_assert_str_eq(text, "7.0.15");
    ck_assert(later_server_number(reply, fact("memory"), &number));
    ck_assert_double_eq(number, 1234);
    ck_assert(later_server_number(reply, fact("cpu_user"), &number));
    ck_assert_double_eq(number, 1.25);
    ck_assert(later_server_number(reply, fact("memory_limit"), &number));
    ck_assert_double_eq(number, 0);
    ck_assert(!later_server_number(reply, fact("evicted"), &number));
    ck_assert(!later_server_text(reply, fact("role"), text, sizeof text));
    ck_assert_str_eq(text, "");
    info("role:");
    ck_assert(later_server_text(reply, fact("role"), text, sizeof text));
    ck_assert_str_eq(text, "");
    info("role:a-role-that-is-far-too-long-for-it\r\n");
    ck_assert(later_server_text(reply, fact("role"), text, sizeof text));
    ck_assert_str_eq(text, "a-role-that-is-");
    forget();
}

TEST(test_replicas)
{
    struct later_server_replica replica;

    info("role:master\r\nslave0:ip=10.0.0.2,port=6380,state=online,offset=90,lag=1\r\n"
         "slave1:port=,state,offset=x\r\nslave2:ip=h,port=1,state=wait_bgsave,offset=120,lag=0\r\n"
         "master_repl_offset:100\r\n");
    ck_assert(later_server_replica(reply, 0, &replica));
    ck_assert_str_eq(replica.address, "10.0.0.2:6380");
    ck_assert_str_eq(replica.state, "online");
    ck_assert_double_eq(replica.lag, 1);
    ck_assert_double_eq(replica.behind, 10);
    ck_assert(later_server_replica(reply, 1, &replica));
    ck_assert_str_eq(replica.address, ":");
    ck_assert_double_lt(replica.lag, 0);
    ck_assert_double_lt(replica.behind, 0);
    ck_assert(later_server_replica(reply, 2, &replica));
    ck_assert_double_eq(replica.behind, 0);
    ck_assert(!later_server_replica(reply, 3, &replica));
    forget();
}

/* Of what it was called with only one of our keys is told. */
TEST(test_slow)
{
    struct later_server_slow slow;

    reply =
        reply_made("*4\r\n"
                   "*6\r\n:7\r\n:1800000000\r\n:12500\r\n*5\r\n$7\r\nEVALSHA\r\n$2\r\nab\r\n"
                   "$1\r\n1\r\n$16\r\nlater:{mail}:job\r\n$8\r\n{secret}\r\n$0\r\n\r\n$0\r\n\r\n"
                   "*4\r\n:6\r\n:1\r\n:1000000\r\n*2\r\n$3\r\nGET\r\n$6\r\nlaters\r\n"
                   "*4\r\n:5\r\n:1\r\n:2\r\n*0\r\n"
                   "$1\r\nx\r\n");
    ck_assert(later_server_slow(reply, 0, "later", &slow));
    ck_assert_double_eq(slow.at, 1800000000);
    ck_assert_double_eq(slow.seconds, 0.0125);
    ck_assert_str_eq(slow.command, "EVALSHA later:{mail}:job");
    ck_assert(later_server_slow(reply, 1, "later", &slow));
    ck_assert_str_eq(slow.command, "GET");
    ck_assert_double_eq(slow.seconds, 1);
    for (size_t i = 2; i < 5; i++)
        ck_assert(!later_server_slow(reply, i, "later", &slow));
    ck_assert(!later_server_slow(NULL, 0, "later", &slow));
    forget();
}

TEST(test_kinds)
{
    static const struct {
        const char *key, *kind;
    } rows[] = {
        { "later:{mail}:ready", "ready" },
        { "later:{mail}:reserved:abcdefghijklmnop", "reserved" },
        { "later:{a}:result:x}:y", "result" },
        { "later:lock:{night}:fence", "lock" },
        { "later:hosts", "hosts" },
        { "later:{mail", "" },
        { "later:", "" },
        { "later", "" },
        { "laters:{mail}:ready", "" },
        { "later:an-endless-kind", "an" },
        { "later:abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvw" },
    };
    char kind[LATER_SERVER_KIND];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        later_server_kind(kind, rows[i].key, "later");
        ck_assert_str_eq(kind, rows[i].kind);
    }
}
