/* http.c: HTTP/1.1 on a libevent loop. */
#include "http/http.h"

#include "base/clock.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define HEAD_MAX    8192
#define BODY_MAX    65536
#define CONNECTIONS 256
#define PATIENCE    10.0  /* seconds for a whole request */
#define LOOK_EVERY  1     /* seconds between two checks of all connections */
#define SMALL       65536 /* bytes of an answer that is always sent */

/* A connection. evhttp does not tell when it frees one. So we hold a reference to each, and
 * recognize that it is over by its callbacks, which bufferevent_free() removes. */
struct connection {
    struct bufferevent *bev; /* NULL = free */
    double since;            /* when it was made, or its last answer was sent */
    bool busy;               /* a whole request has come and is being answered */
    size_t largest;          /* bytes of the largest event that is not sent yet */
    void (*gone)(void *arg); /* from http_when_gone() */
    void *gone_arg;
    struct evhttp_request *due; /* to be answered while `gone` is set */
};

struct http {
    struct event_base *base;
    struct evhttp *server;
    struct event *look;
    http_fn *fn;
    void *arg;
    struct connection connections[CONNECTIONS];
};

/* --- connections --- */

static bool http_is_over(const struct connection *conn)
{
    bufferevent_event_cb event = NULL;

    bufferevent_getcb(conn->bev, NULL, NULL, &event, NULL);
    return !event;
}

static void shut(const struct connection *conn)
{
    int fd = bufferevent_getfd(conn->bev);

    if (fd >= 0)
        shutdown(fd, SHUT_RDWR); /* evhttp then reads the end and frees it */
}

static void vacate(struct connection *conn)
{
    bufferevent_decref(conn->bev);
    *conn = (struct connection){ 0 };
}

static void http_look(evutil_socket_t fd, short what, void *arg)
{
    struct http *http = arg;
    double now = later_clock();

    (void)fd;
    (void)what;
    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *conn = &http->connections[i];

        if (conn->bev && http_is_over(conn))
            vacate(conn);
        else if (conn->bev && !conn->busy && now - conn->since > PATIENCE)
            shut(conn);
    }
}

/* Returns a free entry. If there is none, takes that of the connection which has waited longest
 * without a request. */
static struct connection *find_connection(struct http *http)
{
    struct connection *oldest = NULL;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *conn = &http->connections[i];

        if (conn->bev && http_is_over(conn))
            vacate(conn);
        if (!conn->bev)
            return conn;
        if (!conn->busy && (!oldest || conn->since < oldest->since))
            oldest = conn;
    }
    if (oldest) {
        shut(oldest);
        vacate(oldest);
    }
    return oldest;
}

/* evhttp calls this for each connection that it accepts. */
static struct bufferevent *add_connection(struct event_base *base, void *arg)
{
    struct bufferevent *bev = bufferevent_socket_new(base, -1, 0);
    struct connection *conn = bev ? find_connection(arg) : NULL;

    if (!conn)
        return bev; /* all are being answered; others bound their number */
    bufferevent_incref(bev);
    *conn = (struct connection){ .bev = bev, .since = later_clock() };
    return bev;
}

static struct bufferevent *bev_of(struct evhttp_request *request)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);

    return connection ? evhttp_connection_get_bufferevent(connection) : NULL;
}

static struct connection *connection_of(struct http *http, struct evhttp_request *request)
{
    const struct bufferevent *bev = bev_of(request);

    for (size_t i = 0; bev && i < CONNECTIONS; i++) {
        if (http->connections[i].bev == bev)
            return &http->connections[i];
    }
    return NULL;
}

/* --- requests --- */

static void http_answered(struct evhttp_request *request, void *arg)
{
    struct connection *conn = connection_of(arg, request);

    if (conn) {
        conn->busy = false;
        conn->since = later_clock();
    }
}

/* With two lengths it is not certain where the request ends and the next one begins. */
static bool has_two_lengths(struct evhttp_request *request)
{
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    const struct evkeyval *header;
    int count = 0;

    for (header = headers->tqh_first; header; header = header->next.tqe_next)
        count += strcasecmp(header->key, "Content-Length") == 0;
    return count > 1;
}

/* An answer may take longer than evhttp waits for the next byte of a request. */
static void http_take(struct evhttp_request *request, void *arg)
{
    struct timeval write = { .tv_sec = (time_t)PATIENCE };
    struct http *http = arg;
    struct connection *conn = connection_of(http, request);

    if (!conn || has_two_lengths(request)) {
        evhttp_send_error(request, conn ? 400 : 503, NULL); /* and the connection is closed */
        return;
    }
    conn->busy = true;
    bufferevent_set_timeouts(bev_of(request), NULL, &write);
    evhttp_request_set_on_complete_cb(request, http_answered, http);
    http->fn(http->arg, request);
}

enum http_method http_method(const struct evhttp_request *request)
{
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_POST:
        return HTTP_POST;
    case EVHTTP_REQ_HEAD:
        return HTTP_HEAD;
    default:
        return HTTP_GET;
    }
}

const char *http_path(const struct evhttp_request *request)
{
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));

    return path ? path : "";
}

const char *http_query(const struct evhttp_request *request)
{
    const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));

    return query ? query : "";
}

const char *http_header(struct evhttp_request *request, const char *name)
{
    return evhttp_find_header(evhttp_request_get_input_headers(request), name);
}

const char *http_body(struct evhttp_request *request, size_t *len)
{
    struct evbuffer *body = evhttp_request_get_input_buffer(request);

    *len = evbuffer_get_length(body);
    return *len ? (const char *)evbuffer_pullup(body, -1) : "";
}

int http_socket(struct evhttp_request *request)
{
    struct bufferevent *bev = bev_of(request);

    return bev ? (int)bufferevent_getfd(bev) : -1;
}

/* --- answers --- */

void http_add_header(struct evhttp_request *request, const char *name, const char *value)
{
    evhttp_add_header(evhttp_request_get_output_headers(request), name, value);
}

/* The connection has ended. The callback is called once, and only if an answer is still due. */
static void closed(struct evhttp_connection *connection, void *arg)
{
    const struct bufferevent *bev = evhttp_connection_get_bufferevent(connection);
    struct http *http = arg;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *conn = &http->connections[i];
        void (*gone)(void *arg) = conn->gone;

        if (conn->bev != bev || !gone)
            continue;
        conn->gone = NULL;
        gone(conn->gone_arg);
        /* evhttp has left the request to us if no answer was begun, or it has not ended. */
        if (!evhttp_request_get_connection(conn->due))
            evhttp_send_reply_end(conn->due); /* this only frees it */
    }
}

void http_when_gone(struct http *http, struct evhttp_request *request, void (*fn)(void *arg),
                    void *arg)
{
    struct connection *conn = connection_of(http, request);

    if (!conn)
        return;
    conn->gone = fn;
    conn->gone_arg = arg;
    conn->due = request;
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), closed, http);
}

size_t http_unsent(const struct http *http)
{
    size_t sum = 0;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct bufferevent *bev = http->connections[i].bev;

        sum += bev ? evbuffer_get_length(bufferevent_get_output(bev)) : 0;
    }
    return sum;
}

static void free_text(const void *bytes, size_t len, void *text)
{
    (void)bytes;
    (void)len;
    free(text);
}

void http_answer_text(struct http *http, struct evhttp_request *request, int status, char *text,
                      size_t len)
{
    static const char full[] = "{\"error\":\"" HTTP_FULL "\"}\n";
    struct evbuffer *body = evbuffer_new();
    bool fits = len <= SMALL || len + http_unsent(http) <= HTTP_UNSENT_MAX;

    len = text ? len : 0;
    http_when_gone(http, request, NULL, NULL);
    if (body && !fits)
        evbuffer_add(body, full, sizeof full - 1);
    if (!body || !fits || !len || evbuffer_add_reference(body, text, len, free_text, text) < 0)
        free(text);
    evhttp_send_reply(request, fits ? status : 503, NULL, body);
    if (body)
        evbuffer_free(body);
}

void http_answer(struct http *http, struct evhttp_request *request, int status, const void *bytes,
                 size_t len)
{
    char *text = len ? malloc(len) : NULL;

    if (text)
        memcpy(text, bytes, len);
    http_answer_text(http, request, status, text, len);
}

void http_stream(struct evhttp_request *request)
{
    evhttp_send_reply_start(request, 200, NULL);
}

/* May so much more be sent, besides the largest event that still waits? */
static bool http_is_behind(const struct http *http, struct connection *conn, size_t len,
                           size_t behind)
{
    size_t waits = evbuffer_get_length(bufferevent_get_output(conn->bev));

    if (waits == 0)
        conn->largest = 0;
    if (waits > behind + conn->largest || len + http_unsent(http) > HTTP_UNSENT_MAX)
        return true;
    if (len > conn->largest)
        conn->largest = len;
    return false;
}

void http_stream_send(struct http *http, struct evhttp_request *request, const void *bytes,
                      size_t len, size_t behind)
{
    struct connection *conn = connection_of(http, request);
    struct evbuffer *chunk;

    if (!conn)
        return;
    if (http_is_behind(http, conn, len, behind)) {
        shut(conn);
        return;
    }
    chunk = evbuffer_new();
    if (!chunk)
        return;
    evbuffer_add(chunk, bytes, len);
    evhttp_send_reply_chunk(request, chunk);
    evbuffer_free(chunk);
}

void http_stream_end(struct http *http, struct evhttp_request *request)
{
    http_when_gone(http, request, NULL, NULL);
    evhttp_send_reply_end(request);
}

void http_stream_cut(struct http *http, struct evhttp_request *request)
{
    struct connection *conn = connection_of(http, request);

    http_when_gone(http, request, NULL, NULL);
    if (conn)
        shut(conn);
}

/* --- the server --- */

struct http *http_new(struct event_base *base, http_fn *fn, void *arg, struct later_error *err)
{
    struct timeval every = { .tv_sec = LOOK_EVERY };
    struct http *http = calloc(1, sizeof *http);

    if (!http) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *http = (struct http){ .base = base, .fn = fn, .arg = arg };
    http->server = evhttp_new(base);
    http->look = event_new(base, -1, EV_PERSIST, http_look, http);
    if (!http->server || !http->look || event_add(http->look, &every) < 0) {
        http_free(http);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    evhttp_set_allowed_methods(http->server, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
    evhttp_set_max_headers_size(http->server, HEAD_MAX);
    evhttp_set_max_body_size(http->server, BODY_MAX);
    evhttp_set_timeout(http->server, (int)PATIENCE);
    evhttp_set_bevcb(http->server, add_connection, http);
    evhttp_set_gencb(http->server, http_take, http);
    return http;
}

int http_serve(struct http *http, int fd, struct later_error *err)
{
    struct evconnlistener *listener;

    listener = evconnlistener_new(http->base, NULL, NULL,
                                  LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, CONNECTIONS, fd);
    if (!listener || !evhttp_bind_listener(http->server, listener))
        return later_fail(err, LATER_E_SYSTEM, "cannot listen on the socket");
    return 0;
}

void http_free(struct http *http)
{
    if (!http)
        return;
    if (http->server)
        evhttp_free(http->server);
    for (size_t i = 0; i < CONNECTIONS; i++) {
        if (http->connections[i].bev)
            vacate(&http->connections[i]);
    }
    if (http->look)
        event_free(http->look);
    free(http);
}
