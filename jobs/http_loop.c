/*
 * http_loop.c: libcurl's transfers on the worker's event loop.
 *
 * libcurl says which sockets it waits for, and until when (curl_multi_socket_action(3)). libevent
 * tells it what happened.
 */
#include "http.h"

#include <event2/event.h>
#include <sys/resource.h>

#define FDS_KEPT 128 /* descriptors left for others */

/* This worker's loop, made for the first request. */
static struct {
    CURLM *multi;
    struct event *timer;
    void (*ended)(struct http_request *request, CURLcode code);
} loop;

/* Removes the requests that have ended, and reports them. `ended` may begin and end other requests
 * meanwhile. */
static void tell_ended(void)
{
    CURLMsg *message;
    int left;

    while (loop.multi && (message = http_curl.multi_info_read(loop.multi, &left))) {
        struct http_request *request = NULL;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        http_curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request);
        http_curl.multi_remove_handle(loop.multi, request->easy);
        loop.ended(request, code);
    }
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
    int flags = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    int running;

    (void)arg;
    http_curl.multi_socket_action(loop.multi, fd, flags, &running);
    tell_ended();
}

static void http_loop_on_timer(evutil_socket_t fd, short what, void *arg)
{
    int running;

    (void)fd, (void)what, (void)arg;
    http_curl.multi_socket_action(loop.multi, CURL_SOCKET_TIMEOUT, 0, &running);
    tell_ended();
}

/* libcurl begins or ends to wait for this socket. */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct event *event = known;
    short events = EV_PERSIST;

    (void)easy, (void)arg;
    if (event)
        event_free(event);
    http_curl.multi_assign(loop.multi, fd, NULL);
    if (what == CURL_POLL_REMOVE)
        return 0;
    if (what != CURL_POLL_OUT)
        events |= EV_READ;
    if (what != CURL_POLL_IN)
        events |= EV_WRITE;
    event = event_new(later_event_base(), fd, events, on_socket, NULL);
    if (!event || event_add(event, NULL) != 0) {
        if (event)
            event_free(event);
        return -1;
    }
    http_curl.multi_assign(loop.multi, fd, event);
    return 0;
}

static int http_loop_set_timer(CURLM *multi, long ms, void *arg)
{
    struct timeval wait = { .tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

    (void)multi, (void)arg;
    if (ms < 0)
        return evtimer_del(loop.timer);
    return evtimer_add(loop.timer, &wait);
}

/* Returns how many connections there may be. With more, requests would fail for lack of
 * descriptors, so they wait instead. 0 = no limit. */
static long connections_max(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 100000)
        return 0;
    return limit.rlim_cur > 2 * FDS_KEPT ? (long)limit.rlim_cur - FDS_KEPT : FDS_KEPT;
}

static int http_loop_begin(void)
{
    if (loop.multi)
        return 0;
    if (!later_event_base())
        return -1;
    loop.timer = evtimer_new(later_event_base(), http_loop_on_timer, NULL);
    loop.multi = loop.timer ? http_curl.multi_init() : NULL;
    if (!loop.multi) {
        http_loop_stop();
        return -1;
    }
    http_curl.multi_setopt(loop.multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    http_curl.multi_setopt(loop.multi, CURLMOPT_TIMERFUNCTION, http_loop_set_timer);
    http_curl.multi_setopt(loop.multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_max());
    return 0;
}

int http_loop_add(struct http_request *request,
                  void (*ended)(struct http_request *request, CURLcode code))
{
    if (http_loop_begin() != 0)
        return -1;
    loop.ended = ended;
    return http_curl.multi_add_handle(loop.multi, request->easy) == CURLM_OK ? 0 : -1;
}

void http_loop_remove(struct http_request *request)
{
    http_curl.multi_remove_handle(loop.multi, request->easy);
}

void http_loop_stop(void)
{
    if (loop.multi)
        http_curl.multi_cleanup(loop.multi);
    loop.multi = NULL;
    if (loop.timer)
        event_free(loop.timer);
    loop.timer = NULL;
}
