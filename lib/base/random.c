/* random.c: random bytes. */
#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void later_random(void *to, size_t len)
{
    unsigned char *bytes = to;
    static _Thread_local uint64_t before;
    struct timespec now;
    uint64_t bits;
    ssize_t got;

    do
        got = getrandom(to, len, 0);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)len)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    bits = before ^ (uint64_t)now.tv_sec ^ ((uint64_t)now.tv_nsec << 34) ^
           ((uint64_t)getpid() << 12) ^ (uintptr_t)&bits;
    for (size_t i = 0; i < len; i++) {
        bits = bits * 6364136223846793005U + 1442695040888963407U;
        bytes[i] = (unsigned char)(bits >> 56);
    }
    before = bits;
}
