/*
 * guard.h: may this request in? Pure.
 *
 * A page of another site can make the reader's browser send requests here. What it cannot do is to
 * read answers, unless its name leads to our address (DNS rebinding): therefore only names that we
 * know as ours are served. What it can do is to send: therefore whatever changes something must say
 * that it comes from a page of ours (Sec-Fetch-Site, or where a browser sends none, over plain
 * HTTP, Origin), and be JSON, which a form cannot be.
 */
#ifndef LATER_WEB_GUARD_H
#define LATER_WEB_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_HOSTS_MAX 16

/* What it goes by. */
struct guard {
    const char *hosts[GUARD_HOSTS_MAX]; /* names that are ours, beside localhost and addresses */
    size_t host_count;
    const char *token; /* NULL = none is asked for */
    bool read_only;
};

/* A request as it came; NULL = there is no such header. */
struct guard_request {
    const char *host, *origin, *site, *type, *cookie, *authorization;
    bool post;   /* it changes something */
    bool open;   /* a page, which holds nothing of anybody: no token is asked for */
    bool by_act; /* who sends it may act (peer.h), or has shown the token */
};

/* 0 = it may in; or the HTTP status of a refusal, with its words in *why. */
int guard_refuses(const struct guard *guard, const struct guard_request *request, const char **why);

/* Is this the Host header of a name or address of ours? Its port does not matter. */
bool guard_is_ours(const struct guard *guard, const char *host);

/* Are they the same? Takes as long whatever they have in common. */
bool guard_same(const char *token, const char *shown, size_t len);

#endif
