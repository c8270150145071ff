/*
 * http.h: HTTP/1.1 on a libevent loop. Besides it only post.h uses evhttp.
 *
 * It adds the limits that evhttp lacks. A head has at most 8 KiB and a body 64 KiB. Methods other
 * than GET, HEAD and POST are refused. There are at most 256 connections. A connection that has not
 * sent a whole request within 10 seconds is closed, however slowly its bytes come. When all 256 are
 * taken, the one that has waited longest goes first, so a client that sends a whole request at once
 * always gets in. What all readers together have not taken yet is at most 40 MiB.
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

#define HTTP_UNSENT_MAX (40UL << 20) /* bytes of answers that are not sent yet, of all readers */
#define HTTP_FULL       "too many large answers wait to be read: try again in a moment"

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

/* bytes may be NULL if len is 0. If the answer is larger than 64 KiB and does not fit into
 * HTTP_UNSENT_MAX, the status is 503. */
void http_answer(struct http *http, struct evhttp_request *request, int status, const void *bytes,
                 size_t len);

/* The same, without a copy: takes over the text, which was malloc'ed. */
void http_answer_text(struct http *http, struct evhttp_request *request, int status, char *text,
                      size_t len);

/* Returns how many bytes all readers have not taken yet. */
size_t http_unsent(const struct http *http);

/* Calls fn if the other end leaves before the answer has ended; the request is then gone. A NULL fn
 * cancels this. */
void http_when_gone(struct http *http, struct evhttp_request *request, void (*fn)(void *arg),
                    void *arg);

/* An answer of unknown length. If the reader is more than `behind` bytes behind, without the
 * largest event that it has not taken, or if the answer no longer fits into HTTP_UNSENT_MAX, the
 * connection is closed, and the function of http_when_gone() is called at the loop's next turn. */
void http_stream(struct evhttp_request *request);
void http_stream_send(struct http *http, struct evhttp_request *request, const void *bytes,
                      size_t len, size_t behind);
void http_stream_end(struct http *http, struct evhttp_request *request);

/* Ends it so that its reader can tell that something is missing: the connection is closed. */
void http_stream_cut(struct http *http, struct evhttp_request *request);

#endif
