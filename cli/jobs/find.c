/* find.c: the queue in which a job is. */
#include "jobs/find.h"

#include "queue/inspect.h"
#include "queue/queue.h"
#include "queue/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 500 /* queues in one round trip */

/* One run through all queues. */
struct search {
    const struct finder *finder;
    const char *id;
    bool traces;                    /* look for what a job has left, not for the job */
    later_queue_name first, second; /* queues that have it; "" = none so far */
    struct later_error err;         /* the first failure; code 0 = none */
};

/* What is asked of one queue or shard. */
struct question {
    struct search *search;
    const char *name; /* borrowed */
};

int finder_begin(struct finder *finder, struct cli *cli, unsigned find, struct later_error *err)
{
    const char *queue = args_text(&cli->args, "queue");
    struct later_keys keys;

    *finder = (struct finder){ .cli = cli, .find = find };
    if (queue)
        return cli_keys(cli, queue, &keys, err);
    if (queue_list_each(cli, &finder->list, err) < 0)
        return -1;
    if (queue_list_has(&finder->list, "default"))
        return 0;
    return queue_list_add(&finder->list, "default", err); /* a plain ZADD does not announce it */
}

void finder_end(struct finder *finder)
{
    queue_list_free(&finder->list);
}

const char *find_where(const struct cli *cli, char text[LATER_QUEUE_MAX + 16])
{
    const char *queue = args_text(&cli->args, "queue");

    if (!queue)
        return " in any queue";
    snprintf(text, LATER_QUEUE_MAX + 16, " in queue %s", queue);
    return text;
}

/* --- answers --- */

static bool find_has_job(const struct search *search, const struct later_reply *reply)
{
    struct later_seen seen = { 0 };

    later_inspect_shown(reply, &seen);
    return *seen.state && (search->finder->find & FIND_DONE || strcmp(seen.state, "done") != 0);
}

/* The score of the id in `unique`, or the answer of the script *result*. */
static bool has_trace(const struct search *search, const struct later_reply *reply)
{
    struct later_left left;

    if (search->finder->find & FIND_TAKEN)
        return !later_reply_is_nil(later_reply_at(reply, 0));
    later_result_asked(reply, &left);
    return left.element_len > 0;
}

static void note_found(struct search *search, const char *name)
{
    later_queue_name whole;

    later_shard_whole(whole, name);
    if (!search->first[0])
        strcpy(search->first, whole);
    else if (!search->second[0] && strcmp(search->first, whole) != 0)
        strcpy(search->second, whole);
}

static void find_take_answer(void *arg, struct later_answer *answer)
{
    const struct question *question = arg;
    struct search *search = question->search;
    struct later_error err;

    if (later_call_check(answer, &err) < 0) {
        if (err.code != LATER_E_TOKEN && search->err.code == LATER_OK)
            search->err = err;
        return;
    }
    if (search->traces ? has_trace(search, answer->reply) : find_has_job(search, answer->reply))
        note_found(search, question->name);
}

/* --- questions --- */

static int find_ask(struct question *question, struct later_error *err)
{
    const struct search *search = question->search;
    struct later_client *client = search->finder->cli->client;
    struct later_command cmd = { 0 };
    struct later_keys keys;

    if (later_call_keys(client, question->name, &keys, err) < 0)
        return -1;
    if (!search->traces) {
        later_queue_ids(&cmd, LATER_SCRIPT_SHOW, &keys, &search->id, 1);
    } else if (search->finder->find & FIND_TAKEN) {
        later_inspect_scores(&cmd, &keys, LATER_KEY_UNIQUE, 1);
        later_command_text(&cmd, search->id);
    } else {
        later_result_ask(&cmd, &keys, search->id);
    }
    return later_call_add(client, &cmd, find_take_answer, question, err);
}

static int find_ask_some(struct search *search, struct question *questions, size_t from,
                         size_t count, struct later_error *err)
{
    struct later_client *client = search->finder->cli->client;
    struct later_error ignored;
    int ok = cli_ping(search->finder->cli, err); /* it connects anew where needed */

    for (size_t i = 0; ok == 0 && i < count; i++) {
        questions[i] = (struct question){ search, search->finder->list.names[from + i] };
        ok = find_ask(&questions[i], err);
    }
    if (later_call_drain(client, ok == 0 ? err : &ignored) < 0)
        return -1;
    if (ok == 0 && search->err.code != LATER_OK) {
        *err = search->err;
        return -1;
    }
    return ok;
}

static int find_look_everywhere(struct search *search, struct later_error *err)
{
    const struct queue_list *list = &search->finder->list;
    struct question *questions = calloc(TOGETHER, sizeof *questions);
    int ok = questions ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory");

    for (size_t from = 0; ok == 0 && from < list->count; from += TOGETHER)
        ok = find_ask_some(search, questions, from,
                           list->count - from < TOGETHER ? list->count - from : TOGETHER, err);
    free(questions);
    return ok;
}

/* In the order of their names: the nodes of a Cluster answer in any. */
static int finder_refuse(const struct search *search, struct later_error *err)
{
    bool swap = strcmp(search->first, search->second) > 0;

    return later_fail(
        err, LATER_E_USAGE, "the queues %s and %s both have a job %.200s: say which with -q",
        swap ? search->second : search->first, swap ? search->first : search->second, search->id);
}

int finder_look(struct finder *finder, const char *id, later_queue_name queue,
                struct later_error *err)
{
    const char *named = args_text(&finder->cli->args, "queue");
    struct search search = { .finder = finder, .id = id };

    snprintf(queue, sizeof(later_queue_name), "%s", named ? named : "");
    if (named)
        return 1;
    if (find_look_everywhere(&search, err) < 0)
        return -1;
    search.traces = !search.first[0] && finder->find & (FIND_TAKEN | FIND_RESULT);
    if (search.traces && find_look_everywhere(&search, err) < 0)
        return -1;
    if (search.second[0])
        return finder_refuse(&search, err);
    strcpy(queue, search.first);
    return *queue != '\0';
}
