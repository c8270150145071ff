/*
 * pulse.h: what runs, what waits and who works, asked for once and told to all who look.
 *
 * While somebody looks, `later status` is asked once a second (less often where there are many
 * queues: at most some 20 commands a second in Redis, but at least each 5 seconds), however many
 * they are. What was heard last stays, with its age, when Redis is away.
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

/* What is known: {"known":true,"age":0.4,"away":"","queues":[…],"hosts":[…]}. age: seconds since
 * the numbers were right. away: why there are none newer, "" = nothing is wrong. malloc'ed; NULL
 * without memory. */
char *pulse_text(const struct pulse *pulse, size_t *len);

#endif
