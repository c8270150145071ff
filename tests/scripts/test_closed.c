/* test_closed.c: jobs of a group that has no permit left cost nothing until one is free, and all of
 * them are served when it opens. The scripts are those of Redis, and what a worker makes of their
 * answers is backlog.h; the clock is Redis's. A look is a job that was handed out. */
#include "harness.h"

#include "queue/line.h"
#include "worker/backlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS   500
#define NAME   "n" /* of the permits: as in the keys of the harness */
#define LINE   "p " NAME
#define HOLDER "holder" /* a permit of another host */
#define STEP   5.0      /* seconds between two looks at what is due */

/* What one worker knows. */
static struct backlog *backlog;
static struct backlog_row *row;
static const char *max; /* its max_running; NULL: it was taken out */

/* What has begun, in order. */
static int begun[JOBS], begun_count;

static void restart(void)
{
    backlog_free(backlog);
    backlog = backlog_new();
    row = backlog_make(backlog, 'p', NAME, 0);
}

static void push_all(void)
{
    begun_count = 0;
    for (int i = 0; i < JOBS;) {
        arg("0");
        arg("new");
        for (int n = 0; n < 500; n++, i++) {
            argf("j%d", i);
            arg("");
            arg("0@full");
            arg("{\"type\":\"t\"}");
        }
        run("push", NULL);
        harness_free();
    }
}

/* The line has answered: it is known how many wait. Those that it calls become ready; for one that
 * does not come the next is called. */
static void call(const redisReply *line)
{
    row->waiting = (size_t)line->element[0]->integer;
    for (size_t i = 2; i + 2 < line->elements; i += 3) {
        const char *waiter = line->element[i]->str;

        if (run("hasten", line->element[i + 1]->str, line->element[i + 2]->str,
                strchr(waiter, ' ') + 1, NULL)
                ->integer == 0)
            call(run("permit_line", max ? max : "100", "", "0", waiter, NULL));
    }
}

/* What each worker does once a second about a line that it knows. */
static void look_after(void)
{
    if (row->waiting)
        call(run("permit_line", max, "", "0", "", NULL));
}

static void begin(char token, const char *id)
{
    begun[begun_count++] = atoi(id + 1);
    run("ack", member(token, id), NULL);
}

/* Those that entered the line last: the one that eight have come behind is put off (put_off.h). */
static void entered(const char *id, const char *due)
{
    static char ids[BACKLOG_LAST][16], dues[BACKLOG_LAST][32];
    unsigned i = row->entered++ % BACKLOG_LAST;

    if (row->entered > BACKLOG_LAST)
        run("put_off", ids[i], dues[i], text("%.6f", now() + backlog_later(row, 0)), NULL);
    snprintf(ids[i], sizeof ids[i], "%s", id);
    snprintf(dues[i], sizeof dues[i], "%s", due);
}

/* It waits, and its record says where. */
static void turn_away(char token, const char *id, const char *answer)
{
    const char *behind = strchr(answer, ' ');
    double wait = backlog_wait(row, 0, behind ? atoll(behind) : -1);
    const char *due = text("%.6f", now() + wait);

    run("return", member(token, id), due, "line:" LINE, NULL);
    ck_assert_str_eq(noted("l", id), text("%s " LINE, due));
    call(run("permit_line", max, due, text("%d", 1000 + atoi(id + 1)), text("q %s", id), NULL));
    entered(id, due);
}

/* The line in which a record says that its job waits. */
static const char *line_in(const char *record)
{
    const char *space = strchr(value_in(record, "l"), ' ');

    return space ? space + 1 : "";
}

/* A job was handed out: it begins, or waits. */
static void meet(char token, const char *id, const char *record)
{
    struct later_line line;
    const char *answer;

    if (!max) {
        if (later_line_unlimited(line_in(record), &line))
            call(run("permit_line", text("%u", line.max), "", "0", text("q %s", id), NULL));
        begin(token, id);
        return;
    }
    answer = flat(run("permit_take", id, max, "600", text("q %s", id), NULL));
    if (*answer)
        turn_away(token, id, answer);
    else
        begin(token, id);
}

/* All that is due is handed out, one job at a time. */
static void serve(void)
{
    static int calls;

    for (;;) {
        char token = (char)('a' + calls++ % 26);
        const redisReply *reply = reserve(token, 1);

        if (!jobs_in(reply))
            return;
        meet(token, told(reply, 0, ID), told(reply, 0, RECORD));
        harness_free();
    }
}

/* Lets so many seconds pass. */
static void pass(double seconds)
{
    for (double s = 0; s < seconds; s += STEP) {
        server_advance(&harness_server, STEP);
        while (run("migrate", "500", NULL)->element[0]->integer == 500)
            serve();
        serve();
    }
}

/* One of another host runs, and all others wait and know that they are in the line. */
static void close_it(void)
{
    max = "1";
    restart();
    run("permit_take", HOLDER, "1", "100000", "", NULL);
    push_all();
    serve();
    pass(BACKLOG_MOST + STEP);
    ck_assert_int_eq(begun_count, 0);
    ck_assert_int_eq(size_of("delayed"), JOBS);
}

static void check_all_served(void)
{
    ck_assert_int_eq(begun_count, JOBS);
    ck_assert_int_eq(size_of("delayed") + size_of("ready"), 0);
    check_sums();
}

TEST(a_closed_group_costs_nothing)
{
    long long looks;

    close_it();
    ck_assert_int_le(stat_of("reserved"), JOBS + (long long)(BACKLOG_MOST + STEP));
    looks = stat_of("reserved");
    pass(600);
    ck_assert_int_le(stat_of("reserved") - looks, 600);
    ck_assert_int_ge(stat_of("reserved") - looks, 10); /* whoever knows of the line may be gone */
    ck_assert_int_eq(begun_count, 0);
    check_sums();
}

/* Those that come wait for nobody else: a job of another group is served at once. */
TEST(others_pass_a_closed_group)
{
    close_it();
    arg("0");
    arg("new");
    run("push", "other", "", "0@other", "{\"type\":\"t\"}", NULL);
    ck_assert_str_eq(told(reserve('o', 1), 0, ID), "other");
}

/* Its laterd is gone, and so is all that knew of the line. Within a minute somebody does, and the
 * first that was ready comes first. */
TEST(a_restart_finds_the_line)
{
    close_it();
    for (int i = 0; i < 3; i++) {
        restart();
        pass(BACKLOG_SOON + STEP);
        ck_assert_uint_eq(row->waiting, JOBS);
        ck_assert_int_eq(begun_count, 0);
    }
    run("permit_free", HOLDER, NULL);
    look_after();
    serve();
    ck_assert_int_eq(begun_count, 1);
    ck_assert_int_eq(begun[0], 0);
    check_sums();
}

/* laterd dies when it has given a job back, and before it has told the line when it is due. */
TEST(a_line_need_not_know_when_a_job_is_due)
{
    close_it();
    run("kick", "j0", NULL);
    ck_assert_str_eq(told(reserve('z', 1), 0, ID), "j0");
    run("return", member('z', "j0"), "4000000000", "line:" LINE, NULL);
    run("permit_free", HOLDER, NULL);
    look_after();
    serve();
    ck_assert_int_eq(begun_count, 1);
    ck_assert_int_eq(begun[0], 0);
    check_sums();
}

/* The host that held the permit is lost: it ends by itself, and the next look at the line serves.
 */
TEST(a_permit_that_ends_by_itself_opens_it)
{
    close_it();
    server_advance(&harness_server, 100000);
    look_after();
    for (int i = 0; i < 20; i++) {
        serve();
        ck_assert_int_eq(begun_count, i + 1);
        ck_assert_int_eq(begun[i], i);
        run("permit_free", text("j%d", i), NULL); /* which asks who comes next */
        look_after();
    }
}

TEST(a_raised_max_running_calls_all_that_may)
{
    close_it();
    max = "51";
    look_after();
    serve();
    ck_assert_int_eq(begun_count, 50);
    for (int i = 0; i < 50; i++)
        ck_assert_int_lt(begun[i], 50);
}

/* Nobody asks for a permit any more, and nobody knows of the line. The first job that looks calls
 * the others. */
TEST(a_max_running_that_is_taken_out_frees_all)
{
    close_it();
    restart();
    max = NULL;
    pass(BACKLOG_SOON + STEP);
    check_all_served();
    for (int i = 0; i < 4; i++) { /* some were called while they began by themselves */
        server_advance(&harness_server, 61);
        call(run("permit_line", "100", "", "0", "", NULL));
    }
    ck_assert_int_eq(ask("EXISTS later:running:{" NAME "}:waiting")->integer, 0);
}

/* Kicked, it is not served before its turn, and waits as before. */
TEST(a_kick_looks_and_waits)
{
    long long looks;

    close_it();
    looks = stat_of("reserved");
    run("kick", "j234", NULL);
    serve();
    ck_assert_int_eq(stat_of("reserved") - looks, 1);
    ck_assert_int_eq(begun_count, 0);
    ck_assert_str_ne(score_text("delayed", "j234"), "");
}
