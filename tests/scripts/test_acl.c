/* test_acl.c: the least rights with which every script works: commands, keys, channel. */
#include "tour.h"
#include "harness.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS_MAX 64

/* What a caller of scripts sends itself. */
static const char *const outer[] = { "evalsha", "script|load" };

static struct {
    char name[COMMANDS_MAX][24];
    size_t count;
} commands;

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void add_command(const char *name, size_t len)
{
    char lower[24] = "";

    ck_assert_uint_lt(len, sizeof lower);
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < commands.count; i++) {
        if (strcmp(commands.name[i], lower) == 0)
            return;
    }
    ck_assert_uint_lt(commands.count, COMMANDS_MAX);
    memcpy(commands.name[commands.count++], lower, sizeof lower);
}

/* Finds every command of every script, in redis.call('… and redis.pcall('…. */
static void find_commands(void)
{
    commands.count = 0;
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++) {
        const char *at = later_script_texts[i].text;

        while ((at = strstr(at, "call('")) != NULL) {
            at += 6;
            add_command(at, strcspn(at, "'"));
        }
    }
    qsort(commands.name, commands.count, sizeof commands.name[0], by_text);
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
        add_command(outer[i], strlen(outer[i]));
}

/* The least line, without name and password. */
static const char *least_rights(void)
{
    const char *line = "~later:* &later:* -@all";

    for (size_t i = 0; i < commands.count; i++)
        line = text("%s +%s", line, commands.name[i]);
    return line;
}

/* A connection of the user `worker`. */
static redisContext *login(void)
{
    redisContext *redis = server_connect(&harness_server);
    redisReply *reply = redisCommand(redis, "AUTH worker pw");

    ck_assert_str_eq(reply->str, "OK");
    freeReplyObject(reply);
    return redis;
}

/* Loads and calls all scripts on a new crowd as `worker`; the first error, or NULL. */
static const char *tour_as(redisContext *worker)
{
    redisContext *admin = harness_redis;
    const char *error = NULL;

    tour_crowd();
    ask("SCRIPT FLUSH");
    harness_redis = worker;
    for (const char *const *script = tour_scripts; *script && !error; script++) {
        const struct later_script_text *row = script_text(*script);
        redisReply *reply = ask_error("SCRIPT LOAD %b", row->text, row->len);

        for (size_t i = 0; reply->type != REDIS_REPLY_ERROR; i++) {
            if (!tour_nth_arguments(*script, i))
                break;
            reply = run_any(*script, NULL);
        }
        if (reply->type == REDIS_REPLY_ERROR)
            error = reply->str;
    }
    harness_redis = admin;
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++)
        ask("SCRIPT LOAD %b", later_script_texts[i].text, later_script_texts[i].len);
    return error;
}

TEST(every_script_works_with_the_least_rights)
{
    redisContext *worker;
    const char *error;

    find_commands();
    ck_assert_str_eq(ask(text("ACL SETUSER worker reset on >pw %s", least_rights()))->str, "OK");
    worker = login();
    error = tour_as(worker);
    ck_assert_msg(error == NULL, "%s", error);
    check_sums();
    redisFree(worker);
    printf("# %s\n", least_rights());
    fflush(stdout);
}

TEST(no_right_is_too_many)
{
    redisContext *worker;

    find_commands();
    ask(text("ACL SETUSER worker reset on >pw %s", least_rights()));
    worker = login();
    for (size_t i = 0; i < commands.count; i++) {
        const char *error;

        ask("ACL SETUSER worker -%s", commands.name[i]);
        error = tour_as(worker);
        ck_assert_msg(error != NULL, "%s is not needed", commands.name[i]);
        ck_assert_msg(strstr(error, "NOPERM") || strstr(error, "The user executing the script") ||
                          strstr(error, "ACL failure in script"), /* from Redis 7.2 on */
                      "without %s: %s", commands.name[i], error);
        ask("ACL SETUSER worker +%s", commands.name[i]);
        harness_free();
    }
    ck_assert_ptr_null(tour_as(worker));
    ask("ACL SETUSER worker resetchannels");
    ck_assert_ptr_nonnull(tour_as(worker));
    redisFree(worker);
}

/* What is between the first braces: Redis Cluster places a key by it. */
static const char *tag(const char *name)
{
    const char *open = strchr(name, '{');

    ck_assert_ptr_nonnull(open);
    return text("%.*s", (int)strcspn(open, "}"), open);
}

TEST(each_script_declares_every_key_it_touches)
{
    redisContext *worker, *admin = harness_redis;

    find_commands();
    ask(text("ACL SETUSER worker reset on >pw %s", least_rights()));
    worker = login();
    for (const char *const *script = tour_scripts; *script; script++) {
        const struct later_script_text *row = script_text(*script);
        const char *names[16];
        const redisReply *reply;

        tour_crowd();
        tour_arguments(*script);
        script_keys(row, names);
        ask("ACL SETUSER worker resetkeys");
        for (int i = 0; i < row->key_count; i++) {
            ask("ACL SETUSER worker %s", text("~%s", names[i]));
            ck_assert_str_eq(tag(names[i]), tag(names[0])); /* none in two slots */
        }
        /* Made from `jobs`: inc/share.lua. */
        ask("ACL SETUSER worker %s", text("~%s", key("fair")));
        ask("ACL SETUSER worker %s", text("~%s", key("groups")));
        harness_redis = worker;
        reply = run_any(*script, NULL);
        harness_redis = admin;
        ck_assert_msg(reply->type != REDIS_REPLY_ERROR, "%s: %s", *script, reply->str);
        harness_free();
    }
    redisFree(worker);
}
