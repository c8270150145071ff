/*
 * model_aside.c: pauses of types (doc/protocol.md, "Overrides"): they are laid over the queue, keep
 * jobs aside that are given back, and bring them back to their places when they have ended.
 */
#include "model_steps.h"

#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LASTS 10000 /* seconds; longer than the walk */

static bool pause_lasts(const struct pause *pause)
{
    return pause->laid && (pause->until == 0 || pause->until > now());
}

/* It keeps the place that it had first, however often it looks again meanwhile; what an earlier job
 * of that id had is not its place. */
static void keep_place(struct pause *pause, const struct job *job, bool again)
{
    struct aside *aside = model_aside(pause, job->id);

    if (aside && again)
        return;
    if (!aside) {
        ck_assert_uint_lt(pause->count, MODEL_JOBS);
        aside = &pause->aside[pause->count++];
    }
    strcpy(aside->id, job->id);
    aside->place = job->left + job->priority * 1e6;
}

void set_aside(struct job *job, int type)
{
    struct pause *pause = &model.pauses[type];
    const char *wait = text("t %s", model_types[type]);

    if (!pause_lasts(pause)) {
        place_back(job, job->left);
        return;
    }
    keep_place(pause, job, strcmp(job->waits, wait) == 0);
    job->state = DELAYED;
    if (pause->until == 0) {
        take_score(job, 86400);
    } else {
        job->score = score("delayed", job->id);
        ck_assert_double_eq_tol(job->score, pause->until + 60, DIGIT);
    }
    job->told = job->score;
    strcpy(job->waits, wait);
}

/* ---- it is laid over the queue, or ends */

/* What Redis has as its end after a call that began then. */
static void take_until(struct pause *pause, const char *name, const char *ms, double began)
{
    const char *until = strchr(field("overrides", name), ' ');
    double after = atof(ms) / 1000;

    ck_assert_ptr_nonnull(until);
    pause->until = atof(until);
    if (strcmp(ms, "0") == 0)
        ck_assert_double_eq(pause->until, 0);
    else if (*ms)
        ck_assert(pause->until > began + after - 0.001 && pause->until < now() + after + 0.001);
    else
        ck_assert(pause->until > began - 0.01 && pause->until <= now());
}

void step_lay(void)
{
    static const char *const times[] = { "", "0", "0", "10000000" }; /* LASTS */
    int type = random_below(MODEL_TYPES);
    const char *ms = ONE_OF(times), *name = text("type:%s", model_types[type]);
    struct pause *pause = &model.pauses[type];
    bool lasts = pause_lasts(pause);
    bool same = *ms ? lasts && pause->until == 0 && atoi(ms) == 0 : !lasts;
    double began = now();

    if (pause->laid && random_below(6) == 0) { /* its time passes */
        pause->until = 1000;
        ask("HSET %s %s %s", key("overrides"), name, "900.000 1000.000 ann slow");
        return;
    }
    ck_assert_str_eq(flat(run("override", name, ms, "ann", "slow", NULL)), same ? "0" : "1");
    if (same)
        return;
    pause->laid = true;
    take_until(pause, name, ms, began);
}

/* ---- who serves the queue heeds it */

/* Those that still wait for the end of it come back. */
static void end_pause(int type, bool *any)
{
    struct pause *pause = &model.pauses[type];

    for (size_t i = 0; i < pause->count; i++) {
        struct job *job = model_find(&model, pause->aside[i].id);
        double left = job ? pause->aside[i].place - job->priority * 1e6 : 0;

        if (!job || !model_is_aside(job, type))
            continue;
        place_back(job, left);
        ck_assert_double_eq_tol(score("ready", job->id), job->score, DIGIT);
        job->score = score("ready", job->id);
        *any = true;
    }
    *pause = (struct pause){ 0 };
}

/* Does the answer say of it how long it lasts? */
static void check_told(const redisReply *reply, int type)
{
    const struct pause *pause = &model.pauses[type];
    const char *name = text("type:%s", model_types[type]), *left = NULL;

    for (size_t i = 1; i + 1 < reply->elements; i += 2) {
        if (strcmp(reply->element[i]->str, name) == 0)
            left = reply->element[i + 1]->str;
    }
    ck_assert_msg(left != NULL, "%s is not told", name);
    if (pause->until == 0)
        ck_assert_str_eq(left, "0");
    else
        ck_assert(atof(left) > pause->until - now() - 0.001 && atof(left) <= LASTS);
}

void step_heed(void)
{
    const redisReply *reply;
    size_t lasting = 0;
    bool any = false;

    begin();
    reply = run("heed", NULL);
    ck_assert_int_eq(reply->element[0]->integer, 0);
    for (int type = 0; type < MODEL_TYPES; type++) {
        if (pause_lasts(&model.pauses[type])) {
            check_told(reply, type);
            lasting++;
        } else if (model.pauses[type].laid) {
            end_pause(type, &any);
        }
    }
    ck_assert_uint_eq(reply->elements, 1 + 2 * lasting);
    if (any)
        model_leave_wake(&model);
}
