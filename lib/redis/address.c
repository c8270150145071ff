/* address.c: Redis URLs and the sockets to them. */
#include "redis/address.h"

#include "redis/address_inner.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

int later_address_refuse(struct later_error *err, const char *why)
{
    return later_fail(err, LATER_E_USAGE,
                      "redis url: %s; unix:/path, redis://[user@]host[:port][/db], rediss://…, "
                      "sentinel://[user@]host[:port],host[:port]/name[/db] or "
                      "cluster://[user@]host[:port],host[:port]",
                      why);
}

/* Copies len bytes of text into out. Returns 0, or -1 when they are none or too many. */
static int address_copy(char *out, size_t room, const char *text, size_t len)
{
    if (len == 0 || len >= room)
        return -1;
    memcpy(out, text, len);
    out[len] = '\0';
    return 0;
}

static int parse_number(const char *text, size_t len, uint32_t *number)
{
    *number = 0;
    if (len == 0 || len > 5)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        *number = *number * 10 + (uint32_t)(text[i] - '0');
    }
    return *number <= 65535 ? 0 : -1;
}

bool later_address_is(const char *host, const char *port)
{
    uint32_t number;

    return *host && strlen(host) < sizeof((struct later_address *)0)->host &&
           parse_number(port, strlen(port), &number) == 0 && number > 0;
}

static int parse_unix(struct later_address *address, const char *path, struct later_error *err)
{
    const char *query = strstr(path, "?db=");
    size_t len = query ? (size_t)(query - path) : strlen(path);

    if (path[0] != '/')
        return later_address_refuse(err, "a unix socket's path must begin with /");
    if (path[1] == '/' && path[2 + strcspn(path + 2, "/@")] == '@')
        return later_address_refuse(err, "there is no user at a unix socket");
    if (address_copy(address->path, sizeof address->path, path, len) < 0)
        return later_address_refuse(err, "the socket's path is longer than 107 bytes");
    if (query && parse_number(query + 4, strlen(query + 4), &address->db) < 0)
        return later_address_refuse(err, "db must be a number");
    return 0;
}

/* host[:port], or [v6][:port] */
static int parse_host(struct later_address *address, const char *text, size_t len, uint32_t port)
{
    const char *end = text + len, *colon;

    if (len > 0 && text[0] == '[') {
        const char *close = memchr(text, ']', len);

        if (!close || address_copy(address->host, sizeof address->host, text + 1,
                                   (size_t)(close - text - 1)) < 0)
            return -1;
        colon = close + 1;
    } else {
        colon = memchr(text, ':', len);
        colon = colon ? colon : end;
        if (address_copy(address->host, sizeof address->host, text, (size_t)(colon - text)) < 0)
            return -1;
    }
    if (colon < end && (*colon != ':' ||
                        parse_number(colon + 1, (size_t)(end - colon - 1), &port) < 0 || port == 0))
        return -1;
    snprintf(address->port, sizeof address->port, "%u", (unsigned)(uint16_t)port);
    return 0;
}

/* Takes what is before an @ in *text, of *len bytes, and moves both past it. */
static int parse_user(struct later_address *address, const char **text, size_t *len,
                      struct later_error *err)
{
    const char *at = memchr(*text, '@', *len);

    if (!at)
        return 0;
    if (memchr(*text, ':', (size_t)(at - *text)))
        return later_address_refuse(err,
                                    "a password in it would be seen; use a password file, which "
                                    "$LATER_REDIS_PASSWORD_FILE names");
    if (address_copy(address->user, sizeof address->user, *text, (size_t)(at - *text)) < 0)
        return later_address_refuse(err, "the user's name is empty or too long");
    *len -= (size_t)(at + 1 - *text);
    *text = at + 1;
    return 0;
}

static int parse_db(struct later_address *address, const char *db, struct later_error *err)
{
    if (*db && parse_number(db, strlen(db), &address->db) < 0)
        return later_address_refuse(err, "the database must be a number");
    return 0;
}

static int parse_tcp(struct later_address *address, const char *text, struct later_error *err)
{
    size_t len = strcspn(text, "/");
    const char *db = text[len] ? text + len + 1 : "";

    if (parse_user(address, &text, &len, err) < 0)
        return -1;
    if (parse_host(address, text, len, 6379) < 0)
        return later_address_refuse(err, "host or port is wrong");
    return parse_db(address, db, err);
}

unsigned later_address_hosts(const struct later_address *address)
{
    unsigned count = address->hosts[0] != '\0';

    for (const char *c = address->hosts; *c; c++)
        count += *c == ',';
    return count;
}

unsigned later_address_sentinels(const struct later_address *address)
{
    return address->cluster ? 0 : later_address_hosts(address);
}

/* Parses the host that begins at text, up to a comma or the end. */
static int parse_one(const struct later_address *address, struct later_address *one,
                     const char *text)
{
    memset(one, 0, sizeof *one);
    return parse_host(one, text, strcspn(text, ","), address->cluster ? 6379 : 26379);
}

void later_address_host(const struct later_address *address, unsigned which,
                        struct later_address *one)
{
    const char *text = address->hosts;

    for (; which > 0 && strchr(text, ','); which--)
        text = strchr(text, ',') + 1;
    (void)parse_one(address, one, text); /* it was checked when the URL was parsed */
}

/* Takes the list, and parses each host once, so that later_address_host() cannot fail. */
static int parse_hosts(struct later_address *address, const char *text, size_t len,
                       struct later_error *err)
{
    struct later_address one;

    if (address_copy(address->hosts, sizeof address->hosts, text, len) < 0)
        return later_address_refuse(err, "no hosts, or longer than 255 bytes");
    if (later_address_hosts(address) > LATER_HOSTS_MAX)
        return later_address_refuse(err, "more than 8 hosts");
    for (text = address->hosts;; text++) {
        if (parse_one(address, &one, text) < 0)
            return later_address_refuse(err, "a host or port is wrong");
        text += strcspn(text, ",");
        if (!*text)
            return 0;
    }
}

static int parse_sentinels(struct later_address *address, const char *text, struct later_error *err)
{
    size_t len = strcspn(text, "/"), name_len;
    const char *name = text[len] ? text + len + 1 : "";

    if (parse_user(address, &text, &len, err) < 0)
        return -1;
    if (parse_hosts(address, text, len, err) < 0)
        return -1;
    name_len = strcspn(name, "/");
    if (address_copy(address->master, sizeof address->master, name, name_len) < 0)
        return later_address_refuse(err, "the master's name is missing or longer than 63 bytes");
    return parse_db(address, name[name_len] ? name + name_len + 1 : "", err);
}

static int parse_cluster(struct later_address *address, const char *text, struct later_error *err)
{
    size_t len = strcspn(text, "/");

    address->cluster = true;
    if (parse_user(address, &text, &len, err) < 0)
        return -1;
    if (strchr(text, '/') && strcmp(strchr(text, '/'), "/") != 0)
        return later_address_refuse(err, "a Cluster has no databases");
    return parse_hosts(address, text, len, err);
}

/* As parse_tcp(), after it has taken user and password. */
static int parse_tls(struct later_address *address, const char *text, struct later_error *err)
{
    address->tls.on = true;
    return later_address_take_login(address, &text, err) < 0 ? -1 : parse_tcp(address, text, err);
}

/* A password is looked for before anything else: no other fault may show it. */
int later_address_parse(struct later_address *address, const char *url, struct later_error *err)
{
    static const struct {
        const char *begins;
        int (*parse)(struct later_address *address, const char *text, struct later_error *err);
    } kinds[] = { { "redis://", parse_tcp },
                  { "rediss://", parse_tls },
                  { "sentinel://", parse_sentinels },
                  { "cluster://", parse_cluster } };
    char copy[LATER_URL_SIZE], *query;

    memset(address, 0, sizeof *address);
    if (strlen(url) >= sizeof copy)
        return later_address_refuse(err, "longer than 1023 bytes");
    if (strncmp(url, "unix:", 5) == 0)
        return parse_unix(address, url + 5, err);
    strcpy(copy, url);
    query = strchr(copy, '?');
    if (query)
        *query++ = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i].begins);

        if (strncmp(copy, kinds[i].begins, len) == 0)
            return kinds[i].parse(address, copy + len, err) < 0
                       ? -1
                       : later_address_take_query(address, query, err);
    }
    return later_address_refuse(err, "unknown kind");
}

static int connect_unix(const struct later_address *address, struct later_error *err)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return later_fail(err, LATER_E_SYSTEM, "socket: %s", strerror(errno));
    memcpy(to.sun_path, address->path, sizeof to.sun_path);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) {
        later_fail(err, LATER_E_REDIS, "unix:%s: %s", address->path, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value); /* may fail */
}

static int connect_tcp(const struct addrinfo *to)
{
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000);
    if (connect(fd, to->ai_addr, to->ai_addrlen) < 0 && errno != EINPROGRESS) {
        int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int later_address_connect(const struct later_address *address, unsigned which, unsigned *count,
                          struct later_error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL, *to;
    unsigned all = 0;
    int fd, why;

    if (address->path[0])
        return connect_unix(address, err);
    why = getaddrinfo(address->host, address->port, &hints, &list);
    if (why)
        return later_fail(err, LATER_E_REDIS, "%s: %s", address->host, gai_strerror(why));
    for (to = list; to; to = to->ai_next)
        all++;
    *count = all;
    to = list;
    for (which %= all; which > 0; which--)
        to = to->ai_next;
    fd = connect_tcp(to);
    if (fd < 0)
        later_fail(err, LATER_E_REDIS, "%s:%s: %s", address->host, address->port, strerror(errno));
    freeaddrinfo(list);
    return fd;
}
