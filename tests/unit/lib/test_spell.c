/* test_spell.c: texts and numbers as snprintf() would write them. */
#include "base/spell.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

TEST(a_text_is_cut_where_room_ends)
{
    static const char *const texts[] = { "", "a", "seven..", "eight...", "longer than that" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t size = 1; size <= 9; size++) {
            char out[10] = "*********", wanted[10] = "*********";
            size_t len = later_spell_text(out, size, texts[i]);

            snprintf(wanted, size, "%s", texts[i]);
            ck_assert_mem_eq(out, wanted, sizeof out);
            ck_assert_uint_eq(len, strlen(wanted));
        }
    }
}

TEST(each_length_of_number)
{
    char out[LATER_SPELLED], wanted[LATER_SPELLED];

    for (uint64_t power = 1;; power *= 10) {
        const uint64_t numbers[] = { power - 1, power, power + 1, UINT64_MAX / power };

        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            size_t len = later_spell_number(out, numbers[i]);

            snprintf(wanted, sizeof wanted, "%" PRIu64, numbers[i]);
            ck_assert_str_eq(out, wanted);
            ck_assert_uint_eq(len, strlen(wanted));
        }
        if (power > UINT64_MAX / 10)
            break;
    }
}
