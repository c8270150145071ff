/* find.c: jobs reserved under a token. */
#include "reservation/find.h"

#include "log.h"

#include <stdlib.h>
#include <string.h>

#define PAGE "500"

struct find {
    struct link *link;
    const struct later_keys *keys;
    char token[LATER_TOKEN_LEN + 1];
    char cursor[24];
    find_done_fn *done;
    void *arg;
    bool failed;
    size_t open; /* commands without an answer */
    size_t found;
};

static void finish(struct find *find)
{
    if (find->open > 0)
        return;
    if (find->found && !find->failed)
        log_line(LOG_INFO, "returned %zu jobs of queue %s whose reserve had no answer", find->found,
                 find->keys->queue);
    find->done(find->arg, !find->failed);
    free(find);
}

static void on_returned(void *arg, struct later_answer *answer)
{
    struct find *find = arg;

    if (answer->outcome != LATER_ANSWERED)
        find->failed = true;
    else
        find->found -= later_reply_count(answer->reply); /* LOST: settled meanwhile */
    find->open--;
    finish(find);
}

static void tell(struct find *find, struct later_command *cmd, int script, later_answer_fn *fn)
{
    if (link_send(find->link, cmd, script, LINK_TIMEOUT, fn, find) < 0)
        find->failed = true;
    else
        find->open++;
}

/* The page's members, with scores between: all but the last few are other tokens'. */
static void give_back(struct find *find, const struct later_reply *page)
{
    struct later_settlement jobs[LATER_BATCH_MAX];
    struct later_command cmd = { 0 };
    size_t count = 0;

    for (size_t i = 0; i < later_reply_count(page) && count < LATER_BATCH_MAX; i += 2) {
        const char *member = later_reply_text(later_reply_at(page, i), NULL);

        if (strncmp(member, find->token, LATER_TOKEN_LEN) == 0 && member[LATER_TOKEN_LEN] == ':')
            jobs[count++] = (struct later_settlement){ .token = find->token,
                                                       .id = member + LATER_TOKEN_LEN + 1 };
    }
    if (!count)
        return;
    find->found += count;
    later_queue_settle(&cmd, find->keys, LATER_VERB_RETURN, 0, jobs, count);
    tell(find, &cmd, LATER_SCRIPT_RETURN, on_returned);
}

static void ask(struct find *find);

static void on_page(void *arg, struct later_answer *answer)
{
    struct find *find = arg;
    const char *cursor = later_reply_text(later_reply_at(answer->reply, 0), NULL);

    /* This page counts as open until the end: a flush that finds the connection broken answers
     * what was just sent, and the last answer frees *find. */
    if (answer->outcome != LATER_ANSWERED) {
        find->failed = true;
    } else {
        give_back(find, later_reply_at(answer->reply, 1));
        strncpy(find->cursor, cursor, sizeof find->cursor - 1);
        if (strcmp(cursor, "0") != 0 && cursor[0])
            ask(find);
    }
    link_flush(find->link);
    find->open--;
    finish(find);
}

static void ask(struct find *find)
{
    struct later_command cmd = { 0 };
    char pattern[LATER_TOKEN_LEN + 3];

    memcpy(pattern, find->token, LATER_TOKEN_LEN);
    memcpy(pattern + LATER_TOKEN_LEN, ":*", 3);
    later_command_begin(&cmd, 7);
    later_command_text(&cmd, "ZSCAN");
    later_command_text(&cmd, find->keys->name[LATER_KEY_RESERVED]);
    later_command_text(&cmd, find->cursor);
    later_command_text(&cmd, "MATCH");
    later_command_text(&cmd, pattern);
    later_command_text(&cmd, "COUNT");
    later_command_text(&cmd, PAGE);
    tell(find, &cmd, LATER_NO_SCRIPT, on_page);
}

int find_and_return(struct link *link, const struct later_keys *keys, const char *token,
                    find_done_fn *done, void *arg)
{
    struct find *find = calloc(1, sizeof *find);

    if (!find)
        return -1;
    *find = (struct find){ .link = link, .keys = keys, .done = done, .arg = arg, .cursor = "0" };
    memcpy(find->token, token, LATER_TOKEN_LEN);
    ask(find);
    if (!find->open) {
        free(find);
        return -1;
    }
    link_flush(link);
    return 0;
}
