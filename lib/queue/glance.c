/* glance.c: the sizes of a queue by plain commands. */
#include "queue/glance.h"

#include <math.h>

#define BAND  1e6  /* what a priority takes off a score */
#define SLACK 60.0 /* seconds: for other clocks, and the time since `now` */

/* What command n asks. */
enum { READY, DELAYED, DEAD, WAITING, NEWS, PAUSED, STATS, OVERDUE, FIRST, LAST, PLAN, FAIR };

static const struct {
    enum later_key key;
    const char *name;
    const char *args[3];
} glances[LATER_GLANCES] = {
    [READY] = { LATER_KEY_READY, "ZCARD", { NULL } },
    [DELAYED] = { LATER_KEY_DELAYED, "ZCARD", { NULL } },
    [DEAD] = { LATER_KEY_DEAD, "ZCARD", { NULL } },
    [WAITING] = { LATER_KEY_WAITING, "ZCARD", { NULL } },
    [NEWS] = { LATER_KEY_NEWS, "ZCARD", { NULL } },
    [PAUSED] = { LATER_KEY_PAUSED, "EXISTS", { NULL } },
    [STATS] = { LATER_KEY_STATS, "HGETALL", { NULL } },
    [OVERDUE] = { LATER_KEY_RESERVED, "ZCOUNT", { "-inf" } }, /* until now */
    [FIRST] = { LATER_KEY_READY, "ZRANGE", { "0", "0", "WITHSCORES" } },
    [LAST] = { LATER_KEY_READY, "ZRANGE", { "-1", "-1", "WITHSCORES" } },
    [PLAN] = { LATER_KEY_SHARDS, "GET", { NULL } },
    [FAIR] = { LATER_KEY_FAIR, "EXISTS", { NULL } },
};

void later_glance_ask(struct later_command *cmd, const struct later_keys *keys, unsigned n,
                      double now)
{
    size_t count = 0;

    while (count < 3 && glances[n].args[count])
        count++;
    later_command_begin(cmd, 2 + count + (n == OVERDUE));
    later_command_text(cmd, glances[n].name);
    later_command_bytes(cmd, keys->name[glances[n].key], keys->len[glances[n].key]);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, glances[n].args[i]);
    if (n == OVERDUE)
        later_command_seconds(cmd, now);
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

    switch (n) {
    case READY:
        sizes->ready = count;
        break;
    case DELAYED:
        sizes->delayed = count;
        break;
    case DEAD:
        sizes->dead = count;
        break;
    case WAITING:
        sizes->waiting = count;
        break;
    case NEWS:
        sizes->news = count;
        break;
    case PAUSED:
        sizes->paused = count > 0;
        break;
    case STATS:
        later_inspect_counted(reply, 0, sizes);
        break;
    case OVERDUE:
        sizes->overdue = count;
        break;
    case FIRST:
        glance->ready = read_score(reply, &glance->first);
        break;
    case LAST:
        read_score(reply, &glance->last);
        break;
    case FAIR:
        glance->fair = count > 0;
        break;
    default:
        glance->plan = later_plan_parse(later_reply_text(reply, NULL));
        break;
    }
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

bool later_glance_done(struct later_glance *glance, double now)
{
    struct later_sizes *sizes = &glance->sizes;

    sizes->reserved = reserved(sizes->counters);
    sizes->oldest_ready = glance->ready ? fmax(0, now - glance->first) : -1;
    return !glance->ready ||
           (!glance->fair && glance->first > now - BAND + SLACK && glance->last < now + SLACK);
}
