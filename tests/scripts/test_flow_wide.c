/* test_flow_wide.c: a flow of the queue `q` whose jobs lie in the queue `r`: flow_join, flow_park,
 * and news that is heard late, twice, or by movers that die. Each call is made twice: the second
 * changes nothing.
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

/* ---- calls, each twice */

static const char *twice(const char *script, const char *const *args)
{
    const char *first = NULL;

    for (int i = 0; i < 2; i++) {
        const char *answer;

        for (const char *const *at = args; *at; at++)
            arg(*at);
        answer = flat(run(script, NULL));
        first = first ? first : answer;
    }
    return first;
}
#define TWICE(script, ...) twice(script, (const char *const[]){ __VA_ARGS__, NULL })

/* Announces a job to flow f; its id is that of its step. Returns its number. */
static const char *join(const char *step, const char *after, const char *when)
{
    const char *told;

    on_queue("q");
    told = TWICE("flow_join", "f", "", "0", "60", step, step, after, when, "", "r");
    ck_assert_mem_eq(told, "PARK ", 5);
    return told + 5;
}

static const char *park(const char *id, const char *number)
{
    on_queue("r");
    return TWICE("flow_park", "new/0", "f", "q", id, number, "0", "{\"type\":\"t\"}");
}

static void close_flow(void)
{
    on_queue("q");
    TWICE("flow_push", "f", "", "1", "60");
}

/* ---- movers */

/* What a mover has read of a queue's news. */
struct load {
    const char *from, *to;
    const redisReply *news;
};

static struct load look_at_news(const char *from)
{
    on_queue(from);
    return (struct load){ from, *from == 'q' ? "r" : "q", ask("ZRANGE %s 0 499", key("news")) };
}

static void hear(struct load load)
{
    on_queue(load.to);
    arg(load.from);
    for (size_t i = 0; i < load.news->elements; i++)
        arg(load.news->element[i]->str);
    if (load.news->elements > 0)
        ck_assert_int_eq(run("flow_hear", NULL)->integer, (long long)load.news->elements);
    else
        arg("none"), run("flow_hear", NULL);
}

static void drop_news(struct load load)
{
    on_queue(load.from);
    for (size_t i = 0; i < load.news->elements; i++)
        ask("ZREM %s %s", key("news"), load.news->element[i]->str);
}

/* Movers take all news to and fro, each twice, until there is none. */
static void move(void)
{
    for (int i = 0; i < 20; i++) {
        struct load up = look_at_news("r"), down;

        hear(up);
        hear(up);
        drop_news(up);
        down = look_at_news("q");
        hear(down);
        hear(down);
        drop_news(down);
        if (up.news->elements + down.news->elements == 0)
            return;
    }
    ck_abort_msg("the news does not come to an end");
}

/* ---- both queues */

static void nothing_is_left(void)
{
    for (const char *const *queue = (const char *const[]){ "q", "r", NULL }; *queue; queue++) {
        on_queue(*queue);
        ck_assert_int_eq(size_of("news"), 0);
        ck_assert_int_eq(size_of("waiting"), 0);
        check_sums();
    }
    ck_assert_int_eq(count_of_flow("open") + count_of_flow("waiting"), 0);
}

/* b waits for a. */
static void two(const char *when)
{
    park("b", join("b", "a", when));
    park("a", join("a", "", "done"));
    close_flow();
}

/* ---- tests */

AT_START(flow_lies_in("r"));

TEST(one_after_the_other)
{
    two("done");
    on_queue("r");
    ck_assert_str_eq(members("waiting"), "b a");
    check_sums();
    move();
    on_queue("r");
    ck_assert_str_eq(members("waiting"), "b");
    ck_assert_str_eq(members("ready"), "a");
    done("a");
    move();
    done("b");
    move();
    ck_assert_int_eq(count_of_flow("done"), 2);
    nothing_is_left();
    on_queue("r");
    ck_assert_int_eq(size_of("records"), 0);
    ck_assert_int_eq(stat_of("pushed"), 2);
}

/* What a step has left is there for who waits for it, wherever either lies. */
static void leaves(const char *id, const char *value)
{
    on_queue("r");
    ck_assert_str_eq(flat(run("finish", member('l', id), "done", value, "0", NULL)), "");
}

static const char *values_of(const char *id)
{
    on_queue("q");
    return flat(run("values", "f", id, "1048576", NULL));
}

TEST(values_go_along)
{
    struct load left;

    park("b", join("b", "a,c", "done"));
    park("a", join("a", "", "done"));
    park("c", join("c", "", "done"));
    park("alone", join("alone", "", "done"));
    close_flow();
    move();
    on_queue("r");
    run("migrate", "500", NULL);
    reserve('l', 3);
    leaves("alone", "[]");
    leaves("a", "{\"n\":[1,\"=\\n\"]}");
    left = look_at_news("r");
    move();
    leaves("c", "7");
    hear(left); /* late */
    move();
    on_queue("r");
    ck_assert_str_eq(noted("v", "b"), "f@q");
    ck_assert_str_eq(noted("s", "b"), "1");
    ck_assert_str_eq(values_of("b"), " a {\"n\":[1,\"=\\n\"]} c 7");
    on_queue("q");
    ck_assert_int_eq(size_of("flow:f:values"), 2); /* nobody waits for the other's */
    done("b");
    move();
    nothing_is_left();
}

/* Zero bytes are no JSON, but somebody may leave them. Movers could not take them. */
TEST(a_value_that_is_no_text)
{
    two("done");
    move();
    arg(member(begin("a"), "a"));
    arg("done");
    arg_bytes("\"a\0\"", 4);
    ck_assert_str_eq(flat(run("finish", "0", NULL)), "");
    move();
    ck_assert_str_eq(values_of("b"), " a ");
    done("b");
    move();
    nothing_is_left();
}

TEST(all_of_both_queues)
{
    park("over", join("over", "*", "done"));
    on_queue("q");
    TWICE("flow_push", "f", "", "0", "60", "here", "here", "", "done", "", "0", "{}");
    park("there", join("there", "", "done"));
    close_flow();
    move();
    done("there");
    move();
    on_queue("r");
    ck_assert_str_eq(members("waiting"), "over");
    on_queue("q");
    reserve('h', 1);
    run("ack", member('h', "here"), NULL);
    move();
    done("over");
    move();
    nothing_is_left();
}

TEST(pushed_again_adds_what_is_missing)
{
    const char *number = join("b", "a", "done");

    ck_assert_str_eq(number, join("b", "a", "done")); /* the same until it is parked */
    ck_assert_str_eq(park("b", number), "WAITING");
    ck_assert_str_eq(park("b", number), "EXISTS waiting");
    move();
    on_queue("q");
    ck_assert_str_eq(TWICE("flow_join", "f", "", "0", "60", "b", "b", "a", "done", "", "r"),
                     "EXISTS waiting");
    ck_assert_int_eq(count_of_flow("*total") + count_of_flow("total"), 1);
}

/* A pusher that stood still between its two steps, until all was over. */
TEST(a_late_pusher)
{
    const char *number = join("a", "", "done");
    struct load order;

    park("a", number);
    close_flow();
    hear(look_at_news("r"));
    order = look_at_news("q"); /* run a */
    move();
    done("a");
    move();
    ck_assert_str_eq(park("a", number), "WAITING");
    hear(order); /* a mover that is late, too: it was for the one before */
    on_queue("r");
    ck_assert_str_eq(members("waiting"), "a");
    move();
    on_queue("r");
    ck_assert_int_eq(stat_of("cancelled"), 1);
    ck_assert_int_eq(stat_of("done"), 1);
    ck_assert_int_eq(count_of_flow("done"), 1);
    nothing_is_left();
}

TEST(dead_blocks_and_kick_goes_on)
{
    struct load dead;

    two("done");
    move();
    fails("a");
    dead = look_at_news("r");
    move();
    ck_assert_int_eq(count_of_flow("dead"), 1);
    on_queue("r");
    ck_assert_str_eq(members("waiting"), "b");
    ck_assert_str_eq(flat(run("kick", "a", NULL)), "dead");
    move();
    ck_assert_int_eq(count_of_flow("dead"), 0);
    hear(dead); /* late: it lives */
    ck_assert_int_eq(count_of_flow("dead"), 0);
    done("a");
    move();
    hear(dead);
    done("b");
    move();
    nothing_is_left();
}

TEST(gone_is_final_and_spreads)
{
    park("alarm", join("alarm", "b", "failed"));
    two("done");
    move();
    on_queue("r");
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "ready");
    move();
    on_queue("r");
    ck_assert_str_eq(members("dead"), "b");
    ck_assert_ptr_nonnull(
        strstr(noted("e", "b"),
               "needs step a of flow f, which was cancelled, purged, expired or trimmed"));
    check_sums();
    done("alarm");
    move();
    on_queue("r");
    ck_assert_str_eq(flat(run("kick", "b", NULL)), "dead"); /* all the same */
    done("b");
    move();
    ck_assert_int_eq(count_of_flow("done"), 2);
    ck_assert_int_eq(count_of_flow("gone"), 1);
    nothing_is_left();
}

TEST(a_failure_that_did_not_come)
{
    two("failed");
    move();
    done("a");
    move();
    ck_assert_int_eq(count_of_flow("skipped"), 1);
    on_queue("r");
    ck_assert_int_eq(stat_of("cancelled"), 1);
    ck_assert_int_eq(size_of("jobs"), 0);
    nothing_is_left();
}

TEST(kick_runs_one_that_waits)
{
    two("done");
    move();
    on_queue("r");
    ck_assert_str_eq(flat(run("kick", "b", NULL)), "waiting");
    done("a");
    done("b");
    move();
    ck_assert_int_eq(count_of_flow("done"), 2);
    nothing_is_left();
}

TEST(one_that_was_there)
{
    on_queue("r");
    push("a");
    two("done");
    on_queue("r");
    ck_assert_str_eq(members("ready"), "a");
    move();
    ck_assert_int_eq(count_of_flow("open"), 1);
    done("a");
    move();
    done("b");
    move();
    nothing_is_left();
}

/* It has gone before the flow heard that it was there. */
TEST(cancelled_before_it_was_heard_of)
{
    park("a", join("a", "", "done"));
    on_queue("r");
    run("cancel", "a", NULL);
    close_flow();
    move();
    ck_assert_int_eq(count_of_flow("gone"), 1);
    nothing_is_left();
}

/* A job of r that waits belongs to another flow: it stays as it is, and both hear of its end. */
TEST(wanted_by_two_flows)
{
    two("done");
    move();
    on_queue("q");
    arg("g"), arg(""), arg("1"), arg("60");
    arg("b"), arg(""), arg(""), arg("done"), arg(""), arg("r");
    ck_assert_mem_eq(flat(run("flow_join", NULL)), "PARK ", 5);
    on_queue("r");
    ck_assert_str_eq(TWICE("flow_park", "new/0", "g", "q", "b", "7", "0", "{}"), "EXISTS waiting");
    move();
    on_queue("r");
    ck_assert_str_eq(members("waiting"), "b");
    on_queue("q");
    ask("HSET %s j:b %s", key("flow:g"), text("w - done - - r:-7")); /* as if it had asked with 7 */
    on_queue("r");
    TWICE("flow_park", "new/0", "g", "q", "b", "7", "0", "{}");
    move();
    on_queue("r");
    run("cancel", "a", NULL);
    move();
    on_queue("r");
    ck_assert_str_eq(members("dead"), "b");
    on_queue("q");
    ck_assert_int_eq(atoll(field("flow:g", "dead")), 1);
    on_queue("r");
    run("cancel", "b", NULL);
    move();
    on_queue("q");
    ck_assert_int_eq(atoll(field("flow:g", "gone")), 1);
    nothing_is_left();
}

/* Redis has lost the job: the flow looks for it. */
TEST(lost_jobs_are_missed)
{
    two("done");
    move();
    on_queue("r");
    ask("DEL %s %s %s %s", key("jobs"), key("records"), key("waiting"), key("delayed"));
    on_queue("q");
    ck_assert_str_eq(flat(run("flow_seek", NULL)), ""); /* not yet its turn */
    ask("ZADD %s 1 f", key("away"));
    ck_assert_int_eq(run("migrate", "500", NULL)->element[5]->integer, 3);
    ck_assert_str_eq(flat(run("flow_seek", NULL)), "2");
    move();
    ck_assert_int_eq(count_of_flow("gone"), 2);
    ck_assert_mem_eq(field("flow:f", "j:a"), "l ", 2);
    on_queue("q");
    ask("ZADD %s 1 f", key("away"));
    ck_assert_str_eq(flat(run("flow_seek", NULL)), "0");
    ck_assert_int_eq(size_of("away"), 0); /* it has ended */
}

/* What is there, and as the flow thinks, answers nothing; an announced one is left alone for a
 * while. */
TEST(jobs_that_are_there_are_not_missed)
{
    join("c", "", "done");
    two("done");
    move();
    on_queue("q");
    ask("ZADD %s 1 f", key("away"));
    ck_assert_str_eq(flat(run("flow_seek", NULL)), "2");
    move();
    ck_assert_int_eq(count_of_flow("gone"), 0);
    on_queue("q");
    ask("HSET %s asked 1", key("flow:f"));
    ask("ZADD %s 1 f", key("away"));
    ck_assert_str_eq(flat(run("flow_seek", NULL)), "3");
    move();
    ck_assert_int_eq(count_of_flow("gone"), 1);
}

/* Redis has lost what the flow had heard and decided. */
TEST(a_flow_that_went_back)
{
    const char *before;

    two("done");
    move();
    on_queue("q");
    before = field("flow:f", "j:a"); /* open */
    done("a");
    move();
    on_queue("q");
    ask("HSET %s j:b %s waiting 1", key("flow:f"), "w b done - a r:1");
    ask("HSET %s j:a %s", key("flow:f"), before);
    ck_assert_mem_eq(before, "o ", 2);
    ask("ZADD %s 1 f", key("away"));
    run("flow_seek", NULL);
    move();
    on_queue("q");
    ck_assert_mem_eq(field("flow:f", "j:a"), "l ",
                     2); /* it is nowhere, and nobody knows how it ended */
}

TEST(migrate_says_that_there_is_news)
{
    on_queue("r");
    ck_assert_int_eq(run("migrate", "500", NULL)->element[5]->integer, 0);
    park("a", join("a", "", "done"));
    on_queue("r");
    ck_assert_int_eq(run("migrate", "500", NULL)->element[5]->integer, 2);
    ck_assert_int_eq(run("forget", NULL)->integer, 1);
    run("cancel", "a", NULL);
    ck_assert_int_eq(run("forget", NULL)->integer, -3); /* parked, twice; gone */
    move();
    on_queue("r");
    ck_assert_int_eq(run("migrate", "500", NULL)->element[5]->integer, 0);
    ck_assert_int_eq(run("forget", NULL)->integer, 0);
}

/* A step of a shard is looked for under former counts first. */
TEST(seek_only_ties_what_is_there)
{
    on_queue("r");
    push("a");
    ck_assert_str_eq(
        TWICE("flow_park", "seek/0", "f", "q", "a", "1", "0", "{}", "b", "2", "0", "{}"),
        "EXISTS ready ABSENT");
    ck_assert_int_eq(size_of("jobs"), 1);
    ask("SET %s 9", key("shards"));
    ck_assert_mem_eq(run_error("flow_park", "seek/3", "f", "q", "a", "1", "0", "{}", NULL),
                     "RESHARD 9", 9);
}

TEST(what_cannot_be)
{
    on_queue("q");
    ck_assert_ptr_nonnull(
        strstr(run_error("flow_join", "f", "", "0", "60", "a", "a", "", "done", "", "r/x", NULL),
               "a queue is 1 to 64"));
    ck_assert_ptr_nonnull(
        strstr(run_error("flow_join", "f", "", "0", "60", "a", "a b", "", "done", "", "r", NULL),
               "a step is"));
    on_queue("r");
    ck_assert_ptr_nonnull(
        strstr(run_error("flow_park", "old", "f", "q", "a", "1", "0", "{}", NULL), "mode is"));
    ck_assert_ptr_nonnull(
        strstr(run_error("flow_park", "new", "f", "q", "a", "x", "0", "{}", NULL), "a number is"));
    ck_assert_int_eq(
        run("flow_hear", "q", "junk", "1 what q f a 1", "2 d q nowhere a 1", NULL)->integer, 1);
    ck_assert_int_eq(size_of("stats"), 0);
}

/* ---- hooks: a job of `r` has ended, and one of `q` tells of it */

static void ends_hooked(const char *id, const char *hook)
{
    on_queue("r");
    push(id);
    run("finish", member(begin(id), id), "done", "[1]", "0", "0", "0", "", hook,
        "\"type\":\"t\",\"queue\":\"r\"", NULL);
}

static void heard_hooks(int count)
{
    on_queue("q");
    ck_assert_int_eq(size_of("delayed"), count);
    ck_assert_int_eq(stat_of("pushed"), count);
    check_sums();
}

TEST(hook_of_another_queue)
{
    struct load load;

    ends_hooked("a", "h@q");
    ck_assert_int_eq(size_of("delayed"), 0);
    load = look_at_news("r");
    ck_assert_int_eq((int)load.news->elements, 1);
    hear(load);
    heard_hooks(1);
    ck_assert_str_eq(field("jobs", members("delayed")),
                     "{\"type\":\"h\",\"hook_of\":\"a\",\"payload\":{\"id\":\"a\",\"type\":\"t\","
                     "\"queue\":\"r\",\"ending\":\"done\",\"attempts\":1,\"error\":null,"
                     "\"value\":[1]}}");
    run("migrate", "10", NULL);
    run("cancel", members("ready"), NULL);
    hear(load); /* a mover that comes when all is over */
    on_queue("q");
    ck_assert_int_eq(stat_of("pushed"), 1);
    drop_news(load);
    nothing_is_left();
}

/* A mover stands still with what it has read; another one takes that, and what came later. */
TEST(hooks_of_a_late_mover)
{
    struct load late, load;

    ends_hooked("a", "h@q");
    late = look_at_news("r");
    ends_hooked("b", "h@q");
    load = look_at_news("r");
    hear(load);
    heard_hooks(2);
    hear(late);
    hear(load);
    heard_hooks(2);
    drop_news(load);
    ends_hooked("c", "h@q");
    load = look_at_news("r");
    hear(load);
    hear(late);
    heard_hooks(3);
    drop_news(load);
}

/* The name of its own queue is as none. */
TEST(hook_of_its_own_queue)
{
    ends_hooked("a", "h@r");
    ck_assert_int_eq(size_of("news"), 0);
    ck_assert_int_eq(size_of("delayed"), 1);
}

/* Any job may be put into another queue so, with its record, for a later time. */
TEST(a_job_is_put)
{
    on_queue("q");
    push("x");
    ask("SET later:{q}:result:y 1");
    ask("HSET %s results 9000000000", key("stats"));
    run("flow_hear", "r", "5 put q 4000000000.5 y 4 p=3\n{\"n\": 1}", "6 put q - x 0 {}",
        "7 put q - x 0 {}", "7 put q - x 0 {}", NULL);
    ck_assert_str_eq(members("delayed"), "x+1 x+2 y");
    ck_assert_double_eq(score("delayed", "y"), 4000000000.5);
    ck_assert_double_le(score("delayed", "x+1"), now());
    ck_assert_str_eq(field("jobs", "y"), "{\"n\": 1}");
    ck_assert_str_eq(field("records", "y"), "p=3\n");
    ck_assert_int_eq(ask("EXISTS later:{q}:result:y")->integer, 0);
    ck_assert_int_eq(stat_of("pushed"), 4);
    check_sums();
    run("flow_hear", "s", "5 put q - z 0 {}", NULL); /* each queue has its own numbers */
    run("flow_hear", "r", "6 put q - z 0 {}", NULL);
    ck_assert_str_eq(members("delayed"), "x+1 x+2 z y");
}

/* A time that nobody can keep stops no news half way: it is due now. */
TEST(a_job_is_put_with_an_odd_time)
{
    on_queue("q");
    run("flow_hear", "r", "1 put q nan a 0 {}", "2 put q xnan b 0 {}", "3 put q x c 0 {}",
        "4 put q x1e3 d 0 {}", "5 put q inf e 0 {}", NULL);
    ck_assert_str_eq(members("delayed"), "a b c e");
    ck_assert_double_le(score("delayed", "c"), now());
    ck_assert_str_eq(members("dead"), "d");
    ck_assert_double_eq(score("dead", "d"), 1000);
    ck_assert_str_eq(field("heard", "r"), "5");
    check_sums();
}
