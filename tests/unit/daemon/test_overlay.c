/* test_overlay.c: which types are paused in which queue, as workers see it. */
#include "overlay.h"

#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct overlay *overlay;
static char name[LATER_TYPE_MAX + 1];

static void set_up(void)
{
    overlay = overlay_new();
    ck_assert_ptr_nonnull(overlay);
}

static void tear_down(void)
{
    overlay_free(overlay);
}

/* What heed answers. */
static size_t put(const char *queue, double now, const char *answer)
{
    struct later_reply *reply = reply_made(answer);
    size_t missed = overlay_put(overlay, queue, reply, now);

    later_reply_free(reply);
    return missed;
}

static bool pauses(const char *queue, const char *type, double now)
{
    return overlay_pauses(overlay, queue, type, now, name);
}

#define ONE  "*3\r\n:0\r\n$6\r\ntype:a\r\n$1\r\n0\r\n"
#define TWO  "*5\r\n:0\r\n$6\r\ntype:a\r\n$1\r\n0\r\n$7\r\ntype:b*\r\n$4\r\n10.5\r\n"
#define NONE "*1\r\n:0\r\n"

CASE("overlays", set_up, tear_down);

TEST(nothing_is_paused)
{
    ck_assert(!overlay_pauses(NULL, "q", "a", 1, name));
    ck_assert(!pauses("q", "a", 1));
    put("q", 1, NONE);
    ck_assert(!pauses("q", "", 1));
}

TEST(types_and_their_beginnings)
{
    ck_assert_uint_eq(put("q", 100, TWO), 0);
    ck_assert(pauses("q", "a", 1000));
    ck_assert_str_eq(name, "a");
    ck_assert(!pauses("q", "aa", 100) && !pauses("other", "a", 100));
    ck_assert(pauses("q", "bulk", 110));
    ck_assert_str_eq(name, "b*");
    ck_assert(!pauses("q", "bulk", 110.6));
}

TEST(each_answer_is_all_of_it)
{
    put("q", 100, TWO);
    put("r", 100, ONE);
    put("q", 100, ONE);
    ck_assert(pauses("q", "a", 100) && !pauses("q", "bulk", 100));
    put("q", 100, NONE);
    ck_assert(!pauses("q", "a", 100) && pauses("r", "a", 100));
    ck_assert_uint_eq(overlay_put(overlay, "r", NULL, 0), 0);
    ck_assert(!pauses("r", "a", 100));
}

TEST(only_so_many)
{
    char queue[32];

    for (int i = 0; i < OVERLAY_MAX; i++) {
        snprintf(queue, sizeof queue, "q%d", i);
        ck_assert_uint_eq(put(queue, 1, ONE), 0);
    }
    ck_assert_uint_eq(put("more", 1, TWO), 2);
    ck_assert(!pauses("more", "a", 1));
    put("q7", 1, NONE);
    ck_assert_uint_eq(put("more", 1, ONE), 0);
    ck_assert(pauses("more", "a", 1) && !pauses("q7", "a", 1));
}

/* In another process, which may not write. */
TEST(a_worker_sees_it)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        overlay_seal(overlay);
        while (!pauses("q", "a", 1))
            usleep(1000);
        _exit(0);
    }
    put("q", 1, ONE);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static struct later_numbers got;

/* How many are set; 0: as configured. */
static unsigned set_to(enum later_line_for what, const char *of, double now)
{
    got = (struct later_numbers){ 0 };
    return overlay_numbers(overlay, what, of, now, &got) ? got.max : 0;
}

#define NUMBERS                                                                                    \
    "*7\r\n:0\r\n$18\r\nlimit:a:to= 2 30.5\r\n$1\r\n0\r\n$16\r\nlimit:a:to=b 9 0\r\n$1\r\n0\r\n"   \
    "$12\r\npermit:q 1 0\r\n$2\r\n10\r\n"

TEST(numbers)
{
    ck_assert(!overlay_numbers(NULL, LATER_LINE_PERMIT, "q", 1, &got));
    put(LATER_KEY_LIMITS, 100, NUMBERS);
    ck_assert_uint_eq(set_to(LATER_LINE_LIMIT, "a:to=c", 100), 2);
    ck_assert(got.per == 30.5);
    ck_assert_uint_eq(set_to(LATER_LINE_LIMIT, "a:to=b", 100), 9);
    ck_assert(got.per == 0);
    ck_assert_uint_eq(set_to(LATER_LINE_LIMIT, "q", 100), 0);
    ck_assert_uint_eq(set_to(LATER_LINE_PERMIT, "q", 100), 1);
    ck_assert_uint_eq(set_to(LATER_LINE_PERMIT, "q", 111), 0);
    ck_assert_uint_eq(set_to(LATER_LINE_LOCK, "q", 100), 0);
    put(LATER_KEY_LIMITS, 100, NONE);
    ck_assert_uint_eq(set_to(LATER_LINE_PERMIT, "q", 100), 0);
}

/* Of a queue they are none, whoever has laid them over it. */
TEST(numbers_are_of_no_queue)
{
    put("q", 100, NUMBERS);
    ck_assert_uint_eq(set_to(LATER_LINE_PERMIT, "q", 100), 0);
    ck_assert(!pauses("q", "q", 100));
}
