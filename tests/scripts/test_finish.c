/* test_finish.c: finish, result, progress: what a job leaves, where it is, how far it has come. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define ERROR  "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"
#define RESULT "later:{q}:result:x" /* the harness's, for any id */

/* A job under t that has failed once before. */
static void hold_tried(const char *id)
{
    push(id);
    note("a", id, "1");
    reserve('t', 1);
}

static const char *element(void)
{
    return ask("LINDEX " RESULT " 0")->str;
}

/* {"state":STATE,"attempt":N,"at":T}, a line end, and then `left`; T is since `after`. */
static void check_left(const char *state, int attempt, double after, const char *left)
{
    const char *head = text("{\"state\":\"%s\",\"attempt\":%d,\"at\":", state, attempt);
    const char *got = element();
    char *end;

    ck_assert_msg(strncmp(got, head, strlen(head)) == 0, "%s", got);
    ck_assert_double_ge(strtod(got + strlen(head), &end), after);
    ck_assert_msg(strncmp(end, "}\n", 2) == 0, "%s", end);
    ck_assert_str_eq(end + 2, left);
    ck_assert_int_eq(ask("LLEN " RESULT)->integer, 1);
}

TEST(done_leaves_its_value)
{
    double before = now();
    long long ttl;

    hold_tried("a");
    ck_assert_str_eq(flat(run("finish", mine("a"), "done", "{\"n\": [1]}", "150.5", NULL)), "");
    check_left("done", 2, before, "{\"n\": [1]}");
    ttl = ask("PTTL " RESULT)->integer;
    ck_assert(ttl > 100000 && ttl <= 150500);
    ck_assert_str_eq(flat(run("result", "a", NULL)), text(" %s ", element()));
    ck_assert_int_eq(size_of("jobs") + size_of("records") + size_of("reserved"), 0);
    ck_assert_int_eq(stat_of("done"), 1);
    check_sums();
}

/* It is not the only job of its token: that is another way through the script. */
TEST(done_beside_others)
{
    for (int i = 0; i < 2; i++) {
        push("a");
        push("b");
        if (i > 0)
            note("p", "b", "1"); /* there are records, but none of a */
        reserve('t', 500);
        ck_assert_str_eq(flat(run("finish", mine("a"), "done", "[1]", "60", NULL)), "");
        check_left("done", 1, 0, "[1]");
        ck_assert_int_eq(ask("ZCARD later:{q}:reserved:tttttttttttttttt")->integer, 1);
        ck_assert_str_eq(flat(run("finish", mine("b"), "done", "[2]", "60", NULL)), "");
        check_left("done", 1, 0, "[2]");
        ck_assert_int_eq(size_of("jobs") + size_of("records") + size_of("reserved"), 0);
        ck_assert_int_eq(stat_of("done"), 2 + 2 * i);
        check_sums();
    }
}

TEST(dead_leaves_its_error)
{
    double before = now();

    hold_tried("a");
    ck_assert_str_eq(flat(run("finish", mine("a"), "ran", ERROR, "60", NULL)), "");
    check_left("dead", 2, before, noted("e", "a"));
    check_error("a", 2, before, ERROR);
    ck_assert_str_eq(members("dead"), "a");
    ck_assert_str_eq(flat(run("result", "a", NULL)),
                     text("dead %s %s", element(), field("records", "a")));
    check_sums();
}

/* Its attempts were used up: the last error stays, and is what is left. */
TEST(dead_unrun_leaves_the_last_error)
{
    hold_tried("a");
    note("e", "a", "{\"kind\":\"timeout\"}");
    run("finish", mine("a"), "unrun", "", "60", NULL);
    check_left("dead", 1, 0, "{\"kind\":\"timeout\"}");
}

TEST(lost_leaves_nothing)
{
    hold_tried("a");
    run("ack", mine("a"), NULL);
    ck_assert_str_eq(flat(run("finish", mine("a"), "done", "1", "60", NULL)), "1");
    ck_assert_str_eq(flat(run("finish", mine("a"), "ran", ERROR, "60", NULL)), "1");
    ck_assert_int_eq(ask("EXISTS " RESULT)->integer, 0);
    ck_assert_int_eq(stat_of("done"), 1);
}

TEST(a_later_one_replaces_it)
{
    hold_tried("a");
    run("finish", mine("a"), "done", "1", "60", NULL);
    push("a");
    ck_assert_str_eq(flat(run("result", "a", NULL)), text("ready %s ", element()));
    reserve('t', 1);
    ck_assert_str_eq(flat(run("result", "a", NULL)), text("reserved %s ", element()));
    run("finish", mine("a"), "done", "2", "60", NULL);
    check_left("done", 1, 0, "2");
}

/* All who wait get it at once, and the expiry stays. */
TEST(who_waits_leaves_it_there)
{
    enum { WAITERS = 3 };
    redisContext *waiters[WAITERS];
    redisReply *reply;

    hold_tried("a");
    for (int i = 0; i < WAITERS; i++) {
        int sent = 0;

        waiters[i] = server_connect(&harness_server);
        redisAppendCommand(waiters[i], "BLMOVE " RESULT " " RESULT " LEFT LEFT 20");
        while (!sent)
            ck_assert_int_eq(redisBufferWrite(waiters[i], &sent), REDIS_OK);
    }
    while (!strstr(ask("INFO clients")->str, text("blocked_clients:%d\r", WAITERS)))
        harness_free();
    run("finish", mine("a"), "done", "7", "60", NULL);
    for (int i = 0; i < WAITERS; i++) {
        ck_assert_int_eq(redisGetReply(waiters[i], (void **)&reply), REDIS_OK);
        ck_assert_str_eq(reply->str, element());
        freeReplyObject(reply);
        redisFree(waiters[i]);
    }
    check_left("done", 2, 0, "7");
    ck_assert_int_gt(ask("PTTL " RESULT)->integer, 0);
}

TEST(refusals)
{
    uint64_t before;

    hold_tried("a");
    ask("SET " RESULT " 1");
    before = digest();
    run_error("finish", mine("a"), "done", "1", "60", NULL); /* a key of another type */
    run_error("finish", mine("a"), "gone", "1", "60", NULL);
    run_error("finish", mine("a"), "done", "1", "0.0001", NULL);
    run_error("finish", mine("a"), "done", "1", "315360001", NULL);
    ck_assert_uint_eq(digest(), before);
}

/* ---- many in a call */

static const char *result_of(const char *id)
{
    return text("later:{q}:result:%s", id);
}

/* One of the jobs that the next finish_all ends. */
static void left(const char *id, const char *value, const char *seconds)
{
    arg(mine(id));
    arg(value);
    arg(seconds);
    arg("\"ms\":1.500,\"host\":\"h\"}");
}

static const char *finish_all(void)
{
    return flat(run("finish_all", NULL));
}

/* {"state":"done","attempt":N,"at":T…}, a line end, and the value. */
static void check_result(const char *id, int attempt, double after, const char *rest)
{
    const char *head = text("{\"state\":\"done\",\"attempt\":%d,\"at\":", attempt);
    const char *got = ask("LINDEX %s 0", result_of(id))->str;
    char *end;

    ck_assert_ptr_nonnull(got);
    ck_assert_msg(strncmp(got, head, strlen(head)) == 0, "%s", got);
    ck_assert_double_ge(strtod(got + strlen(head), &end), after);
    ck_assert_str_eq(end, rest);
    ck_assert_int_eq(ask("LLEN %s", result_of(id))->integer, 1);
}

/* a has failed once before, c is pushed again while it runs, d was in Redis before. */
TEST(many_leave_their_values)
{
    double before = now();
    long long ttl;

    for (char id = 'a'; id <= 'e'; id++)
        push(text("%c", id));
    note("a", "a", "1");
    reserve('t', 500);
    ck_assert_str_eq(flat(run("push", "0", "again", "c", "", "0", "{}", NULL)), "AGAIN");
    ask("LPUSH %s old older", result_of("d"));
    arg("0");
    arg("0");
    left("a", "{\"n\": [1]}", "150.5");
    left("b", "2", "0");
    left("c", "null", "60");
    left("d", "4", "315360000");
    ck_assert_str_eq(finish_all(), "");
    check_result("a", 2, before, "}\n{\"n\": [1]}");
    ck_assert_int_eq(ask("EXISTS %s", result_of("b"))->integer, 0);
    check_result("c", 1, before, ",\"again\":true}\nnull");
    check_result("d", 1, before, "}\n4");
    ttl = ask("PTTL %s", result_of("a"))->integer;
    ck_assert(ttl > 100000 && ttl <= 150500);
    ck_assert_int_gt(ask("PTTL %s", result_of("d"))->integer, 315350000000);
    ck_assert_double_ge(atof(field("stats", "results")), before + 315360000);
    ck_assert_int_eq(stat_of("done"), 4);
    ck_assert_str_eq(members("delayed"), "c");
    ck_assert_int_eq((int)ask("ZCARD later:{q}:reserved:tttttttttttttttt")->integer, 1); /* e */
    ck_assert_int_eq(size_of("done") + size_of("kept"), 0);
    check_sums();
}

TEST(many_but_some_are_lost)
{
    for (char id = 'a'; id <= 'c'; id++)
        push(text("%c", id));
    reserve('t', 500);
    run("ack", mine("b"), NULL);
    for (int i = 0; i < 2; i++) {
        arg("10");
        arg("60");
        left("a", "1", "60");
        left("b", "2", "60");
        left("c", "3", "60");
        ck_assert_str_eq(finish_all(), i ? "1 2 3" : "2");
    }
    check_result("a", 1, 0, "}\n1");
    check_result("c", 1, 0, "}\n3");
    ck_assert_int_eq(ask("EXISTS %s", result_of("b"))->integer, 0);
    ck_assert_str_eq(members("done"), "a c");
    ck_assert_int_eq(stat_of("done"), 3);
    check_sums();
}

TEST(many_are_kept)
{
    const char *kept, *line;
    double before = now();

    hold_tried("a");
    push("b");
    ask("ZADD later:{q}:reserved:tttttttttttttttt 9 b");
    ask("ZREM %s b", key("ready"));
    arg("1");
    arg("60.5");
    left("a", "null", "0");
    left("b", "null", "0");
    ck_assert_str_eq(finish_all(), "");
    ck_assert_str_eq(members("done"), "b"); /* one at most; both end at the same time */
    ck_assert_double_ge(score("done", "b"), before + 60.5);
    hold_tried("a");
    arg("10");
    arg("60.5");
    left("a", "null", "0");
    ck_assert_str_eq(finish_all(), "");
    ck_assert_str_eq(members("done"), "b a");
    kept = field("kept", "a");
    ck_assert_str_eq(value_in(kept, "a"), "1");
    line = value_in(kept, "k");
    ck_assert_msg(strncmp(line, "{\"at\":", 6) == 0 &&
                      strstr(line, ",\"attempt\":2,\"ms\":1.500,\"host\":\"h\"}"),
                  "%s", line);
    ck_assert_str_eq(strstr(kept, "\n\n"), "\n\n{\"type\":\"t\"}");
    ck_assert_str_eq(flat(run("show", "b", NULL)),
                     text("done %s k=%s\n {\"type\":\"t\"}", score_text("done", "b"),
                          value_in(field("kept", "b"), "k")));
    check_sums();
}

/* Many at once are not more than are kept. */
TEST(many_more_than_are_kept)
{
    for (int i = 0; i < 300; i++)
        push(text("j%d", i));
    reserve('t', 500);
    arg("7");
    arg("60");
    for (int i = 0; i < 300; i++)
        left(text("j%d", i), "null", "0");
    ck_assert_str_eq(finish_all(), "");
    ck_assert_int_eq(size_of("done"), 7);
    ck_assert_int_eq((int)ask("HLEN %s", key("kept"))->integer, 7);
    check_sums();
}

/* Another program's key in place of a result holds up nobody else. */
TEST(many_refusals)
{
    static const char *const wrong[][3] = { { "0", "0", "0.0001" }, { "0", "0", "315360001" },
                                            { "0", "0", "nan" },    { "-1", "60", "60" },
                                            { "10", "0", "60" },    { "10", "nan", "60" } };
    uint64_t before;

    hold_tried("a");
    ask("SET %s 1", result_of("a"));
    before = digest();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        run_error("finish_all", wrong[i][0], wrong[i][1], mine("a"), "1", wrong[i][2], "", NULL);
    run_error("finish_all", "0", "0", NULL);
    ck_assert_uint_eq(digest(), before);
    arg("0");
    arg("0");
    left("a", "1", "60");
    ck_assert_str_eq(finish_all(), "");
    check_result("a", 2, 0, "}\n1");
    check_sums();
}

/* ---- kept jobs */

#define NOTE "\"ms\":1.500,\"host\":\"h\"}"

/* Pushed, reserved, done and kept. */
static void keep(const char *id, const char *most, const char *life)
{
    push(id);
    reserve('t', 1);
    ck_assert_str_eq(
        flat(run("finish", mine(id), "done", "null", "0", most, life, NOTE, "", "", NULL)), "");
}

TEST(done_and_kept)
{
    double before = now();
    const char *kept, *line;

    hold_tried("a");
    ck_assert_str_eq(
        flat(run("finish", mine("a"), "done", "null", "0", "10", "60.5", NOTE, "", "", NULL)), "");
    ck_assert_int_eq(ask("EXISTS " RESULT)->integer, 0);
    ck_assert_int_eq(size_of("jobs") + size_of("records") + size_of("reserved"), 0);
    ck_assert_int_eq(stat_of("done"), 1);
    check_sums();
    ck_assert_double_ge(score("done", "a"), before + 60.5);
    kept = field("kept", "a");
    ck_assert_str_eq(value_in(kept, "a"), "1");
    line = value_in(kept, "k");
    ck_assert_msg(strncmp(line, "{\"at\":", 6) == 0 && strstr(line, ",\"attempt\":2," NOTE), "%s",
                  line);
    ck_assert_str_eq(strstr(kept, "\n\n"), "\n\n{\"type\":\"t\"}");
    run("finish", mine("a"), "done", "null", "0", "10", "1", NOTE, "", "", NULL); /* it is LOST */
    ck_assert_double_ge(score("done", "a"), before + 60.5);
}

TEST(kept_with_a_result)
{
    hold_tried("a");
    run("finish", mine("a"), "done", "7", "60", "10", "60", NOTE, "", "", NULL);
    check_left("done", 2, 0, "7");
    ck_assert_int_eq(size_of("done") + size_of("kept"), 2);
}

TEST(kept_are_shown)
{
    const char *record;

    keep("a", "10", "60");
    keep("b", "10", "30");
    record = text("k=%s\n", value_in(field("kept", "a"), "k"));
    ck_assert_str_eq(flat(run("show", "a", NULL)),
                     text("done %s %s {\"type\":\"t\"}", score_text("done", "a"), record));
    ck_assert_str_eq(flat(run("peek", "done", "1", "10", NULL)),
                     text("a %s %s {\"type\":\"t\"}", score_text("done", "a"), record));
    ck_assert_str_eq(run("peek", "done", "0", "10", NULL)->element[0]->str, "b");
    push("a"); /* again: that one is shown now */
    ck_assert_str_eq(run("show", "a", NULL)->element[0]->str, "ready");
}

TEST(kept_up_to_a_number)
{
    for (char id = 'a'; id <= 'e'; id++)
        keep(text("%c", id), "3", "60");
    ck_assert_str_eq(members("done"), "c d e");
    ck_assert_int_eq(size_of("kept"), 3);
    keep("f", "1", "60");
    ck_assert_str_eq(members("done"), "f");
    keep("f", "1", "60"); /* in its own place */
    ck_assert_int_eq(size_of("done") + size_of("kept"), 2);
}

TEST(kept_ones_go)
{
    for (char id = 'a'; id <= 'f'; id++)
        keep(text("%c", id), "10", "60");
    ck_assert_str_eq(flat(run("trim_done", "6", "500", NULL)), "0");
    ck_assert_str_eq(flat(run("trim_done", "5", "500", NULL)), "1");
    ask("ZADD %s 1 b 2 c", key("done"));
    ck_assert_str_eq(flat(run("trim_done", "10", "1", NULL)), "1");
    ck_assert_str_eq(flat(run("trim_done", "10", "500", NULL)), "1");
    ck_assert_str_eq(flat(run("purge", "done", "1", NULL)), "1");
    hold_by("tttttttttttttttt");
    ck_assert_str_eq(flat(run("act", "cancel", "done", "", "e", "7", "f", "7", NULL)), "0");
    ck_assert_str_eq(flat(run("act", "cancel", "done", "", "e", score_text("done", "e"), NULL)),
                     "1");
    ck_assert_str_eq(members("done"), "f");
    ck_assert_int_eq(stat_of("purged"), 0);
    check_sums();
    ck_assert_str_eq(flat(run("forget", NULL)), "0");
    ck_assert_int_eq(size_of("done") + size_of("kept"), 0);
}

TEST(keeping_refused)
{
    static const char *const wrong[][5] = {
        { "done", "0", "1.5", "60", NOTE }, { "done", "0", "10", "0", NOTE },
        { "done", "0", "10", "nan", NOTE }, { "done", "-1", "10", "60", NOTE },
        { "ran", "60", "10", "60", NOTE },  { "done", "1e3", "10", "60", NOTE },
    };
    uint64_t before;

    hold_tried("a");
    before = digest();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        run_error("finish", mine("a"), wrong[i][0], "1", wrong[i][1], wrong[i][2], wrong[i][3],
                  wrong[i][4], "", "", NULL);
    run_error("trim_done", "-1", "1", NULL);
    run_error("trim_done", "1", "501", NULL);
    ask("SET %s 1", key("kept"));
    before = digest();
    run_error("finish", mine("a"), "done", "1", "0", "10", "60", NOTE, "", "", NULL);
    ck_assert_uint_eq(digest(), before);
}

/* ---- hooks */

#define ABOUT "\"type\":\"t\",\"queue\":\"q\""

/* Ends a job of t with a hook of the type `h`. */
static void end(const char *id, const char *how, const char *what)
{
    ck_assert_str_eq(flat(run("finish", mine(id), how, what, "0", "0", "0", "", "h", ABOUT, NULL)),
                     "");
}

/* There is one hook: ID.ENDING.TIME, due now, with this payload behind its ids. Returns its id. */
static const char *check_hook(const char *id, const char *ending, const char *rest)
{
    const char *name = members("delayed"), *start = text("%s.%s.", id, ending);

    ck_assert_msg(strncmp(name, start, strlen(start)) == 0 && !strchr(name, ' '), "%s", name);
    ck_assert_int_eq((int)strspn(name + strlen(start), "0123456789"), 16);
    ck_assert_double_le(score("delayed", name), now());
    ck_assert_str_eq(field("jobs", name),
                     text("{\"type\":\"h\",\"hook_of\":\"%s\",\"payload\":{\"id\":\"%s\"," ABOUT
                          ",\"ending\":\"%s\",%s}}",
                          id, id, ending, rest));
    return name;
}

TEST(done_with_a_hook)
{
    hold_tried("a");
    end("a", "done", "[7]");
    check_hook("a", "done", "\"attempts\":2,\"error\":null,\"value\":[7]");
    ck_assert_int_eq(stat_of("pushed"), 2);
    ck_assert_int_eq(ask("EXISTS " RESULT)->integer, 0);
    ck_assert_str_eq(members("done"), "");
    check_sums();
    run("migrate", "10", NULL);
    ck_assert_int_eq(size_of("ready"), 1);
}

TEST(dead_with_a_hook)
{
    hold_tried("a");
    end("a", "ran", ERROR);
    check_hook("a", "dead", text("\"attempts\":2,\"error\":%s,\"value\":null", noted("e", "a")));
    ck_assert_str_eq(members("dead"), "a");
    check_sums();
}

/* Each time that it is dead. */
TEST(dead_again_with_a_hook)
{
    for (int i = 1; i <= 3; i++) {
        hold_tried("a");
        end("a", "unrun", "");
        ck_assert_int_eq(size_of("delayed"), i);
        run("cancel", "a", NULL);
    }
    ck_assert_int_eq(stat_of("pushed"), 6);
    check_sums();
}

TEST(hook_beside_the_rest)
{
    hold_tried("a");
    run("finish", mine("a"), "done", "7", "60", "10", "60", NOTE, "h", ABOUT, NULL);
    check_left("done", 2, 0, "7");
    ck_assert_int_eq(size_of("done") + size_of("kept") + size_of("delayed"), 3);
}

TEST(lost_has_no_hook)
{
    hold_tried("a");
    run("ack", mine("a"), NULL);
    for (int i = 0; i < 2; i++)
        ck_assert_str_eq(flat(run("finish", mine("a"), i ? "done" : "ran", i ? "1" : ERROR, "0",
                                  "0", "0", "", "h", ABOUT, NULL)),
                         "1");
    ck_assert_int_eq(size_of("delayed"), 0);
    check_sums();
}

/* Somebody has put its id into ready by hand, so two tokens have it. */
TEST(two_owners_one_hook)
{
    hold_tried("a");
    ask("ZADD %s 1 a", key("ready"));
    reserve('u', 1);
    end("a", "done", "1");
    run("finish", member('u', "a"), "done", "1", "0", "0", "0", "", "h", ABOUT, NULL);
    ck_assert_int_eq(size_of("delayed"), 1);
    check_sums();
}

/* Its id was pushed again: it is not dead, but replaced. */
TEST(replaced_has_no_hook)
{
    hold_tried("a");
    ck_assert_str_eq(flat(run("push", "0", "again", "a", "", "0", "{\"n\":1}", NULL)), "AGAIN");
    end("a", "ran", ERROR);
    ck_assert_str_eq(members("delayed"), "a");
    check_sums();
}

TEST(hooks_of_odd_ids)
{
    char longest[201];
    const char *name;

    memset(longest, 'x', 200);
    longest[200] = '\0';
    hold_tried("a\"\\");
    end("a\"\\", "done", "1");
    name = members("delayed");
    ck_assert_msg(strncmp(name, "a\"\\.done.", 9) == 0, "%s", name);
    ck_assert_msg(strstr(field("jobs", name), "\"id\":\"a\\\"\\\\\","), "%s", field("jobs", name));
    run("cancel", name, NULL);
    hold_tried(longest);
    end(longest, "ran", ERROR);
    name = members("delayed");
    ck_assert_int_eq((int)strlen(name), 40 + (int)strlen(".dead.") + 16);
    ck_assert_msg(strstr(field("jobs", name), text("\"hook_of\":\"%s\"", longest)), "%s", name);
}

TEST(hook_tells_the_migrators)
{
    redisContext *other = server_connect(&harness_server);
    redisReply *reply = redisCommand(other, "SUBSCRIBE later:{q}:due");

    freeReplyObject(reply);
    hold_tried("a");
    end("a", "done", "1");
    ck_assert_int_eq(redisGetReply(other, (void **)&reply), REDIS_OK);
    ck_assert_str_eq(reply->element[2]->str, score_text("delayed", members("delayed")));
    freeReplyObject(reply);
    redisFree(other);
}

TEST(hook_on_a_full_redis)
{
    hold_tried("a");
    ask("CONFIG SET maxmemory 1");
    end("a", "done", "1");
    ask("CONFIG SET maxmemory 0");
    check_hook("a", "done", "\"attempts\":2,\"error\":null,\"value\":1");
    check_sums();
}

TEST(hooks_refused)
{
    char longer[130];
    const char *wrong[] = { "a b", "\"", "a*", longer, "@q", "a@b:c", "a@b@c" };
    uint64_t before;

    memset(longer, 't', 129);
    longer[129] = '\0';
    hold_tried("a");
    before = digest();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        run_error("finish", mine("a"), "done", "1", "0", "0", "0", "", wrong[i], ABOUT, NULL);
    ck_assert_uint_eq(digest(), before);
    ask("SET %s 1", key("delayed"));
    ask("SET %s 1", key("news"));
    before = digest();
    run_error("finish", mine("a"), "done", "1", "0", "0", "0", "", "h", ABOUT, NULL);
    ask("DEL %s", key("delayed"));
    before = digest();
    run_error("finish", mine("a"), "done", "1", "0", "0", "0", "", "h@other", ABOUT, NULL);
    ck_assert_uint_eq(digest(), before);
}

/* ---- progress */

TEST(progress_is_kept)
{
    const char *text;

    hold_tried("a");
    ck_assert_str_eq(flat(run("progress", mine("a"), "\"done\":1}", "", "", NULL)), "");
    run("progress", mine("a"), "\"done\":2,\n\"total\":3}", "", "", NULL);
    text = noted("g", "a");
    ck_assert_msg(strncmp(text, "{\"at\":", 6) == 0 && strstr(text, ",\"done\":2, \"total\":3}"),
                  "%s", text);
    ck_assert_str_eq(noted("a", "a"), "1");
    run("release", mine("a"), "0", "ran", ERROR, NULL);
    ck_assert_str_eq(noted("g", "a"), text);
    reserve('t', 1);
    run("ack", mine("a"), NULL);
    ck_assert_int_eq(size_of("records"), 0);
}

TEST(progress_of_what_is_lost)
{
    uint64_t before;

    hold_tried("a");
    before = digest();
    ck_assert_str_eq(flat(run("progress", member('u', "a"), "\"done\":1}", "", "", NULL)), "1");
    ck_assert_uint_eq(digest(), before);
    ask("HDEL %s a", key("jobs")); /* ended by another token, after somebody's ZADD */
    ask("DEL %s", key("records"));
    run("progress", mine("a"), "\"done\":1}", "", "", NULL);
    ck_assert_int_eq(size_of("records"), 0);
}

/* A checkpoint is there until the job is done, and not among what is kept of it. */
TEST(a_checkpoint_is_kept)
{
    hold_tried("a");
    ck_assert_str_eq(flat(run("progress", mine("a"), "", "{\n\"page\":3}", "", NULL)), "");
    ck_assert_str_eq(noted("m", "a"), "{ \"page\":3}");
    ck_assert_str_eq(noted("g", "a"), "");
    run("progress", mine("a"), "\"done\":1}", "", "", NULL);
    ck_assert_str_eq(noted("m", "a"), "{ \"page\":3}");
    ck_assert(strstr(noted("g", "a"), "\"done\":1}"));
    run("release", mine("a"), "0", "ran", ERROR, NULL);
    ck_assert_str_eq(noted("m", "a"), "{ \"page\":3}");
    reserve('t', 1);
    run("bury", mine("a"), "ran", ERROR, NULL);
    run("kick", "a", NULL);
    ck_assert_str_eq(noted("m", "a"), "{ \"page\":3}");
    reserve('t', 1);
    run("progress", mine("a"), "", "4", "", NULL);
    ck_assert_str_eq(noted("m", "a"), "4");
    run("finish", mine("a"), "done", "null", "0", "10", "60", "\"ms\":1}", "", "", NULL);
    ck_assert_int_eq(size_of("records"), 0);
    ck_assert_ptr_null(strstr(flat(ask("HGET %s a", key("kept"))), "m=4"));
}

/* As new, with document, priority and group; but not what is a job again or of a flow, nor more
 * than the queue may have. */
TEST(kept_run_again)
{
    const char *const ids[] = { "a", "b", "c", "d", "e" };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        keep(ids[i], "10", "60");
    ask("HSET %s b %s", key("kept"), "a=3\np=7\nq=1.5 g\nc=1\nk={}\n\n{\"type\":\"b\"}");
    ask("HSET %s d %s", key("kept"), "f=F\nk={}\n\n{\"type\":\"d\"}");
    ask("HSET %s max_jobs 3", key("stats"));
    push("c");
    hold_by("rrrrrrrrrrrrrrrr");
    ck_assert_str_eq(
        flat(run("act", "kick", "done", "", "a", "1.5", "b", "", "c", "", "d", "", NULL)), "1");
    ck_assert_str_eq(members("ready"), "b c");
    ck_assert_str_eq(field("jobs", "b"), "{\"type\":\"b\"}");
    ck_assert_str_eq(value_in(field("records", "b"), "p"), "7");
    ck_assert_ptr_nonnull(strstr(value_in(field("records", "b"), "q"), " g"));
    ck_assert_ptr_null(strstr(field("records", "b"), "a="));
    ck_assert_int_eq(stat_of("pushed"), 7);
    ck_assert_int_eq(stat_of("kicked"), 0);
    check_wake();
    check_sums();
    ck_assert_str_eq(flat(run("act", "kick", "done", "", "a", "", "b", "", "e", "", NULL)), "1");
    ck_assert_str_eq(flat(run("act", "kick", "done", "", "e", "", NULL)), "0"); /* full */
    ck_assert_str_eq(members("ready"), "b c a");
    ck_assert_str_eq(field("jobs", "a"), "{\"type\":\"t\"}");
    ck_assert_ptr_null(strstr(field("records", "a"), "a="));
    ck_assert_int_eq(size_of("done"), 3);
    ck_assert_int_eq(size_of("kept"), 3);
    check_sums();
}
