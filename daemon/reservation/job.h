/*
 * job.h: one attempt at one job, as the host sees it; plugins see it through later/job.h.
 *
 * A struct later_job lives from the moment its document is read until it is settled. An event job
 * that was settled without its handler (over its time) lives on until the handler finishes it, so
 * that the late finish can be refused.
 */
#ifndef LATERD_JOB_H
#define LATERD_JOB_H

#include "job/document.h"
#include "log.h"
#include "plugin/plugin.h"
#include "queue/flow.h"
#include "queue/line.h"
#include "reservation/counts.h"
#include "reservation/slots.h"

#include <stdbool.h>

struct worker;
struct worker_queue;
struct batch;

#define JOB_FLOW_SIZE (LATER_FLOW_MAX + 1 + LATER_QUEUE_MAX + 1)

struct later_job {
    struct worker *worker;           /* NULL: `laterd --perform` */
    struct slot *slot;               /* NULL: `laterd --perform`, or settled */
    const struct worker_queue *from; /* where it was reserved; NULL: `laterd --perform` */
    struct batch *batch;
    const char *document; /* borrowed from batch */
    size_t document_len;
    const char *checkpoint; /* where its last attempt left off; borrowed from batch; "" = nowhere */
    size_t checkpoint_len;
    const char *log; /* what its earlier attempts have logged; borrowed from batch; "" = nothing */
    size_t log_len;
    const struct plugin_type *type;
    const struct config_type *rules; /* its row of `types`, or NULL */
    const char *queue, *id, *token;
    double score; /* NAN: not known */
    uint32_t attempt;
    double first_failed;            /* when, by Redis's clock, if its retries end by time; else 0 */
    uint32_t in_worker;             /* its number */
    uint32_t asked;                 /* how many of its needs were met */
    struct lock_lease *asking;      /* the lease whose answer it waits for */
    struct admission_count *counts; /* what limits have counted, until it begins */
    double began, deadline;         /* later_clock() */
    struct later_policy policy;

    /* What the handler said. */
    double retry_in; /* < 0: by the backoff */
    uint32_t kind;   /* enum later_kind */
    void *data;
    uint32_t result;
    double kept; /* seconds that its result is kept; 0: not wanted */
    double keep; /* seconds that the job is kept once it is done; 0: not at all */
    char *value; /* its value, owned; NULL: none */
    size_t value_len;
    bool is_step; /* of a flow: its value may be wanted */

    /* What it gets from the jobs that it has waited for. */
    const struct later_reply *given; /* queue/flow.h; NULL: not asked for yet; `values_told`, or the
                                      * batch's */
    struct later_reply *values_told; /* the answer, if it was asked for; owned */
    char *values; /* the same as a JSON object, once a plugin has asked for that; owned */
    size_t values_len;

    /* Event jobs. */
    bool event, cancel_sent, told_stopping, ended, in_perform;
    struct timer *timer;
    struct later_job *next, **link;

    /* These are large, and of most jobs empty: job_clear() ends before them, but for first bytes.
     */
    char line[LATER_LINE_TEXT]; /* in which it has waited, or is to wait; "" = none */
    char flow[JOB_FLOW_SIZE];   /* in which it has waited, `FLOW@QUEUE` if that is in another queue;
                                 * "" = none */
    char error[SLOT_TEXT + 1];  /* what the handler said */
    char late_id[LATER_ID_MAX + 1],
        late_token[LATER_TOKEN_LEN + 1]; /* settled without its handler */
    struct later_document doc;
};

/* Makes it empty but for `doc`, which is read anew in any case. */
void job_clear(struct later_job *job);

/* Fills in the fields for log_job(). ms < 0: not known. */
void job_log_fields(const struct later_job *job, double ms, struct log_job *fields);

/* Sets attempts, time and backoff: by the document, within the limits of the configuration, else by
 * the row of its type where that differs from the global options, else attempts and backoff by what
 * its program has `said` (worker/said.h; NULL: nothing), else by the global options. Pure. */
void job_policy(struct later_job *job, const struct config *config,
                const struct later_document *said);

/* Does this enum later_result end an attempt? All but LATER_DEFERRED do. Pure. */
bool job_result_valid(uint32_t result);

/* Returns how long a job had waited when it began at `now` (Redis's clock; 0: not known). This is
 * read from its score: the time at which it was ready or due, less its priority in millions.
 * Negative if it is not known, or if no push gives such a score. Pure. */
double job_waited(double score, double now);

/* How an attempt has ended whose handler said `result`, and enum later_kind. timed_out: it was over
 * its time, which counts only if the handler has neither done nor buried it. Pure. */
enum later_ending job_ending(uint32_t result, bool timed_out, uint32_t kind);

/* Decides what that means for a job that has run: fills the slot (ending, last, wait, text).
 * `random` is any 64 random bits. */
void job_settle(const struct later_job *job, struct slot *slot, uint32_t result, bool timed_out,
                uint64_t random);

#endif
