/* http_request.c: a request as libcurl takes it, and its answer. */
#include "http.h"
#include "http_address.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS      10000L
#define RETRY_AFTER_MAX 86400 /* a day: anything longer is a mistake, or malice */

/* --- which addresses --- */

static void name_address(struct http_request *request, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "an address of another kind";

    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text,
                  sizeof text);
    else if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text,
                  sizeof text);
    snprintf(request->refused, sizeof request->refused, "%s", text);
}

/* Makes the socket for exactly the address that is connected to. An earlier lookup of the name does
 * not count, since the name may mean another address by now. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_request *request = arg;

    (void)purpose;
    if (!request->target->private && http_address_private(&address->addr)) {
        name_address(request, &address->addr);
        return CURL_SOCKET_BAD;
    }
    request->tried = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* A reused connection may have been made for a target that allows more addresses. */
static int before_request(void *arg, char *remote, char *local, int remote_port, int local_port)
{
    struct http_request *request = arg;
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    const struct sockaddr *address = (const struct sockaddr *)&in;

    (void)local, (void)remote_port, (void)local_port;
    if (request->target->private)
        return CURL_PREREQFUNC_OK;
    if (inet_pton(AF_INET6, remote, &in6.sin6_addr) == 1)
        address = (const struct sockaddr *)&in6;
    else if (inet_pton(AF_INET, remote, &in.sin_addr) != 1)
        in.sin_addr.s_addr = 0; /* not an address, so it is refused */
    if (!http_address_private(address))
        return CURL_PREREQFUNC_OK;
    request->tried = false;
    snprintf(request->refused, sizeof request->refused, "%s", remote);
    return CURL_PREREQFUNC_ABORT;
}

/* --- the answer --- */

static size_t on_head(char *bytes, size_t size, size_t count, void *arg)
{
    struct http_request *request = arg;

    (void)bytes;
    request->head_len += size * count;
    return request->head_len > HTTP_HEAD_MAX ? 0 : size * count;
}

/* The first bytes become the job's error, if it fails. The rest is only counted, up to the
 * limit. */
static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct http_request *request = arg;
    size_t len = size * count;

    if (request->body && len <= HTTP_BODY_MAX - request->body_len)
        memcpy(request->body + request->body_len, bytes, len);
    request->body_len += len;
    for (size_t i = 0; i < len && request->text_len < HTTP_TEXT_MAX; i++) {
        unsigned char c = (unsigned char)bytes[i];

        request->text[request->text_len++] = c < ' ' || c == 0x7f ? ' ' : (char)c;
    }
    return request->body_len > HTTP_BODY_MAX ? 0 : len;
}

/* --- the request --- */

static int http_request_add_header(struct http_request *request, const char *format, ...)
    LATER_PRINTF(2, 3);
static int http_request_add_header(struct http_request *request, const char *format, ...)
{
    struct curl_slist *list;
    char line[600];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *at = line; *at; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~') /* a trace may be any text */
            *at = '?';
    }
    list = http_curl.slist_append(request->headers, line);
    if (!list)
        return -1;
    request->headers = list;
    return 0;
}

static int add_headers(struct http_request *request)
{
    struct later_job *job = request->job;
    const char *trace = later_job_trace(job);
    int failed = 0;

    for (struct curl_slist *at = request->target->headers; at && !failed; at = at->next) {
        struct curl_slist *list = http_curl.slist_append(request->headers, at->data);

        failed = !list;
        if (list)
            request->headers = list;
    }
    if (!request->target->has_type)
        failed |= http_request_add_header(request, "Content-Type: application/json");
    failed |= http_request_add_header(request, "Expect:"); /* do not wait for a 100 Continue */
    failed |= http_request_add_header(request, "Idempotency-Key: %s", later_job_id(job));
    failed |= http_request_add_header(request, "Later-Type: %s", later_job_type(job));
    failed |= http_request_add_header(request, "Later-Queue: %s", later_job_queue(job));
    failed |=
        http_request_add_header(request, "Later-Attempt: %u", (unsigned)later_job_attempt(job));
    if (trace)
        failed |= http_request_add_header(request, "Later-Trace: %s", trace);
    return failed ? -1 : 0;
}

static void set_limits(struct http_request *request)
{
    CURL *easy = request->easy;
    /* laterd cancels the request in time. This limit is for `laterd --perform`, which does not. */
    long time = (long)((later_job_time_left(request->job) + 1) * 1000);

    http_curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    http_curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, time);
    http_curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    http_curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    http_curl.easy_setopt(easy, CURLOPT_PROXY,
                          ""); /* no proxy from the environment: it would connect in our place */
    http_curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
#if CURL_AT_LEAST_VERSION(7, 85, 0)
    http_curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    http_curl.easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    if (request->target->ca_file) {
        http_curl.easy_setopt(easy, CURLOPT_CAINFO, request->target->ca_file);
        http_curl.easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

static void set_callbacks(struct http_request *request)
{
    CURL *easy = request->easy;

    http_curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    http_curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, request);
    http_curl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    http_curl.easy_setopt(easy, CURLOPT_PREREQDATA, request);
    http_curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
    http_curl.easy_setopt(easy, CURLOPT_HEADERDATA, request);
    http_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    http_curl.easy_setopt(easy, CURLOPT_WRITEDATA, request);
    http_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, request->error);
    http_curl.easy_setopt(easy, CURLOPT_PRIVATE, request);
}

struct http_request *http_request_new(struct later_job *job, const struct http_target *target)
{
    struct http_request *request = calloc(1, sizeof *request);
    const char *body;
    size_t len;

    if (!request)
        return NULL;
    request->job = job;
    request->target = target;
    request->body = target->value ? malloc(HTTP_BODY_MAX) : NULL;
    request->easy = http_curl.easy_init();
    if (!request->easy || target->value != (request->body != NULL) || add_headers(request) != 0) {
        http_request_free(request);
        return NULL;
    }
    body = target->payload ? later_job_payload(job, &len) : later_job_document(job, &len);
    set_limits(request);
    set_callbacks(request);
    http_curl.easy_setopt(request->easy, CURLOPT_POST, 1L);
    http_curl.easy_setopt(request->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
    http_curl.easy_setopt(request->easy, CURLOPT_POSTFIELDS,
                          body); /* borrowed: the job outlives the request */
    http_curl.easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->headers);
    http_curl.easy_setopt(request->easy, CURLOPT_USERAGENT, "laterd/" VERSION);
    if (http_curl.easy_setopt(request->easy, CURLOPT_URL, target->url) != CURLE_OK) {
        http_request_free(request);
        return NULL;
    }
    return request;
}

void http_request_free(struct http_request *request)
{
    if (!request)
        return;
    if (request->easy)
        http_curl.easy_cleanup(request->easy);
    http_curl.slist_free_all(request->headers);
    free(request->body);
    free(request);
}

/* --- the result --- */

/* Sets the job's value: JSON as it is, other text as a string. */
static void http_request_take_value(struct http_request *request)
{
    size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL;
    json_t *json;
    char *text = NULL;

    if (!request->body || request->body_len == 0)
        return;
    if (request->body_len > HTTP_BODY_MAX) {
        later_job_log(request->job, LATER_WARN, "its answer is too long for a value");
        return;
    }
    json = json_loadb(request->body, request->body_len, flags | JSON_ALLOW_NUL, NULL);
    if (json) {
        later_job_value(request->job, request->body, request->body_len);
        json_decref(json);
        return;
    }
    json = json_stringn(request->body, request->body_len);
    text = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    if (text)
        later_job_value(request->job, text, 0);
    else
        later_job_log(request->job, LATER_WARN, "its answer is neither JSON nor UTF-8: no value");
    json_decref(json);
    free(text);
}

static enum later_result result_of_status(struct http_request *request, long status)
{
    struct later_job *job = request->job;
    curl_off_t after = 0;
    char *to = NULL;

    if (status >= 200 && status < 300) {
        http_request_take_value(request);
        return LATER_DONE;
    }
    if (status >= 300 && status < 400) {
        http_curl.easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &to);
        later_job_error(job, "status %ld: it redirects to %.500s, which is not followed", status,
                        to ? to : "nowhere");
        return LATER_BURY;
    }
    later_job_error(job, "status %ld%s%s", status, request->text_len ? ": " : "", request->text);
    if (status != 408 && status != 425 && status != 429 && status < 500)
        return LATER_BURY;
    http_curl.easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &after);
    if (after <= 0)
        return LATER_RETRY;
    later_job_retry_in(job, after < RETRY_AFTER_MAX ? (double)after : RETRY_AFTER_MAX);
    return request->target->give_back && (status == 429 || status == 503) ? LATER_RETURN
                                                                          : LATER_RETRY;
}

enum later_result http_request_result(struct http_request *request, CURLcode code)
{
    struct later_job *job = request->job;
    bool enough = code == CURLE_WRITE_ERROR && request->body_len > HTTP_BODY_MAX;
    long status = 0;

    http_curl.easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    if ((code == CURLE_OK || enough) && status >= 200)
        return result_of_status(request, status);
    if (request->refused[0] && !request->tried) {
        later_job_error(job, "%s is a private address: refused, unless private = true",
                        request->refused);
        return LATER_BURY;
    }
    if (request->head_len > HTTP_HEAD_MAX)
        later_job_error(job, "the head of the answer is larger than %d bytes", HTTP_HEAD_MAX);
    else
        later_job_error(job, "%s",
                        request->error[0] ? request->error : http_curl.easy_strerror(code));
    return LATER_RETRY;
}
