/* test_admin.c: kick, cancel, peek, show, size, purge, trim, pause, resume. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLAIN "{\"type\":\"plain\"}"
#define ERROR "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

/* Bury ids (letters) in this order. */
static void bury(const char *ids)
{
    for (; *ids; ids++) {
        push(text("%c", *ids));
        reserve('b', 1);
        run("bury", member('b', text("%c", *ids)), "ran", ERROR, NULL);
    }
}

/* ---- kick */

TEST(kick_makes_dead_and_delayed_ready)
{
    double before = now();

    one_in_each_state();
    fill_each_state();
    ask("DEL %s", key("wake"));
    ck_assert_str_eq(
        flat(run("kick", "ready", "delayed", "reserved", "dead", "none", "dead", NULL)),
        " delayed  dead  ");
    ck_assert_str_eq(members("ready"), "delayed dead ready");
    ck_assert_int_eq(size_of("delayed") + size_of("dead"), 0);
    ck_assert_double_ge(score("ready", "dead"), before - 4e6); /* priorities: 4 */
    ck_assert_double_le(score("ready", "dead"), now() - 4e6 + 0.00001);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(noted(tags[i], "dead"), "");
        ck_assert_str_eq(noted(tags[i], "delayed"), text("%zu", i + 1));
        ck_assert_str_eq(noted(tags[i], "ready"), text("%zu", i + 1));
    }
    ck_assert_str_eq(noted("p", "dead"), "4");
    ck_assert_str_eq(noted("e", "dead"), "5");
    ck_assert_int_eq(stat_of("kicked"), 2);
    check_sums();
    check_wake();
}

TEST(kick_of_nothing_changes_nothing)
{
    uint64_t before;

    one_in_each_state();
    fill_each_state();
    before = digest();
    ck_assert_str_eq(flat(run("kick", "ready", "reserved", "none", NULL)), "  ");
    ck_assert_uint_eq(digest(), before);
}

TEST(kicked_together_keep_their_order)
{
    bury("dbca");
    ck_assert_str_eq(flat(run("kick", "c", "a", "d", "b", NULL)), "dead dead dead dead");
    ck_assert_str_eq(members("ready"), "c a d b");
}

TEST(kick_takes_plain_members_too)
{
    ask("ZADD %s 9999999999 %s", key("delayed"), PLAIN);
    ck_assert_str_eq(flat(run("kick", PLAIN, NULL)), "delayed");
    ck_assert_str_eq(members("ready"), PLAIN);
    check_sums();
    reserve('t', 1);
    check_sums();
}

/* ---- cancel */

TEST(cancel_drops_from_every_state)
{
    one_in_each_state();
    fill_each_state();
    push("other");
    ck_assert_str_eq(flat(run("cancel", "ready", "delayed", member('r', "reserved"), "dead", "none",
                              "ready", NULL)),
                     "ready delayed reserved dead  ");
    ck_assert_str_eq(members("ready"), "other");
    ck_assert_int_eq(size_of("delayed") + size_of("reserved") + size_of("dead"), 0);
    ck_assert_int_eq(size_of("jobs"), 1);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(how_many(tags[i]), 0);
    ck_assert_int_eq(stat_of("cancelled"), 4);
    check_sums();
}

TEST(a_cancelled_reservation_is_told)
{
    redisContext *listener = listen_to("cancelled");

    push("a");
    run("cancel", "a", NULL);
    ck_assert_str_eq(heard(listener, "cancelled"), "end");
    push("b");
    reserve('t', 1);
    run("cancel", mine("b"), NULL);
    ck_assert_str_eq(heard(listener, "cancelled"), mine("b"));
    redisFree(listener);
}

TEST(a_cancelled_reservation_is_lost)
{
    uint64_t before;

    push("a");
    reserve('t', 1);
    ck_assert_str_eq(flat(run("cancel", mine("a"), NULL)), "reserved");
    before = digest();
    ck_assert_str_eq(flat(run("ack", mine("a"), NULL)), "1");
    ck_assert_str_eq(flat(run("release", mine("a"), "0", "ran", "", NULL)), "1");
    ck_assert_uint_eq(digest(), before);
    check_sums();
}

TEST(a_reserved_job_needs_its_member)
{
    uint64_t before;

    push("a");
    push("b");
    reserve('t', 2);
    before = digest();
    ck_assert_str_eq(flat(run("cancel", "a", member('u', "a"), "b", "x", NULL)), "   ");
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(flat(run("cancel", "x", mine("a"), "a", NULL)), " reserved ");
    check_sums();
}

TEST(plain_members_are_cancelled_with_right_sums)
{
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ask("ZADD %s 9999999999 %s", key("delayed"), "{\"n\":2}");
    push("a");
    ck_assert_str_eq(flat(run("cancel", PLAIN, "{\"n\":2}", "a", NULL)), "ready delayed ready");
    ck_assert_int_eq(stat_of("cancelled"), 3);
    ck_assert_int_eq(stat_of("adopted"), 2);
    ck_assert_int_eq(size_of("ready") + size_of("delayed"), 0);
    check_sums();
}

TEST(at_most_five_hundred_a_call)
{
    uint64_t before;

    bury("a");
    push("0");
    before = digest();
    for (int i = 0; i < 501; i++) {
        argf("%d", i);
    }
    run_error("cancel", NULL);
    for (int i = 0; i < 500; i++)
        argf("%d", i);
    run_error("kick", "a", NULL);
    ck_assert_uint_eq(digest(), before);
    for (int i = 0; i < 499; i++)
        argf("%d", i);
    run("kick", "a", NULL);
    for (int i = 0; i < 499; i++) {
        argf("%d", i);
    }
    run("cancel", "a", NULL);
    ck_assert_int_eq(stat_of("cancelled"), 2);
    check_sums();
}

/* ---- purge */

TEST_EACH(purge_drops_the_first_of_a_state, 3)
{
    static const char *const states[] = { "ready", "delayed", "dead" };

    one_in_each_state();
    fill_each_state();
    ck_assert_str_eq(flat(run("purge", states[_i], "500", NULL)), "1");
    ck_assert_int_eq(size_of(states[_i]), 0);
    ck_assert_int_eq(size_of("jobs"), 3);
    for (size_t n = 0; n < 5; n++)
        ck_assert_str_eq(noted(tags[n], states[_i]), "");
    ck_assert_int_eq(how_many("a"), 3);
    ck_assert_int_eq(stat_of("purged"), 1);
    check_sums();
    ck_assert_str_eq(flat(run("purge", states[_i], "500", NULL)), "0");
}

TEST(purge_keeps_to_its_limit)
{
    for (int i = 0; i < 5; i++)
        push(text("%d", i));
    ck_assert_str_eq(flat(run("purge", "ready", "3", NULL)), "3");
    ck_assert_str_eq(members("ready"), "3 4");
    ck_assert_str_eq(flat(run("purge", "ready", "3", NULL)), "2");
    ck_assert_int_eq(stat_of("purged"), 5);
    check_sums();
}

TEST(purged_plain_members_keep_the_sums)
{
    push("a");
    ask("ZADD %s 0 %s 1 %s", key("ready"), PLAIN, "{\"n\":2}");
    ck_assert_str_eq(flat(run("purge", "ready", "2", NULL)), "2");
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_int_eq(stat_of("adopted"), 2);
    ck_assert_int_eq(stat_of("purged"), 2);
    check_sums();
}

/* ---- trim */

TEST(trim_keeps_the_newest)
{
    bury("abcdefg");
    ck_assert_str_eq(flat(run("trim", "0", "0", "500", NULL)), "0");
    ck_assert_str_eq(flat(run("trim", "7", "0", "500", NULL)), "0");
    ck_assert_str_eq(flat(run("trim", "5", "0", "500", NULL)), "2");
    ck_assert_str_eq(members("dead"), "c d e f g");
    ck_assert_str_eq(noted("e", "a"), "");
    ck_assert_str_eq(flat(run("trim", "1", "0", "3", NULL)), "3");
    ck_assert_str_eq(members("dead"), "f g");
    ck_assert_int_eq(stat_of("trimmed"), 5);
    check_sums();
}

TEST(trim_drops_what_is_too_old)
{
    bury("abcd");
    ask("ZADD %s %s a %s b", key("dead"), text("%.6f", now() - 200), text("%.6f", now() - 90));
    ck_assert_str_eq(flat(run("trim", "0", "300", "500", NULL)), "0");
    ck_assert_str_eq(flat(run("trim", "0", "100.5", "500", NULL)), "1");
    ck_assert_str_eq(members("dead"), "b c d");
    ck_assert_str_eq(flat(run("trim", "2", "1000", "500", NULL)), "1");
    ck_assert_str_eq(flat(run("trim", "1000", "1000", "500", NULL)), "0");
    ck_assert_str_eq(members("dead"), "c d");
    ask("ZADD %s 1 c 2 d", key("dead"));
    ck_assert_str_eq(flat(run("trim", "1", "60", "500", NULL)), "2"); /* either is enough */
    ck_assert_int_eq(stat_of("trimmed"), 4);
    check_sums();
}

TEST(what_is_refused_changes_nothing)
{
    static const char *const wrong[][4] = {
        { "purge", "reserved", "1" }, { "purge", "gone", "1" },    { "purge", "dead", "0" },
        { "purge", "dead", "501" },   { "purge", "dead", "1.5" },  { "purge", "dead", "nan" },
        { "purge", "dead", "-1" },    { "purge", "dead", "0x10" }, { "trim", "-1", "0", "1" },
        { "trim", "1.5", "0", "1" },  { "trim", "nan", "0", "1" }, { "trim", "inf", "0", "1" },
        { "trim", "0", "-1", "1" },   { "trim", "0", "nan", "1" }, { "trim", "0", "inf", "1" },
        { "trim", "1", "0", "0" },    { "trim", "1", "0", "501" }, { "trim", "1", "0", "nan" },
        { "trim", "1", "0", "0x10" }, { "trim", "", "0", "1" },
    };
    uint64_t before;

    bury("abc");
    before = digest();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *why;

        for (int n = 1; n < 4 && wrong[i][n]; n++)
            arg(wrong[i][n]);
        why = run_error(wrong[i][0], NULL);
        ck_assert_mem_eq(why, text("ERR %s: ", wrong[i][0]), strlen(wrong[i][0]) + 6);
        ck_assert_msg(digest() == before, "row %zu changed something", i);
    }
}

/* ---- pause and resume */

TEST(pause_and_resume_tell_how_it_was)
{
    push("a");
    ck_assert_str_eq(flat(run("pause", NULL)), "1");
    ck_assert_int_eq(size_of("paused"), 1);
    ck_assert_str_eq(flat(run("pause", NULL)), "0");
    ck_assert_int_eq(size_of("paused"), 1);
    ck_assert_int_eq(ask("TTL %s", key("paused"))->integer, -1);
    ck_assert_str_eq(flat(run("pause", "5000000", NULL)), "1");
    ck_assert_int_ge(ask("TTL %s", key("paused"))->integer, 4000);
    ck_assert_str_eq(flat(run("pause", NULL)), "1");
    ck_assert_int_eq(ask("TTL %s", key("paused"))->integer, -1);
    run_error("pause", "0", NULL);
    run_error("pause", "1", "a b", NULL);
    run_error("pause", "1", "ann", "bob", NULL);
    ck_assert_str_eq(flat(run("pause", "5000000", "ann", NULL)), "1");
    ck_assert_ptr_nonnull(strstr(ask("GET %s", key("paused"))->str, " ann"));
    ck_assert_str_eq(flat(run("pause", "0", "bob@web1", NULL)), "1");
    ck_assert_str_eq(flat(run("pause", "0", "bob@web1", NULL)), "0");
    ck_assert_ptr_nonnull(strstr(ask("GET %s", key("paused"))->str, " 0.000 bob@web1"));
    ask("DEL %s", key("wake"));
    ck_assert_str_eq(flat(run("resume", NULL)), "1");
    ck_assert_int_eq(size_of("paused"), 0);
    check_wake();
    ck_assert_str_eq(flat(run("resume", NULL)), "0");
    check_wake();
}

TEST(a_wake_is_put_back_where_there_is_work)
{
    ck_assert_str_eq(flat(run("wake", NULL)), "0");
    check_wake();
    push("a");
    ask("LPOP %s", key("wake"));
    ck_assert_str_eq(flat(run("wake", NULL)), "1");
    ck_assert_str_eq(flat(run("wake", NULL)), "1");
    check_wake();
    run("pause", NULL);
    ck_assert_str_eq(flat(run("wake", NULL)), "0");
    check_wake();
    check_sums();
}

TEST(a_paused_queue_goes_on_otherwise)
{
    push("a");
    push("b");
    push("c");
    reserve('t', 3);
    run("pause", NULL);
    run("ack", mine("a"), NULL);
    run("release", mine("b"), "0", "ran", "", NULL);
    run("return", mine("c"), "0", "held", NULL);
    push("d");
    push_when("e", "+100");
    run("kick", "e", NULL);
    ck_assert_str_eq(members("ready"), "c b d e");
    check_wake();
    run("resume", NULL);
    check_wake();
    check_sums();
}

/* ---- act */

static const char *const act_states[] = { "ready", "delayed", "reserved", "dead" };

/* act VERB STATE '' of the one job that is in that state, with its score. */
static const char *act(const char *verb, const char *state)
{
    const char *seen = strcmp(state, "reserved") == 0 ? "" : score_text(state, state);

    hold_by("rrrrrrrrrrrrrrrr");
    return flat(run("act", verb, state, strcmp(verb, "bury") == 0 ? ERROR : "", state, seen, NULL));
}

TEST(act_takes_what_each_verb_may)
{
    static const struct {
        const char *verb, *states, *counter;
    } verbs[] = {
        { "kick", "delayed dead", "kicked" },
        { "bury", "ready delayed", "buried" },
        { "cancel", "ready delayed reserved dead", "cancelled" },
    };

    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
        for (size_t s = 0; s < 4; s++) {
            uint64_t before;
            int64_t counted;

            ask("FLUSHALL");
            one_in_each_state();
            fill_each_state();
            before = digest();
            if (!strstr(verbs[v].states, act_states[s])) {
                run_error("act", verbs[v].verb, act_states[s], "", act_states[s], "", NULL);
                ck_assert_uint_eq(digest(), before);
                continue;
            }
            counted = stat_of(verbs[v].counter);
            ck_assert_str_eq(act(verbs[v].verb, act_states[s]), "1");
            ck_assert_int_eq(stat_of(verbs[v].counter), counted + 1);
            ck_assert_int_eq(stat_of("buried_waiting"), verbs[v].verb[0] == 'b');
            check_sums();
            if (v == 0)
                check_wake();
        }
    }
}

TEST(act_leaves_alone_what_has_moved)
{
    uint64_t before;

    one_in_each_state();
    fill_each_state();
    before = digest();
    ck_assert_str_eq(
        flat(run("act", "cancel", "delayed", "", "ready", "", "dead", "", "none", "", NULL)), "0");
    ck_assert_str_eq(flat(run("act", "kick", "dead", "", "dead", "17", NULL)), "0");
    ck_assert_str_eq(flat(run("act", "cancel", "reserved", "", "reserved", "", NULL)), "0");
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(flat(run("act", "kick", "dead", "", "dead", "", NULL)), "1");
    ck_assert_str_eq(noted("a", "dead"), ""); /* its errors begin again */
    ck_assert_str_eq(noted("p", "dead"), "4");
    ck_assert_str_eq(noted("e", "dead"), "5");
}

TEST(act_takes_an_id_once)
{
    push("a");
    push("b");
    reserve('r', 2);
    hold_by("rrrrrrrrrrrrrrrr");
    ck_assert_str_eq(flat(run("act", "cancel", "reserved", "", "a", "", "a", "", NULL)), "1");
    ck_assert_str_eq(members("reserved"), member('r', "b"));
    ck_assert_int_eq(stat_of("cancelled"), 1);
    ask("ZADD %s 5 %s", key("ready"), PLAIN);
    ck_assert_str_eq(flat(run("act", "bury", "ready", ERROR, PLAIN, "", PLAIN, "", NULL)), "1");
    ck_assert_int_eq(stat_of("adopted"), 1);
    check_sums();
}

/* A dead job has an id and a document, whatever it was. */
TEST(act_buries_plain_members)
{
    ask("ZADD %s 5 %s", key("ready"), PLAIN);
    push("a");
    ck_assert_str_eq(flat(run("act", "bury", "ready", ERROR, PLAIN, "5", "a", "", NULL)), "2");
    ck_assert_int_eq(size_of("dead"), 2);
    ck_assert_int_eq(stat_of("adopted"), 1);
    ck_assert_ptr_nonnull(strstr(noted("e", "a"), "\"attempt\":0,\"kind\":\"retry\""));
    check_sums();
}

/* ---- act: move */

/* Has the queue `r` hear all news of `q` `times` times, and looks at it from then on. */
static void hear_moves(int times)
{
    const redisReply *news = ask("ZRANGE %s 0 -1", key("news"));

    on_queue("r");
    for (int i = 0; i < times; i++) {
        arg("q");
        for (size_t n = 0; n < news->elements; n++)
            arg(news->element[n]->str);
        run("flow_hear", NULL);
    }
}

TEST(move_takes_all_along_once)
{
    static const char *const along[] = { "a", "c", "p", "e", "h", "g", "m" };

    push("a");
    push_when("b", "+100");
    push("d");
    reserve('r', 1);
    run("return", member('r', "a"), "0", "held", NULL);
    reserve('r', 1);
    run("bury", member('r', "a"), "ran", ERROR, NULL);
    for (size_t i = 0; i < sizeof along / sizeof *along; i++)
        note(along[i], "b", text("%zu", i + 1));
    note("b", "b", "7");
    note("l", "b", "8 l x");
    note("q", "b", "9 G");
    ask("ZADD %s 5 a", key("dead"));
    ck_assert_str_eq(flat(run("act", "move", "ready", "r", "d", "", NULL)), "1");
    ck_assert_str_eq(flat(run("act", "move", "delayed", "r", "b", "", NULL)), "1");
    ck_assert_str_eq(flat(run("act", "move", "dead", "r", "a", "5", NULL)), "1");
    ck_assert_int_eq(stat_of("moved"), 3);
    ck_assert_int_eq(size_of("jobs") + size_of("records"), 0);
    check_sums();
    hear_moves(3);
    ck_assert_str_eq(members("delayed"), "d b");
    ck_assert_str_eq(members("dead"), "a");
    ck_assert_double_eq(score("dead", "a"), 5);
    ck_assert_str_eq(noted("a", "a"), "1");
    for (size_t i = 0; i < sizeof along / sizeof *along; i++)
        ck_assert_str_eq(noted(along[i], "b"), text("%zu", i + 1));
    ck_assert_str_eq(text("%s%s%s", noted("b", "b"), noted("l", "b"), noted("q", "b")), "0 G");
    ck_assert_int_eq(stat_of("pushed"), 3);
    check_sums();
    on_queue("q");
}

TEST(move_keeps_the_order)
{
    for (int i = 0; i < 20; i++) {
        push(text("%c%d", 'z' - i, i)); /* not by their names */
        arg("move");
        arg("ready");
        arg("r");
        arg(text("%c%d", 'z' - i, i));
        arg("");
        ck_assert_str_eq(flat(run("act", NULL)), "1");
    }
    hear_moves(1);
    ck_assert_str_eq(members("delayed"),
                     "z0 y1 x2 w3 v4 u5 t6 s7 r8 q9 p10 o11 n12 m13 l14 k15 j16 i17 h18 g19");
    on_queue("q");
}

#define BAD_ID                                                                                     \
    "bad\x7f"                                                                                      \
    "id"

/* What only this queue knows stays; and no call is too large. */
TEST(move_leaves_alone_what_has_ties)
{
    static const char *const ties[] = { "f", "u", "d" };
    const char *wrong[] = { "q", "no such", "", "r/1" };
    uint64_t before;

    for (size_t i = 0; i < 3; i++) {
        push(ties[i]);
        note(ties[i], ties[i], "60");
    }
    ask("ZADD %s 1 %s", key("ready"), BAD_ID);
    ask("HSET %s %s {}", key("jobs"), BAD_ID);
    ask("HINCRBY %s pushed 1", key("stats"));
    before = digest();
    ck_assert_str_eq(flat(run("act", "move", "ready", "r", "f", "", "u", "", "d", "", BAD_ID, "",
                              "none", "", NULL)),
                     "0");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        run_error("act", "move", "ready", wrong[i], "f", "", NULL);
    run_error("act", "move", "reserved", "r", "f", "", NULL);
    run_error("act", "move", "waiting", "r", "f", "", NULL);
    ck_assert_uint_eq(digest(), before);
    ask("ZADD %s 5 %s", key("ready"), PLAIN);
    ck_assert_str_eq(flat(run("act", "move", "ready", "r", PLAIN, "5", NULL)), "1");
    ck_assert_int_eq(stat_of("adopted"), 1);
    check_sums();
    argf("move");
    argf("ready");
    argf("r");
    for (int i = 0; i < 42; i++) {
        if (i % 2)
            argf("%s", "");
        else
            argf("n%d", i);
    }
    run_error("act", NULL);
    hear_moves(2);
    ck_assert_int_eq(size_of("delayed"), 1);
    ck_assert_str_eq(field("jobs", members("delayed")), PLAIN);
    check_sums();
    on_queue("q");
}

/* ---- forget */

/* The result of a job outlives its forgotten queue: who waits for a new job of the id must not get
 * it. */
TEST(forget_leaves_no_old_result)
{
    const char *result = "later:{q}:result:a";

    ask("HSET %s results %ld done 1", key("stats"), time(NULL) + 1000);
    ask("RPUSH %s old", result);
    ck_assert_str_eq(flat(run("forget", NULL)), "0");
    ck_assert_int_eq(ask("HLEN %s", key("stats"))->integer, 1);
    push("a");
    ck_assert_int_eq(ask("EXISTS %s", result)->integer, 0);
}

TEST(forget_keeps_what_has_jobs)
{
    static const char *const states[] = { "ready", "delayed", "reserved", "dead" };
    uint64_t before;

    one_in_each_state();
    fill_each_state();
    before = digest();
    ck_assert_str_eq(flat(run("forget", NULL)), "4");
    for (size_t i = 0; i < 4; i++) {
        ask("DEL %s", key(states[i])); /* a document alone is a job too */
        ck_assert_str_ne(flat(run("forget", NULL)), "0");
    }
    ck_assert_uint_ne(digest(), before);
    ask("DEL %s", key("jobs"));
    ask("SET %s 1", key("paused"));
    ck_assert_str_eq(flat(run("forget", NULL)), "0");
    ck_assert_int_eq(
        ask("EXISTS %s %s %s %s", key("stats"), key("records"), key("paused"), key("wake"))
            ->integer,
        0);
}
