/* sizes.c: reads how many jobs many queues have. */
#include "sizes.h"

#include "base/clock.h"
#include "base/random.h"
#include "kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 200 /* queues per round trip */
#define WEIGHTS  3

/* One queue in Redis: a plain queue or a shard. */
struct part {
    struct sized *of;
    later_queue_name name;
    bool exact;                 /* ask the script */
    bool apart;                 /* whether it is paused is not asked for together with others */
    struct kept_queue *kept;    /* what was known of it; NULL: nothing, and nothing is kept */
    struct later_glance before; /* the same; only if the next says so */
    bool known;
    uint32_t want; /* what is to be asked */
    struct later_glance glance;
    struct answer {
        struct part *part;
        unsigned n;
    } answers[LATER_GLANCES];
    uint32_t weight; /* how often it is named when all are asked together */
    struct part *next;
};

/* The queues that are asked together. */
struct asking {
    struct cli *cli;
    double now;
    struct part *parts; /* parts to ask next */
    /* How many of all parts that were asked about together are paused or have shards, each with its
     * weight: as known, and as answered, -1: not. */
    int64_t beside, answered;
    bool together;
};

static bool is_refused(struct sized *sized, const struct later_answer *answer)
{
    struct later_error err;

    if (later_call_check(answer, &err) == 0)
        return false;
    if (sized->err.code == LATER_OK)
        sized->err = err;
    return true;
}

void sizes_add(struct later_sizes *sum, const struct later_sizes *part)
{
    sum->ready += part->ready;
    sum->delayed += part->delayed;
    sum->reserved += part->reserved;
    sum->dead += part->dead;
    sum->waiting += part->waiting;
    sum->news += part->news;
    sum->jobs += part->jobs;
    sum->overdue += part->overdue;
    sum->oldest_ready = fmax(sum->oldest_ready, part->oldest_ready);
    for (int i = 0; i < LATER_COUNTERS; i++)
        sum->counters[i] += part->counters[i];
}

uint64_t sizes_traces(const struct later_sizes *sizes)
{
    uint64_t sum = 0;

    for (int i = 0; i < LATER_COUNTERS; i++)
        sum += sizes->counters[i];
    return sum;
}

/* --- one queue, by its script --- */

int sizes_part(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
               struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_inspect_size(&cmd, keys);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    later_inspect_sized(reply, sizes);
    later_reply_free(reply);
    return 0;
}

int sizes_whole(struct cli *cli, const struct whole *whole, struct later_sizes *sum,
                struct later_error *err)
{
    *sum = (struct later_sizes){ .oldest_ready = -1, .paused = true };
    for (size_t i = 0; i < whole->count; i++) {
        struct later_sizes part;

        if (sizes_part(cli, &whole->parts[i], &part, err) < 0)
            return -1;
        sizes_add(sum, &part);
        sum->paused = sum->paused && part.paused;
    }
    return 0;
}

/* --- answers --- */

static void take_totals(void *arg, struct later_answer *answer)
{
    struct sized *sized = arg;

    if (!is_refused(sized, answer))
        later_history_read(sized->totals, answer->reply);
}

static void take_glance(void *arg, struct later_answer *answer)
{
    const struct answer *to = arg;

    if (!is_refused(to->part->of, answer))
        later_glance_read(&to->part->glance, to->n, answer->reply);
}

static void take_exact(void *arg, struct later_answer *answer)
{
    struct part *part = arg;

    if (is_refused(part->of, answer))
        return;
    later_inspect_sized(answer->reply, &part->glance.sizes);
    part->glance.plan = later_inspect_planned(answer->reply);
}

/* --- questions --- */

/* Begins with what is known of the part. */
static void part_begin(struct asking *asking, struct part *part, unsigned share)
{
    part->want = LATER_GLANCE_FULL;
    if (part->of->totals)
        part->want |= LATER_GLANCE_BIT(LATER_GLANCE_NEWS);
    if (!part->kept)
        return;
    part->want = kept_wants(part->kept, share);
    part->known = part->want != LATER_GLANCE_FULL;
    if (!part->known)
        return;
    part->before = part->glance = part->kept->glance;
    part->glance.asked = 0;
    part->apart = strchr(part->name, '/') || !asking->together;
    if (part->apart)
        part->want |= LATER_GLANCE_BIT(LATER_GLANCE_BESIDE);
}

static void part_again(struct asking *asking, struct part *part)
{
    part->next = asking->parts;
    asking->parts = part;
}

static int sizes_add_part(struct asking *asking, struct sized *of, const char *name, bool exact,
                          unsigned share, struct later_error *err)
{
    struct part *part = calloc(1, sizeof *part);

    if (!part)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    part->of = of;
    part->exact = exact;
    snprintf(part->name, sizeof part->name, "%s", name);
    if (!exact && asking->cli->kept)
        part->kept = kept_find(asking->cli->kept, name);
    part_begin(asking, part, share);
    part_again(asking, part);
    return 0;
}

static int ask_part(struct asking *asking, struct part *part, const struct later_keys *keys,
                    struct later_error *err)
{
    struct later_client *client = asking->cli->client;
    struct later_command cmd = { 0 };
    int ok = 0;

    if (part->exact) {
        later_inspect_size(&cmd, keys);
        return later_call_add(client, &cmd, take_exact, part, err);
    }
    for (unsigned n = 0; ok == 0 && n < LATER_GLANCES; n++) {
        if (!(part->want & LATER_GLANCE_BIT(n)))
            continue;
        part->answers[n] = (struct answer){ part, n };
        later_glance_ask(&cmd, keys, n, asking->now);
        ok = later_call_add(client, &cmd, take_glance, &part->answers[n], err);
    }
    return ok;
}

/* Is this one of those that are asked about together? */
static bool is_beside(const struct part *part)
{
    return part->known && !part->apart;
}

static void take_beside(void *arg, struct later_answer *answer)
{
    struct asking *asking = arg;
    struct later_error ignored;

    if (later_call_check(answer, &ignored) == 0)
        asking->answered = later_reply_int(answer->reply);
}

/* If one is paused as another is resumed, as many as before exist. So each is named once to three
 * times, by chance; EXISTS counts it as often. At the next looks such a sum differs. */
static size_t sizes_weigh(struct asking *asking)
{
    uint64_t random = 0;
    size_t count = 0;

    later_random(&random, sizeof random);
    for (struct part *part = asking->parts; part; part = part->next) {
        if (!is_beside(part))
            continue;
        random = random * 6364136223846793005U + 1442695040888963407U; /* as in random.c */
        part->weight = 1 + (uint32_t)(random >> 33) % WEIGHTS;
        count += part->weight;
    }
    return count;
}

/* Asks of all parts together whether they are paused or have shards. */
static int ask_beside(struct asking *asking, struct later_error *err)
{
    size_t count = sizes_weigh(asking);
    struct later_command cmd = { 0 };

    asking->beside = 0;
    asking->answered = -1;
    if (count == 0)
        return 0;
    later_command_begin(&cmd, 1 + 2 * count);
    later_command_text(&cmd, "EXISTS");
    for (const struct part *part = asking->parts; part; part = part->next) {
        struct later_keys keys;

        if (!is_beside(part))
            continue;
        later_keys_init(&keys, later_call_prefix(asking->cli->client), part->name);
        for (uint32_t i = 0; i < part->weight; i++) {
            later_command_text(&cmd, keys.name[LATER_KEY_PAUSED]);
            later_command_text(&cmd, keys.name[LATER_KEY_SHARDS]);
        }
        asking->beside += (int64_t)part->weight * part->before.beside;
    }
    return later_call_add(asking->cli->client, &cmd, take_beside, asking, err);
}

static int ask_totals(struct asking *asking, struct sized *sized, const struct later_keys *keys,
                      struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_history_ask_totals(&cmd, keys);
    return later_call_add(asking->cli->client, &cmd, take_totals, sized, err);
}

static int sizes_ask_one(struct asking *asking, struct part *part, bool first,
                         struct later_error *err)
{
    struct later_keys keys;

    if (cli_keys(asking->cli, part->name, &keys, err) < 0 ||
        (first && part->of->totals && ask_totals(asking, part->of, &keys, err) < 0))
        return -1;
    return ask_part(asking, part, &keys, err);
}

/* Asks all parts. first: they are the queues themselves, asked for the first time. */
static int ask_parts(struct asking *asking, bool first, struct later_error *err)
{
    int ok = first && asking->together ? ask_beside(asking, err) : 0;

    for (struct part *part = asking->parts; ok == 0 && part; part = part->next)
        ok = sizes_ask_one(asking, part, first, err);
    return cli_drain(asking->cli, ok, err);
}

static int add_shards(struct asking *asking, struct sized *sized, bool exact,
                      struct later_error *err)
{
    later_queue_name names[LATER_WHOLE_MAX];
    size_t count = later_shards_all(sized->name, later_plan_span(&sized->plan), names);

    for (size_t i = 1; i < count; i++) {
        if (sizes_add_part(asking, sized, names[i], exact, 1, err) < 0)
            return -1;
    }
    return 0;
}

/* Works out the age of its oldest ready job. False: only the script tells. */
static bool take_oldest(struct asking *asking, struct part *part)
{
    struct later_glance *glance = &part->glance;

    if (part->exact)
        return true;
    if (!part->known || later_glance_changed(glance, &part->before))
        return later_glance_done(glance, asking->now);
    glance->sizes.oldest_ready =
        part->kept->oldest > 0 ? fmax(0, asking->now - part->kept->oldest) : -1;
    return true;
}

/* Keeps what is known now. */
static void part_keep(const struct asking *asking, const struct part *part)
{
    struct kept_queue *kept = part->kept;
    double now = later_clock();

    if (!kept)
        return;
    if (kept->full > 0 && later_glance_changed(&part->glance, &kept->glance))
        kept->changed = now;
    if (kept->full <= 0)
        kept->since = now;
    if (!part->known)
        kept->full = now;
    if (part->glance.asked & LATER_GLANCE_BIT(LATER_GLANCE_OVERDUE))
        kept->over = now;
    kept->glance = part->glance;
    kept->oldest =
        part->glance.sizes.oldest_ready < 0 ? 0 : asking->now - part->glance.sizes.oldest_ready;
    part->of->still = fmin(part->of->still, now - fmax(kept->changed, kept->since));
}

/* Takes the answers of a part. Returns true if more is to be asked of it. */
static bool part_wants_more(struct asking *asking, struct part *part)
{
    if (part->exact)
        return false;
    part->want = later_glance_more(&part->glance, part->known ? &part->before : NULL);
    if (is_beside(part) && asking->beside != asking->answered)
        part->want |= LATER_GLANCE_BIT(LATER_GLANCE_BESIDE) & ~part->glance.asked;
    if (part->want)
        return true;
    /* If plain commands did not tell enough, the part is asked again. */
    part->exact = !take_oldest(asking, part);
    return part->exact;
}

static int part_done(struct asking *asking, struct part *part, bool exact, struct later_error *err)
{
    struct sized *sized = part->of;

    part_keep(asking, part);
    sized->fair = sized->fair || part->glance.fair;
    sizes_add(&sized->sizes, &part->glance.sizes);
    sized->paused += part->glance.sizes.paused;
    sized->parts++;
    if (sized->parts > 1 || strchr(part->name, '/'))
        return 0;
    sized->plan = part->glance.plan;
    return add_shards(asking, sized, exact, err);
}

static int take_parts(struct asking *asking, bool exact, struct later_error *err)
{
    struct part *part = asking->parts, *next;
    int ok = 0;

    asking->parts = NULL;
    for (; part; part = next) {
        next = part->next;
        if (ok == 0 && part->of->err.code == LATER_OK) {
            if (part_wants_more(asking, part)) {
                part_again(asking, part);
                continue;
            }
            ok = part_done(asking, part, exact, err);
        }
        free(part);
    }
    return ok;
}

static void free_parts(struct asking *asking)
{
    struct part *next;

    for (struct part *part = asking->parts; part; part = next) {
        next = part->next;
        free(part);
    }
}

/* How many commands each queue gets that has not changed lately. */
static unsigned sizes_share(struct cli *cli, const struct sized *sized, size_t count)
{
    struct kept_queue *some[TOGETHER];

    for (size_t i = 0; cli->kept && i < count; i++)
        some[i] = kept_find(cli->kept, sized[i].name);
    return cli->kept ? kept_share(some, count) : 1;
}

static int sizes_ask_some(struct asking *asking, struct sized *sized, size_t count, bool exact,
                          struct later_error *err)
{
    unsigned share = sizes_share(asking->cli, sized, count);
    int ok = 0;

    for (size_t i = count; ok == 0 && i-- > 0;) {
        sized[i].sizes = (struct later_sizes){ .oldest_ready = -1 };
        sized[i].still = asking->cli->kept ? HUGE_VAL : 0;
        sized[i].err.code = LATER_OK;
        ok = sizes_add_part(asking, &sized[i], sized[i].name, exact, share, err);
    }
    for (bool first = true; ok == 0 && asking->parts; first = false) {
        ok = ask_parts(asking, first, err);
        if (ok == 0)
            ok = take_parts(asking, exact, err);
    }
    return ok;
}

int sizes_ask(struct cli *cli, struct sized *sized, size_t count, bool exact, double now,
              struct later_error *err)
{
    struct asking asking = { .cli = cli, .now = now };
    int ok = 0;

    asking.together = cli->kept && !later_redis_is_cluster(later_call_redis(cli->client));
    for (size_t from = 0; ok == 0 && from < count; from += TOGETHER)
        ok = sizes_ask_some(&asking, &sized[from],
                            count - from < TOGETHER ? count - from : TOGETHER, exact, err);
    free_parts(&asking);
    return ok;
}
