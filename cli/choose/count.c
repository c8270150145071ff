/* count.c: `later search --count`. */
#include "choose/count.h"

#include "choose/choose.h"
#include "choose/facets.h"

#include <inttypes.h>

static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                       LATER_KEY_DEAD,  LATER_KEY_WAITING, LATER_KEY_DONE };

struct counting {
    struct choice choice;
    struct facets facets;
    const char *queue; /* of the present walk */
    uint64_t count;    /* in it, */
    uint64_t all;      /* and in all so far */
};

static int count_jobs_one(void *arg, const struct chosen *chosen, struct later_error *err)
{
    struct counting *counting = arg;

    counting->count++;
    counting->all++;
    return facets_add(&counting->facets, counting->queue, chosen, err);
}

static void count_on(void *arg, const struct chosen *last)
{
    struct counting *counting = arg;

    (void)last;
    choose_tell(&counting->choice, counting->all, NULL, false);
}

/* Of all queues, only those with such jobs are printed; none if it is counted by something. */
static int count_jobs_all(struct counting *counting, const struct queue_list *list,
                          struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", ">JOBS", NULL };
    struct cli *cli = counting->choice.cli;
    bool all = args_flag(&cli->args, "all-queues"), by = counting->facets.count > 0;
    struct table table;
    int ok = 0;

    cli_table(cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < list->count && choose_goes_on(&counting->choice); i++) {
        counting->queue = list->names[i];
        counting->count = 0;
        ok = choose_in_queue(&counting->choice, counting->queue, sets, sizeof sets / sizeof *sets,
                             count_jobs_one, counting, err);
        progress_hide(&counting->choice.progress);
        if (ok == 0 && !by && (counting->count > 0 || !all))
            cli_print_count(cli, &table, counting->queue, "count", NULL, counting->count);
    }
    table_end(&table);
    if (ok == 0 && by)
        facets_print(&counting->facets, cli);
    return ok;
}

static int count_begin(struct counting *counting, struct cli *cli, struct later_error *err)
{
    if (facets_begin(&counting->facets, cli, err) < 0)
        return -1;
    if (choose_begin(&counting->choice, cli, facets_read(&counting->facets), 0, err) == 0) {
        counting->choice.passed = count_on;
        return 0;
    }
    facets_end(&counting->facets);
    return -1;
}

int count_run(struct cli *cli, struct later_error *err)
{
    struct counting counting = { .count = 0 };
    struct queue_list list = { 0 };
    int status = -1;

    if (count_begin(&counting, cli, err) < 0)
        return -1;
    if (choose_queues(&counting.choice, &list, err) == 0)
        status = count_jobs_all(&counting, &list, err);
    if (status == 0)
        choose_tell(&counting.choice, counting.all, NULL, true);
    if (status == 0 && counting.choice.pace.stopped) {
        cli_say(cli, "stopped: %" PRIu64 " jobs were looked at", counting.choice.seen);
        status = LATER_E_LATER;
    }
    queue_list_free(&list);
    choose_end(&counting.choice);
    facets_end(&counting.facets);
    return status;
}
