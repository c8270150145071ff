/*
 * pulse.h: what runs, what waits and who works, asked for once and told to all who look.
 *
 * While somebody looks, `later status` is asked once a second, however many they are, about as many
 * queues as make some 16 commands in Redis: where there are more, they take turns (board.h). All of
 * them are asked about when somebody looks after a while in which nobody did. What was heard last
 * stays, with its age, when Redis is away.
 */
#ifndef LATER_WEB_PULSE_H
#define LATER_WEB_PULSE_H

#include "desk.h"

#include <stddef.h>

struct event_base;
struct pulse;

/* Called with each news: one JSON object, borrowed. */
typedef void pulse_fn(void *arg, const char *json, size_t len);

/* NULL with *err. */
struct pulse *pulse_new(struct event_base *base, const struct desk_program *program, pulse_fn *fn,
                        void *arg, struct later_error *err);
void pulse_free(struct pulse *pulse);

/* Somebody looks: it is asked now, unless it was within the last second, and goes on while this is
 * called at least every ten seconds. */
void pulse_look(struct pulse *pulse);

/* Something was done to this queue: it is among the next that are asked about. */
void pulse_hurry(struct pulse *pulse, const char *queue);

/* All that is known:
 *
 *     {"whole":true,"known":true,"age":0.4,"away":"","hosts":[…],"queues":[{"age":0.4,…}]}
 *
 * age: seconds since the last answer; of a queue, since it was looked at. away: why there are none
 * newer, "" = nothing is wrong. News are like it, with whole false, without hosts where they say
 * nothing new, with only those queues that have changed, and with `"gone":["…"]`. malloc'ed; NULL
 * without memory. */
char *pulse_text(const struct pulse *pulse, size_t *len);

#endif
