/*
 * serve.h: one `later serve`, which answers one command line after the other.
 *
 * So nothing that handles HTTP has a connection to Redis, and a wait for Redis never holds up the
 * loop. If a command hangs or dies, only that process is lost, and it is started again for the next
 * order. A process may have 256 MiB of memory, and use 300 seconds of processor time for an order.
 */
#ifndef LATER_WEB_SERVE_H
#define LATER_WEB_SERVE_H

#include "later/error.h"
#include "tasks/route.h"

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct serve;

/* How to start a `later serve`. Borrowed. */
struct serve_program {
    char *const *argv; /* "…/later", "serve", where Redis is; NULL-terminated */
};

/* Receives the answer to an order. line() gets a line that the command printed, without its
 * newline. end() gets `"status":0,"words":"…"}`, the end of a JSON object; it is then free
 * again. end() is called once, from the loop and never from serve_order(). */
struct serve_answer {
    void (*line)(void *arg, const char *line, size_t len);
    void (*end)(void *arg, int status, const char *rest);
    void *arg;
};

#define SERVE_WORDS 600

/* Copies the words of an answer's end: a JSON string, never "". */
void serve_words(const char *rest, char words[SERVE_WORDS]);

/* Makes one, whose process is not started yet. NULL without memory. */
struct serve *serve_new(struct event_base *base, const struct serve_program *program);

/* Ends it. Nobody who waits for an answer is told. NULL is allowed. */
void serve_free(struct serve *serve);

bool serve_is_free(const struct serve *serve);

/* Gives an order to one that is free. After `patience` seconds, or `first` without any line, the
 * process is killed, and the answer ends with LATER_E_REDIS. */
void serve_order(struct serve *serve, const struct order *order, const struct serve_answer *answer);

/* Asks the present command to end early. Its answer says how far it came. */
void serve_interrupt(struct serve *serve);

/* Answers what the present command asks (--ask). It must have asked. */
void serve_say_yes(struct serve *serve);

/* Drops the answer: neither function is called, and the command is stopped. */
void serve_stop(struct serve *serve);

#endif
