/*
 * http.h: HTTP/1.1 on a libevent loop. No other file uses evhttp.
 *
 * It adds the limits that evhttp lacks. A head has at most 8 KiB and a body 64 KiB. Methods other
 * than GET, HEAD and POST are refused. There are at most 256 connections. A connection that has not
 * sent a whole request within 10 seconds is closed, however slowly its bytes come. When all 256 are
 * taken, the one that has waited longest goes first, so a client that sends a whole request at once
 * always gets in. A reader that is 256 KiB behind is closed.
 *
 * Each request is answered once, at once or later: by http_answer(), or by a stream.
 */
#ifndef LATER_WEB_HTTP_H
#define LATER_WEB_HTTP_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct evhttp_request;
struct http;

typedef void http_fn(void *arg, struct evhttp_request *request);

/* Returns NULL with *err. */
struct http *http_new(struct event_base *base, http_fn *fn, void *arg, struct later_error *err);

/* Serves connections to a listening socket, and takes the socket over. Returns 0, or -1 with
 * *err. */
int http_serve(struct http *http, int fd, struct later_error *err);

/* NULL is allowed. */
void http_free(struct http *http);

/* --- the request; strings are borrowed from it --- */

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST };

enum http_method http_method(const struct evhttp_request *request);
const char *http_path(const struct evhttp_request *request);  /* as it was sent */
const char *http_query(const struct evhttp_request *request); /* as it was sent; "" = none */
const char *http_header(struct evhttp_request *request, const char *name); /* NULL = none */
/* Returns up to 64 KiB, not NUL-terminated. */
const char *http_body(struct evhttp_request *request, size_t *len);
/* Returns the connection's socket, so that the kernel can be asked who is at the other end. */
int http_socket(struct evhttp_request *request);

/* --- the answer --- */

/* Call this before http_answer() or http_stream(). */
void http_add_header(struct evhttp_request *request, const char *name, const char *value);

/* bytes may be NULL if len is 0. */
void http_answer(struct http *http, struct evhttp_request *request, int status, const void *bytes,
                 size_t len);

/* Calls fn if the other end leaves before the answer has ended; the request is then gone. A NULL fn
 * cancels this. */
void http_when_gone(struct http *http, struct evhttp_request *request, void (*fn)(void *arg),
                    void *arg);

/* An answer of unknown length. If the reader is too far behind, the connection is closed, and the
 * function of http_when_gone() is called at the loop's next turn. */
void http_stream(struct evhttp_request *request);
void http_stream_send(struct evhttp_request *request, const void *bytes, size_t len);
void http_stream_end(struct http *http, struct evhttp_request *request);

#endif
