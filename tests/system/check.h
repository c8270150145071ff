/* check.h: what the two files of the system tests' plugin share. Its head says what it does. */
#ifndef TESTS_SYSTEM_CHECK_H
#define TESTS_SYSTEM_CHECK_H

#include <later/job.h>
#include <later/job_json.h>
#include <stdbool.h>

/* UNIX seconds. */
double check_now(void);

/* A line in `begun`; returns the time. */
double check_begin(const struct later_job *job);
/* A line in `ended`. */
void check_end(const struct later_job *job, double start);

void check_sleep(double seconds);

/* May a job with this payload end: is there the file "until" in the folder, or none wanted? */
bool check_may_end(const json_t *what);

/* check_event.c: the event type. */
enum later_result check_event(struct later_job *job);
void check_cancel(struct later_job *job);

#endif
