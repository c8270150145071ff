/* conn_dial.c: connects: Sentinels, addresses, the handshake. */
#include "redis/conn_inner.h"

#include "base/clock.h"
#include "redis/key.h"
#include "redis/reply_make.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READER_KEEPS (256 * 1024) /* bytes of its buffer, while that is empty */

/* --- the handshake: AUTH, SELECT, CLIENT SETNAME, CLIENT ID, ROLE, GET, PING --- */

static void must_work(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_REFUSED && !redis->why[0])
        snprintf(redis->why, sizeof redis->why, "%s", told->text);
}

/* If Redis holds another protocol, we must not touch anything. If the ACL hides the number, we
 * assume that it is ours. */
static void take_protocol(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;
    char why[LATER_PROTOCOL_WHY];

    if (told->outcome != LATER_ANSWERED || redis->why[0] ||
        !later_protocol_differs(later_reply_text(told->reply, NULL), redis->base.protocol, why))
        return;
    redis->base.other_protocol = true;
    snprintf(redis->why, sizeof redis->why, "%s", why);
}

static void take_id(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_ANSWERED)
        redis->base.id = later_reply_int(told->reply);
}

/* A Redis that Sentinels named must be the master: what they said may be old. */
static void take_role(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    must_work(arg, told);
    if (told->outcome == LATER_ANSWERED && !later_sentinel_is_master(told->reply) && !redis->why[0])
        snprintf(redis->why, sizeof redis->why, "it is not the master (ROLE)");
}

/* Takes a Sentinel's answer. */
static void take_named(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    must_work(arg, told);
    if (told->outcome != LATER_ANSWERED)
        return;
    redis->named = later_sentinel_named(told->reply, &redis->at) == 0;
    if (!redis->named)
        snprintf(redis->why, sizeof redis->why, "knows no master of the name %s",
                 redis->base.options.address.master);
}

/* This is the end of the handshake. PING shows LOADING, NOAUTH and MASTERDOWN. MISCONF and the like
 * do not count, since reading still works and Redis may recover. */
static void take_ping(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_REFUSED &&
        (told->remedy == LATER_REMEDY_RECONNECT || strncmp(told->text, "LOADING", 7) == 0))
        must_work(arg, told);
    if (told->outcome == LATER_REFUSED || told->outcome == LATER_ANSWERED)
        redis->base.state = UP; /* deliver_all() looks at `why` next */
}

static void conn_dial_ask(struct later_conn *redis, later_answer_fn *fn, const char *const *words)
{
    struct later_command cmd = { 0 };
    size_t count = 0;

    while (words[count])
        count++;
    later_command_begin(&cmd, count);
    later_command_texts(&cmd, words, count);
    later_conn_enqueue(redis, &cmd, redis->base.options.connect_timeout, fn, redis);
}

static void shake_hands(struct later_conn *redis)
{
    const struct later_address *address = &redis->base.options.address;
    char db[12];

    later_redis_read_password(&redis->base);
    snprintf(db, sizeof db, "%u", (unsigned)address->db);
    redis->why[0] = '\0';
    redis->base.other_protocol = false;
    if (redis->base.password && address->user[0])
        conn_dial_ask(redis, must_work,
                      (const char *const[]){ "AUTH", address->user, redis->base.password, NULL });
    else if (redis->base.password)
        conn_dial_ask(redis, must_work,
                      (const char *const[]){ "AUTH", redis->base.password, NULL });
    if (address->db)
        conn_dial_ask(redis, must_work, (const char *const[]){ "SELECT", db, NULL });
    if (redis->base.name[0])
        conn_dial_ask(redis, NULL,
                      (const char *const[]){ "CLIENT", "SETNAME", redis->base.name, NULL });
    conn_dial_ask(redis, take_id, (const char *const[]){ "CLIENT", "ID", NULL });
    if (redis->turns.count)
        conn_dial_ask(redis, take_role, (const char *const[]){ "ROLE", NULL });
    if (redis->base.protocol[0])
        conn_dial_ask(redis, take_protocol,
                      (const char *const[]){ "GET", redis->base.protocol, NULL });
    conn_dial_ask(redis, take_ping, (const char *const[]){ "PING", NULL });
}

/* The same at a Sentinel: asks who is master, or for an owner that stays there, a PING. */
static void ask_sentinel(struct later_conn *redis)
{
    struct later_command cmd = { 0 };

    redis->why[0] = '\0';
    if (redis->base.options.sentinel) {
        conn_dial_ask(redis, take_ping, (const char *const[]){ "PING", NULL });
        return;
    }
    later_sentinel_ask(&cmd, redis->base.options.address.master);
    later_conn_enqueue(redis, &cmd, LATER_SENTINEL_SECONDS, take_named, redis);
}

/* Begins to connect to the next address of the host that was not tried yet. */
static int dial(struct later_conn *redis, struct later_error *err)
{
    int fd = -1;

    while (fd < 0 && redis->tried < redis->addresses)
        fd = later_address_connect(&redis->at, redis->which + redis->tried++, &redis->addresses,
                                   err);
    return fd;
}

/* Begins with the first address of another host. */
static int dial_host(struct later_conn *redis, struct later_error *err)
{
    redis->which = redis->tried = 0;
    redis->addresses = 1;
    return dial(redis, err);
}

/* Begins with the Sentinel whose turn it is, or a later one. Returns its socket, or -1. */
static int dial_sentinel(struct later_conn *redis, struct later_error *err)
{
    int fd;

    redis->asking = true;
    redis->named = false;
    do {
        later_address_host(&redis->base.options.address, later_turns_now(&redis->turns),
                           &redis->at);
        fd = dial_host(redis, err);
    } while (fd < 0 && later_turns_next(&redis->turns));
    return fd;
}

/* A reader for a new socket; the one before, if there is any, is freed. Returns false, and that one
 * stays, without memory. */
static bool conn_dial_reader(struct later_conn *redis)
{
    redisReader *reader = later_reply_reader();

    if (!reader)
        return false;
    reader->maxbuf = READER_KEEPS;
    redisReaderFree(redis->reader);
    redis->reader = reader;
    redis->piece = 0;
    return true;
}

/* Replaces the socket; nobody waits for answers from the old one. The new one is opened before the
 * old one is closed, so that the owner's loop sees another number. */
static bool move_to(struct later_conn *redis, int fd, double seconds)
{
    if (fd < 0)
        return false;
    if (!conn_dial_reader(redis)) {
        close(fd);
        return false;
    }
    while (redis->first)
        later_conn_forget(later_conn_pop(redis));
    later_conn_hang_up(redis);
    redis->base.fd = fd;
    redis->broken = 0;
    redis->why[0] = '\0';
    redis->base.state = CONNECTING;
    redis->connect_deadline = later_clock() + seconds;
    return true;
}

bool later_conn_ask_next(struct later_conn *redis)
{
    struct later_error err;

    return later_turns_next(&redis->turns) &&
           move_to(redis, dial_sentinel(redis, &err), LATER_SENTINEL_SECONDS);
}

/* Goes from the Sentinel to the Redis that it named. */
void later_conn_follow(struct later_conn *redis)
{
    struct later_error err = { .text = "no memory" };

    redis->asking = redis->named = false;
    redis->named_at = later_clock();
    later_sentinel_peer(&redis->at, redis->base.peer);
    if (!move_to(redis, dial_host(redis, &err), redis->base.options.connect_timeout))
        later_conn_fail(redis, err.text);
}

int later_conn_connect(struct later_redis *base, struct later_error *err)
{
    struct later_conn *redis = (struct later_conn *)base;
    if (redis->base.state != DOWN)
        return 0;
    if (!conn_dial_reader(redis))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    redis->which += redis->tried; /* the last ones did not answer: begin after them */
    redis->tried = 0;
    redis->addresses = 1;
    later_turns_begin(&redis->turns);
    redis->base.fd = redis->turns.count ? dial_sentinel(redis, err) : dial(redis, err);
    if (redis->base.fd < 0) {
        redis->asking = false;
        redisReaderFree(redis->reader);
        redis->reader = NULL;
        return -1;
    }
    redis->base.state = CONNECTING;
    redis->connect_deadline = later_clock() + (redis->asking ? LATER_SENTINEL_SECONDS
                                                             : redis->base.options.connect_timeout);
    return 0;
}

/* This address refused: goes on to the next, or disconnects. The new socket is opened before the
 * old one is closed, so that the owner's loop sees another number. */
static void dial_on(struct later_conn *redis, int why)
{
    struct later_error err;
    int fd = dial(redis, &err);

    if (fd < 0) {
        errno = why;
        later_conn_fail_errno(redis, "connect");
        return;
    }
    later_conn_hang_up(redis);
    redis->base.fd = fd;
}

/* Is the socket connected? If it was refused, the next address is tried. */
static bool conn_dial_connected(struct later_conn *redis)
{
    struct pollfd poller = { .fd = redis->base.fd, .events = POLLOUT };
    socklen_t len = sizeof(int);
    int why = 0;

    if (poll(&poller, 1, 0) <= 0)
        return false;
    if (getsockopt(redis->base.fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0 || why) {
        dial_on(redis, why ? why : errno);
        return false;
    }
    return true;
}

/* Is TLS ready, if the URL wants it? */
static bool conn_dial_secured(struct later_conn *redis)
{
    const struct later_address_tls *how = &redis->base.options.address.tls;
    char why[LATER_TLS_WHY];
    int done;

    if (!how->on)
        return true;
    if (!redis->tls)
        redis->tls = later_tls_new(how, redis->at.host, redis->base.fd, why);
    if (!redis->tls) {
        later_conn_fail(redis, why);
        return false;
    }
    done = later_tls_shake(redis->tls);
    if (done < 0)
        later_conn_fail_errno(redis, "TLS");
    return done > 0;
}

/* Returns true once the socket is connected and the handshake queued. */
bool later_conn_finish(struct later_conn *redis)
{
    if ((!redis->tls && !conn_dial_connected(redis)) || !conn_dial_secured(redis))
        return false;
    redis->base.state = HANDSHAKE;
    if (redis->asking)
        ask_sentinel(redis);
    else
        shake_hands(redis);
    return true;
}

/* A master that stood still (SIGSTOP, a frozen machine) does not know at first that another was
 * chosen meanwhile, and takes writes until its next cron. So what a Sentinel said must be fresh. */
bool later_conn_is_late(struct later_conn *redis)
{
    if (!redis->turns.count || redis->base.options.sentinel)
        return false;
    if (later_clock() - redis->named_at <= redis->patience) {
        redis->patience = PATIENCE;
        return false;
    }
    redis->patience *= 2;
    return true;
}

void later_conn_ask_again(struct later_conn *redis)
{
    struct later_error err = { .text = "no memory" };

    later_turns_begin(&redis->turns);
    redis->base.state = HANDSHAKE;
    redis->base.peer[0] = '\0';
    if (!move_to(redis, dial_sentinel(redis, &err), LATER_SENTINEL_SECONDS))
        later_conn_disconnect(redis, err.text);
}
