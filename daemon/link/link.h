/*
 * link.h: a connection of liblater on a libevent loop, which reconnects by itself.
 *
 * If it breaks it is opened again: first after 0.05 s, then doubling to 1.5 s, with full jitter, so
 * that many workers do not come back at the same moment. The log has one line when an outage begins
 * and one when it ends. The password file is read again each time.
 *
 *     link_send(link, &cmd, 2.0, fn, arg);  … more …
 *     link_flush(link);                             one write for all of them
 */
#ifndef LATERD_LINK_H
#define LATERD_LINK_H

#include "config/config.h"
#include "redis/redis.h"

#include <stdbool.h>

struct event_base;
struct link;

#define LINK_TIMEOUT 2.0 /* seconds for a command */

struct link_options {
    const char *what; /* for the log: "keeper"; static */
    bool quiet;       /* another link logs the outages */
    bool sentinel;    /* to a configured Sentinel, not to the Redis that it names */
    /* All but `up` may be NULL. */
    void (*up)(void *arg);                    /* the link may send now */
    void (*down)(void *arg);                  /* all its commands have been answered */
    void (*away)(void *arg, const char *why); /* it was tried in vain, or cut; it is tried again */
    void (*message)(void *arg, const char *channel, const char *text);
    void *arg;
};

/* Makes a link to the configured Redis. It connects at the loop's next turn. NULL with *err. */
struct link *link_new(struct event_base *base, const struct config *config,
                      const struct link_options *options, struct later_error *err);

/* Answers what is open, closes, and frees it. NULL is fine. */
void link_free(struct link *link);

/* Like later_redis_send(). Returns -1 while the link is down. */
int link_send(struct link *link, struct later_command *cmd, double timeout, later_answer_fn *fn,
              void *arg);

/* Writes what was sent since the last time. */
void link_flush(struct link *link);

/* Puts back a queue's wake. Whoever takes one and will not reserve calls this, so that another
 * worker gets it. It is best effort: if it is lost, a migrator leaves a new one. */
void link_wake(struct link *link, const struct later_keys *keys);

bool link_is_up(const struct link *link);
struct later_redis *link_redis(const struct link *link);

/* Breaks the connection, because an answer of Redis asks for a new one. */
void link_break(struct link *link, const char *why);

/* Closes the connection, on which nothing may be open, until link_resume(), which makes it again at
 * the loop's next turn. A link that does not rest is not changed by that. */
void link_rest(struct link *link);
void link_resume(struct link *link);

/* Sentinels say that the master is now at `peer` ("host:port"). A link to another one is broken and
 * made again at once. A link that is there already, or that uses no Sentinels, is left alone. */
void link_moved(struct link *link, const char *peer);

/* Writes the URL of the configured Redis, for later_address_parse(). "embedded" becomes the socket
 * in state_dir. */
void link_url(const struct config *config, char *url, size_t room);

/* Reads that URL. Returns whether it could be read, as that of a checked configuration can. */
bool link_address(const struct config *config, struct later_address *address);

#endif
