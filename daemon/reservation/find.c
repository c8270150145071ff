/* find.c: finds and returns jobs reserved under a token. */
#include "reservation/find.h"

#include "log.h"
#include "queue/inspect.h"

#include <stdlib.h>
#include <string.h>

struct find {
    struct link *link;
    const struct later_keys *keys;
    char token[LATER_TOKEN_LEN + 1];
    find_done_fn *done;
    void *arg;
    size_t found;
};

static void find_finish(struct find *find, bool ok)
{
    if (find->found && ok && find->done)
        log_line(LOG_INFO, "returned %zu jobs of queue %s whose reserve had no answer", find->found,
                 find->keys->queue);
    else if (find->found && ok)
        log_line(LOG_DEBUG, "returned %zu jobs of queue %s whose worker is busy", find->found,
                 find->keys->queue);
    if (find->done)
        find->done(find->arg, ok);
    free(find);
}

static void on_returned(void *arg, struct later_answer *answer)
{
    struct find *find = arg;
    bool ok = answer->outcome == LATER_ANSWERED;
    size_t lost = later_reply_count(answer->reply); /* settled meanwhile */

    if (ok)
        find->found -= lost < find->found ? lost : find->found;
    find_finish(find, ok);
}

static void on_held(void *arg, struct later_answer *answer)
{
    struct find *find = arg;
    struct later_settlement jobs[LATER_BATCH_MAX];
    struct later_command cmd = { 0 };
    struct link *link = find->link;

    find->found = later_reply_count(answer->reply);
    if (answer->outcome != LATER_ANSWERED || !find->found) {
        find_finish(find, answer->outcome == LATER_ANSWERED);
        return;
    }
    if (find->found > LATER_BATCH_MAX)
        find->found = LATER_BATCH_MAX;
    for (size_t i = 0; i < find->found; i++)
        jobs[i] = (struct later_settlement){
            .token = find->token, .id = later_reply_text(later_reply_at(answer->reply, i), NULL)
        };
    later_queue_settle(&cmd, find->keys, LATER_VERB_RETURN, 0, jobs, find->found);
    if (link_send(link, &cmd, LINK_TIMEOUT, on_returned, find) < 0)
        find_finish(find, false);
    else
        link_flush(link);
}

int find_and_return(struct link *link, const struct later_keys *keys, const char *token,
                    find_done_fn *done, void *arg)
{
    struct find *find = calloc(1, sizeof *find);
    struct later_command cmd = { 0 };

    if (!find)
        return -1;
    *find = (struct find){ .link = link, .keys = keys, .done = done, .arg = arg };
    memcpy(find->token, token, LATER_TOKEN_LEN);
    later_inspect_held(&cmd, keys, find->token);
    if (link_send(link, &cmd, LINK_TIMEOUT, on_held, find) < 0) {
        free(find);
        return -1;
    }
    link_flush(link);
    return 0;
}
