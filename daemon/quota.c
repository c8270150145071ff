/* quota.c: how many jobs may still begin. */
#include "quota.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

struct quota {
    _Atomic uint32_t left;
};

struct quota *quota_new(uint32_t jobs)
{
    struct quota *quota =
        mmap(NULL, sizeof *quota, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (quota == MAP_FAILED)
        return NULL;
    atomic_init(&quota->left, jobs);
    return quota;
}

void quota_free(struct quota *quota)
{
    if (quota)
        munmap(quota, sizeof *quota);
}

bool quota_take(struct quota *quota)
{
    uint32_t left = quota ? atomic_load(&quota->left) : 0;

    if (!quota)
        return true;
    while (left > 0 && !atomic_compare_exchange_weak(&quota->left, &left, left - 1))
        ;
    return left > 0;
}

bool quota_is_spent(const struct quota *quota)
{
    return quota && atomic_load(&quota->left) == 0;
}
