/* past.c: reads a range of a queue's history. */
#include "see/past.h"

#define TOGETHER 120 /* periods per round trip */

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
