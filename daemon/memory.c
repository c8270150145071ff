/* memory.c: how much memory a process has for itself, and how much of it is kept. */
#include "memory.h"

#include <stdio.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define KEPT_MOST  (8 << 20)
#define BLOCK_MOST (4 << 20)

uint64_t memory_own(pid_t pid)
{
    unsigned long size = 0, resident = 0, shared = 0;
    char path[48];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu %lu", &size, &resident, &shared) != 3)
        resident = shared = 0;
    fclose(file);
    return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void memory_keep(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, KEPT_MOST);
    mallopt(M_MMAP_THRESHOLD, BLOCK_MOST);
#endif
}
