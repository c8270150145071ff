/* running.c: running jobs and their progress. */
#include "status/status.h"

#include "jobs/merge.h"
#include "jobs/peek.h"
#include "output/jsonl.h"

#include <stdio.h>

#define LOOK_MAX 200 /* reserved jobs per queue that are looked at */
#define TELL_MAX 20  /* jobs printed, over all queues */

struct running {
    struct cli *cli;
    struct table table;
    size_t told;
};

static void running_begin(struct running *running)
{
    static const char *const headings[] = { "QUEUE", "JOB", "TYPE", "PROGRESS", NULL };

    if (running->cli->json)
        return;
    if (running->cli->out_terminal)
        putchar('\n');
    cli_table(running->cli, &running->table, headings);
}

static void running_tell(struct running *running, const char *queue, const struct later_seen *seen)
{
    char type[LATER_TYPE_MAX + 1];
    struct jsonl json;

    if (running->told++ == 0)
        running_begin(running);
    peek_type(seen, type);
    if (running->cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_add(&json, "job:%s in:%s type:%s", seen->id, queue, type);
        jsonl_foreign(&json, "progress", seen->record.progress, seen->record.progress_len);
        jsonl_end(&json);
        return;
    }
    table_text(&running->table, PLAIN, queue);
    table_text(&running->table, PLAIN, seen->id);
    table_text(&running->table, PLAIN, type);
    peek_add_progress(&running->table, seen);
}

static int tell_queue(struct running *running, const char *queue, struct later_error *err)
{
    struct whole whole;
    struct merge merge;
    struct later_seen seen;
    int more = 0;

    if (whole_find(running->cli, queue, &whole, err) < 0)
        return -1;
    merge_begin(&merge, running->cli, &whole, "reserved", 0, LOOK_MAX);
    while (running->told < TELL_MAX && (more = merge_next(&merge, &seen, err)) > 0) {
        if (seen.record.progress_len)
            running_tell(running, whole.name, &seen);
    }
    merge_end(&merge);
    return more < 0 ? -1 : 0;
}

int running_print(struct cli *cli, const struct queue_list *list, const struct served *served,
                  struct later_error *err)
{
    struct running running = { .cli = cli };
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < list->count && running.told < TELL_MAX; i++) {
        if (served_runs(served, list->names[i]))
            ok = tell_queue(&running, list->names[i], err);
    }
    if (running.told > 0 && !cli->json)
        table_end(&running.table);
    return ok;
}
