/*
 * http.h: what the files of the http plugin share.
 *
 *     http.c          the handler: one job, one request, one result
 *     http_config.c   plugins.config.http → targets
 *     http_curl.c     loads libcurl when it is needed
 *     http_address.c  which addresses are private
 *     http_request.c  a request as libcurl takes it, and its answer
 *     http_loop.c     libcurl's transfers on the worker's event loop
 */
#ifndef LATER_JOBS_HTTP_H
#define LATER_JOBS_HTTP_H

#include "http_curl.h"

#include <later/job.h>

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HEAD_MAX 65536 /* bytes that are read of an answer's head, ... */
#define HTTP_BODY_MAX 65536 /* ... of its body, ... */
#define HTTP_TEXT_MAX 300   /* ... and of that, kept for the job's error */

/* A configured target. */
struct http_target {
    char *name; /* NAME of the type http.NAME */
    char *url;
    char *ca_file;      /* NULL = the system's certificates */
    char *headers_file; /* NULL = none */
    bool value;         /* the answer becomes the job's value */
    bool give_back;     /* 429 and 503 with Retry-After do not count as an attempt */
    bool payload;       /* post the payload, not the whole document */
    bool private;       /* private addresses are allowed */
    bool has_type;      /* its headers include Content-Type */
    struct curl_slist *headers;
};

/* The plugin's callbacks. */
int http_config(const char *key, const char *value, char *err, size_t n);
int http_config_done(char *err, size_t n);
void http_config_free(void);
extern const char http_config_help[];

/* Returns the target of this name, or NULL. */
const struct http_target *http_config_find(const char *name);

/* One request. */
struct http_request {
    struct later_job *job;
    const struct http_target *target;
    CURL *easy;
    struct curl_slist *headers;
    size_t head_len, body_len; /* bytes of the answer so far */
    char text[HTTP_TEXT_MAX + 1];
    size_t text_len;
    char *body;       /* for a target with `value`: at most HTTP_BODY_MAX bytes; owned */
    char refused[64]; /* the private address that was refused */
    bool tried;       /* an address was not refused */
    char error[CURL_ERROR_SIZE];
};

/* Makes a request for a job, without sending it. NULL without memory. */
struct http_request *http_request_new(struct later_job *job, const struct http_target *target);
void http_request_free(struct http_request *request);

/* Returns the job's result after libcurl ended with `code`. Sets the job's error and when to try
 * again. */
enum later_result http_request_result(struct http_request *request, CURLcode code);

/* Sends a request. When it has ended, the event loop calls ended(request, code), never before this
 * has returned. Returns 0, or -1 if there is no memory or no event loop. */
int http_loop_add(struct http_request *request,
                  void (*ended)(struct http_request *request, CURLcode code));

/* Drops a request before its end. */
void http_loop_remove(struct http_request *request);

/* Closes connections and frees everything. No request may be left. */
void http_loop_stop(void);

#endif
