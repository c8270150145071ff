/*
 * post.h: posts JSON to one URL, by evhttp.
 *
 * The URL may be a secret, so no message contains more of it than its host and port. Plain HTTP
 * only; a redirection is not followed. Names are looked up without holding up the loop.
 */
#ifndef LATER_WEB_POST_H
#define LATER_WEB_POST_H

#include "later/error.h"

#include <stddef.h>

struct event_base;
struct post;

/* Called once, from the loop: why is NULL if the answer's status was 200 to 299, otherwise it says
 * what went wrong; borrowed. */
typedef void post_fn(void *arg, const char *why);

/* from: the file that has the URL, for the message. Returns NULL with *err: LATER_E_CONFIG if the
 * URL is not http://HOST[:PORT][/PATH][?QUERY]. */
struct post *post_new(struct event_base *base, const char *url, const char *from,
                      struct later_error *err);

/* Drops what is being sent. NULL is allowed. */
void post_free(struct post *post);

/* HOST:PORT. */
const char *post_where(const struct post *post);

/* Sends a body, of which it makes a copy. It has 10 seconds. Only after the one before has ended,
 * and not from its post_fn. */
void post_send(struct post *post, const char *body, post_fn *fn, void *arg);

#endif
