/* test_announce_load.c: how busy a laterd was, minute by minute. */
#include "queues/announce_load.h"

#include "tests/unit/unit.h"

#include <stdlib.h>

static void expect(const struct announce_load *load, const char *wanted)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    announce_load_write(load, out);
    fclose(out);
    ck_assert_str_eq(text, wanted);
    free(text);
}

TEST(test_means)
{
    struct announce_load load = { 0 };

    expect(&load, "");
    announce_load_look(&load, 1000, 2);
    expect(&load, ",\"busy\":[2]");
    announce_load_look(&load, 1059.9, 3);
    expect(&load, ",\"busy\":[2.5]");
    announce_load_look(&load, 1060, 0);
    expect(&load, ",\"busy\":[2.5,0]");
    announce_load_look(&load, 1061, 1);
    announce_load_look(&load, 1062, 0);
    expect(&load, ",\"busy\":[2.5,0.3333]");
}

/* Minutes in which it stood still are not known. */
TEST(test_gaps)
{
    struct announce_load load = { 0 };

    announce_load_look(&load, 1000, 4);
    announce_load_look(&load, 1180, 1);
    expect(&load, ",\"busy\":[4,null,null,1]");
    announce_load_look(&load, 1180 + 86400, 5);
    expect(&load,
           ",\"busy\":[null,null,null,null,null,null,null,null,null,null,null,null,null,null,"
           "null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,5]");
}

TEST(test_half_an_hour)
{
    struct announce_load load = { 0 };

    for (uint32_t minute = 0; minute < 32; minute++)
        announce_load_look(&load, 1000 + 60 * minute, minute);
    expect(&load,
           ",\"busy\":[2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
           "28,29,30,31]");
}
