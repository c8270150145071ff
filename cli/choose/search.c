/* search.c: `later search` finds jobs that meet conditions, the newest first. */
#include "commands.h"
#include "base/digest.h"
#include "choose/choose.h"
#include "choose/facets.h"
#include "choose/saved.h"
#include "jobs/peek.h"
#include "choose/walk.h"
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HITS     100 /* if no limit is given */
#define NEXT_MAX 600 /* characters of a place to continue from */

static const enum later_key sets[] = { LATER_KEY_RESERVED, LATER_KEY_READY,   LATER_KEY_DELAYED,
                                       LATER_KEY_DEAD,     LATER_KEY_WAITING, LATER_KEY_DONE };

#define SETS (sizeof sets / sizeof *sets)

/* One run of the command. */
struct searching {
    struct choice choice;
    struct table table;
    struct whole whole; /* the queue of the present walk */
    uint64_t found;
    uint64_t reserved, skip; /* reserved jobs of this part printed so far; how many to skip */
    char next[NEXT_MAX];     /* where to continue; "" = at the beginning */
    struct spot {
        later_queue_name part;
        enum later_key set;
        char score[64], member[LATER_ID_SIZE];
        uint64_t equals; /* > 0: the member is a digest */
    } from;              /* the value of --after; an empty part = none */
};

/* --- where to continue --- */

/* Writes a member as `=ID`, or, if it is its own document, as `x` and its bytes in hexadecimal; a
 * long one as `#`, how many of its score there are up to it, a colon and its digest. */
static void spell_member(const struct chosen *last, char out[2 * LATER_ID_SIZE])
{
    bool is_id = last->member[0] != '{';

    if (last->len >= LATER_ID_SIZE || memchr(last->member, '\0', last->len)) {
        int len = sprintf(out, "#%" PRIu64 ":", walk_equals(last->walk, last->at));

        later_digest(last->member, last->len, out + len);
        return;
    }
    sprintf(out, is_id ? "=%s" : "x", last->member);
    for (size_t i = 0; !is_id && i < last->len; i++)
        sprintf(out + 1 + 2 * i, "%02x", (unsigned char)last->member[i]);
}

static bool read_digest(const char *text, struct spot *from)
{
    char *end;

    from->equals = strtoull(text, &end, 10);
    if (*end != ':' || from->equals == 0 || strlen(end + 1) != LATER_DIGEST_SIZE - 1)
        return false;
    strcpy(from->member, end + 1);
    return true;
}

/* Returns false if the text is not a member. */
static bool search_read_member(const char *text, struct spot *from)
{
    char *out = from->member;
    size_t len = strlen(text);
    unsigned byte;

    out[0] = '\0';
    if (text[0] == '#')
        return read_digest(text + 1, from);
    if (text[0] == '=' && len <= LATER_ID_SIZE)
        strcpy(out, text + 1);
    if (text[0] != 'x')
        return !text[0] || out[0];
    if (len % 2 == 0 || len > 2 * LATER_ID_SIZE - 1 ||
        strspn(text + 1, "0123456789abcdef") != len - 1)
        return false;
    for (size_t i = 1; i < len; i += 2) {
        sscanf(text + i, "%2x", &byte);
        out[i / 2] = (char)byte;
    }
    out[len / 2] = '\0';
    return true;
}

/* Notes the place as `SEEN,PART,STATE,SCORE,MEMBER`. Reserved jobs are few and have no order, so
 * the number of those already printed takes the place of the score. */
static void note_spot(struct searching *searching, const struct chosen *last)
{
    char member[2 * LATER_ID_SIZE];

    if (last->set == LATER_KEY_RESERVED) {
        snprintf(searching->next, sizeof searching->next, "%" PRIu64 ",%s,reserved,%" PRIu64 ",",
                 searching->choice.seen, last->keys->queue, searching->reserved);
        return;
    }
    spell_member(last, member);
    snprintf(searching->next, sizeof searching->next, "%" PRIu64 ",%s,%s,%s,%s",
             searching->choice.seen, last->keys->queue, later_key_name(last->set), last->score,
             member);
}

/* Reads up to the next comma, or the rest. Returns false if that is too long. */
static bool take_piece(const char **text, char *out, size_t room, bool rest)
{
    size_t len = rest ? strlen(*text) : strcspn(*text, ",");

    if (len >= room || (!rest && !(*text)[len]))
        return false;
    memcpy(out, *text, len);
    out[len] = '\0';
    *text += len + !rest;
    return true;
}

static int read_spot(struct searching *searching, struct later_error *err)
{
    const char *text = args_text(&searching->choice.cli->args, "after"), *rest = text;
    struct spot *from = &searching->from;
    char seen[24], state[16], member[2 * LATER_ID_SIZE], *end;

    if (!text)
        return 0;
    if (!take_piece(&rest, seen, sizeof seen, false) ||
        !take_piece(&rest, from->part, sizeof from->part, false) ||
        !take_piece(&rest, state, sizeof state, false) ||
        !take_piece(&rest, from->score, sizeof from->score, false) ||
        !take_piece(&rest, member, sizeof member, true) || !search_read_member(member, from) ||
        !later_key_shard_valid(from->part) || cli_state(state, sets, SETS, &from->set, err) < 0)
        return later_fail(err, LATER_E_USAGE, "--after: %.60s is not the `next` of a search", text);
    strtod(from->score, &end);
    if (*end || end == from->score)
        return later_fail(err, LATER_E_USAGE, "--after: %.60s is not the `next` of a search", text);
    searching->choice.seen = strtoull(seen, NULL, 10);
    snprintf(searching->next, sizeof searching->next, "%s", text);
    return 0;
}

/* --- printing --- */

static int tell_hit(void *arg, const struct chosen *chosen, struct later_error *err)
{
    struct searching *searching = arg;
    struct later_seen seen = *chosen->seen;

    (void)err;
    searching->reserved += chosen->set == LATER_KEY_RESERVED;
    if (chosen->set == LATER_KEY_RESERVED && searching->reserved <= searching->skip) {
        searching->choice.left++;
        return 0;
    }
    searching->found++;
    note_spot(searching, chosen);
    progress_hide(&searching->choice.progress);
    seen.state = later_key_name(chosen->set);
    if (seen.document == seen.id)
        seen.id = ""; /* the member is its own document */
    if (searching->choice.cli->json)
        peek_print_json(searching->whole.name, &seen, NULL);
    else
        peek_add_row(searching->choice.cli, &searching->table, &seen);
    fflush(stdout);
    return 0;
}

static void search_on(void *arg, const struct chosen *last)
{
    struct searching *searching = arg;

    note_spot(searching, last);
    choose_tell(&searching->choice, searching->found, searching->next, false);
}

static void search_tell_end(struct searching *searching)
{
    const char *next =
        choose_goes_on(&searching->choice) || !searching->next[0] ? NULL : searching->next;

    choose_tell(&searching->choice, searching->found, next, true);
    if (next && searching->choice.cli->err_terminal && searching->choice.pace.stopped)
        cli_say(searching->choice.cli, "to go on: --after %s", next);
}

/* --- looking --- */

/* Is this set of this part at or after the place to continue from? The set that contains the place
 * begins there. */
static bool is_due(struct searching *searching, const struct later_keys *part, enum later_key set)
{
    struct spot *from = &searching->from;

    if (!from->part[0])
        return true;
    if (strcmp(part->queue, from->part) != 0 || set != from->set)
        return false;
    if (set == LATER_KEY_RESERVED) {
        searching->skip = strtoull(from->score, NULL, 10);
    } else {
        searching->choice.from_score = from->score;
        searching->choice.from_member = from->member;
        searching->choice.from_equals = from->equals;
    }
    from->part[0] = '\0';
    return true;
}

static int look_at_queue(struct searching *searching, const char *queue, struct later_error *err)
{
    int ok = whole_find(searching->choice.cli, queue, &searching->whole, err);

    for (size_t s = 0; s < SETS; s++) {
        for (size_t i = 0;
             ok == 0 && i < searching->whole.count && choose_goes_on(&searching->choice); i++) {
            const struct later_keys *part = &searching->whole.parts[i];

            searching->reserved = searching->skip = 0;
            if (choose_is_asked_of(&searching->choice, sets[s]) && is_due(searching, part, sets[s]))
                ok = choose_in(&searching->choice, part, sets[s], tell_hit, searching, err);
        }
    }
    return ok;
}

/* Counts the jobs to look at, for the progress. Done jobs are not part of a queue's size. They are
 * counted when their turn comes. */
static int search_count_all(struct searching *searching, const struct queue_list *list,
                            struct later_error *err)
{
    for (size_t i = 0; searching->choice.counted && i < list->count; i++) {
        struct later_sizes sum;

        if (whole_find(searching->choice.cli, list->names[i], &searching->whole, err) < 0 ||
            sizes_whole(searching->choice.cli, &searching->whole, &sum, err) < 0)
            return -1;
        for (size_t s = 0; s < SETS; s++)
            searching->choice.total +=
                choose_is_asked_of(&searching->choice, sets[s]) ? later_sizes_in(&sum, sets[s]) : 0;
    }
    return 0;
}

static int search_search(struct searching *searching, struct later_error *err)
{
    struct cli *cli = searching->choice.cli;
    struct queue_list list = { 0 };
    int ok = choose_queues(&searching->choice, &list, err);

    if (ok == 0)
        ok = read_spot(searching, err);
    if (ok == 0)
        ok = search_count_all(searching, &list, err);
    if (ok == 0)
        choose_tell(&searching->choice, 0, NULL, false);
    peek_begin_rows(cli, &searching->table);
    for (size_t i = 0; ok == 0 && i < list.count && choose_goes_on(&searching->choice); i++)
        ok = look_at_queue(searching, list.names[i], err);
    table_end(&searching->table);
    if (ok == 0)
        search_tell_end(searching);
    queue_list_free(&list);
    return ok;
}

/* Says how far it came if it was stopped. Returns the exit status, or -1. */
static int search_end(struct choice *choice, int status)
{
    bool stopped = status == 0 && choice->pace.stopped;

    if (stopped)
        cli_say(choice->cli, "stopped: %" PRIu64 " jobs were looked at", choice->seen);
    choose_end(choice);
    return stopped ? LATER_E_LATER : status;
}

/* --- only counting them --- */

static const enum later_key counted[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
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
        ok = choose_in_queue(&counting->choice, counting->queue, counted, SETS, count_jobs_one,
                             counting, err);
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

static int count_run(struct cli *cli, struct later_error *err)
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
    status = search_end(&counting.choice, status);
    queue_list_free(&list);
    facets_end(&counting.facets);
    return status;
}

/* --- the command --- */

static int search_find(struct cli *cli, struct later_error *err)
{
    struct searching searching = { 0 };
    int status;

    if (args_flag(&cli->args, "count") && args_text(&cli->args, "after"))
        return later_fail(err, LATER_E_USAGE, "--count begins at the beginning, without --after");
    if (args_flag(&cli->args, "count"))
        return count_run(cli, err);
    if (args_text(&cli->args, "by"))
        return later_fail(err, LATER_E_USAGE, "--by goes with --count");
    if (choose_begin(&searching.choice, cli, true, 0, err) < 0)
        return -1;
    searching.choice.back = true;
    searching.choice.counted = !choose_is_asked_of(&searching.choice, LATER_KEY_DONE);
    searching.choice.passed = search_on;
    if (!args_text(&cli->args, "number"))
        searching.choice.left = HITS;
    status = search_search(&searching, err);
    return search_end(&searching.choice, status);
}

static int search_run(struct cli *cli, struct later_error *err)
{
    int status = saved_act(cli, err);
    char *text = NULL;

    if (status <= 0)
        return status;
    if (cli->args.count > 0) {
        text = saved_use(cli, cli->args.words[0], err);
        if (!text)
            return -1;
    }
    status = search_find(cli, err);
    free(text);
    return status;
}

static const struct args_option options[] = {
    CHOOSE_OPTIONS,
    { "after", 0, "PLACE", "go on from the `next` of an earlier search" },
    { "count", 0, NULL, "only count them" },
    FACETS_OPTION,
    SAVED_OPTIONS,
    { 0 },
};

const struct command command_search = {
    .name = "search",
    .usage = "-q Q [CONDITIONS] | -A [CONDITIONS] | NAME [CONDITIONS]",
    .brief = "Find jobs that meet conditions, newest first",
    .more =
        "Prints at most 100, or N of -n; in a pipe, like `later peek`. With --state done, the "
        "jobs\n"
        "that are kept longest come first. It takes at most a tenth of Redis's time. --progress\n"
        "says twice a second how many jobs were searched, of how many, and in `next` where "
        "--after\n"
        "can go on. --count prints how many there are, with -A for each queue that has any, or\n"
        "with --by for each value that they have.\n"
        "--save NAME searches for nothing: it keeps the conditions for everybody, and `later "
        "search\n"
        "NAME` adds those that are given to them. --saved lists them, --unsave NAME drops one.\n",
    .example = "later search -q mail --text greylisted\n"
               "later search -A --state dead --where payload.to=a@b.c\n"
               "later search -q mail --state dead --kind crash --count\n"
               "later search -A --state dead --count --by type,kind,host,payload.tenant\n"
               "later search --save bounces -q mail --state dead --kind bad\n",
    .options = options,
    .max = 1,
    .run = search_run,
};
