/* model_settles.c: reserve, and the verbs that settle. */
#include "model_steps.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

void renew_lease(char token, double until)
{
    for (size_t i = 0; i < model.count; i++) {
        if (model.jobs[i].state == RESERVED && model.jobs[i].token == token)
            model.jobs[i].score = until;
    }
}

static bool holds_something(char token)
{
    for (size_t i = 0; i < model.count; i++) {
        if (model.jobs[i].state == RESERVED && model.jobs[i].token == token)
            return true;
    }
    return false;
}

/* The first ready jobs, at most `limit`: what is handed out. */
static size_t to_hand_out(struct job *ready[MODEL_JOBS], size_t limit)
{
    size_t count = model_sorted(&model, READY, ready);

    return model.paused ? 0 : count < limit ? count : limit;
}

/* They were, to the token. */
static void hand_out(const redisReply *reply, struct job *const ready[], size_t count, char token)
{
    for (size_t i = 0; i < count; i++) {
        struct job *job = ready[i];
        redisReply **told = &reply->element[1 + 3 * i];

        if (job->plain)
            model_adopt(&model, job);
        ck_assert_str_eq(told[0]->str, job->id);
        ck_assert_str_eq(told[1]->str ? told[1]->str : "", field("records", job->id));
        ck_assert_str_eq(told[2]->str, job->document);
        leave_place(job);
        job->left = job->score;
        job->state = RESERVED;
        job->token = token;
        take_score(job, 30);
    }
    model_leave_wake(&model);
}

/* After the present and the score of the only job, if any are left. */
static void told_left(const char *head, size_t left)
{
    const char *said = strchr(strchr(head, ' ') + 1, ' ');

    ck_assert_uint_eq(said ? strtoul(said, NULL, 10) : 0, left);
}

/* Sometimes other queues come first: one that has no wake, or one that has. Returns what is told.
 */
static const char *let_others_ahead(void)
{
    int how = random_below(8);

    if (how > 1)
        return NULL;
    go_ahead(key("none"));
    if (how == 0)
        go_ahead(key("wake")); /* another queue's could not be told from it */
    return how == 0 && size_of("wake") ? " ahead 2" : "";
}

void step_reserve(void)
{
    struct job *ready[MODEL_JOBS];
    char token = (char)('a' + random_below(26));
    size_t limit = 1 + (size_t)random_below(5);
    size_t count = to_hand_out(ready, limit);
    bool idle = random_below(2);
    const redisReply *reply;
    const char *ahead;

    if (holds_something(token)) {
        ck_assert_mem_eq(
            run_error("reserve", text("%.16s", member(token, "")), "30", "1", "9", "0", NULL),
            "ERR reserve: ", 13);
        return;
    }
    ahead = let_others_ahead();
    begin();
    reply = idle ? reserve_idle(token, (int)limit) : reserve(token, (int)limit);
    if (ahead && *ahead) {
        ck_assert_str_eq(strchr(reply->element[0]->str, ' '), ahead);
        count = 0;
    } else if (idle && count > 0 && model.singly > strtod(reply->element[0]->str, NULL)) {
        count = 1;
        told_left(reply->element[0]->str, to_hand_out(ready, MODEL_JOBS) - 1);
    }
    ck_assert_uint_eq(reply->elements, 1 + 3 * count);
    hand_out(reply, ready, count, token);
}

/* Some members, mostly of jobs that one token holds: fills `jobs`, NULL for a LOST one, and returns
 * how many. Each job comes once. The arguments are added by `add`. */
static int pick_members(struct job *jobs[3], const char **lost, void (*add)(struct job *job))
{
    struct job *reserved[MODEL_JOBS];
    size_t held = model_sorted(&model, RESERVED, reserved);
    int count = 1 + random_below(3);
    char token = held > 0 ? reserved[random_below((int)held)]->token : '0';

    *lost = "";
    for (int i = 0; i < count; i++) {
        struct job *job = held > 0 ? reserved[random_below((int)held)] : NULL;

        for (int n = 0; n < i; n++)
            job = jobs[n] == job ? NULL : job;
        if (job && (job->token != token || random_below(8) == 0))
            job = NULL;
        jobs[i] = job;
        if (!job)
            *lost = text("%s%s%d", *lost, **lost ? " " : "", i + 1);
        arg(member(token, job ? job->id : "lost"));
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

/* Jobs have ended: the ids that asked for it stay taken. */
static void stay_taken(char ids[][64], const int stays[], int count, double before)
{
    size_t kept = 0;

    for (int i = 0; i < count; i++)
        kept += stays[i] > 0;
    model_unique_trim(&model, 2 * kept);
    for (int i = 0; i < count; i++) {
        double until = stays[i] > 0 ? score("unique", ids[i]) : 0;

        if (stays[i] == 0)
            continue;
        ck_assert_double_ge(until, before + stays[i] - 1e-6);
        ck_assert_double_le(until, now() + stays[i] + 0.001);
        model_unique_set(&model, ids[i], until);
    }
}

/* Jobs, some of them NULL, are done with. */
static void end_jobs(struct job *const jobs[], int count, enum counter counter, double before)
{
    char ids[MODEL_JOBS][64] = { "" };
    int stays[MODEL_JOBS] = { 0 };

    for (int i = 0; i < count; i++) {
        if (!jobs[i])
            continue;
        memcpy(ids[i], jobs[i]->id, sizeof ids[i]);
        stays[i] = jobs[i]->stay;
    }
    for (int i = 0; i < count; i++) {
        if (*ids[i])
            drop(model_find(&model, ids[i]), counter);
    }
    stay_taken(ids, stays, count, before);
}

static void step_end(const char *verb, enum counter counter)
{
    struct job *jobs[3];
    const char *lost;
    int count = pick_members(jobs, &lost, add_nothing);
    double before = now();

    ck_assert_str_eq(flat(run(verb, NULL)), lost);
    end_jobs(jobs, count, counter, before);
}

/* All that a token holds, or another number. */
void step_ack_all(void)
{
    struct job *jobs[MODEL_JOBS];
    size_t count = model_sorted(&model, RESERVED, jobs), held = 0;
    char token = count > 0 ? jobs[random_below((int)count)]->token : '0';
    char whole[17] = "";
    int told;
    double before = now();

    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->token == token)
            jobs[held++] = jobs[i];
    }
    told = (int)held + (random_below(4) == 0 ? 1 - 2 * random_below(2) : 0);
    told = told < 1 ? 1 : told;
    memset(whole, token, 16);
    hold_by(whole);
    argf("%d", told);
    ck_assert_str_eq(flat(run("ack_all", NULL)), told == (int)held ? "" : "IDS");
    if (told == (int)held)
        end_jobs(jobs, (int)held, DONE, before);
}

/* ack, and then reserve: mostly of one job. */
void step_step(void)
{
    struct job *jobs[3], *ready[MODEL_JOBS];
    char token = (char)('a' + random_below(26)), whole[17] = "";
    size_t limit = random_below(3) > 0 ? 1 : 2 + (size_t)random_below(4), handed;
    const redisReply *reply;
    const char *lost, *ahead;
    double before = now();
    int count;

    memset(whole, token, 16);
    arg(whole);
    arg("30");
    argf("%zu", limit);
    arg("262144");
    arg("");
    arg("");
    count = pick_members(jobs, &lost, add_nothing);
    if (holds_something(token)) {
        ck_assert_mem_eq(run_error("step", NULL), "ERR reserve: ", 13);
        return;
    }
    ahead = let_others_ahead();
    begin();
    reply = run("step", NULL);
    end_jobs(jobs, count, DONE, before);
    handed = ahead && *ahead ? 0 : to_hand_out(ready, limit);
    ck_assert(!ahead || !*ahead || strstr(reply->element[0]->str, ahead));
    ck_assert_uint_eq(reply->elements, 1 + 3 * handed + (*lost != '\0'));
    if (*lost)
        ck_assert_str_eq(flat(reply->element[reply->elements - 1]), lost);
    hand_out(reply, ready, handed, token);
}

void step_ack(void)
{
    step_end("ack", DONE);
}

static void add_left(struct job *job)
{
    (void)job;
    arg("null");
    arg("0");
    arg("");
}

/* Without results, and none is kept: as by ack. */
void step_finish_all(void)
{
    struct job *jobs[3];
    const char *lost;
    int count;
    double before = now();

    arg("0");
    arg("0");
    count = pick_members(jobs, &lost, add_left);
    ck_assert_str_eq(flat(run("finish_all", NULL)), lost);
    end_jobs(jobs, count, DONE, before);
}

void step_expire(void)
{
    step_end("expire", EXPIRED);
}

void step_touch(void)
{
    struct job *jobs[3];
    const char *lost;
    int count;

    arg("500");
    count = pick_members(jobs, &lost, add_nothing);
    begin();
    ck_assert_str_eq(flat(run("touch", NULL)), lost);
    for (int i = 0; i < count; i++) {
        if (!jobs[i])
            continue;
        take_score(jobs[i], 500);
        renew_lease(jobs[i]->token, jobs[i]->score);
    }
}

static int wait_of_call, type_of_call;
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

void step_release(void)
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

static void add_return(struct job *job)
{
    (void)job;
    argf("%d", wait_of_call);
    arg(how_of_call);
}

/* One has come back, whatever the call said of it. */
static void come_back(struct job *job)
{
    bool line = strncmp(how_of_call, "line:", 5) == 0;

    if (strcmp(how_of_call, "suspect") == 0 && job->crashes < 0)
        job->crashes = 0;
    if (strcmp(how_of_call, "interrupted") == 0 && ++job->interrupts == 10) {
        job->interrupts = 0;
        job->attempts++;
    }
    if (strncmp(how_of_call, "type:", 5) == 0) {
        set_aside(job, type_of_call);
    } else if (line) {
        job->state = DELAYED;
        job->score = job->told = LINE_DUE;
        strcpy(job->waits, how_of_call + 5);
    } else if (wait_of_call == 0) {
        place_back(job, job->left);
    } else {
        back_to(job, wait_of_call);
    }
    model.counters[RETURNED]++;
}

static void give_back(void)
{
    struct job *jobs[3];
    const char *lost;
    bool any = false;
    int count = pick_members(jobs, &lost, add_return);

    begin();
    ck_assert_str_eq(flat(run("return", NULL)), lost);
    for (int i = 0; i < count; i++) {
        if (jobs[i])
            come_back(jobs[i]);
        any = any || jobs[i];
    }
    if (any)
        model_leave_wake(&model);
    if (any && wait_of_call == 0 && strcmp(how_of_call, "held") == 0) {
        model.singly = (double)stat_of("singly");
        ck_assert_double_ge(model.singly, now() + 5);
        ck_assert_double_le(model.singly, now() + 11);
    }
}

void step_return(void)
{
    static const char *const hows[] = { "held", "suspect", "interrupted", "interrupted" };
    bool line = model.groups && random_below(3) == 0;

    wait_of_call = line ? LINE_DUE : random_below(3) ? 0 : 300;
    how_of_call = line ? "line:p n" : ONE_OF(hows);
    give_back();
}

/* Their type is paused, or was. */
void step_aside(void)
{
    wait_of_call = random_below(2) ? 0 : 300;
    type_of_call = random_below(MODEL_TYPES);
    how_of_call = text("type:%s", model_types[type_of_call]);
    give_back();
}

static void add_bury(struct job *job)
{
    (void)job;
    arg(how_of_call);
    arg(error_of_call);
}

void step_bury(void)
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
