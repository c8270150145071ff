/* check_ahead.c: asks for what the check of a small queue needs. */
#include "check/check.h"

#include "choose/members.h"
#include "queue/inspect.h"

#include <string.h>

#define SMALL 10 /* jobs: their documents may be large, and come all at once */

static void ask_size(struct cli *cli, const struct later_keys *keys, struct ahead *ahead)
{
    struct later_command cmd = { 0 };

    later_inspect_size(&cmd, keys);
    ahead_ask(cli->client, ahead, &cmd);
}

static void check_ahead_ask_count(struct cli *cli, const struct later_keys *keys,
                                  enum later_key key, struct ahead *ahead)
{
    struct later_command cmd = { 0 };

    later_inspect_count(&cmd, keys, key);
    ahead_ask(cli->client, ahead, &cmd);
}

/* As members_scan() does. */
static void check_ahead_ask_page(struct cli *cli, const struct later_keys *keys, enum later_key key,
                                 struct ahead *ahead)
{
    struct later_command cmd = { 0 };

    check_ahead_ask_count(cli, keys, key, ahead);
    later_inspect_scan(&cmd, keys, key, "0");
    ahead_ask(cli->client, ahead, &cmd);
}

/* In the order of check_once(), so that the second size is the last thing that was read. */
static void ask_rest(struct cli *cli, const struct later_keys *keys, struct ahead *ahead)
{
    struct later_command cmd = { 0 };

    check_ahead_ask_page(cli, keys, LATER_KEY_READY, ahead);
    check_ahead_ask_page(cli, keys, LATER_KEY_DELAYED, ahead);
    check_ahead_ask_page(cli, keys, LATER_KEY_DEAD, ahead);
    check_ahead_ask_page(cli, keys, LATER_KEY_WAITING, ahead);
    members_ask_tokens(&cmd, keys);
    ahead_ask(cli->client, ahead, &cmd);
    later_inspect_second_wake(&cmd, keys);
    ahead_ask(cli->client, ahead, &cmd);
    check_ahead_ask_count(cli, keys, LATER_KEY_DONE, ahead);
    check_ahead_ask_count(cli, keys, LATER_KEY_KEPT, ahead);
    check_ahead_ask_count(cli, keys, LATER_KEY_DONE, ahead);
    check_ahead_ask_page(cli, keys, LATER_KEY_RECORDS, ahead);
    ask_size(cli, keys, ahead);
}

static bool is_small(const struct ahead *ahead)
{
    struct later_sizes sizes;

    if (ahead->count == 0 || !ahead->answers[0].reply)
        return false;
    later_inspect_sized(ahead->answers[0].reply, &sizes);
    return sizes.jobs + sizes.ready + sizes.delayed + sizes.dead + sizes.waiting <= SMALL;
}

void check_ahead(struct cli *cli, const later_queue_name *queues, size_t count, struct ahead *ahead)
{
    struct later_keys keys;
    struct later_error ignored;

    if (!cli_client(cli, &ignored))
        return; /* told by the check itself, as is a bad name */
    for (size_t i = 0; i < count; i++) {
        if (cli_keys(cli, queues[i], &keys, &ignored) == 0)
            ask_size(cli, &keys, &ahead[i]);
    }
    ahead_await(cli->client);
    for (size_t i = 0; i < count; i++) {
        if (is_small(&ahead[i]) && cli_keys(cli, queues[i], &keys, &ignored) == 0)
            ask_rest(cli, &keys, &ahead[i]);
        else
            ahead_clear(&ahead[i]);
    }
    ahead_await(cli->client);
}
