/*
 * attempt.h: how an attempt ends: its result becomes a settlement in the job's slot, the slot goes
 * into the outbox. Besides, it leaves its counts for the history, the value that its handler gave
 * back, and its line in the log.
 */
#ifndef LATERD_ATTEMPT_H
#define LATERD_ATTEMPT_H

#include "queue/queue.h"

#include "log.h"
#include "worker/state.h"

/* A line about the job; how long it has run is not said. */
void attempt_log(const struct later_job *job, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keeps a line with the job, if its queue keeps any (reservation/logbook.h). Its time is Redis's,
 * as that of errors and progress is. Any thread may call it while the job runs. */
void attempt_keep_line(const struct later_job *job, enum log_level level, const char *text);

/* Redis's time when it began; 0 while that is not known. */
double attempt_began(const struct later_job *job);

/* What a worker learns of types from the jobs that end. NULL: no memory. _free takes NULL. */
struct attempts *attempts_new(void);
void attempts_free(struct attempts *attempts);
/* Do jobs of this type take more than a millisecond? Earlier acks are sent before such a job. A
 * type that is not known yet counts as slow. */
bool attempt_is_slow(struct attempts *attempts, const struct plugin_type *type);
/* Moves an average of durations. */
void attempt_learn(double *average, double seconds);

/* The attempt has ended with `result`, now. timed_out: it was over its time. The job is settled;
 * its struct is not freed. */
void attempt_end(struct later_job *job, uint32_t result, bool timed_out, double now);
/* Has it failed only because it was cancelled, or is another's by now? Then its end counts for
 * nothing. */
bool attempt_is_given_up(const struct slot *slot);
/* Has somebody cancelled it, as far as is known? */
bool attempt_is_cancelled(const struct slot *slot);
/* Settles a job that was never begun. wait: seconds, if it goes back; text: as of slot_finish(). */
void attempt_unrun(struct later_job *job, enum later_ending ending, double wait, const char *text);
/* Notes in its slot what is pushed when it ends: by its document, the entry of its type, its
 * program, or its queue. A hook has none. */
void attempt_note_hooks(struct later_job *job);
/* Settles a slot that says how: slot_finish() was called. */
void attempt_settle(struct worker *worker, struct slot *slot);

#endif
