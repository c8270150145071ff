/*
 * redis_rig.h: one connection (redis.h) to a scripted Redis (fake_redis.h), and everything that it
 * reported.
 */
#ifndef REDIS_RIG_H
#define REDIS_RIG_H

#include "base/clock.h"
#include "redis/redis.h"
#include "redis/script.h"
#include "tests/support/fake_redis.h"
#include "unit.h"

#define RIG_TOLD 4096

/* What the command with this number was answered. */
struct rig_told {
    int times;
    enum later_answer_outcome outcome;
    enum later_remedy remedy;
    int64_t value; /* of its reply */
    char text[160];
    double at; /* later_clock() */
};

struct rig {
    struct fake_redis *fake;
    struct later_redis *redis;
    struct later_redis_options options;
    int ups, downs;
    char why[256];                  /* of the last down */
    double down_at;                 /* later_clock() */
    int answers;                    /* in all */
    struct rig_told told[RIG_TOLD]; /* by number */
    void (*then)(int number);       /* called from inside each answer; NULL = nothing */
    void (*then_down)(void);        /* called from inside `down` */
};
extern struct rig rig;

/* Answers each command with its second word as a number: `ECHO 5` with `:5`. */
void rig_echo(struct fake_redis *fake, void *arg);

/* Starts the script; makes a connection to it, down yet. Change rig.options in between by calling
 * the two halves. */
void rig_begin(fake_script *script, void *arg);
void rig_begin_fake(fake_script *script, void *arg);
void rig_begin_redis(void);

/* The same, connected. */
void rig_up(fake_script *script, void *arg);

/* Frees what there is; a checked fixture's second half. */
void rig_end(void);

/* Begins to connect; fails the test if that fails at once. */
void rig_connect(void);

#define LATER_NO_SCRIPT (-1)

/* Puts `word number` on its way, not flushed. */
void rig_send(int number, const char *word, int script, double timeout);

/* The whole of what has come for a number: once, so. */
void rig_answered(int number, int64_t value);
void rig_refused(int number, enum later_remedy remedy, const char *text);
void rig_broke(int number, enum later_answer_outcome outcome, const char *text);

/* How much later than written something may be on this machine: valgrind and sanitizers are slow.
 * $CK_TIMEOUT_MULTIPLIER. */
double rig_slowness(void);

/* Drives the connection until the condition holds, half a minute at most. */
#define RIG_UNTIL(condition)                                                                       \
    do {                                                                                           \
        double rig_until = later_clock() + 20 + 10 * rig_slowness();                               \
        bool rig_held;                                                                             \
                                                                                                   \
        while (!(rig_held = (condition)) && later_clock() < rig_until)                             \
            later_redis_wait(rig.redis, later_clock() + 0.02);                                     \
        ck_assert_msg(rig_held, "waited in vain: %s", #condition);                                 \
    } while (0)

#endif
