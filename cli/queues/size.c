/* size.c: `later size` of many queues in few round trips; `later size --names` and `--groups`. */
#include "queues/size.h"

#include "commands.h"
#include "queues/groups.h"
#include "queues/laid.h"
#include "output/jsonl.h"
#include "sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER     1000 /* queues held in memory at a time */
#define GROUPS_SHOWN 20

/* --- names --- */

static int print_name(struct cli *cli, const char *queue, struct later_error *err)
{
    struct later_plan plan;
    struct jsonl json;

    if (!cli->json) {
        puts(queue);
        return 0;
    }
    if (later_call_ask_plan(cli->client, queue, &plan, err) < 0)
        return -1;
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", queue);
    if (plan.count > 1)
        jsonl_int(&json, "shards", plan.count);
    jsonl_end(&json);
    return 0;
}

static int print_names(struct cli *cli, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = 0;

    if (cli->args.count > 0)
        return later_fail(err, LATER_E_USAGE, "--names lists all queues: it takes no word");
    ok = queue_list_known(cli, &list, err);

    for (size_t i = 0; ok == 0 && i < list.count; i++)
        ok = print_name(cli, list.names[i], err);
    queue_list_free(&list);
    return ok;
}

/* --- size --- */

/* Are some of its shards paused, but not all? */
static bool is_partly_paused(const struct sized *sized)
{
    return sized->paused > 0 && sized->paused < sized->parts;
}

/* What has happened to jobs since the queue was made. */
static void size_print_counts(struct jsonl *json, const struct later_sizes *sizes)
{
    static const enum later_counter told[] = { LATER_COUNT_PUSHED, LATER_COUNT_ADOPTED,
                                               LATER_COUNT_DONE, LATER_COUNT_RELEASED,
                                               LATER_COUNT_BURIED };

    jsonl_open(json, "counts", '{');
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        jsonl_int(json, later_counter_name(told[i]), (int64_t)sizes->counters[told[i]]);
    jsonl_close(json, '}');
}

static void size_print_json(const struct sized *sized, int served, const struct laid *laid)
{
    const struct later_sizes *sizes = &sized->sizes;
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json,
              "queue:%s ready:%ju delayed:%ju reserved:%ju dead:%ju waiting:%ju paused:%c "
              "oldest_ready:%f",
              sized->name, sizes->ready, sizes->delayed, sizes->reserved, sizes->dead,
              sizes->waiting, sized->paused == sized->parts,
              sizes->oldest_ready >= 0 ? sizes->oldest_ready : NAN);
    if (sized->plan.count > 1)
        jsonl_int(&json, "shards", sized->plan.count);
    if (is_partly_paused(sized))
        jsonl_add(&json, "partly_paused:%c", true);
    if (laid->count > 0)
        laid_json(&json, laid);
    jsonl_add(&json, "served:%f overdue:%ju", served >= 0 ? (double)served : NAN, sizes->overdue);
    size_print_counts(&json, sizes);
    jsonl_end(&json);
}

static void size_add_row(struct table *table, const struct sized *sized, int served,
                         const struct laid *laid)
{
    const struct later_sizes *sizes = &sized->sizes;
    const char *paused = is_partly_paused(sized) ? "partly"
                         : sized->paused         ? "yes"
                         : laid->count > 0       ? "types"
                                                 : "no";

    table_text(table, PLAIN, sized->name);
    table_number(table, PLAIN, sizes->ready);
    table_number(table, PLAIN, sizes->delayed);
    table_number(table, PLAIN, sizes->reserved);
    table_number(table, sizes->dead ? RED : PLAIN, sizes->dead);
    table_text(table, sized->paused || laid->count > 0 ? YELLOW : PLAIN, paused);
    table_known_age(table, PLAIN, sizes->oldest_ready);
    if (served == 0 && table->aligned) /* a person would overlook a 0 */
        table_text(table, YELLOW, "nobody");
    else if (served >= 0)
        table_number(table, PLAIN, (uint64_t)served);
    else
        table_none(table);
    table_number(table, sizes->overdue ? YELLOW : PLAIN, sizes->overdue);
    table_number(table, PLAIN, sizes->waiting);
}

/* A queue that was named and has no trace anywhere is probably a typing error. */
static bool size_is_known(const struct sized *sized, int served)
{
    const struct later_sizes *sizes = &sized->sizes;
    uint64_t sum = sizes->ready + sizes->delayed + sizes->reserved + sizes->dead + sizes->jobs;

    return sum + sizes_traces(sizes) > 0 || sized->paused || served > 0 || sized->plan.epoch > 0;
}

/* The table, and, for people, what is laid over these queues. */
struct size_page {
    struct table table;
    FILE *below; /* NULL: nobody reads it */
    char *text;
    size_t len;
};

/* Its counters say whether something is laid over a queue. Who may not look sees nothing. */
static void size_ask_laid(struct cli *cli, const struct sized *sized, struct laid *laid)
{
    struct later_error ignored;
    struct later_keys keys;

    laid->count = 0;
    if (sized->sizes.counters[LATER_COUNT_OVERRIDES] > 0 &&
        cli_keys(cli, sized->name, &keys, &ignored) == 0)
        laid_read(cli, &keys, laid, &ignored);
}

static int print_some(struct cli *cli, struct size_page *page, const struct served *served,
                      const struct sized *sized, size_t count)
{
    int status = LATER_OK;

    for (size_t i = 0; i < count; i++) {
        int hosts = served_by(served, sized[i].name);
        struct laid laid;

        size_ask_laid(cli, &sized[i], &laid);
        if (cli->args.count > 0 && !size_is_known(&sized[i], hosts)) {
            char meant[ARGS_MEANT];

            cli_say(cli, "no queue %s%s", sized[i].name,
                    args_meant(meant, served ? served_nearest(served, sized[i].name) : NULL, ""));
            status = LATER_E_NONE;
        } else if (cli->json) {
            size_print_json(&sized[i], hosts, &laid);
        } else {
            size_add_row(&page->table, &sized[i], hosts, &laid);
            if (page->below && laid.count > 0)
                laid_tell(page->below, sized[i].name, &laid, served ? served_at(served) : 0);
        }
    }
    return status;
}

/* Queues that were named are read exactly, each by a script. For all queues the cheaper commands
 * are used, and for one who looks at the same ones again and again. */
static int size_ask_some(struct cli *cli, const struct served *served, struct sized *sized,
                         size_t count, struct later_error *err)
{
    bool exact = (cli->args.count > 0 && !cli->kept) || !served;

    if (sizes_ask(cli, sized, count, exact, served ? served_at(served) : 0, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (sized[i].err.code != LATER_OK) {
            *err = sized[i].err;
            return -1;
        }
    }
    return 0;
}

static int print_all(struct cli *cli, const struct queue_list *list, struct size_page *page,
                     const struct served *served, struct later_error *err)
{
    struct sized *sized = calloc(TOGETHER, sizeof *sized);
    int status = sized ? LATER_OK : later_fail(err, LATER_E_SYSTEM, "no memory");

    for (size_t from = 0; status >= 0 && from < list->count; from += TOGETHER) {
        size_t count = list->count - from < TOGETHER ? list->count - from : TOGETHER;
        int one = -1;

        for (size_t i = 0; i < count; i++)
            sized[i] = (struct sized){ .name = list->names[from + i] };
        if (size_ask_some(cli, served, sized, count, err) == 0)
            one = print_some(cli, page, served, sized, count);
        status = one != LATER_OK ? one : status;
    }
    free(sized);
    return status;
}

int size_print(struct cli *cli, const struct queue_list *list, const struct served *served,
               struct later_error *err)
{
    static const char *const headings[] = { "QUEUE",         ">READY", ">DELAYED",
                                            ">RESERVED",     ">DEAD",  "PAUSED",
                                            ">OLDEST READY", ">HOSTS", ">OVERDUE",
                                            ">WAITING",      NULL };
    struct size_page page = { .below = NULL };
    int status;

    cli_table(cli, &page.table, headings);
    if (page.table.aligned && !cli->json)
        page.below = open_memstream(&page.text, &page.len);
    status = print_all(cli, list, &page, served, err);
    if (status == 0)
        cli_instead(cli, &page.table, "no queue yet; the first push makes one");
    table_end(&page.table);
    if (page.below && fclose(page.below) == 0)
        fputs(page.text, stdout);
    free(page.text);
    return status;
}

static int print_sizes(struct cli *cli, struct later_error *err)
{
    struct served *served = served_read(cli, err);
    struct queue_list list = { 0 };
    int status = -1;

    /* Without the right to read later:hosts, the sizes are still printed. */
    if (served || err->code == LATER_E_TOKEN)
        status = queue_list_find(cli, &list, err);
    if (status == 0)
        status = size_print(cli, &list, served, err);
    queue_list_free(&list);
    served_free(served);
    return status;
}

/* --- groups --- */

static void size_add_group(struct cli *cli, struct table *table, const char *queue,
                           const struct group *group)
{
    if (!cli->json) {
        table_text(table, PLAIN, queue);
        table_text(table, PLAIN, group->name);
        table_number(table, PLAIN, group->ready);
        table_known_age(table, PLAIN, group->oldest);
        return;
    }
    jsonl_line(stdout, "queue:%s group:%s ready:%ju oldest_ready:%f", queue,
               group->name[0] ? group->name : NULL, group->ready,
               group->oldest >= 0 ? group->oldest : NAN);
}

static int size_tell_groups(struct cli *cli, struct table *table, const char *queue, uint64_t most,
                            struct later_error *err)
{
    struct whole *whole = malloc(sizeof *whole);
    struct group_list list = { 0 };
    int ok =
        whole ? whole_find(cli, queue, whole, err) : later_fail(err, LATER_E_SYSTEM, "no memory");

    if (ok == 0)
        ok = groups_read(cli, whole, &list, err);
    for (size_t i = 0; ok == 0 && i < list.count && i < most; i++)
        size_add_group(cli, table, queue, &list.groups[i]);
    groups_free(&list);
    free(whole);
    return ok;
}

static int print_groups(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "QUEUE", "GROUP", ">READY", ">OLDEST", NULL };
    struct queue_list queues = { 0 };
    int64_t most = GROUPS_SHOWN;
    struct table table;
    int ok;

    if (cli_number(cli, "number", 1, 100000, &most, err) < 0)
        return -1;
    ok = queue_list_find(cli, &queues, err);
    cli_table(cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < queues.count; i++)
        ok = size_tell_groups(cli, &table, queues.names[i], (uint64_t)most, err);
    table_end(&table);
    queue_list_free(&queues);
    return ok;
}

static int run_size(struct cli *cli, struct later_error *err)
{
    if (args_flag(&cli->args, "groups"))
        return print_groups(cli, err);
    return args_flag(&cli->args, "names") ? print_names(cli, err) : print_sizes(cli, err);
}

static const struct args_option size_options[] = {
    { "names", 0, NULL, "only list the queues that have ever been pushed to" },
    { "groups", 0, NULL, "the groups that share each queue, those with most ready jobs first" },
    { "number", 'n', "N", "with --groups: at most N of each queue (20)" },
    { 0 },
};

const struct command command_size = {
    .name = "size",
    .usage = "[Q...] | --names | --groups [Q...]",
    .brief = "Count the jobs of queues, by state",
    .more = "In a pipe, separated by TAB: queue, ready, delayed, reserved, dead, paused (yes, no,\n"
            "partly if only some shards are, or types if only some types are), age of the oldest\n"
            "ready job in seconds, number of hosts whose laterd serves it, overdue reservations\n"
            "(the lease ran out, and nobody has returned the jobs yet), jobs that wait for others\n"
            "of their flow. The status is 66 if a named queue is unknown.\n"
            "With --groups: queue, group (empty: jobs without one), its ready jobs, age of the "
            "oldest.\n",
    .example = "later size mail\nlater size --json\n",
    .options = size_options,
    .max = -1,
    .run = run_size,
};
