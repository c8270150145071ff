/* test_verdict.c: may a job run, and how does an attempt end? */
#include "job/verdict.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static const struct later_backoff backoff = { .base = 8, .max = 40, .jitter = 0 };
static struct later_policy policy;
static struct later_document doc;
static struct later_attempt attempt;

static void set_up(void)
{
    policy = (struct later_policy){ .max_attempts = 3,
                                    .crash_max = 2,
                                    .timeout = 300,
                                    .backoff = { .base = 1, .max = 20, .jitter = 0.25 } };
    attempt = (struct later_attempt){ .number = 1,
                                      .crashes = -1,
                                      .max_attempts = 3,
                                      .crash_max = 2,
                                      .retry_in = -1,
                                      .backoff = &backoff };
}

static void read_document(const char *bytes)
{
    struct later_error err;

    ck_assert_msg(
        later_document_parse(&doc, LATER_DOCUMENT_JOB, bytes, strlen(bytes), 65536, &err) == 0,
        "%s", err.text);
}

/* ---- policy */

CASE("policy", set_up, NULL);

TEST(test_what_the_document_does_not_say)
{
    read_document("{\"type\":\"t\"}");
    later_policy_apply(&policy, &doc);
    ck_assert_uint_eq(policy.max_attempts, 3);
    ck_assert_uint_eq(policy.crash_max, 2);
    ck_assert_double_eq(policy.timeout, 300);
    ck_assert_double_eq(policy.backoff.base, 1);
    ck_assert_double_eq(policy.backoff.max, 20);
}

TEST(test_what_it_says)
{
    read_document("{\"type\":\"t\",\"max_attempts\":9,\"timeout\":1.5,\"backoff\":[1,2]}");
    later_policy_apply(&policy, &doc);
    ck_assert_uint_eq(policy.max_attempts, 9);
    ck_assert_double_eq(policy.timeout, 1.5);
    ck_assert_uint_eq(policy.backoff.list_count, 2);
}

static void check_backoff(const char *document, double base, double max)
{
    set_up();
    read_document(document);
    later_policy_apply(&policy, &doc);
    ck_assert_double_eq(policy.backoff.base, base);
    ck_assert_double_eq(policy.backoff.max, max);
    ck_assert_double_eq(policy.backoff.jitter, 0.25);
}

TEST(test_half_a_backoff)
{
    check_backoff("{\"type\":\"t\",\"backoff\":{\"base\":5}}", 5, 20);
    check_backoff("{\"type\":\"t\",\"backoff\":{\"max\":5}}", 1, 5);
    check_backoff("{\"type\":\"t\",\"backoff\":{\"base\":50}}", 50, 50);
    check_backoff("{\"type\":\"t\",\"backoff\":{\"base\":50,\"max\":9}}", 50, 9);
}

/* ---- before */

static enum later_fitness before(uint32_t attempts, int32_t crashes, double now)
{
    return later_verdict_before(&policy, &doc, attempts, crashes, attempts > 0, now);
}

CASE("verdict", set_up, NULL);

TEST(test_before)
{
    read_document("{\"type\":\"t\",\"expires_at\":1e9}");
    ck_assert_int_eq(before(0, -1, 999999999), LATER_FIT);
    ck_assert_int_eq(before(2, 1, 999999999), LATER_FIT);
    ck_assert_int_eq(before(3, -1, 999999999), LATER_FIT_USED_UP);
    ck_assert_int_eq(before(2, 2, 999999999), LATER_FIT_USED_UP);
    ck_assert_int_eq(before(0, -1, 1e9), LATER_FIT_EXPIRED);
    ck_assert_int_eq(before(1, -1, 1e9), LATER_FIT); /* it has been begun */
    ck_assert_int_eq(before(3, 2, 1e9), LATER_FIT_USED_UP);
    ck_assert_int_eq(before(0, 0, 0), LATER_FIT); /* the time is not known */
    policy.crash_max = 1;
    ck_assert_int_eq(before(0, 0, 0), LATER_FIT); /* a suspect has not crashed */
}

/* ---- after */

/* A job's first crash uses up none of its waits, whichever attempt it was; later ones do. */
TEST(test_waits)
{
    static const struct {
        uint32_t number;
        int32_t crashes;
        double wait;
    } rows[] = { { 1, -1, 8 }, { 2, -1, 16 }, { 1, 0, 8 },  { 2, 0, 16 }, { 2, 1, 8 },
                 { 3, 1, 16 }, { 3, 2, 16 },  { 4, 3, 32 }, { 1, 1, 8 },  { 0, 1, 8 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq(later_verdict_backoff(&backoff, rows[i].number, rows[i].crashes, 0),
                            rows[i].wait);
}

static void check(enum later_ending ending, enum later_verb verb, double wait, const char *how,
                  const char *kind)
{
    const struct later_ending_row *row;
    struct later_verdict verdict;

    attempt.ending = ending;
    verdict = later_verdict_after(&attempt);
    row = &later_endings[verdict.ending];
    ck_assert_int_eq(later_ending_verb(verdict.ending, verdict.last), verb);
    ck_assert_double_eq(verdict.wait, wait);
    ck_assert_str_eq(row->how, how);
    ck_assert_pstr_eq(row->kind, kind);
}

TEST(test_with_attempts_left)
{
    check(LATER_ENDED_DONE, LATER_VERB_ACK, 0, "done", NULL);
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 8, "ran", "retry");
    check(LATER_ENDED_BURY, LATER_VERB_BURY, 0, "ran", "buried");
    check(LATER_ENDED_TIMEOUT, LATER_VERB_RELEASE, 8, "ran", "timeout");
    check(LATER_ENDED_CRASH, LATER_VERB_RELEASE, 0, "crashed", "crash"); /* the first: at once */
    check(LATER_ENDED_PROGRAM, LATER_VERB_RELEASE, 8, "ran", "crash");   /* no worker's */
    check(LATER_ENDED_LEFT, LATER_VERB_RELEASE, 0, "ran", "crash");
    check(LATER_ENDED_INTERRUPTED, LATER_VERB_RETURN, 0, "interrupted", NULL);
    check(LATER_ENDED_RETURNED, LATER_VERB_RETURN, 8, "held", "return");
}

/* A job that runs out of attempts keeps the kind of its last failure. Only one that is buried on
 * purpose is `buried`. */
TEST(test_the_last_attempt)
{
    attempt.number = 3;
    check(LATER_ENDED_DONE, LATER_VERB_ACK, 0, "done", NULL);
    check(LATER_ENDED_RETRY, LATER_VERB_BURY, 0, "ran", "retry");
    check(LATER_ENDED_BURY, LATER_VERB_BURY, 0, "ran", "buried");
    check(LATER_ENDED_TIMEOUT, LATER_VERB_BURY, 0, "ran", "timeout");
    check(LATER_ENDED_CRASH, LATER_VERB_BURY, 0, "crashed", "crash");
    check(LATER_ENDED_LEFT, LATER_VERB_BURY, 0, "ran", "crash");
    check(LATER_ENDED_INTERRUPTED, LATER_VERB_RETURN, 0, "interrupted", NULL);
    check(LATER_ENDED_RETURNED, LATER_VERB_RETURN, 8, "held",
          "return"); /* not the longer pause of the third */
    check(LATER_ENDED_PROGRAM, LATER_VERB_BURY, 0, "ran", "crash");
    attempt.max_attempts = 0; /* of a slot that does not tell */
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 32, "ran", "retry");
}

/* Its retries end by time as they do by number. */
TEST(test_too_late)
{
    attempt.too_late = true;
    check(LATER_ENDED_DONE, LATER_VERB_ACK, 0, "done", NULL);
    check(LATER_ENDED_RETRY, LATER_VERB_BURY, 0, "ran", "retry");
    check(LATER_ENDED_CRASH, LATER_VERB_BURY, 0, "crashed", "crash");
    check(LATER_ENDED_INTERRUPTED, LATER_VERB_RETURN, 0, "interrupted", NULL);
}

TEST(test_crashes)
{
    attempt.crash_max = 3;
    attempt.crashes = 0; /* a suspect */
    check(LATER_ENDED_CRASH, LATER_VERB_RELEASE, 0, "crashed", "crash");
    attempt.crashes = 1;
    attempt.number = 2;
    check(LATER_ENDED_CRASH, LATER_VERB_RELEASE, 8, "crashed", "crash"); /* the first wait */
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 8, "ran", "retry");
    check(LATER_ENDED_RETURNED, LATER_VERB_RETURN, 8, "held", "return");
    attempt.crashes = 2;
    check(LATER_ENDED_CRASH, LATER_VERB_BURY, 0, "crashed", "crash");
    check(LATER_ENDED_TIMEOUT, LATER_VERB_RELEASE, 8, "ran", "timeout");
    check(LATER_ENDED_LEFT, LATER_VERB_RELEASE, 0, "ran", "crash");
    attempt.crashes = -1;
    attempt.crash_max = 1;
    check(LATER_ENDED_CRASH, LATER_VERB_BURY, 0, "crashed", "crash");
}

TEST(test_beside_others)
{
    attempt.beside_others = true;
    attempt.number = 3;
    check(LATER_ENDED_CRASH, LATER_VERB_RETURN, 0, "suspect", NULL);
    check(LATER_ENDED_TIMEOUT, LATER_VERB_RETURN, 0, "suspect", NULL);
    check(LATER_ENDED_LEFT, LATER_VERB_RETURN, 0, "suspect", NULL);
    check(LATER_ENDED_INTERRUPTED, LATER_VERB_RETURN, 0, "interrupted", NULL);
    check(LATER_ENDED_RETRY, LATER_VERB_BURY, 0, "ran", "retry"); /* it said so itself */
}

TEST(test_retry_in)
{
    attempt.retry_in = 0;
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 0, "ran", "retry");
    attempt.retry_in = 86400;
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 86400, "ran", "retry");
    attempt.crashes = 1;
    attempt.crash_max = 9;
    attempt.backoff = NULL;
    check(LATER_ENDED_CRASH, LATER_VERB_RELEASE, 86400, "crashed", "crash");
    attempt.retry_in = NAN;
    attempt.backoff = &backoff;
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 8, "ran", "retry");
}

/* A backoff of nothing: the first nine retries come at once, the others a second apart. */
TEST(test_floor)
{
    attempt.max_attempts = 1000;
    attempt.retry_in = 0;
    attempt.number = 9;
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 0, "ran", "retry");
    attempt.number = 10;
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 1, "ran", "retry");
    attempt.number = 999;
    check(LATER_ENDED_TIMEOUT, LATER_VERB_RELEASE, 1, "ran", "timeout");
    attempt.retry_in = 1.5;
    check(LATER_ENDED_RETRY, LATER_VERB_RELEASE, 1.5, "ran", "retry");
}
