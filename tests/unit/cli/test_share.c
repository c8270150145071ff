/* test_share.c: pauses that keep long work to a tenth of Redis's time, however it goes. */
#include "choose/share.h"

#include "tests/unit/unit.h"

#include <math.h>

/* A walk: pieces of so much waiting each, of which Redis works for a part; and how it went. */
struct made {
    double part;  /* of the wait for answers */
    double way;   /* seconds that a call seems to take that asks for nothing */
    bool silent;  /* it does not tell what it has worked */
    double own;   /* seconds of our own for each second of waiting */
    double late;  /* by so much a sleep ends late */
    double every; /* every so many pieces, one stands still for `still` seconds; 0 = none */
    double still;
    double taken, time, longest; /* what comes of it */
    int pieces;
};

static void walk(struct made *walk, double seconds)
{
    struct share share;
    double before = 0;

    share_begin(&share, walk->way);
    for (walk->time = 0; walk->time < seconds; walk->pieces++) {
        double waited = 0, taken, pause, piece;

        for (int i = 0, more = 1; more; i++) {
            double call = i % 2 ? 0.0009 : 0.0003;

            more = !share_called(&share, call);
            waited += call;
        }
        taken = waited * walk->part;
        piece = waited * (1 + walk->own);

        if (walk->every > 0 && fmod(walk->pieces, walk->every) == walk->every - 1)
            piece += walk->still;
        pause = share_pause(&share, walk->silent ? -1 : taken, before + piece);
        ck_assert_double_ge(pause, 0);
        walk->longest = fmax(walk->longest, pause);
        before = pause > 0 ? pause + walk->late : 0;
        walk->time += piece + before;
        walk->taken += taken;
    }
}

static double share_of(struct made made)
{
    walk(&made, 60);
    return made.taken / made.time;
}

TEST(a_tenth_of_the_whole)
{
    for (int part = 10; part <= 100; part += 15) {
        double share = share_of((struct made){ .part = part / 100.0, .own = 0.3 });

        ck_assert_double_le(share, 0.1);
        ck_assert_double_ge(share, part == 10 ? 0.06 : 0.095);
    }
}

/* Where others had the processor when we asked for the first time, the way seemed long. */
TEST(a_long_way_hides_nothing)
{
    double share = share_of((struct made){ .part = 0.9, .own = 0.3, .way = 10 });

    ck_assert_double_le(share, 0.1);
    ck_assert_double_ge(share, 0.095);
}

/* Then the time waited beyond a round trip is used. A round trip is no longer than any call. */
TEST(one_that_does_not_tell)
{
    double near = share_of((struct made){ .part = 0.9, .own = 0.3, .silent = true });
    double far = share_of((struct made){ .part = 0.5, .own = 0.3, .way = 10, .silent = true });

    ck_assert(near >= 0.085 && near <= 0.1); /* all of the wait is taken for its work */
    ck_assert_double_le(far, 0.1);
    ck_assert_double_ge(far, 0.05);
}

/* A pause of 20 ms that takes 25 or 60 is made up for: neither more than a tenth, nor much less. */
TEST(late_ends_of_sleeps_are_made_up_for)
{
    for (int late = 1; late <= 40; late += 13) {
        double share = share_of((struct made){ .part = 0.9, .own = 0.3, .late = late / 1000.0 });

        ck_assert_double_le(share, 0.1);
        ck_assert_double_ge(share, 0.095);
    }
}

/* Where we ourselves are the slow ones there is no pause. */
TEST(slow_ones_do_not_rest)
{
    struct made made = { .part = 0.5, .own = 10 };

    walk(&made, 60);
    ck_assert_double_le(made.taken / made.time, 0.1);
    ck_assert_double_eq(made.longest, 0);
}

/* Time that a slow reader of ours left unused is not made up for at once. */
TEST(a_long_stop_gives_little_credit)
{
    struct share share;
    double taken = 0;

    share_begin(&share, 0);
    share_pause(&share, 0, 3600);
    while (share_called(&share, 0.005), share_pause(&share, 0.005, 0.005) <= 0)
        taken += 0.005;
    ck_assert_double_le(taken, 0.1);
    ck_assert_double_ge(taken, 0.04); /* some is */
}

/* A Redis that did not answer for long is no reason to stop for as long ten times over. */
TEST(no_pause_is_long)
{
    struct share share;

    share_begin(&share, 0);
    share_called(&share, 300);
    ck_assert_double_le(share_pause(&share, 300, 300), 1);
    ck_assert_double_le(share_pause(&share, 0, 1), 0); /* and it is over then */
}

/* Questions of what Redis has worked cost it something: not for each call of a fast one. */
TEST(pauses_are_worth_their_while)
{
    struct made fast = { .part = 0.02, .own = 0.3 }, slow = { .part = 1, .own = 0.3 };

    walk(&fast, 60);
    walk(&slow, 60);
    ck_assert_int_lt(fast.pieces, 60 * 20);
    ck_assert_int_lt(slow.pieces, 60 * 60);
    ck_assert_double_lt(slow.longest, 0.1);
}
