/* check.h: what the two files of the system tests' plugin share. check.c says what it does. */
#ifndef TESTS_SYSTEM_CHECK_H
#define TESTS_SYSTEM_CHECK_H

#include <later/job.h>
#include <later/job_json.h>
#include <stdbool.h>

/* UNIX seconds. */
double check_now(void);

/* Writes a line into `begun`. Returns the time. */
double check_begin(const struct later_job *job);
/* Writes a line into `ended`. */
void check_end(const struct later_job *job, double start);

void check_sleep(double seconds);

/* May a job with this payload end? It may unless it has an "until" whose file is missing. */
bool check_may_end(const json_t *what);

/* check_event.c: the event type. */
enum later_result check_event(struct later_job *job);
void check_cancel(struct later_job *job);

#endif
