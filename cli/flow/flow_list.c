/* flow_list.c: `later flow` and `later flow show`. */
#include "flow/flow.h"

#include "base/grow.h"
#include "base/names.h"
#include "output/jsonl.h"
#include "queue_list.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 100 /* flows in a round trip for their names */

/* ---- the list */

struct flow_list {
    struct cli *cli;
    struct table table;
    const char *state; /* only these; NULL = all */
    int64_t most;
    double now;
};

void flow_tell(struct cli *cli, struct table *table, const char *name,
               const struct flow_found *found, double now)
{
    const struct later_flow_sizes *sizes = &found->sizes;
    const char *state = later_flow_state(sizes);
    uint64_t over = sizes->done + sizes->gone + sizes->skipped;
    double percent = sizes->total > 0 ? 100.0 * (double)over / (double)sizes->total : 100;
    bool blocked = strcmp(state, "blocked") == 0;

    if (cli->json) {
        jsonl_line(stdout,
                   "queue:%s flow:%s state:%s closed:%c total:%ju open:%ju waiting:%ju dead:%ju "
                   "done:%ju gone:%ju skipped:%ju made:%f",
                   found->keys.queue, name, state, sizes->closed, sizes->total, sizes->open,
                   sizes->waiting, sizes->dead, sizes->done, sizes->gone, sizes->skipped,
                   sizes->made);
        return;
    }
    table_text(table, PLAIN, found->keys.queue);
    table_text(table, BOLD, name);
    table_text(table, blocked ? YELLOW : PLAIN, state);
    table_number(table, PLAIN, sizes->total);
    table_number(table, PLAIN, sizes->open);
    table_number(table, PLAIN, sizes->waiting);
    table_number(table, sizes->dead ? YELLOW : PLAIN, sizes->dead);
    table_number(table, PLAIN, sizes->done);
    table_number(table, PLAIN, sizes->gone);
    table_print(table, PLAIN, "%.0f", percent);
    table_age(table, PLAIN, now - sizes->made);
}

void flow_table(const struct cli *cli, struct table *table)
{
    static const char *const headings[] = { "QUEUE", "FLOW",     "STATE", ">TOTAL",
                                            ">OPEN", ">WAITING", ">DEAD", ">DONE",
                                            ">GONE", ">%",       ">AGE",  NULL };

    cli_table(cli, table, headings);
}

static int flow_list_one(struct flow_list *list, const struct later_keys *keys, const char *name,
                         struct later_error *err)
{
    struct flow_found found = { .keys = *keys };
    int there = flow_look(list->cli, name, &found, err);

    if (there <= 0 || (list->state && strcmp(list->state, later_flow_state(&found.sizes)) != 0))
        return there < 0 ? -1 : 0;
    list->most--;
    flow_tell(list->cli, &list->table, name, &found, list->now);
    return 0;
}

static int flow_list_queue(struct flow_list *list, const char *queue, struct later_error *err)
{
    struct later_keys keys;
    size_t count = 1;
    int ok = cli_keys(list->cli, queue, &keys, err);

    for (uint64_t rank = 0; ok == 0 && count > 0 && list->most > 0; rank += PAGE) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        later_flow_names(&cmd, &keys, rank, PAGE);
        reply = cli_call(list->cli, &cmd, err);
        if (!reply)
            return -1;
        count = later_reply_count(reply);
        for (size_t i = 0; ok == 0 && i < count && list->most > 0; i += 2)
            ok = flow_list_one(list, &keys, later_reply_text_at(reply, i), err);
        later_reply_free(reply);
    }
    return ok;
}

int flow_list(struct cli *cli, struct later_error *err)
{
    struct flow_list list = { .cli = cli, .state = args_text(&cli->args, "state"), .most = 1000 };
    struct queue_list queues = { 0 };
    int64_t most;
    int ok;

    if (cli_number(cli, "number", 1, 100000, &list.most, err) < 0 ||
        cli_clock(cli, &list.now, err) < 0)
        return -1;
    flow_table(cli, &list.table);
    most = list.most;
    ok = queue_list_asked(cli, &queues, err);
    for (size_t i = 0; ok == 0 && i < queues.count && list.most > 0; i++)
        ok = flow_list_queue(&list, queues.names[i], err);
    if (ok == 0)
        cli_instead(cli, &list.table,
                    list.state ? "no flow of this state"
                               : "no flow; `later push --flow NAME --file FILE` makes one");
    table_end(&list.table);
    if (ok == 0 && list.most == most)
        queue_list_warn(cli, args_text(&cli->args, "queue"));
    queue_list_free(&queues);
    return ok < 0 ? -1 : LATER_OK;
}

/* ---- show: the jobs, level by level */

struct shown {
    struct later_flow_member member;
    char *after; /* owned */
    uint32_t level;
};

struct flow_show {
    struct cli *cli;
    const char *queue;   /* of the flow */
    struct shown **jobs; /* owned */
    size_t count, room;
    struct later_names steps;
};

static int flow_show_add(void *arg, const struct later_flow_member *member)
{
    struct flow_show *show = arg;
    bool room = later_grow(&show->jobs, &show->room, show->count, sizeof *show->jobs);
    struct shown *job = room ? calloc(1, sizeof *job) : NULL;
    char *after = strndup(member->after, member->after_len);

    if (!job || !after) {
        free(job);
        free(after);
        return 1;
    }
    job->member = *member;
    job->member.after = job->after = after;
    show->jobs[show->count++] = job;
    return member->step[0] && !later_names_find(&show->steps, job->member.step) &&
           !later_names_add(&show->steps, job->member.step, job);
}

/* A job is one level below the lowest that it waits for; `*` is below all. */
static bool flow_show_lower(const struct flow_show *show, struct shown *job)
{
    uint32_t level = 0;
    char *names = strdup(job->after), *rest = NULL;

    for (char *name = names ? strtok_r(names, ",", &rest) : NULL; name;
         name = strtok_r(NULL, ",", &rest)) {
        const struct shown *step = later_names_find(&show->steps, name);

        if (step && step->level >= level)
            level = step->level + 1;
        if (strcmp(name, "*") == 0)
            level = UINT32_MAX;
    }
    free(names);
    if (level <= job->level)
        return false;
    job->level = level;
    return true;
}

static int flow_show_order(const void *a, const void *b)
{
    const struct shown *one = *(struct shown *const *)a, *two = *(struct shown *const *)b;

    if (one->level != two->level)
        return one->level < two->level ? -1 : 1;
    return strcmp(one->member.id, two->member.id);
}

static void flow_show_tell(struct flow_show *show, struct table *table, const struct shown *job,
                           uint64_t level)
{
    const struct later_flow_member *member = &job->member;

    if (show->cli->json) {
        jsonl_line(stdout, "level:%ju id:%s step:%s state:%s after:%s when:%s queue:%s", level,
                   member->id, text_known(member->step), later_flow_word(member->state),
                   text_known(member->after), member->after[0] ? member->when : NULL,
                   member->queue[0] ? member->queue : show->queue);
        return;
    }
    table_number(table, DIM, level);
    table_text(table, BOLD, text_known(member->step));
    table_text(table, member->state == 'x' || member->state == 'g' ? YELLOW : PLAIN,
               later_flow_word(member->state));
    table_text(table, PLAIN, member->id);
    table_text(table, PLAIN, member->after[0] ? member->when : NULL);
    table_text(table, PLAIN, text_known(member->after));
    table_text(table, PLAIN, member->queue[0] ? member->queue : show->queue);
}

int flow_show(struct cli *cli, char **words, struct later_error *err)
{
    static const char *const headings[] = { ">LEVEL", "STEP", "STATE", "QUEUE",
                                            "ID",     "WHEN", "AFTER", NULL };
    const char *name = words[0];
    struct flow_show show = { .cli = cli };
    struct flow_found found;
    struct table table;
    uint64_t level = 1;
    bool lower = true;
    int ok;

    if (flow_find(cli, name, &found, err) < 0)
        return -1;
    show.queue = found.keys.queue;
    ok = flow_each(cli, &found.keys, name, flow_show_add, &show, err);
    if (ok > 0)
        ok = later_fail(err, LATER_E_SYSTEM, "no memory");
    for (size_t round = 0; ok == 0 && lower && round < show.count; round++) {
        lower = false;
        for (size_t i = 0; i < show.count; i++)
            lower |= flow_show_lower(&show, show.jobs[i]);
    }
    if (ok == 0 && show.count > 0)
        qsort(show.jobs, show.count, sizeof(*show.jobs), flow_show_order);
    cli_table(cli, &table, headings);
    for (size_t i = 0; ok == 0 && i < show.count; i++) {
        level += i > 0 && show.jobs[i]->level != show.jobs[i - 1]->level;
        flow_show_tell(&show, &table, show.jobs[i], level);
    }
    table_end(&table);
    later_names_free(&show.steps, NULL);
    for (size_t i = 0; i < show.count; i++) {
        free(show.jobs[i]->after);
        free(show.jobs[i]);
    }
    free(show.jobs);
    return ok < 0 ? -1 : LATER_OK;
}
