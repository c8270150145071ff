/* test_address.c: Redis URLs, and the sockets to them. */
#include "config/config_check.h"
#include "redis/address.h"

#include "tests/unit/resolved.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct later_address address;
static struct later_error err;

/* ---- URLs */

/* laterd's configuration takes what can be connected to, if its files are absolute. */
static void is_configured(const char *url)
{
    const char *why = config_check_url(url);

    ck_assert_msg(!why || strstr(why, "must begin with /"), "lib/config/config_check.c: %s: %s",
                  url, why);
}

CASE("urls", NULL, NULL);

TEST(test_good)
{
    static const struct {
        const char *url, *path, *host, *port, *user;
        uint32_t db;
    } rows[] = {
        { "unix:/run/redis.sock", "/run/redis.sock", "", "", "", 0 },
        { "unix:/run/redis.sock?db=0", "/run/redis.sock", "", "", "", 0 },
        { "unix:/run/redis.sock?db=15", "/run/redis.sock", "", "", "", 15 },
        { "unix:/run/redis.sock?db=65535", "/run/redis.sock", "", "", "", 65535 },
        { "unix:/odd?name", "/odd?name", "", "", "", 0 },
        { "redis://localhost", "", "localhost", "6379", "", 0 },
        { "redis://localhost/", "", "localhost", "6379", "", 0 },
        { "redis://localhost:1", "", "localhost", "1", "", 0 },
        { "redis://h.example.org:65535/7", "", "h.example.org", "65535", "", 7 },
        { "redis://h:06379", "", "h", "6379", "", 0 },
        { "redis://laterd@h", "", "h", "6379", "laterd", 0 },
        { "redis://laterd@h:1/2", "", "h", "1", "laterd", 2 },
        { "redis://[::1]", "", "::1", "6379", "", 0 },
        { "redis://u@[fe80::1]:7000/3", "", "fe80::1", "7000", "u", 3 },
        { "rediss://h", "", "h", "6379", "", 0 },
        { "rediss://u@[::1]:7000/3?name=h", "", "::1", "7000", "u", 3 },
        { "rediss://an%40other:p@h:1/2", "", "h", "1", "an@other", 2 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(later_address_parse(&address, rows[i].url, &err) == 0, "%s: %s", rows[i].url,
                      err.text);
        ck_assert_str_eq(address.path, rows[i].path);
        ck_assert_str_eq(address.host, rows[i].host);
        ck_assert_str_eq(address.port, rows[i].port);
        ck_assert_str_eq(address.user, rows[i].user);
        ck_assert_uint_eq(address.db, rows[i].db);
        is_configured(rows[i].url);
    }
}

TEST(test_bad)
{
    static const char *const urls[] = {
        "",
        "localhost",
        "http://localhost",
        "rediss://",
        "rediss://@h",
        "rediss://u:@h",
        "rediss://:p@",
        "rediss://u:%4@h",
        "rediss://u:%00@h",
        "rediss://%@h",
        "rediss://h/x",
        "rediss://h?",
        "rediss://h?ca",
        "rediss://h?ca=",
        "rediss://h?ca=/a&",
        "rediss://h?ca=/a&ca=/b",
        "rediss://h?key=/k",
        "rediss://h?tls=yes",
        "rediss://h?verify=no",
        "redis://h?ca=/a",
        "redis://h?tls=yes",
        "sentinel://h/main?ca=/a",
        "sentinel://h/main?tls=no",
        "cluster://h?name=h",
        "unix:",
        "unix:relative",
        "unix://laterd@/run/redis.sock",
        "unix:/s?db=",
        "unix:/s?db=-1",
        "unix:/s?db=65536",
        "unix:/s?db=1x",
        "unix:/s?db=000000",
        "redis://",
        "redis:///0",
        "redis://:6379",
        "redis://h:",
        "redis://h:0",
        "redis://h:65536",
        "redis://h:99999999999999999999",
        "redis://h:63 79",
        "redis://h:-1",
        "redis://h/x",
        "redis://h/1/2",
        "redis://h/65536",
        "redis://@h",
        "redis://u@",
        "redis://::1",
        "redis://[::1",
        "redis://[]",
        "redis://[::1]6379",
    };

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        err = (struct later_error){ LATER_OK, "" };
        ck_assert_msg(later_address_parse(&address, urls[i], &err) < 0, "%s is taken", urls[i]);
        ck_assert_int_eq(err.code, LATER_E_USAGE);
        ck_assert_ptr_nonnull(strstr(err.text, "redis://[user@]host[:port][/db]"));
    }
}

TEST(test_tls)
{
    static const struct {
        const char *url, *shown, *password, *ca, *cert, *key, *name;
    } rows[] = {
        { "rediss://h/1", "rediss://h/1", "", "", "", "", "" },
        { "rediss://:p@h", "rediss://h", "p", "", "", "", "" },
        { "rediss://u:p:q@x@h:1", "rediss://h:1", "p:q@x", "", "", "", "" },
        { "rediss://u:%70%2F%3f%25@h?ca=/c/a", "rediss://h", "p/?%", "/c/a", "", "", "" },
        { "rediss://u@h/3?cert=/c%26d&name=n", "rediss://h/3", "", "", "/c&d", "/c&d", "n" },
        { "rediss://h?key=k&cert=c&name=::1&ca=a", "rediss://h", "", "a", "c", "k", "::1" },
        { "sentinel://u@h,i:1/main/2?tls=yes&ca=/a@b", "sentinel://u@h,i:1/main/2", "", "/a@b", "",
          "", "" },
        { "cluster://h?cert=/c&tls=yes", "cluster://h", "", "", "/c", "/c", "" },
    };
    char shown[LATER_URL_SIZE];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(later_address_parse(&address, rows[i].url, &err) == 0, "%s: %s", rows[i].url,
                      err.text);
        ck_assert(address.tls.on);
        ck_assert_str_eq(address.password, rows[i].password);
        ck_assert_str_eq(address.tls.ca, rows[i].ca);
        ck_assert_str_eq(address.tls.cert, rows[i].cert);
        ck_assert_str_eq(address.tls.key, rows[i].key);
        ck_assert_str_eq(address.tls.name, rows[i].name);
        later_address_shown(rows[i].url, shown);
        ck_assert_str_eq(shown, rows[i].shown);
        is_configured(rows[i].url);
    }
    later_address_shown("unix:/odd?name", shown);
    ck_assert_str_eq(shown, "unix:/odd?name");
}

/* A password in a URL is refused, and the message does not show it. */
TEST(test_passwords)
{
    static const char *const urls[] = {
        "redis://user:s3cret@h",
        "redis://:s3cret@h",
        "redis://u:s3cret@h:6379/1",
        "redis://u:s3cret/more@h:1",
        "redis://s3cret:@h",
        "redis://u:a:s3cret@[::1]",
        "redis://u:s3cret@h:1/x?y=z",
        "rediss://u:s3cret@h/x",
        "rediss://u:s3cret@h?y=s3cret",
        "rediss://u:%s3cret@h",
        "cluster://u:s3cret@h?tls=yes",
        "sentinel://u:s3cret@h,i:1/main?tls=yes&ca=/a@b",
    };

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        ck_assert_int_lt(later_address_parse(&address, urls[i], &err), 0);
        ck_assert_ptr_null(strstr(err.text, "s3cret"));
    }
    ck_assert_int_lt(later_address_parse(&address, "redis://u:p@h", &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "password file"));
}

/* The longest that fits, and one more. */
static void check_limit(const char *head, const char *tail, size_t most)
{
    char url[600];

    for (size_t more = 0; more < 2; more++) {
        size_t len = strlen(head);

        strcpy(url, head);
        memset(url + len, 'a', most + more);
        strcpy(url + len + most + more, tail);
        ck_assert_msg((later_address_parse(&address, url, &err) == 0) == (more == 0), "%s: %s", url,
                      err.text);
    }
}

TEST(test_limits)
{
    check_limit("unix:/", "", 106);
    check_limit("unix:/", "?db=3", 106);
    check_limit("redis://", ":1/2", 255);
    check_limit("redis://", "@h", 127);
}

/* ---- sockets */

/* A listener on 127.0.0.1, or a port without one. */
static int listener(uint16_t *port, bool open)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof in;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof in), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
    *port = ntohs(in.sin_port);
    if (open)
        ck_assert_int_eq(listen(fd, 4), 0);
    return fd;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;

    ck_assert_int_eq(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

CASE("sockets", NULL, NULL);

TEST(test_tcp_socket)
{
    unsigned count = 0;
    int fd, subscriber = listener(&resolved[0], true);

    resolved_count = 1;
    ck_assert_int_eq(later_address_parse(&address, "redis://somewhere", &err), 0);
    fd = later_address_connect(&address, 0, &count, &err);
    ck_assert_msg(fd >= 0, "%s", err.text);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_ne(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
    ck_assert_int_ne(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
    ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
    ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
    ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
    ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 10000);
    close(fd);
    close(subscriber);
}

/* Number 0 to 3 of two addresses: each in turn. */
TEST(test_each_address_in_turn)
{
    int subscriber[2] = { listener(&resolved[0], true), listener(&resolved[1], true) };

    resolved_count = 2;
    ck_assert_int_eq(later_address_parse(&address, "redis://somewhere", &err), 0);
    for (unsigned which = 0; which < 4; which++) {
        unsigned count = 0;
        struct pollfd poller = { .fd = subscriber[which % 2], .events = POLLIN };
        int fd = later_address_connect(&address, which, &count, &err), taken;

        ck_assert_int_ge(fd, 0);
        ck_assert_uint_eq(count, 2);
        ck_assert_int_eq(poll(&poller, 1, 1000), 1);
        taken = accept(subscriber[which % 2], NULL, NULL);
        ck_assert_int_ge(taken, 0);
        close(taken);
        close(fd);
    }
    close(subscriber[0]);
    close(subscriber[1]);
}

TEST(test_no_such_host)
{
    unsigned count = 9;

    ck_assert_int_eq(later_address_parse(&address, "redis://nowhere", &err), 0);
    ck_assert_int_lt(later_address_connect(&address, 0, &count, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_uint_eq(count, 9);
    ck_assert_ptr_nonnull(strstr(err.text, "nowhere: "));
}

TEST(test_no_such_socket)
{
    unsigned count = 1;

    ck_assert_int_eq(later_address_parse(&address, "unix:/tmp/no-such-later-socket", &err), 0);
    ck_assert_int_lt(later_address_connect(&address, 0, &count, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_str_eq(err.text, "unix:/tmp/no-such-later-socket: No such file or directory");
}
