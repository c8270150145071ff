/*
 * http_address.c: which addresses are private.
 *
 * The lists follow IANA's registries of special-purpose addresses (RFC 6890): everything that is
 * not globally reachable, and multicast.
 */
#include "http_address.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct net4 {
    uint32_t net;
    unsigned bits;
};

static const struct net4 private4[] = {
    { 0x00000000, 8 },  /* 0.0.0.0/8        this network */
    { 0x0a000000, 8 },  /* 10.0.0.0/8       private */
    { 0x64400000, 10 }, /* 100.64.0.0/10 within a provider */
    { 0x7f000000, 8 },  /* 127.0.0.0/8      loopback */
    { 0xa9fe0000, 16 }, /* 169.254.0.0/16 link-local; clouds serve secrets there */
    { 0xac100000, 12 }, /* 172.16.0.0/12    private */
    { 0xc0000000, 24 }, /* 192.0.0.0/24     protocols */
    { 0xc0000200, 24 }, /* 192.0.2.0/24     examples */
    { 0xc0a80000, 16 }, /* 192.168.0.0/16   private */
    { 0xc6120000, 15 }, /* 198.18.0.0/15    benchmarks */
    { 0xc6336400, 24 }, /* 198.51.100.0/24  examples */
    { 0xcb007100, 24 }, /* 203.0.113.0/24   examples */
    { 0xe0000000, 3 },  /* 224.0.0.0/3      multicast, reserved, broadcast */
};

struct net6 {
    uint8_t net[8];
    unsigned bits;
};

static const struct net6 private6[] = {
    { { 0x01, 0x00 }, 64 },             /* 100::/64       discarded */
    { { 0x20, 0x01, 0x00, 0x00 }, 23 }, /* 2001::/23      protocols, Teredo among them */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* 2001:db8::/32  examples */
    { { 0x3f, 0xff, 0x00 }, 20 },       /* 3fff::/20      examples */
    { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48 }, /* 64:ff9b:1::/48 a network's own NAT64 */
    { { 0xfc, 0x00 }, 7 },                          /* fc00::/7       private */
    { { 0xfe, 0x80 }, 9 },                          /* fe80::/9       link-local, site-local */
    { { 0xff, 0x00 }, 8 },                          /* ff00::/8       multicast */
};

static bool is_private4(uint32_t address)
{
    for (size_t i = 0; i < sizeof private4 / sizeof *private4; i++) {
        if ((address ^ private4[i].net) >> (32 - private4[i].bits) == 0)
            return true;
    }
    return false;
}

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool http_address_begins(const uint8_t *address, const uint8_t *net, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    return memcmp(address, net, whole) == 0 &&
           (rest == 0 || (address[whole] ^ net[whole]) >> (8 - rest) == 0);
}

static bool is_private6(const uint8_t *address)
{
    static const uint8_t zeros[12], mapped[12] = { [10] = 0xff, [11] = 0xff };
    static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b }, six_to_four[2] = { 0x20, 0x02 };

    /* ::, ::1 and the old form of an IPv4 address in IPv6 */
    if (memcmp(address, zeros, sizeof zeros) == 0)
        return true;
    if (memcmp(address, mapped, sizeof mapped) == 0 || memcmp(address, nat64, sizeof nat64) == 0)
        return is_private4(number(address + 12));
    if (memcmp(address, six_to_four, sizeof six_to_four) == 0)
        return is_private4(number(address + 2));
    for (size_t i = 0; i < sizeof private6 / sizeof *private6; i++) {
        if (http_address_begins(address, private6[i].net, private6[i].bits))
            return true;
    }
    return false;
}

bool http_address_private(const struct sockaddr *address)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (address->sa_family == AF_INET) {
        memcpy(&in, address, sizeof in);
        return is_private4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        memcpy(&in6, address, sizeof in6);
        return is_private6(in6.sin6_addr.s6_addr);
    }
    return true;
}
