/* wait.c: `later wait`. */
#include "push/wait.h"

#include "base/clock.h"
#include "commands.h"
#include "jobs/find.h"
#include "jobs/peek.h"
#include "redis/command.h"
#include "output/jsonl.h"
#include "whole.h"
#include "why/why.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

static const int status_of[] = { [LATER_JOB_IS_DONE] = LATER_OK,
                                 [LATER_JOB_IS_DEAD] = LATER_E_DATA,
                                 [LATER_JOB_IS_GONE] = LATER_E_NONE,
                                 [LATER_JOB_GOES_ON] = LATER_E_LATER };

static void wait_print_json(const char *queue, const char *id, const struct later_end *end)
{
    static const char *const states[] = { "done", "dead", "gone", "waiting" };
    const char *name = end->how == LATER_JOB_IS_DEAD ? "error" : "value";
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s id:%s state:%s", queue, id, states[end->how]);
    if (end->attempt)
        jsonl_int(&json, "attempt", end->attempt);
    if (end->at > 0)
        jsonl_real(&json, "at", end->at);
    if (end->value)
        jsonl_foreign(&json, name, end->value, end->value_len);
    jsonl_end(&json);
}

/* Says that a job is dead, with its error's kind and text. */
static void say_dead(const struct cli *cli, const char *id, const struct later_end *end)
{
    json_t *error = json_loadb(end->value, end->value_len, 0, NULL);
    const char *kind = json_string_value(json_object_get(error, "kind"));
    const char *text = json_string_value(json_object_get(error, "text"));

    if (kind && text)
        cli_say(cli, "%s is dead: %s: %s", id, kind, text);
    else
        cli_say(cli, "%s is dead", id);
    json_decref(error);
}

/* Writes why a job does not run now; "" if it is not known, or Redis does not say. */
static void wait_find_why(struct cli *cli, const char *queue, const char *id, char *out,
                          size_t room)
{
    struct why why = { .cli = cli };
    struct why_answer answer = { .count = 0 };
    struct peek_found found;
    struct later_error err;

    *out = '\0';
    if (peek_find(cli, queue, id, &found, &err) > 0 &&
        why_find(&why, &found.whole, found.part, &found.seen, &answer, &err) == 0 && answer.count)
        why_say(out, room, &answer);
    peek_found_end(&found);
    why_end(&why);
}

static void say_goes_on(struct cli *cli, const char *queue, const char *id)
{
    char why[LATER_WHYS_MAX * LATER_WHY_SIZE];

    wait_find_why(cli, queue, id, why, sizeof why);
    cli_say(cli, "%s has not ended yet%s%s", id, *why ? ": " : "; it goes on", why);
}

int wait_tell(struct cli *cli, const char *queue, const char *id, const struct later_end *end)
{
    if (cli->json)
        wait_print_json(queue, id, end);
    else if (end->how == LATER_JOB_IS_DONE)
        printf("%.*s\n", (int)end->value_len, end->value);
    if (end->how == LATER_JOB_IS_DEAD)
        say_dead(cli, id, end);
    else if (end->how == LATER_JOB_IS_GONE)
        cli_say(cli, "no job %s in %s%s, and no result of it; push --result keeps one", id,
                queue ? "queue " : "any queue", queue ? queue : "");
    else if (end->how == LATER_JOB_GOES_ON)
        say_goes_on(cli, queue, id);
    return status_of[end->how];
}

int wait_option(const struct cli *cli, const char *option, double *seconds, struct later_error *err)
{
    const char *word = args_text(&cli->args, option);

    *seconds = INFINITY;
    return word && *word ? cli_duration(cli, option, seconds, err) : 0;
}

/* Drops the result, in each place that may have it. */
static int drop_result(struct cli *cli, const char *queue, const char *id, struct later_error *err)
{
    const struct later_keys *parts[LATER_WHOLE_MAX];
    char key[LATER_KEY_MAX];
    struct whole whole;
    size_t count;
    int64_t ok = 0;

    if (whole_find(cli, queue, &whole, err) < 0)
        return -1;
    count = whole_parts(&whole, id, parts);
    for (size_t i = 0; ok >= 0 && i < count; i++) {
        struct later_command cmd = { 0 };

        later_key_result(key, parts[i], id);
        later_command_say(&cmd, "DEL %s", key);
        ok = cli_count(cli_call(cli, &cmd, err));
    }
    return ok < 0 ? -1 : 0;
}

static int wait_for_one(struct cli *cli, struct finder *finder, const char *id, double until,
                        struct later_error *err)
{
    struct later_end end = { .how = LATER_JOB_IS_GONE };
    later_queue_name queue;
    int status, found = finder_look(finder, id, queue, err);

    if (found < 0 ||
        (found > 0 && later_wait(cli->client, queue, id, until - later_clock(), &end, err) < 0))
        return -1;
    status = wait_tell(cli, found ? queue : NULL, id, &end);
    fflush(stdout);
    if (args_flag(&cli->args, "forget") &&
        (end.how == LATER_JOB_IS_DONE || end.how == LATER_JOB_IS_DEAD) &&
        drop_result(cli, queue, id, err) < 0)
        status = -1;
    later_end_free(&end);
    return status;
}

/* All jobs share the same time limit. Waiting for one after the other is enough, since the last one
 * to end decides. */
static int wait_run(struct cli *cli, struct later_error *err)
{
    int status = LATER_OK, one = 0;
    struct finder finder;
    double seconds;

    if (wait_option(cli, "timeout", &seconds, err) < 0)
        return -1;
    seconds += later_clock();
    one = finder_begin(&finder, cli, FIND_DONE | FIND_RESULT, err);
    for (int i = 0; i < cli->args.count && one >= 0; i++) {
        one = wait_for_one(cli, &finder, cli->args.words[i], seconds, err);
        status = status ? status : one;
    }
    finder_end(&finder);
    if (one >= 0 && status == LATER_E_NONE)
        queue_list_warn(cli, args_text(&cli->args, "queue"));
    return one < 0 ? -1 : status;
}

static const struct args_option wait_options[] = {
    { "queue", 'q', "Q", "of this queue (any)" },
    { "timeout", 0, "DURATION", "wait at most this long (until all have ended); 0: only look" },
    { "forget", 0, NULL, "drop the result when it is printed" },
    { 0 },
};

const struct command command_wait = {
    .name = "wait",
    .usage = "ID... [-q Q] [--timeout DURATION] [--forget]",
    .brief = "Wait until jobs have ended, and print their results",
    .more =
        "The result is what a job's handler gave back, or why it failed for good. It is kept for\n"
        "jobs that were pushed with --result, or whose type has one. Exit status: 0 done; 65 "
        "dead;\n"
        "66 gone without a result, or never there; 75 the time is up. For several jobs it is the\n"
        "first that is not 0.\n"
        "With --forget nobody gets the result any more.\n",
    .example = "later wait 0198c2f0-7d1e-7a3b-8c5d-2f6e9a1b4c7d --timeout 10m\n",
    .options = wait_options,
    .min = 1,
    .max = -1,
    .run = wait_run,
};
