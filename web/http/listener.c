/* listener.c: opens the listening socket. */
#include "http/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG       128
#define SYSTEMD_FIRST 3 /* the first descriptor of sd_listen_fds(3) */

static int fail_errno(struct later_error *err, const char *what)
{
    return later_fail(err, LATER_E_SYSTEM, "%.300s: %s", what, strerror(errno));
}

static int fail_listen(struct later_error *err, const char *where)
{
    return later_fail(err, LATER_E_SYSTEM,
                      "cannot listen on %.300s: %s; --listen names another place, unix:PATH or "
                      "HOST:PORT",
                      where, strerror(errno));
}

/* libevent 2.1 asks the C library what each client is called, and ends the process when that has no
 * answer. musl has none for a unix socket. */
static int can_name_clients(struct later_error *err)
{
    struct sockaddr_un client = { .sun_family = AF_UNIX };
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getnameinfo((struct sockaddr *)&client, sizeof client, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        return 0;
    return later_fail(err, LATER_E_SYSTEM,
                      "this C library has no names for the clients of a unix socket, without which "
                      "libevent serves none: --listen HOST:PORT");
}

/* --- from systemd --- */

/* A socket unit puts our pid into the environment. */
static bool from_systemd(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

    return pid && count && strtol(pid, NULL, 10) == (long)getpid() && strcmp(count, "1") == 0;
}

static int take_over(struct listener *listener, struct later_error *err)
{
    struct sockaddr_un address = { 0 };
    socklen_t len = sizeof address;

    listener->fd = SYSTEMD_FIRST;
    listener->inherited = true;
    if (getsockname(listener->fd, (struct sockaddr *)&address, &len) < 0 ||
        fcntl(listener->fd, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl(listener->fd, F_SETFL, O_NONBLOCK) < 0)
        return fail_errno(err, "the socket from systemd");
    listener->is_unix = address.sun_family == AF_UNIX;
    if (listener->is_unix)
        snprintf(listener->path, sizeof listener->path, "%s", address.sun_path);
    snprintf(listener->name, sizeof listener->name, "a socket from systemd");
    return listener->is_unix ? can_name_clients(err) : 0;
}

/* --- unix --- */

/* A socket file that nobody listens on any more would be in the way. Any other file is somebody's,
 * although a connection to it is refused, too. */
static void remove_dead(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat file;

    if (fd >= 0 && lstat(address->sun_path, &file) == 0 && S_ISSOCK(file.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 && errno == ECONNREFUSED)
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

static int open_unix(struct listener *listener, const char *path, struct later_error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    mode_t mask;
    int ok;

    if (strlen(path) == 0 || strlen(path) >= sizeof address.sun_path)
        return later_fail(err, LATER_E_USAGE, "--listen: a path has 1 to %zu bytes",
                          sizeof address.sun_path - 1);
    if (can_name_clients(err) < 0)
        return -1;
    strcpy(address.sun_path, path);
    snprintf(listener->path, sizeof listener->path, "%s", path);
    remove_dead(&address);
    listener->is_unix = true;
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0)
        return fail_errno(err, path);
    mask = umask(0117);
    ok = bind(listener->fd, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    return ok < 0 || listen(listener->fd, BACKLOG) < 0 ? fail_listen(err, path) : 0;
}

/* --- TCP --- */

static int open_at(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_tcp(struct listener *listener, const char *where, struct later_error *err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    const char *colon = strrchr(where, ':'), *asked = where;
    struct addrinfo *list;
    char host[256];
    size_t len;
    int status;

    if (!colon || colon == where || !colon[1] || (size_t)(colon - where) >= sizeof host)
        return later_fail(err, LATER_E_USAGE, "--listen: unix:PATH or HOST:PORT, not %.100s",
                          where);
    len = (size_t)(colon - where);
    if (where[0] == '[' && where[len - 1] == ']') {
        where++;
        len -= 2;
    }
    snprintf(host, sizeof host, "%.*s", (int)len, where);
    status = getaddrinfo(host, colon + 1, &hints, &list);
    if (status != 0)
        return later_fail(err, LATER_E_USAGE, "--listen: %.100s: %s", host, gai_strerror(status));
    listener->fd = -1;
    for (const struct addrinfo *at = list; at && listener->fd < 0; at = at->ai_next)
        listener->fd = open_at(at);
    freeaddrinfo(list);
    return listener->fd < 0 ? fail_listen(err, asked) : 0;
}

/* Port 0 means any port, so the socket is asked which one it got. */
static void name_port(struct listener *listener, const char *where)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    char port[8];

    if (getsockname(listener->fd, (struct sockaddr *)&address, &len) == 0 &&
        getnameinfo((struct sockaddr *)&address, len, NULL, 0, port, sizeof port, NI_NUMERICSERV) ==
            0)
        snprintf(listener->name, sizeof listener->name, "%.*s:%s",
                 (int)(strrchr(where, ':') - where), where, port);
}

/* --- both kinds --- */

int listener_open(struct listener *listener, const char *where, struct later_error *err)
{
    *listener = (struct listener){ .fd = -1 };
    snprintf(listener->name, sizeof listener->name, "%.300s", where);
    if (from_systemd())
        return take_over(listener, err);
    if (strncmp(where, "unix:", 5) == 0)
        return open_unix(listener, where + 5, err);
    if (open_tcp(listener, where, err) < 0)
        return -1;
    name_port(listener, where);
    return 0;
}

void listener_close(const struct listener *listener)
{
    if (listener->is_unix && !listener->inherited)
        unlink(listener->path);
}
