/* glance.c: the sizes of a queue by plain commands. */
#include "queue/glance.h"

#include <math.h>
#include <string.h>

#define BAND  1e6  /* what a priority takes off a score */
#define SLACK 60.0 /* seconds: for other clocks, and the time since `now` */

#define BIT(n) LATER_GLANCE_BIT(LATER_GLANCE_##n)

static const struct {
    enum later_key key;
    const char *name;
    const char *args[3];
} glances[LATER_GLANCES] = {
    [LATER_GLANCE_STATS] = { LATER_KEY_STATS, "HGETALL", { NULL } },
    [LATER_GLANCE_READY] = { LATER_KEY_READY, "ZCARD", { NULL } },
    [LATER_GLANCE_DELAYED] = { LATER_KEY_DELAYED, "ZCARD", { NULL } },
    [LATER_GLANCE_BESIDE] = { LATER_KEY_PAUSED, "EXISTS", { NULL } }, /* and shards */
    [LATER_GLANCE_DEAD] = { LATER_KEY_DEAD, "ZCARD", { NULL } },
    [LATER_GLANCE_WAITING] = { LATER_KEY_WAITING, "ZCARD", { NULL } },
    [LATER_GLANCE_FIRST] = { LATER_KEY_READY, "ZRANGE", { "0", "0", "WITHSCORES" } },
    [LATER_GLANCE_LAST] = { LATER_KEY_READY, "ZRANGE", { "-1", "-1", "WITHSCORES" } },
    [LATER_GLANCE_FAIR] = { LATER_KEY_FAIR, "EXISTS", { NULL } },
    [LATER_GLANCE_OVERDUE] = { LATER_KEY_RESERVED, "ZCOUNT", { "-inf" } }, /* until now */
    [LATER_GLANCE_PAUSED] = { LATER_KEY_PAUSED, "EXISTS", { NULL } },
    [LATER_GLANCE_PLAN] = { LATER_KEY_SHARDS, "GET", { NULL } },
    [LATER_GLANCE_NEWS] = { LATER_KEY_NEWS, "ZCARD", { NULL } },
};

void later_glance_ask(struct later_command *cmd, const struct later_keys *keys, unsigned n,
                      double now)
{
    size_t count = 0;

    while (count < 3 && glances[n].args[count])
        count++;
    later_command_open(cmd, count + (n == LATER_GLANCE_OVERDUE || n == LATER_GLANCE_BESIDE),
                       "%s %s", glances[n].name, keys->name[glances[n].key]);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, glances[n].args[i]);
    if (n == LATER_GLANCE_OVERDUE)
        later_command_seconds(cmd, now);
    if (n == LATER_GLANCE_BESIDE)
        later_command_bytes(cmd, keys->name[LATER_KEY_SHARDS], keys->len[LATER_KEY_SHARDS]);
}

/* Counts them like the script: what was handed out and has not come back. */
static uint64_t reserved(const uint64_t counters[LATER_COUNTERS])
{
    static const enum later_counter back[] = { LATER_COUNT_DONE,     LATER_COUNT_EXPIRED,
                                               LATER_COUNT_RELEASED, LATER_COUNT_RETURNED,
                                               LATER_COUNT_BURIED,   LATER_COUNT_LAPSED,
                                               LATER_COUNT_WITHDRAWN };
    uint64_t out = counters[LATER_COUNT_RESERVED] + counters[LATER_COUNT_BURIED_WAITING], in = 0;

    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        in += counters[back[i]];
    return out > in ? out - in : 0;
}

/* Reads the score of [member, score], if there is one. */
static bool read_score(const struct later_reply *reply, double *score)
{
    *score = later_inspect_score(later_reply_at(reply, 1));
    return later_reply_count(reply) == 2;
}

void later_glance_read(struct later_glance *glance, unsigned n, const struct later_reply *reply)
{
    struct later_sizes *sizes = &glance->sizes;
    int64_t number = later_reply_int(reply);
    uint64_t count = number > 0 ? (uint64_t)number : 0;
    uint64_t *const counts[LATER_GLANCES] = {
        [LATER_GLANCE_READY] = &sizes->ready,     [LATER_GLANCE_DELAYED] = &sizes->delayed,
        [LATER_GLANCE_DEAD] = &sizes->dead,       [LATER_GLANCE_WAITING] = &sizes->waiting,
        [LATER_GLANCE_OVERDUE] = &sizes->overdue, [LATER_GLANCE_NEWS] = &sizes->news,
    };

    glance->asked |= LATER_GLANCE_BIT(n);
    if (counts[n]) {
        *counts[n] = count;
        return;
    }
    switch (n) {
    case LATER_GLANCE_BESIDE:
        glance->beside = (uint32_t)count;
        break;
    case LATER_GLANCE_PAUSED:
        sizes->paused = count > 0;
        break;
    case LATER_GLANCE_STATS:
        memset(sizes->counters, 0, sizeof sizes->counters);
        later_inspect_counted(reply, 0, sizes);
        sizes->reserved = reserved(sizes->counters);
        break;
    case LATER_GLANCE_FIRST:
        glance->ready = read_score(reply, &glance->first);
        break;
    case LATER_GLANCE_LAST:
        read_score(reply, &glance->last);
        break;
    case LATER_GLANCE_FAIR:
        glance->fair = count > 0;
        break;
    default:
        glance->plan = later_plan_parse(later_reply_text(reply, NULL));
        break;
    }
}

/* --- what has changed --- */

bool later_glance_changed(const struct later_glance *glance, const struct later_glance *before)
{
    return glance->sizes.ready != before->sizes.ready ||
           glance->sizes.delayed != before->sizes.delayed ||
           memcmp(glance->sizes.counters, before->sizes.counters, sizeof glance->sizes.counters) !=
               0;
}

/* How many jobs the counters leave for the states that have not been counted. */
static uint64_t left_over(const struct later_sizes *sizes)
{
    const uint64_t *counters = sizes->counters;
    uint64_t left = counters[LATER_COUNT_PUSHED] + counters[LATER_COUNT_ADOPTED];

    left -= counters[LATER_COUNT_DONE] + counters[LATER_COUNT_EXPIRED] +
            counters[LATER_COUNT_CANCELLED] + counters[LATER_COUNT_PURGED] +
            counters[LATER_COUNT_TRIMMED];
    return left - sizes->reserved - sizes->ready - sizes->delayed;
}

/* While jobs are pushed and done, as many as before are dead or wait for others, unless a counter
 * says that some have come or gone in another way. */
static bool rest_stays(const struct later_sizes *sizes, const struct later_sizes *before)
{
    static const enum later_counter others[] = {
        LATER_COUNT_EXPIRED,   LATER_COUNT_CANCELLED,     LATER_COUNT_PURGED, LATER_COUNT_TRIMMED,
        LATER_COUNT_REPLACED,  LATER_COUNT_BURIED,        LATER_COUNT_KICKED, LATER_COUNT_LAPSED,
        LATER_COUNT_WITHDRAWN, LATER_COUNT_BURIED_WAITING
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (sizes->counters[others[i]] != before->counters[others[i]])
            return false;
    }
    return left_over(sizes) == left_over(before);
}

static uint32_t more_of_jobs(const struct later_glance *glance, const struct later_glance *before)
{
    const uint32_t all = BIT(STATS) | BIT(READY) | BIT(DELAYED);
    uint32_t want = all;

    if ((glance->asked & all) != all)
        return want;
    if (!before || !rest_stays(&glance->sizes, &before->sizes))
        want |= BIT(DEAD) | BIT(WAITING);
    if (!before || glance->sizes.ready > 0 || before->sizes.ready > 0)
        want |= BIT(FIRST);
    if (glance->sizes.ready > 0)
        want |= BIT(FAIR);
    if (glance->sizes.ready > 1)
        want |= BIT(LAST);
    if (glance->sizes.reserved > 0 || glance->sizes.overdue > 0)
        want |= BIT(OVERDUE);
    return want;
}

uint32_t later_glance_more(const struct later_glance *glance, const struct later_glance *before)
{
    uint32_t want = 0;

    if (!before || later_glance_changed(glance, before))
        want = more_of_jobs(glance, before);
    if (glance->asked & BIT(BESIDE) &&
        (before ? glance->beside != before->beside || glance->plan.epoch > 0 : glance->beside > 0))
        want |= BIT(PAUSED) | BIT(PLAN);
    return want & ~glance->asked;
}

bool later_glance_done(struct later_glance *glance, double now)
{
    struct later_sizes *sizes = &glance->sizes;

    sizes->oldest_ready = glance->ready ? fmax(0, now - glance->first) : -1;
    if (!(glance->asked & BIT(LAST)))
        glance->last = glance->first;
    return !glance->ready ||
           (!glance->fair && glance->first > now - BAND + SLACK && glance->last < now + SLACK);
}
