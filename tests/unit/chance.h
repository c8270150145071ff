/*
 * chance.h: numbers by chance, the same in each run of a program.
 */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdint.h>

/* In (0, 1); a generator of known quality (splitmix64). */
static inline double chance(void)
{
    static uint64_t state;
    uint64_t z = state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

#endif
