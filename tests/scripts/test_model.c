/*
 * test_model.c: thousands of random calls; after each, Redis holds what the model does.
 *
 * LATER_SEED=N walks another way; LATER_TRACE=1 names each step on stderr.
 */
#include "model.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS  4000
#define IDS    12
#define PLAINS 3
#define ERROR  "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

static uint64_t seed;
static struct model model;
static int documents; /* made so far: each is another */

/* xorshift64 */
static int random_below(int limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)limit);
}

#define ONE_OF(list) ((list)[random_below((int)(sizeof(list) / sizeof *(list)))])

static const char *any_id(void)
{
    if (model.count > 0 && random_below(2))
        return text("%s", model.jobs[random_below((int)model.count)].id);
    return text("j%d", random_below(IDS));
}

/* ---- scores that a script made of Redis's time */

static double call_began, last_placed;

static void begin(void)
{
    call_began = now();
    last_placed = 0;
}

/* Takes the score that a job got in its set: the time of the call + after - its priority, and in
 * ready and dead behind the one before. */
static void take_score(struct job *job, double after)
{
    double off = job->state == READY ? job->priority * 1e6 : 0;
    double time;

    job->score = score(model_states[job->state], model_member(job));
    time = job->score + off - after;
    ck_assert_double_ge(time, call_began - 1e-6);
    ck_assert_double_le(time, now() + 0.001);
    if (job->state == READY || job->state == DEAD) {
        ck_assert_double_ge(time, last_placed + 5e-7);
        last_placed = time;
    }
}

/* ---- verbs that move what is not reserved */

static void renew(struct job *job, const char *document, int priority, bool later)
{
    char id[sizeof job->id];

    memcpy(id, job->id, sizeof id);
    *job = (struct job){ .crashes = -1, .error = -1 };
    memcpy(job->id, id, sizeof id);
    snprintf(job->document, sizeof job->document, "%s", document);
    job->priority = priority;
    job->state = later ? DELAYED : READY;
}

/* One job of a push: what must be answered; *placed is set where it is to be placed. */
static const char *push_one(const char *id, bool replace, bool fresh, bool *placed)
{
    struct job *job = model_find(&model, id);

    *placed = true;
    if (!job) {
        model.counters[PUSHED]++;
        model_add(&model, id, "");
        return "PUSHED";
    }
    if (replace && fresh && (job->state == READY || job->state == DELAYED)) {
        model.counters[REPLACED]++;
        return "REPLACED";
    }
    *placed = false;
    model.counters[DUPLICATE]++;
    return text("EXISTS %s", model_states[job->state]);
}

static void step_push(void)
{
    static const char *const whens[] = { "", "", "0", "+1000" };
    static const int priorities[] = { 0, 0, 0, 1, 7, -1, 100, -100 };
    const char *ids[4], *expected = "";
    bool later[4], placed[4];
    bool replace = random_below(3) == 0, any = false;
    int count = 1 + random_below(4);
    const char *answer;

    begin();
    arg("0");
    arg(replace ? "replace" : "new");
    for (int i = 0; i < count; i++) {
        const char *when = ONE_OF(whens), *document = text("{\"v\":%d}", ++documents);
        int priority = ONE_OF(priorities);
        bool fresh = true;

        ids[i] = text("j%d", random_below(IDS));
        for (int n = 0; n < i; n++)
            fresh = fresh && !(placed[n] && strcmp(ids[n], ids[i]) == 0);
        later[i] = *when == '+';
        expected = text("%s%s%s", expected, i > 0 ? " " : "",
                        push_one(ids[i], replace, fresh, &placed[i]));
        if (placed[i])
            renew(model_find(&model, ids[i]), document, priority, later[i]);
        any = any || placed[i];
        arg(ids[i]);
        arg(when);
        argf("%d", priority);
        arg(document);
    }
    answer = flat(run("push", NULL));
    ck_assert_str_eq(answer, expected);
    for (int i = 0; i < count; i++) {
        if (placed[i])
            take_score(model_find(&model, ids[i]), later[i] ? 1000 : 0);
    }
    if (any)
        model_leave_wake(&model);
}

/* ZADD by hand, as any language does it. */
static void step_plain(void)
{
    enum state state = random_below(2) ? READY : DELAYED;
    const char *document = text("{\"plain\":%d}", random_below(PLAINS));
    struct job *job = model_find_plain(&model, document, state);

    if (!job)
        job = model_add(&model, document, document);
    job->plain = true;
    job->state = state;
    job->score = random_below(2) ? random_below(1000) : 4e9 + random_below(1000);
    ask("ZADD %s %s %s", key(model_states[state]), text("%.0f", job->score), document);
}

/* Time passes: a delayed job becomes due, or a lease runs out. */
static void step_time(void)
{
    struct job *jobs[MODEL_JOBS];
    enum state state = random_below(2) ? DELAYED : RESERVED;
    size_t count = model_sorted(&model, state, jobs);

    if (count == 0)
        return;
    struct job *job = jobs[random_below((int)count)];
    job->score = 1000 + random_below(1000);
    ask("ZADD %s %s %s", key(model_states[state]), text("%.0f", job->score), model_member(job));
}

static size_t due_first(enum state state, struct job **out, int limit)
{
    size_t count = model_sorted(&model, state, out), due = 0;

    while (due < count && due < (size_t)limit && out[due]->score < 1e9)
        due++;
    return due;
}

static void step_migrate(void)
{
    struct job *due[MODEL_JOBS], *over[MODEL_JOBS];
    int limit = 1 + random_below(5);
    bool lapse = random_below(2);
    size_t promoted = due_first(DELAYED, due, limit);
    size_t lapsed = lapse ? due_first(RESERVED, over, limit - (int)promoted) : 0;

    begin();
    ck_assert_mem_eq(flat(run("migrate", text("%d", limit), lapse ? "1" : "0", ERROR, NULL)),
                     text("%zu %zu ", promoted, lapsed), 4);
    for (size_t i = 0; i < promoted; i++) {
        if (due[i]->plain)
            model_adopt(&model, due[i]);
        due[i]->state = READY;
        due[i]->score -= due[i]->priority * 1e6;
    }
    for (size_t i = 0; i < lapsed; i++) {
        over[i]->state = READY;
        over[i]->interrupts = 0;
        over[i]->error = ++over[i]->attempts;
        take_score(over[i], 0);
    }
    model.counters[LAPSED] += (long long)lapsed;
    model_leave_wake(&model);
}

static void step_kick(void)
{
    const char *id = any_id();
    struct job *job = model_find(&model, id);

    if (!job)
        job = model_find_plain(&model, id, DELAYED);
    begin();
    if (!job || (job->state != DEAD && job->state != DELAYED)) {
        ck_assert_str_eq(flat(run("kick", id, NULL)), "");
        return;
    }
    ck_assert_str_eq(flat(run("kick", id, NULL)), model_states[job->state]);
    if (job->state == DEAD) {
        job->attempts = job->interrupts = 0;
        job->crashes = -1;
    }
    /* A plain member may wait in ready as well: then it is one. */
    if (job->plain && model_find_plain(&model, id, READY)) {
        model_drop(&model, job);
        job = model_find_plain(&model, id, READY);
    }
    job->state = READY;
    take_score(job, 0);
    model.counters[KICKED]++;
    model_leave_wake(&model);
}

static void drop(struct job *job, enum counter counter)
{
    model.counters[counter]++;
    model.counters[ADOPTED] += job->plain;
    model_drop(&model, job);
}

static void step_cancel(void)
{
    const char *id = any_id(), *held = "";
    struct job *job = model_find(&model, id);
    bool right = random_below(4) > 0;

    if (!job && model_find_plain(&model, id, READY) && model_find_plain(&model, id, DELAYED))
        return; /* two jobs of one name: which one is not said */
    if (!job)
        job = model_find_plain(&model, id, READY);
    if (!job)
        job = model_find_plain(&model, id, DELAYED);
    if (job && job->state == RESERVED && right)
        held = model_member(job);
    if (!job || (job->state == RESERVED && !right)) {
        ck_assert_str_eq(flat(run("cancel", id, held, NULL)), "");
        return;
    }
    ck_assert_str_eq(flat(run("cancel", id, held, NULL)), model_states[job->state]);
    drop(job, CANCELLED);
}

/* Drops the first of a state. Pointers into the model do not outlive a drop. */
static void drop_first(enum state state, size_t count, enum counter counter)
{
    while (count-- > 0) {
        struct job *jobs[MODEL_JOBS];

        model_sorted(&model, state, jobs);
        drop(jobs[0], counter);
    }
}

static void step_purge(void)
{
    static const enum state states[] = { READY, DELAYED, DEAD };
    struct job *jobs[MODEL_JOBS];
    enum state state = ONE_OF(states);
    size_t limit = 1 + (size_t)random_below(2);
    size_t count = model_sorted(&model, state, jobs);

    count = count < limit ? count : limit;
    ck_assert_str_eq(flat(run("purge", model_states[state], text("%zu", limit), NULL)),
                     text("%zu", count));
    drop_first(state, count, PURGED);
}

static void step_trim(void)
{
    struct job *jobs[MODEL_JOBS];
    size_t keep = 1 + (size_t)random_below(4), limit = 1 + (size_t)random_below(3);
    size_t count = model_sorted(&model, DEAD, jobs);

    count = count > keep ? count - keep : 0;
    count = count < limit ? count : limit;
    ck_assert_str_eq(flat(run("trim", text("%zu", keep), "0", text("%zu", limit), NULL)),
                     text("%zu", count));
    drop_first(DEAD, count, TRIMMED);
}

static void step_pause(void)
{
    bool pause = random_below(2);

    ck_assert_str_eq(flat(run(pause ? "pause" : "resume", NULL)),
                     model.paused != pause ? "1" : "0");
    model.paused = pause;
    if (!pause)
        model_leave_wake(&model);
}

/* A worker takes the wake, and is never seen again. */
static void step_eat(void)
{
    ask("LPOP %s", key("wake"));
    model.wake = false;
}

/* ---- reserve and what settles */

static void step_reserve(void)
{
    struct job *ready[MODEL_JOBS];
    char token = (char)('a' + random_below(26));
    size_t limit = 1 + (size_t)random_below(5);
    size_t count = model_sorted(&model, READY, ready);
    const redisReply *reply;

    count = model.paused ? 0 : count < limit ? count : limit;
    begin();
    reply = reserve(token, (int)limit);
    ck_assert_uint_eq(reply->elements, 1 + 5 * count);
    for (size_t i = 0; i < count; i++) {
        struct job *job = ready[i];
        redisReply **told = &reply->element[1 + 5 * i];

        if (job->plain)
            model_adopt(&model, job);
        ck_assert_str_eq(told[0]->str, job->id);
        ck_assert_double_eq(strtod(told[1]->str, NULL), job->score);
        ck_assert_str_eq(told[2]->str, job->attempts ? text("%d", job->attempts) : "");
        ck_assert_str_eq(told[3]->str, job->crashes >= 0 ? text("%d", job->crashes) : "");
        ck_assert_str_eq(told[4]->str, job->document);
        job->left = job->score;
        job->state = RESERVED;
        job->token = token;
        take_score(job, 30);
    }
    model_leave_wake(&model);
}

/* Some members, mostly of reserved jobs: fills `jobs`, NULL for a LOST one, and returns how many.
 * Each member comes once. The arguments are added by `add`. */
static int pick_members(struct job *jobs[3], const char **lost, void (*add)(struct job *job))
{
    struct job *reserved[MODEL_JOBS];
    size_t held = model_sorted(&model, RESERVED, reserved);
    int count = 1 + random_below(3);

    *lost = "";
    for (int i = 0; i < count; i++) {
        struct job *job = held > 0 ? reserved[random_below((int)held)] : NULL;

        for (int n = 0; n < i; n++)
            job = jobs[n] == job ? NULL : job;
        if (job && random_below(8) == 0)
            job = NULL;
        jobs[i] = job;
        if (!job)
            *lost = text("%s%s%d", *lost, **lost ? " " : "", i + 1);
        arg(job ? model_member(job) : member('0', any_id()));
        add(job);
    }
    return count;
}

static void back_to(struct job *job, double wait)
{
    job->state = wait > 0 ? DELAYED : READY;
    take_score(job, wait);
}

static void add_nothing(struct job *job)
{
    (void)job;
}

static void step_end(const char *verb, enum counter counter)
{
    struct job *jobs[3];
    const char *lost;
    int count = pick_members(jobs, &lost, add_nothing);
    char ids[3][64] = { "" };

    ck_assert_str_eq(flat(run(verb, NULL)), lost);
    for (int i = 0; i < count; i++) {
        if (jobs[i])
            memcpy(ids[i], jobs[i]->id, sizeof ids[i]);
    }
    for (int i = 0; i < count; i++) {
        if (*ids[i])
            drop(model_find(&model, ids[i]), counter);
    }
}

static void step_ack(void)
{
    step_end("ack", DONE);
}

static void step_expire(void)
{
    step_end("expire", EXPIRED);
}

static void step_touch(void)
{
    struct job *jobs[3];
    const char *lost;
    int count;

    arg("500");
    count = pick_members(jobs, &lost, add_nothing);
    begin();
    ck_assert_str_eq(flat(run("touch", NULL)), lost);
    for (int i = 0; i < count; i++) {
        if (jobs[i])
            take_score(jobs[i], 500);
    }
}

static int wait_of_call;
static const char *how_of_call, *error_of_call;

static void add_release(struct job *job)
{
    (void)job;
    argf("%d", wait_of_call);
    arg(how_of_call);
    arg(error_of_call);
}

static void count_attempt(struct job *job)
{
    job->interrupts = 0;
    job->attempts++;
    if (*error_of_call)
        job->error = job->attempts;
    if (strcmp(how_of_call, "crashed") == 0)
        job->crashes = job->crashes < 0 ? 1 : job->crashes + 1;
}

static void step_release(void)
{
    struct job *jobs[3];
    const char *lost;
    bool any = false;
    int count;

    wait_of_call = random_below(2) ? 0 : 700;
    how_of_call = random_below(3) ? "ran" : "crashed";
    error_of_call = random_below(3) ? ERROR : "";
    count = pick_members(jobs, &lost, add_release);
    begin();
    ck_assert_str_eq(flat(run("release", NULL)), lost);
    for (int i = 0; i < count; i++) {
        if (!jobs[i])
            continue;
        any = true;
        if (strcmp(how_of_call, "ran") == 0 && jobs[i]->crashes == 0)
            jobs[i]->crashes = -1;
        count_attempt(jobs[i]);
        back_to(jobs[i], wait_of_call);
        model.counters[RELEASED]++;
    }
    if (any)
        model_leave_wake(&model);
}

static bool place_of_call; /* back to its place */

static void add_return(struct job *job)
{
    if (place_of_call && job)
        argf("%.17g", job->left);
    else
        arg("");
    argf("%d", wait_of_call);
    arg(how_of_call);
}

static void step_return(void)
{
    static const char *const hows[] = { "held", "suspect", "interrupted", "interrupted" };
    struct job *jobs[3];
    const char *lost;
    bool any = false;
    int count;

    wait_of_call = random_below(3) ? 0 : 300;
    how_of_call = ONE_OF(hows);
    place_of_call = random_below(2);
    count = pick_members(jobs, &lost, add_return);
    begin();
    ck_assert_str_eq(flat(run("return", NULL)), lost);
    for (int i = 0; i < count; i++) {
        struct job *job = jobs[i];

        if (!job)
            continue;
        any = true;
        if (strcmp(how_of_call, "suspect") == 0 && job->crashes < 0)
            job->crashes = 0;
        if (strcmp(how_of_call, "interrupted") == 0 && ++job->interrupts == 10) {
            job->interrupts = 0;
            job->attempts++;
        }
        if (wait_of_call == 0 && place_of_call) {
            job->state = READY;
            job->score = job->left;
        } else {
            back_to(job, wait_of_call);
        }
        model.counters[RETURNED]++;
    }
    if (any)
        model_leave_wake(&model);
}

static void add_bury(struct job *job)
{
    (void)job;
    arg(how_of_call);
    arg(error_of_call);
}

static void step_bury(void)
{
    static const char *const hows[] = { "ran", "crashed", "unrun" };
    struct job *jobs[3];
    const char *lost;
    int count;

    how_of_call = ONE_OF(hows);
    error_of_call = random_below(3) ? ERROR : "";
    count = pick_members(jobs, &lost, add_bury);
    begin();
    ck_assert_str_eq(flat(run("bury", NULL)), lost);
    for (int i = 0; i < count; i++) {
        if (!jobs[i])
            continue;
        if (strcmp(how_of_call, "unrun") != 0)
            count_attempt(jobs[i]);
        else if (*error_of_call)
            jobs[i]->error = jobs[i]->attempts;
        jobs[i]->state = DEAD;
        take_score(jobs[i], 0);
        model.counters[BURIED]++;
    }
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
    { step_purge, 1, "purge" },      { step_trim, 2, "trim" },
    { step_pause, 4, "pause" },      { step_eat, 5, "eat" },
    { step_reserve, 35, "reserve" }, { step_ack, 8, "ack" },
    { step_expire, 2, "expire" },    { step_touch, 4, "touch" },
    { step_release, 12, "release" }, { step_return, 14, "return" },
    { step_bury, 5, "bury" },
};

START_TEST(redis_holds_what_the_model_does)
{
    int sum = 0, taken[sizeof steps / sizeof *steps] = { 0 };
    bool trace = getenv("LATER_TRACE") != NULL;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        sum += steps[i].weight;
    for (int n = 0; n < STEPS; n++) {
        int pick = random_below(sum);
        size_t i = 0;

        for (; pick >= steps[i].weight; i++)
            pick -= steps[i].weight;
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
        ck_assert_msg(taken[i] > 0, "%s was never taken", steps[i].name);
    for (int i = 0; i < COUNTERS; i++)
        ck_assert_msg(model.counters[i] > 0, "counter %d never moved", i);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { redis_holds_what_the_model_does, NULL };
    const char *chosen = getenv("LATER_SEED");

    seed = chosen ? strtoull(chosen, NULL, 10) : 20240611;
    seed += seed == 0; /* xorshift stays at 0 */
    printf("# LATER_SEED=%llu\n", (unsigned long long)seed);
    return harness_main("model", tests);
}
