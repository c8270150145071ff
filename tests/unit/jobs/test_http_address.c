/* test_http_address.c: which addresses the http plugin takes for private. */
#include "tests/unit/../../jobs/http_address.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static bool is_private(const char *text)
{
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        return http_address_private((const struct sockaddr *)&in);
    ck_assert_msg(inet_pton(AF_INET6, text, &in6.sin6_addr) == 1, "%s", text);
    return http_address_private((const struct sockaddr *)&in6);
}

/* The first and the last of each range, as RFC 6890 and its registries have them. */
static const char *const privates[] = {
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.170",
    "192.0.2.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.1.2.3",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:1ff:ffff::",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a01:203::1",
    "3fff::1",
    "fc00::1",
    "fdff:ffff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
};

static const char *const publics[] = {
    "1.0.0.0",         "8.8.8.8",
    "9.255.255.255",   "11.0.0.0",
    "100.63.255.255",  "100.128.0.0",
    "126.255.255.255", "128.0.0.1",
    "169.253.255.255", "169.255.0.0",
    "172.15.255.255",  "172.32.0.0",
    "192.0.1.0",       "192.167.255.255",
    "192.169.0.0",     "198.17.255.255",
    "198.20.0.0",      "223.255.255.255",
    "::ffff:8.8.8.8",  "64:ff9b::808:808",
    "2001:200::1",     "2001:4860:4860::8888",
    "2002:808:808::1", "2606:4700::1111",
    "3ffe::1",
};

TEST_EACH(refused, COUNT(privates))
{
    ck_assert_msg(is_private(privates[_i]), "%s", privates[_i]);
}

TEST_EACH(allowed, COUNT(publics))
{
    ck_assert_msg(!is_private(publics[_i]), "%s", publics[_i]);
}

TEST(other_kinds)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/x" };

    ck_assert(http_address_private((const struct sockaddr *)&un));
}
