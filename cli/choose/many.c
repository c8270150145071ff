/* many.c: acts on all jobs that match a filter. */
#include "choose/many.h"

#include "choose/spool.h"
#include "output/jsonl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct many {
    struct cli *cli;
    const struct many_verb *verb;
    struct choice choice;
    struct spool *spool;
    const char *whole; /* the queue of the present walk */
    uint64_t found[LATER_KEY_COUNT], sum;
    /* the queue whose count is printed next, and the jobs acted on in it */
    later_queue_name told;
    uint64_t count, all;
    struct table table;
};

/* --- looking --- */

static int many_note(void *arg, const struct chosen *chosen, struct later_error *err)
{
    struct many *many = arg;

    many->found[chosen->set]++;
    many->sum++;
    return spool_add(many->spool, many->whole, chosen, err);
}

static void look_on(void *arg, const struct chosen *last)
{
    struct many *many = arg;

    (void)last;
    choose_tell(&many->choice, many->sum, NULL, false);
}

static int check_state(const struct many *many, struct later_error *err)
{
    const char *state = later_filter_state(many->choice.filter);
    enum later_key set;

    return state ? cli_state(state, many->verb->sets, many->verb->set_count, &set, err) : 0;
}

static int many_look(struct many *many, const struct queue_list *list, struct later_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        many->whole = list->names[i];
        if (many->verb->but && strcmp(many->whole, many->verb->but) == 0)
            continue;
        if (choose_in_queue(&many->choice, many->whole, many->verb->sets, many->verb->set_count,
                            many_note, many, err) < 0)
            return -1;
    }
    progress_hide(&many->choice.progress);
    return 0;
}

/* --- telling --- */

/* Prints what was done in one queue. */
static void many_tell_count(struct many *many)
{
    bool dry = args_flag(&many->cli->args, "dry-run");
    const char *done = many->verb->done;

    if (many->told[0])
        cli_print_count(many->cli, &many->table, many->told, dry ? "count" : done,
                        dry ? "jobs" : done, many->count);
}

/* From here on, counts belong to this queue. */
static void turn_to(struct many *many, const char *whole)
{
    if (strcmp(many->told, whole) == 0)
        return;
    many_tell_count(many);
    snprintf(many->told, sizeof many->told, "%s", whole);
    many->count = 0;
}

/* Puts what is to be done into words: `Kick 3 delayed and 2 dead jobs of queue mail`. */
static void many_spell(const struct many *many, const struct queue_list *list, char *what,
                       size_t room)
{
    bool all = args_flag(&many->cli->args, "all-queues");
    int len = snprintf(what, room, "%s ", many->verb->ask);
    size_t named = 0;

    for (size_t i = 0; i < many->verb->set_count; i++) {
        enum later_key set = many->verb->sets[i];

        if (many->found[set] > 0)
            len += snprintf(what + len, room - (size_t)len, "%s%" PRIu64 " %s",
                            named++ ? " and " : "", many->found[set], later_key_name(set));
    }
    snprintf(what + len, room - (size_t)len, " jobs of %s%s%s", all ? "all queues" : "queue ",
             all ? "" : list->names[0], many->verb->ask_end ? many->verb->ask_end : "");
}

/* Asks a program, which answers with the line `yes`, or with any other. */
static bool many_ask_program(struct many *many, const char *what)
{
    FILE *from = many->cli->answers ? many->cli->answers : stdin;
    char *answer = NULL;
    size_t room = 0;
    bool yes;

    jsonl_line(stdout, "searched:%ju of:%ju found:%ju asks:%s", many->choice.seen,
               many->choice.total, many->sum, what);
    fflush(stdout);
    yes = pace_wait(&many->choice.pace, fileno(from)) && getline(&answer, &room, from) > 0 &&
          strcmp(answer, "yes\n") == 0;
    free(answer);
    return yes;
}

/* Returns 0 to go on, an exit status after saying why, or -1 with *err. */
static int many_ask_which(struct many *many, const struct queue_list *list, struct later_error *err)
{
    char what[320];
    int answer;

    many_spell(many, list, what, sizeof what);
    if (args_text(&many->cli->args, "ask")) {
        if (many_ask_program(many, what)) /* after a long time a lost connection is made anew */
            return cli_ping(many->cli, err);
        cli_say(many->cli, "nothing was done");
        return LATER_E_LATER;
    }
    pace_pause(&many->choice.pace);
    answer = cli_ask(many->cli, what);
    pace_go_on(&many->choice.pace);
    return answer;
}

/* --- acting --- */

/* Returns how many were still where they had been seen, or -1 with *err. */
static int64_t act_on(struct many *many, const struct spool_batch *batch, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;
    const struct many_verb *verb = many->verb;
    int64_t count;

    if (cli_keys(many->cli, batch->part, &keys, err) < 0)
        return -1;
    later_inspect_act(&cmd, &keys, verb->name, later_key_name(batch->set), batch->token,
                      verb->with ? verb->with : "", batch->jobs, batch->count);
    pace_work(&many->choice.pace);
    count = cli_count(cli_call_once(many->cli, &cmd, err));
    if (count > 0 && verb->with) /* it may adopt, so the queue must be known as after a push */
        later_call_announce(many->cli->client, &keys);
    if (count > 0 && verb->then && verb->then(many->cli, &keys, verb, err) < 0)
        return -1;
    if (count >= 0)
        pace_rest(&many->choice.pace);
    return count;
}

/* With a rate, ten calls a second keep it even. */
static size_t batch_size(const struct many *many)
{
    double tenth = many->choice.pace.rate / 10;
    size_t most = many->verb->most ? many->verb->most : LATER_BATCH_MAX;

    if (tenth <= 0 || tenth > (double)most)
        return most;
    return tenth < 1 ? 1 : (size_t)tenth;
}

static int act(struct many *many, struct later_error *err)
{
    struct choice *choice = &many->choice;
    struct spool_batch batch;
    int more = spool_rewind(many->spool, err);

    if (more < 0)
        return -1;
    while (!choice->pace.stopped &&
           (more = spool_next(many->spool, batch_size(many), &batch, err)) > 0) {
        int64_t count = 0;

        turn_to(many, batch.whole);
        if (pace_count(&choice->pace, batch.count))
            count = act_on(many, &batch, err);
        if (count < 0)
            return -1;
        many->count += (uint64_t)count;
        many->all += (uint64_t)count;
        choose_tell_acted(choice, many->all, many->sum, false);
    }
    choose_tell_acted(choice, many->all, many->sum, true);
    progress_hide(&choice->progress);
    return more < 0 ? -1 : 0;
}

static int dry_run(struct many *many, struct later_error *err)
{
    struct spool_batch batch;
    int more = spool_rewind(many->spool, err);

    while (more >= 0 && (more = spool_next(many->spool, LATER_BATCH_MAX, &batch, err)) > 0) {
        turn_to(many, batch.whole);
        many->count += batch.count;
    }
    return more;
}

/* --- the command --- */

static int stopped(const struct many *many)
{
    cli_say(many->cli, "stopped: %" PRIu64 " of %" PRIu64 " %s", many->all, many->sum,
            many->verb->done);
    return LATER_E_LATER;
}

static int act_and_tell(struct many *many, struct later_error *err)
{
    int ok = act(many, err);

    many_tell_count(many); /* even if Redis went away in the middle */
    if (ok < 0)
        return -1;
    if (many->choice.pace.stopped)
        return stopped(many);
    if (many->all < many->sum)
        cli_say(many->cli, "%" PRIu64 " left alone: %s", many->sum - many->all,
                many->verb->stays ? many->verb->stays : "no longer where they were");
    return LATER_OK;
}

static int many_go(struct many *many, const struct queue_list *list, struct later_error *err)
{
    int status;

    if (check_state(many, err) < 0 || many_look(many, list, err) < 0)
        return -1;
    if (many->choice.pace.stopped) {
        cli_say(many->cli, "stopped; nothing was done");
        return LATER_E_LATER;
    }
    if (!args_flag(&many->cli->args, "all-queues"))
        turn_to(many, list->names[0]); /* it is reported even if there is none */
    if (args_flag(&many->cli->args, "dry-run")) {
        status = dry_run(many, err);
        many_tell_count(many);
        return status;
    }
    status = many->sum ? many_ask_which(many, list, err) : LATER_OK;
    return status == LATER_OK ? act_and_tell(many, err) : status;
}

static int go_on_table(struct many *many, const struct queue_list *list, struct later_error *err)
{
    const char *headings[] = { "QUEUE", ">JOBS", NULL };
    int status;

    cli_table(many->cli, &many->table, headings);
    status = many_go(many, list, err);
    table_end(&many->table);
    return status;
}

static int many_check_ask(const struct cli *cli, struct later_error *err)
{
    const char *ask = args_text(&cli->args, "ask");

    if (ask && strcmp(ask, "line") != 0)
        return later_fail(err, LATER_E_USAGE, "--ask: %.40s is not `line`", ask);
    if (ask && !cli->json)
        return later_fail(err, LATER_E_USAGE, "--ask goes with --json");
    return 0;
}

int many_run(struct cli *cli, const struct many_verb *verb, struct later_error *err)
{
    struct many *many = calloc(1, sizeof *many);
    struct queue_list list = { 0 };
    int64_t rate = 0;
    int status = -1;

    if (!many || many_check_ask(cli, err) < 0 ||
        cli_number(cli, "rate", 1, CHOOSE_RATE_MAX, &rate, err) < 0 ||
        choose_begin(&many->choice, cli, false, (double)rate, err) < 0) {
        if (!many)
            later_fail(err, LATER_E_SYSTEM, "no memory");
        free(many);
        return -1;
    }
    many->cli = cli;
    many->verb = verb;
    many->choice.pace.brisk = verb->brisk && later_filter_state(many->choice.filter) &&
                              later_filter_is_plain(many->choice.filter);
    many->choice.passed = look_on;
    many->spool = spool_new(err);
    if (many->spool && choose_queues(&many->choice, &list, err) == 0)
        status = go_on_table(many, &list, err);
    queue_list_free(&list);
    spool_free(many->spool);
    choose_end(&many->choice);
    free(many);
    return status;
}
