/* post.c: posts JSON to a URL. */
#include "post.h"

#include <event2/buffer.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATIENCE   10 /* seconds for each of: connect, write, read */
#define ANSWER_MAX 65536
#define WHERE_MAX  300
#define PORT       80

struct post {
    struct event_base *base;
    struct evdns_base *dns; /* NULL: names are looked up while the loop waits */
    struct evhttp_uri *uri;
    struct evhttp_connection *conn; /* the last one; freed before the next is made */
    char *host;                     /* an IPv6 address is without its brackets */
    char *target;                   /* path and query */
    char where[WHERE_MAX];
    post_fn *fn;
    void *arg;
};

static int post_port(const struct post *post)
{
    int port = evhttp_uri_get_port(post->uri);

    return port > 0 ? port : PORT;
}

/* The brackets of an IPv6 address belong to the URL; nobody connects to them. NULL without memory.
 */
static char *post_host(const char *host)
{
    size_t len = strlen(host), around = len > 2 && host[0] == '[' && host[len - 1] == ']';

    return strndup(host + around, len - 2 * around);
}

/* Takes the URL apart. Returns -1 if it is not one that we can post to. */
static int post_parse(struct post *post, const char *url)
{
    const char *scheme, *host, *path, *query;

    post->uri = evhttp_uri_parse(url);
    if (!post->uri)
        return -1;
    scheme = evhttp_uri_get_scheme(post->uri);
    host = evhttp_uri_get_host(post->uri);
    path = evhttp_uri_get_path(post->uri);
    query = evhttp_uri_get_query(post->uri);
    if (!scheme || strcasecmp(scheme, "http") != 0 || !host || !*host ||
        evhttp_uri_get_userinfo(post->uri) || evhttp_uri_get_fragment(post->uri))
        return -1;
    if (snprintf(post->where, sizeof post->where, "%s:%d", host, post_port(post)) >= WHERE_MAX)
        return -1;
    post->host = post_host(host);
    if (!post->host)
        return -1;
    return asprintf(&post->target, "%s%s%s", path && *path ? path : "/", query ? "?" : "",
                    query ? query : "") < 0
               ? -1
               : 0;
}

struct post *post_new(struct event_base *base, const char *url, const char *from,
                      struct later_error *err)
{
    struct post *post = calloc(1, sizeof *post);

    if (!post) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    post->base = base;
    if (post_parse(post, url) < 0) {
        later_fail(err, LATER_E_CONFIG,
                   "%.200s: its first line must be http://HOST[:PORT][/PATH][?QUERY]", from);
        post_free(post);
        return NULL;
    }
    post->dns =
        evdns_base_new(base, EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    return post;
}

void post_free(struct post *post)
{
    if (!post)
        return;
    post->fn = NULL; /* freeing the connection ends its request */
    if (post->conn)
        evhttp_connection_free(post->conn);
    if (post->dns)
        evdns_base_free(post->dns, 0);
    if (post->uri)
        evhttp_uri_free(post->uri);
    free(post->host);
    free(post->target);
    free(post);
}

const char *post_where(const struct post *post)
{
    return post->where;
}

/* request: NULL, or without a status, if no answer came. */
static void post_answered(struct evhttp_request *request, void *arg)
{
    struct post *post = arg;
    post_fn *fn = post->fn;
    int status = request ? evhttp_request_get_response_code(request) : 0;
    char why[40];

    post->fn = NULL;
    if (!fn)
        return;
    snprintf(why, sizeof why, status > 0 ? "it answered with status %d" : "there was no answer",
             status);
    fn(post->arg, status >= 200 && status <= 299 ? NULL : why);
}

/* Returns NULL without memory. */
static struct evhttp_request *post_request(struct post *post, const char *body)
{
    struct evhttp_request *request = evhttp_request_new(post_answered, post);
    struct evkeyvalq *headers;

    if (!request)
        return NULL;
    headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", post->where);
    evhttp_add_header(headers, "Content-Type", "application/json");
    evhttp_add_header(headers, "User-Agent", "later-web/" VERSION);
    evhttp_add_header(headers, "Connection", "close");
    evbuffer_add(evhttp_request_get_output_buffer(request), body, strlen(body));
    return request;
}

void post_send(struct post *post, const char *body, post_fn *fn, void *arg)
{
    struct evhttp_request *request;

    if (post->conn)
        evhttp_connection_free(post->conn);
    post->conn = evhttp_connection_base_new(post->base, post->dns, post->host,
                                            (unsigned short)post_port(post));
    request = post->conn ? post_request(post, body) : NULL;
    post->fn = fn;
    post->arg = arg;
    if (!request) {
        post_answered(NULL, post);
        return;
    }
    evhttp_connection_set_timeout(post->conn, PATIENCE);
    evhttp_connection_set_max_body_size(post->conn, ANSWER_MAX);
    evhttp_connection_set_max_headers_size(post->conn, ANSWER_MAX);
    if (evhttp_make_request(post->conn, request, EVHTTP_REQ_POST, post->target) < 0)
        post_answered(NULL, post);
}
