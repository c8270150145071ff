/* test_event.c: the ends that a queue tells of: a line for each, and how entries are read. */
#include "queue/event.h"

#include "job/document.h"
#include "job/json.h"
#include "redis/script.h"
#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct later_command cmd;

static void set_up(void)
{
    cmd = (struct later_command){ 0 };
}

static void tear_down(void)
{
    later_command_free(&cmd);
}

/* ---- lines */

/* The line of an end is this JSON. */
static void check_line(struct later_event event, const char *line)
{
    char wanted[600];

    later_command_begin(&cmd, 1);
    later_event_add(&cmd, &event);
    ck_assert(later_command_ready(&cmd));
    snprintf(wanted, sizeof wanted, "*1\r\n$%zu\r\n%s\r\n", strlen(line), line);
    ck_assert_uint_eq(cmd.len, strlen(wanted));
    ck_assert_msg(memcmp(cmd.data, wanted, cmd.len) == 0, "%.*s", (int)cmd.len, cmd.data);
    later_command_free(&cmd);
}

CASE("lines", set_up, tear_down);

TEST(test_done)
{
    check_line((struct later_event){ .id = "a",
                                     .type = "mail.send",
                                     .ending = LATER_ENDED_DONE,
                                     .attempt = 2,
                                     .ran = 0.0125,
                                     .waited = 3.5 },
               "{\"id\":\"a\",\"type\":\"mail.send\",\"ending\":\"done\",\"state\":\"done\","
               "\"attempt\":2,\"ms\":12.500,\"waited\":3.500000}");
}

TEST(test_tried_again)
{
    struct later_event event = {
        .id = "a", .type = "t", .ending = LATER_ENDED_TIMEOUT, .attempt = 1, .wait = 5, .waited = -1
    };

    check_line(event, "{\"id\":\"a\",\"type\":\"t\",\"ending\":\"timeout\",\"state\":\"delayed\","
                      "\"kind\":\"timeout\",\"attempt\":1}");
    event.wait = 0;
    check_line(event, "{\"id\":\"a\",\"type\":\"t\",\"ending\":\"timeout\",\"state\":\"ready\","
                      "\"kind\":\"timeout\",\"attempt\":1}");
    event.last = true;
    check_line(event, "{\"id\":\"a\",\"type\":\"t\",\"ending\":\"timeout\",\"state\":\"dead\","
                      "\"kind\":\"timeout\",\"attempt\":1}");
}

/* There was no attempt; the type is not known. */
TEST(test_never_begun)
{
    check_line(
        (struct later_event){
            .id = "\"\\", .type = "", .ending = LATER_ENDED_BAD, .attempt = 1, .waited = -1 },
        "{\"id\":\"\\\"\\\\\",\"type\":null,\"ending\":\"bad\",\"state\":\"dead\","
        "\"kind\":\"bad\"}");
    check_line(
        (struct later_event){
            .id = "a", .type = "t", .ending = LATER_ENDED_EXPIRED, .attempt = 1, .waited = -1 },
        "{\"id\":\"a\",\"type\":\"t\",\"ending\":\"expired\",\"state\":\"expired\"}");
}

/* Every ending that is told is JSON, with the longest that a line can have. */
TEST(test_all)
{
    char id[LATER_ID_MAX + 1] = "", type[130] = "";

    memset(id, '"', 200);
    memset(type, 't', 128);
    for (int i = 0; i < LATER_ENDINGS; i++) {
        const struct later_event event = { .id = id,
                                           .type = type,
                                           .ending = (enum later_ending)i,
                                           .last = i % 2,
                                           .wait = 1e9,
                                           .attempt = UINT32_MAX,
                                           .ran = 1e300,
                                           .waited = 1e300 };
        struct later_error err;
        const char *line;

        later_command_begin(&cmd, 1);
        later_event_add(&cmd, &event);
        ck_assert(later_command_ready(&cmd));
        line = strchr(cmd.data, '{');
        ck_assert_msg(
            later_json_scan(line, (size_t)(cmd.data + cmd.len - 2 - line), NULL, 0, &err) == 0,
            "%s", err.text);
        later_command_free(&cmd);
    }
}

TEST(test_which_verbs)
{
    ck_assert(later_event_is_told(LATER_VERB_ACK));
    ck_assert(later_event_is_told(LATER_VERB_EXPIRE));
    ck_assert(later_event_is_told(LATER_VERB_RELEASE));
    ck_assert(later_event_is_told(LATER_VERB_BURY));
    ck_assert(later_event_is_told(LATER_VERB_FINISH));
    ck_assert(!later_event_is_told(LATER_VERB_RETURN));
    ck_assert(!later_event_is_told(LATER_VERB_TOUCH));
}

static void check_has(const char *bytes)
{
    ck_assert_msg(memmem(cmd.data, cmd.len, bytes, strlen(bytes)), "%s", bytes);
}

/* Behind the arguments of the script: lines, host, how many are kept, how many lines. */
TEST(test_call)
{
    const struct later_event event = {
        .id = "a", .type = "t", .ending = LATER_ENDED_DONE, .attempt = 1, .waited = -1
    };
    const struct later_script_text *ack = &later_script_texts[LATER_SCRIPT_ACK];
    char begin[80];
    struct later_keys keys;

    later_keys_init(&keys, "later", "q");
    later_script_tell(&cmd, 1);
    later_script_begin_held(&cmd, LATER_SCRIPT_ACK, &keys, "t", 1);
    later_command_text(&cmd, "a");
    later_event_add(&cmd, &event);
    ck_assert(!later_command_ready(&cmd));
    later_events_end(&cmd, "web1", 500);
    ck_assert(later_command_ready(&cmd));
    snprintf(begin, sizeof begin, "*%d\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n%d\r\n",
             3 + ack->key_count + 1 + 1 + 4, ack->told, ack->key_count + 1);
    ck_assert_mem_eq(cmd.data, begin, strlen(begin));
    check_has("$16\r\nlater:{q}:events\r\n$1\r\na\r\n");
    check_has("}\r\n$4\r\nweb1\r\n$3\r\n500\r\n$1\r\n1\r\n");
}

/* ---- reading */

static struct later_reply *entry;

static void free_entry(void)
{
    later_reply_free(entry);
    later_command_free(&cmd);
}

#define ENTRY(id, ends, len)                                                                       \
    "*2\r\n$" id "\r\n*4\r\n$4\r\nhost\r\n$4\r\nweb1\r\n$4\r\nends\r\n$" len "\r\n" ends "\r\n"

CASE("reading", set_up, free_entry);

TEST(test_entry)
{
    struct later_event_entry read;
    const char *line;
    size_t at = 0, len;

    entry = reply_made(ENTRY("19\r\n12-1764000000123456", "{1}\n{22}\n{3}", "12"));
    ck_assert(later_event_entry(entry, &read));
    ck_assert_uint_eq(read.last, 12);
    ck_assert_uint_eq(read.first, 10);
    ck_assert_double_eq_tol(read.at, 1764000000.123456, 1e-6);
    ck_assert_str_eq(read.host, "web1");
    line = later_event_next(&read, &at, &len);
    ck_assert_uint_eq(len, 3);
    ck_assert_mem_eq(line, "{1}", 3);
    line = later_event_next(&read, &at, &len);
    ck_assert_uint_eq(len, 4);
    ck_assert_mem_eq(line, "{22}", 4);
    ck_assert_ptr_nonnull(later_event_next(&read, &at, &len));
    ck_assert_ptr_null(later_event_next(&read, &at, &len));
}

/* Another program's: nothing is read beyond it. */
TEST(test_foreign)
{
    static const char *const foreign[] = {
        ENTRY("2\r\n12", "{}", "2"),
        ENTRY("3\r\n1-7", "{}\n{}", "5"),
        ENTRY("4\r\n12-7", "", "0"),
        "*2\r\n$4\r\n12-7\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n",
        "*2\r\n$4\r\n12-7\r\n*1\r\n$4\r\nends\r\n",
        "*0\r\n",
        "$-1\r\n",
        ":7\r\n",
    };
    struct later_event_entry read;

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        entry = reply_made(foreign[i]);
        ck_assert_msg(!later_event_entry(entry, &read), "%zu", i);
        later_reply_free(entry);
        entry = NULL;
    }
}
