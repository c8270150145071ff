/* redis_rig.c: one connection, and everything that it reported. */
#include "redis_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig rig;

double rig_slowness(void)
{
    const char *text = getenv("CK_TIMEOUT_MULTIPLIER");
    double slowness = text ? strtod(text, NULL) : 1;

    return slowness > 1 ? slowness : 1;
}

void rig_echo(struct fake_redis *fake, void *arg)
{
    char answer[32];

    (void)arg;
    while (fake_shake(fake)) {
        while (fake_read(fake)) {
            snprintf(answer, sizeof answer, ":%.20s\r\n", fake_word(fake, 1));
            fake_say(fake, answer);
        }
    }
}

static void on_up(void *arg)
{
    (void)arg;
    rig.ups++;
    ck_assert(later_redis_up(rig.redis));
}

static void on_down(void *arg, const char *why)
{
    (void)arg;
    rig.downs++;
    rig.down_at = later_clock();
    snprintf(rig.why, sizeof rig.why, "%s", why);
    ck_assert(later_redis_down(rig.redis));
    ck_assert_int_eq(later_redis_fd(rig.redis), -1);
    ck_assert_uint_eq(later_redis_pending(rig.redis), 0);
    if (rig.then_down)
        rig.then_down();
}

static void take(void *arg, struct later_answer *answer)
{
    struct rig_told *told = arg;

    told->times++;
    told->outcome = answer->outcome;
    told->remedy = answer->remedy;
    told->value = later_reply_int(answer->reply);
    told->at = later_clock();
    snprintf(told->text, sizeof told->text, "%s", answer->text);
    ck_assert_int_eq(answer->outcome == LATER_ANSWERED, !answer->text[0]);
    ck_assert_int_eq(answer->outcome == LATER_UNSENT || answer->outcome == LATER_UNKNOWN,
                     answer->reply == NULL);
    rig.answers++;
    if (rig.then)
        rig.then((int)(told - rig.told));
}

void rig_begin_fake(fake_script *script, void *arg)
{
    struct later_error err;

    memset(&rig, 0, sizeof rig);
    rig.fake = fake_start(script, arg);
    ck_assert_ptr_nonnull(rig.fake);
    ck_assert_int_eq(later_address_parse(&rig.options.address, fake_url(rig.fake), &err), 0);
    rig.options.up = on_up;
    rig.options.down = on_down;
}

/* A test that does not say how long connecting may take waits for it as for anything else. */
void rig_begin_redis(void)
{
    if (rig.options.connect_timeout <= 0)
        rig.options.connect_timeout = 10 * rig_slowness();
    rig.redis = later_redis_new(&rig.options);
    ck_assert_ptr_nonnull(rig.redis);
    ck_assert(later_redis_down(rig.redis));
}

void rig_begin(fake_script *script, void *arg)
{
    rig_begin_fake(script, arg);
    rig_begin_redis();
}

void rig_connect(void)
{
    struct later_error err = { LATER_OK, "" };

    ck_assert_msg(later_redis_connect(rig.redis, &err) == 0, "%s", err.text);
    ck_assert(!later_redis_down(rig.redis));
    ck_assert(!later_redis_up(rig.redis));
}

void rig_up(fake_script *script, void *arg)
{
    rig_begin(script, arg);
    rig_connect();
    RIG_UNTIL(rig.ups == 1);
}

void rig_end(void)
{
    later_redis_free(rig.redis);
    if (rig.fake)
        fake_stop(rig.fake);
    rig.redis = NULL;
    rig.fake = NULL;
}

void rig_send(int number, const char *word, int script, double timeout)
{
    struct later_command cmd = { 0 };

    later_command_begin(&cmd, 2);
    later_command_text(&cmd, word);
    later_command_int(&cmd, number);
    if (script != LATER_NO_SCRIPT)
        cmd.script = &later_script_texts[script];
    ck_assert_int_eq(later_redis_send(rig.redis, &cmd, timeout, take, &rig.told[number]), 0);
    ck_assert_ptr_null(cmd.data);
}

static void check(int number, enum later_answer_outcome outcome, const char *text)
{
    const struct rig_told *told = &rig.told[number];

    ck_assert_msg(told->times == 1, "%d was answered %d times", number, told->times);
    ck_assert_msg(told->outcome == outcome, "%d ended in %d: %s", number, (int)told->outcome,
                  told->text);
    ck_assert_str_eq(told->text, text);
}

void rig_answered(int number, int64_t value)
{
    check(number, LATER_ANSWERED, "");
    ck_assert_int_eq(rig.told[number].value, value);
}

void rig_refused(int number, enum later_remedy remedy, const char *text)
{
    check(number, LATER_REFUSED, text);
    ck_assert_int_eq(rig.told[number].remedy, remedy);
}

void rig_broke(int number, enum later_answer_outcome outcome, const char *text)
{
    check(number, outcome, text);
}
