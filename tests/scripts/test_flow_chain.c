/*
 * test_flow_chain.c: scripts that end one job have a short way for chains. Three queues get the
 * same jobs: one never goes that way (ack, finish_all), the others do (step, finish). After each
 * job all that they hold is the same.
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#define STEPS  24
#define ROUNDS 24

static const char *const queues[] = { "q", "r", "s" };
#define QUEUES (sizeof queues / sizeof *queues)

/* ---- random flows */

static unsigned state;

static int random_below(int limit)
{
    state = state * 1103515245 + 12345;
    return (int)(state / 65536 % (unsigned)limit);
}

/* Names of one or two earlier steps, the last one mostly; "" now and then. */
static const char *some_after(int i)
{
    if (i == 0 || random_below(10) == 0)
        return "";
    if (random_below(4) == 0)
        return text("s%d,s%d", i - 1, random_below(i));
    return text("s%d", random_below(3) ? i - 1 : random_below(i));
}

/* A random flow, and a second one that wants some of its jobs, too. Every other flow comes to its
 * end. */
static bool goes_well;

static void push_some(int seed)
{
    static const char *const when[] = { "done", "done", "done", "done", "ended", "failed" };

    state = (unsigned)seed;
    goes_well = seed % 2;
    flow("1");
    for (int i = STEPS - 1; i >= 0; i--) {
        arg(text("j%d", i));
        arg(text("s%d", i));
        arg(some_after(i));
        arg(when[random_below(goes_well ? 5 : 6)]);
        arg(goes_well || random_below(12) ? "" : "+1000");
        arg(text("%d", random_below(3) - 1));
        arg("{}");
    }
    for (int i = 0; i < 3; i++)
        job_as(text("plain%d", i), "", "", "", "0");
    job_as("all", "", "*", "", "0");
    run("flow_push", NULL);
    if (seed % 3)
        return;
    flow_by("g", "", "1");
    for (int i = 2; i < 20; i += 3)
        job_as(text("j%d", i), text("x%d", i), "", "", "0");
    job_as("then", "y", "x2,x11", "", "0");
    run("flow_push", NULL);
}

/* ---- what a queue holds */

/* The fields of a hash or the members of a set, without times. */
#define HELD                                                                                       \
    "local kind = redis.call('TYPE', KEYS[1]).ok "                                                 \
    "if kind == 'zset' then return table.concat(redis.call('ZRANGE', KEYS[1], 0, -1), ' ') end "   \
    "if kind ~= 'hash' then return kind end "                                                      \
    "local all, list = redis.call('HGETALL', KEYS[1]), {} "                                        \
    "for i = 1, #all, 2 do if all[i] ~= 'made' then "                                              \
    "list[#list + 1] = all[i] .. '=' .. string.gsub(all[i + 1], '\"at\":[%d.]+', '') end end "     \
    "table.sort(list) return table.concat(list, '\\n')"

static const char *held_in(const char *queue)
{
    static const char *const names[] = {
        "ready",   "delayed", "waiting", "dead",  "jobs",
        "records", "flow:f",  "flow:g",  "stats", "flow:f:values"
    };
    const char *all = "";

    on_queue(queue);
    check_sums();
    check_wake();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        all = text("%s\n%s: %s", all, names[i], ask("EVAL %s 1 %s", HELD, key(names[i]))->str);
    return all;
}

static void all_hold_the_same(void)
{
    const char *first = held_in(queues[0]);

    for (size_t i = 1; i < QUEUES; i++)
        ck_assert_str_eq(held_in(queues[i]), first);
}

/* ---- performing */

static char token = 'a', next = 'b';

/* The id of the first job of an answer, "" if there is none. */
static const char *first_of(const redisReply *reply)
{
    return reply->elements > 1 ? told(reply, 0, ID) : "";
}

static int given; /* jobs that came with what they get */

/* What a step says that its job gets is what values says. */
static const char *stepped(const redisReply *reply)
{
    const char *id = first_of(reply);

    if (reply->elements % 3 == 2) {
        const char *what = flat(reply->element[reply->elements - 1]);

        ck_assert_str_eq(flat(run("values", "f", id, "1000", NULL)), what);
        given++;
    }
    return id;
}

static const char *value; /* of the job that is done; "" = none */

/* The job is done; returns the next one, which is held under `next`. */
static const char *done_in(const char *queue, const char *id)
{
    on_queue(queue);
    if (*queue == 'r')
        return stepped(run("step", text("%.16s", member(next, "")), "30", "1", "262144",
                           *value ? "0" : "", value, member(token, id), NULL));
    if (*queue == 's')
        ck_assert_str_eq(
            flat(run("finish", member(token, id), "done", *value ? value : "null", "0", NULL)), "");
    else if (*value)
        ck_assert_str_eq(flat(run("finish_all", "0", "0", member(token, id), value, "0", "", NULL)),
                         "");
    else
        ck_assert_str_eq(flat(run("ack", member(token, id), NULL)), "");
    return first_of(reserve(next, 1));
}

static const char *fails_in(const char *queue, const char *id)
{
    on_queue(queue);
    run("bury", member(token, id), "ran", FLOW_ERROR, NULL);
    return first_of(reserve(next, 1));
}

/* Ends the job that all of them hold; a few are dead. Returns the next one. */
static const char *end_one(const char *id)
{
    const char *(*end)(const char *queue, const char *id) =
        goes_well || random_below(12) ? done_in : fails_in;
    const char *then;

    value = random_below(2) ? text("{\"of\":\"%s\"}", id) : random_below(2) ? "null" : "";
    then = end(queues[0], id);

    for (size_t i = 1; i < QUEUES; i++)
        ck_assert_str_eq(end(queues[i], id), then);
    token = next;
    next = next < 'z' ? (char)(next + 1) : 'a';
    return then;
}

static const char *begin_all(void)
{
    const char *id = NULL;

    for (size_t i = 0; i < QUEUES; i++) {
        on_queue(queues[i]);
        id = first_of(reserve(token, 1));
    }
    return id;
}

TEST(every_way_leaves_the_same)
{
    int ended = 0;

    for (int seed = 1; seed <= ROUNDS; seed++) {
        char id[32];

        ask("FLUSHALL");
        for (size_t i = 0; i < QUEUES; i++) {
            on_queue(queues[i]);
            push_some(seed);
        }
        snprintf(id, sizeof id, "%s", begin_all());
        for (; *id; ended++) {
            snprintf(id, sizeof id, "%s", end_one(id));
            all_hold_the_same();
            harness_free();
        }
    }
    ck_assert_int_gt(ended, 10 * ROUNDS);
    ck_assert_int_gt(given, ROUNDS);
}

/* ---- a value goes along the short way, too */

TEST(a_value_is_handed_on)
{
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    run("finish", member(begin("a"), "a"), "done", "[1]", "60", NULL);
    ck_assert_str_eq(flat(run("values", "f", "b", "100", NULL)), " a [1]");
    ck_assert_str_eq(members("ready"), "b");
    check_wake();
    check_sums();
    run("finish", member(begin("b"), "b"), "done", "null", "60", NULL);
    ck_assert_str_eq(flat(run("values", "f", "c", "100", NULL)), " b ");
    done("c");
    ck_assert_int_eq(count_of_flow("done"), 3);
    ck_assert_int_eq(size_of("flow:f:values"), 1);
    check_sums();
}

/* ---- all is looked at before the first write */

TEST(an_end_that_cannot_be_told_is_none)
{
    static const char *const wrong[] = { "ready", "fair", "waiting", "flow:f" };
    char of = 0;

    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    of = begin("a");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t before;

        ask_error("RENAME %s %s", key(wrong[i]), key("aside"));
        ask("SET %s 1", key(wrong[i]));
        before = digest();
        ck_assert_mem_eq(run_error("step", "ssssssssssssssss", "30", "1", "262144", "", "",
                                   member(of, "a"), NULL),
                         "WRONGTYPE", 9);
        ck_assert_mem_eq(run_error("finish", member(of, "a"), "done", "1", "0", NULL), "WRONGTYPE",
                         9);
        ck_assert_uint_eq(digest(), before);
        ask("DEL %s", key(wrong[i]));
        ask_error("RENAME %s %s", key("aside"), key(wrong[i]));
    }
    run("step", "ssssssssssssssss", "30", "1", "262144", "", "", member(of, "a"), NULL);
    ck_assert_int_eq(stat_of("reserved"), 2);
    check_sums();
}

/* Where places go by groups, migrate gives them. */
TEST(a_group_gets_its_place)
{
    const char *of;

    flow("1");
    job_as("b", "b", "a", "", "0@B");
    job("a", "", "done");
    pushed();
    of = member(begin("a"), "a");
    ck_assert_uint_eq(
        run("step", "ssssssssssssssss", "30", "1", "262144", "", "", of, NULL)->elements, 1);
    ck_assert_str_eq(members("delayed"), "b");
    done("b");
    check_sums();
}

/* A queue that is paused hands out nothing. */
TEST(a_paused_queue_keeps_it)
{
    char of;

    push_pair();
    of = begin("a");
    run("pause", NULL);
    ck_assert_uint_eq(
        run("step", "ssssssssssssssss", "30", "1", "262144", "", "", member(of, "a"), NULL)
            ->elements,
        1);
    ck_assert_str_eq(members("ready"), "b");
    check_wake();
    check_sums();
    run("resume", NULL);
    done("b");
}
