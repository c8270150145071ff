/* test_quota.c: how many jobs may begin, over several processes. */
#include "quota.h"

#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

TEST(none_is_no_end)
{
    ck_assert(quota_take(NULL));
    ck_assert(!quota_is_spent(NULL));
    quota_free(NULL);
}

TEST(so_many_and_not_one_more)
{
    struct quota *quota = quota_new(2);

    ck_assert_ptr_nonnull(quota);
    ck_assert(quota_take(quota));
    ck_assert(!quota_is_spent(quota));
    ck_assert(quota_take(quota));
    ck_assert(quota_is_spent(quota));
    ck_assert(!quota_take(quota));
    ck_assert(quota_is_spent(quota));
    quota_free(quota);
}

/* Takes until there is nothing, and returns how many it got. */
static int greedy(struct quota *quota)
{
    int got = 0;

    while (quota_take(quota))
        got++;
    return got;
}

TEST(counted_once_by_all_processes)
{
    enum { JOBS = 100000, PROCESSES = 4 };
    struct quota *quota = quota_new(JOBS);
    int ends[2], sum = 0, got;

    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            got = greedy(quota);
            _exit(write(ends[1], &got, sizeof got) != (ssize_t)sizeof got);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(read(ends[0], &got, sizeof got), (ssize_t)sizeof got);
        sum += got;
        ck_assert_int_ge(wait(NULL), 0);
    }
    ck_assert_int_eq(sum, JOBS);
    ck_assert(quota_is_spent(quota));
    quota_free(quota);
}
