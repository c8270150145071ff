/*
 * exchange.h: sends one HTTP request over a socket, with or without TLS, and waits for the status
 * of its answer; of the rest of the answer nothing is read.
 */
#ifndef LATER_WEB_EXCHANGE_H
#define LATER_WEB_EXCHANGE_H

#include "redis/tls.h"

struct event_base;
struct exchange;

#define EXCHANGE_APART (-1) /* no connection was made: another address may do */

/* Called once, from the loop; the exchange is freed by then. status: 100 to 999; 0 = no answer
 * came; or EXCHANGE_APART. why: one line, if there is no status; borrowed. */
typedef void exchange_fn(void *arg, int status, const char *why);

/* The socket is connecting, and is closed in the end. how: NULL = no TLS; else host is the name
 * that the other side must have. All but fd is borrowed, as long as the exchange lasts, which has
 * no limit of its own. Returns NULL with `why`; then fd is closed. */
struct exchange *exchange_new(struct event_base *base, int fd, const struct later_address_tls *how,
                              const char *host, const char *request, exchange_fn *fn, void *arg,
                              char why[LATER_TLS_WHY]);
void exchange_free(struct exchange *exchange); /* NULL is allowed; fn is not called */

/* The status of an answer of which these bytes have come, past those that are not the last one
 * (1xx). 0: its line is not there yet. -1: that is no HTTP/1. */
int exchange_status(const char *bytes, size_t len);

#endif
