/* tally.c: counts lost, unexpected, duplicated and recovered jobs. */
#include "tally.h"

#include "queue/conservation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 0.001 /* between our clock's reading and the push */
#define TOLD  5     /* offenders of each kind */

/* --- reading --- */

/* Makes room for one more of `size` bytes; returns it zeroed. Without memory a test may end. */
static void *more(void *list, size_t *count, size_t size)
{
    char **array = list, *grown;

    if ((*count & (*count - 1)) == 0) {
        grown = realloc(*array, (*count ? *count * 2 : 1) * size);
        if (!grown)
            abort();
        *array = grown;
    }
    grown = *array + *count * size;
    memset(grown, 0, size);
    ++*count;
    return grown;
}

static void read_push(struct tally *tally, const char *line)
{
    struct push *push = more(&tally->pushes, &tally->push_count, sizeof *push);

    if (sscanf(line, "%c%*s %47s %lf", &push->outcome, push->id, &push->due) < 2)
        tally->push_count--;
}

static void read_fault(struct tally *tally, const char *line)
{
    struct fault *fault = more(&tally->faults, &tally->fault_count, sizeof *fault);

    if (sscanf(line, "%lf %lf %63[^\n]", &fault->start, &fault->end, fault->what) != 3)
        tally->fault_count--;
}

/* An end carries all that its beginning does: the two are joined afterwards. */
static void read_run(struct tally *tally, const char *line)
{
    struct run *run = more(&tally->runs, &tally->run_count, sizeof *run);
    bool good;

    if (line[0] == 'B')
        good = sscanf(line, "B %47s %u %19s %lf %d", run->id, &run->attempt, run->token,
                      &run->start, &run->pid) == 5;
    else
        good = sscanf(line, "E %47s %u %19s %lf %lf %7s %d", run->id, &run->attempt, run->token,
                      &run->start, &run->end, run->result, &run->pid) == 7;
    if (!good)
        tally->run_count--;
}

static int read_lines(struct tally *tally, const char *path,
                      void (*fn)(struct tally *, const char *))
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    if (!file) {
        perror(path);
        return -1;
    }
    while (getline(&line, &room, file) > 0)
        fn(tally, line);
    free(line);
    fclose(file);
    return 0;
}

static int by_push(const void *a, const void *b)
{
    const struct push *left = a, *right = b;
    int order = strcmp(left->id, right->id);

    /* Of several tries at one id the best outcome is first: "ok", then "no", then "maybe". */
    return order ? order : right->outcome - left->outcome;
}

static int by_run(const void *a, const void *b)
{
    const struct run *left = a, *right = b;
    int order = strcmp(left->id, right->id);

    if (!order)
        order = (left->start > right->start) - (left->start < right->start);
    return order ? order : (left->end < right->end) - (left->end > right->end);
}

/* Sorts; joins each run's end (which sorts first) with its beginning; drops repeated pushes. */
static void order(struct tally *tally)
{
    size_t kept = 0;

    if (tally->push_count)
        qsort(tally->pushes, tally->push_count, sizeof *tally->pushes, by_push);
    if (tally->run_count)
        qsort(tally->runs, tally->run_count, sizeof *tally->runs, by_run);
    for (size_t i = 0; i < tally->run_count; i++) {
        const struct run *last = kept ? &tally->runs[kept - 1] : NULL;

        if (!last || strcmp(last->token, tally->runs[i].token) != 0 ||
            strcmp(last->id, tally->runs[i].id) != 0)
            tally->runs[kept++] = tally->runs[i];
    }
    tally->run_count = kept;
    kept = 0;
    for (size_t i = 0; i < tally->push_count; i++) {
        if (!kept || strcmp(tally->pushes[kept - 1].id, tally->pushes[i].id) != 0)
            tally->pushes[kept++] = tally->pushes[i];
    }
    tally->push_count = kept;
}

/* --- finding --- */

const struct run *tally_first(const struct tally *tally, const char *id)
{
    size_t low = 0, high = tally->run_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(tally->runs[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tally->run_count && strcmp(tally->runs[low].id, id) == 0 ? &tally->runs[low]
                                                                          : NULL;
}

const struct run *tally_next(const struct tally *tally, const struct run *run)
{
    const struct run *next = run + 1;

    return next < tally->runs + tally->run_count && strcmp(next->id, run->id) == 0 ? next : NULL;
}

static const struct push *find_push(const struct tally *tally, const char *id)
{
    for (size_t low = 0, high = tally->push_count; low < high;) {
        size_t middle = (low + high) / 2;
        int order = strcmp(tally->pushes[middle].id, id);

        if (order == 0)
            return &tally->pushes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- judging --- */

static void tell(size_t count, const char *kind, const struct run *run, const char *id)
{
    if (count > TOLD)
        return;
    if (run)
        printf("# %s: %s attempt %u token %s at %.3f to %.3f %s pid %d\n", kind, id, run->attempt,
               run->token, run->start, run->end, run->result, run->pid);
    else
        printf("# %s: %s\n", kind, id);
}

/* Did a job in the same worker end it between these two? Event jobs run beside each other. */
static bool taken_along(const struct tally *tally, const struct run *first,
                        const struct run *second)
{
    static const char deadly[] = " crash abort exit kill hang ";

    for (size_t i = 0; i < tally->run_count; i++) {
        const struct run *run = &tally->runs[i];
        char word[12];

        if (run->pid != first->pid || run->end < first->start || run->end > second->start)
            continue;
        snprintf(word, sizeof word, " %s ", run->result);
        if (strstr(deadly, word))
            return true;
    }
    return false;
}

static bool explained(const struct tally *tally, const struct run *first, const struct run *second)
{
    for (size_t i = 0; i < tally->fault_count; i++) {
        if (tally->faults[i].start <= second->start && tally->faults[i].end >= first->start)
            return true;
    }
    return !first->result[0] && taken_along(tally, first, second);
}

static void judge_pair(struct tally *tally, const struct run *first, const struct run *second)
{
    bool well = strcmp(first->result, "ok") == 0 || strcmp(first->result, "bury") == 0;

    if (!well && first->result[0])
        return; /* it failed, or killed its worker: to be run again */
    tally->duplicated++;
    tally->twice += well;
    if (!explained(tally, first, second)) {
        tell(++tally->unexplained, "run again without a fault", first, first->id);
        tell(tally->unexplained, "                   second", second, first->id);
    }
}

static void judge_runs(struct tally *tally)
{
    unsigned begun = 0;

    for (size_t i = 0; i < tally->run_count; i++) {
        const struct run *run = &tally->runs[i], *last = i ? run - 1 : NULL;
        const struct push *push = find_push(tally, run->id);
        bool again = last && strcmp(last->id, run->id) == 0;

        begun = again ? begun + 1 : 1;
        if (again)
            judge_pair(tally, last, run);
        if (!push || push->outcome == 'n')
            tell(++tally->unexpected, "unexpected", run, run->id);
        if (push && run->start < push->due - SLACK)
            tell(++tally->early, "early", run, run->id);
        if (run->attempt > begun)
            tell(++tally->charged, "charged with an attempt it had not", run, run->id);
        if (!again && push && push->outcome == 'm')
            tally->recovered++;
    }
}

static bool ended(const struct tally *tally, const char *id, bool *well)
{
    bool any = false;

    for (const struct run *run = tally_first(tally, id); run; run = tally_next(tally, run)) {
        *well = *well || strcmp(run->result, "ok") == 0;
        any = any || strcmp(run->result, "bury") == 0;
    }
    return any || *well;
}

/* --- Redis --- */

static long long ask(redisContext *redis, const char *command, const char *queue, const char *key,
                     const char *member)
{
    redisReply *reply = redisCommand(redis, member ? "%s later:{%s}:%s %s" : "%s later:{%s}:%s",
                                     command, queue, key, member);
    long long number = -1;

    if (reply && reply->type == REDIS_REPLY_INTEGER)
        number = reply->integer;
    else if (reply && reply->type == REDIS_REPLY_STRING)
        number = atoll(reply->str);
    else if (reply && reply->type == REDIS_REPLY_NIL)
        number = 0;
    freeReplyObject(reply);
    return number;
}

static bool in_redis(redisContext *const *redis, const char *const *queues, const char *id)
{
    for (; *queues; queues++) {
        if (ask(*redis++, "HEXISTS", *queues, "jobs", id) == 1)
            return true;
    }
    return false;
}

static void judge_pushes(struct tally *tally, redisContext *const *redis, const char *const *queues)
{
    for (size_t i = 0; i < tally->push_count; i++) {
        const struct push *push = &tally->pushes[i];
        bool well = false, over = ended(tally, push->id, &well);

        tally->acked += push->outcome == 'o';
        tally->unknown += push->outcome == 'm';
        tally->refused += push->outcome == 'n';
        tally->done += well;
        if (push->outcome == 'o' && !over && !in_redis(redis, queues, push->id))
            tell(++tally->lost, "lost", tally_first(tally, push->id), push->id);
    }
}

static bool add_up(struct tally *tally, redisContext *redis, const char *queue)
{
    struct later_sizes sizes = {
        .ready = (uint64_t)ask(redis, "ZCARD", queue, "ready", NULL),
        .delayed = (uint64_t)ask(redis, "ZCARD", queue, "delayed", NULL),
        .reserved = (uint64_t)ask(redis, "ZCARD", queue, "reserved", NULL),
        .dead = (uint64_t)ask(redis, "ZCARD", queue, "dead", NULL),
        .jobs = (uint64_t)ask(redis, "HLEN", queue, "jobs", NULL),
    };
    char sum[400];

    for (int i = 0; i < LATER_CONSERVED; i++)
        sizes.counters[i] =
            (uint64_t)ask(redis, "HGET", queue, "stats", later_counter_name((enum later_counter)i));
    tally->left += (size_t)(sizes.ready + sizes.delayed + sizes.reserved);
    tally->dead += (size_t)sizes.dead;
    if (later_conserved(&sizes) && later_unadopted(&sizes) == 0)
        return true;
    printf("# queue %s does not add up: %s; ready %" PRIu64 ", delayed %" PRIu64
           ", reserved %" PRIu64 ", dead %" PRIu64 "\n",
           queue, later_conserved_text(&sizes, sum, sizeof sum), sizes.ready, sizes.delayed,
           sizes.reserved, sizes.dead);
    return false;
}

int tally_take(struct tally *tally, const char *pushed, const char *trace, const char *faults,
               redisContext *const *redis, const char *const *queues)
{
    memset(tally, 0, sizeof *tally);
    if (read_lines(tally, pushed, read_push) < 0 || read_lines(tally, trace, read_run) < 0 ||
        (faults && read_lines(tally, faults, read_fault) < 0)) {
        tally_free(tally);
        return -1;
    }
    order(tally);
    judge_runs(tally);
    judge_pushes(tally, redis, queues);
    tally->conserved = true;
    for (size_t i = 0; queues[i]; i++)
        tally->conserved = add_up(tally, redis[i], queues[i]) && tally->conserved;
    return 0;
}

void tally_free(struct tally *tally)
{
    free(tally->pushes);
    free(tally->runs);
    free(tally->faults);
    tally->pushes = NULL;
    tally->runs = NULL;
    tally->faults = NULL;
}

void tally_print(const struct tally *tally)
{
    printf("# pushed %zu (unanswered %zu, refused %zu), runs %zu, done %zu, dead %zu, left %zu\n",
           tally->acked, tally->unknown, tally->refused, tally->run_count, tally->done, tally->dead,
           tally->left);
    printf("# lost %zu, unexpected %zu, duplicated %zu (after a good end %zu, without a fault "
           "%zu), recovered %zu, early %zu, charged %zu, faults %zu, %s\n",
           tally->lost, tally->unexpected, tally->duplicated, tally->twice, tally->unexplained,
           tally->recovered, tally->early, tally->charged, tally->fault_count,
           tally->conserved ? "conserved" : "NOT CONSERVED");
}
