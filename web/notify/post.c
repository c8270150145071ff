/* post.c: posts JSON to a URL. */
#include "notify/post.h"

#include "notify/exchange.h"

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/util.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATIENCE      10 /* seconds */
#define WHERE_MAX     300
#define ADDRESSES_MAX 8 /* of the host */
#define ADDRESS_SIZE  64

struct post {
    struct event_base *base;
    struct evdns_base *dns; /* NULL: names are looked up while the loop waits */
    struct event *timer;
    struct later_address at; /* its host is without the brackets of an IPv6 address */
    char *head;              /* of each request, up to the body's length */
    char where[WHERE_MAX];
    /* What is being sent. */
    char *request;
    bool looking; /* for the host's addresses */
    char addresses[ADDRESSES_MAX][ADDRESS_SIZE];
    unsigned count, from, tried; /* of these; which was the first; how many were tried */
    struct exchange *exchange;
    post_fn *fn; /* NULL: nothing is being sent */
    void *arg;
};

/* --- the URL --- */

/* Host, port and what TLS needs, as a Redis's URL would have them. */
static int post_address(struct post *post, bool secure, const char *options)
{
    char url[LATER_URL_SIZE];
    struct later_error ignored;

    if (snprintf(url, sizeof url, "%s://%s%s%s", secure ? "rediss" : "redis", post->where,
                 *options ? "?" : "", options) >= (int)sizeof url)
        return -1;
    return later_address_parse(&post->at, url, &ignored);
}

static int post_take(struct post *post, const struct evhttp_uri *uri, const char *options)
{
    const char *scheme = evhttp_uri_get_scheme(uri), *host = evhttp_uri_get_host(uri);
    const char *path = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);
    bool secure = scheme && strcasecmp(scheme, "https") == 0;
    int named = evhttp_uri_get_port(uri), port = named > 0 ? named : secure ? 443 : 80;

    if (!scheme || (!secure && strcasecmp(scheme, "http") != 0) || !host || !*host ||
        evhttp_uri_get_userinfo(uri) || evhttp_uri_get_fragment(uri) ||
        snprintf(post->where, sizeof post->where, "%s:%d", host, port) >= WHERE_MAX)
        return -1;
    if (asprintf(&post->head,
                 "POST %s%s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
                 "User-Agent: later-web/" VERSION "\r\nConnection: close\r\nContent-Length: ",
                 path && *path ? path : "/", query ? "?" : "", query ? query : "",
                 named > 0 ? post->where : host) < 0) {
        post->head = NULL;
        return -1;
    }
    return post_address(post, secure, options);
}

/* Takes the line apart. Returns -1 if it is not one that we can post to. */
static int post_parse(struct post *post, const char *line)
{
    size_t len = strcspn(line, " ");
    char *url = strndup(line, len);
    struct evhttp_uri *uri = url ? evhttp_uri_parse(url) : NULL;
    int status = uri ? post_take(post, uri, line[len] ? line + len + 1 : "") : -1;

    if (uri)
        evhttp_uri_free(uri);
    if (url)
        explicit_bzero(url, len);
    free(url);
    return status;
}

/* --- making --- */

static void post_late(evutil_socket_t fd, short what, void *arg);

/* NULL: there is no TLS. */
static const struct later_address_tls *post_tls(const struct post *post)
{
    return post->at.tls.on ? &post->at.tls : NULL;
}

/* Are the files of TLS there and right? Better now than at night. */
static int post_check(const struct post *post, const char *from, struct later_error *err)
{
    char why[LATER_TLS_WHY];
    struct later_tls *tls;

    if (!post_tls(post))
        return 0;
    tls = later_tls_new(post_tls(post), post->at.host, -1, why);
    later_tls_free(tls);
    return tls ? 0 : later_fail(err, LATER_E_CONFIG, "%.150s: %s", from, why);
}

struct post *post_new(struct event_base *base, const char *line, const char *from,
                      struct later_error *err)
{
    struct post *post = calloc(1, sizeof *post);

    later_fail(err, LATER_E_SYSTEM, "no memory");
    if (!post)
        return NULL;
    post->base = base;
    post->timer = evtimer_new(base, post_late, post);
    if (post->timer && post_parse(post, line) < 0)
        later_fail(err, LATER_E_CONFIG,
                   "%.200s: its first line must be http://HOST[:PORT][/PATH][?QUERY], or https://… "
                   "and perhaps, after a blank, ca=FILE&cert=FILE&key=FILE&name=HOST",
                   from);
    else if (post->timer && post_check(post, from, err) == 0) {
        post->dns = evdns_base_new(base, EVDNS_BASE_INITIALIZE_NAMESERVERS |
                                             EVDNS_BASE_DISABLE_WHEN_INACTIVE);
        return post;
    }
    post_free(post);
    return NULL;
}

/* Forgets what was sent. A look for addresses goes on. */
static void post_drop(struct post *post)
{
    exchange_free(post->exchange);
    free(post->request);
    post->exchange = NULL;
    post->request = NULL;
    post->fn = NULL;
}

void post_free(struct post *post)
{
    if (!post)
        return;
    post_drop(post);
    if (post->dns)
        evdns_base_free(post->dns, 0);
    if (post->timer)
        event_free(post->timer);
    if (post->head)
        explicit_bzero(post->head, strlen(post->head));
    free(post->head);
    free(post);
}

const char *post_where(const struct post *post)
{
    return post->where;
}

/* --- sending --- */

/* why: NULL = it was taken. The next one begins with this address, or with the one behind those
 * that did not do. */
static void post_done(struct post *post, const char *why)
{
    post_fn *fn = post->fn;

    event_del(post->timer);
    post->from += post->tried - (!why && post->tried > 0);
    post_drop(post);
    fn(post->arg, why);
}

static void post_late(evutil_socket_t fd, short what, void *arg)
{
    struct post *post = arg;

    (void)fd;
    (void)what;
    post_done(post, post->looking ? "its address was not found in time" : "there was no answer");
}

static void post_answered(void *arg, int status, const char *why);

/* Sends it to the next address that was not tried yet, and says why the last one did not do if
 * there is none. */
static void post_dial(struct post *post, const char *why)
{
    struct later_address at = post->at;
    struct later_error err;
    char words[LATER_TLS_WHY];
    unsigned ignored;
    int fd;

    snprintf(words, sizeof words, "%s", why);
    while (post->tried < post->count) {
        unsigned nth = (post->from + post->tried++) % post->count;

        snprintf(at.host, sizeof at.host, "%s", post->addresses[nth]);
        fd = later_address_connect(&at, 0, &ignored, &err);
        if (fd < 0)
            snprintf(words, sizeof words, "%.300s", err.text);
        else if ((post->exchange = exchange_new(post->base, fd, post_tls(post), post->at.host,
                                                post->request, post_answered, post, words)))
            return;
    }
    post_done(post, words);
}

static void post_answered(void *arg, int status, const char *why)
{
    struct post *post = arg;
    char words[40];

    post->exchange = NULL;
    snprintf(words, sizeof words, "it answered with status %d", status);
    if (status == EXCHANGE_APART)
        post_dial(post, why);
    else if (status == 0)
        post_done(post, why);
    else
        post_done(post, status >= 200 && status <= 299 ? NULL : words);
}

static void post_found(int result, struct evutil_addrinfo *list, void *arg)
{
    struct post *post = arg;

    post->looking = false;
    post->count = 0;
    for (const struct evutil_addrinfo *one = list; one && post->count < ADDRESSES_MAX;
         one = one->ai_next) {
        if (getnameinfo(one->ai_addr, (socklen_t)one->ai_addrlen, post->addresses[post->count],
                        ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST) == 0)
            post->count++;
    }
    if (list)
        evutil_freeaddrinfo(list);
    if (post->fn)
        post_dial(post, result ? evutil_gai_strerror(result) : "it has no address");
}

static void post_look(struct post *post)
{
    struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC,
                                     .ai_socktype = SOCK_STREAM,
                                     .ai_protocol = IPPROTO_TCP },
                           *list = NULL;

    post->looking = true;
    if (post->dns)
        evdns_getaddrinfo(post->dns, post->at.host, post->at.port, &hints, post_found, post);
    else
        post_found(evutil_getaddrinfo(post->at.host, post->at.port, &hints, &list), list, post);
}

void post_send(struct post *post, const char *body, post_fn *fn, void *arg)
{
    struct timeval patience = { .tv_sec = PATIENCE };

    post->fn = fn;
    post->arg = arg;
    post->tried = 0;
    if (asprintf(&post->request, "%s%zu\r\n\r\n%s", post->head, strlen(body), body) < 0)
        post->request = NULL;
    if (!post->request || event_add(post->timer, &patience) < 0)
        post_done(post, "no memory");
    else if (!post->looking)
        post_look(post);
}
