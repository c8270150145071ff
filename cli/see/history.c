/* history.c: `later history` shows what became of attempts and how long they took. */
#include "commands.h"
#include "output/jsonl.h"
#include "queue_list.h"
#include "see/marks.h"
#include "see/past.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HISTORY_QUEUES 1000000 /* of --number, at most */

static const double parts[] = { 0.5, 0.95, 0.99 };
static const char *const part_names[] = { "p50", "p95", "p99" };
#define PARTS (sizeof parts / sizeof *parts)

/* What a row describes. */
struct row {
    const char *queue;
    const char *type; /* NULL = all types together; "" = the types beyond the bound */
    double from, seconds;
};

struct printing {
    struct cli *cli;
    struct table table;
    const char *queue;
    const char *type; /* only this one; NULL: all */
    const struct past_range *range;
    bool by_period, some;     /* something was found in the present queue */
    struct later_tallies all; /* all periods together, by type */
};

/* --- one row --- */

static void add_duration(struct printing *printing, double seconds)
{
    if (printing->table.aligned && seconds >= 0 && seconds < 0.1)
        table_print(&printing->table, PLAIN, "%.*f ms", seconds < 0.01 ? 1 : 0, seconds * 1000);
    else
        table_known_age(&printing->table, PLAIN, seconds);
}

static void history_add_row(struct printing *printing, const struct row *row,
                            const struct later_tally *tally)
{
    uint64_t attempts = later_tally_attempts(tally);
    struct table *table = &printing->table;

    table_text(table, PLAIN, row->queue);
    if (printing->by_period)
        table_time(table, PLAIN, row->from);
    else
        table_text(table, PLAIN, !row->type ? "*" : *row->type ? row->type : "(others)");
    table_number(table, PLAIN, attempts);
    table_print(table, PLAIN, "%.2f", (double)attempts / row->seconds);
    for (int i = 0; i < LATER_OUTCOMES; i++)
        table_number(table, PLAIN, tally->outcomes[i]);
    for (size_t i = 0; i < PARTS; i++)
        add_duration(printing, later_histogram_quantile(&tally->wait, parts[i]));
    for (size_t i = 0; i < PARTS; i++)
        add_duration(printing, later_histogram_quantile(&tally->run, parts[i]));
}

/* Adds `"octaves":[[N,COUNT],…]`: so many took more than 2^(N-1) and at most 2^N seconds. Those
 * without any are left out. */
static void put_octaves(struct jsonl *json, const struct later_histogram *histogram)
{
    uint64_t within = 0;

    jsonl_open(json, "octaves", '[');
    for (int n = -LATER_OCTAVES; n <= LATER_OCTAVES; n++) {
        uint64_t before = within;

        within = later_histogram_within(histogram, ldexp(1, n));
        if (within == before)
            continue;
        jsonl_open(json, NULL, '[');
        jsonl_int(json, NULL, n);
        jsonl_int(json, NULL, (int64_t)(within - before));
        jsonl_close(json, ']');
    }
    jsonl_close(json, ']');
}

/* Adds `"wait":{"count":…,"sum":…,"p50":…,"p95":…,"p99":…}`, of a type with its octaves. Without
 * attempts there are no numbers. */
static void print_times(struct jsonl *json, const char *name, bool of_type,
                        const struct later_histogram *histogram, uint64_t sum_us)
{
    uint64_t count = later_histogram_count(histogram);

    jsonl_open(json, name, '{');
    jsonl_add(json, "count:%ju sum:%f", count, (double)sum_us / 1e6);
    for (size_t i = 0; count > 0 && i < PARTS; i++)
        jsonl_real(json, part_names[i], later_histogram_quantile(histogram, parts[i]));
    if (of_type)
        put_octaves(json, histogram);
    jsonl_close(json, '}');
}

static void history_print_json(const struct row *row, const struct later_tally *tally)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", row->queue);
    if (row->type)
        jsonl_text(&json, "type", row->type);
    jsonl_add(&json, "from:%f seconds:%f attempts:%ju failed:%ju", row->from, row->seconds,
              later_tally_attempts(tally), later_tally_failed(tally));
    for (int i = 0; i < LATER_OUTCOMES; i++)
        jsonl_int(&json, later_outcome_name((enum later_outcome)i), (int64_t)tally->outcomes[i]);
    print_times(&json, "wait", row->type, &tally->wait, tally->wait_us);
    print_times(&json, "run", row->type, &tally->run, tally->run_us);
    jsonl_end(&json);
}

static void history_print(struct printing *printing, const struct row *row,
                          const struct later_tally *tally)
{
    if (printing->cli->json)
        history_print_json(row, tally);
    else
        history_add_row(printing, row, tally);
}

/* --- a queue --- */

/* The last period is not over, so it counts only from its beginning until now. */
static double seconds_of(const struct past_range *range, int64_t period)
{
    double length = later_scales[range->scale].seconds;
    double gone = range->to - (double)period * length;

    return gone < length ? gone : length;
}

static void history_print_period(struct printing *printing, int64_t period,
                                 const struct later_tallies *tallies)
{
    static const struct later_tally none;
    const struct past_range *range = printing->range;
    const struct row row = { .queue = printing->queue,
                             .type = printing->type,
                             .from = (double)period * later_scales[range->scale].seconds,
                             .seconds = seconds_of(range, period) };
    const struct later_tally *one = row.type ? later_tallies_find(tallies, row.type) : NULL;
    struct later_tally sum;

    if (!row.type)
        later_tallies_sum(tallies, &sum);
    history_print(printing, &row, !row.type ? &sum : one ? one : &none);
}

static void on_period(void *arg, int64_t period, struct later_tallies *tallies)
{
    struct printing *printing = arg;

    printing->some |= tallies->count > 0;
    if (printing->by_period) {
        history_print_period(printing, period, tallies);
        return;
    }
    for (size_t i = 0; i < tallies->count; i++) {
        if (printing->type && strcmp(printing->type, tallies->rows[i]->type) != 0)
            continue;

        struct later_tally *row = later_tallies_row(&printing->all, tallies->rows[i]->type);

        if (row)
            later_tally_add(row, tallies->rows[i]);
    }
}

static void print_types(struct printing *printing)
{
    const struct past_range *range = printing->range;
    struct row row = { .queue = printing->queue,
                       .from = range->from,
                       .seconds = range->to - range->from };
    struct later_tally sum;

    for (size_t i = 0; i < printing->all.count; i++) {
        row.type = printing->all.rows[i]->type;
        history_print(printing, &row, printing->all.rows[i]);
    }
    row.type = NULL;
    later_tallies_sum(&printing->all, &sum);
    if (printing->all.count > 1 && !printing->cli->json)
        history_print(printing, &row, &sum);
    later_tallies_free(&printing->all);
}

/* --- the command --- */

static int history_read_options(struct cli *cli, double *seconds, double *until,
                                enum later_scale *scale, struct later_error *err)
{
    const char *by = args_text(&cli->args, "by"), *type = args_text(&cli->args, "type");
    int found = 0;

    *scale = LATER_SCALES;
    *seconds = 3600;
    *until = 0;
    if (cli_duration(cli, "since", seconds, err) < 0 || cli_duration(cli, "until", until, err) < 0)
        return -1;
    if (*until >= *seconds)
        return later_fail(err, LATER_E_USAGE, "--until: must be less long ago than --since");
    if (type && (!*type || args_flag(&cli->args, "marks")))
        return later_fail(err, LATER_E_USAGE,
                          *type ? "--marks have no types: leave --type out"
                                : "--type: the name of one");
    if (!by)
        return 0;
    while (found < LATER_SCALES && strcmp(later_scales[found].name, by) != 0)
        found++;
    *scale = (enum later_scale)found;
    return found < LATER_SCALES
               ? 0
               : later_fail(err, LATER_E_USAGE, "--by %s: minute, ten or hour", by);
}

static int history_print_queues(struct cli *cli, const struct queue_list *list,
                                const struct past_range *range, struct later_error *err)
{
    static const char *const by_type[] = { "QUEUE",  "TYPE",    ">ATTEMPTS", ">/S",
                                           ">DONE",  ">RETRY",  ">BURY",     ">TIMEOUT",
                                           ">CRASH", ">INTERR", ">RETURN",   ">WAIT p50",
                                           ">p95",   ">p99",    ">RUN p50",  ">p95",
                                           ">p99",   NULL };
    const char *headings[sizeof by_type / sizeof *by_type];
    struct printing printing = { .cli = cli,
                                 .type = args_text(&cli->args, "type"),
                                 .range = range,
                                 .by_period = args_text(&cli->args, "by") != NULL };
    int ok = 0;

    memcpy(headings, by_type, sizeof headings);
    if (printing.by_period)
        headings[1] = "FROM";
    cli_table(cli, &printing.table, headings);
    for (size_t i = 0; ok == 0 && i < list->count; i++) {
        printing.queue = list->names[i];
        printing.some = false;
        ok = past_read(cli, list->names[i], range, on_period, &printing, err);
        if (!printing.by_period)
            print_types(&printing);
        if (ok == 0 && !printing.some && cli->args.count > 0)
            queue_list_warn(cli, list->names[i]);
    }
    if (ok == 0)
        cli_instead(cli, &printing.table, "no job was performed in that time");
    table_end(&printing.table);
    return ok;
}

/* Those of the command line or all, at most so many. */
static int history_find_queues(struct cli *cli, struct queue_list *list, struct later_error *err)
{
    int64_t most = HISTORY_QUEUES;

    if (cli_number(cli, "number", 1, HISTORY_QUEUES, &most, err) < 0 ||
        queue_list_find(cli, list, err) < 0)
        return -1;
    return args_text(&cli->args, "number") ? past_choose_busiest(cli, list, (size_t)most, err) : 0;
}

static int history_run(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    struct past_range range;
    enum later_scale scale;
    double seconds, until;
    int ok = history_read_options(cli, &seconds, &until, &scale, err);

    if (ok == 0)
        ok = past_range(cli, seconds, until, scale, &range, err);
    if (ok == 0 && args_flag(&cli->args, "marks"))
        return marks_print(cli, range.from, range.to, err);
    if (ok == 0)
        ok = history_find_queues(cli, &list, err);
    if (ok == 0)
        ok = history_print_queues(cli, &list, &range, err);
    queue_list_free(&list);
    return ok;
}

static const struct args_option options[] = {
    { "since", 0, "DURATION", "how far to look back (1h; up to 90d)" },
    { "until", 0, "DURATION", "how long ago it ends (0: now), to compare with another time" },
    { "by", 0, "SCALE", "a row for each minute, ten (minutes) or hour, of all types together" },
    { "type", 0, "TYPE", "only attempts at jobs of this type" },
    { "number", 'n', "N", "at most N queues, those with the most attempts of all time" },
    { "marks", 0, NULL, "what else happened: starts, deploys, reloads, outages, pauses" },
    { 0 },
};

const struct command command_history = {
    .name = "history",
    .usage = "[Q...] [--since DURATION] [--until DURATION] [--by minute|ten|hour]\n"
             "                     [--type TYPE] [--number N] [--marks]",
    .brief = "Show throughput, outcomes, and how long jobs waited and ran",
    .more =
        "By type: attempts, how many a second, how they ended, and the 50th, 95th and 99th\n"
        "percentile of their times, within a tenth. Minutes are kept for 8 hours, ten minutes "
        "for 7\n"
        "days, hours for 90 days. Only attempts by laterd count, not those by `later reserve`.\n",
    .example = "later history\nlater history mail --since 7d --by hour\n"
               "later history --type mail.send --by minute\n",
    .options = options,
    .max = -1,
    .run = history_run,
};
