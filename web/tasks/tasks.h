/*
 * tasks.h: requests that are answered by a `later` command: a few of `later serve`, and a queue
 * before them.
 *
 * The answer is {"command":"later show …","answers":[…],"status":0,"words":""}: each line that the
 * command printed, its exit status, and its messages. A command with a stream answers by events,
 * one per line, and ends with `event: end` and the rest. A stream that only looks is stopped when
 * its reader leaves.
 */
#ifndef LATER_WEB_TASKS_H
#define LATER_WEB_TASKS_H

#include "tasks/serve.h"
#include "http/http.h"
#include "http/mask.h"
#include "http/params.h"
#include "tasks/route.h"

struct acts;
struct event_base;
struct tasks;

/* Called after something was changed, for the log. queue: NULL = none was named. */
typedef void tasks_done_fn(void *arg, const char *who, const char *command, const char *queue,
                           int status);

/* acts: notes what changes something; borrowed. */
struct tasks *tasks_new(struct event_base *base, struct http *http,
                        const struct serve_program *program, struct acts *acts, tasks_done_fn *done,
                        void *arg, struct later_error *err);
void tasks_free(struct tasks *tasks);

/* Asks a stream that changes something to end early. number: from its first event, `event: task`,
 * {"task":7}. Returns 0, or -1 if there is none. Such a stream goes on when its reader leaves. */
int tasks_stop(const struct tasks *tasks, unsigned long number);

/* Tells one that asks to go on. Returns 0, or -1 if there is none that asks. One whose reader
 * leaves while it asks is stopped. */
int tasks_go_on(const struct tasks *tasks, unsigned long number);

/* Answers the request now or later, and takes over *params. who: for the log, copied. mask: what is
 * not shown; borrowed, NULL = all is. */
void tasks_take(struct tasks *tasks, struct evhttp_request *request, const char *path, bool post,
                struct params *params, const char *who, const struct mask *mask);

#endif
