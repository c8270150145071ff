/* test_aftermath.c: what becomes of a job that was running when its worker died: the whole
 * table. */
#include "keeper/aftermath.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define BACKOFF 7.5 /* what the slot says to wait, should it crash */

enum { NOT_LAST, LAST };
enum { SERIAL, EVENT };
enum { ALONE, OTHERS };

struct row {
    enum later_ending ending;
    int others, event, last;
    int32_t crashes;
    enum later_verb verb;
    double wait;
    const char *how, *kind;
};

/* crash_max is 3. Crashes: -1 none, 0 a suspect. */
static const struct row rows[] = {
    /* By itself, alone: the crash is its own. The first is retried at once. */
    { LATER_ENDED_CRASH, ALONE, SERIAL, NOT_LAST, -1, LATER_VERB_RELEASE, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, NOT_LAST, 0, LATER_VERB_RELEASE, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, NOT_LAST, 1, LATER_VERB_RELEASE, BACKOFF, "crashed",
      "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, NOT_LAST, 2, LATER_VERB_BURY, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, NOT_LAST, 9, LATER_VERB_BURY, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, LAST, -1, LATER_VERB_BURY, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, LAST, 0, LATER_VERB_BURY, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, SERIAL, LAST, 2, LATER_VERB_BURY, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, EVENT, NOT_LAST, -1, LATER_VERB_RELEASE, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, EVENT, NOT_LAST, 0, LATER_VERB_RELEASE, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, EVENT, NOT_LAST, 1, LATER_VERB_RELEASE, BACKOFF, "crashed",
      "crash" },
    { LATER_ENDED_CRASH, ALONE, EVENT, NOT_LAST, 2, LATER_VERB_BURY, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, ALONE, EVENT, LAST, -1, LATER_VERB_BURY, 0, "crashed", "crash" },
    /* A serial job runs on the stack, so other RUNNING jobs had no part in the crash. */
    { LATER_ENDED_CRASH, OTHERS, SERIAL, NOT_LAST, -1, LATER_VERB_RELEASE, 0, "crashed", "crash" },
    { LATER_ENDED_CRASH, OTHERS, SERIAL, LAST, -1, LATER_VERB_BURY, 0, "crashed", "crash" },
    /* With several event jobs, nobody knows whose fault it was. So none is charged, even at its
     * last attempt. */
    { LATER_ENDED_CRASH, OTHERS, EVENT, NOT_LAST, -1, LATER_VERB_RETURN, 0, "suspect", "" },
    { LATER_ENDED_CRASH, OTHERS, EVENT, NOT_LAST, 0, LATER_VERB_RETURN, 0, "suspect", "" },
    { LATER_ENDED_CRASH, OTHERS, EVENT, NOT_LAST, 2, LATER_VERB_RETURN, 0, "suspect", "" },
    { LATER_ENDED_CRASH, OTHERS, EVENT, LAST, -1, LATER_VERB_RETURN, 0, "suspect", "" },
    /* We ended it: over its time. Crashes do not count here. */
    { LATER_ENDED_TIMEOUT, ALONE, SERIAL, NOT_LAST, -1, LATER_VERB_RELEASE, BACKOFF, "ran",
      "timeout" },
    { LATER_ENDED_TIMEOUT, ALONE, SERIAL, NOT_LAST, 0, LATER_VERB_RELEASE, BACKOFF, "ran",
      "timeout" },
    { LATER_ENDED_TIMEOUT, ALONE, SERIAL, NOT_LAST, 2, LATER_VERB_RELEASE, BACKOFF, "ran",
      "timeout" },
    { LATER_ENDED_TIMEOUT, ALONE, SERIAL, LAST, -1, LATER_VERB_BURY, 0, "ran", "timeout" },
    { LATER_ENDED_TIMEOUT, ALONE, EVENT, NOT_LAST, -1, LATER_VERB_RELEASE, BACKOFF, "ran",
      "timeout" },
    { LATER_ENDED_TIMEOUT, OTHERS, SERIAL, NOT_LAST, -1, LATER_VERB_RELEASE, BACKOFF, "ran",
      "timeout" },
    { LATER_ENDED_TIMEOUT, OTHERS, EVENT, NOT_LAST, -1, LATER_VERB_RETURN, 0, "suspect", "" },
    { LATER_ENDED_TIMEOUT, OTHERS, EVENT, LAST, 1, LATER_VERB_RETURN, 0, "suspect", "" },
    /* laterd stops: nothing is charged. */
    { LATER_ENDED_INTERRUPTED, ALONE, SERIAL, NOT_LAST, -1, LATER_VERB_RETURN, 0, "interrupted",
      "" },
    { LATER_ENDED_INTERRUPTED, ALONE, SERIAL, LAST, 2, LATER_VERB_RETURN, 0, "interrupted", "" },
    { LATER_ENDED_INTERRUPTED, ALONE, EVENT, NOT_LAST, 0, LATER_VERB_RETURN, 0, "interrupted", "" },
    { LATER_ENDED_INTERRUPTED, OTHERS, EVENT, LAST, -1, LATER_VERB_RETURN, 0, "interrupted", "" },
    { LATER_ENDED_INTERRUPTED, OTHERS, SERIAL, NOT_LAST, 5, LATER_VERB_RETURN, 0, "interrupted",
      "" },
    /* All of laterd was killed: that is an attempt, but no crash of the job; it runs again at
     * once. */
    { LATER_ENDED_LEFT, ALONE, SERIAL, NOT_LAST, -1, LATER_VERB_RELEASE, 0, "ran", "crash" },
    { LATER_ENDED_LEFT, ALONE, SERIAL, NOT_LAST, 0, LATER_VERB_RELEASE, 0, "ran", "crash" },
    { LATER_ENDED_LEFT, ALONE, SERIAL, NOT_LAST, 2, LATER_VERB_RELEASE, 0, "ran", "crash" },
    { LATER_ENDED_LEFT, ALONE, SERIAL, LAST, -1, LATER_VERB_BURY, 0, "ran", "crash" },
    { LATER_ENDED_LEFT, ALONE, EVENT, NOT_LAST, -1, LATER_VERB_RELEASE, 0, "ran", "crash" },
    { LATER_ENDED_LEFT, OTHERS, SERIAL, NOT_LAST, -1, LATER_VERB_RELEASE, 0, "ran", "crash" },
    { LATER_ENDED_LEFT, OTHERS, EVENT, NOT_LAST, -1, LATER_VERB_RETURN, 0, "suspect", "" },
    { LATER_ENDED_LEFT, OTHERS, EVENT, LAST, 2, LATER_VERB_RETURN, 0, "suspect", "" },
};

static struct slot slot_of(const struct row *row)
{
    return (struct slot){ .state = SLOT_RUNNING,
                          .event = (uint32_t)row->event,
                          .attempt = row->last ? 5 : 4,
                          .max_attempts = 5,
                          .crashes = row->crashes,
                          .began = 1,
                          .retry_in = BACKOFF,
                          .ending = LATER_ENDED_DONE };
}

static void check(const struct slot *slot, const struct row *row, const char *text)
{
    const struct later_ending_row *ended = &later_endings[slot_ending(slot)];
    char name[80];

    snprintf(name, sizeof name, "ending %d others %d event %d last %d crashes %d", (int)row->ending,
             row->others, row->event, row->last, (int)row->crashes);
    ck_assert_msg(slot_verb(slot) == row->verb, "%s: verb %d", name, slot_verb(slot));
    ck_assert_msg(slot->wait == row->wait, "%s: wait %f", name, slot->wait);
    ck_assert_msg(strcmp(ended->how, row->how) == 0, "%s: how %s", name, ended->how);
    ck_assert_msg(strcmp(ended->kind ? ended->kind : "", row->kind) == 0, "%s: kind %s", name,
                  ended->kind);
    ck_assert_msg(strcmp(slot->text, *row->kind ? text : "") == 0, "%s: text %s", name, slot->text);
    ck_assert_uint_eq(slot->state, SLOT_RUNNING); /* the caller's */
}

TEST(test_table)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slot slot = slot_of(&rows[i]);

        aftermath_judge(&slot, rows[i].others, rows[i].ending, "killed by signal 11", 3);
        check(&slot, &rows[i], "killed by signal 11");
    }
}

/* If the number of attempts is not known yet, none is the last. */
TEST(test_attempts_not_known)
{
    /* At once, except for the least delay from the tenth attempt on. */
    static const struct row unknown = { LATER_ENDED_CRASH,  ALONE, SERIAL,    NOT_LAST, -1,
                                        LATER_VERB_RELEASE, 1,     "crashed", "crash" };
    struct slot slot = slot_of(&unknown);

    slot.attempt = 1000;
    slot.max_attempts = 0;
    aftermath_judge(&slot, false, LATER_ENDED_CRASH, "x", 3);
    check(&slot, &unknown, "x");
}

TEST(test_more_attempts_than_there_are)
{
    static const struct row last = { LATER_ENDED_TIMEOUT, ALONE, SERIAL, LAST,     -1,
                                     LATER_VERB_BURY,     0,     "ran",  "timeout" };
    struct slot slot = slot_of(&last);

    slot.attempt = 6;
    aftermath_judge(&slot, false, LATER_ENDED_TIMEOUT, "x", 3);
    check(&slot, &last, "x");
}

/* crash_max from 1 up: the crash that reaches it buries the job. */
TEST(test_crash_max)
{
    for (uint32_t most = 1; most < 6; most++) {
        for (int32_t crashes = -1; crashes < 8; crashes++) {
            static const struct row any = { LATER_ENDED_CRASH, ALONE, SERIAL, NOT_LAST, 0,
                                            LATER_VERB_ACK,    0,     "",     "" };
            struct slot slot = slot_of(&any);
            int32_t before = crashes < 0 ? 0 : crashes;

            slot.crashes = crashes;
            aftermath_judge(&slot, false, LATER_ENDED_CRASH, "x", most);
            ck_assert_uint_eq(slot_verb(&slot),
                              before + 1 >= (int32_t)most ? LATER_VERB_BURY : LATER_VERB_RELEASE);
        }
    }
}
