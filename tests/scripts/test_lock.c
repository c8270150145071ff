/* test_lock.c: lock_take lock_touch lock_free lock_wake lock_show, compared with a model. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK  "later:lock:{n}"
#define FENCE "later:lock:{n}:fence"
#define WAKE  "later:lock:{n}:wake"

#define ANN "aaaaaaaaaaaaaaaa"
#define BOB "bbbbbbbbbbbbbbbb"
#define CYD "cccccccccccccccc"

static const redisReply *take_with(const char *token, const char *ttl, const char *pass)
{
    return run("lock_take", token, "somebody", ttl, pass, "", NULL);
}

/* The fencing number, or 0 if another has the lock. */
static long long take(const char *token)
{
    const redisReply *reply = take_with(token, "30", "");

    return reply->element[0]->integer ? reply->element[1]->integer : 0;
}

static long long call(const char *script, const char *token)
{
    return run(script, token, NULL)->integer;
}

AT_START(harness_stand_still());

TEST(one_owner)
{
    const redisReply *reply;
    double left;

    ck_assert_int_eq(take(ANN), 1);
    reply = take_with(BOB, "30", "");
    ck_assert_int_eq(reply->element[0]->integer, 0);
    left = strtod(reply->element[1]->str, NULL);
    ck_assert_double_gt(left, 25);
    ck_assert_double_le(left, 30);
    ck_assert_str_eq(ask("HGET " LOCK " token")->str, ANN);
    ck_assert_str_eq(ask("HGET " LOCK " owner")->str, "somebody");
    ck_assert_double_eq_tol(strtod(ask("HGET " LOCK " since")->str, NULL), now(), 5);
}

TEST(taken_again_is_the_same_taking)
{
    take_with(ANN, "2", "");
    ck_assert_int_eq(take(ANN), 1);
    ck_assert_int_gt(ask("PTTL " LOCK)->integer, 25000); /* and renews it */
    ck_assert_str_eq(ask("GET " FENCE)->str, "1");
    ck_assert_str_eq(ask("HGET " LOCK " ttl")->str, "30");
}

TEST(a_lock_always_has_an_end)
{
    take_with(ANN, "0.5", "");
    ck_assert_int_le(ask("PTTL " LOCK)->integer, 500);
    ck_assert_int_gt(ask("PTTL " LOCK)->integer, 0);
    run("lock_touch", ANN, "7", NULL);
    ck_assert_int_gt(ask("PTTL " LOCK)->integer, 5000);
    ck_assert_str_eq(run("lock_show", NULL)->element[4]->str, "7");
    call("lock_free", ANN);
    ck_assert_int_le(ask("PTTL " LOCK)->integer, 2000);
    ck_assert_int_gt(ask("PTTL " LOCK)->integer, 0);
    ck_assert_int_gt(ask("PTTL " WAKE)->integer, 0);
    ck_assert_int_eq(ask("PTTL " FENCE)->integer, -1); /* but its number, which only grows */
}

TEST(a_foreign_token_changes_nothing)
{
    uint64_t before;

    take(ANN);
    before = digest();
    ck_assert_int_eq(call("lock_free", BOB), 0);
    ck_assert_int_eq(call("lock_free", ""), 0);
    ck_assert_int_eq(run("lock_touch", BOB, "60", NULL)->integer, 0);
    ck_assert_int_eq(run("lock_touch", "", "60", NULL)->integer, 0);
    ck_assert_int_eq(take(BOB), 0);
    ck_assert_uint_eq(digest(), before);
}

TEST(what_was_freed_is_not_ours)
{
    take(ANN);
    ck_assert_int_eq(call("lock_free", ANN), 1);
    ck_assert_int_eq(call("lock_free", CYD), 0);
    ck_assert_int_eq(run("lock_touch", ANN, "60", NULL)->integer, 0);
    ck_assert_int_eq(take(BOB), 2);
    ck_assert_int_eq(call("lock_free", ANN), 0); /* it was, but BOB's it is now */
    ck_assert_int_eq(run("lock_touch", ANN, "60", NULL)->integer, 0);
    ck_assert_str_eq(ask("HGET " LOCK " token")->str, BOB);
}

TEST(what_ran_out_is_not_ours)
{
    take_with(ANN, "30", "");
    server_advance(&harness_server, 31);
    ck_assert_int_eq(run("lock_touch", ANN, "60", NULL)->integer, 0);
    ck_assert_int_eq(ask("EXISTS " LOCK)->integer, 0);
    ck_assert_int_eq(call("lock_free", ANN), 0);
    ck_assert_int_eq(take(ANN), 2); /* a new taking */
}

/* A connection that waits in line. */
static redisContext *wait_in_line(long long place)
{
    redisContext *redis = server_connect(&harness_server);
    const char *blocked = text("blocked_clients:%lld\r", place);

    redisAppendCommand(redis, "BLPOP " WAKE " 20");
    for (int done = 0; !done;)
        ck_assert_int_eq(redisBufferWrite(redis, &done), REDIS_OK);
    while (!strstr(ask("INFO clients")->str, blocked))
        usleep(1000);
    return redis;
}

/* What it gets now. */
static const char *served(redisContext *redis)
{
    redisReply *reply;

    ck_assert_int_eq(redisGetReply(redis, (void **)&reply), REDIS_OK);
    harness_keep_reply(reply);
    ck_assert_uint_eq(reply->elements, 2);
    return reply->element[1]->str;
}

TEST(the_first_in_line_is_served_and_none_comes_between)
{
    redisContext *first, *second;
    const char *pass;

    take(ANN);
    first = wait_in_line(1);
    second = wait_in_line(2);
    ck_assert_int_eq(call("lock_free", ANN), 1);
    pass = served(first);
    ck_assert_int_eq(take(CYD), 0); /* comes just now */
    ck_assert_int_eq(take_with(CYD, "30", "guessed")->element[0]->integer, 0);
    ck_assert_int_eq(take(ANN), 0); /* and so does he */
    ck_assert_int_eq(take_with(BOB, "30", pass)->element[1]->integer, 2);
    ck_assert_int_eq(take_with(CYD, "30", pass)->element[0]->integer, 0); /* good for one */
    ck_assert_int_eq(call("lock_free", BOB), 1);
    ck_assert_str_eq(served(second), BOB);
    redisFree(first);
    redisFree(second);
}

TEST(a_pass_for_nobody_is_for_who_comes)
{
    take(ANN);
    call("lock_free", ANN);
    ck_assert_int_eq(ask("LLEN " WAKE)->integer, 1);
    ck_assert_int_eq(take(BOB), 2);
    ck_assert_int_eq(ask("EXISTS " WAKE)->integer, 0); /* and cannot serve another */
}

TEST(a_pass_that_is_not_wanted_goes_on)
{
    const char *pass;

    take(ANN);
    call("lock_free", ANN);
    pass = ask("LPOP " WAKE)->str;
    ck_assert_int_eq(take(CYD), 0);
    ck_assert_int_eq(call("lock_free", pass), 1);
    ck_assert_int_eq(ask("LLEN " WAKE)->integer, 1);
    ck_assert_int_eq(take(CYD), 2);
}

TEST(who_dies_with_the_pass_holds_nothing_up)
{
    take(ANN);
    call("lock_free", ANN);
    ask("LPOP " WAKE);
    ck_assert_int_le(ask("PTTL " LOCK)->integer, 2000);
    server_advance(&harness_server, 3);
    ck_assert_int_eq(take(BOB), 2);
}

TEST(a_dead_owner_is_noticed_by_a_look)
{
    double left;

    take_with(ANN, "30", "");
    left = strtod(run("lock_wake", BOB, NULL)->str, NULL);
    ck_assert_double_gt(left, 25);
    ck_assert_int_eq(ask("EXISTS " WAKE)->integer, 0); /* nobody is woken for nothing */
    server_advance(&harness_server, 31);
    redisContext *first = wait_in_line(1);
    left = strtod(run("lock_wake", CYD, NULL)->str, NULL);
    ck_assert_double_gt(left, 1);
    ck_assert_double_le(left, 2);
    ck_assert_str_eq(served(first), CYD);
    run("lock_wake", BOB, NULL); /* one pass at a time */
    ck_assert_int_eq(ask("EXISTS " WAKE)->integer, 0);
    ck_assert_int_eq(take_with(ANN, "30", CYD)->element[1]->integer, 2);
    redisFree(first);
}

TEST(show_tells_and_changes_nothing)
{
    uint64_t before = digest();
    const redisReply *reply = run("lock_show", NULL);

    ck_assert_str_eq(flat(reply), "0     0");
    ck_assert_uint_eq(digest(), before);
    take(ANN);
    before = digest();
    reply = run("lock_show", NULL);
    ck_assert_int_eq(reply->element[0]->integer, 1);
    ck_assert_double_gt(strtod(reply->element[1]->str, NULL), 25);
    ck_assert_str_eq(reply->element[2]->str, "somebody");
    ck_assert_double_eq_tol(strtod(reply->element[3]->str, NULL), now(), 5);
    ck_assert_str_eq(reply->element[4]->str, "30");
    ck_assert_str_eq(reply->element[5]->str, "1");
    ck_assert_ptr_null(strstr(flat(reply), ANN)); /* the token is its owner's */
    ck_assert_uint_eq(digest(), before);
    call("lock_free", ANN);
    ck_assert_str_eq(flat(run("lock_show", NULL)), "0     1");
}

TEST(a_full_redis_locks_and_frees)
{
    ask("CONFIG SET maxmemory 1");
    ck_assert_int_eq(take(ANN), 1);
    ck_assert_int_eq(run("lock_touch", ANN, "40", NULL)->integer, 1);
    ck_assert_int_eq(call("lock_free", ANN), 1);
    ck_assert_int_eq(take(BOB), 2);
    ask("DEL " LOCK);
    run("lock_wake", CYD, NULL);
    ck_assert_int_eq(ask("LLEN " WAKE)->integer, 1);
    ask("CONFIG SET maxmemory 0");
}

TEST(wrong_arguments_are_refused)
{
    static const char *const ttls[] = { "0", "-1", "nan", "inf", "", "0x10", "soon", "1e3" };
    const char *long_token = text("%065d", 0), *long_owner = text("%0251d", 0);
    uint64_t before;

    take(ANN);
    before = digest();
    for (size_t i = 0; i < sizeof ttls / sizeof *ttls; i++) {
        ck_assert_mem_eq(run_error("lock_take", ANN, "o", ttls[i], "", "", NULL),
                         "ERR lock_take: ", 15);
        ck_assert_mem_eq(run_error("lock_touch", ANN, ttls[i], NULL), "ERR lock_touch: ", 16);
    }
    run_error("lock_take", "", "o", "1", "", "", NULL);
    run_error("lock_take", long_token, "o", "1", "", "", NULL);
    run_error("lock_take", ANN, long_owner, "1", "", "", NULL);
    run_error("lock_wake", "", NULL);
    run_error("lock_wake", long_token, NULL);
    ck_assert_uint_eq(digest(), before);
    ask("DEL " LOCK);
    ask("SET " FENCE " junk");
    before = digest();
    ck_assert_ptr_nonnull(
        strstr(run_error("lock_take", ANN, "o", "1", "", "", NULL), "no counter"));
    ck_assert_uint_eq(digest(), before);
}

/* ---- a model: three who take, touch, free and look at random, while locks and passes run out */

struct model {
    int owner; /* -1 = nobody */
    bool passing, in_list;
    int pass; /* who left it, or freed */
    long long fence;
};

static const char *const tokens[] = { ANN, BOB, CYD };

static void model_take(struct model *model, int who, int pass)
{
    const redisReply *reply = take_with(tokens[who], "30", pass < 0 ? "" : tokens[pass]);
    bool kept = model->passing && !model->in_list && model->pass != pass;

    if (model->owner < 0 && !kept) {
        *model = (struct model){ .owner = who, .fence = model->fence + 1 };
    }
    ck_assert_int_eq(reply->element[0]->integer, model->owner == who);
    if (model->owner == who)
        ck_assert_int_eq(reply->element[1]->integer, model->fence);
}

static void model_free(struct model *model, int who)
{
    bool ours = model->owner == who || (model->passing && model->pass == who);

    ck_assert_int_eq(call("lock_free", tokens[who]), ours);
    if (ours)
        *model = (struct model){
            .owner = -1, .passing = true, .in_list = true, .pass = who, .fence = model->fence
        };
}

static void model_wake(struct model *model, int who)
{
    run("lock_wake", tokens[who], NULL);
    if (model->owner < 0 && !model->passing)
        *model = (struct model){
            .owner = -1, .passing = true, .in_list = true, .pass = who, .fence = model->fence
        };
}

static void model_expire(struct model *model)
{
    ask("DEL " LOCK " " WAKE);
    *model = (struct model){ .owner = -1, .fence = model->fence };
}

TEST(a_model_agrees)
{
    struct model model = { .owner = -1 };

    srandom(5);
    for (int step = 0; step < 20000; step++) {
        int who = (int)(random() % 3), other = (int)(random() % 3);

        switch (random() % 8) {
        case 0:
        case 1:
            model_take(&model, who, -1);
            break;
        case 2:
            model_take(&model, who, other);
            break;
        case 3:
            model_free(&model, who);
            break;
        case 4:
            ck_assert_int_eq(run("lock_touch", tokens[who], "30", NULL)->integer,
                             model.owner == who);
            break;
        case 5:
            model_wake(&model, who);
            break;
        case 6: /* one in the line is served */
            ck_assert_int_eq(ask("LPOP " WAKE)->type == REDIS_REPLY_STRING, model.in_list);
            model.in_list = false;
            break;
        default:
            if (random() % 4 == 0)
                model_expire(&model);
        }
        ck_assert_int_eq(ask("EXISTS " LOCK)->integer, model.owner >= 0 || model.passing);
        ck_assert_int_eq(ask("LLEN " WAKE)->integer, model.in_list);
        if (model.owner >= 0 || model.passing)
            ck_assert_int_gt(ask("PTTL " LOCK)->integer, 0);
        harness_free();
    }
    ck_assert_int_gt(model.fence, 1000);
}
