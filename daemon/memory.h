/*
 * memory.h: how much memory a process has for itself, and how much of it is kept.
 */
#ifndef LATERD_MEMORY_H
#define LATERD_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the bytes that are a process's own: resident less shared pages (proc(5), statm). 0: it
 * is not there. Asking takes about 20 us. */
uint64_t memory_own(pid_t pid);

/* From now on this process keeps up to 8 MiB that it has freed, and takes blocks of less than 4 MiB
 * from there. Otherwise the memory of each batch of large documents goes back to the system and
 * comes again page by page, which costs more than all else that is done with them (at 1 MiB, 830 us
 * a job beside 200). Without glibc it does nothing. */
void memory_keep(void);

#endif
