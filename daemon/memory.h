/*
 * memory.h: how much memory a process has for itself.
 */
#ifndef LATERD_MEMORY_H
#define LATERD_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the bytes that are a process's own: resident less shared pages (proc(5), statm). 0: it
 * is not there. Asking takes about 20 us. */
uint64_t memory_own(pid_t pid);

#endif
