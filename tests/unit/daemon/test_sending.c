/* test_sending.c: which settlements go in one call, and as which command: all that a token was
 * given, jobs by their ids, those that leave something, and acks beside a reserve. */
#include "reservation/sending.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define TOKEN "0123456789abcdef"
#define OTHER "fedcba9876543210"
#define MANY  700

static struct slot slots[MANY];
static struct sending_item items[MANY];
static size_t count;
static struct later_keys keys;
static struct sending *sending;
static struct later_command cmd;

static void set_up(void)
{
    memset(slots, 0, sizeof slots);
    memset(items, 0, sizeof items);
    count = 0;
    later_keys_init(&keys, "later", "q");
    cmd = (struct later_command){ 0 };
}

static void tear_down(void)
{
    free(sending);
    sending = NULL;
    later_command_free(&cmd);
}

/* One more item: the slot of a job that has ended so, whose id is its number. */
static struct slot *add(const char *token, enum later_ending ending)
{
    struct slot *slot = &slots[count];

    strcpy(slot->token, token);
    snprintf(slot->id, sizeof slot->id, "%zu", count);
    slot->attempt = 1;
    slot_finish(slot, (struct later_verdict){ .ending = ending }, "");
    items[count].slot = slot;
    strcpy(items[count].token, token);
    count++;
    return slot;
}

static void take(enum later_verb verb)
{
    free(sending);
    sending = sending_take(&keys, verb, items, &count);
    ck_assert_ptr_nonnull(sending);
}

/* The call is as this command; frees both. */
static void check_call(struct later_command *wanted)
{
    ck_assert(later_command_ready(&cmd));
    ck_assert_uint_eq(cmd.len, wanted->len);
    ck_assert_mem_eq(cmd.data, wanted->data, cmd.len);
    later_command_free(wanted);
    later_command_free(&cmd);
}

/* ---- which verb */

CASE("together", set_up, tear_down);

TEST(test_verb)
{
    struct slot *slot = add(TOKEN, LATER_ENDED_DONE);

    ck_assert_int_eq(sending_verb(slot), LATER_VERB_ACK);
    slot->kept = 60;
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_FINISH);
    slot->kept = 0;
    slot->value_len = 1;
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_FINISH);
    slot->value_len = 0;
    slot->keep = 60;
    slot->keep_max = 5;
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_FINISH);
    slot->keep = 0;
    strcpy(slot->on_dead, "tell");
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_ACK);
    strcpy(slot->on_done, "tell");
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_FINISH);
    slot = add(TOKEN, LATER_ENDED_BURY);
    slot->value_len = 1; /* only what is done leaves a value */
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_BURY);
    strcpy(slot->on_dead, "tell");
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_FINISH);
    slot = add(TOKEN, LATER_ENDED_RETRY);
    slot->kept = 60; /* it is not over */
    ck_assert_int_eq(sending_verb(slot), LATER_VERB_RELEASE);
}

/* ---- what goes together */

TEST(test_nothing)
{
    ck_assert_uint_eq(sending_count(LATER_VERB_ACK, items, 0), 0);
}

/* Every seventh is of another token; the others are 600. */
TEST(test_of_one_token)
{
    for (int i = 0; i < MANY; i++)
        add(i % 7 == 6 ? OTHER : TOKEN, LATER_ENDED_DONE);
    ck_assert_uint_eq(sending_count(LATER_VERB_ACK, items, count), 500);
    take(LATER_VERB_ACK);
    ck_assert_uint_eq(sending->count, 500);
    ck_assert_str_eq(sending->items[499].slot->id, "582");
    ck_assert_uint_eq(count, 200);
    ck_assert_str_eq(items[0].slot->id, "6"); /* in their order */
    take(LATER_VERB_ACK);
    ck_assert_uint_eq(sending->count, 100);
    ck_assert_str_eq(sending->items[0].token, OTHER);
    take(LATER_VERB_ACK);
    ck_assert_uint_eq(sending->count, 100);
    ck_assert_str_eq(sending->items[99].slot->id, "698");
    ck_assert_uint_eq(count, 0);
}

/* Some have notes, which go in a call before theirs. */
TEST(test_notes_go_together)
{
    for (int i = 0; i < 50; i++)
        add(TOKEN, LATER_ENDED_RETRY)->logged = (uint32_t)i % 2;
    ck_assert_uint_eq(sending_count(LATER_VERB_RELEASE, items, count), 41);
    take(LATER_VERB_RELEASE);
    ck_assert_uint_eq(sending->count, 41);
    ck_assert_str_eq(sending->items[33].slot->id, "34"); /* 33 has the 17th notes */
    ck_assert_uint_eq(count, 9);
    ck_assert_str_eq(items[0].slot->id, "33");
}

/* Takes the first call of what leaves something: it has the jobs of these numbers. */
static void check_together(const char *numbers)
{
    char text[32 * LATER_ID_SIZE] = "";
    size_t len = 0;

    take(LATER_VERB_FINISH);
    for (size_t i = 0; i < sending->count && i < 32; i++)
        len += (size_t)sprintf(text + len, "%s%s", i ? " " : "", sending->items[i].slot->id);
    ck_assert_str_eq(text, numbers);
    ck_assert(!sending->whole);
}

TEST(test_what_leaves_something)
{
    struct slot *slot;

    for (int i = 0; i < 9; i++) {
        slot = add(TOKEN, i == 2 ? LATER_ENDED_BURY : LATER_ENDED_DONE);
        slot->kept = 60;
        slot->value_len = i == 1 || i >= 7 ? 100000 : 1;
        slot->keep = i == 4 || i == 5 ? 60 + i / 5 : 0;
        slot->keep_max = 5;
        strcpy(slot->on_done, i == 3 ? "tell" : "");
    }
    check_together("0 1 6 7"); /* 8 is too long for it */
    check_together("2");       /* dead */
    check_together("3");       /* a hook */
    check_together("4");       /* kept otherwise than 5 */
    check_together("5");
    check_together("8");
    ck_assert_uint_eq(count, 0);
}

/* ---- the call */

CASE("calls", set_up, tear_down);

TEST(test_all_of_a_token)
{
    struct later_command wanted = { 0 };

    for (int i = 0; i < 3; i++)
        add(TOKEN, LATER_ENDED_DONE)->given = 3;
    take(LATER_VERB_ACK);
    ck_assert(sending->whole);
    ck_assert(sending_encode(sending, NULL, &cmd));
    later_queue_ack_all(&wanted, &keys, TOKEN, 3);
    check_call(&wanted);
}

TEST(test_some_of_a_token)
{
    const struct later_settlement jobs[] = { { .token = TOKEN, .id = "0" },
                                             { .token = TOKEN, .id = "1" } };
    struct later_command wanted = { 0 };

    add(TOKEN, LATER_ENDED_DONE)->given = 3;
    add(TOKEN, LATER_ENDED_DONE)->given = 3;
    take(LATER_VERB_ACK);
    ck_assert(!sending->whole);
    ck_assert(sending_encode(sending, NULL, &cmd));
    later_queue_settle(&wanted, &keys, LATER_VERB_ACK, 0, jobs, 2);
    check_call(&wanted);
}

/* Of one by its id there is nothing to save. */
TEST(test_one_is_not_whole)
{
    add(TOKEN, LATER_ENDED_DONE)->given = 1;
    take(LATER_VERB_ACK);
    ck_assert(!sending->whole);
}

/* The host stands in the error. */
TEST(test_errors)
{
    struct later_settlement jobs[] = { { .token = TOKEN, .id = "0", .wait = 5 },
                                       { .token = TOKEN, .id = "1" } };
    struct later_command wanted = { 0 };
    char *error;

    slot_finish(add(TOKEN, LATER_ENDED_RETRY),
                (struct later_verdict){ .ending = LATER_ENDED_RETRY, .wait = 5 }, "why");
    add(TOKEN, LATER_ENDED_RETRY);
    take(LATER_VERB_RELEASE);
    sending->host = "the-host";
    ck_assert(sending_encode(sending, NULL, &cmd));
    error = later_queue_error("retry", "why", "the-host", 0);
    jobs[0].error = error;
    jobs[0].how = jobs[1].how = later_endings[LATER_ENDED_RETRY].how;
    later_queue_settle(&wanted, &keys, LATER_VERB_RELEASE, 0, jobs, 2);
    free(error);
    check_call(&wanted);
}

/* By their ids, even if they are all that the token was given. */
TEST(test_with_a_reserve)
{
    const struct later_take next = { .token = OTHER, .lease = 30, .limit = 1, .bytes = 1000 };
    const struct later_settlement jobs[] = { { .token = TOKEN, .id = "0" },
                                             { .token = TOKEN, .id = "1" } };
    struct later_command wanted = { 0 };

    add(TOKEN, LATER_ENDED_DONE)->given = 2;
    add(TOKEN, LATER_ENDED_DONE)->given = 2;
    take(LATER_VERB_ACK);
    ck_assert(sending_encode(sending, &next, &cmd));
    later_queue_step(&wanted, &keys, &next, jobs, 2, NULL);
    check_call(&wanted);
}

/* What leaves a result, and nothing else, goes with a reserve if it is one. */
TEST(test_result_with_a_reserve)
{
    const struct later_take next = { .token = OTHER, .lease = 30, .limit = 1, .bytes = 1000 };
    const struct later_settlement job = { .token = TOKEN, .id = "0" };
    const struct later_remains left = { .result = 60 };
    struct later_command wanted = { 0 };
    struct slot *slot = add(TOKEN, LATER_ENDED_DONE);

    slot->kept = 60;
    ck_assert_uint_eq(sending_joins(LATER_VERB_FINISH, items, 1), 1);
    slot->keep = slot->keep_max = 5;
    ck_assert_uint_eq(sending_joins(LATER_VERB_FINISH, items, 1), 0);
    slot->keep = 0;
    strcpy(slot->on_done, "tell");
    ck_assert_uint_eq(sending_joins(LATER_VERB_FINISH, items, 1), 0);
    slot->on_done[0] = '\0';
    add(TOKEN, LATER_ENDED_BURY)->kept = 60;
    ck_assert_uint_eq(sending_joins(LATER_VERB_FINISH, items + 1, 1), 0);
    ck_assert_uint_eq(sending_joins(LATER_VERB_FINISH, items, 2), 0);
    count = 1;
    take(LATER_VERB_FINISH);
    ck_assert(sending_encode(sending, &next, &cmd));
    later_queue_step(&wanted, &keys, &next, &job, 1, &left);
    check_call(&wanted);
}

/* The same call with what is told of its jobs; a return tells nothing. */
TEST(test_told)
{
    const struct later_settlement jobs[] = { { .token = TOKEN, .id = "0" },
                                             { .token = TOKEN, .id = "1" } };
    struct later_event event = {
        .id = "0", .type = "t.x", .ending = LATER_ENDED_DONE, .attempt = 1, .ran = 0.5, .waited = -1
    };
    struct later_command wanted = { 0 };

    for (int i = 0; i < 2; i++) {
        struct slot *slot = add(TOKEN, LATER_ENDED_DONE);

        strcpy(slot->type, i ? "no type" : "t.x");
        slot->ran = 0.5;
        slot->waited = -1;
        slot->ends_kept = 70;
    }
    take(LATER_VERB_ACK);
    sending->host = "the-host";
    ck_assert(sending_encode(sending, NULL, &cmd));
    later_script_tell(&wanted, 2);
    later_queue_settle(&wanted, &keys, LATER_VERB_ACK, 0, jobs, 2);
    later_event_add(&wanted, &event);
    event.id = "1";
    event.type = "";
    later_event_add(&wanted, &event);
    later_events_end(&wanted, "the-host", 70);
    check_call(&wanted);
}

TEST(test_told_of_none_that_goes_back)
{
    const struct later_settlement job = { .token = TOKEN, .id = "0", .how = "held" };
    struct later_command wanted = { 0 };

    add(TOKEN, LATER_ENDED_HELD)->ends_kept = 70;
    take(LATER_VERB_RETURN);
    ck_assert(sending_encode(sending, NULL, &cmd));
    later_queue_settle(&wanted, &keys, LATER_VERB_RETURN, 0, &job, 1);
    check_call(&wanted);
}
