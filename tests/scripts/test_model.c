/*
 * test_model.c: thousands of random calls; after each, Redis holds what the model does.
 *
 * LATER_SEED=N walks another way; LATER_TRACE=1 names each step on stderr.
 */
#include "model_steps.h"
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 4200

uint64_t seed;
struct model model;

/* xorshift64 */
int random_below(int limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)limit);
}

const char *any_id(void)
{
    if (model.count > 0 && random_below(2))
        return text("%s", model.jobs[random_below((int)model.count)].id);
    return text("j%d", random_below(IDS));
}

/* ---- scores that a script made of Redis's time */

static double call_began, last_placed;

void begin(void)
{
    bool empty = true;

    call_began = now();
    last_placed = 0;
    for (size_t i = 0; i < model.count; i++)
        empty = empty && model.jobs[i].state != READY;
    for (int i = 0; i < MODEL_RANKS; i++) {
        model.fronts[i].known = model.fronts[i].known && !empty;
        memset(model.fronts[i].leaving, 0, sizeof model.fronts[i].leaving);
    }
}

/* A weighs 2, C a half. */
static double step_of(char group)
{
    return group == 'A' ? 0.0005 : group == 'B' ? 0.001 : 0.002;
}

void take_place(struct job *job, double left)
{
    struct front *front = model_front(&model, job);
    double *last = &front->last[job->group - 'A'], off = job->priority * 1e6, tag;
    double low = front->known ? front->tag : call_began;
    double high = front->known ? front->tag : now() + DIGIT;
    double mine = model_beside(&model, job) + front->leaving[job->group - 'A'] > 0 ? *last : 0;

    if (isnan(left)) {
        low = fmax(low, mine) + step_of(job->group);
        high = fmax(high, mine) + step_of(job->group);
    } else {
        low = fmin(low, left + off);
        high = fmin(high, left + off);
    }
    job->score = score("ready", job->id);
    tag = job->score + off;
    ck_assert_msg(tag > low - DIGIT && tag < high + DIGIT, "%s of %c is at %f, not %f to %f",
                  job->id, job->group, tag, low, high);
    *last = isnan(left) ? tag : fmax(mine, tag);
    job->placed = true;
    if (front->known)
        return;
    front->known = true;
    front->tag = atof(field("fair", text("%d", job->priority)));
    ck_assert(front->tag > call_began - DIGIT && front->tag < now() + DIGIT);
}

void leave_place(struct job *job)
{
    struct front *front = model_front(&model, job);

    if (job->placed)
        front->tag = fmax(front->tag, job->score + job->priority * 1e6);
    job->placed = false;
}

void take_score(struct job *job, double after)
{
    double off = job->state == READY ? job->priority * 1e6 : 0;
    double time;

    if (model.groups && job->state == READY) {
        take_place(job, NAN);
        return;
    }
    job->score = score(model_states[job->state], model_member(job));
    time = job->score + off - after;
    ck_assert_double_ge(time, call_began - 1e-6);
    ck_assert_double_le(time, now() + 0.001);
    if (job->state == READY || job->state == DEAD) {
        ck_assert_double_ge(time, last_placed + 5e-7);
        last_placed = time;
    }
}

void place_back(struct job *job, double left)
{
    job->state = READY;
    if (model.groups)
        take_place(job, left);
    else
        job->score = left;
}

void drop(struct job *job, enum counter counter)
{
    model.counters[counter]++;
    model.counters[ADOPTED] += job->plain;
    model_drop(&model, job);
}

/* ---- the walk */

/* How often each step is taken, of the sum. */
static const struct {
    void (*step)(void);
    int weight;
    const char *name;
} steps[] = {
    { step_push, 30, "push" },       { step_plain, 8, "plain" },
    { step_time, 15, "time" },       { step_migrate, 15, "migrate" },
    { step_kick, 6, "kick" },        { step_cancel, 4, "cancel" },
    { step_purge, 1, "purge" },      { step_trim, 8, "trim" },
    { step_pause, 4, "pause" },      { step_eat, 5, "eat" },
    { step_reserve, 35, "reserve" }, { step_ack, 8, "ack" },
    { step_expire, 2, "expire" },    { step_touch, 4, "touch" },
    { step_release, 12, "release" }, { step_return, 14, "return" },
    { step_aside, 24, "aside" },     { step_bury, 5, "bury" },
    { step_free, 25, "free" },       { step_ack_all, 4, "ack_all" },
    { step_step, 10, "step" },       { step_finish_all, 4, "finish_all" },
    { step_hasten, 10, "hasten" },   { step_put_off, 10, "put off" },
    { step_lay, 6, "lay" },          { step_heed, 4, "heed" },
    { step_move, 3, "move" },        { step_reschedule, 8, "reschedule" },
    { step_take, 24, "take" },       { step_give_back, 10, "give back" },
    { step_line, 16, "line" },
};

/* Plain members have no group; without groups no job waits in a line. */
static int weight_of(size_t i)
{
    bool of_lines = steps[i].step == step_hasten || steps[i].step == step_put_off;

    return (model.groups ? steps[i].step == step_plain : of_lines) ? 0 : steps[i].weight;
}

static void walk(void)
{
    int sum = 0, taken[sizeof steps / sizeof *steps] = { 0 };
    bool trace = getenv("LATER_TRACE") != NULL;

    lines_begin();
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        sum += weight_of(i);
    for (int n = 0; n < STEPS; n++) {
        int pick = random_below(sum);
        size_t i = 0;

        for (; pick >= weight_of(i); i++)
            pick -= weight_of(i);
        if (trace)
            fprintf(stderr, "step %d: %s\n", n, steps[i].name);
        steps[i].step();
        taken[i]++;
        model_compare(&model);
        if (n % 50 == 0)
            check_sums();
        harness_free();
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        ck_assert_msg(taken[i] > 0 || !weight_of(i), "%s was never taken", steps[i].name);
    for (int i = 0; i < COUNTERS; i++)
        ck_assert_msg(model.counters[i] > 0 || (model.groups && i == ADOPTED),
                      "counter %d never moved", i);
}

static void choose_seed(void)
{
    const char *chosen = getenv("LATER_SEED");

    seed = chosen ? strtoull(chosen, NULL, 10) : 20240611;
    seed += seed == 0; /* xorshift stays at 0 */
    printf("# LATER_SEED=%llu\n", (unsigned long long)seed);
}

AT_START(choose_seed());

TEST(redis_holds_what_the_model_does)
{
    model = (struct model){ 0 };
    walk();
}

TEST(places_go_by_groups_as_in_the_model)
{
    model = (struct model){ .groups = true };
    ask("HSET %s A 2 C 0.5", key("groups"));
    walk();
}
