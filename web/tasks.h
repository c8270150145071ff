/*
 * tasks.h: requests that a `later` command answers: a few desks, and a queue before them.
 *
 * The answer is {"command":"later show …","answers":[…],"status":0,"words":""}: each line that the
 * command printed, as it is, its exit status and what it said. A command whose lines are wanted as
 * they come answers by a stream of events, one a line, and `event: end` with the rest. One that
 * only looks is stopped when its reader leaves.
 */
#ifndef LATER_WEB_TASKS_H
#define LATER_WEB_TASKS_H

#include "desk.h"
#include "http.h"
#include "params.h"
#include "route.h"

struct event_base;
struct tasks;

/* Something was changed: for the log. queue: NULL = none was named. */
typedef void tasks_done_fn(void *arg, const char *who, const char *command, const char *queue,
                           int status);

struct tasks *tasks_new(struct event_base *base, struct http *http,
                        const struct desk_program *program, tasks_done_fn *done, void *arg,
                        struct later_error *err);
void tasks_free(struct tasks *tasks);

/* Asks a stream that changes something to come to an end, by the number in its first event,
 * `event: task`, {"task":7}. Returns 0, or -1 where there is none. When its reader leaves, it goes
 * on. */
int tasks_stop(const struct tasks *tasks, unsigned long number);

/* Answers it, now or later. *params becomes its own. who: for the log, copied. */
void tasks_take(struct tasks *tasks, struct evhttp_request *request, const char *path, bool post,
                struct params *params, const char *who);

#endif
