/* test_flow_plan.c: which jobs of a flow wait for which; circles, and what is too many. */
#include "job/flow_plan.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct later_flow_plan *plan;
static struct later_flow_tie tie;
static struct later_error err;

/* Reads a document and adds it. */
static int add(const char *document, uint64_t line)
{
    if (later_flow_tie(&tie, document, strlen(document), &err) < 0)
        return -1;
    return later_flow_plan_add(plan, &tie, line, &err);
}

/* A job with this step, after this one; "" = none. */
static int add_step(const char *step, const char *after, uint64_t line)
{
    char document[200];
    int len = snprintf(document, sizeof document, "{\"type\":\"t\"");

    if (*step)
        len += sprintf(document + len, ",\"step\":\"%s\"", step);
    if (*after)
        len += sprintf(document + len, ",\"after\":[\"%s\"]", after);
    sprintf(document + len, "}");
    return add(document, line);
}

static void begin(void)
{
    plan = later_flow_plan_new();
    err = (struct later_error){ .text = "" };
}

static void end(void)
{
    later_flow_plan_free(plan);
}

CASE("plans", begin, end);

TEST(test_tie)
{
    static const char document[] = "{\"flow\":\"f\", \"when\" : \"ended\",\"type\":\"t\","
                                   "\"after\":[ \"a\",\n\"b-2\" , \"c\" ],\"step\":\"x.1\"}";

    ck_assert_int_eq(add(document, 1), 0);
    ck_assert_str_eq(tie.flow, "f");
    ck_assert_str_eq(tie.step, "x.1");
    ck_assert_str_eq(tie.after, "a,b-2,c");
    ck_assert_str_eq(tie.when, "ended");
    ck_assert_int_eq(add("{\"after\":[\"*\"]}", 2), 0);
    ck_assert_str_eq(tie.after, "*");
    ck_assert_str_eq(tie.when, "done");
    ck_assert_str_eq(tie.step, "");
    ck_assert_int_eq(add("{}", 3), 0);
    ck_assert_str_eq(tie.after, "");
}

static const char *const wrong[] = {
    "{\"after\":\"a\"}",
    "{\"after\":[]}",
    "{\"after\":[1]}",
    "{\"after\":[\"a\",\"*\"]}",
    "{\"after\":[\"\"]}",
    "{\"after\":[\"a\"",
    "{\"after\":[\"a\\u0062\"]}",
    "{\"step\":\"\"}",
    "{\"step\":5}",
    "{\"step\":\"a,b\"}",
    "{\"flow\":\"a/b\"}",
    "{\"when\":\"done\"}",
    "{\"after\":[\"a\"],\"when\":\"don\"}",
    "{\"after\":[\"a\"],\"when\":null}",
};

TEST_EACH(test_wrong, COUNT(wrong))
{
    ck_assert_msg(add(wrong[_i], 1) < 0, "%s", wrong[_i]);
    ck_assert_int_eq(err.code, LATER_E_DATA);
}

TEST(test_name_limits)
{
    char name[LATER_STEP_MAX + 2], document[LATER_AFTER_SIZE + 1000] = "{\"after\":[\"s\"";
    size_t len = strlen(document);

    memset(name, 'a', sizeof name);
    name[LATER_STEP_MAX] = '\0';
    ck_assert_int_eq(add_step(name, name, 1), 0);
    name[LATER_STEP_MAX] = 'a';
    name[LATER_STEP_MAX + 1] = '\0';
    ck_assert_int_lt(add_step(name, "", 2), 0);
    ck_assert_int_lt(add_step("", name, 3), 0);
    for (int i = 1; i < LATER_AFTER_MAX; i++)
        len += (size_t)sprintf(document + len, ",\"s%d\"", i);
    strcpy(document + len, "]}");
    ck_assert_int_eq(add(document, 4), 0);
    strcpy(document + len, ",\"more\"]}");
    ck_assert_int_lt(add(document, 5), 0);
}

TEST(test_circle)
{
    add_step("start", "", 1);
    add_step("a", "c", 2);
    add_step("b", "a", 3);
    add_step("c", "b", 4);
    add_step("outside", "c", 5);
    ck_assert_int_lt(later_flow_plan_check(plan, true, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "a (line 2) waits for c"));
    ck_assert_ptr_nonnull(strstr(err.text, "c (line 4) waits for b"));
    ck_assert_ptr_nonnull(strstr(err.text, "b (line 3) waits for a"));
    ck_assert_ptr_null(strstr(err.text, "outside"));
}

TEST(test_unknown)
{
    add_step("a", "later", 7);
    ck_assert_int_eq(later_flow_plan_check(plan, true, &err), 0);
    ck_assert_int_lt(later_flow_plan_check(plan, false, &err), 0);
    ck_assert_str_eq(err.text, "line 7: after: there is no step later");
}

TEST_EACH(test_waiters, 2)
{
    add_step("a", "", 1);
    for (uint64_t i = 0; i < LATER_WAITERS_MAX + (uint64_t)_i; i++)
        add_step("", "a", 2 + i);
    ck_assert_int_eq(later_flow_plan_check(plan, false, &err), _i == 0 ? 0 : -1);
    if (_i > 0)
        ck_assert_ptr_nonnull(strstr(err.text, "line 102: after: more than 100 jobs wait for"));
}

/* A chain of many, in the order in which a quadratic walk is slowest. */
TEST(test_long_chain)
{
    char step[16], after[16];

    for (int i = 100000; i > 0; i--) {
        snprintf(step, sizeof step, "s%d", i);
        snprintf(after, sizeof after, "s%d", i - 1);
        ck_assert_int_eq(add_step(step, after, (uint64_t)i), 0);
    }
    ck_assert_int_lt(later_flow_plan_check(plan, false, &err), 0);
    add_step("s0", "", 1);
    end();
    begin();
    for (int i = 100000; i >= 0; i--) {
        snprintf(step, sizeof step, "s%d", i);
        snprintf(after, sizeof after, "s%d", i - 1);
        add_step(step, i > 0 ? after : "", (uint64_t)i);
    }
    ck_assert_int_eq(later_flow_plan_check(plan, false, &err), 0);
}
