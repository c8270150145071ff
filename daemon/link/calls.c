/* calls.c: calls of somebody who may be gone before they are answered. */
#include "link/calls.h"

#include <stdlib.h>

struct calls {
    struct link *link;
    size_t open; /* without an answer */
    bool freed;
};

struct call {
    struct calls *calls;
    later_answer_fn *fn;
    void *arg;
};

static void calls_on_answer(void *arg, struct later_answer *answer)
{
    struct call call = *(struct call *)arg;

    free(arg);
    if (!call.calls->freed && call.fn)
        call.fn(call.arg, answer);
    if (--call.calls->open == 0 && call.calls->freed)
        free(call.calls);
}

struct calls *calls_new(struct link *link)
{
    struct calls *calls = calloc(1, sizeof *calls);

    if (calls)
        calls->link = link;
    return calls;
}

int calls_send(struct calls *calls, struct later_command *cmd, later_answer_fn *fn, void *arg)
{
    struct call *call = malloc(sizeof *call);

    if (!call) {
        later_command_free(cmd);
        return -1;
    }
    *call = (struct call){ .calls = calls, .fn = fn, .arg = arg };
    calls->open++;
    if (link_send(calls->link, cmd, LINK_TIMEOUT, calls_on_answer, call) == 0)
        return 0;
    calls->open--;
    free(call);
    return -1;
}

void calls_free(struct calls *calls)
{
    if (!calls)
        return;
    calls->freed = true;
    if (calls->open == 0)
        free(calls);
}
