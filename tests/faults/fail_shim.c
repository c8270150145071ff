/*
 * fail_shim.c: LD_PRELOAD: makes fork() and malloc() fail as the file $FAIL_PLAN says (fail_plan.h,
 * mapped, so that a test can change it while the program runs).
 */
#include "fail_plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct fail_plan *plan;

__attribute__((constructor)) static void map_plan(void)
{
    const char *path = getenv("FAIL_PLAN");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map;

    if (fd < 0)
        return;
    map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED)
        plan = map;
    close(fd);
}

/* Every `every`-th call fails. */
static int fails(atomic_uint *calls, unsigned every, atomic_uint *failed)
{
    if (!every || (atomic_fetch_add(calls, 1) + 1) % every != 0)
        return 0;
    atomic_fetch_add(failed, 1);
    return 1;
}

pid_t fork(void)
{
    pid_t (*real)(void);
    void *symbol = dlsym(RTLD_NEXT, "fork");

    if (plan && fails(&plan->forks, plan->fork_every, &plan->forks_failed)) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(&real, &symbol, sizeof real);
    return real();
}

static int no_memory(size_t size)
{
    if (!plan)
        return 0;
    if (!(plan->malloc_above && size > plan->malloc_above) &&
        ((plan->malloc_pid && plan->malloc_pid != getpid()) ||
         !fails(&plan->mallocs, plan->malloc_every, &plan->mallocs_failed)))
        return 0;
    errno = ENOMEM;
    return 1;
}

/* glibc's own functions, since dlsym() would allocate. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return no_memory(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return no_memory(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return no_memory(size) ? NULL : __libc_realloc(old, size);
}
