/* test_web_route.c: from parameters to a command. */
#include "tasks/route.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* What a person would type for a query, or "STATUS" if it is refused. Static. */
static const char *typed(const char *path, bool post, const char *query)
{
    static char text[512];
    struct params params;
    struct order order;
    const char *why;
    int status;
    char *spelled;

    ck_assert_int_eq(params_query(&params, query), 0);
    status = route_order(&order, path, post, &params, &why);
    snprintf(text, sizeof text, "%d", status);
    if (status == 0) {
        spelled = route_spell(&order);
        snprintf(text, sizeof text, "%s", spelled);
        free(spelled);
    }
    params_free(&params);
    return text;
}

TEST(commands)
{
    ck_assert_str_eq(typed("/api/1/queues", false, ""), "later size");
    ck_assert_str_eq(typed("/api/1/jobs", false, "queue=mail"), "later peek mail");
    ck_assert_str_eq(typed("/api/1/jobs", false, "offset=7&queue=mail&state=dead"),
                     "later peek --state=dead --offset=7 mail");
    ck_assert_str_eq(typed("/api/1/job", false, "id=it%27s&queue=a"),
                     "later show --queue=a 'it'\\''s'");
    ck_assert_str_eq(typed("/api/1/searches", false, ""), "later search --saved");
    ck_assert_str_eq(typed("/api/1/search-save", true,
                           "search=my%20mail&queue=a&limit=5&columns=id,type&glob=b&not=kind:bad"),
                     "later search '--save=my mail' --queue=a --number=5 --columns=id,type "
                     "--type=b --not=kind:bad");
    ck_assert_str_eq(typed("/api/1/search-unsave", true, "search=-x"), "later search --unsave=-x");
    ck_assert_str_eq(typed("/api/1/search-save", true, "queue=a"), "400");
    ck_assert_str_eq(typed("/api/1/kick-matching", true, "most=9&state=dead&rate=50"),
                     "later kick --all-queues --number=9 --rate=50 --state=dead");
    ck_assert_str_eq(typed("/api/1/kick-matching", true, "rate=all"), "400");
    ck_assert_str_eq(typed("/api/1/bury-queue-matching", true, "queue=a&ask=line&state=ready"),
                     "later bury --queue=a --state=ready");
    ck_assert_str_eq(typed("/api/1/kick-matching", true, "ask=me&state=dead"), "400");
    ck_assert_str_eq(typed("/api/1/count", false, "glob=a&not=text:x&glob=b.*&not=kind:crash"),
                     "later search --count --all-queues --type=a '--type=b.*' --not=text:x "
                     "--not=kind:crash");
    ck_assert_str_eq(typed("/api/1/count", false, "glob=a&glob=b%20c"), "400");
    ck_assert_str_eq(typed("/api/1/count-queue", false, "queue=a&host=h&facets=type,payload.n"),
                     "later search --count --queue=a --by=type,payload.n --host=h");
    ck_assert_str_eq(typed("/api/1/cancel", true, "id=--help&queue=a"),
                     "later cancel --queue=a -- --help");
    ck_assert_str_eq(typed("/api/1/push", true, "queue=q&type=t&payload=%7b%7D&in=5m"),
                     "later push --queue=q --in=5m t '{}'");
    ck_assert_str_eq(typed("/api/1/kick-all", true, "queue=q&state=dead"),
                     "later kick --queue=q --state=dead");
    ck_assert_str_eq(
        typed("/api/1/type-pause", true, "queue=q&glob=mail.*&for=1h&reason=no%20relay"),
        "later pause '--type=mail.*' --for=1h '--reason=no relay' q");
    ck_assert_str_eq(typed("/api/1/type-resume", true, "queue=q&glob=t"),
                     "later resume --type=t q");
    ck_assert_str_eq(typed("/api/1/type-pause", true, "queue=q"), "400");
    ck_assert_str_eq(typed("/api/1/type-pause", true, "queue=q&glob=t&reason=a%0ab"), "400");
    ck_assert_str_eq(typed("/api/1/cron-delete", true, "queue=q&name=n"),
                     "later cron --queue=q delete n");
    ck_assert_str_eq(typed("/api/1/numbers", false, ""), "later set");
    ck_assert_str_eq(
        typed("/api/1/numbers-set", true, "what=limit&need=type:sms&max=5&per=1m&for=1h&who=ann"),
        "later set --max=5 --per=1m --for=1h --by=ann limit type:sms");
    ck_assert_str_eq(typed("/api/1/numbers-unset", true, "what=max_running&need=-x"),
                     "later unset max_running -x");
    ck_assert_str_eq(typed("/api/1/numbers-set", true, "what=limit&need=n"), "400");
    ck_assert_str_eq(typed("/api/1/numbers-set", true, "what=-h&need=n&max=1"), "400");
    ck_assert_str_eq(typed("/api/1/flow", false, "flow=f&queue=q"), "later flow --queue=q show f");
    ck_assert_str_eq(typed("/api/1/flow-cancel", true, "flow=f&queue=q"),
                     "later flow --queue=q cancel f");
}

TEST(refusals)
{
    ck_assert_str_eq(typed("/api/1/cancel", false, "id=a&queue=a"), "405");
    ck_assert_str_eq(typed("/api/1/jobs", true, "queue=a"), "405");
    ck_assert_str_eq(typed("/api/1/flow-kick", false, "flow=f&queue=a"), "405");
    ck_assert_str_eq(typed("/api/1/flow", false, "flow=f%20g"), "400");
    ck_assert_str_eq(typed("/api/1/", false, ""), "404");
    ck_assert_str_eq(typed("/api/1/jobs", false, ""), "400");
    ck_assert_str_eq(typed("/api/1/jobs", false, "queue="), "400");
    ck_assert_str_eq(typed("/api/1/jobs", false, "queue=a&number=1000"), "400");
    ck_assert_str_eq(typed("/api/1/jobs", false, "queue=a&state=running"), "400");
    ck_assert_str_eq(typed("/api/1/jobs", false, "queue=a&state=done"),
                     "later peek --state=done a");
    ck_assert_str_eq(typed("/api/1/job", false, "id=a%7f"), "400");
    ck_assert_str_eq(typed("/api/1/pause", true, "queue=a&for=1h%20--json"), "400");
    ck_assert_str_eq(typed("/api/1/host-pause", true, "host=web1&for=1h"),
                     "later pause --for=1h --host=web1");
    ck_assert_str_eq(typed("/api/1/types", false, "since=2h&until=1h&queue=a"),
                     "later history --since=2h --until=1h a");
    ck_assert_str_eq(typed("/api/1/types", false, "until=-1"), "400");
    ck_assert_str_eq(typed("/api/1/history", false, "since=90d&by=hour&most=23"),
                     "later history --since=90d --by=hour --number=23");
    ck_assert_str_eq(typed("/api/1/history", false, "by=ten&type=mail.send&queue=a"),
                     "later history --by=ten --type=mail.send a");
    ck_assert_str_eq(typed("/api/1/types", false, "type=a%20b"), "400");
}

TEST(queries)
{
    struct params params;

    ck_assert_int_eq(params_query(&params, "a=1&&b=%C3%A4+%2b&c&a=2&=x"), 0);
    ck_assert_str_eq(params_get(&params, "a"), "1");
    ck_assert_str_eq(params_nth(&params, "a", 1), "2");
    ck_assert_ptr_null(params_nth(&params, "a", 2));
    ck_assert_str_eq(params_get(&params, "b"), "\xc3\xa4 +");
    ck_assert_str_eq(params_get(&params, "c"), "");
    ck_assert_ptr_null(params_get(&params, "d"));
    params_free(&params);
    for (const char *const *bad =
             (const char *const[]){ "a=%", "a=%4", "a=%4x", "a=%00", "%g0=", NULL };
         *bad; bad++)
        ck_assert_msg(params_query(&params, *bad) == -1 && params.count == 0, "%s", *bad);
}

TEST(bodies)
{
    static const char *const bad[] = { "",
                                       "[]",
                                       "{\"a\":{}}",
                                       "{\"a\":1.5}",
                                       "{\"a\":[[1]]}",
                                       "{\"a\":[\"b\",null]}",
                                       "{\"a\":1,\"a\":2}",
                                       "{\"a\":\"\\u0000\"}",
                                       "{\"a\":null}",
                                       "{\"a\":\"\xff\"}" };
    const char *good = "{\"a\":\"x\\ny\",\"n\":-5,\"l\":[\"m\",7],\"e\":[]}";
    struct params params;

    ck_assert_int_eq(params_body(&params, good, strlen(good)), 0);
    ck_assert_str_eq(params_get(&params, "a"), "x\ny");
    ck_assert_str_eq(params_get(&params, "n"), "-5");
    ck_assert_str_eq(params_nth(&params, "l", 0), "m");
    ck_assert_str_eq(params_nth(&params, "l", 1), "7");
    ck_assert_ptr_null(params_get(&params, "e"));
    params_free(&params);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(params_body(&params, bad[i], strlen(bad[i])) == -1, "%s", bad[i]);
}
