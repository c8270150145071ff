/*
 * flow.h: a flow `f` of the queue `q`: its jobs are pushed, performed and counted. The id of a job
 * is that of its step.
 */
#ifndef TESTS_SCRIPTS_FLOW_H
#define TESTS_SCRIPTS_FLOW_H

#include "harness.h"

/* An error of a handler, as a record has it after its time and attempt. */
#define FLOW_ERROR "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

/* Its jobs are performed in this queue. For AT_START. */
void flow_lies_in(const char *queue);

/* ---- flow_push */

/* Its beginning: the flow is closed then ("1") or not. flow_by: another flow, or one that a job of
 * it adds to. */
void flow(const char *close);
void flow_by(const char *name, const char *adder, const char *close);

/* Its next job: waits for `after`, as `when`. job_as: its id, when it is due, its priority. */
void job(const char *step, const char *after, const char *when);
void job_as(const char *id, const char *step, const char *after, const char *due,
            const char *priority);

/* Its answer. */
const char *pushed(void);

/* Pushes all of it: b, which waits for a. */
void push_pair(void);

/* ---- performing */

/* Reserves the first ready job, which must be this one, under a token of its own, which it returns.
 */
char begin(const char *id);

/* The same; and it is done, or dead. */
void done(const char *id);
void fails(const char *id);

/* A counter of the flow. */
long long count_of_flow(const char *name);

#endif
