/* sizes.c: reads how many jobs many queues have. */
#include "sizes.h"

#include "queue/glance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 200 /* queues per round trip */

/* One queue in Redis: a plain queue or a shard. */
struct part {
    struct sized *of;
    later_queue_name name;
    bool exact; /* ask the script */
    struct later_glance glance;
    struct answer {
        struct part *part;
        unsigned n;
    } answers[LATER_GLANCES];
    struct part *next;
};

/* The queues that are asked together. */
struct asking {
    struct cli *cli;
    double now;
    struct part *parts; /* parts to ask next */
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

static int sizes_add_part(struct asking *asking, struct sized *of, const char *name, bool exact,
                          struct later_error *err)
{
    struct part *part = calloc(1, sizeof *part);

    if (!part)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    part->of = of;
    part->exact = exact;
    snprintf(part->name, sizeof part->name, "%s", name);
    part->next = asking->parts;
    asking->parts = part;
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
        part->answers[n] = (struct answer){ part, n };
        later_glance_ask(&cmd, keys, n, asking->now);
        ok = later_call_add(client, &cmd, take_glance, &part->answers[n], err);
    }
    return ok;
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

/* Asks all parts. first: they are the queues themselves, not their shards. */
static int ask_parts(struct asking *asking, bool first, struct later_error *err)
{
    for (struct part *part = asking->parts; part; part = part->next) {
        if (sizes_ask_one(asking, part, first, err) == 0)
            continue;
        if (asking->cli->client)
            /* Drops the questions already sent, whose targets end here. */
            later_call_abort(asking->cli->client);
        return -1;
    }
    return later_call_drain(asking->cli->client, 0, err);
}

static int add_shards(struct asking *asking, struct sized *sized, bool exact,
                      struct later_error *err)
{
    later_queue_name names[LATER_WHOLE_MAX];
    size_t count = later_shards_all(sized->name, later_plan_span(&sized->plan), names);

    for (size_t i = 1; i < count; i++) {
        if (sizes_add_part(asking, sized, names[i], exact, err) < 0)
            return -1;
    }
    return 0;
}

/* Takes the answer of a part. If plain commands did not tell enough, the part is asked again. */
static int take_part(struct asking *asking, struct part *part, bool exact, struct later_error *err)
{
    struct sized *sized = part->of;

    if (sized->err.code != LATER_OK)
        return 0;
    sized->fair = sized->fair || part->glance.fair;
    if (!part->exact && !later_glance_done(&part->glance, asking->now))
        return sizes_add_part(asking, sized, part->name, true, err);
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
        if (ok == 0)
            ok = take_part(asking, part, exact, err);
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

static int sizes_ask_some(struct asking *asking, struct sized *sized, size_t count, bool exact,
                          struct later_error *err)
{
    int ok = 0;

    for (size_t i = count; ok == 0 && i-- > 0;) {
        sized[i].sizes = (struct later_sizes){ .oldest_ready = -1 };
        sized[i].err.code = LATER_OK;
        ok = sizes_add_part(asking, &sized[i], sized[i].name, exact, err);
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

    for (size_t from = 0; ok == 0 && from < count; from += TOGETHER)
        ok = sizes_ask_some(&asking, &sized[from],
                            count - from < TOGETHER ? count - from : TOGETHER, exact, err);
    free_parts(&asking);
    return ok;
}
