/* follow.c: one connection to a Sentinel, for the supervisor. */
#include "link/follow.h"

#include "log.h"
#include "redis/sentinel.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

#define ASK_SECONDS 1 /* between PINGs, and for an answer */
#define TELL_AGAIN  3 /* PINGs after a change: other Sentinels may still name the old one */

struct follow {
    struct link *link;
    struct timer *timer;
    struct later_address address; /* of the Sentinels */
    char peer[LATER_PEER_SIZE];   /* the master; "" = not known yet */
    unsigned again;               /* how often the master is still to be reported */
    void (*moved)(void *arg, const char *peer);
    void *arg;
};

bool follow_wanted(const struct config *config)
{
    struct later_address address;

    return link_address(config, &address) && later_address_sentinels(&address) > 0;
}

static void take_peer(struct follow *follow, const char *peer)
{
    if (strcmp(follow->peer, peer) == 0)
        return;
    if (follow->peer[0])
        log_line(LOG_WARN, "the master %s is at %s now, no longer at %s", follow->address.master,
                 peer, follow->peer);
    strcpy(follow->peer, peer);
    follow->again = TELL_AGAIN;
    follow->moved(follow->arg, peer);
}

static void follow_on_named(void *arg, struct later_answer *answer)
{
    struct follow *follow = arg;
    struct later_address named = { .db = 0 };
    char peer[LATER_PEER_SIZE];

    if (answer->outcome != LATER_ANSWERED || later_sentinel_named(answer->reply, &named) < 0)
        return;
    later_sentinel_peer(&named, peer);
    take_peer(follow, peer);
}

static void follow_on_message(void *arg, const char *channel, const char *text)
{
    struct follow *follow = arg;
    char peer[LATER_PEER_SIZE];

    if (strcmp(channel, "+switch-master") == 0
            ? later_sentinel_switched(text, follow->address.master, peer)
            : later_sentinel_promoted(text, follow->address.master, peer))
        take_peer(follow, peer);
}

/* Question and subscription go in one write, so that no switch is missed between them. */
static void follow_on_up(void *arg)
{
    struct follow *follow = arg;
    struct later_command cmd = { 0 };

    later_sentinel_ask(&cmd, follow->address.master);
    link_send(follow->link, &cmd, ASK_SECONDS, follow_on_named, follow);
    later_command_say(&cmd, "SUBSCRIBE +switch-master");
    link_send(follow->link, &cmd, ASK_SECONDS, NULL, NULL);
    later_command_say(&cmd, "SUBSCRIBE +promoted-slave");
    link_send(follow->link, &cmd, ASK_SECONDS, NULL, NULL);
    link_flush(follow->link);
}

static void follow_on_timer(void *arg)
{
    struct follow *follow = arg;
    struct later_command cmd = { 0 };

    if (follow->again > 0) {
        follow->again--;
        follow->moved(follow->arg, follow->peer);
    }
    if (!link_is_up(follow->link))
        return;
    later_command_say(&cmd, "PING");
    link_send(follow->link, &cmd, ASK_SECONDS, NULL, NULL);
    link_flush(follow->link);
}

struct follow *follow_new(struct event_base *base, const struct config *config,
                          void (*moved)(void *arg, const char *peer), void *arg,
                          struct later_error *err)
{
    struct follow *follow = calloc(1, sizeof *follow);
    const struct link_options link = { .what = "sentinel",
                                       .quiet = true,
                                       .sentinel = true,
                                       .up = follow_on_up,
                                       .message = follow_on_message,
                                       .arg = follow };

    if (!follow) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    follow->moved = moved;
    follow->arg = arg;
    (void)link_address(config, &follow->address);
    follow->timer = timer_new(base, follow_on_timer, follow);
    follow->link = follow->timer ? link_new(base, config, &link, err) : NULL;
    if (!follow->link) {
        if (!follow->timer)
            later_fail(err, LATER_E_SYSTEM, "no memory");
        follow_free(follow);
        return NULL;
    }
    timer_every(follow->timer, ASK_SECONDS);
    return follow;
}

void follow_free(struct follow *follow)
{
    if (!follow)
        return;
    link_free(follow->link);
    timer_free(follow->timer);
    free(follow);
}
