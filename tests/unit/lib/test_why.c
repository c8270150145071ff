/* test_why.c: why a job does not run: which reasons come first, their words; later.1 lists them. */
#include "trouble/say.h"
#include "trouble/why.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct later_why whys[LATER_WHYS_MAX];

/* A ready job of `mail`, which one laterd serves that has time; noon of a day. */
static const struct later_why_facts ready = { .now = 1767268800,
                                              .state = "ready",
                                              .queue = "mail",
                                              .type = "t",
                                              .error_kind = "",
                                              .error_text = "",
                                              .paused_by = "",
                                              .quiet = "",
                                              .quiet_by = "",
                                              .ahead = 0,
                                              .rate = 2,
                                              .alive = 1,
                                              .serving = 1,
                                              .lost = "",
                                              .workers = 2,
                                              .runs = 1,
                                              .fault = "",
                                              .full = "",
                                              .disk = "",
                                              .line = { .name = "", .owner = "" },
                                              .flow = {
                                                  .name = "",
                                                  .steps = "",
                                                  .home = "",
                                                  .unserved = "",
                                              } };

/* Returns the texts of all reasons, with | between. */
static const char *all(const struct later_why_facts *facts)
{
    static char text[LATER_WHYS_MAX * LATER_WHY_SIZE];
    size_t count = later_why_find(facts, whys), len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? "|" : "", whys[i].text);
    return text;
}

CASE("table", NULL, NULL);

TEST(names_are_whole_and_differ)
{
    for (int i = 0; i < LATER_WHYS; i++) {
        ck_assert_msg(later_reasons[i].name && later_reasons[i].words, "row %d is empty", i);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(later_reasons[i].name, later_reasons[k].name);
    }
}

TEST(the_manual_lists_them)
{
    const char *tree = getenv("top_srcdir");
    static char text[1 << 20];
    char path[400], item[200];
    FILE *file;

    snprintf(path, sizeof path, "%s/doc/later.1", tree ? tree : ".");
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (int i = 0; i < LATER_WHYS; i++) {
        snprintf(item, sizeof item, ".It Cm %s\n%s\n", later_reasons[i].name,
                 later_reasons[i].words);
        ck_assert_msg(strstr(text, item) != NULL, "not in later.1: %s", item);
    }
}

CASE("reasons", NULL, NULL);

TEST(ready_ones)
{
    struct later_why_facts facts = ready;

    ck_assert_str_eq(all(&facts), "it is next");
    facts.ahead = 1204;
    facts.rate = 30;
    ck_assert_str_eq(all(&facts), "1,204 ahead of it, about 40 s");
    ck_assert_int_eq(whys[0].count, 1204);
    facts.expires_at = facts.now + 30;
    ck_assert_str_eq(all(&facts), "1,204 ahead of it, about 40 s|expires in 30 s");
    facts.expires_at = facts.now + 3600;
    ck_assert_str_eq(all(&facts), "1,204 ahead of it, about 40 s");
    facts.rate = 0.1;
    ck_assert_str_eq(all(&facts), "1,204 ahead of it, about 3.3 h|expires in 60 min");
    facts.rate = -1;
    facts.runs = 2;
    ck_assert_str_eq(all(&facts), "1,204 ahead of it|all workers are busy: 2 of 2 that serve mail "
                                  "run a job");
}

TEST(what_holds_all_of_a_queue_comes_first)
{
    struct later_why_facts facts = ready;

    facts.paused = true;
    facts.paused_by = "ann";
    facts.paused_since = facts.now - 3600;
    ck_assert_str_eq(all(&facts), "mail is paused by ann since 11:00 UTC");
    facts.paused_since = facts.now - 100000;
    ck_assert_str_eq(all(&facts), "mail is paused by ann since 2025-12-31 08:13 UTC");
    facts.serving = 0;
    ck_assert_uint_eq(later_why_find(&facts, whys), 2);
    ck_assert_int_eq(whys[0].reason, LATER_WHY_UNSERVED);
    facts.full = "1 KiB of 1 KiB"; /* then no laterd can say that it is alive */
    ck_assert_uint_eq(later_why_find(&facts, whys), 2);
    ck_assert_int_eq(whys[1].reason, LATER_WHY_REDIS_FULL);
    facts.full = "";
    facts.disk = "no append-only file";
    later_why_find(&facts, whys);
    ck_assert_int_eq(whys[1].reason, LATER_WHY_REDIS_DISK);
    ck_assert_str_eq(whys[1].text, "Redis refuses writes: no append-only file");
}

TEST(what_is_not_known_is_not_said)
{
    struct later_why_facts facts = LATER_WHY_FACTS;

    facts.state = "ready";
    ck_assert_str_eq(all(&facts), "");
    facts.state = "done";
    ck_assert_uint_eq(later_why_find(&facts, whys), 0);
    facts.state = "waiting";
    ck_assert_uint_eq(later_why_find(&facts, whys), 1);
}

TEST(lines)
{
    const struct later_override set = { .name = "permit:type:a", .who = "ann" };
    struct later_why_facts facts = ready;

    facts.state = "delayed";
    facts.score = facts.now + 5;
    facts.line.what = LATER_WHY_LOCK;
    facts.line.name = "invoices";
    facts.line.owner = "web1 mail 7f";
    facts.line.since = facts.now - 12;
    facts.line.nth = 3;
    ck_assert_str_eq(all(&facts),
                     "waits for the lock invoices, held by job 7f on web1 for 12 s, third in line");
    facts.line.owner = "ann by hand at night";
    facts.line.nth = 22;
    ck_assert_str_eq(all(&facts), "waits for the lock invoices, held by ann by hand at night for "
                                  "12 s, 22nd in line");
    facts.line.what = LATER_WHY_MAX_RUNNING;
    facts.line.name = "type:a";
    facts.line.held = facts.line.max = 2;
    facts.line.set = &set;
    ck_assert_str_eq(all(&facts), "waits for max_running of type:a: 2 of 2 run, 22nd in line; that "
                                  "was set by ann");
    facts.line.set = NULL;
    facts.line.what = LATER_WHY_LIMIT;
    facts.line.name = "api";
    facts.line.opens = facts.now + 0.8;
    facts.line.nth = 0;
    ck_assert_str_eq(all(&facts), "waits for the limit api, which opens in 0.8 s: it is its turn");
}

TEST(a_type_that_some_hosts_have)
{
    struct later_why_facts facts = ready;

    facts.state = "delayed";
    facts.unknown_since = facts.now - 60;
    facts.score = facts.now + 5;
    facts.elsewhere = true;
    ck_assert_str_eq(all(&facts), "a host without the type t gave it back, another one has that; "
                                  "asked again in 5.0 s");
    ck_assert_int_eq(whys[0].reason, LATER_WHY_ELSEWHERE);
    ck_assert_str_eq(whys[0].thing, "t");
}

TEST(queues_of_flows)
{
    struct later_why_facts facts = ready;

    facts.state = "waiting";
    facts.flow.name = "f";
    facts.flow.steps = "a (open)";
    facts.flow.all = facts.flow.unmet = 1;
    facts.flow.unserved = "elsewhere";
    ck_assert_str_eq(all(&facts), "waits for a (open) in flow f|"
                                  "no laterd serves elsewhere, and flow f needs it");
    ck_assert_int_eq(whys[0].reason, LATER_WHY_FLOW);
    ck_assert_int_eq(whys[1].reason, LATER_WHY_UNSERVED);
    ck_assert_str_eq(whys[1].thing, "elsewhere");
    facts.flow.steps = "";
    facts.flow.all = facts.flow.unmet = 0;
    facts.flow.home = "elsewhere";
    ck_assert_str_eq(all(&facts), "waits for flow f of elsewhere to let it run|"
                                  "no laterd serves elsewhere, and flow f needs it");
    facts.flow.unserved = "";
    ck_assert_str_eq(all(&facts), "waits for flow f of elsewhere to let it run");
    facts.flow.unserved = "elsewhere";
    facts.alive = facts.serving = 0; /* then nobody serves anything */
    ck_assert_str_eq(all(&facts), "waits for flow f of elsewhere to let it run|"
                                  "no laterd is alive");
}

TEST(a_long_text_is_cut)
{
    static char name[201], owner[251], steps[2000];
    struct later_why_facts facts = ready;

    memset(name, 'n', sizeof name - 1);
    memset(owner, 'o', sizeof owner - 1);
    memset(steps, 's', sizeof steps - 1);
    facts.state = "delayed";
    facts.line.what = LATER_WHY_LOCK;
    facts.line.name = name;
    facts.line.owner = owner;
    facts.line.nth = 1000000;
    ck_assert_uint_lt(strlen(all(&facts)), LATER_WHY_SIZE);
    facts.state = "waiting";
    facts.flow.steps = steps;
    facts.flow.name = name;
    ck_assert_uint_lt(strlen(all(&facts)), LATER_WHY_SIZE);
}

TEST(numbers_for_people)
{
    static const struct {
        int64_t number;
        const char *count, *nth;
    } rows[] = { { 1, "1", "first" },         { 10, "10", "tenth" },
                 { 11, "11", "11th" },        { 12, "12", "12th" },
                 { 22, "22", "22nd" },        { 103, "103", "103rd" },
                 { 111, "111", "111th" },     { 1000, "1,000", "1000th" },
                 { 999999, "999,999", NULL }, { 1000001, "1,000,001", "1000001st" } };
    char text[LATER_SAY_SIZE];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_str_eq(later_say_count(text, rows[i].number), rows[i].count);
        if (rows[i].nth)
            ck_assert_str_eq(later_say_nth(text, rows[i].number), rows[i].nth);
    }
}
