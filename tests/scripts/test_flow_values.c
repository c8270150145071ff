/* test_flow_values.c: what a step of a flow leaves, and who gets it. */
#include "flow.h"

#include <string.h>

/* Done, with a value. */
static void gives(const char *id, const char *value)
{
    run("finish", member(begin(id), id), "done", value, "0", NULL);
}

/* What a job gets, of at most so many bytes: `nil` for what did not fit. */
static const char *gets(const char *id, const char *most)
{
    return flat(run("values", "f", id, most, NULL));
}

TEST(values_go_along)
{
    flow("1");
    job("c", "a,b,x", "ended");
    job("b", "a", "done");
    job("a", "", "done");
    job("x", "", "done");
    job("d", "", "done");
    pushed();
    ck_assert_str_eq(noted("v", "c"), "f");
    ck_assert_str_eq(noted("s", "a"), "1");
    gives("a", "{\"n\": [1]}");
    ck_assert_str_eq(gets("b", "1048576"), " a {\"n\": [1]}");
    fails("x");
    gives("d", "4"); /* nobody waits for it */
    done("b");
    ck_assert_str_eq(gets("c", "1048576"), " a {\"n\": [1]} b  x ");
    ck_assert_int_eq(size_of("flow:f:values"), 1);
    ck_assert_str_eq(gets("a", "1048576"), "");
    ck_assert_str_eq(gets("none", "1048576"), "");
    check_sums();
}

TEST(values_of_many_go_along)
{
    flow("1");
    job("c", "a,b,x", "ended");
    job("a", "", "done");
    job("b", "", "done");
    job("x", "", "done");
    job("d", "", "done");
    pushed();
    reserve('t', 500);
    run("ack", mine("x"), NULL);
    run("finish_all", "0", "0", mine("a"), "[1]", "0", "", mine("b"), "null", "0", "", mine("d"),
        "4", "0", "", mine("x"), "5", "0", "", NULL);
    ck_assert_str_eq(gets("c", "1048576"), " a [1] b  x ");
    ck_assert_int_eq(size_of("flow:f:values"), 1);
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "c");
    check_sums();
}

/* It is the same in its second attempt. */
TEST(values_outlive_an_attempt)
{
    char token;

    push_pair();
    gives("a", "7");
    token = begin("b");
    ck_assert_str_eq(gets("b", "100"), " a 7");
    run("release", member(token, "b"), "0", "ran", FLOW_ERROR, NULL);
    ck_assert_str_eq(noted("v", "b"), "f");
    ck_assert_str_eq(gets("b", "100"), " a 7");
    gives("b", "8");
    ask("ZADD %s 1 f", key("flows")); /* its time is over */
    flow("0");
    job("a", "", "done");
    pushed();
    ck_assert_int_eq(ask("EXISTS %s", key("flow:f:values"))->integer, 0);
}

TEST(values_have_room)
{
    const char *big =
        text("\"%.*s\"", 60, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");

    flow("1");
    job("d", "a,b,c", "done");
    job("a", "", "done");
    job("b", "", "done");
    job("c", "", "done");
    pushed();
    gives("a", big);
    gives("b", big);
    gives("c", "1");
    ck_assert_str_eq(gets("d", "63"), text(" a %s b nil c 1", big));
    ck_assert_str_eq(gets("d", "0"), " a nil b nil c nil");
    ck_assert_ptr_nonnull(strstr(run_error("values", "f", "d", "1048577", NULL), "ERR values"));
}

/* A flow that is open may get one that waits for it. */
TEST(values_for_those_who_come_later)
{
    flow("0");
    job("a", "", "done");
    pushed();
    gives("a", "5");
    flow("1");
    job("b", "a", "done");
    ck_assert_str_eq(pushed(), "WAITING");
    ck_assert_str_eq(gets("b", "100"), " a 5");
}

TEST(lost_gives_nothing)
{
    char token;

    push_pair();
    token = begin("a");
    run("return", member(token, "a"), "0", "held", NULL);
    ck_assert_str_eq(flat(run("finish", member(token, "a"), "done", "5", "0", NULL)), "1");
    ck_assert_int_eq(ask("EXISTS %s", key("flow:f:values"))->integer, 0);
    gives("a", "6");
    ck_assert_str_eq(gets("b", "100"), " a 6");
}

/* `*` gets counts, and who failed: first those who failed first. */
TEST(all_get_the_counts)
{
    flow("1");
    job("end", "*", "ended");
    job("a", "", "done");
    job("b", "", "done");
    job("c", "", "done");
    job("d", "", "done");
    pushed();
    fails("a");
    fails("b");
    run("cancel", "d", NULL);
    ck_assert_str_eq(gets("end", "1048576"),
                     "{\"name\":\"f\",\"total\":4,\"open\":1,\"waiting\":0,\"done\":0,\"dead\":2,"
                     "\"gone\":1,\"skipped\":0,\"failed\":[\"a\",\"b\",\"d\"]}");
    run("kick", "a", NULL);
    run("cancel", "b", NULL); /* dead before, and gone now */
    ck_assert_str_eq(members("flow:f:failed"), "b d");
    ck_assert_str_eq(gets("end", "64"),
                     "{\"name\":\"f\",\"total\":4,\"open\":2,\"waiting\":0,\"done\":0,\"dead\":0,"
                     "\"gone\":2,\"skipped\":0,\"failed\":[\"b\"]}");
    check_sums();
}

/* What others have put there hinders no job. */
TEST(values_of_another_type)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    job("x", "", "done");
    pushed();
    ask("SET %s 1", key("flow:f:values"));
    ask("SET %s 1", key("flow:f:failed"));
    gives("a", "5");
    fails("x");
    done("b");
    check_sums();
}

/* A later job of its id is of the flow if the one before did not end well; then it gets the same.
 */
TEST(values_of_one_that_is_replaced)
{
    push_pair();
    gives("a", "5");
    run("migrate", "500", NULL);
    ck_assert_str_eq(flat(run("push", "0", "replace", "b", "", "3", "{\"n\":1}", NULL)),
                     "REPLACED");
    ck_assert_str_eq(noted("v", "b"), "f");
    ck_assert_str_eq(noted("p", "b"), "3");
    ck_assert_str_eq(gets("b", "100"), " a 5");
    done("b");
    ck_assert_int_eq(size_of("records"), 0);
}
