/* count.c: `later count`. */
#include "commands.h"
#include "jobs/choose.h"
#include "output/jsonl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                       LATER_KEY_DEAD, LATER_KEY_DONE };

struct counting {
    struct choice *choice;
    uint64_t count;
};

static int count_one(void *arg, const struct chosen *chosen, struct later_error *err)
{
    struct counting *counting = arg;

    (void)chosen;
    (void)err;
    counting->count++;
    return 0;
}

static void count_on(void *arg, const struct chosen *last)
{
    const struct counting *counting = arg;

    (void)last;
    choose_tell(counting->choice, counting->count, NULL, false);
}

static int count_queue(struct choice *choice, const char *queue, uint64_t *count,
                       struct later_error *err)
{
    struct counting counting = { .choice = choice };
    struct whole whole;

    if (whole_find(choice->cli, queue, &whole, err) < 0)
        return -1;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        for (size_t i = 0; i < whole.count; i++) {
            if (choose_is_asked_of(choice, sets[s]) &&
                choose_in(choice, &whole.parts[i], sets[s], count_one, &counting, err) < 0)
                return -1;
        }
    }
    *count = counting.count;
    return 0;
}

static void tell(struct cli *cli, struct table *table, const char *queue, uint64_t count)
{
    struct jsonl json;

    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", queue);
        jsonl_int(&json, "count", (int64_t)count);
        jsonl_end(&json);
    } else if (args_flag(&cli->args, "all-queues")) {
        table_text(table, PLAIN, queue);
        table_number(table, PLAIN, count);
    } else {
        printf("%" PRIu64 "\n", count);
    }
}

/* Of all queues, only those with such jobs are printed. */
static int count_all(struct choice *choice, const struct queue_list *list, struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", ">JOBS", NULL };
    bool all = args_flag(&choice->cli->args, "all-queues");
    struct table table;
    int ok = 0;

    cli_table(choice->cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < list->count && !choice->pace.stopped; i++) {
        uint64_t count;

        ok = count_queue(choice, list->names[i], &count, err);
        progress_hide(&choice->progress);
        if (ok == 0 && (count > 0 || !all))
            tell(choice->cli, &table, list->names[i], count);
    }
    table_end(&table);
    return ok;
}

static int run(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    struct choice choice;
    int status = -1;

    if (choose_begin(&choice, cli, false, 0, err) < 0)
        return -1;
    choice.passed = count_on;
    if (choose_queues(&choice, &list, err) == 0)
        status = count_all(&choice, &list, err);
    if (status == 0 && choice.pace.stopped) {
        cli_say(cli, "stopped: %" PRIu64 " jobs were looked at", choice.seen);
        status = LATER_E_LATER;
    }
    queue_list_free(&list);
    choose_end(&choice);
    return status;
}

static const struct args_option options[] = {
    CHOOSE_OPTIONS,
    { 0 },
};

const struct command command_count_jobs = {
    .name = "count",
    .usage = "Q [CONDITIONS] | --all-queues [CONDITIONS]",
    .brief = "Count the jobs that meet conditions",
    .more =
        "With --all-queues: each queue that has such jobs, and their number. It looks at every\n"
        "job, and takes at most a tenth of Redis's time; `later size` is faster.\n",
    .example = "later count mail --state dead --kind crash\n"
               "later count --all-queues --where payload.tenant=42\n",
    .options = options,
    .max = 1,
    .run = run,
};
