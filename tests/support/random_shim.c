/*
 * random_shim.c: LD_PRELOAD: a Redis for which chance is the same each time: the seed of its hash
 * tables, which it reads from /dev/urandom, and random(), by which it builds sorted sets. Chains in
 * tables and levels of lists are then as long in each run, and its instructions can be counted to
 * one in a thousand.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef FILE *opener(const char *, const char *);

static FILE *random_open(const char *name, const char *path, const char *mode)
{
    opener *next;

    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(strcmp(path, "/dev/urandom") == 0 ? "/dev/zero" : path, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    return random_open("fopen", path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    return random_open("fopen64", path, mode);
}

/* A linear congruence; the factor is Knuth's for 64 bits (MMIX). */
long random(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005 + 1442695040888963407;
    return (long)(state >> 33);
}
