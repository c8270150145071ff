/* bell.c: one waiting connection per queue. */
#include "bell.h"

#include "link.h"
#include "log.h"
#include "script.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

/* One BLPOP: short, since a node that has stopped, or is no master any more, is found out by its
 * silence only, and nobody hears the wakes at its successor until then. */
#define WAIT_SECONDS  1.0
#define SLACK_SECONDS 1.0 /* for its answer */
#define AGAIN_SECONDS 0.1 /* after one that failed */

struct bell {
    struct bells *bells;
    struct later_keys keys;
    struct link *link;
    struct event *again;
    bool waiting; /* a BLPOP is out */
};

struct bells {
    struct bells_options options;
    struct bell *list;
    size_t count;
    bool freed; /* what is answered from now on concerns nobody */
};

static void listen_for(struct bell *bell);

static void put_back(struct bell *bell)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_WAKE, &bell->keys, NULL, 0);
    link_send(bell->link, &cmd, LATER_SCRIPT_WAKE, LINK_TIMEOUT, NULL, NULL);
    link_flush(bell->link);
}

static void on_answer(void *arg, struct later_answer *answer)
{
    const struct timeval wait = { 0, (suseconds_t)(AGAIN_SECONDS * 1e6) };
    struct bell *bell = arg;
    struct bells *bells = bell->bells;
    bool came = later_reply_count(answer->reply) > 0;

    bell->waiting = false;
    if (bells->freed)
        return;
    if (answer->outcome != LATER_ANSWERED) {
        if (answer->outcome == LATER_REFUSED)
            log_line(LOG_DEBUG, "redis refuses to wait for queue %s: %s", bell->keys.queue,
                     answer->text);
        if (answer->remedy == LATER_REMEDY_RECONNECT && answer->outcome == LATER_REFUSED)
            link_break(bell->link, answer->text);
        evtimer_add(bell->again, &wait);
        return;
    }
    if (came && !bells->options.call(bells->options.arg, bell->keys.queue))
        put_back(bell);
    listen_for(bell);
}

/* Where nobody is idle, bells_idle() comes when somebody is. */
static void listen_for(struct bell *bell)
{
    struct later_command cmd = { 0 };

    if (bell->waiting || !link_is_up(bell->link) ||
        !bell->bells->options.idle(bell->bells->options.arg, bell->keys.queue))
        return;
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "BLPOP");
    later_command_text(&cmd, bell->keys.name[LATER_KEY_WAKE]);
    later_command_seconds(&cmd, WAIT_SECONDS);
    bell->waiting = link_send(bell->link, &cmd, LATER_NO_SCRIPT, WAIT_SECONDS + SLACK_SECONDS,
                              on_answer, bell) == 0;
    link_flush(bell->link);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    listen_for(arg);
}

static void on_up(void *arg)
{
    listen_for(arg);
}

void bells_idle(struct bells *bells)
{
    for (size_t i = 0; bells && i < bells->count; i++)
        listen_for(&bells->list[i]);
}

static struct bell *find(struct bells *bells, const char *queue)
{
    for (size_t i = 0; bells && i < bells->count; i++) {
        if (strcmp(bells->list[i].keys.queue, queue) == 0)
            return &bells->list[i];
    }
    return NULL;
}

void bells_uncalled(struct bells *bells, const char *queue)
{
    struct bell *bell = find(bells, queue);

    if (bell && link_is_up(bell->link))
        put_back(bell);
}

void bells_count(const struct bells *bells, struct connections *connections)
{
    for (size_t i = 0; bells && i < bells->count; i++)
        connections_add(connections, link_redis(bells->list[i].link));
}

/* --- making and unmaking --- */

bool bells_wanted(const struct config *config)
{
    struct later_address address;
    struct later_error ignored;
    char url[512];

    link_url(config, url, sizeof url);
    return later_address_parse(&address, url, &ignored) == 0 && address.cluster;
}

static int add(struct bells *bells, struct event_base *base, const struct config *config,
               const char *queue, struct later_error *err)
{
    struct bell *bell = &bells->list[bells->count];
    const struct link_options options = { .what = "bell", .quiet = true, .up = on_up, .arg = bell };

    *bell = (struct bell){ .bells = bells };
    later_keys_init(&bell->keys, config->redis.prefix, queue);
    bell->again = evtimer_new(base, on_again, bell);
    if (!bell->again)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    bells->count++;
    bell->link = link_new(base, config, &options, err);
    return bell->link ? 0 : -1;
}

/* Every queue of every pool once. */
static int add_all(struct bells *bells, struct event_base *base, const struct config *config,
                   struct later_error *err)
{
    size_t most = 0;

    for (uint32_t p = 0; p < config->pool_count; p++)
        most += config->pools[p].queue_count;
    bells->list = calloc(most ? most : 1, sizeof *bells->list);
    if (!bells->list)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            const char *name = config->pools[p].queues[q].name;

            if (!find(bells, name) && add(bells, base, config, name, err) < 0)
                return -1;
        }
    }
    return 0;
}

struct bells *bells_new(struct event_base *base, const struct config *config,
                        const struct bells_options *options, struct later_error *err)
{
    struct bells *bells = calloc(1, sizeof *bells);

    if (!bells) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    bells->options = *options;
    if (add_all(bells, base, config, err) < 0) {
        bells_free(bells);
        return NULL;
    }
    return bells;
}

void bells_free(struct bells *bells)
{
    if (!bells)
        return;
    bells->freed = true;
    for (size_t i = 0; i < bells->count; i++) {
        link_free(bells->list[i].link);
        event_free(bells->list[i].again);
    }
    free(bells->list);
    free(bells);
}
