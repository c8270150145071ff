/* test_override.c: what is laid over a queue: which names are valid, and how the hash is read. */
#include "queue/override.h"

#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <string.h>

TEST(types)
{
    char longest[LATER_TYPE_MAX + 2];

    memset(longest, 'a', sizeof longest);
    longest[LATER_TYPE_MAX] = '\0';
    ck_assert(later_override_type_valid("mail.send") && later_override_type_valid("mail.*"));
    ck_assert(later_override_type_valid("*") && later_override_type_valid(longest));
    longest[LATER_TYPE_MAX] = 'a';
    longest[LATER_TYPE_MAX + 1] = '\0';
    ck_assert(!later_override_type_valid(longest) && !later_override_type_valid(""));
    ck_assert(!later_override_type_valid("a b") && !later_override_type_valid("*a"));
    ck_assert_str_eq(later_override_named("type:mail.*"), "mail.*");
    ck_assert_ptr_null(later_override_named("max_running"));
}

TEST(read_from_the_hash)
{
    struct later_reply *reply =
        reply_made("*6\r\n$6\r\ntype:a\r\n$32\r\n100.500 0.000 ann it is too slow\r\n"
                   "$6\r\ntype:b\r\n$17\r\n100.000 200.000 -\r\n"
                   "$6\r\ntype:c\r\n$3\r\nbad\r\n");
    struct later_override one;

    ck_assert(later_override_read(reply, 0, 1e9, &one));
    ck_assert_str_eq(later_override_type(&one), "a");
    ck_assert_str_eq(one.who, "ann");
    ck_assert_str_eq(one.words, "it is too slow");
    ck_assert(one.since == 100.5 && one.until == 0);
    ck_assert(later_override_read(reply, 1, 199, &one));
    ck_assert_str_eq(one.who, "");
    ck_assert_str_eq(one.words, "");
    ck_assert(one.until == 200);
    ck_assert(!later_override_read(reply, 1, 200, &one));
    ck_assert(!later_override_read(reply, 2, 1, &one));
    ck_assert(!later_override_read(reply, 3, 1, &one));
    later_reply_free(reply);
}

TEST(heeded)
{
    struct later_reply *reply = reply_made("*3\r\n:1\r\n$6\r\ntype:a\r\n$4\r\n10.5\r\n");
    struct later_heeded one;

    ck_assert(later_override_more(reply));
    ck_assert(later_override_heeded(reply, 0, &one));
    ck_assert_str_eq(one.name, "type:a");
    ck_assert(one.left == 10.5);
    ck_assert(!later_override_heeded(reply, 1, &one));
    ck_assert(!later_override_heeded(NULL, 0, &one) && !later_override_more(NULL));
    later_reply_free(reply);
}

TEST(numbers)
{
    struct later_reply *reply = reply_made("*3\r\n:0\r\n$14\r\nlimit:a 5 0.25\r\n$1\r\n0\r\n");
    struct later_numbers numbers;
    struct later_heeded one;

    ck_assert(later_override_heeded(reply, 0, &one));
    ck_assert_str_eq(one.name, "limit:a");
    ck_assert(one.numbers.max == 5 && one.numbers.per == 0.25 && one.left == 0);
    later_reply_free(reply);
    ck_assert(later_override_numbers("7 0.000", &numbers) && numbers.max == 7 && numbers.per == 0);
    ck_assert(!later_override_numbers("0 1", &numbers) && !later_override_numbers("7", &numbers));
    ck_assert(!later_override_numbers("", &numbers) && !later_override_numbers("slow", &numbers));
}

/* The name, or what goes on with a value. */
TEST(covers)
{
    const enum later_line_for limit = LATER_LINE_LIMIT, permit = LATER_LINE_PERMIT;
    size_t all = later_override_covers("limit:type:a:to=", limit, "type:a:to=bob");

    ck_assert(all > 0 &&
              all < later_override_covers("limit:type:a:to=bob", limit, "type:a:to=bob"));
    ck_assert(later_override_covers("permit:queue:q", permit, "queue:q"));
    ck_assert(!later_override_covers("permit:queue:q", permit, "queue:qq"));
    ck_assert(!later_override_covers("permit:queue:q", limit, "queue:q"));
    ck_assert(!later_override_covers("limit:queue:q", permit, "queue:q"));
    ck_assert(!later_override_covers("permit:type:q", LATER_LINE_LOCK, "type:q"));
    ck_assert(!later_override_covers("type:q", permit, "q"));
    ck_assert(!later_override_covers("permit:", permit, "q"));
}
