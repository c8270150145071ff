/*
 * model_lines.c: what a job may have to wait for before it begins: a permit of its group
 * (max_running), a limit by a key, and the lines before them.
 *
 * A place is kept for a second for a job that was called. The model does not know how long a call
 * took, so where that decides, both answers are right.
 */
#include "model_steps.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define KEYS "ABC" /* of groups, or other values; the first has one place, the third three */

#define CROWD 5 /* of those who ask in one call */

enum kind { PERMIT, FIXED, SLIDING, KINDS };

static struct line {
    int taken;
    bool holds[IDS];  /* a permit */
    int since[IDS];   /* when the job that waits was ready; 0: it does not */
    bool called[IDS]; /* and has not come */
    char begins[32];  /* when the last one of a sliding limit was counted; "": it has begun */
} lines[KINDS][sizeof KEYS - 1];

static struct {
    struct line *line;
    enum kind kind;
    const char *name, *max;
    int free;
} at;

static int last_since;

/* Some line: the next scripts are about it. */
static void any_line(void)
{
    static const char *const maxes[] = { "1", "2", "3" };
    int i = random_below(sizeof KEYS - 1);

    at.kind = (enum kind)random_below(KINDS);
    at.line = &lines[at.kind][i];
    at.max = maxes[i];
    at.free = i + 1 - at.line->taken;
    at.name = at.kind == PERMIT
                  ? text(model.groups ? "group:q:%c" : "type:%c", KEYS[i])
                  : text("%d:%s=%c", at.kind, model.groups ? "group" : "tenant", KEYS[i]);
    share_by(at.name);
}

/* How many wait and were ready before `since`, or after it if that is negative; called or not. */
static int waiting(int since, bool called)
{
    int count = 0;

    for (int i = 0; i < IDS; i++) {
        int one = at.line->since[i];

        if (one > 0 && at.line->called[i] == called)
            count += since < 0 ? one > -since : one < since;
    }
    return count;
}

static int in_line(void)
{
    return waiting(LINE_DUE, false) + waiting(LINE_DUE, true);
}

/* The key of what the line is for, and of those that wait. */
static const char *key_of(const char *rest)
{
    return text("later:%s:{%s}%s", at.kind == PERMIT ? "running" : "limit", at.name, rest);
}

/* Redis has the same line. Those that were called may have been given up. */
static void compare_line(void)
{
    const redisReply *all = ask("ZRANGE %s 0 -1 WITHSCORES", key_of(":waiting"));
    bool known[IDS] = { false };

    for (size_t i = 0; i < all->elements; i += 2) {
        int who = atoi(all->element[i]->str + strlen("q j"));
        double since = atof(all->element[i + 1]->str);

        ck_assert_msg(since == (at.line->called[who] ? -1 : 1) * at.line->since[who],
                      "j%d waits for %s since %f, not %d", who, at.name, since,
                      at.line->since[who]);
        known[who] = true;
    }
    for (int i = 0; i < IDS; i++) {
        ck_assert_msg(known[i] || at.line->called[i] || !at.line->since[i], "j%d is lost", i);
        if (!known[i]) {
            at.line->since[i] = 0;
            at.line->called[i] = false;
        }
    }
    if (at.kind == PERMIT)
        ck_assert_int_eq(ask("ZCARD %s", key_of(""))->integer, at.line->taken);
}

static const char *waiter_of(int who)
{
    return who < 0 ? "" : text("q j%d", who);
}

/* It has a place, and does not wait any more. */
static void have_place(int who, bool had)
{
    at.line->taken += !had;
    at.free -= !had;
    if (who < 0)
        return;
    at.line->holds[who] = at.kind == PERMIT;
    at.line->since[who] = 0;
    at.line->called[who] = false;
}

/* Was it right that this job got a place, or did not and heard how many came after it ("": it is in
 * no line)? Who is in no line comes last; who never waits in one asks only what is free. */
static void judge_place(int who, bool given, const char *told)
{
    bool had = at.kind == PERMIT && at.line->holds[who];
    int since = who < 0 ? 1 : at.line->since[who] ? at.line->since[who] : LINE_DUE;
    int before = waiting(since, false), called = waiting(since, true);
    const char *behind = who >= 0 && at.line->since[who] ? text("%d", waiting(-since, false)) : "";

    if (had || at.free > before + called)
        ck_assert_msg(given, "j%d does not get %s", who, at.name);
    else if (at.free <= before)
        ck_assert_msg(!given, "j%d gets %s before its turn", who, at.name);
    if (given)
        have_place(who, had);
    else
        ck_assert_str_eq(told, behind);
}

static void take_permit(int who)
{
    const char *waiter = waiter_of(who);
    const char *answer = flat(run("permit_take", waiter, at.max, "1000000", waiter, NULL));
    const char *space = strchr(answer, ' ');

    judge_place(who, !*answer, space ? space + 1 : "");
}

/* Some ask in one call; they are answered as if one had asked after the other. */
static void take_limit(const int *who, int count)
{
    const redisReply *reply;
    bool some = false;

    arg(at.max);
    arg("1000000");
    arg(at.kind == FIXED ? "fixed" : "sliding");
    for (int i = 0; i + 1 < count; i++)
        arg(waiter_of(who[i]));
    reply = run("limit_take", waiter_of(who[count - 1]), NULL);
    ck_assert_uint_eq(reply->elements, 2 + (size_t)count);
    for (int i = 0; i < count; i++) {
        const redisReply *one = reply->element[2 + i];
        bool given = one->type == REDIS_REPLY_STRING;

        judge_place(who[i], given, given || one->integer < 0 ? "" : text("%lld", one->integer));
        if (given && at.kind == SLIDING)
            strcpy(at.line->begins, one->str);
        some = some || given;
    }
    if (some)
        ck_assert_int_eq(reply->element[0]->integer, waiting(LINE_DUE, false));
    ck_assert_int_eq(atof(reply->element[1]->str) == 0, at.free > 0);
}

void step_take(void)
{
    int who[CROWD], first = random_below(IDS),
                    count = random_below(2) ? 1 : 1 + random_below(CROWD);

    any_line();
    for (int i = 0; i < count; i++)
        who[i] = (first + i) % IDS;
    if (at.kind == PERMIT) {
        take_permit(first);
    } else {
        if (random_below(4) == 0)
            who[random_below(count)] = -1; /* who never waits in a line */
        take_limit(who, count);
    }
    compare_line();
}

/* Jobs end; a window passes; a job that was counted begins. */
void step_give_back(void)
{
    int who = random_below(IDS);

    any_line();
    if (at.kind == PERMIT) {
        ck_assert_int_eq(run("permit_free", waiter_of(who), NULL)->integer, at.line->holds[who]);
        at.line->taken -= at.line->holds[who];
        at.line->holds[who] = false;
    } else if (*at.line->begins && random_below(2)) {
        ck_assert_int_eq(run("limit_begun", at.max, "1000000", at.line->begins, NULL)->integer, 1);
        *at.line->begins = '\0';
    } else {
        ask("DEL %s", key_of(""));
        at.line->taken = 0;
        *at.line->begins = '\0';
    }
    compare_line();
}

/* Those that were ready first are called, so many as there is room for: not fewer if no other was
 * called, and at most one more for each that has not come. */
static void call_first(const redisReply *reply, int called)
{
    int count = 0, left = waiting(LINE_DUE, false);
    int least = called > 0 || at.free < 0 ? 0 : at.free < left ? at.free : left;

    for (size_t i = 2; i + 2 < reply->elements; i += 3) {
        int who = atoi(reply->element[i]->str + strlen("q j"));

        ck_assert_int_eq(atoi(reply->element[i + 2]->str), at.line->since[who]);
        if (at.line->called[who])
            continue; /* once more */
        ck_assert_int_eq(waiting(at.line->since[who], false), 0);
        at.line->called[who] = true;
        count++;
    }
    ck_assert_int_ge(count, least);
    ck_assert_int_le(count, at.free > 0 ? at.free + called : 0);
}

/* A job enters the line, or only looks who comes next, or does not come. */
void step_line(void)
{
    int who = random_below(4) ? random_below(IDS) : -1, called, left;
    bool comes = who >= 0 && random_below(4) > 0;
    const redisReply *reply;

    any_line();
    arg(at.max);
    if (at.kind != PERMIT) {
        arg("1000000");
        arg(at.kind == FIXED ? "fixed" : "sliding");
    }
    last_since++;
    if (comes) {
        at.line->since[who] = at.line->since[who] ? at.line->since[who] : last_since;
        at.line->called[who] = false;
    } else if (who >= 0 && at.line->called[who]) {
        at.line->since[who] = 0;
        at.line->called[who] = false;
    }
    called = waiting(LINE_DUE, true);
    reply = run(at.kind == PERMIT ? "permit_line" : "limit_line", comes ? "4000000000" : "",
                text("%d", last_since), waiter_of(who), NULL);
    call_first(reply, called);
    left = waiting(LINE_DUE, false);
    if (left > 0 || in_line() == 0)
        ck_assert_int_eq(reply->element[0]->integer, left);
    compare_line();
}

void lines_begin(void)
{
    memset(lines, 0, sizeof lines);
    last_since = 0;
}
