/*
 * troubles.h: what is wrong now, by `later status --trouble`, asked for once for all readers.
 *
 * It has a `later serve` of its own, since the question looks at every queue: with thousands of
 * them it takes seconds, during which the numbers of poller.h go on. If an answer takes long, the
 * next question waits four times as long.
 *
 * What begins or ends right after a look has read it is seen by the next one: after 5 s, half a
 * second of poller.h's clock, and what the answer takes. That is within 10 s, as long as an answer
 * takes less than 1.8 s, with up to 50 queues.
 */
#ifndef LATER_WEB_TROUBLES_H
#define LATER_WEB_TROUBLES_H

#include "tasks/serve.h"

#include <stdbool.h>
#include <stdio.h>

struct event_base;
struct troubles;

/* How old an answer may be, in seconds, for one who looks all the time, and for one who does not.
 */
#define TROUBLES_SOON  5.0
#define TROUBLES_LATER 20.0
#define TROUBLES_TOLD  10.0 /* and for one who is told (notifier.h) */

/* Called with each answer, and when there is none. */
typedef void troubles_fn(void *arg);

/* Returns NULL without memory. */
struct troubles *troubles_new(struct event_base *base, const struct serve_program *program,
                              troubles_fn *fn, void *arg);
void troubles_free(struct troubles *troubles); /* NULL is allowed */

/* Each answer also goes to this. */
void troubles_tell(struct troubles *troubles, const struct serve_answer *also);

/* Does this exit status say that all is well, or that these are all troubles? */
bool troubles_are_known(int status);

/* Asks, unless that was done within so many seconds or the last question has no answer yet. */
void troubles_look(struct troubles *troubles, double within);

/* Has the last question no answer yet? */
bool troubles_asks(const struct troubles *troubles);

/* Something was done, so what is known may be over: the next look asks. */
void troubles_hurry(struct troubles *troubles);

/* Writes `{"known":true,"look":7,"age":1.2,"away":"","list":[…]}`. list: the lines of `later status
 * --trouble --json`, the worst first. look: the number of the answer that they are from; age:
 * seconds since they were asked for. away: why there is no newer answer. */
void troubles_write(const struct troubles *troubles, FILE *out);

#endif
