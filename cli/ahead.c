/* ahead.c: answers that are asked for before they are needed. */
#include "ahead.h"

#include <stdlib.h>
#include <string.h>

static void ahead_take_answer(void *arg, struct later_answer *answer)
{
    struct ahead_answer *to = arg;

    if (answer->outcome != LATER_ANSWERED)
        return;
    to->reply = answer->reply;
    answer->reply = NULL;
}

void ahead_ask(struct later_client *client, struct ahead *ahead, struct later_command *cmd)
{
    struct ahead_answer *to = &ahead->answers[ahead->count];
    struct later_error ignored;

    if (!later_redis_down(later_call_redis(client)) && ahead->count < AHEAD_MAX &&
        later_command_ready(cmd) && (to->bytes = malloc(cmd->len))) {
        memcpy(to->bytes, cmd->data, cmd->len);
        to->len = cmd->len;
        to->reply = NULL;
        ahead->count++;
        (void)later_call_add(client, cmd, ahead_take_answer, to, &ignored);
    }
    later_command_free(cmd);
}

void ahead_await(struct later_client *client)
{
    struct later_error ignored;

    (void)later_call_drain(client, &ignored);
}

struct later_reply *ahead_take(struct ahead *ahead, const struct later_command *cmd)
{
    for (size_t i = 0; i < ahead->count; i++) {
        struct ahead_answer *answer = &ahead->answers[i];

        if (!answer->bytes || answer->len != cmd->len ||
            memcmp(answer->bytes, cmd->data, cmd->len) != 0)
            continue;
        free(answer->bytes);
        answer->bytes = NULL;
        return answer->reply;
    }
    return NULL;
}

void ahead_clear(struct ahead *ahead)
{
    for (size_t i = 0; i < ahead->count; i++) {
        if (!ahead->answers[i].bytes)
            continue;
        free(ahead->answers[i].bytes);
        later_reply_free(ahead->answers[i].reply);
    }
    ahead->count = 0;
}
