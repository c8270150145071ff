/* memory.c: how much memory a process has for itself. */
#include "memory.h"

#include <stdio.h>
#include <unistd.h>

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
