/* cron_act.c: `later cron run`, `pause`, `resume`, `delete`. */
#include "cron/cron.h"

#include "client/push.h"
#include "job/document.h"
#include "output/jsonl.h"

#include <later/client.h>
#include <stdio.h>
#include <string.h>

/* Prints what was done, for programs. People only see the exit status. */
static void cron_act_tell(const struct cron_found *found, const char *name, const char *id,
                          const char *result)
{
    bool paused = cron_count_of(found->state, "paused") != 0; /* before */
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s name:%s", found->keys.queue, name);
    if (id)
        jsonl_text(&json, "id", id);
    jsonl_text(&json, "result", result);
    if (strcmp(result, "paused") == 0 || strcmp(result, "resumed") == 0)
        jsonl_add(&json, "changed:%c", paused == (strcmp(result, "resumed") == 0));
    jsonl_end(&json);
}

static int move(struct cli *cli, const struct cron_found *found, const char *name,
                enum later_move what, const char *with, struct later_error *err)
{
    static const char *const done[] = { [LATER_CRON_PAUSE] = "paused",
                                        [LATER_CRON_RESUME] = "resumed",
                                        [LATER_CRON_DROP] = "deleted" };
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    bool there;

    later_crontab_move(&cmd, &found->keys, what, &name, with, 1);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    there = later_reply_int(later_reply_at(reply, 0)) > 0;
    later_reply_free(reply);
    if (!there)
        return later_fail(err, LATER_E_NONE, "there is no schedule %s", name);
    if (cli->json)
        cron_act_tell(found, name, NULL, done[what]);
    return LATER_OK;
}

static int find_and_move(struct cli *cli, const char *name, enum later_move what,
                         struct later_error *err)
{
    struct cron_found found;

    return cron_find(cli, name, &found, err) < 0 ? -1 : move(cli, &found, name, what, NULL, err);
}

static int cron_act_pause(struct cli *cli, const char *name, struct later_error *err)
{
    return find_and_move(cli, name, LATER_CRON_PAUSE, err);
}

static int cron_act_delete(struct cli *cli, const char *name, struct later_error *err)
{
    return find_and_move(cli, name, LATER_CRON_DROP, err);
}

/* The schedule goes on with the first tick from now on. Ticks that came meanwhile are not
 * pushed. */
static int cron_act_resume(struct cli *cli, const char *name, struct later_error *err)
{
    struct cron_found found;
    struct later_zone *zone;
    char next[32] = "";
    int64_t first;

    if (cron_find_zone(cli, name, &found, &zone, err) < 0)
        return -1;
    first = later_crontab_first(&found.schedule, zone, found.state, found.now);
    later_zone_free(zone);
    if (first >= 0)
        snprintf(next, sizeof next, "%lld", (long long)first);
    return move(cli, &found, name, LATER_CRON_RESUME, next, err);
}

static int cron_act_push(struct cli *cli, const struct cron_found *found, const char *name,
                         const char *document, size_t len, struct later_error *err)
{
    char id[LATER_SCHEDULE_NAME_MAX + 64], made[LATER_NEW_ID_SIZE];
    struct later_push_item item = { .id = id,
                                    .document = document,
                                    .document_len = len,
                                    .priority = found->schedule.priority,
                                    .expires_in = found->schedule.expires_in };
    struct later_pushed pushed;

    snprintf(item.group, sizeof item.group, "%s", found->schedule.group);
    later_document_id(made);
    snprintf(id, sizeof id, "cron:%s:run:%s", name, made);
    if (later_push_made(cli->client, found->keys.queue, &item, &pushed, err) < 0)
        return -1;
    if (cli->json)
        cron_act_tell(found, name, id, "pushed");
    else
        puts(id);
    return LATER_OK;
}

/* The job is pushed now, besides the ticks. No tick is used up. */
static int cron_act_run(struct cli *cli, const char *name, struct later_error *err)
{
    struct cron_found found;
    struct later_reply *reply;
    const char *document;
    size_t len;
    int status;

    if (cron_find(cli, name, &found, err) < 0)
        return -1;
    reply = cron_find_document(cli, &found, name, &document, &len, err);
    status = reply ? cron_act_push(cli, &found, name, document, len, err) : -1;
    later_reply_free(reply);
    return status;
}

/* --- the verbs: each takes many names --- */

typedef int cron_act_fn(struct cli *cli, const char *name, struct later_error *err);

/* One that there is not does not keep the others from it. */
static int cron_act_each(struct cli *cli, char **words, cron_act_fn *fn, struct later_error *err)
{
    int status = LATER_OK;

    for (size_t i = 0; words[i]; i++) {
        int one = fn(cli, words[i], err);

        if (one < 0 && err->code != LATER_E_NONE)
            return -1;
        if (one < 0)
            cli_say(cli, "%s", err->text);
        status = one < 0 ? LATER_E_NONE : one != LATER_OK ? one : status;
    }
    return status;
}

int cron_pause(struct cli *cli, char **words, struct later_error *err)
{
    return cron_act_each(cli, words, cron_act_pause, err);
}

int cron_delete(struct cli *cli, char **words, struct later_error *err)
{
    return cron_act_each(cli, words, cron_act_delete, err);
}

int cron_resume(struct cli *cli, char **words, struct later_error *err)
{
    return cron_act_each(cli, words, cron_act_resume, err);
}

int cron_run(struct cli *cli, char **words, struct later_error *err)
{
    return cron_act_each(cli, words, cron_act_run, err);
}
