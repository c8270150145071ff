/* test_names.c: finding things by name. */
#include "base/names.h"

#include "tests/unit/unit.h"

#include <stdio.h>

#define MANY 5000

static struct item {
    char name[16];
} items[MANY];

TEST(test_each_is_found_by_its_name)
{
    struct later_names names = { 0 };

    ck_assert_ptr_null(later_names_find(&names, "item-0"));
    for (int i = 0; i < MANY; i++) {
        snprintf(items[i].name, sizeof items[i].name, "item-%d", i);
        ck_assert_ptr_null(later_names_find(&names, items[i].name));
        ck_assert(later_names_add(&names, items[i].name, &items[i]));
    }
    for (int i = 0; i < MANY; i++)
        ck_assert_ptr_eq(later_names_find(&names, items[i].name), &items[i]);
    ck_assert_uint_eq(names.count, MANY);
    for (int i = 0; i < MANY; i++)
        ck_assert_ptr_eq(names.items[i], &items[i]);
    ck_assert_ptr_null(later_names_find(&names, "item"));
    ck_assert_ptr_null(later_names_find(&names, ""));
    later_names_free(&names, NULL);
}

static int freed;

static void count_freed(void *item)
{
    freed += item == &items[0] || item == &items[1];
}

TEST(test_items_are_freed_with_it)
{
    struct later_names names = { 0 };

    freed = 0;
    later_names_free(&names, count_freed);
    ck_assert(later_names_add(&names, "a", &items[0]) && later_names_add(&names, "b", &items[1]));
    later_names_free(&names, count_freed);
    ck_assert_int_eq(freed, 2);
    ck_assert_uint_eq(names.count, 0);
}

TEST(test_one_that_was_freed_is_empty)
{
    struct later_names names = { 0 };

    ck_assert(later_names_add(&names, "", items)); /* a name like any other */
    ck_assert_ptr_eq(later_names_find(&names, ""), items);
    later_names_free(&names, NULL);
    ck_assert_ptr_null(later_names_find(&names, ""));
    ck_assert(later_names_add(&names, "again", items));
    ck_assert_ptr_eq(later_names_find(&names, "again"), items);
    later_names_free(&names, NULL);
}

/* Items with an even number stay. */
static const char *even_stays(void *arg, void *item)
{
    const struct item *of = item;

    ck_assert_ptr_eq(arg, items);
    return (of - items) % 2 == 0 ? of->name : NULL;
}

TEST(test_some_go)
{
    struct later_names names = { 0 };

    later_names_sift(&names, even_stays, items);
    for (int i = 0; i < MANY; i++) {
        snprintf(items[i].name, sizeof items[i].name, "item-%d", i);
        ck_assert(later_names_add(&names, items[i].name, &items[i]));
    }
    later_names_sift(&names, even_stays, items);
    ck_assert_uint_eq(names.count, MANY / 2);
    for (int i = 0; i < MANY; i++)
        ck_assert_ptr_eq(later_names_find(&names, items[i].name), i % 2 ? NULL : &items[i]);
    ck_assert_ptr_eq(names.items[1], &items[2]);
    ck_assert(later_names_add(&names, "item-1", &items[1])); /* it may come again */
    ck_assert_ptr_eq(later_names_find(&names, "item-1"), &items[1]);
    later_names_free(&names, NULL);
}
