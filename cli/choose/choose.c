/* choose.c: finds the jobs of a queue that match a filter. */
#include "choose/choose.h"

#include "jobs/fields.h"
#include "choose/members.h"
#include "choose/walk.h"
#include "base/clock.h"
#include "output/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MIN  10     /* jobs per call at least; each may have a document of 1 MiB */
#define REPLY_GOOD 262144 /* bytes of documents that a reply should have */
#define TELL_EVERY 0.5    /* seconds between two lines of progress */

/* --- options --- */

bool choose_is_asked_of(const struct choice *choice, enum later_key set)
{
    const char *only = later_filter_state(choice->filter);

    return only ? strcmp(only, later_key_name(set)) == 0 : set != LATER_KEY_DONE;
}

bool choose_has_condition(const struct cli *cli, bool reason)
{
    for (size_t i = 0; later_filter_names[i]; i++) {
        if (args_text(&cli->args, later_filter_names[i]) &&
            !(reason && cli->args.count > 0 && strcmp(later_filter_names[i], "error") == 0))
            return true;
    }
    return args_text(&cli->args, "number") || args_flag(&cli->args, "all");
}

int choose_is_asked(const struct cli *cli, bool reason, struct later_error *err)
{
    bool asked = choose_has_condition(cli, reason);

    if (asked && cli->args.count > 0)
        return later_fail(err, LATER_E_USAGE,
                          "%.64s is the id of a job: conditions stand alone, with -q or -A",
                          cli->args.words[0]);
    if (!asked && (args_flag(&cli->args, "dry-run") || args_text(&cli->args, "rate")))
        return later_fail(err, LATER_E_USAGE, "a condition is missing, such as --state");
    if (!asked && cli->args.count == 0)
        return later_fail(err, LATER_E_USAGE,
                          "name jobs by ID, or give -q or -A and a condition, such "
                          "as --state, or --all");
    return asked;
}

int choose_state(const struct cli *cli, enum later_key *set, struct later_error *err)
{
    static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_DEAD,
                                           LATER_KEY_WAITING, LATER_KEY_DONE };
    const char *state = args_text(&cli->args, "state");

    if (!state)
        return later_fail(err, LATER_E_USAGE,
                          "--state is missing: ready, delayed, dead, waiting or done");
    return cli_state(state, sets, sizeof sets / sizeof *sets, set, err);
}

static int read_conditions(struct choice *choice, struct later_error *err)
{
    for (size_t i = 0; later_filter_names[i]; i++) {
        const char *value;
        size_t at = 0;

        while ((value = args_next(&choice->cli->args, later_filter_names[i], &at))) {
            if (later_filter_add(choice->filter, later_filter_names[i], value, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* A delayed job's age is not recorded. An error is better than finding none. */
static int check_ages(const struct choice *choice, struct later_error *err)
{
    static const char *const ages[] = { "older", "newer" };
    const char *state = later_filter_state(choice->filter);

    for (size_t i = 0; state && strcmp(state, "delayed") == 0 && i < 2; i++) {
        if (args_text(&choice->cli->args, ages[i]))
            return later_fail(err, LATER_E_USAGE,
                              "--%s: of a delayed job only the time at which it is due is known",
                              ages[i]);
    }
    return 0;
}

int choose_begin(struct choice *choice, struct cli *cli, bool reads, double rate,
                 struct later_error *err)
{
    int64_t limit = INT64_MAX;

    if (args_flag(&cli->args, "progress") && !cli->json)
        return later_fail(err, LATER_E_USAGE, "--progress goes with --json");
    *choice = (struct choice){ .cli = cli, .filter = later_filter_new() };
    if (!choice->filter)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (read_conditions(choice, err) < 0 || check_ages(choice, err) < 0 ||
        cli_number(cli, "number", 1, INT64_MAX / 10, &limit, err) < 0 ||
        pace_begin(&choice->pace, cli, rate, err) < 0) {
        later_filter_free(choice->filter);
        return -1;
    }
    choice->left = (uint64_t)limit;
    choice->reads = reads || !later_filter_is_plain(choice->filter);
    progress_begin(&choice->progress, cli->err_terminal, 0);
    choice->began_here = later_clock();
    if (cli_clock(cli, &choice->began, err) == 0)
        return 0;
    choose_end(choice);
    return -1;
}

void choose_end(struct choice *choice)
{
    progress_hide(&choice->progress);
    if (choice->walked && choice->seen == 0 && !choice->pace.stopped)
        queue_list_warn(choice->cli, args_text(&choice->cli->args, "queue"));
    pace_end(&choice->pace);
    later_filter_free(choice->filter);
}

int choose_queues(const struct choice *choice, struct queue_list *list, struct later_error *err)
{
    const struct args *args = &choice->cli->args;
    const char *queue = args_text(args, "queue");
    bool all = args_flag(args, "all-queues");

    if (all && queue)
        return later_fail(err, LATER_E_USAGE,
                          "-q is one queue, -A all of them: give one of the two");
    if (!all && !queue)
        return later_fail(err, LATER_E_USAGE, "which queue? -q Q, or -A for all");
    return queue_list_asked(choice->cli, list, err);
}

/* --- progress --- */

/* Shows how many of the jobs are done. Returns whether it is time for a line. */
static bool choose_shows(struct choice *choice, uint64_t done, uint64_t of, bool last)
{
    double now = later_clock();

    progress_jobs(&choice->progress, done, of);
    if (!args_flag(&choice->cli->args, "progress") || (!last && now - choice->told < TELL_EVERY))
        return false;
    choice->told = now;
    return true;
}

void choose_tell(struct choice *choice, uint64_t found, const char *next, bool last)
{
    struct jsonl json;

    if (!choose_shows(choice, choice->seen, choice->total, last))
        return;
    jsonl_begin(&json, stdout);
    jsonl_add(&json, "searched:%ju of:%ju found:%ju", choice->seen, choice->total, found);
    if (next)
        jsonl_text(&json, "next", next);
    jsonl_add(&json, "ended:%c", last);
    jsonl_end(&json);
    fflush(stdout);
}

void choose_tell_acted(struct choice *choice, uint64_t acted, uint64_t of, bool last)
{
    if (!choose_shows(choice, acted, of, last))
        return;
    jsonl_line(stdout, "acted:%ju of:%ju ended:%c", acted, of, last);
    fflush(stdout);
}

/* --- one job --- */

struct choosing {
    struct choice *choice;
    const struct later_keys *keys;
    enum later_key set;
    const char *token; /* that holds the reserved jobs, otherwise "" */
    chosen_fn *fn;
    void *arg;
};

bool choose_goes_on(const struct choice *choice)
{
    return choice->left > 0 && !choice->pace.stopped;
}

static int offer(const struct choosing *choosing, const struct chosen *chosen,
                 struct later_error *err)
{
    struct choice *choice = choosing->choice;

    choice->left--;
    return choosing->fn(choosing->arg, chosen, err);
}

/* Fills in what the filter reads. The result borrows from both arguments. */
static struct later_filter_job choose_job(const struct choosing *choosing,
                                          const struct later_seen *seen)
{
    return (struct later_filter_job){ .state = later_key_name(choosing->set),
                                      .now = choosing->choice->began,
                                      .score = seen->score,
                                      .record = seen->record,
                                      .document = seen->document,
                                      .document_len = seen->document_len };
}

/* Did a job enter its state after the walk began? A time beyond Redis's clock does not say so: a
 * program's clock is ahead, or Redis's was put back. */
static bool choose_is_new(const struct choice *choice, double since)
{
    return since > choice->began && since <= choice->began + later_clock() - choice->began_here;
}

/* Offers a job to the caller if it matches and was there when the walk began. The score of one that
 * is its own document comes from some program's clock, and says nothing. */
static int choose_judge(const struct choosing *choosing, const struct chosen *chosen,
                        struct later_error *err)
{
    struct later_filter_job job = choose_job(choosing, chosen->seen);
    bool adopted = chosen->seen->document != chosen->member;

    if ((adopted && choose_is_new(choosing->choice, later_filter_since(&job))) ||
        !later_filter_meets(choosing->choice->filter, &job))
        return later_filter_check(choosing->choice->filter, err);
    return offer(choosing, chosen, err);
}

/* --- one page --- */

/* Returns job i of a page, of which nothing else has been read. */
static struct chosen chosen_at(const struct choosing *choosing, const struct walk *walk, size_t i)
{
    struct chosen chosen = { .keys = choosing->keys,
                             .set = choosing->set,
                             .token = choosing->token,
                             .score = walk_score(walk, i),
                             .walk = walk,
                             .at = i };

    chosen.member = walk_member(walk, i, &chosen.len);
    return chosen;
}

/* Collects what is known of job i of a page. Returns false if the job has gone meanwhile. */
static bool choose_find(const struct walk *walk, size_t i, const struct fields *fields, size_t at,
                        struct chosen *chosen, struct later_seen *seen)
{
    const struct later_reply *document = later_reply_at(fields->documents, at);
    const struct later_reply *score = later_reply_at(walk->page, 2 * i + 1);

    if (walk->set == LATER_KEY_DONE)
        later_inspect_kept(score, document, seen);
    else
        later_inspect_found(score, later_reply_at(fields->records, at), document, seen);
    seen->id = chosen->member;
    chosen->seen = seen;
    if (!later_reply_is_nil(document))
        return true;
    seen->document = chosen->member; /* the member is its own document */
    seen->document_len = chosen->len;
    return fields_has_member(fields, at, chosen->member, chosen->score);
}

static int judge_found(const struct choosing *choosing, const struct walk *walk, size_t from,
                       size_t count, const struct fields *fields, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < count && choose_goes_on(choosing->choice); i++) {
        struct chosen chosen = chosen_at(choosing, walk, from + i);
        struct later_seen seen = { .state = NULL };

        choosing->choice->seen++;
        if (choose_find(walk, from + i, fields, i, &chosen, &seen))
            ok = choose_judge(choosing, &chosen, err);
    }
    return ok;
}

/* Looks at some jobs of a page. `most` adapts to the size of their documents. */
static int look_at_some(const struct choosing *choosing, const struct walk *walk, size_t from,
                        size_t count, size_t *most, struct later_error *err)
{
    struct choice *choice = choosing->choice;
    const char *ids[WALK_PAGE];
    size_t lens[WALK_PAGE];
    struct fields fields;
    int ok;

    for (size_t i = 0; i < count; i++)
        ids[i] = walk_member(walk, from + i, &lens[i]);
    pace_work(&choice->pace);
    if (fields_read(&fields, choice->cli, choosing->keys, choosing->set, ids, lens, count, err) < 0)
        return -1;
    pace_rest(&choice->pace);
    *most = fields_bytes(&fields) < REPLY_GOOD ? WALK_PAGE : SHOWN_MIN;
    ok = judge_found(choosing, walk, from, count, &fields, err);
    fields_free(&fields);
    return ok;
}

static int offer_page(const struct choosing *choosing, const struct walk *walk,
                      struct later_error *err)
{
    int ok = 0;

    for (size_t i = walk->from; ok == 0 && i < walk->count && choose_goes_on(choosing->choice);
         i++) {
        struct chosen chosen = chosen_at(choosing, walk, i);

        if (choosing->set != LATER_KEY_DEAD ||
            !choose_is_new(choosing->choice, strtod(chosen.score, NULL)))
            ok = offer(choosing, &chosen, err);
    }
    return ok;
}

/* Tells the caller that everything up to job `last` of the page has been looked at. */
static void choose_pass(const struct choosing *choosing, const struct walk *walk, size_t last)
{
    struct choice *choice = choosing->choice;
    struct chosen chosen = chosen_at(choosing, walk, last);

    if (choice->passed && choose_goes_on(choice))
        choice->passed(choosing->arg, &chosen);
}

static int choose_take_page(const struct choosing *choosing, const struct walk *walk, size_t *most,
                            struct later_error *err)
{
    struct choice *choice = choosing->choice;
    int ok = 0;

    if (!choice->reads)
        ok = offer_page(choosing, walk, err);
    for (size_t i = walk->from;
         choice->reads && ok == 0 && i < walk->count && choose_goes_on(choice);) {
        size_t count = walk->count - i < *most ? walk->count - i : *most;

        ok = look_at_some(choosing, walk, i, count, most, err);
        i += count;
        if (ok == 0)
            choose_pass(choosing, walk, i - 1);
    }
    choice->seen += choice->reads ? 0 : walk->count - walk->from;
    if (!choice->reads && ok == 0)
        choose_pass(choosing, walk, walk->count - 1);
    progress_jobs(&choice->progress, choice->seen, choice->total);
    return ok;
}

/* --- ready, delayed, dead, done --- */

/* Counts the jobs now. This bounds the walk, so that it ends even if jobs come faster than they are
 * looked at. Jobs that stay can be overtaken at most this many times. */
static int most_of(const struct choosing *choosing, uint64_t *most, struct later_error *err)
{
    int64_t count = members_count(choosing->choice->cli, choosing->keys, choosing->set, err);

    if (count < 0)
        return -1;
    if (!choosing->choice->counted)
        choosing->choice->total += (uint64_t)count;
    *most = 2 * (uint64_t)count + WALK_PAGE;
    return 0;
}

static int walk_set(const struct choosing *choosing, struct later_error *err)
{
    struct choice *choice = choosing->choice;
    struct walk walk = {
        .cli = choice->cli, .keys = choosing->keys, .set = choosing->set, .back = choice->back
    };
    uint64_t left;
    size_t most = SHOWN_MIN;
    int more = most_of(choosing, &left, err);

    if (more == 0 && choice->from_score && choice->from_equals > 0)
        more = walk_behind_digest(&walk, choice->from_score, choice->from_member,
                                  choice->from_equals, err);
    else if (more == 0 && choice->from_score)
        more = walk_behind(&walk, choice->from_score, choice->from_member, err);
    choice->from_score = NULL;
    while (more == 0 && choose_goes_on(choice) && left > 0) {
        pace_work(&choice->pace);
        more = walk_next(&walk, err);
        if (more <= 0)
            break;
        pace_rest(&choice->pace);
        left -= walk.count - walk.from < left ? walk.count - walk.from : left;
        more = choose_take_page(choosing, &walk, &most, err);
    }
    walk_end(&walk);
    return more;
}

/* --- reserved --- */

/* What a token holds is read at once, since ranks in it shift when jobs end meanwhile. It only
 * shrinks, and has at most as many jobs as one reserve hands out. */
static int walk_token(struct choosing *choosing, const char *token, struct later_error *err)
{
    struct choice *choice = choosing->choice;
    struct walk held = { .set = LATER_KEY_RESERVED };
    struct later_command cmd = { 0 };
    size_t most = SHOWN_MIN;
    int ok;

    choosing->token = token;
    later_inspect_held_scores(&cmd, choosing->keys, token);
    pace_work(&choice->pace);
    held.page = cli_call(choice->cli, &cmd, err);
    if (!held.page)
        return -1;
    pace_rest(&choice->pace);
    held.count = later_reply_count(held.page) / 2;
    ok = held.count > 0 ? choose_take_page(choosing, &held, &most, err) : 0;
    walk_end(&held);
    return ok;
}

static int walk_tokens(struct choosing *choosing, struct later_error *err)
{
    struct later_reply *tokens;
    int ok = members_tokens(choosing->choice->cli, choosing->keys, &tokens, err);

    for (size_t i = 0;
         ok == 0 && i < later_reply_count(tokens) / 2 && choose_goes_on(choosing->choice); i++)
        ok = walk_token(choosing, members_token(tokens, i), err);
    later_reply_free(tokens);
    return ok;
}

int choose_in(struct choice *choice, const struct later_keys *keys, enum later_key set,
              chosen_fn *fn, void *arg, struct later_error *err)
{
    struct choosing choosing = { choice, keys, set, "", fn, arg };
    int ok = set == LATER_KEY_RESERVED ? walk_tokens(&choosing, err) : walk_set(&choosing, err);

    choice->walked = ok == 0;
    return ok;
}

int choose_in_queue(struct choice *choice, const char *queue, const enum later_key *sets,
                    size_t set_count, chosen_fn *fn, void *arg, struct later_error *err)
{
    struct whole whole;
    int ok = whole_find(choice->cli, queue, &whole, err);

    for (size_t s = 0; s < set_count; s++) {
        bool asked = choose_is_asked_of(choice, sets[s]);

        for (size_t i = 0; ok == 0 && asked && i < whole.count; i++)
            ok = choose_in(choice, &whole.parts[i], sets[s], fn, arg, err);
    }
    return ok;
}
