/* sha1.c: SHA-1, as FIPS 180-4 writes it down. */
#include "sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void mix(uint32_t state[5], const unsigned char block[64])
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

    for (size_t t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (size_t t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (size_t t = 0; t < 80; t++) {
        uint32_t f = t < 20   ? ((b & c) ^ (~b & d)) + 0x5a827999
                     : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : t < 60 ? ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc
                              : (b ^ c ^ d) + 0xca62c1d6;
        uint32_t next = rotate(a, 5) + f + e + w[t];

        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void later_sha1(const void *bytes, size_t len, char hex[41])
{
    uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    const unsigned char *at = bytes;
    unsigned char tail[128] = { 0 };
    size_t rest = len % 64, end = rest < 56 ? 64 : 128;

    for (size_t i = 0; i + 64 <= len; i += 64)
        mix(state, at + i);
    if (rest)
        memcpy(tail, at + len - rest, rest);
    tail[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        tail[end - 1 - i] = (unsigned char)((uint64_t)len * 8 >> (8 * i));
    mix(state, tail);
    if (end == 128)
        mix(state, tail + 64);
    for (size_t i = 0; i < 5; i++)
        snprintf(hex + 8 * i, 9, "%08x", (unsigned)state[i]);
}
