/*
 * guard.h: decides whether a request is allowed. Pure.
 *
 * A page of another site can make the reader's browser send requests here. It cannot read the
 * answers, unless its name leads to our address (DNS rebinding). Therefore only names that are
 * known to be ours are served. But it can send. Therefore a request that changes something must say
 * that it comes from one of our pages (Sec-Fetch-Site, or Origin if the browser sends none, over
 * plain HTTP), and it must be JSON, which a form cannot send.
 */
#ifndef LATER_WEB_GUARD_H
#define LATER_WEB_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_HOSTS_MAX 16

/* The rules. */
struct guard {
    const char *hosts[GUARD_HOSTS_MAX]; /* our names, besides localhost and addresses */
    size_t host_count;
    const char *token; /* NULL = no token is needed */
    bool read_only;
};

/* A request. NULL = it has no such header. */
struct guard_request {
    const char *host, *origin, *site, *type, *authorization;
    bool post;   /* it changes something */
    bool open;   /* a page, which contains no data: no token is needed */
    bool by_act; /* the sender may act (peer.h), or has shown the token */
};

/* Returns 0 if the request is allowed, or else the HTTP status of the refusal with a message in
 * *why. */
int guard_refuses(const struct guard *guard, const struct guard_request *request, const char **why);

/* Is this Host header a name or an address of ours? Its port does not matter. */
bool guard_is_ours(const struct guard *guard, const char *host);

#endif
