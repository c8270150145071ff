/* test_conservation.c: the sums that tell whether a job was lost or doubled. */
#include "queue/conservation.h"

#include "tests/unit/unit.h"

/* pushed 7 + adopted 5 = 1 + 2 + 1 + 2 + 1 + jobs 5, of which 6 members with one not adopted. */
static const struct later_sizes good = {
    .ready = 1,
    .delayed = 2,
    .reserved = 1,
    .dead = 2,
    .jobs = 5,
    .counters = { [LATER_COUNT_PUSHED] = 7,
                  [LATER_COUNT_ADOPTED] = 5,
                  [LATER_COUNT_DONE] = 1,
                  [LATER_COUNT_EXPIRED] = 1,
                  [LATER_COUNT_CANCELLED] = 1,
                  [LATER_COUNT_PURGED] = 2,
                  [LATER_COUNT_TRIMMED] = 1,
                  [LATER_COUNT_MOVED] = 1,
                  [LATER_COUNT_RELEASED] = 40 },
};

TEST(each_number_counts)
{
    struct later_sizes sizes = good;

    ck_assert(later_conserved(&sizes));
    for (int i = 0; i < LATER_COUNTERS; i++) {
        sizes.counters[i]++;
        ck_assert_msg(later_conserved(&sizes) == (i >= LATER_CONSERVED), "one more: %s",
                      later_counter_name((enum later_counter)i));
        sizes.counters[i]--;
    }
    sizes.jobs++;
    ck_assert(!later_conserved(&sizes));
    sizes.counters[LATER_COUNT_PUSHED]++;
    ck_assert(later_conserved(&sizes));
    sizes.counters[LATER_COUNT_TRIMMED]++;
    sizes.counters[LATER_COUNT_ADOPTED]++;
    ck_assert(later_conserved(&sizes));
}

TEST(members_without_documents_are_not_adopted)
{
    struct later_sizes sizes = good;

    ck_assert_int_eq(later_unadopted(&sizes), 1);
    sizes.jobs = 6;
    ck_assert_int_eq(later_unadopted(&sizes), 0);
    sizes.ready = sizes.delayed = sizes.reserved = sizes.dead = 0;
    ck_assert_int_eq(later_unadopted(&sizes), -6);
}

TEST(sum_is_written_with_its_numbers)
{
    char text[400];

    ck_assert_str_eq(later_conserved_text(&good, text, sizeof text),
                     "pushed 7 + adopted 5 = done 1 + expired 1 + cancelled 1 + purged 2 + "
                     "trimmed 1 + moved 1 + jobs 5");
    ck_assert_str_eq(later_conserved_text(&good, text, 9), "pushed 7");
}
