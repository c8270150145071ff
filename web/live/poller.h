/*
 * poller.h: what runs, what waits and which hosts there are, asked for once and sent to all
 * readers.
 *
 * While somebody looks, `later status` is asked once a second, whatever the number of readers. It
 * asks Redis only for what has changed (cli/kept.h), of up to nine queues: some twelve commands, if
 * they are quiet. If there are more queues, they take turns (snapshot.h). When somebody looks after
 * a time without readers, all are asked about. If Redis is away, the last answer stays, with its
 * age.
 *
 * Every five seconds troubles are asked for, too (troubles.h); with more than 50 queues, every
 * tenth of a second for each queue, but at least once a minute. With fifteen quiet queues both take
 * twenty commands a second.
 */
#ifndef LATER_WEB_POLLER_H
#define LATER_WEB_POLLER_H

#include "tasks/serve.h"

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct poller;

/* Called with each update: one JSON object, borrowed. asked: queues and hosts were asked about, or
 * Redis does not answer; if not, only the troubles are new. */
typedef void poller_fn(void *arg, const char *json, size_t len, bool asked);

/* Returns NULL with *err. */
struct poller *poller_new(struct event_base *base, const struct serve_program *program,
                          poller_fn *fn, void *arg, struct later_error *err);
void poller_free(struct poller *poller);

/* Notes that somebody looks. It asks now, unless it has within the last second, and goes on for ten
 * seconds after the last call. */
void poller_look(struct poller *poller);

/* Was the state asked for within the last two seconds? If not, the next one comes soon, or the news
 * that Redis does not answer. */
bool poller_is_fresh(const struct poller *poller);

/* Notes that something was done to this queue, so that it is among the next to be asked about. */
void poller_hurry(struct poller *poller, const char *queue);

/* Returns the whole state:
 *
 *     {"whole":true,"known":true,"age":0.4,"away":"","hosts":[…],"troubles":{…},
 *      "queues":[{"age":0.4,…}]}
 *
 * age: seconds since the last answer; for a queue, since it was looked at. away: why there is no
 * newer state; "" = all is well. troubles: as troubles_write() has them. An update has the same
 * form, with whole false, with hosts only if they changed, with troubles only if they were asked
 * for again, with only the queues that changed, and with `"gone":["…"]`. The result is malloc'ed;
 * NULL without memory. */
char *poller_text(const struct poller *poller, size_t *len);

/* Each answer about troubles also goes to this. */
void poller_tell_troubles(struct poller *poller, const struct serve_answer *also);

/* One looks who does so seldom: asks for troubles, unless that was done within so many seconds.
 * Returns whether the answer is there. If not, an update comes with it, or with why there is none.
 */
bool poller_look_troubles(struct poller *poller, double within);

/* Returns what troubles_write() writes, malloc'ed; NULL without memory. */
char *poller_troubles(const struct poller *poller, size_t *len);

#endif
