/* busiest.c: chooses the queues with the most attempts. */
#include "see/busiest.h"

#include "history/history.h"

#include <stdlib.h>
#include <string.h>

#define TOGETHER 200 /* queues per round trip */

struct busy {
    uint64_t attempts;
    struct later_error err; /* code 0 = none */
};

static void busiest_take(void *arg, struct later_answer *answer)
{
    struct later_tallies tallies = { 0 };
    struct busy *busy = arg;
    struct later_tally sum;

    if (later_call_check(answer, &busy->err) < 0)
        return;
    later_history_read(&tallies, answer->reply);
    later_tallies_sum(&tallies, &sum);
    busy->attempts = later_tally_attempts(&sum);
    later_tallies_free(&tallies);
}

static int busiest_ask(struct cli *cli, const later_queue_name *names, size_t count,
                       struct busy *busy, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < count; i++) {
        struct later_command cmd = { 0 };
        struct later_keys keys;

        ok = cli_keys(cli, names[i], &keys, err);
        if (ok < 0)
            break;
        later_history_ask_totals(&cmd, &keys);
        ok = later_call_begin(cli->client, &cmd, busiest_take, &busy[i], err);
    }
    return cli_drain(cli, ok, err);
}

static int busiest_read(struct cli *cli, const struct queue_list *list, struct busy *busy,
                        struct later_error *err)
{
    for (size_t i = 0; i < list->count; i += TOGETHER) {
        size_t left = list->count - i, count = left < TOGETHER ? left : TOGETHER;

        if (busiest_ask(cli, list->names + i, count, busy + i, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (busy[i].err.code != LATER_OK) {
            *err = busy[i].err;
            return -1;
        }
    }
    return 0;
}

static int busiest_more_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

/* Returns how many attempts a queue must have had to be one of the `most`, at least 1. */
static uint64_t busiest_least(const struct busy *busy, size_t count, size_t most, uint64_t *sorted)
{
    for (size_t i = 0; i < count; i++)
        sorted[i] = busy[i].attempts;
    qsort(sorted, count, sizeof *sorted, busiest_more_first);
    return sorted[most - 1] ? sorted[most - 1] : 1;
}

static void busiest_keep(struct queue_list *list, const struct busy *busy, uint64_t least,
                         size_t most)
{
    size_t left = most, kept = 0; /* left: for those that have had just as many */

    for (size_t i = 0; i < list->count; i++)
        left -= busy[i].attempts > least;
    for (size_t i = 0; i < list->count; i++) {
        bool alike = busy[i].attempts == least && left > 0;

        left -= alike;
        if (alike || busy[i].attempts > least)
            memmove(list->names[kept++], list->names[i], sizeof list->names[i]);
    }
    list->count = kept;
}

int busiest_choose(struct cli *cli, struct queue_list *list, size_t most, struct later_error *err)
{
    struct busy *busy;
    uint64_t *sorted;
    int ok;

    if (list->count <= most)
        return 0;
    busy = calloc(list->count, sizeof *busy);
    sorted = malloc(list->count * sizeof *sorted);
    ok = busy && sorted ? busiest_read(cli, list, busy, err)
                        : later_fail(err, LATER_E_SYSTEM, "no memory");
    if (ok == 0)
        busiest_keep(list, busy, busiest_least(busy, list->count, most, sorted), most);
    free(busy);
    free(sorted);
    return ok;
}
