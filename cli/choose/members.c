/* members.c: finds members of a set. */
#include "choose/members.h"

#include "queue/inspect.h"
#include "queue/queue.h"

#include <stdio.h>
#include <string.h>

#define COUNT_MAX  1000000000 /* no table is larger, whatever Redis says */
#define TOKENS_MAX 1000000    /* tokens that hold something */

int64_t members_count(struct cli *cli, const struct later_keys *keys, enum later_key key,
                      struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_inspect_count(&cmd, keys, key);
    return cli_count(cli_call(cli, &cmd, err));
}

/* No scan of a table of this many elements takes more pages, even if the table grows or shrinks
 * meanwhile. If the end has not come by then, it never will. */
static int64_t most_pages(int64_t count)
{
    return 1000 + 4 * (count < COUNT_MAX ? count : COUNT_MAX);
}

static int members_take_page(const struct later_reply *page, members_fn *fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i + 1 < later_reply_count(page); i += 2) {
        size_t len;
        const char *member = later_reply_text(later_reply_at(page, i), &len);

        result = fn(arg, member, len, later_reply_text_at(page, i + 1));
    }
    return result;
}

int members_scan(struct cli *cli, const struct later_keys *keys, enum later_key key, members_fn *fn,
                 void *arg, struct later_error *err)
{
    char cursor[32] = "0";
    int64_t count = members_count(cli, keys, key, err), pages = most_pages(count);
    int result = count < 0 ? -1 : 0;

    while (result == 0) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        if (pages-- == 0)
            return later_fail(err, LATER_E_REDIS, "Redis does not finish listing %s",
                              keys->name[key]);
        later_inspect_scan(&cmd, keys, key, cursor);
        reply = cli_call(cli, &cmd, err);
        if (!reply)
            return -1;
        result = members_take_page(later_inspect_scanned(reply, cursor), fn, arg);
        later_reply_free(reply);
        if (strcmp(cursor, "0") == 0)
            break;
    }
    return result;
}

void members_ask_tokens(struct later_command *cmd, const struct later_keys *keys)
{
    later_inspect_from(cmd, keys, LATER_KEY_RESERVED, "-inf", 0, TOKENS_MAX);
}

int members_tokens(struct cli *cli, const struct later_keys *keys, struct later_reply **tokens,
                   struct later_error *err)
{
    struct later_command cmd = { 0 };

    members_ask_tokens(&cmd, keys);
    *tokens = cli_call(cli, &cmd, err);
    return *tokens ? 0 : -1;
}

const char *members_token(const struct later_reply *tokens, size_t i)
{
    return later_reply_text_at(tokens, 2 * i);
}

struct wanted {
    size_t asked; /* answers taken so far */
    size_t found; /* the first token that holds it; SIZE_MAX = none */
};

static void members_take_member(void *arg, struct later_answer *answer)
{
    struct wanted *wanted = arg;

    if (answer->outcome == LATER_ANSWERED && !later_reply_is_nil(answer->reply) &&
        wanted->found == SIZE_MAX)
        wanted->found = wanted->asked;
    wanted->asked++;
}

int members_token_of(struct cli *cli, const struct later_keys *keys, const char *id,
                     char token[LATER_TOKEN_LEN + 1], struct later_error *err)
{
    struct wanted wanted = { .found = SIZE_MAX };
    struct later_reply *tokens;
    int ok = members_tokens(cli, keys, &tokens, err);

    *token = '\0';
    for (size_t i = 0; ok == 0 && i < later_reply_count(tokens) / 2; i++) {
        struct later_command cmd = { 0 };

        later_inspect_member(&cmd, keys, members_token(tokens, i), id);
        ok = later_call_begin(cli->client, &cmd, members_take_member, &wanted, err);
    }
    ok = cli_drain(cli, ok, err);
    if (ok == 0 && wanted.found != SIZE_MAX)
        snprintf(token, LATER_TOKEN_LEN + 1, "%s", members_token(tokens, wanted.found));
    later_reply_free(tokens);
    return ok;
}

/* --- by token --- */

struct later_reply *members_held(struct cli *cli, const struct later_keys *keys, const char *token,
                                 struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_inspect_held(&cmd, keys, token);
    return cli_call(cli, &cmd, err);
}

void members_return(struct cli *cli, const struct later_keys *keys, const char *token)
{
    struct later_settlement jobs[LATER_BATCH_MAX];
    struct later_error ignored;
    struct later_reply *held = members_held(cli, keys, token, &ignored);
    struct later_command cmd = { 0 };
    size_t count = later_reply_count(held);

    for (size_t i = 0; i < count && i < LATER_BATCH_MAX; i++)
        jobs[i] = (struct later_settlement){ .token = token, .id = later_reply_text_at(held, i) };
    if (count > 0) {
        later_queue_settle(&cmd, keys, LATER_VERB_RETURN, 0, jobs, count);
        later_reply_free(cli_call(cli, &cmd, &ignored));
    }
    later_reply_free(held);
}
