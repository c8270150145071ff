/* search.c: `later search`: jobs that meet conditions, the newest first. */
#include "commands.h"
#include "base/clock.h"
#include "jobs/choose.h"
#include "jobs/merge.h"
#include "jobs/peek.h"
#include "jobs/queues.h"
#include "output/jsonl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WINDOW     100 /* jobs looked at in a call */
#define HITS       100 /* if no limit is given */
#define TELL_EVERY 0.5 /* seconds between two lines of progress */

/* One run of the command. */
struct searching {
    struct choice choice;
    struct table table;
    struct whole whole; /* the queue that is being looked at */
    const char *state;
    uint64_t found;
    double told; /* when the last line of progress was */
};

static bool goes_on(const struct searching *searching)
{
    return searching->choice.left > 0 && !searching->choice.pace.stopped;
}

/* --- telling --- */

/* For who reads lines: what was looked at, of how many, and how many of those are meant. */
static void tell_progress(struct searching *searching, bool last)
{
    struct choice *choice = &searching->choice;
    double now = later_clock();
    struct jsonl json;

    progress_jobs(&choice->progress, choice->seen, choice->total);
    if (!args_flag(&choice->cli->args, "progress") || (!last && now - searching->told < TELL_EVERY))
        return;
    searching->told = now;
    jsonl_begin(&json, stdout);
    jsonl_int(&json, "searched", (int64_t)choice->seen);
    jsonl_int(&json, "of", (int64_t)choice->total);
    jsonl_int(&json, "found", (int64_t)searching->found);
    jsonl_bool(&json, "ended", last);
    jsonl_end(&json);
    fflush(stdout);
}

static void tell_hit(struct searching *searching, const struct later_seen *seen)
{
    searching->found++;
    searching->choice.left--;
    progress_hide(&searching->choice.progress);
    if (searching->choice.cli->json)
        peek_print_json(searching->whole.name, seen);
    else
        peek_add_row(searching->choice.cli, &searching->table, seen);
    fflush(stdout);
}

/* --- looking --- */

static void judge(struct searching *searching, const struct later_seen *seen)
{
    struct later_filter_job job = choose_job(seen, searching->state);

    searching->choice.seen++;
    if (later_filter_meets(searching->choice.filter, &job, searching->choice.began))
        tell_hit(searching, seen);
}

/* Jobs `from` up to `to` of a set, the last one first. An answer may hold only the first of them,
 * since documents are bounded, too: then what is behind those comes before. */
static int look_back(struct searching *searching, const struct later_keys *keys, uint64_t from,
                     uint64_t to, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    size_t count;
    int ok = 0;

    pace_work(&searching->choice.pace);
    later_inspect_peek(&cmd, keys, searching->state, "", from, (size_t)(to - from));
    reply = cli_call(searching->choice.cli, &cmd, LATER_SCRIPT_PEEK, err);
    if (!reply)
        return -1;
    count = later_inspect_peeked_count(reply);
    if (pace_rest(&searching->choice.pace) && count > 0 && from + count < to)
        ok = look_back(searching, keys, from + count, to, err);
    while (ok == 0 && count > 0 && goes_on(searching)) {
        struct later_seen seen;

        later_inspect_peeked(reply, --count, &seen);
        seen.state = searching->state;
        judge(searching, &seen);
    }
    later_reply_free(reply);
    return ok;
}

/* From the end to the front. What is added meanwhile comes behind; where jobs leave in front, some
 * are looked at twice, and none is passed over. */
static int look_in(struct searching *searching, const struct later_keys *keys, uint64_t count,
                   struct later_error *err)
{
    int ok = 0;

    while (ok == 0 && count > 0 && goes_on(searching)) {
        uint64_t from = count > WINDOW ? count - WINDOW : 0;

        ok = look_back(searching, keys, from, count, err);
        tell_progress(searching, false);
        count = from;
    }
    return ok;
}

/* They are few, and each is under its token. */
static int look_at_reserved(struct searching *searching, struct later_error *err)
{
    struct merge merge;
    int more = 1;

    merge_begin(&merge, searching->choice.cli, &searching->whole, "reserved", 0, INT32_MAX);
    while (more > 0 && goes_on(searching)) {
        struct later_seen seen;

        more = merge_next(&merge, &seen, err);
        if (more > 0)
            judge(searching, &seen);
    }
    merge_end(&merge);
    return more < 0 ? -1 : 0;
}

static uint64_t size_of(const struct later_sizes *sizes, const char *state)
{
    return strcmp(state, "ready") == 0     ? sizes->ready
           : strcmp(state, "delayed") == 0 ? sizes->delayed
           : strcmp(state, "dead") == 0    ? sizes->dead
                                           : sizes->reserved;
}

static const char *const states[] = { "reserved", "ready", "delayed", "dead" };

static bool is_asked(const struct searching *searching, const char *state)
{
    const char *only = later_filter_state(searching->choice.filter);

    return !only || strcmp(only, state) == 0;
}

static int look_at_queue(struct searching *searching, const char *queue, struct later_error *err)
{
    struct later_sizes each[LATER_WHOLE_MAX], sum;
    int ok = 0;

    if (whole_find(searching->choice.cli, queue, &searching->whole, err) < 0 ||
        queues_size_whole(searching->choice.cli, &searching->whole, each, &sum, err) < 0)
        return -1;
    for (size_t s = 0; ok == 0 && s < sizeof states / sizeof *states; s++) {
        searching->state = states[s];
        if (!is_asked(searching, states[s]))
            continue;
        if (s == 0)
            ok = look_at_reserved(searching, err);
        for (size_t i = 0; s > 0 && ok == 0 && i < searching->whole.count; i++)
            ok = look_in(searching, &searching->whole.parts[i], size_of(&each[i], states[s]), err);
    }
    return ok;
}

/* How many there are to be looked at, for the progress. */
static int count_all(struct searching *searching, const struct queue_list *list,
                     struct later_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct later_sizes sum;

        if (whole_find(searching->choice.cli, list->names[i], &searching->whole, err) < 0 ||
            queues_size_whole(searching->choice.cli, &searching->whole, NULL, &sum, err) < 0)
            return -1;
        for (size_t s = 0; s < sizeof states / sizeof *states; s++)
            searching->choice.total +=
                is_asked(searching, states[s]) ? size_of(&sum, states[s]) : 0;
    }
    return 0;
}

static int search(struct searching *searching, struct later_error *err)
{
    struct cli *cli = searching->choice.cli;
    struct queue_list list = { 0 };
    int ok = choose_queues(&searching->choice, &list, err);

    if (ok == 0)
        ok = count_all(searching, &list, err);
    tell_progress(searching, false);
    if (!cli->json)
        peek_begin_rows(cli, &searching->table);
    for (size_t i = 0; ok == 0 && i < list.count && goes_on(searching); i++)
        ok = look_at_queue(searching, list.names[i], err);
    if (!cli->json)
        table_end(&searching->table);
    if (ok == 0)
        tell_progress(searching, true);
    queue_list_free(&list);
    return ok;
}

/* --- the command --- */

static int run(struct cli *cli, struct later_error *err)
{
    struct searching searching = { 0 };
    int status;

    if (args_flag(&cli->args, "progress") && !cli->json)
        return later_fail(err, LATER_E_USAGE, "--progress goes with --json");
    if (choose_begin(&searching.choice, cli, true, 0, err) < 0)
        return -1;
    if (!args_text(&cli->args, "limit"))
        searching.choice.left = HITS;
    status = search(&searching, err);
    if (status == 0 && searching.choice.pace.stopped) {
        cli_say(cli, "stopped: %" PRIu64 " jobs were looked at", searching.choice.seen);
        status = LATER_E_LATER;
    }
    choose_end(&searching.choice);
    return status;
}

static const struct args_option options[] = {
    CHOOSE_OPTIONS,
    { "progress", 0, NULL, "with --json: lines that say how far it is" },
    { 0 },
};

const struct command command_search = {
    .name = "search",
    .usage = "Q [CONDITIONS] | --all-queues [CONDITIONS]",
    .brief = "Find jobs that meet conditions, the newest first",
    .more = "At most 100, or --limit; in a pipe as `later peek`. It takes at most a tenth of\n"
            "Redis's time. --progress tells twice a second how many were searched, of how many.\n",
    .example = "later search mail --text greylisted\n"
               "later search --all-queues --state dead --where payload.to=a@b.c\n",
    .options = options,
    .max = 1,
    .run = run,
};
