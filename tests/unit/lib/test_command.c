/* test_command.c: commands in wire format, byte by byte. */
#include "redis/command.h"

#include "tests/support/comma.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct later_command cmd;

static void set_up(void)
{
    cmd = (struct later_command){ 0 };
}

static void tear_down(void)
{
    later_command_free(&cmd);
    ck_assert_ptr_null(cmd.data);
    ck_assert_uint_eq(cmd.len, 0);
}

static void check_bytes(const char *expected, size_t len)
{
    ck_assert(later_command_ready(&cmd));
    ck_assert_uint_eq(cmd.len, len);
    ck_assert_mem_eq(cmd.data, expected, len);
}

#define CHECK(text) check_bytes(text, sizeof(text) - 1)

CASE("bytes", set_up, tear_down);

TEST(test_words)
{
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "SET");
    later_command_text(&cmd, "later:{q}:x");
    later_command_bytes(&cmd, "a\0b\r\nc", 6);
    CHECK("*3\r\n$3\r\nSET\r\n$11\r\nlater:{q}:x\r\n$6\r\na\0b\r\nc\r\n");
}

TEST(test_numbers)
{
    later_command_begin(&cmd, 5);
    later_command_text(&cmd, "");
    later_command_int(&cmd, 0);
    later_command_int(&cmd, -1);
    later_command_int(&cmd, INT64_MAX);
    later_command_int(&cmd, INT64_MIN);
    CHECK("*5\r\n$0\r\n\r\n$1\r\n0\r\n$2\r\n-1\r\n$19\r\n9223372036854775807\r\n"
          "$20\r\n-9223372036854775808\r\n");
}

TEST(test_said_at_once)
{
    later_command_say(&cmd, "ZRANGE %s -1 %d LIMIT %ju %f", "a b%s", -7, UINTMAX_C(500), 1.5);
    CHECK("*7\r\n$6\r\nZRANGE\r\n$5\r\na b%s\r\n$2\r\n-1\r\n$2\r\n-7\r\n$5\r\nLIMIT\r\n"
          "$3\r\n500\r\n$8\r\n1.500000\r\n");
}

TEST(test_several_in_one_buffer)
{
    later_command_begin(&cmd, 1);
    later_command_text(&cmd, "PING");
    later_command_begin(&cmd, 10);
    for (int i = 0; i < 10; i++)
        later_command_int(&cmd, i);
    CHECK("*1\r\n$4\r\nPING\r\n*10\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n"
          "$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n$1\r\n8\r\n$1\r\n9\r\n");
}

/* An argument of 1 MiB, and 2,002 arguments. */
TEST(test_large)
{
    size_t len = 1048576;
    char *bytes = malloc(len);

    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 'x', len);
    later_command_begin(&cmd, 2002);
    later_command_bytes(&cmd, bytes, len);
    for (int i = 0; i < 2001; i++) {
        ck_assert(!later_command_ready(&cmd));
        later_command_text(&cmd, "y");
    }
    ck_assert(later_command_ready(&cmd));
    ck_assert_uint_eq(cmd.len, strlen("*2002\r\n$1048576\r\n") + len + 2 + 2001 * 7);
    ck_assert_mem_eq(cmd.data, "*2002\r\n$1048576\r\nxxx", 20);
    ck_assert_mem_eq(cmd.data + cmd.len - 9, "\r\n$1\r\ny\r\n", 9);
    free(bytes);
}

static void check_seconds(void)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {
        { 0, "0.000000" },
        { 0.0000004, "0.000000" },
        { 0.0000006, "0.000001" },
        { 0.5, "0.500000" },
        { 0.9999999, "1.000000" },
        { 30, "30.000000" },
        { 1700000000.123456, "1700000000.123456" },
        { 315360000, "315360000.000000" },
        { 1e11, "100000000000.000000" },
        { 1e300, "1000000000000.000000" },
        { INFINITY, "1000000000000.000000" },
        { -0.0, "0.000000" },
        { -1.5, "0.000000" },
        { -INFINITY, "0.000000" },
        { NAN, "0.000000" },
    };
    char text[LATER_SECONDS_SIZE];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = later_seconds_spell(text, rows[i].seconds);

        ck_assert_str_eq(text, rows[i].text);
        ck_assert_uint_eq(len, strlen(rows[i].text));
    }
    later_command_begin(&cmd, 1);
    later_command_seconds(&cmd, 1.25);
    CHECK("*1\r\n$8\r\n1.250000\r\n");
}

TEST(test_seconds)
{
    check_seconds();
}

TEST(test_seconds_in_a_locale)
{
    ck_assert(comma_begin());
    check_seconds();
    comma_end();
}

CASE("faults", set_up, tear_down);

TEST(test_too_few)
{
    ck_assert(!later_command_ready(&cmd)); /* nothing at all */
    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "GET");
    ck_assert(!later_command_ready(&cmd));
    later_command_begin(&cmd, 1); /* the one before was not complete */
    later_command_text(&cmd, "PING");
    ck_assert(!later_command_ready(&cmd));
}

TEST(test_too_many)
{
    later_command_begin(&cmd, 1);
    later_command_text(&cmd, "PING");
    later_command_text(&cmd, "more");
    ck_assert(!later_command_ready(&cmd));
    later_command_text(&cmd, "and more"); /* still no harm */
    ck_assert(!later_command_ready(&cmd));
}
