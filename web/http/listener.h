/*
 * listener.h: opens the listening socket.
 */
#ifndef LATER_WEB_LISTENER_H
#define LATER_WEB_LISTENER_H

#include "later/error.h"

#include <limits.h>
#include <stdbool.h>

struct listener {
    int fd;
    bool is_unix;
    bool inherited;      /* from systemd */
    char path[PATH_MAX]; /* of a unix socket */
    char name[320];      /* "unix:/run/laterd/web.sock", "127.0.0.1:7420", for people */
};

/* where: "unix:PATH" or "HOST:PORT" ("[::1]:7420"). A socket from systemd is used instead if there
 * is one. The socket file of a dead server is removed; that of a live one, or any other file, is an
 * error. A new socket file can be used by its user and group (0660). A C library with which
 * libevent could not serve a unix socket is an error (musl). Returns 0, or -1 with *err. */
int listener_open(struct listener *listener, const char *where, struct later_error *err);

/* Removes the file that listener_open() made. */
void listener_close(const struct listener *listener);

#endif
