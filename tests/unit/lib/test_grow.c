/* test_grow.c: lists that become longer. */
#include "base/grow.h"

#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdlib.h>

TEST(what_is_in_it_stays)
{
    uint64_t *list = NULL;
    size_t room = 0;

    for (size_t i = 0; i < 1000; i++) {
        ck_assert(later_grow(&list, &room, i, sizeof *list));
        ck_assert_uint_gt(room, i);
        list[i] = i;
    }
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(list[i], i);
    ck_assert_uint_le(room, 2000);
    free(list);
}

/* AddressSanitizer ends a program that asks for too much, unless it is told not to. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Neither the list nor its room is another one then. */
TEST(without_memory_all_is_as_before)
{
    char *list = malloc(1), *before = list;
    size_t room = SIZE_MAX / 4;

    ck_assert(!later_grow(&list, &room, room, 16));
    ck_assert_ptr_eq(list, before);
    ck_assert_uint_eq(room, SIZE_MAX / 4);
    free(list);
}
