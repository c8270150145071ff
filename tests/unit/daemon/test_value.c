/* test_value.c: a job's value, its progress and its log lines, in its slot. */
#include "reservation/logbook.h"
#include "reservation/progress.h"
#include "reservation/value.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPACITY 4

static char folder[32], path[64];
static struct slots *slots;

static void set_up(void)
{
    struct later_error err;

    strcpy(folder, "/tmp/later-value-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/7.1", folder);
    slots = slots_create(path, CAPACITY, &err);
    ck_assert_ptr_nonnull(slots);
}

static void tear_down(void)
{
    value_sweep(slots);
    slots_close(slots, true);
    ck_assert_int_eq(rmdir(folder), 0); /* so all files are gone */
}

static size_t files(void)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* A JSON string of this length. */
static char *string_of(size_t len)
{
    char *text = malloc(len + 1);

    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    text[len] = '\0';
    return text;
}

static struct slot *keep(uint32_t i, const char *value)
{
    struct slot *slot = &slots->page->slots[i];
    struct later_error err;

    slot_finish(slot, (struct later_verdict){ .ending = LATER_ENDED_DONE }, "");
    ck_assert_int_eq(value_keep(slots, slot, value, strlen(value), &err), 0);
    return slot;
}

static void has(const struct slot *slot, const char *value)
{
    static char got[LATER_VALUE_MAX];

    ck_assert_uint_eq(value_read(slots, slot, got), strlen(value));
    ck_assert_mem_eq(got, value, strlen(value));
}

CASE("value", set_up, tear_down);

TEST(of_every_length)
{
    static const size_t lengths[] = { 2, SLOT_TEXT, SLOT_TEXT + 1, LATER_VALUE_MAX };

    for (size_t i = 0; i < 4; i++) {
        char *value = string_of(lengths[i]);

        has(keep(1, value), value);
        free(value);
    }
    ck_assert_uint_eq(files(), 2);
    value_drop(slots, &slots->page->slots[1]);
    ck_assert_uint_eq(files(), 1);
}

/* Whoever maps the page later finds it: the keeper, or the next laterd. */
TEST(outlives_its_writer)
{
    char *value = string_of(5000);
    struct slots *mine = slots;
    struct later_error err;

    keep(3, value);
    slots = slots_open(path, &err);
    ck_assert_ptr_nonnull(slots);
    has(&slots->page->slots[3], value);
    slots_close(mine, false);
    free(value);
}

TEST(what_is_no_value)
{
    static char got[LATER_VALUE_MAX];
    char *value = string_of(5000), file[80];
    struct slot *slot = keep(0, value);

    snprintf(file, sizeof file, "%s.value-0", path);
    slot->value_len = 4999; /* a string without its end */
    ck_assert_uint_eq(value_read(slots, slot, got), 0);
    slot->value_len = 5001;
    ck_assert_uint_eq(value_read(slots, slot, got), 0);
    slot->value_len = LATER_VALUE_MAX + 1;
    ck_assert_uint_eq(value_read(slots, slot, got), 0);
    slot->value_len = 5000;
    ck_assert_int_eq(unlink(file) | mkfifo(file, 0600), 0); /* it must not block on a fifo */
    ck_assert_uint_eq(value_read(slots, slot, got), 0);
    ck_assert_int_eq(unlink(file) | symlink("/dev/zero", file), 0);
    ck_assert_uint_eq(value_read(slots, slot, got), 0);
    free(value);
}

TEST(names_of_files)
{
    char page[32];

    ck_assert(value_is_file("12.3.value-17.at", page, sizeof page));
    ck_assert_str_eq(page, "12.3");
    ck_assert(value_is_file("12.3.value-17", page, sizeof page));
    ck_assert_str_eq(page, "12.3");
    ck_assert(!value_is_file("12.3", page, sizeof page));
}

static void leave(struct slot *slot, const char *json)
{
    struct later_error err;

    ck_assert_int_eq(value_keep_checkpoint(slots, slot, json, strlen(json), &err), 0);
}

static void goes_on_at(const struct slot *slot, const char *json)
{
    static char got[LATER_VALUE_MAX];

    ck_assert_uint_eq(value_read_checkpoint(slots, slot, got), strlen(json));
    ck_assert_mem_eq(got, json, strlen(json));
}

/* It is there beside the value, the last one counts, and the next job of the slot has none. */
TEST(checkpoints)
{
    struct slot *slot = &slots->page->slots[2];
    char *value = string_of(LATER_VALUE_MAX), file[80];

    goes_on_at(slot, "");
    leave(slot, value);
    goes_on_at(slot, value);
    leave(slot, "[2]");
    keep(2, value);
    goes_on_at(slot, "[2]");
    has(slot, value);
    ck_assert_uint_eq(files(), 3);
    snprintf(file, sizeof file, "%s.value-2.at", path);
    ck_assert_int_eq(truncate(file, 2), 0); /* what is no JSON is none */
    goes_on_at(slot, "");
    ck_assert_int_eq(unlink(file) | mkfifo(file, 0600), 0);
    goes_on_at(slot, "");
    value_drop(slots, slot);
    ck_assert_uint_eq(files(), 1);
    leave(slot, "7");
    atomic_store(&slot->checkpoint, 0);
    goes_on_at(slot, "");
    free(value);
}

TEST(progress_is_whole)
{
    struct slot *slot = &slots->page->slots[0];
    struct progress progress;
    char *text;

    ck_assert(!progress_read(slot, 0, &progress));
    progress_note(slot, 1, 3, "one");
    progress_note(slot, 2.5, 3, "\"two\"");
    ck_assert(progress_read(slot, 0, &progress));
    text = progress_text(&progress);
    ck_assert_str_eq(text, "\"done\":2.5,\"total\":3,\"text\":\"\\\"two\\\"\"}");
    free(text);
    ck_assert(!progress_read(slot, progress.change, &progress));
    atomic_fetch_add(&slot->progress, 1); /* one is being written */
    ck_assert(!progress_read(slot, 0, &progress));
    progress_note(slot, 3, 3, ""); /* after a writer that was killed in the middle */
    ck_assert(progress_read(slot, 4, &progress));
    ck_assert_double_eq(progress.done, 3);
}

/* Logs `text` in a slot whose queue keeps `most`. */
static void says(struct slot *slot, uint32_t most, const char *text, const char *earlier)
{
    struct logbook_line line = { .at = 7.5, .attempt = 2, .level = "info", .text = text };

    slot->logs_kept = most;
    logbook_add(slots, slot, &line, earlier, strlen(earlier));
}

static const char *logged(const struct slot *slot)
{
    static char json[LOGBOOK_SIZE + 1];

    json[logbook_read(slots, slot, json)] = '\0';
    return json;
}

#define LINE(text)          "{\"at\":7.500000,\"attempt\":2,\"level\":\"info\",\"text\":\"" text "\"}"
#define LOG(dropped, lines) "{\"dropped\":" dropped ",\"lines\":[" lines "]}"

/* The last ones, in their order; in the next slot, or where none are kept, there is nothing. */
TEST(the_last_lines)
{
    struct slot *slot = &slots->page->slots[1];

    ck_assert_str_eq(logged(slot), "");
    says(slot, 0, "none", "");
    ck_assert_str_eq(logged(slot), "");
    ck_assert_uint_eq(files(), 1);
    says(slot, 2, "one", "");
    ck_assert_str_eq(logged(slot), LOG("0", LINE("one")));
    says(slot, 2, ",{\"at\":", "");
    says(slot, 2, "", "");
    ck_assert_str_eq(logged(slot), LOG("1", LINE(",{\\\"at\\\":") "," LINE("")));
    ck_assert_str_eq(logged(&slots->page->slots[2]), "");
    value_drop(slots, slot);
    ck_assert_uint_eq(files(), 1);
}

TEST(lines_of_earlier_attempts)
{
    static const char *const odd[] = { "7", "{\"dropped\":", "{\"dropped\":x,\"lines\":[]}",
                                       "{\"dropped\":1234567890,\"lines\":[]}",
                                       "{\"dropped\":1,\"lines\":[" };
    struct slot *slot = &slots->page->slots[0];

    says(slot, 2, "three", LOG("5", LINE("one") "," LINE("two")));
    ck_assert_str_eq(logged(slot), LOG("6", LINE("two") "," LINE("three")));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        atomic_store(&slot->logged, 0);
        atomic_store(&slot->log_len, 0);
        says(slot, 2, "x", odd[i]);
        ck_assert_str_eq(logged(slot), LOG("0", LINE("x")));
    }
    atomic_store(&slot->logged, 0);
    says(slot, 2, "x", LOG("4", ""));
    ck_assert_str_eq(logged(slot), LOG("4", LINE("x")));
}

/* Neither the file nor what is kept grows beyond its bound, whatever is logged. */
TEST(lines_are_bounded)
{
    struct slot *slot = &slots->page->slots[3];
    char text[1200], file[80], head[40];
    struct stat st;
    size_t len;

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    snprintf(file, sizeof file, "%s.value-3.log", path);
    for (int i = 0; i < 1000; i++) {
        says(slot, 100, text, "");
        ck_assert_int_eq(stat(file, &st), 0);
        ck_assert_int_le(st.st_size, 65536);
    }
    len = strlen(logged(slot));
    ck_assert_uint_le(len, LATER_LOG_BYTES + 32);
    ck_assert_uint_ge(len, LATER_LOG_BYTES - 1200);
    snprintf(head, sizeof head, "{\"dropped\":%d,", 1000 - LATER_LOG_BYTES / 1059);
    ck_assert_mem_eq(logged(slot), head, strlen(head));
    ck_assert_int_eq(truncate(file, st.st_size - 1), 0); /* a line that is not whole */
    ck_assert_str_eq(logged(slot), "");
}
