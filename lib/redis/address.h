/*
 * address.h: where a Redis is, from a URL.
 *
 *     unix:/run/redis.sock                 a unix socket, database 0; unix:/path?db=2 another
 *     redis://[user@]host[:port][/db]      TCP; port 6379, database 0 unless said
 *     rediss://[user:password@]host[:port][/db][?ca=FILE&cert=FILE&key=FILE&name=HOST]
 *                                          the same with TLS (tls.h)
 *     sentinel://[user@]h1[:port],h2[:port]/NAME[/db]
 *                                          the master NAME that Sentinels know (sentinel.h); their
 *                                          port 26379 unless said; user and db are the Redis's
 *     cluster://[user@]h1[:port],h2[:port]
 *                                          a Redis Cluster, of which these are some nodes
 *                                          (cluster.h); their port 6379 unless said
 *
 * After the last two, ?tls=yes[&ca=FILE…] means TLS with every server that they lead to.
 *
 * Only rediss:// may have a password, since whoever rents a Redis gets such a URL. It would be seen
 * in ps and in logs; all others get it from a file. User, password and what comes after ? are
 * written with %XX where they have a sign of the URL's own.
 */
#ifndef LATER_ADDRESS_H
#define LATER_ADDRESS_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define LATER_HOSTS_MAX 8    /* in one URL: Sentinels, or nodes of a Cluster */
#define LATER_URL_SIZE  1024 /* the longest URL, and its NUL */

/* What TLS needs. Files are in PEM; "" is none of our own. */
struct later_address_tls {
    bool on;
    char ca[256];   /* authorities; "": those of the system */
    char cert[256]; /* our certificate, with those between it and its authority */
    char key[256];  /* its key */
    char name[256]; /* that the peer's certificate must have; "": the host's */
};

struct later_address {
    char path[108]; /* unix socket; "" = TCP */
    char host[256];
    char port[6];
    char user[128]; /* "" = the default user */
    uint32_t db;
    char hosts[256]; /* "h1:port,h2": Sentinels or nodes; host and port are not known yet. "": none
                      */
    char master[64]; /* the name that the Sentinels know it by */
    bool cluster;    /* the hosts are nodes of a Cluster */
    char password[256]; /* only of rediss://; "": none there */
    struct later_address_tls tls;
};

/* Parses url. Returns 0, or -1 with *err (LATER_E_USAGE; the text repeats no password). */
int later_address_parse(struct later_address *address, const char *url, struct later_error *err);

/* May a URL of this kind have a password? Returns the length of its `kind://`, 0 if not. */
size_t later_address_takes_password(const char *url);

/* Writes url without user, password and what comes after ?, for messages. */
void later_address_shown(const char *url, char shown[LATER_URL_SIZE]);

/* Return how many hosts it lists, 0 if it names one server; how many of them are Sentinels, all or
 * none. The third puts the host and port of number `which` into *one, and empties the rest of it.
 */
unsigned later_address_hosts(const struct later_address *address);
unsigned later_address_sentinels(const struct later_address *address);
void later_address_host(const struct later_address *address, unsigned which,
                        struct later_address *one);

/* Is this a host of sensible length, and a port? What comes from the network is not trusted. */
bool later_address_is(const char *host, const char *port);

/* Begins a non-blocking connection to number `which` of the host's addresses (`localhost` may be
 * ::1 and 127.0.0.1; beyond the last it begins again at the first). The socket is CLOEXEC; on TCP
 * it has keepalive (15 s, 5 s, 3 times) and TCP_USER_TIMEOUT (10 s). Resolving the host's name
 * (getaddrinfo) may block. Returns the socket, or -1 with *err (LATER_E_REDIS, LATER_E_SYSTEM).
 * *count gets the number of addresses, or is unchanged if that is not known. */
int later_address_connect(const struct later_address *address, unsigned which, unsigned *count,
                          struct later_error *err);

#endif
