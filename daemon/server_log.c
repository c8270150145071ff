/* server_log.c: the log lines of the embedded redis-server. */
#include "server_log.h"

#include "log.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_ROOM 2048 /* longer lines are split */

struct server_log {
    struct event_base *base;
    struct event *readable; /* NULL: no server */
    int fd;
    bool overcommit; /* that was said */
    char line[LINE_ROOM];
    size_t len;
};

/* Redis logs these as warnings, but they are none. */
static const char *const usual[] = { "oO0OoO0OoO0Oo",           "Redis version=",
                                     "Configuration loaded",    "Server initialized",
                                     "User requested shutdown", "Redis is now ready to exit" };

/* `1234:M 22 Nov 2026 04:15:31.561 # words`: returns where the words begin, or the whole line. */
static const char *server_log_words_of(const char *line)
{
    int at = 0;

    if (sscanf(line, "%*d:%*c %*d %*3s %*d %*d:%*d:%*d.%*d %*1[-.*#] %n", &at) == 0 && at > 0)
        return line + at;
    return line;
}

static void server_log_tell(struct server_log *log, const char *line)
{
    const char *words = server_log_words_of(line);
    enum log_level level = strstr(line, "signal-handler") ? LOG_DEBUG : LOG_WARN;

    if (!*words)
        return;
    if (strstr(words, "vm.overcommit_memory")) {
        if (!log->overcommit)
            log_from("redis", LOG_WARN,
                     "vm.overcommit_memory is 0: set it to 1 (sysctl vm.overcommit_memory=1), or "
                     "its file cannot be rewritten when memory is scarce");
        log->overcommit = true;
        return;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (strncmp(words, usual[i], strlen(usual[i])) == 0)
            level = LOG_DEBUG;
    }
    log_from("redis", level, words);
}

static void server_log_take(struct server_log *log, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n' && log->len + 1 < sizeof log->line) {
            log->line[log->len++] = bytes[i] ? bytes[i] : '?';
            continue;
        }
        log->line[log->len] = '\0';
        server_log_tell(log, log->line);
        log->len = 0;
        if (bytes[i] != '\n')
            log->line[log->len++] = bytes[i];
    }
}

static void server_log_end(struct server_log *log)
{
    if (log->len)
        server_log_take(log, "\n", 1);
    if (log->readable)
        event_free(log->readable);
    close(log->fd);
    log->readable = NULL;
}

static bool server_log_read_some(struct server_log *log)
{
    char bytes[4096];
    ssize_t got = read(log->fd, bytes, sizeof bytes);

    if (got > 0)
        server_log_take(log, bytes, (size_t)got);
    else if (got == 0)
        server_log_end(log);
    return got > 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    server_log_read_some(arg);
}

struct server_log *server_log_new(struct event_base *base)
{
    struct server_log *log = calloc(1, sizeof *log);

    if (log)
        log->base = base;
    return log;
}

static void server_log_finish(struct server_log *log)
{
    while (log->readable && server_log_read_some(log))
        ;
    if (log->readable)
        server_log_end(log);
}

void server_log_read(struct server_log *log, int fd)
{
    server_log_finish(log);
    log->fd = fd;
    log->readable = event_new(log->base, fd, EV_READ | EV_PERSIST, on_readable, log);
    if (!log->readable || event_add(log->readable, NULL) < 0)
        server_log_end(log); /* without memory nobody reads it */
}

void server_log_free(struct server_log *log)
{
    if (!log)
        return;
    server_log_finish(log);
    free(log);
}
