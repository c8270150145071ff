/*
 * link.h: a connection of liblater on a libevent loop, which reconnects by itself.
 *
 * When it breaks it is opened again: after 0.05 s at first, doubling to 1.5 s, with full jitter, so
 * that many workers do not come back at the same moment. The log has one line when an outage begins
 * and one when it ends. The password file is read again each time.
 *
 *     link_send(link, &cmd, script, 2.0, fn, arg);  … more …
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
    const char *what;        /* for the log: "keeper"; static */
    bool quiet;              /* another link's outage lines will do */
    bool sentinel;           /* to a Sentinel of the configuration's, not to the Redis behind */
    void (*up)(void *arg);   /* may send */
    void (*down)(void *arg); /* its commands have been answered */
    void (*message)(void *arg, const char *channel, const char *text);
    void *arg;
};

/* A link to the configuration's Redis; connects at the loop's next turn. NULL with *err. */
struct link *link_new(struct event_base *base, const struct config *config,
                      const struct link_options *options, struct later_error *err);

/* Answers what is outstanding, closes, frees. NULL is fine. */
void link_free(struct link *link);

/* As later_redis_send(); returns -1 while the link is down. */
int link_send(struct link *link, struct later_command *cmd, int script, double timeout,
              later_answer_fn *fn, void *arg);

/* Writes what was sent since the last time. */
void link_flush(struct link *link);

/* Puts back a queue's wake: whoever eats one and will not reserve does that, for another worker.
 * Best effort: what is lost, a migrator finds. */
void link_wake(struct link *link, const struct later_keys *keys);

bool link_is_up(const struct link *link);
struct later_redis *link_redis(const struct link *link);

/* Breaks the connection, because Redis said something that asks for a new one. */
void link_break(struct link *link, const char *why);

/* The master is at `peer` ("host:port") now, Sentinels say: a link to another one is broken, and
 * made again at once. Nothing happens to a link that is there already, or that knows no Sentinels.
 */
void link_moved(struct link *link, const char *peer);

/* Where the configuration's Redis is: url for later_address_parse(). "embedded" becomes the socket
 * in state_dir. Written into url. */
void link_url(const struct config *config, char *url, size_t room);

#endif
