/* count.c: `later search --count`. */
#include "choose/count.h"

#include "choose/choose.h"

#include <inttypes.h>

static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                       LATER_KEY_DEAD,  LATER_KEY_WAITING, LATER_KEY_DONE };

struct counting {
    struct choice *choice;
    uint64_t count;
};

static int count_jobs_one(void *arg, const struct chosen *chosen, struct later_error *err)
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

/* Of all queues, only those with such jobs are printed. */
static int count_jobs_all(struct choice *choice, const struct queue_list *list,
                          struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", ">JOBS", NULL };
    bool all = args_flag(&choice->cli->args, "all-queues");
    struct table table;
    int ok = 0;

    cli_table(choice->cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < list->count && !choice->pace.stopped; i++) {
        struct counting counting = { .choice = choice };

        ok = choose_in_queue(choice, list->names[i], sets, sizeof sets / sizeof *sets,
                             count_jobs_one, &counting, err);
        progress_hide(&choice->progress);
        if (ok == 0 && (counting.count > 0 || !all))
            cli_print_count(choice->cli, &table, list->names[i], "count", NULL, counting.count);
    }
    table_end(&table);
    return ok;
}

int count_run(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    struct choice choice;
    int status = -1;

    if (choose_begin(&choice, cli, false, 0, err) < 0)
        return -1;
    choice.passed = count_on;
    if (choose_queues(&choice, &list, err) == 0)
        status = count_jobs_all(&choice, &list, err);
    if (status == 0 && choice.pace.stopped) {
        cli_say(cli, "stopped: %" PRIu64 " jobs were looked at", choice.seen);
        status = LATER_E_LATER;
    }
    queue_list_free(&list);
    choose_end(&choice);
    return status;
}
