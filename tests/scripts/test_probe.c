/* test_probe.c: the script with which laterd asks what it may do. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

static const redisReply *probe_without(const char *right)
{
    redisContext *admin = harness_redis;
    const redisReply *denied;

    ask("ACL SETUSER prober reset on >pw ~later:* &later:* +@all");
    if (*right)
        ask("ACL SETUSER prober %s", right);
    harness_redis = server_connect(&harness_server);
    ask("AUTH prober pw");
    denied = run_any("probe", NULL);
    redisFree(harness_redis);
    harness_redis = admin;
    return denied;
}

TEST(nothing_is_denied_and_nothing_left)
{
    ck_assert_uint_eq(probe_without("")->elements, 0);
    ck_assert_uint_eq(ask("KEYS *")->elements, 0);
}

/* Each command in this text is denied in turn. Returns how many there are. */
static int try_each(const char *text)
{
    int tried = 0;

    for (const char *at = text; (at = strstr(at, "call('")); tried++) {
        char command[24] = "", right[40];
        const redisReply *denied;

        at += strlen("call('");
        memcpy(command, at, strcspn(at, "'") < 23 ? strcspn(at, "'") : 23);
        snprintf(right, sizeof right, "-%s", command);
        denied = probe_without(right);
        ck_assert_msg(denied->elements >= 1, "probe does not try %s", command);
        ck_assert_msg(strncmp(denied->element[0]->str, command, strlen(command)) == 0,
                      "without %s: %s", command, denied->element[0]->str);
        harness_free();
    }
    return tried;
}

/* The names in the text of the other scripts, and of what is put around them. */
TEST(each_command_of_the_scripts_is_tried)
{
    int tried = 0;

    for (int i = 0; i < LATER_SCRIPT_COUNT; i++)
        tried += try_each(later_script_texts[i].text);
    ck_assert_int_gt(tried, 30);
    ck_assert_int_eq(try_each(later_script_told.after), 3); /* with TIME */
}

TEST(keys_and_channels_count_too)
{
    const redisReply *denied = probe_without("resetkeys");

    /* Redis looks at the keys of a call before it runs it. */
    ck_assert_int_eq(denied->type, REDIS_REPLY_ERROR);
    ck_assert_int_eq(strncmp(denied->str, "NOPERM", 6), 0);
    denied = probe_without("resetchannels");
    ck_assert_uint_eq(denied->elements, 1);
    ck_assert_int_eq(strncmp(denied->element[0]->str, "PUBLISH", 7), 0);
}

TEST(a_full_redis_denies_nothing)
{
    ask("CONFIG SET maxmemory 1");
    ck_assert_uint_eq(run("probe", NULL)->elements, 0);
    ask("CONFIG SET maxmemory 0");
}
