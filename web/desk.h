/*
 * desk.h: a `later serve` beside us, which answers one command line after the other.
 *
 * So nobody who speaks HTTP has a connection to Redis, and nobody who waits for Redis holds up the
 * loop; what hangs or dies is one process, which is started again for the next order.
 */
#ifndef LATER_WEB_DESK_H
#define LATER_WEB_DESK_H

#include "later/error.h"
#include "route.h"

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct desk;

/* How a `later serve` is started; borrowed. */
struct desk_program {
    char *const *argv; /* "…/later", "serve", where Redis is; NULL-terminated */
};

/* The answer to an order. line: one that the command printed, without its newline. end: rest is
 * `"status":0,"words":"…"}`, what ends a JSON object; the desk is free again. It is called once,
 * from the loop and never from desk_order(). */
struct desk_answer {
    void (*line)(void *arg, const char *line, size_t len);
    void (*end)(void *arg, int status, const char *rest);
    void *arg;
};

/* It is not started yet. NULL without memory. */
struct desk *desk_new(struct event_base *base, const struct desk_program *program);

/* Ends it, without a word to who waits for an answer. NULL is fine. */
void desk_free(struct desk *desk);

bool desk_is_free(const struct desk *desk);

/* Gives it an order; it must be free. When `patience` seconds are over it is killed, and the answer
 * ends with LATER_E_REDIS. */
void desk_order(struct desk *desk, const struct order *order, const struct desk_answer *answer);

/* Asks what it is doing to come to an end; the answer says how far that came. */
void desk_interrupt(struct desk *desk);

/* Nobody wants the answer any more: neither function is called, and what it was doing is stopped.
 */
void desk_stop(struct desk *desk);

#endif
