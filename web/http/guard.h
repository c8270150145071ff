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

#include "http/role.h"

#include <stdbool.h>
#include <stddef.h>

#define GUARD_HOSTS_MAX 16

/* The rules. */
struct guard {
    const char *hosts[GUARD_HOSTS_MAX]; /* our names, besides localhost and addresses */
    size_t host_count;
    /* By role; NULL = none. Without one for admins none is needed, and the kernel says who is
     * there. */
    const char *tokens[ROLES];
    const char *role_header; /* name of the header by which a proxy says a role; NULL = none */
    bool read_only;
};

/* A request. NULL = it has no such header. */
struct guard_request {
    const char *host, *origin, *site, *type, *authorization;
    const char *role; /* what the role header says */
    bool post;        /* it changes something */
    bool open;        /* a page, which contains no data: no token is needed */
    enum role peer;   /* that of the process at the other end (peer.h) */
    enum role needs;  /* what a POST takes */
};

/* What the sender is: by its token or, without tokens, by its process; no more than the proxy's
 * header says, if there is such a header in the rules; and a reader if it is read-only. */
enum role guard_role(const struct guard *guard, const struct guard_request *request);

/* Returns 0 if the request is allowed, or else the HTTP status of the refusal with a message in
 * *why. */
int guard_refuses(const struct guard *guard, const struct guard_request *request, const char **why);

/* Is this Host header a name or an address of ours? Its port does not matter. */
bool guard_is_ours(const struct guard *guard, const char *host);

#endif
