/* exchange.c: one HTTP request over a socket. */
#include "notify/exchange.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 8192 /* bytes before the end of the line with the status */
#define LINE_MIN   12   /* HTTP/1.1 200 */

struct exchange {
    int fd;
    struct event *event;
    struct later_tls *tls; /* NULL: none */
    bool connected, shaken;
    const char *request;
    size_t len, sent, got;
    char answer[ANSWER_MAX];
    exchange_fn *fn;
    void *arg;
};

int exchange_status(const char *bytes, size_t len)
{
    for (;;) {
        const char *line = memchr(bytes, '\n', len), *end;
        char text[LINE_MIN + 1] = "";
        int status = 0, used = 0;

        if (!line)
            return 0;
        memcpy(text, bytes, len < LINE_MIN ? len : LINE_MIN);
        if (sscanf(text, "HTTP/1.%*1[01] %3d%n", &status, &used) != 1 || used != LINE_MIN ||
            status < 100)
            return -1;
        if (status >= 200)
            return status;
        end = memmem(bytes, len, "\r\n\r\n", 4);
        if (!end)
            return 0;
        len -= (size_t)(end + 4 - bytes);
        bytes = end + 4;
    }
}

void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    if (exchange->event)
        event_free(exchange->event);
    later_tls_free(exchange->tls);
    close(exchange->fd);
    free(exchange);
}

static void exchange_end(struct exchange *exchange, int status, const char *words)
{
    exchange_fn *fn = exchange->fn;
    void *arg = exchange->arg;
    char why[LATER_TLS_WHY];

    snprintf(why, sizeof why, "%s", words);
    exchange_free(exchange);
    fn(arg, status, why);
}

static bool exchange_waits(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* What TLS or the socket said last. */
static const char *exchange_why(const struct exchange *exchange)
{
    const char *why = exchange->tls ? later_tls_why(exchange->tls) : "";

    return *why ? why : strerror(errno);
}

/* The next four: 1 if that is done, 0 if it waits for the socket, -1 with errno if it has failed.
 */

static int exchange_connect(struct exchange *exchange)
{
    struct pollfd poller = { .fd = exchange->fd, .events = POLLOUT };
    socklen_t len = sizeof(int);
    int why = 0;

    if (exchange->connected)
        return 1;
    if (poll(&poller, 1, 0) <= 0)
        return 0;
    if (getsockopt(exchange->fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
        return -1;
    errno = why;
    exchange->connected = why == 0;
    return why ? -1 : 1;
}

static int exchange_shake(struct exchange *exchange)
{
    int done = exchange->tls && !exchange->shaken ? later_tls_shake(exchange->tls) : 1;

    exchange->shaken = done > 0;
    return done;
}

/* If nobody takes the rest, the other side may still have said why. */
static int exchange_write(struct exchange *exchange)
{
    while (exchange->sent < exchange->len) {
        size_t len = exchange->len - exchange->sent;
        struct iovec piece = { .iov_base = (char *)exchange->request + exchange->sent,
                               .iov_len = len };
        ssize_t sent = exchange->tls
                           ? later_tls_write(exchange->tls, &piece, 1)
                           : send(exchange->fd, piece.iov_base, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && exchange_waits())
            return 0;
        exchange->sent = sent < 0 ? exchange->len : exchange->sent + (size_t)sent;
    }
    return 1;
}

/* 1: *status is there. */
static int exchange_read(struct exchange *exchange, int *status)
{
    while (exchange->got < sizeof exchange->answer) {
        char *to = exchange->answer + exchange->got;
        size_t room = sizeof exchange->answer - exchange->got;
        ssize_t got = exchange->tls ? later_tls_read(exchange->tls, to, room)
                                    : recv(exchange->fd, to, room, MSG_DONTWAIT);

        if (got < 0)
            return exchange_waits() ? 0 : -1;
        exchange->got += (size_t)got;
        *status = exchange_status(exchange->answer, exchange->got);
        if (*status != 0)
            return 1;
        if (got == 0)
            break;
    }
    return 1;
}

/* Watches the socket for what it waits for. */
static bool exchange_watch(struct exchange *exchange)
{
    bool writes = exchange->sent < exchange->len;
    short what = EV_READ;

    if (!exchange->connected)
        what = EV_WRITE;
    else if (exchange->tls ? later_tls_watches(exchange->tls, writes) : writes)
        what = EV_READ | EV_WRITE;
    return event_del(exchange->event) == 0 &&
           event_assign(exchange->event, event_get_base(exchange->event), exchange->fd, what,
                        event_get_callback(exchange->event), exchange) == 0 &&
           event_add(exchange->event, NULL) == 0;
}

static void exchange_step(evutil_socket_t fd, short what, void *arg)
{
    struct exchange *exchange = arg;
    int status = 0, done = exchange_connect(exchange);

    (void)fd;
    (void)what;
    if (done > 0)
        done = exchange_shake(exchange);
    if (done > 0)
        done = exchange_write(exchange) ? exchange_read(exchange, &status) : 0;
    if (done == 0 && exchange_watch(exchange))
        return;
    if (done > 0 && status <= 0)
        exchange_end(exchange, 0, status < 0 ? "its answer is not HTTP" : "there was no answer");
    else
        exchange_end(exchange, exchange->connected ? status : EXCHANGE_APART,
                     exchange_why(exchange));
}

struct exchange *exchange_new(struct event_base *base, int fd, const struct later_address_tls *how,
                              const char *host, const char *request, exchange_fn *fn, void *arg,
                              char why[LATER_TLS_WHY])
{
    struct exchange *exchange = calloc(1, sizeof *exchange);

    snprintf(why, LATER_TLS_WHY, "no memory");
    if (!exchange) {
        close(fd);
        return NULL;
    }
    exchange->fd = fd;
    exchange->request = request;
    exchange->len = strlen(request);
    exchange->fn = fn;
    exchange->arg = arg;
    exchange->event = event_new(base, fd, EV_WRITE, exchange_step, exchange);
    if (exchange->event && (!how || (exchange->tls = later_tls_new(how, host, fd, why))) &&
        event_add(exchange->event, NULL) == 0)
        return exchange;
    exchange_free(exchange);
    return NULL;
}
