/* link.c: a connection on a libevent loop. */
#include "link/link.h"

#include "base/clock.h"
#include "base/random.h"
#include "log.h"
#include "queue/inspect.h"
#include "redis/password.h"
#include "redis/reply.h"
#include "timer.h"

#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_WAIT   0.05
#define LONGEST_WAIT 1.5 /* we promise to go on within 2 s after Redis answers */
#define TOLD_SECONDS 0.2 /* a shorter outage is not logged: our own server may be starting */

struct link {
    struct link_options options;
    struct event_base *base;
    struct later_redis *redis;
    struct event *io;
    struct timer *timer;
    int fd;            /* the descriptor that io watches */
    bool writing;      /* io also watches for writing */
    double wait;       /* before the next try */
    double retry_at;   /* 0: no try is due */
    double down_since; /* 0: not in an outage */
    bool told;         /* this outage was logged */
    bool rests;        /* it is not wanted for now */
};

void link_url(const struct config *config, char *url, size_t room)
{
    if (strcmp(config->redis.url, "embedded") == 0)
        snprintf(url, room, "unix:%s/redis.sock", config->state_dir);
    else
        snprintf(url, room, "%s", config->redis.url);
}

bool link_address(const struct config *config, struct later_address *address)
{
    struct later_error ignored;
    char url[LATER_URL_SIZE];

    link_url(config, url, sizeof url);
    return later_address_parse(address, url, &ignored) == 0;
}

static void arm_timer(struct link *link)
{
    double at = link->retry_at > 0 ? link->retry_at : later_redis_deadline(link->redis);

    if (isinf(at))
        timer_stop(link->timer);
    else
        timer_in(link->timer, at - later_clock());
}

static void on_io(evutil_socket_t fd, short what, void *arg);
static void link_on_down(void *arg, const char *why);

/* Makes the loop watch what the connection waits for. */
static void link_watch(struct link *link)
{
    int fd = later_redis_fd(link->redis);
    bool writing = later_redis_wants_write(link->redis);

    if (fd != link->fd || writing != link->writing) {
        if (link->fd >= 0)
            event_del(link->io);
        if (fd >= 0) {
            event_assign(link->io, link->base, fd,
                         (short)(EV_READ | EV_PERSIST | (writing ? EV_WRITE : 0)), on_io, link);
            event_add(link->io, NULL);
        }
        link->fd = fd;
        link->writing = writing;
    }
    arm_timer(link);
}

static void on_io(evutil_socket_t fd, short what, void *arg)
{
    struct link *link = arg;

    (void)fd;
    (void)what;
    later_redis_handle(link->redis);
    link_watch(link);
}

static void link_begin(struct link *link)
{
    struct later_error err;

    link->retry_at = 0;
    if (later_redis_connect(link->redis, &err) < 0)
        link_on_down(link, err.text);
}

static void link_on_timer(void *arg)
{
    struct link *link = arg;

    if (link->retry_at > 0 && later_clock() >= link->retry_at)
        link_begin(link);
    else
        later_redis_tick(link->redis);
    link_watch(link);
}

static void link_on_up(void *arg)
{
    struct link *link = arg;

    if (link->told)
        log_line(LOG_INFO, "redis is back after %.1f s (%s)", later_clock() - link->down_since,
                 link->options.what);
    link->down_since = 0;
    link->told = false;
    link->wait = FIRST_WAIT;
    link->options.up(link->options.arg);
}

/* If Redis does not take the password, it helps to know which one that is. */
static void link_say_away(const struct link *link, const char *why)
{
    const char *which = "", *file = later_redis_password_file(link->redis);

    if (later_reply_denies(why))
        which = file ? "; password file: " : "; redis.password_file is not set";
    else
        file = NULL;
    log_line(LOG_WARN, "redis is away: %s (%s)%s%s; trying again until it is back", why,
             link->options.what, which, file ? file : "");
}

/* After a while, which is longer each time. */
static void link_try_again(struct link *link, const char *why)
{
    uint32_t random;

    if (link->options.away)
        link->options.away(link->options.arg, why);
    if (link->down_since <= 0) {
        link->down_since = later_clock();
    } else if (!link->told && !link->options.quiet &&
               later_clock() - link->down_since > TOLD_SECONDS) {
        link->told = true;
        link_say_away(link, why);
    }
    later_random(&random, sizeof random);
    link->retry_at = later_clock() + link->wait * ((double)random / UINT32_MAX);
    link->wait = link->wait * 2 < LONGEST_WAIT ? link->wait * 2 : LONGEST_WAIT;
}

static void link_on_down(void *arg, const char *why)
{
    struct link *link = arg;

    if (link->fd >= 0) {
        event_del(link->io); /* the descriptor is closed and must not be watched */
        link->fd = -1;
    }
    if (!link->rests)
        link_try_again(link, why);
    if (link->options.down)
        link->options.down(link->options.arg);
    arm_timer(link);
}

static void link_on_message(void *arg, const char *channel, const char *text)
{
    struct link *link = arg;

    link->options.message(link->options.arg, channel, text);
}

static struct later_redis *link_make_redis(struct link *link, const struct config *config,
                                           struct later_error *err)
{
    char url[LATER_URL_SIZE], password[LATER_PASSWORD_MAX] = "", name[64], protocol[LATER_KEY_MAX];
    struct later_redis_options options = { .name = name,
                                           .protocol = protocol,
                                           .up = link_on_up,
                                           .down = link_on_down,
                                           .message =
                                               link->options.message ? link_on_message : NULL,
                                           .sentinel = link->options.sentinel,
                                           .arg = link };
    struct later_redis *redis;

    later_key_protocol(protocol, config->redis.prefix);
    snprintf(name, sizeof name, "laterd-%s-%ld", link->options.what, (long)getpid());
    link_url(config, url, sizeof url);
    if (later_address_parse(&options.address, url, err) < 0 ||
        (!options.sentinel && config->redis.password_file &&
         later_password_read(config->redis.password_file, password, LATER_E_CONFIG, err) < 0))
        return NULL;
    if (!options.sentinel)
        options.password_file = config->redis.password_file;
    options.password = password[0] ? password : NULL;
    redis = later_redis_new(&options);
    explicit_bzero(password, sizeof password);
    explicit_bzero(options.address.password, sizeof options.address.password);
    if (!redis)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    return redis;
}

struct link *link_new(struct event_base *base, const struct config *config,
                      const struct link_options *options, struct later_error *err)
{
    struct link *link = calloc(1, sizeof *link);

    if (!link) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *link = (struct link){ .options = *options, .base = base, .fd = -1, .wait = FIRST_WAIT };
    link->io = event_new(base, -1, 0, on_io, link);
    link->timer = timer_new(base, link_on_timer, link);
    link->redis = link_make_redis(link, config, err);
    if (!link->io || !link->timer || !link->redis) {
        if (link->redis)
            later_fail(err, LATER_E_SYSTEM, "no memory");
        link_free(link);
        return NULL;
    }
    link->retry_at = later_clock();
    arm_timer(link);
    return link;
}

void link_free(struct link *link)
{
    if (!link)
        return;
    if (link->fd >= 0)
        event_del(link->io);
    later_redis_free(link->redis);
    if (link->io)
        event_free(link->io);
    timer_free(link->timer);
    free(link);
}

int link_send(struct link *link, struct later_command *cmd, double timeout, later_answer_fn *fn,
              void *arg)
{
    return later_redis_send(link->redis, cmd, timeout, fn, arg);
}

void link_flush(struct link *link)
{
    later_redis_flush(link->redis);
    link_watch(link);
}

void link_wake(struct link *link, const struct later_keys *keys)
{
    struct later_command cmd = { 0 };

    later_inspect_plain(&cmd, keys, LATER_SCRIPT_WAKE);
    link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    link_flush(link);
}

bool link_is_up(const struct link *link)
{
    return later_redis_up(link->redis);
}

struct later_redis *link_redis(const struct link *link)
{
    return link->redis;
}

void link_break(struct link *link, const char *why)
{
    later_redis_disconnect(link->redis, why);
    link_watch(link);
}

void link_rest(struct link *link)
{
    link->rests = true;
    link->retry_at = 0;
    later_redis_disconnect(link->redis, "it is not needed for now");
    link_watch(link);
}

void link_resume(struct link *link)
{
    if (!link->rests)
        return;
    link->rests = false;
    link->wait = FIRST_WAIT;
    link->retry_at = later_clock();
    arm_timer(link);
}

void link_moved(struct link *link, const char *peer)
{
    const char *now = later_redis_peer(link->redis);

    if (*now && strcmp(now, peer) != 0) {
        link->wait = FIRST_WAIT;
        later_redis_disconnect(link->redis, "Sentinels have named another master");
    } else if (link->retry_at > 0) { /* it waits for its next try; there is no need to wait now */
        link->wait = FIRST_WAIT;
        link->retry_at = later_clock();
    }
    link_watch(link);
}
