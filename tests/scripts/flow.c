/* flow.c: a flow, for tests. */
#include "flow.h"

#include <stdlib.h>

static const char *lies_in = "q";

void flow_lies_in(const char *queue)
{
    lies_in = queue;
}

void flow_by(const char *name, const char *adder, const char *close)
{
    arg(name);
    arg(adder);
    arg(close);
    arg("60");
}

void flow(const char *close)
{
    flow_by("f", "", close);
}

static void add_job(const char *id, const char *step, const char *after, const char *when,
                    const char *due, const char *priority)
{
    arg(id);
    arg(step);
    arg(after);
    arg(when);
    arg(due);
    arg(priority);
    arg("{\"type\":\"t\"}");
}

void job(const char *step, const char *after, const char *when)
{
    add_job(step, step, after, when, "", "0");
}

void job_as(const char *id, const char *step, const char *after, const char *due,
            const char *priority)
{
    add_job(id, step, after, "done", due, priority);
}

const char *pushed(void)
{
    return flat(run("flow_push", NULL));
}

void push_pair(void)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING PUSHED");
}

char begin(const char *id)
{
    static char token;

    on_queue(lies_in);
    token = token >= 'a' && token < 'z' ? (char)(token + 1) : 'a';
    run("migrate", "500", NULL);
    ck_assert_str_eq(told(reserve(token, 1), 0, ID), id);
    return token;
}

void done(const char *id)
{
    ck_assert_str_eq(flat(run("ack", member(begin(id), id), NULL)), "");
}

void fails(const char *id)
{
    ck_assert_str_eq(flat(run("bury", member(begin(id), id), "ran", FLOW_ERROR, NULL)), "");
}

long long count_of_flow(const char *name)
{
    on_queue("q");
    return atoll(field("flow:f", name));
}
