/* test_job.c: document before type before global, and what becomes of a job that has run. */
#include "reservation/job.h"

#include "config/config.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct config_type types[2];
static struct config config;
static struct later_job job;
static struct slot slot;
static struct later_error err;

static void set_up(void)
{
    types[0] = (struct config_type){ .name = "video.encode",
                                     .timeout = 3600,
                                     .max_attempts = 3,
                                     .backoff = { .base = 10, .max = 100, .jitter = 0.5 } };
    types[1] = (struct config_type){
        .name = "video.*",
        .timeout = 60,
        .max_attempts = 7,
        .backoff = { .base = 2, .max = 20, .jitter = 0, .list_count = 2, .list = { 5, 6 } }
    };
    config = (struct config){ .timeout = 300,
                              .max_attempts = 25,
                              .backoff = { .base = 1, .max = 3600, .jitter = 0.25 },
                              .types = types,
                              .type_count = 2 };
    slot = (struct slot){ .state = SLOT_RUNNING };
}

static const struct later_document *program_said; /* what a program has said of the type */

/* The policy for a job with this document. */
static void decide(const char *document)
{
    job = (struct later_job){ .began = 1000, .retry_in = -1, .attempt = 1, .slot = &slot };
    ck_assert_msg(later_document_parse(&job.doc, LATER_DOCUMENT_JOB, document, strlen(document),
                                       65536, &err) == 0,
                  "%s", err.text);
    job_policy(&job, &config, program_said);
}

static void check_policy(const char *document, double timeout, uint32_t attempts, double base,
                         double max, double jitter)
{
    decide(document);
    ck_assert_double_eq(job.deadline, 1000 + timeout);
    ck_assert_uint_eq(job.policy.max_attempts, attempts);
    ck_assert_uint_eq(job.policy.backoff.list_count, 0);
    ck_assert_double_eq(job.policy.backoff.base, base);
    ck_assert_double_eq(job.policy.backoff.max, max);
    ck_assert_double_eq(job.policy.backoff.jitter, jitter);
}

/* ---- policy */

CASE("policy", set_up, NULL);

TEST(test_global)
{
    check_policy("{\"type\":\"mail\"}", 300, 25, 1, 3600, 0.25);
    check_policy("{\"type\":\"mail\",\"timeout\":1.5,\"max_attempts\":2}", 1.5, 2, 1, 3600, 0.25);
}

TEST(test_type_before_global)
{
    check_policy("{\"type\":\"video.encode\"}", 3600, 3, 10, 100, 0.5);
    decide("{\"type\":\"video.other\"}");
    ck_assert_double_eq(job.deadline, 1060);
    ck_assert_uint_eq(job.policy.max_attempts, 7);
    ck_assert_uint_eq(job.policy.backoff.list_count, 2);
    ck_assert_double_eq(job.policy.backoff.list[1], 6);
}

TEST(test_document_before_type)
{
    check_policy("{\"type\":\"video.encode\",\"timeout\":0.25,\"max_attempts\":1000}", 0.25, 1000,
                 10, 100, 0.5);
    check_policy("{\"type\":\"video.encode\",\"max_attempts\":1}", 3600, 1, 10, 100, 0.5);
}

/* What a program says counts where neither the document nor the row of the type says otherwise. */
TEST(test_said_by_the_program)
{
    static const char text[] =
        "{\"type\":\"t\",\"max_attempts\":4,\"backoff\":{\"base\":8,\"max\":9}}";
    static struct later_document words;

    ck_assert_int_eq(
        later_document_parse(&words, LATER_DOCUMENT_JOB, text, strlen(text), 1000, &err), 0);
    program_said = &words;
    check_policy("{\"type\":\"mail\"}", 300, 4, 8, 9, 0.25);
    check_policy("{\"type\":\"mail\",\"max_attempts\":2}", 300, 2, 8, 9, 0.25);
    check_policy("{\"type\":\"mail\",\"backoff\":{\"base\":1,\"max\":5}}", 300, 4, 1, 5, 0.25);
    check_policy("{\"type\":\"video.encode\"}", 3600, 3, 10, 100, 0.5);
    types[0].max_attempts = config.max_attempts; /* its row says nothing of attempts */
    check_policy("{\"type\":\"video.encode\"}", 3600, 4, 10, 100, 0.5);
    program_said = NULL;
}

/* Base alone, max alone, both: the type supplies what is missing, and a list is dropped. */
TEST(test_backoff_of_the_document)
{
    check_policy("{\"type\":\"mail\",\"backoff\":{\"base\":5}}", 300, 25, 5, 3600, 0.25);
    check_policy("{\"type\":\"mail\",\"backoff\":{\"max\":9}}", 300, 25, 1, 9, 0.25);
    check_policy("{\"type\":\"mail\",\"backoff\":{\"base\":5,\"max\":9}}", 300, 25, 5, 9, 0.25);
    check_policy("{\"type\":\"video.encode\",\"backoff\":{\"base\":5}}", 3600, 3, 5, 100, 0.5);
    check_policy("{\"type\":\"video.other\",\"backoff\":{\"base\":5}}", 60, 7, 5, 20, 0);
    check_policy("{\"type\":\"video.other\",\"backoff\":{\"max\":9}}", 60, 7, 2, 9, 0);
    /* A base above the configured cap is taken as it is. A cap of the document's own overrides. */
    check_policy("{\"type\":\"video.encode\",\"backoff\":{\"base\":500}}", 3600, 3, 500, 500, 0.5);
    check_policy("{\"type\":\"mail\",\"backoff\":{\"base\":50,\"max\":9}}", 300, 25, 50, 9, 0.25);
}

TEST(test_backoff_list_of_the_document)
{
    decide("{\"type\":\"video.other\",\"backoff\":[1,2.5,30]}");
    ck_assert_uint_eq(job.policy.backoff.list_count, 3);
    ck_assert_double_eq(job.policy.backoff.list[0], 1);
    ck_assert_double_eq(job.policy.backoff.list[1], 2.5);
    ck_assert_double_eq(job.policy.backoff.list[2], 30);
    decide("{\"type\":\"mail\",\"backoff\":7}"); /* a number: always that long */
    for (uint32_t attempt = 1; attempt < 9; attempt++)
        ck_assert_double_eq(later_backoff_delay(&job.policy.backoff, attempt, 0), 7);
}

/* ---- what a document may ask for */

TEST(test_ceiling)
{
    static const char greedy[] = "{\"type\":\"mail\",\"timeout\":604800,\"max_attempts\":1000000,"
                                 "\"backoff\":{\"base\":0,\"max\":0}}";

    config.ceiling = (struct later_ceiling){ .timeout = 600, .attempts = 50, .wait = 2 };
    check_policy(greedy, 600, 50, 2, 2, 0.25);
    check_policy("{\"type\":\"mail\",\"timeout\":600,\"max_attempts\":50,\"backoff\":{\"base\":3}}",
                 600, 50, 3, 3600, 0.25);
    check_policy("{\"type\":\"mail\"}", 300, 25, 1, 3600, 0.25); /* the configuration's own */
    decide("{\"type\":\"mail\",\"backoff\":[0,5,1.5]}");
    ck_assert_double_eq(job.policy.backoff.list[0], 2);
    ck_assert_double_eq(job.policy.backoff.list[1], 5);
    ck_assert_double_eq(job.policy.backoff.list[2], 2);
}

TEST(test_ceiling_of_a_type)
{
    config.ceiling = (struct later_ceiling){ .timeout = 600, .attempts = 50, .wait = 2 };
    types[0].ceiling = (struct later_ceiling){ .timeout = 9000, .attempts = 4, .wait = 7 };
    check_policy("{\"type\":\"video.encode\",\"timeout\":10000,\"max_attempts\":5,\"backoff\":{"
                 "\"base\":1}}",
                 9000, 4, 7, 100, 0.5);
    check_policy("{\"type\":\"video.encode\"}", 3600, 3, 10, 100, 0.5);
}

/* ---- settling */

static const struct later_ending_row *row_of_slot(void)
{
    return &later_endings[slot_ending(&slot)];
}

static void check_slot(enum later_verb verb, double wait, const char *how, const char *kind,
                       const char *text)
{
    ck_assert_int_eq(slot_verb(&slot), verb);
    ck_assert_double_eq(slot.wait, wait);
    ck_assert_pstr_eq(row_of_slot()->how, how);
    ck_assert_pstr_eq(row_of_slot()->kind, kind);
    ck_assert_str_eq(slot.text, text);
}

CASE("settle", set_up, NULL);

TEST(test_done)
{
    decide("{\"type\":\"mail\"}");
    strcpy(job.error, "left from before");
    job_settle(&job, &slot, LATER_DONE, false, 0);
    check_slot(LATER_VERB_ACK, 0, "done", NULL, "");
    job.attempt = job.policy.max_attempts = 1;
    job_settle(&job, &slot, LATER_DONE, true, 0);
    check_slot(LATER_VERB_ACK, 0, "done", NULL, "");
}

TEST(test_retry)
{
    decide("{\"type\":\"mail\",\"backoff\":{\"base\":8,\"max\":40}}");
    job_settle(&job, &slot, LATER_RETRY, false, UINT64_MAX);
    check_slot(LATER_VERB_RELEASE, 8, "ran", "retry", "the handler gave no reason");
    job_settle(&job, &slot, LATER_RETRY, false, 0); /* a quarter of jitter */
    check_slot(LATER_VERB_RELEASE, 6, "ran", "retry", "the handler gave no reason");
    job.attempt = 2;
    strcpy(job.error, "smtp: \"421\"");
    job_settle(&job, &slot, LATER_RETRY, true, UINT64_MAX);
    check_slot(LATER_VERB_RELEASE, 16, "ran", "timeout", "smtp: \"421\"");
    slot.crashes = 1; /* its worker died in the first */
    job_settle(&job, &slot, LATER_RETRY, false, UINT64_MAX);
    check_slot(LATER_VERB_RELEASE, 8, "ran", "retry", "smtp: \"421\"");
    job.attempt = 24; /* the last but one */
    job_settle(&job, &slot, LATER_RETRY, false, UINT64_MAX);
    check_slot(LATER_VERB_RELEASE, 40, "ran", "retry", "smtp: \"421\"");
}

TEST(test_retry_in)
{
    static const double said[] = { 0, 0.5, 86400 };

    decide("{\"type\":\"mail\"}");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        job.retry_in = said[i];
        job_settle(&job, &slot, LATER_RETRY, false, 1);
        check_slot(LATER_VERB_RELEASE, said[i], "ran", "retry", "the handler gave no reason");
    }
    job.retry_in = NAN; /* said nothing that can be waited */
    job_settle(&job, &slot, LATER_RETRY, false, UINT64_MAX);
    ck_assert_double_eq(slot.wait, 1);
}

TEST(test_bury)
{
    decide("{\"type\":\"mail\",\"max_attempts\":3}");
    job.retry_in = 5;
    job_settle(&job, &slot, LATER_BURY, false, 0);
    check_slot(LATER_VERB_BURY, 0, "ran", "buried", "the handler gave no reason");
    job.attempt = 2;
    job_settle(&job, &slot, LATER_RETRY, false, 0);
    ck_assert_int_eq(slot_verb(&slot), LATER_VERB_RELEASE);
    job.attempt = 3; /* the last */
    job_settle(&job, &slot, LATER_RETRY, true, 0);
    check_slot(LATER_VERB_BURY, 0, "ran", "timeout", "the handler gave no reason");
    job.attempt = 4; /* one too many cannot be, and would not run again either */
    job_settle(&job, &slot, LATER_RETRY, false, 0);
    ck_assert_int_eq(slot_verb(&slot), LATER_VERB_BURY);
}

TEST(test_return)
{
    decide("{\"type\":\"mail\",\"backoff\":{\"base\":8,\"max\":40},\"max_attempts\":3}");
    job.attempt = 3; /* also where an attempt would have been the last */
    job_settle(&job, &slot, LATER_RETURN, false, UINT64_MAX);
    ck_assert_int_eq(slot_verb(&slot), LATER_VERB_RETURN);
    ck_assert_double_eq(slot.wait, 8);
    job.retry_in = 0.5;
    job_settle(&job, &slot, LATER_RETURN, false, UINT64_MAX);
    ck_assert_double_eq(slot.wait, 0.5);
    check_slot(LATER_VERB_RETURN, 0.5, "held", "return", ""); /* no reason: nothing is noted */
    strcpy(job.error, "no room");
    job_settle(&job, &slot, LATER_RETURN, false, UINT64_MAX);
    check_slot(LATER_VERB_RETURN, 0.5, "held", "return", "no room");
    job_settle(&job, &slot, LATER_RETURN, true, UINT64_MAX); /* too late for it */
    ck_assert_int_eq(slot_verb(&slot), LATER_VERB_BURY);
    ck_assert_pstr_eq(row_of_slot()->kind, "timeout");
    ck_assert(job_result_valid(LATER_RETURN) && !job_result_valid(LATER_DEFERRED) &&
              !job_result_valid(LATER_RETURN + 1));
}

TEST(test_kinds)
{
    decide("{\"type\":\"mail\"}");
    job.kind = LATER_KIND_TIMEOUT;
    job_settle(&job, &slot, LATER_RETRY, false, 0);
    ck_assert_pstr_eq(row_of_slot()->kind, "timeout");
    job.kind = LATER_KIND_CRASH;
    job_settle(&job, &slot, LATER_RETRY, false, 0);
    ck_assert_pstr_eq(row_of_slot()->kind, "crash");
    ck_assert_pstr_eq(row_of_slot()->how,
                      "ran"); /* no worker died: not counted towards crash_max */
    job_settle(&job, &slot, LATER_BURY, false, 0);
    ck_assert_pstr_eq(row_of_slot()->kind, "buried");
}

/* ---- how it is counted */

TEST(test_outcomes)
{
    static const struct {
        uint32_t result, attempt;
        bool timed_out;
        enum later_outcome outcome;
    } rows[] = {
        { LATER_DONE, 1, false, LATER_OUTCOME_DONE },
        { LATER_DONE, 1, true, LATER_OUTCOME_DONE },
        { LATER_RETRY, 1, false, LATER_OUTCOME_RETRY },
        { LATER_RETRY, 1000000, false, LATER_OUTCOME_BURY },
        { LATER_RETRY, 1, true, LATER_OUTCOME_TIMEOUT },
        { LATER_RETRY, 1000000, true, LATER_OUTCOME_TIMEOUT },
        { LATER_BURY, 1, false, LATER_OUTCOME_BURY },
        { LATER_RETURN, 1, false, LATER_OUTCOME_RETURNED },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        decide("{\"type\":\"mail\"}");
        job.attempt = rows[i].attempt;
        job_settle(&job, &slot, rows[i].result, rows[i].timed_out, 0);
        ck_assert_int_eq(slot_counted(&slot), rows[i].outcome);
    }
    job.attempt = 1;
    job.kind = LATER_KIND_CRASH;
    job_settle(&job, &slot, LATER_RETRY, false, 0);
    ck_assert_int_eq(slot_counted(&slot), LATER_OUTCOME_CRASH);
}

TEST(test_waited)
{
    const double now = 1764000000.5;

    ck_assert_double_eq_tol(job_waited(1764000000.25, now), 0.25, 1e-6);
    ck_assert_double_eq_tol(job_waited(1763999000, now), 1000.5, 1e-6);
    ck_assert_double_eq_tol(job_waited(1663999999.500001, now), 1, 1e-5); /* priority 100 */
    ck_assert_double_eq_tol(job_waited(1864000000, now), 0.5, 1e-6);      /* -100 */
    ck_assert_double_eq(job_waited(1764000000.75, now), 0); /* a clock that is ahead */
    ck_assert_double_lt(job_waited(1764000000.25, 0), 0);   /* Redis's time is not known */
    ck_assert_double_lt(job_waited(0, now), 0);             /* before everything */
    ck_assert_double_lt(job_waited(NAN, now), 0);
    ck_assert_double_lt(job_waited(1e+20, now), 0);
    ck_assert_double_lt(job_waited(-INFINITY, now), 0);
    ck_assert_double_lt(job_waited(-5, now), 0);
}

/* ---- the log */

TEST(test_log_fields)
{
    struct log_job fields;

    decide("{\"type\":\"mail\",\"trace\":\"t-1\"}");
    job.id = "a";
    job.queue = "q";
    job.attempt = 4;
    job_log_fields(&job, 2.5, &fields);
    ck_assert_str_eq(fields.id, "a");
    ck_assert_str_eq(fields.queue, "q");
    ck_assert_str_eq(fields.type, "mail");
    ck_assert_str_eq(fields.trace, "t-1");
    ck_assert_uint_eq(fields.attempt, 4);
    ck_assert_double_eq(fields.ms, 2.5);
    memset(&job.doc, 0, sizeof job.doc); /* a document that could not be read */
    job_log_fields(&job, -1, &fields);
    ck_assert_ptr_null(fields.type);
    ck_assert_ptr_null(fields.trace);
}
