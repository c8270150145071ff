/*
 * post.h: posts JSON to one URL.
 *
 * The URL may be a secret, so no message contains more of it than its host and port. With https the
 * certificate and the name of the other side are always checked. A redirection is not followed.
 * Names are looked up without holding up the loop; of a host's addresses each one is tried.
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

/* line: http://HOST[:PORT][/PATH][?QUERY], or the same with https, and then perhaps a blank and
 * what may come after the ? of a rediss:// URL (redis/address.h). from: the file that has it, for
 * the message. Returns NULL with *err: LATER_E_CONFIG if it is not that, or if a file of TLS is not
 * good. */
struct post *post_new(struct event_base *base, const char *line, const char *from,
                      struct later_error *err);

/* Drops what is being sent. NULL is allowed. */
void post_free(struct post *post);

/* HOST:PORT. */
const char *post_where(const struct post *post);

/* Sends a body, of which it makes a copy. It has 10 seconds, also to find
 * the address. Only after the one before has ended,
 * and not from its post_fn. */
void post_send(struct post *post, const char *body, post_fn *fn, void *arg);

#endif
