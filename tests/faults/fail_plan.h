/* fail_plan.h: what fail_shim.c makes fail. The test and laterd both map it from a file. */
#ifndef FAULTS_FAIL_PLAN_H
#define FAULTS_FAIL_PLAN_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

struct fail_plan {
    _Atomic unsigned fork_every;   /* 1: every fork() fails with EAGAIN; 2: each second; 0: none */
    _Atomic unsigned malloc_every; /* the same for malloc(), calloc(), realloc() */
    _Atomic size_t malloc_above;   /* those of more bytes than this fail in all; 0: none */
    _Atomic pid_t malloc_pid;      /* of this process alone; 0: of all */
    atomic_uint forks, forks_failed, mallocs, mallocs_failed; /* counted */
};

#endif
