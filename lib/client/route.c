/* route.c: pushing one job into a queue that may have shards. */
#include "client/route.h"

#include "job/document.h"

#include <stdio.h>
#include <time.h>

#define PAUSE (50 * 1000 * 1000) /* nanoseconds */

int later_route_again(const char *queue, unsigned tries, struct later_error *err)
{
    const struct timespec pause = { .tv_nsec = PAUSE };

    if (tries >= LATER_ROUTE_TRIES)
        return later_fail(err, LATER_E_REDIS,
                          "queue %s: its shards are being changed, or Redis has lost how many they "
                          "are; a laterd that serves it mends that",
                          queue);
    if (tries > 2)
        nanosleep(&pause, NULL);
    return 0;
}

/* Pushes it by the short script, if that is enough: *pushed. Returns 0, or -1 with *err. */
static int push_plainly(struct later_client *client, const struct later_keys *keys,
                        const char *call, uint64_t epoch, const struct later_push_item *item,
                        bool *pushed, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_queue_push_now(&cmd, keys, call, epoch, item);
    reply = later_call(client, &cmd, LATER_SCRIPT_PUSH_NOW, 0, true, err);
    *pushed = reply && later_queue_pushed_now(reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* One call at one part. Returns 0, or -1 with *err. */
static int push_at(struct later_client *client, const char *part, unsigned flags, uint64_t epoch,
                   const struct later_push_item *item, struct later_routed *routed,
                   struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;
    const char *state;
    char call[37];
    bool pushed = false;

    if (later_call_keys(client, part, &keys, err) < 0)
        return -1;
    later_document_uuid(call);
    *routed = (struct later_routed){ .how = LATER_PUSHED };
    if (!(flags & LATER_PUSH_SEEK))
        later_call_announce(client, &keys);
    if (flags == 0 && later_queue_plain(item) &&
        push_plainly(client, &keys, call, epoch, item, &pushed, err) < 0)
        return -1;
    if (pushed)
        return 0;
    later_queue_push(&cmd, &keys, call, flags, epoch, item, 1);
    reply = later_call(client, &cmd, LATER_SCRIPT_PUSH, 0, true, err);
    if (!reply)
        return -1;
    routed->how = later_queue_pushed(reply, 0, &state);
    snprintf(routed->state, sizeof routed->state, "%s", state);
    later_reply_free(reply);
    return 0;
}

int later_route_push(struct later_client *client, const char *queue, unsigned flags,
                     const struct later_push_item *item, struct later_routed *routed,
                     struct later_error *err)
{
    if (later_call_whole(queue, err) < 0)
        return -1;
    for (unsigned tries = 0; later_route_again(queue, tries, err) == 0; tries++) {
        struct later_plan plan = later_call_plan(client, queue);
        later_queue_name route[LATER_COUNTS_MAX];
        size_t count = later_plan_route(&plan, queue, item->id, route), i = 0;
        const char *words;

        while (i < count) {
            bool last = i + 1 == count;

            if (push_at(client, route[i], flags | (last ? 0 : LATER_PUSH_SEEK), plan.epoch, item,
                        routed, err) < 0)
                break;
            if (routed->how == LATER_PUSH_FULL)
                return later_queue_full(queue, err);
            if (routed->how != LATER_PUSH_ABSENT)
                return 0;
            i++;
        }
        if (i == count || !later_shards_stale(err->text, &words))
            return -1;
        later_call_learn(client, queue, route[i], words);
    }
    return -1;
}
