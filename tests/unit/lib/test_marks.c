/* test_marks.c: what notes are written, and which marks a reader makes of them. */
#include "history/marks.h"

#include "tests/unit/replies.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOON 1764000000.0

static struct later_mark marks[LATER_MARKS_MAX];
static char answer[200 * LATER_MARKS_MAX];
static size_t notes, count;

static void set_up(void)
{
    notes = 0;
    answer[0] = '\0';
}

/* A note as Redis keeps it, so many seconds after noon. */
static void noted(double after, const char *text)
{
    char score[32];

    snprintf(score, sizeof score, "%.3f", NOON + after);
    snprintf(answer + strlen(answer), sizeof answer - strlen(answer),
             "$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(text), text, strlen(score), score);
    notes++;
}

/* What is read an hour after noon: `name from to`, seconds after noon, of each; + is open. */
static const char *read_marks(void)
{
    static char bytes[sizeof answer + 32], text[4000];
    struct later_reply *reply;

    snprintf(bytes, sizeof bytes, "*%zu\r\n%s", 2 * notes, answer);
    reply = reply_made(bytes);
    count = later_marks_read(marks, reply, NOON + 3600);
    later_reply_free(reply);
    text[0] = '\0';
    for (size_t i = 0; i < count && i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s%s%s %.0f %.0f%s",
                 i ? ", " : "", later_mark_name(marks[i].what),
                 *marks[i].version || *marks[i].queue ? " " : "", marks[i].version, marks[i].queue,
                 marks[i].from - NOON, marks[i].to - NOON, marks[i].open ? "+" : "");
    return text;
}

CASE("marks", set_up, NULL);

TEST(test_a_fleet_is_one_mark)
{
    noted(0, "start 29400000 0.1.0");
    noted(60, "start 29400001 0.1.0");
    noted(500, "start 29400008 0.1.0");
    ck_assert_str_eq(read_marks(), "start 0.1.0 0 500");
    noted(1200, "start 29400020 0.1.0");
    ck_assert_str_eq(read_marks(), "start 0.1.0 0 500, start 0.1.0 1200 1200");
}

TEST(test_another_version_is_a_deploy)
{
    noted(0, "start 29400000 0.1.0");
    noted(30, "start 29400000 0.2.0");
    noted(90, "start 29400001 0.2.0");
    noted(100, "reload 29400002 ");
    noted(200, "reload 29400003 ");
    ck_assert_str_eq(read_marks(), "start 0.1.0 0 0, deploy 0.2.0 30 90, reload 100 200");
}

TEST(test_nobody_alive)
{
    noted(0, "alone 29400000 0"); /* the first one ever */
    noted(100, "stop 29400002 ");
    noted(110, "alone 29400002 0"); /* a restart */
    noted(200, "stop 29400003 ");
    noted(260, "alone 29400004 0");
    noted(900, "alone 29400015 1764000700"); /* killed: seen until 700 */
    ck_assert_str_eq(read_marks(), "down 200 260, down 700 900");
}

TEST(test_without_redis)
{
    noted(130, "away 29400002 1764000100");
    noted(131, "away 29400002 1764000098"); /* another host tells of the same */
    noted(135, "away 29400002 1764000110"); /* one that had asked later */
    noted(400, "away 29400007 1764000380");
    noted(500, "away 29400008 1764009999"); /* not yet */
    ck_assert_str_eq(read_marks(), "away 98 135, away 380 400");
}

TEST(test_pauses)
{
    noted(10, "pause 1764000010000 mail 0.000");
    noted(20, "pause 1764000020000 sms 1764000080.000");
    noted(30, "pause 1764000030000 mail 0.000"); /* again: it goes on */
    noted(40, "resume 1764000040000 mail");
    noted(50, "pause 1764000050000 mail 1764000100.000");
    noted(60, "resume 1764000060000 mail");
    noted(70, "pause 1764000070000 late 0.000");
    noted(75, "pause 1764000075000 slow 1764009000.000");
    noted(76, "resume 1764000076000 never");
    ck_assert_str_eq(read_marks(), "pause mail 10 40, pause sms 20 80, pause mail 50 60, "
                                   "pause late 70 3600+, pause slow 75 3600+");
}

/* Each by itself, beside that of the queue. */
TEST(test_pauses_of_types)
{
    noted(10, "pause 1764000010000 mail 0.000");
    noted(20, "pause 1764000020000 mail 0.000 bulk.*");
    noted(30, "resume 1764000030000 mail bulk.*");
    noted(40, "resume 1764000040000 mail other");
    noted(50, "resume 1764000050000 mail");
    ck_assert_str_eq(read_marks(), "pause mail 10 50, pause mail 20 30");
}

/* Other numbers end those before. */
TEST(test_numbers_that_are_set)
{
    noted(10, "set 1764000010000 0.000 limit:type:sms");
    noted(20, "set 1764000020000 1764000080.000 permit:queue:mail");
    noted(30, "set 1764000030000 0.000 limit:type:sms");
    noted(40, "unset 1764000040000 limit:type:sms");
    noted(50, "unset 1764000050000 limit:type:sms");
    noted(60, "unset 1764000060000 limit:type:fax");
    noted(70, "set 1764000070000 0.000 limit:type:fax");
    ck_assert_str_eq(read_marks(), "set 10 30, set 20 80, set 30 40, set 70 3600+");
    ck_assert_str_eq(marks[1].set, "permit:queue:mail");
}

TEST(test_foreign_notes)
{
    noted(0, "set 1 0");
    noted(0, "set 1 ");
    noted(0, "unset 1 ");
    noted(0, "");
    noted(0, "start");
    noted(0, "start 1");
    noted(0, "party 1 2");
    noted(0, "pause 1 {bad} 0");
    noted(0, "pause 2 ");
    noted(0, "away 1 x");
    ck_assert_str_eq(read_marks(), "");
    noted(1,
          "start 1 a-version-that-is-longer-than-anybody-would-make-it-and-still-goes-on-and-on");
    read_marks();
    ck_assert_uint_eq(count, 1);
}

TEST(test_never_more_than_there_is_room)
{
    char text[64];

    for (int i = 0; i < LATER_MARKS_MAX + 100; i++) {
        snprintf(text, sizeof text, "pause %d q%d 0", i, i);
        noted(i, text);
    }
    read_marks();
    ck_assert_uint_eq(count, LATER_MARKS_MAX);
}

/* The texts are those of doc/protocol.md, "Marks". */
TEST(test_what_is_written)
{
    static const struct {
        enum later_note note;
        const char *words, *text;
    } rows[] = {
        { LATER_NOTE_START, "0.1.0", "start 29400000 0.1.0" },
        { LATER_NOTE_STOP, "", "stop 29400000 " },
        { LATER_NOTE_PAUSE, "mail 0.000", "pause 1764000000000 mail 0.000" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct later_command cmds[LATER_NOTE_COMMANDS] = { 0 };

        later_marks_note(cmds, "later", rows[i].note, NOON, rows[i].words);
        ck_assert_ptr_nonnull(
            memmem(cmds[0].data, cmds[0].len, rows[i].text, strlen(rows[i].text)));
        for (int n = 0; n < LATER_NOTE_COMMANDS; n++)
            later_command_free(&cmds[n]);
    }
}
