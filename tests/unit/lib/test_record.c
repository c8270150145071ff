/* test_record.c: what is kept beside a document. */
#include "job/record.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct later_record record;

static void read_text(const char *text)
{
    char *bytes = malloc(strlen(text) + 1); /* valgrind sees who reads beyond */

    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, text, strlen(text));
    later_record_read(&record, bytes, strlen(text));
    record.progress = record.progress_len ? strndup(record.progress, record.progress_len) : "";
    record.error = record.error_len ? strndup(record.error, record.error_len) : "";
    free(bytes);
}

static void check(uint32_t attempts, int32_t crashes, uint32_t interrupts, int32_t priority,
                  const char *error)
{
    ck_assert_uint_eq(record.attempts, attempts);
    ck_assert_int_eq(record.crashes, crashes);
    ck_assert_uint_eq(record.interrupts, interrupts);
    ck_assert_int_eq(record.priority, priority);
    ck_assert_str_eq(record.error, error);
    if (record.error_len)
        free((char *)(uintptr_t)record.error);
    ck_assert_str_eq(record.progress, "");
}

TEST(test_all_of_it)
{
    read_text("");
    check(0, -1, 0, 0, "");
    read_text("a=3\nc=0\ni=9\np=-100\ne={\"at\":1.5,\"text\":\"p=7 a=1\"}\nu=60.000000\n");
    check(3, 0, 9, -100, "{\"at\":1.5,\"text\":\"p=7 a=1\"}");
    read_text("e={}\np=100\n");
    check(0, -1, 0, 100, "{}");
}

TEST(test_progress)
{
    read_text("a=1\ng={\"done\":3}\np=1\n");
    ck_assert_str_eq(record.progress, "{\"done\":3}");
    ck_assert_uint_eq(record.attempts, 1);
    ck_assert_int_eq(record.priority, 1);
    free((char *)(uintptr_t)record.progress);
}

TEST(test_log)
{
    read_text("o={\"dropped\":0}\n");
    ck_assert_uint_eq(record.log_len, 13);
    read_text("a=1\n");
    ck_assert_uint_eq(record.log_len, 0);
}

TEST(test_checkpoint)
{
    read_text("a=1\nm={\"page\":3}\np=1\n");
    ck_assert_uint_eq(record.checkpoint_len, 10);
    ck_assert_int_eq(record.priority, 1);
    read_text("mm=1\n");
    ck_assert_uint_eq(record.checkpoint_len, 0);
}

TEST(test_line)
{
    static const char text[] = "a=1\nl=1764000000.25 p group:q:g\nq=5.000000 g\n";

    later_record_read(&record, "a=1\n", 4);
    ck_assert_uint_eq(record.line_len, 0);
    later_record_read(&record, text, sizeof text - 1);
    ck_assert_uint_eq(record.line_len, strlen("p group:q:g"));
    ck_assert(memcmp(record.line, "p group:q:g", record.line_len) == 0);
    ck_assert_uint_eq(record.group_len, 1);
    later_record_read(&record, "l=1\n", 4);
    ck_assert_uint_eq(record.line_len, 0);
}

TEST(test_taken)
{
    read_text("u=7200.000000\n");
    ck_assert_double_eq(record.unique_for, 7200);
    read_text("d=1767225600.500000\nu=nan\n");
    ck_assert_double_eq(record.taken_until, 1767225600.5);
    ck_assert_double_eq(record.unique_for, 0);
}

TEST(test_next)
{
    static const char text[] = "a=1\nn=1767225600.500000 p=3%0Au=5.000000%0Aq=0%20shop%0A "
                               "{\"x\":\"%250A %\",%0A\"y\":1}\n";
    static const char *const broken[] = { "", "n=\n", "n=1.5\n", "n=1.5 \n" };
    struct later_record_next next;

    later_record_read(&record, text, strlen(text));
    ck_assert_int_eq(later_record_next(&record, &next), 1);
    ck_assert_double_eq(next.due, 1767225600.5);
    ck_assert_uint_eq(next.document_len, strlen("{\"x\":\"%0A %\",\n\"y\":1}"));
    ck_assert_mem_eq(next.document, "{\"x\":\"%0A %\",\n\"y\":1}", next.document_len);
    later_record_read(&record, next.record, next.record_len);
    ck_assert_int_eq(record.priority, 3);
    ck_assert_double_eq(record.unique_for, 5);
    ck_assert_uint_eq(record.group_len, strlen("shop"));
    ck_assert_mem_eq(record.group, "shop", record.group_len);
    free(next.record);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        later_record_read(&record, broken[i], strlen(broken[i]));
        ck_assert_int_eq(later_record_next(&record, &next), 0);
    }
}

TEST(test_finished)
{
    read_text("a=1\nk={\"at\":3}\n");
    ck_assert_uint_eq(record.attempts, 1);
    ck_assert_uint_eq(record.finished_len, strlen("{\"at\":3}"));
}

/* From a later version, or without its last newline. */
TEST(test_unknown_tags)
{
    read_text("x=1\nprogress={\"done\":3}\na=2\nzz=a=5\np=1");
    check(2, -1, 0, 1, "");
}

TEST(test_junk)
{
    static const char *const junk[] = {
        "a=\nc=\ni=\np=\ne=\n",       "a=x\nc=1.5\ni= 1\np=101\n",
        "a=-1\nc=-1\ni=-9\np=-101\n", "a=9223372036854775807\nc=1e3\ni=+1\np=--1\n",
        "\n\n=\n==\na\nc\n-\n",       "a 3\nc:2\nA=1\n",
        "p=-\na=1234567890\n"
    };

    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        read_text(junk[i]);
        check(0, -1, 0, 0, "");
    }
}
