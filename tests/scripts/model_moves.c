/* model_moves.c: push, migrate, kick and other moves of jobs that are not reserved. */
#include "model_steps.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAINS 3

static int documents; /* made so far: each is another */

static void renew(struct job *job, const char *document, int priority, int stay, bool later)
{
    char id[sizeof job->id];

    if (job->placed)
        model_front(&model, job)->leaving[job->group - 'A']++;

    memcpy(id, job->id, sizeof id);
    *job = (struct job){ .crashes = -1, .error = -1 };
    memcpy(job->id, id, sizeof id);
    snprintf(job->document, sizeof job->document, "%s", document);
    job->priority = priority;
    job->stay = stay;
    job->state = later ? DELAYED : READY;
}

/* One job of a push: returns the answer; *placed says whether it goes into a set. */
static const char *push_one(const char *id, bool replace, bool *placed)
{
    struct job *job = model_find(&model, id);

    *placed = true;
    if (!job && model_taken(&model, id)) {
        *placed = false;
        model.counters[DUPLICATE]++;
        return "EXISTS ended";
    }
    if (!job) {
        model_unique_forget(&model, id);
        model.counters[PUSHED]++;
        model_add(&model, id, "");
        return "PUSHED";
    }
    if (replace && (job->state == READY || job->state == DELAYED)) {
        model.counters[REPLACED]++;
        return "REPLACED";
    }
    *placed = false;
    model.counters[DUPLICATE]++;
    return text("EXISTS %s", model_states[job->state]);
}

void step_push(void)
{
    static const char *const whens[] = { "", "", "0", "+1000" };
    static const int priorities[] = { 0, 0, 0, 1, 7, -1, 100, -100 }, stays[] = { 0, 0, 500, 900 };
    const char *ids[4], *expected = "";
    bool later[4], placed[4];
    bool replace = random_below(3) == 0, any = false;
    int count = 1 + random_below(4), first = model.groups ? random_below(IDS) : 0;
    const char *answer;

    begin();
    arg("0");
    arg(replace ? "replace" : "new");
    for (int i = 0; i < count; i++) {
        const char *when = ONE_OF(whens), *document = text("{\"v\":%d}", ++documents);
        int priority = ONE_OF(priorities), stay = ONE_OF(stays);
        char group = model.groups ? (char)('A' + random_below(MODEL_GROUPS)) : '\0';

        ids[i] = text("j%d", model.groups ? (first + i) % IDS : random_below(IDS));
        later[i] = *when == '+';
        expected =
            text("%s%s%s", expected, i > 0 ? " " : "", push_one(ids[i], replace, &placed[i]));
        for (int n = 0; placed[i] && n < i; n++) /* of equal ids the last one stays */
            placed[n] = placed[n] && strcmp(ids[n], ids[i]) != 0;
        if (placed[i])
            renew(model_find(&model, ids[i]), document, priority, stay, later[i]);
        if (placed[i] && group)
            model_find(&model, ids[i])->group = group;
        any = any || placed[i];
        arg(ids[i]);
        arg(when);
        arg(text("%d%s%s", priority, stay ? text("/%d", stay) : "",
                 group ? text("@%c", group) : ""));
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
void step_plain(void)
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

/* The time of an id that is taken passes. */
void step_free(void)
{
    struct unique *unique;

    if (model.unique_count == 0)
        return;
    unique = &model.uniques[random_below((int)model.unique_count)];
    if (unique->score < MODEL_PAST)
        return;
    unique->score = 1000 + random_below(1000);
    if (unique->known)
        note("t", unique->id, text("%.6f", unique->score));
    ask("ZADD %s %s %s", key("unique"), text("%.0f", unique->score), unique->id);
}

/* Time passes: a delayed job becomes due, or a lease runs out. */
void step_time(void)
{
    struct job *jobs[MODEL_JOBS];
    enum state state = random_below(2) ? DELAYED : RESERVED;
    size_t count = model_sorted(&model, state, jobs);

    if (count == 0)
        return;
    struct job *job = jobs[random_below((int)count)];
    double past = 1000 + random_below(1000);

    if (state == RESERVED) { /* of all that its token holds */
        ask("ZADD %s %s %s", key("reserved"), text("%.0f", past), text("%.16s", model_member(job)));
        renew_lease(job->token, past);
        return;
    }
    job->score = past;
    ask("ZADD %s %s %s", key(model_states[state]), text("%.0f", job->score), model_member(job));
}

/* In the order that they had in ready. */
static int by_place(const void *a, const void *b)
{
    const struct job *one = *(struct job *const *)a, *other = *(struct job *const *)b;

    if (one->left != other->left)
        return one->left < other->left ? -1 : 1;
    return strcmp(one->id, other->id);
}

static size_t due_first(enum state state, struct job **out, int limit)
{
    size_t count = model_sorted(&model, state, out), due = 0;

    while (due < count && due < (size_t)limit && out[due]->score < now())
        due++;
    return due;
}

/* The jobs of one token whose lease has run out go back, in their order. */
static void step_lapse(const char *token)
{
    struct job *held[MODEL_JOBS];
    size_t count = 0;

    for (size_t i = 0; i < model.count; i++) {
        if (model.jobs[i].state == RESERVED && model.jobs[i].token == token[0])
            held[count++] = &model.jobs[i];
    }
    qsort(held, count, sizeof *held, by_place);
    hold_by(token);
    ck_assert_int_eq(run("lapse", random_below(2) ? "0" : "4000000000", ERROR, NULL)->integer,
                     (long long)count);
    for (size_t i = 0; i < count; i++) {
        held[i]->state = READY;
        held[i]->interrupts = 0;
        held[i]->error = ++held[i]->attempts;
        take_score(held[i], 0);
    }
    model.counters[LAPSED] += (long long)count;
    model_leave_wake(&model);
}

void step_migrate(void)
{
    struct job *due[MODEL_JOBS];
    int limit = 1 + random_below(5);
    bool may_lapse = random_below(2);
    size_t promoted = due_first(DELAYED, due, limit);
    const redisReply *reply;

    begin();
    reply = run("migrate", text("%d", limit), NULL);
    ck_assert_int_eq(reply->element[0]->integer, (long long)promoted);
    for (size_t i = 0; i < promoted; i++) {
        if (due[i]->plain)
            model_adopt(&model, due[i]);
        due[i]->state = READY;
        if (model.groups)
            take_place(due[i], NAN);
        else
            due[i]->score -= due[i]->priority * 1e6;
    }
    model_unique_trim(&model, (size_t)limit);
    model_leave_wake(&model);
    for (size_t i = 6; may_lapse && i < reply->elements; i++) {
        begin();
        step_lapse(reply->element[i]->str);
    }
}

void step_kick(void)
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

void step_cancel(void)
{
    const char *id = any_id();
    struct job *job = model_find(&model, id);
    bool right = random_below(4) > 0;

    if (!job && model_find_plain(&model, id, READY) && model_find_plain(&model, id, DELAYED))
        return; /* two jobs of one name: which one is not said */
    if (!job)
        job = model_find_plain(&model, id, READY);
    if (!job)
        job = model_find_plain(&model, id, DELAYED);
    if (job && job->state == RESERVED && right)
        hold_by(text("%.16s", model_member(job)));
    if (!job && model_taken(&model, id)) {
        ck_assert_str_eq(flat(run("cancel", id, NULL)), "ended");
        model_unique_drop(&model, id);
        return;
    }
    if (!job || (job->state == RESERVED && !right)) {
        ck_assert_str_eq(flat(run("cancel", id, NULL)), "");
        return;
    }
    ck_assert_str_eq(flat(run("cancel", id, NULL)), model_states[job->state]);
    drop(job, CANCELLED);
}

/* Drops the first of a state. */
static void drop_first(enum state state, size_t count, enum counter counter)
{
    while (count-- > 0) {
        struct job *jobs[MODEL_JOBS];

        model_sorted(&model, state, jobs);
        drop(jobs[0], counter);
    }
}

void step_purge(void)
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

void step_trim(void)
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

void step_pause(void)
{
    bool pause = random_below(2);

    ck_assert_str_eq(flat(run(pause ? "pause" : "resume", NULL)),
                     model.paused != pause ? "1" : "0");
    model.paused = pause;
    if (!pause)
        model_leave_wake(&model);
}

/* A worker takes the wake, and is never seen again. */
void step_eat(void)
{
    ask("LPOP %s", key("wake"));
    model.wake = false;
}

/* A job that waits in a line is called. The line may have an older time than its record. */
void step_hasten(void)
{
    struct job *jobs[MODEL_JOBS], *job;
    size_t count = model_sorted(&model, DELAYED, jobs);
    const char *due = random_below(2) ? text("%d", LINE_DUE) : "1900000000";
    bool waits;

    if (count == 0)
        return;
    job = jobs[random_below((int)count)];
    waits = model_in_line(job);
    begin();
    ck_assert_int_eq(run("hasten", due, "500", job->id, NULL)->integer, waits && !model.paused);
    if (!waits)
        return;
    job->state = READY;
    take_place(job, 9e15);
    model_leave_wake(&model);
}

/* The time that somebody may name who does not know of the job's last one. */
static double wrong_time(const struct job *job)
{
    return *job->waits && job->told != job->score ? job->told : job->score - 1;
}

/* Jobs that wait in a line look for themselves later; any other that is named stays as it is, and
 * so does one whose time is not the one that is told. */
void step_put_off(void)
{
    struct job *jobs[MODEL_JOBS];
    size_t count = model_sorted(&model, DELAYED, jobs);
    size_t first = count ? (size_t)random_below((int)count) : 0;
    int put = 0;

    for (size_t i = first; i < count && i < first + 4; i++) {
        bool right = model_in_line(jobs[i]) && random_below(4) > 0;
        bool named = right || !*jobs[i]->waits; /* without a line its time is not enough */
        double later = LINE_DUE + random_below(1000) / 4.0;

        arg(jobs[i]->id);
        argf("%.6f", named ? jobs[i]->score : wrong_time(jobs[i]));
        argf("%.6f", later);
        if (!right)
            continue;
        jobs[i]->score = jobs[i]->told = later;
        put++;
    }
    ck_assert_int_eq(run("put_off", "nobody", "1", "2", NULL)->integer, put);
}

/* The place that a ready job leaves still counts where it takes the next one, as in a push that
 * replaces it. */
void step_reschedule(void)
{
    static const char *const whens[] = { "", "", "0", "+1000" };
    static const int priorities[] = { 0, 3, -100 };
    const char *id = any_id(), *when = ONE_OF(whens);
    struct job *job = model_find(&model, id);
    int priority = random_below(2) ? ONE_OF(priorities) : (job ? job->priority : 0);
    bool any = random_below(3) == 0, was_ready = job && job->state == READY;
    enum state state = job ? job->state : STATES;

    begin();
    ck_assert_str_eq(flat(run("reschedule", id, when, any ? "" : text("%d", priority), NULL)),
                     job ? model_states[state] : "");
    if (state != READY && state != DELAYED)
        return;
    if (job->placed)
        model_front(&model, job)->leaving[job->group - 'A']++;
    job->placed = false;
    if (*when && !was_ready)
        *job->waits = '\0';
    if (was_ready && !model.groups && !any)
        job->score -= (priority - job->priority) * 1e6;
    job->priority = any ? job->priority : priority;
    if (*when == '+' || (!*when && !was_ready))
        job->state = DELAYED;
    else
        job->state = READY;
    if (*when == '+' || (job->state == READY && (model.groups || !was_ready)))
        take_score(job, *when == '+' ? 1000 : 0);
    model_leave_wake(&model);
}

/* Asks for up to three jobs of a state, some with a score that they no longer have, and takes those
 * that go out of the model. Returns how many. */
static size_t move_out(enum state state, struct job *gone)
{
    struct job *jobs[MODEL_JOBS], *job;
    size_t all = model_sorted(&model, state, jobs), count = 0;
    size_t first = all ? (size_t)random_below((int)all) : 0;

    arg("move");
    arg(model_states[state]);
    arg("r");
    for (size_t i = first; i < all && i < first + 3; i++) {
        bool right = random_below(5) > 0;
        const char *is = ask("ZSCORE %s %s", key(model_states[state]), jobs[i]->id)->str;

        arg(jobs[i]->id);
        arg(!right ? "1.5" : random_below(2) ? is : "");
        if (right && !jobs[i]->stay)
            gone[count++] = *jobs[i];
    }
    ck_assert_str_eq(flat(run("act", NULL)), text("%zu", count));
    for (size_t i = 0; i < count; i++) { /* all get their names before the first goes */
        if (!gone[i].plain)
            continue;
        job = model_find_plain(&model, gone[i].id, state);
        model_adopt(&model, job);
        gone[i] = *job;
    }
    for (size_t i = 0; i < count; i++)
        drop(model_find(&model, gone[i].id), MOVED);
    return count;
}

/* Jobs leave for another queue, and the news of it comes back to this one: with all that they were.
 */
void step_move(void)
{
    static const enum state states[] = { READY, DELAYED, DEAD };
    enum state state = ONE_OF(states);
    struct job gone[3], *job;
    size_t count;
    const redisReply *news;

    begin();
    count = move_out(state, gone);
    news = ask("ZRANGE %s 0 -1", key("news"));
    ck_assert_uint_eq(news->elements, count);
    arg("r");
    for (size_t i = 0; i < count; i++)
        arg(news->element[i]->str);
    run("flow_hear", NULL);
    ask("DEL %s", key("news"));
    for (size_t i = 0; i < count; i++) {
        model.counters[PUSHED]++;
        job = model_add(&model, gone[i].id, gone[i].document);
        *job = gone[i];
        job->state = state == DEAD ? DEAD : DELAYED;
        job->placed = false;
        *job->waits = '\0';
        if (state == READY || (state == DELAYED && job->score < now()))
            take_score(job, 0);
        if (job->score == LINE_DUE) { /* it waits in no line any more */
            job->score++;
            ask("ZADD %s %s %s", key("delayed"), text("%.0f", job->score), job->id);
        }
    }
}
