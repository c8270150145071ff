/*
 * where.h: finds out which Redis to use, from the command line, the environment and the
 * configuration files.
 *
 * The first of these that exists decides. The others are not even read:
 *     --redis URL · $LATER_REDIS_URL · -c FILE · /etc/laterd/client.conf · the daemon's
 *     configuration (-C FILE, else /etc/laterd/laterd.conf) if readable · the embedded server's
 *     socket
 * But -c FILE comes before $LATER_REDIS_URL, since it is given for this one command. The password
 * file and the prefix come from the same file as the URL, so that no password is sent to a server
 * that it is not for. $LATER_REDIS_PASSWORD_FILE and --prefix override them.
 */
#ifndef LATER_CLI_WHERE_H
#define LATER_CLI_WHERE_H

#include "config/config.h" /* a client's configuration is read like the daemon's */
#include "redis/address.h"
#include "redis/key.h"
#include "later/error.h"

#include <limits.h>
#include <stddef.h>

struct where {
    char url[LATER_URL_SIZE];
    char shown[LATER_URL_SIZE];   /* the same without a password */
    char password_file[PATH_MAX]; /* "" = none */
    char prefix[LATER_PREFIX_MAX + 1];
    size_t document_max; /* bytes */
};

/* What the command line says. NULL = nothing. */
struct where_given {
    const char *redis, *prefix, *config, *daemon_config;
};

/* Returns 0, or -1 with *err: LATER_E_CONFIG if a configuration is wrong, or was named and is
 * missing; LATER_E_USAGE if a URL is none, or a value is too long. */
int where_find(struct where *where, const struct where_given *given, struct later_error *err);

/* Reads the configuration of the daemon on this host: that of -c or -C FILE, else the daemon's
 * own if readable, else the built-in defaults. The caller frees it with config_free(). NULL with
 * *err. */
struct config *where_config(const struct where_given *given, struct later_error *err);

/* The same, of which only redis, state_dir and document are read. */
struct config *where_state(const struct where_given *given, struct later_error *err);

#endif
