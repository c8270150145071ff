/*
 * server.h: leads a request to a page, a stream or a command, and checks who may do what.
 */
#ifndef LATER_WEB_SERVER_H
#define LATER_WEB_SERVER_H

#include "tasks/serve.h"
#include "http/guard.h"
#include "http/listener.h"
#include "http/mask.h"

#include <sys/types.h>

struct event_base;
struct server;

/* All pointers are borrowed. Over TCP the guard has a token for admins. */
struct server_options {
    struct guard guard;
    struct serve_program program;
    struct listener *listener;
    struct mask mask;        /* what readers do not see */
    gid_t operators;         /* their group; PEER_NO_GROUP = none */
    const char *user_header; /* in which a proxy says who it is; NULL = none */
    const char *notify_file; /* has the URL to which troubles are posted; NULL = none */
    const char *tasks_file;  /* keeps what was done here; NULL = none */
};

/* Returns NULL with *err. */
struct server *server_new(struct event_base *base, const struct server_options *options,
                          struct later_error *err);
void server_free(struct server *server);

#endif
