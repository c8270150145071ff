/* model.c: the state of a queue, and whether Redis has the same. */
#include "model.h"

#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const model_states[STATES] = { "ready", "delayed", "reserved", "dead" };
const char *const model_types[MODEL_TYPES] = { "bulk", "mail.*" };

static const char *const counters[COUNTERS] = {
    "pushed", "adopted", "duplicate", "replaced", "done",    "released", "returned", "buried",
    "kicked", "expired", "cancelled", "purged",   "trimmed", "lapsed",   "moved",
};

struct job *model_find(struct model *model, const char *id)
{
    for (size_t i = 0; i < model->count; i++) {
        if (!model->jobs[i].plain && strcmp(model->jobs[i].id, id) == 0)
            return &model->jobs[i];
    }
    return NULL;
}

struct job *model_find_plain(struct model *model, const char *document, enum state state)
{
    for (size_t i = 0; i < model->count; i++) {
        struct job *job = &model->jobs[i];

        if (job->plain && job->state == state && strcmp(job->id, document) == 0)
            return job;
    }
    return NULL;
}

struct job *model_add(struct model *model, const char *id, const char *document)
{
    struct job *job = &model->jobs[model->count++];

    ck_assert_uint_lt(model->count, MODEL_JOBS);
    *job = (struct job){ .crashes = -1, .error = -1 };
    snprintf(job->id, sizeof job->id, "%s", id);
    snprintf(job->document, sizeof job->document, "%s", document);
    return job;
}

void model_drop(struct model *model, struct job *job)
{
    *job = model->jobs[--model->count];
}

struct front *model_front(struct model *model, const struct job *job)
{
    return &model->fronts[job->priority + MODEL_RANKS / 2];
}

int model_beside(const struct model *model, const struct job *job)
{
    int count = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct job *other = &model->jobs[i];

        count += other->placed && other->state == READY && other->group == job->group &&
                 other->priority == job->priority;
    }
    return count;
}

const char *model_member(const struct job *job)
{
    return job->state == RESERVED ? member(job->token, job->id) : job->id;
}

/* Sorts like a sorted set in Redis: by score, then by the member's bytes. */
static int by_score(const void *a, const void *b)
{
    const struct job *one = *(struct job *const *)a, *other = *(struct job *const *)b;

    if (one->score != other->score)
        return one->score < other->score ? -1 : 1;
    return strcmp(model_member(one), model_member(other));
}

size_t model_sorted(struct model *model, enum state state, struct job **out)
{
    size_t count = 0;

    for (size_t i = 0; i < model->count; i++) {
        if (model->jobs[i].state == state)
            out[count++] = &model->jobs[i];
    }
    if (count > 0)
        qsort(out, count, sizeof *out, by_score);
    return count;
}

void model_adopt(struct model *model, struct job *job)
{
    const char *sha = ask("EVAL %s 0 %s", "return redis.sha1hex(ARGV[1])", job->document)->str;
    const char *id = sha;

    for (int n = 2; model_find(model, id); n++)
        id = text("%s-%d", sha, n);
    snprintf(job->id, sizeof job->id, "%s", id);
    job->plain = false;
    model->counters[ADOPTED]++;
}

void model_leave_wake(struct model *model)
{
    struct job *ready[MODEL_JOBS];

    model->wake = model_sorted(model, READY, ready) > 0 && !model->paused;
}

/* ---- lines, and pauses of types */

bool model_in_line(const struct job *job)
{
    return job->state == DELAYED && *job->waits && *job->waits != 't' && job->told == job->score;
}

bool model_is_aside(const struct job *job, int type)
{
    return job->state == DELAYED && *job->waits == 't' && job->told == job->score &&
           strcmp(job->waits + 2, model_types[type]) == 0;
}

struct aside *model_aside(struct pause *pause, const char *id)
{
    for (size_t i = 0; i < pause->count; i++) {
        if (strcmp(pause->aside[i].id, id) == 0)
            return &pause->aside[i];
    }
    return NULL;
}

/* ---- ids that stay taken */

struct unique *model_unique(struct model *model, const char *id)
{
    for (size_t i = 0; i < model->unique_count; i++) {
        if (strcmp(model->uniques[i].id, id) == 0)
            return &model->uniques[i];
    }
    return NULL;
}

bool model_taken(struct model *model, const char *id)
{
    const struct unique *unique = model_unique(model, id);

    return unique && unique->known && unique->score >= MODEL_PAST;
}

void model_unique_set(struct model *model, const char *id, double score)
{
    struct unique *unique = model_unique(model, id);

    if (!unique) {
        ck_assert_uint_lt(model->unique_count, MODEL_JOBS);
        unique = &model->uniques[model->unique_count++];
        snprintf(unique->id, sizeof unique->id, "%s", id);
    }
    unique->score = score;
    unique->known = true;
}

void model_unique_forget(struct model *model, const char *id)
{
    struct unique *unique = model_unique(model, id);

    if (unique)
        unique->known = false;
}

void model_unique_drop(struct model *model, const char *id)
{
    struct unique *unique = model_unique(model, id);

    if (unique)
        *unique = model->uniques[--model->unique_count];
}

void model_unique_trim(struct model *model, size_t most)
{
    while (most-- > 0) {
        struct unique *first = NULL;

        for (size_t i = 0; i < model->unique_count; i++) {
            struct unique *one = &model->uniques[i];
            bool passed = one->score < MODEL_PAST;

            if (passed && (!first || one->score < first->score ||
                           (one->score == first->score && strcmp(one->id, first->id) < 0)))
                first = one;
        }
        if (first)
            *first = model->uniques[--model->unique_count];
    }
}

/* ---- Redis has the same */

static void compare_unique(struct model *model)
{
    const redisReply *set = ask("ZRANGE %s 0 -1 WITHSCORES", key("unique"));

    ck_assert_uint_eq(set->elements, 2 * model->unique_count);
    for (size_t i = 0; i < set->elements; i += 2) {
        const struct unique *unique = model_unique(model, set->element[i]->str);

        ck_assert_msg(unique != NULL, "unique has %s", set->element[i]->str);
        ck_assert_double_eq(strtod(set->element[i + 1]->str, NULL), unique->score);
    }
}

static void compare_sets(struct model *model)
{
    for (enum state state = READY; state < STATES; state++) {
        if (state == RESERVED)
            continue;
        struct job *jobs[MODEL_JOBS];
        size_t count = model_sorted(model, state, jobs);
        const redisReply *set = ask("ZRANGE %s 0 -1 WITHSCORES", key(model_states[state]));

        ck_assert_uint_eq(set->elements, 2 * count);
        for (size_t i = 0; i < count; i++) {
            ck_assert_str_eq(set->element[2 * i]->str, model_member(jobs[i]));
            ck_assert_double_eq(strtod(set->element[2 * i + 1]->str, NULL), jobs[i]->score);
        }
    }
}

/* What each token holds, and until when. */
static void compare_reserved(struct model *model)
{
    const redisReply *tokens = ask("ZRANGE %s 0 -1 WITHSCORES", key("reserved"));
    size_t held = 0, expected = 0;

    for (size_t t = 0; t < tokens->elements; t += 2) {
        const char *token = tokens->element[t]->str;
        const redisReply *set = ask("ZRANGE %s 0 -1 WITHSCORES", held_by(token));

        ck_assert_uint_gt(set->elements, 0);
        for (size_t i = 0; i < set->elements; i += 2, held++) {
            const struct job *job = model_find(model, set->element[i]->str);

            ck_assert(job && job->state == RESERVED && job->token == token[0]);
            ck_assert_double_eq(strtod(set->element[i + 1]->str, NULL), job->left);
            ck_assert_double_eq(strtod(tokens->element[t + 1]->str, NULL), job->score);
        }
    }
    for (size_t i = 0; i < model->count; i++)
        expected += model->jobs[i].state == RESERVED;
    ck_assert_uint_eq(held, expected);
    ck_assert_int_eq(run("size", NULL)->element[2]->integer, (long long)expected);
}

/* `fair` counts the jobs that are ready, and has no group without. */
static void compare_fair(struct model *model)
{
    const redisReply *fair = ask("HGETALL %s", key("fair"));
    int counted = 0, ready = 0;

    for (size_t i = 0; i < fair->elements; i += 2) {
        const char *field = fair->element[i]->str, *group = strchr(field, ' ');
        struct job like = { .priority = atoi(field), .group = group ? group[1] : '\0' };
        int count = group ? model_beside(model, &like) : 0;

        if (!group)
            continue;
        ck_assert_int_eq(atoi(strchr(fair->element[i + 1]->str, ' ')), count);
        ck_assert_int_gt(count, 0);
        counted += count;
    }
    for (size_t i = 0; i < model->count; i++)
        ready += model->jobs[i].state == READY;
    ck_assert_int_eq(counted, ready);
    ck_assert(ready > 0 || fair->elements == 0);
}

/* The record of an id that stays taken, or "". */
static const char *rest_of(struct model *model, const char *id)
{
    const struct unique *unique = model_unique(model, id);

    return unique && unique->known ? text("t=%.6f\n", unique->score) : "";
}

/* Is this the error of that attempt? */
static bool error_fits(const char *error, int attempt)
{
    const char *told = strstr(error, ",\"attempt\":");

    return attempt < 0 ? !*error : told && atoi(told + 11) == attempt;
}

static bool number_fits(const char *record, const char *tag, int number, int none)
{
    return strcmp(value_in(record, tag), number == none ? "" : text("%d", number)) == 0;
}

static bool group_fits(const struct job *job, const char *record)
{
    const char *group = strchr(value_in(record, "q"), ' ');

    return !job->group || (group && group[1] == job->group && !group[2]);
}

/* Does tag l say so? */
static bool wait_fits(const struct job *job, const char *line)
{
    char *rest;

    if (!*job->waits)
        return !*line;
    return strtod(line, &rest) == job->told && *rest == ' ' && strcmp(rest + 1, job->waits) == 0;
}

static bool record_fits(const struct job *job, const char *record)
{
    return group_fits(job, record) && number_fits(record, "a", job->attempts, 0) &&
           number_fits(record, "c", job->crashes, -1) &&
           number_fits(record, "i", job->interrupts, 0) &&
           number_fits(record, "p", job->priority, 0) && atoi(value_in(record, "u")) == job->stay &&
           error_fits(value_in(record, "e"), job->error) && !*value_in(record, "t") &&
           wait_fits(job, value_in(record, "l"));
}

/* The value of a field of an HGETALL, or "". */
static const char *value_of(const redisReply *fields, const char *name)
{
    for (size_t i = 0; i < fields->elements; i += 2) {
        if (strcmp(fields->element[i]->str, name) == 0)
            return fields->element[i + 1]->str;
    }
    return "";
}

static void compare_records(struct model *model)
{
    const redisReply *fields = ask("HGETALL %s", key("records"));

    for (size_t i = 0; i < fields->elements; i += 2) {
        const char *id = fields->element[i]->str, *record = fields->element[i + 1]->str;
        const struct job *job = model_find(model, id);

        ck_assert_msg(*record != '\0', "an empty record of %s", id);
        if (!job)
            ck_assert_str_eq(record, rest_of(model, id));
    }
    for (size_t i = 0; i < model->count; i++) {
        const struct job *job = &model->jobs[i];

        const char *record = job->plain ? "" : value_of(fields, job->id);

        ck_assert_msg(job->plain || record_fits(job, record), "of %s: %s", job->id, record);
    }
    for (size_t i = 0; i < model->unique_count; i++) {
        const char *id = model->uniques[i].id;

        if (!model_find(model, id))
            ck_assert_str_eq(value_of(fields, id), rest_of(model, id));
    }
}

static void compare_jobs(struct model *model)
{
    const redisReply *fields = ask("HGETALL %s", key("jobs"));
    size_t known = 0;

    for (size_t i = 0; i < model->count; i++)
        known += !model->jobs[i].plain;
    ck_assert_uint_eq(fields->elements, 2 * known);
    for (size_t i = 0; i < fields->elements; i += 2) {
        const struct job *job = model_find(model, fields->element[i]->str);

        ck_assert_ptr_nonnull(job);
        ck_assert_str_eq(fields->element[i + 1]->str, job->document);
    }
}

static void compare_counters(struct model *model)
{
    const redisReply *stats = ask("HGETALL %s", key("stats"));
    long long found[COUNTERS] = { 0 };

    for (size_t i = 0; i < stats->elements; i += 2) {
        for (int n = 0; n < COUNTERS; n++) {
            if (strcmp(stats->element[i]->str, counters[n]) == 0)
                found[n] = atoll(stats->element[i + 1]->str);
        }
        ck_assert_str_ne(stats->element[i + 1]->str, "0"); /* no counter before its first */
    }
    for (int i = 0; i < COUNTERS; i++)
        ck_assert_msg(found[i] == model->counters[i], "%s is %lld, not %lld", counters[i], found[i],
                      model->counters[i]);
}

static void compare_aside(struct pause *pause, const char *type)
{
    const redisReply *set = ask("ZRANGE %s 0 -1 WITHSCORES", key(text("aside:%s", type)));

    ck_assert_uint_eq(set->elements, 2 * pause->count);
    for (size_t i = 0; i < set->elements; i += 2) {
        const struct aside *aside = model_aside(pause, set->element[i]->str);
        double place = strtod(set->element[i + 1]->str, NULL);

        ck_assert_msg(aside != NULL, "%s is kept aside", set->element[i]->str);
        ck_assert_msg(fabs(place - aside->place) < DIGIT, "%s had the place %f, not %f", aside->id,
                      aside->place, place);
    }
}

/* What is laid over the queue, and how often `stats` says that something is. */
static void compare_pauses(struct model *model)
{
    int laid = 0;

    for (int i = 0; i < MODEL_TYPES; i++) {
        struct pause *pause = &model->pauses[i];
        const char *found = field("overrides", text("type:%s", model_types[i]));
        const char *until = strchr(found, ' ');

        ck_assert_int_eq(*found != '\0', pause->laid);
        ck_assert(!pause->laid || (until && strtod(until, NULL) == pause->until));
        laid += pause->laid;
        compare_aside(pause, model_types[i]);
    }
    ck_assert_str_eq(field("stats", "overrides"), laid ? text("%d", laid) : "");
}

void model_compare(struct model *model)
{
    compare_sets(model);
    compare_reserved(model);
    compare_jobs(model);
    compare_records(model);
    compare_unique(model);
    compare_counters(model);
    compare_pauses(model);
    if (model->groups)
        compare_fair(model);
    ck_assert_int_eq(size_of("paused"), model->paused);
    ck_assert_int_eq(ask("LLEN %s", key("wake"))->integer, model->wake);
}
