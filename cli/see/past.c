/* past.c: reads a range of a queue's history. */
#include "see/past.h"

#include <stdlib.h>
#include <string.h>

#define TOGETHER 120 /* periods or queues per round trip */

int past_range(struct cli *cli, double seconds, double until, enum later_scale scale,
               struct past_range *range, struct later_error *err)
{
    if (!cli_client(cli, err) || cli_clock(cli, &range->to, err) < 0)
        return -1;
    if (scale == LATER_SCALES)
        scale = later_scale_for(seconds);
    else if (seconds > later_scales[scale].keep)
        seconds = later_scales[scale].keep;
    range->scale = scale;
    range->first = later_period(scale, range->to - seconds);
    range->last = later_period(scale, range->to - until);
    if (until > 0)
        range->to = (double)range->last-- * later_scales[scale].seconds;
    range->from = (double)range->first * later_scales[scale].seconds;
    return 0;
}

/* The answer for one period. */
struct asked {
    struct later_tallies tallies;
    struct later_error err; /* code 0 = none */
};

static void past_take(void *arg, struct later_answer *answer)
{
    struct asked *asked = arg;

    if (later_call_check(answer, &asked->err) == 0)
        later_history_read(&asked->tallies, answer->reply);
}

static int past_ask(struct cli *cli, const struct later_keys *keys, enum later_scale scale,
                    int64_t first, struct asked *asked, size_t count, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; i < count; i++)
        asked[i] = (struct asked){ .err = { .code = LATER_OK } };
    for (size_t i = 0; ok == 0 && i < count; i++) {
        struct later_command cmd = { 0 };

        later_history_ask(&cmd, keys, scale, first + (int64_t)i);
        ok = later_call_begin(cli->client, &cmd, past_take, &asked[i], err);
    }
    return cli_drain(cli, ok, err);
}

int past_read(struct cli *cli, const char *queue, const struct past_range *range,
              void (*fn)(void *arg, int64_t period, struct later_tallies *tallies), void *arg,
              struct later_error *err)
{
    struct asked asked[TOGETHER];
    struct later_keys keys;
    int ok = 0;

    if (later_call_whole(queue, err) < 0 || cli_keys(cli, queue, &keys, err) < 0)
        return -1;
    for (int64_t at = range->first; ok == 0 && at <= range->last; at += TOGETHER) {
        size_t count = range->last - at < TOGETHER ? (size_t)(range->last - at + 1) : TOGETHER;

        ok = past_ask(cli, &keys, range->scale, at, asked, count, err);
        for (size_t i = 0; i < count; i++) {
            if (ok == 0 && asked[i].err.code != LATER_OK) {
                *err = asked[i].err;
                ok = -1;
            }
            if (ok == 0)
                fn(arg, at + (int64_t)i, &asked[i].tallies);
            later_tallies_free(&asked[i].tallies);
        }
    }
    return ok;
}

/* --- the busiest queues --- */

/* Reads how many attempts each of these queues, at most TOGETHER, has had. */
static int past_attempts(struct cli *cli, const later_queue_name *names, size_t count,
                         uint64_t *attempts, struct later_error *err)
{
    struct asked asked[TOGETHER];
    int ok = 0;

    for (size_t i = 0; i < count; i++)
        asked[i] = (struct asked){ .err = { .code = LATER_OK } };
    for (size_t i = 0; ok == 0 && i < count; i++) {
        struct later_command cmd = { 0 };
        struct later_keys keys;

        ok = cli_keys(cli, names[i], &keys, err);
        if (ok < 0)
            break;
        later_history_ask_totals(&cmd, &keys);
        ok = later_call_begin(cli->client, &cmd, past_take, &asked[i], err);
    }
    ok = cli_drain(cli, ok, err);
    for (size_t i = 0; i < count; i++) {
        struct later_tally sum;

        if (ok == 0 && asked[i].err.code != LATER_OK) {
            *err = asked[i].err;
            ok = -1;
        }
        later_tallies_sum(&asked[i].tallies, &sum);
        attempts[i] = later_tally_attempts(&sum);
        later_tallies_free(&asked[i].tallies);
    }
    return ok;
}

static int past_more_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

static void past_keep(struct queue_list *list, const uint64_t *attempts, uint64_t least,
                      size_t most)
{
    size_t left = most, kept = 0; /* left: for those that have had just as many */

    for (size_t i = 0; i < list->count; i++)
        left -= attempts[i] > least;
    for (size_t i = 0; i < list->count; i++) {
        bool alike = attempts[i] == least && left > 0;

        left -= alike;
        if (alike || attempts[i] > least)
            memmove(list->names[kept++], list->names[i], sizeof list->names[i]);
    }
    list->count = kept;
}

int past_choose_busiest(struct cli *cli, struct queue_list *list, size_t most,
                        struct later_error *err)
{
    size_t count = list->count;
    uint64_t *attempts, *sorted, least;
    int ok = 0;

    if (count <= most)
        return 0;
    attempts = calloc(2 * count, sizeof *attempts);
    if (!attempts)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    sorted = attempts + count;
    for (size_t i = 0; ok == 0 && i < count; i += TOGETHER)
        ok = past_attempts(cli, list->names + i, count - i < TOGETHER ? count - i : TOGETHER,
                           attempts + i, err);
    memcpy(sorted, attempts, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, past_more_first);
    least = sorted[most - 1] ? sorted[most - 1] : 1;
    if (ok == 0)
        past_keep(list, attempts, least, most);
    free(attempts);
    return ok;
}
