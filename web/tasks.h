/*
 * tasks.h: requests that a `later` command answers: a few desks, and a queue before them.
 *
 * The answer is {"command":"later show …","answers":[…],"status":0,"words":""}: each line that the
 * command printed, as it is, its exit status and what it said. A command whose lines are wanted as
 * they come answers by a stream of events, one a line, and `event: end` with the rest; when its
 * reader leaves it is stopped.
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

/* Answers it, now or later. *params becomes its own. who: for the log, copied. */
void tasks_take(struct tasks *tasks, struct evhttp_request *request, const char *path, bool post,
                struct params *params, const char *who);

#endif
