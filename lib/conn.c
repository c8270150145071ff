/* conn.c: one connection to Redis. */
#include "conn.h"

#include "clock.h"
#include "key.h"
#include "script.h"
#include "sentinel.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_SIZE    65536
#define WRITE_PIECES 64
#define PATIENCE     0.1 /* seconds; twice as many each time that they were not enough */

/* A command that has no answer yet. Its bytes are kept until then: NOSCRIPT sends them again. */
struct pending {
    struct pending *next;
    struct later_command cmd;
    size_t sent; /* bytes */
    double timeout, deadline;
    int script;
    bool reloaded;
    later_answer_fn *fn;
    void *arg;
};

enum state { DOWN, CONNECTING, HANDSHAKE, UP };

struct later_conn {
    struct later_redis_options options;
    char *password;
    char name[64];
    char protocol[LATER_PREFIX_MAX + 16]; /* the key */
    bool too_new;
    enum state state;
    int fd;
    redisReader *reader;
    struct pending *first, *last; /* in the order of their answers */
    struct pending *unsent;       /* the first one with bytes to send, or NULL */
    size_t count;
    double connect_deadline;
    struct later_address at;          /* where the connection goes: a Sentinel, or the Redis */
    struct later_turns turns;         /* of the Sentinels; count 0 = without */
    bool asking;                      /* connected to a Sentinel, or about to be */
    bool named;                       /* it has named a Redis: `at` */
    char peer[LATER_PEER_SIZE];       /* that one; "" = not there */
    double named_at, patience;        /* when; how old that word may be once the Redis answers */
    unsigned which, tried, addresses; /* of the host: where to begin, how many now, of how many */
    int broken;                       /* errno of a write; what had come before is read first */
    int64_t id;
    double since;       /* `up` was called */
    char why[256];      /* a handshake that was refused */
    char load_why[256]; /* a SCRIPT LOAD that was refused */
};

struct later_conn *later_conn_new(const struct later_redis_options *options)
{
    struct later_conn *redis = calloc(1, sizeof *redis);

    if (!redis)
        return NULL;
    redis->options = *options;
    redis->at = options->address;
    later_turns_init(&redis->turns, later_address_sentinels(&options->address));
    redis->fd = -1;
    redis->patience = PATIENCE;
    if (redis->options.connect_timeout <= 0)
        redis->options.connect_timeout = 2;
    if (options->name)
        snprintf(redis->name, sizeof redis->name, "%s", options->name);
    if (options->protocol)
        snprintf(redis->protocol, sizeof redis->protocol, "%s", options->protocol);
    if (options->password && !(redis->password = strdup(options->password))) {
        free(redis);
        return NULL;
    }
    return redis;
}

struct later_conn *later_conn_twin(const struct later_conn *redis)
{
    return later_conn_new(
        &(struct later_redis_options){ .address = redis->options.address,
                                       .password = redis->password,
                                       .name = redis->name,
                                       .connect_timeout = redis->options.connect_timeout });
}

static void pending_free(struct pending *pending)
{
    later_command_free(&pending->cmd);
    free(pending);
}

static struct pending *pop(struct later_conn *redis)
{
    struct pending *pending = redis->first;

    redis->first = pending->next;
    if (!redis->first)
        redis->last = NULL;
    if (redis->unsent == pending)
        redis->unsent = pending->next;
    redis->count--;
    return pending;
}

static void append(struct later_conn *redis, struct pending *pending)
{
    pending->next = NULL;
    if (redis->last)
        redis->last->next = pending;
    else
        redis->first = pending;
    redis->last = pending;
    if (!redis->unsent)
        redis->unsent = pending;
    redis->count++;
}

static void answer(struct pending *pending, enum later_outcome outcome, enum later_remedy remedy,
                   redisReply *reply, const char *text)
{
    struct later_answer told = { .outcome = outcome,
                                 .remedy = remedy,
                                 .reply = (struct later_reply *)(void *)reply,
                                 .text = text,
                                 .cmd = &pending->cmd };

    if (pending->fn)
        pending->fn(pending->arg, &told);
    later_reply_free(told.reply);
    pending_free(pending);
}

/* Closes and answers everything outstanding. The list is taken off first, so that an answer's
 * function finds a connection that is down and empty. */
static void end(struct later_conn *redis, const char *why)
{
    struct pending *list = redis->first;
    char text[256];

    if (redis->state == DOWN)
        return;
    snprintf(text, sizeof text, "%s", why); /* why may be in what is freed now */
    close(redis->fd);
    redisReaderFree(redis->reader);
    redis->fd = -1;
    redis->reader = NULL;
    redis->state = DOWN;
    redis->first = redis->last = redis->unsent = NULL;
    redis->count = 0;
    redis->id = 0;
    redis->broken = 0;
    redis->asking = redis->named = false;
    redis->peer[0] = '\0';
    while (list) {
        struct pending *next = list->next;

        answer(list, list->sent ? LATER_UNKNOWN : LATER_UNSENT, LATER_REMEDY_RECONNECT, NULL, text);
        list = next;
    }
    if (redis->options.down)
        redis->options.down(redis->options.arg, text);
}

static bool ask_next(struct later_conn *redis);

/* It does not work here: on to the next Sentinel, if it was one; else it is over. */
static void fail(struct later_conn *redis, const char *why)
{
    char text[256];

    snprintf(text, sizeof text, "%s", why);
    if (redis->state != DOWN && redis->asking && redis->state != UP) {
        if (ask_next(redis))
            return;
        snprintf(text, sizeof text, "no Sentinel answers; the last: %.100s:%s: %.100s",
                 redis->at.host, redis->at.port, why);
    } else if (redis->state != DOWN && redis->turns.count && redis->state != UP) {
        later_turns_wrong(&redis->turns);
        snprintf(text, sizeof text, "%.100s: %.100s", redis->peer, why);
    }
    end(redis, text);
}

static void fail_errno(struct later_conn *redis, const char *what)
{
    char text[160];

    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    fail(redis, text);
}

static void forget_password(struct later_conn *redis)
{
    if (redis->password)
        explicit_bzero(redis->password, strlen(redis->password));
    free(redis->password);
    redis->password = NULL;
}

void later_conn_free(struct later_conn *redis)
{
    if (!redis)
        return;
    redis->options.down = NULL;
    end(redis, "closed");
    forget_password(redis);
    free(redis);
}

int later_conn_password(struct later_conn *redis, const char *password)
{
    char *copy = password ? strdup(password) : NULL;

    if (password && !copy)
        return -1;
    forget_password(redis);
    redis->password = copy;
    return 0;
}

void later_conn_disconnect(struct later_conn *redis, const char *why)
{
    end(redis, why);
}

const char *later_conn_peer(const struct later_conn *redis)
{
    return redis->peer;
}

bool later_conn_up(const struct later_conn *redis)
{
    return redis->state == UP;
}

bool later_conn_down(const struct later_conn *redis)
{
    return redis->state == DOWN;
}

bool later_conn_too_new(const struct later_conn *redis)
{
    return redis->too_new;
}

int64_t later_conn_id(const struct later_conn *redis)
{
    return redis->id;
}

double later_conn_since(const struct later_conn *redis)
{
    return redis->since;
}

size_t later_conn_pending(const struct later_conn *redis)
{
    return redis->count;
}

static int enqueue(struct later_conn *redis, struct later_command *cmd, int script, double timeout,
                   later_answer_fn *fn, void *arg)
{
    struct pending *pending;

    if (!later_command_ready(cmd) || !(pending = calloc(1, sizeof *pending))) {
        later_command_free(cmd);
        return -1;
    }
    pending->cmd = *cmd;
    *cmd = (struct later_command){ 0 };
    pending->script = script;
    pending->timeout = timeout;
    pending->deadline = later_clock() + timeout;
    pending->fn = fn;
    pending->arg = arg;
    append(redis, pending);
    return 0;
}

int later_conn_send(struct later_conn *redis, struct later_command *cmd, int script, double timeout,
                    later_answer_fn *fn, void *arg)
{
    if (redis->state != UP) {
        later_command_free(cmd);
        return -1;
    }
    return enqueue(redis, cmd, script, timeout, fn, arg);
}

/* --- the handshake: AUTH, SELECT, CLIENT SETNAME, CLIENT ID, ROLE, GET, PING --- */

static void must_work(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_REFUSED && !redis->why[0])
        snprintf(redis->why, sizeof redis->why, "%s", told->text);
}

/* Of a newer version we must not touch anything. Where the ACL hides the number, it is taken for
 * ours. */
static void take_protocol(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome != LATER_ANSWERED || redis->why[0] ||
        !later_protocol_newer(later_reply_text(told->reply, NULL)))
        return;
    redis->too_new = true;
    snprintf(redis->why, sizeof redis->why,
             "a newer later keeps its jobs there (%s is %.20s, we know %d); install that version",
             redis->protocol, later_reply_text(told->reply, NULL), LATER_PROTOCOL);
}

static void take_id(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_ANSWERED)
        redis->id = later_reply_int(told->reply);
}

/* Only the master will do where Sentinels named it: what they said may be old. */
static void take_role(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    must_work(arg, told);
    if (told->outcome == LATER_ANSWERED && !later_sentinel_is_master(told->reply) && !redis->why[0])
        snprintf(redis->why, sizeof redis->why, "it is not the master (ROLE)");
}

/* A Sentinel's answer. */
static void take_named(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    must_work(arg, told);
    if (told->outcome != LATER_ANSWERED)
        return;
    redis->named = later_sentinel_named(told->reply, &redis->at) == 0;
    if (!redis->named)
        snprintf(redis->why, sizeof redis->why, "knows no master of the name %s",
                 redis->options.address.master);
}

/* The last of the handshake. A PING tells LOADING, NOAUTH, MASTERDOWN. MISCONF and the like do not
 * count: reading still works, and it may heal. */
static void take_ping(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_REFUSED &&
        (told->remedy == LATER_REMEDY_RECONNECT || strncmp(told->text, "LOADING", 7) == 0))
        must_work(arg, told);
    if (told->outcome == LATER_REFUSED || told->outcome == LATER_ANSWERED)
        redis->state = UP; /* deliver_all() looks at `why` next */
}

static void ask(struct later_conn *redis, later_answer_fn *fn, const char *const *words)
{
    struct later_command cmd = { 0 };
    size_t count = 0;

    while (words[count])
        count++;
    later_command_begin(&cmd, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(&cmd, words[i]);
    enqueue(redis, &cmd, LATER_NO_SCRIPT, redis->options.connect_timeout, fn, redis);
}

static void shake_hands(struct later_conn *redis)
{
    const struct later_address *address = &redis->options.address;
    char db[12];

    snprintf(db, sizeof db, "%u", (unsigned)address->db);
    redis->why[0] = '\0';
    redis->too_new = false;
    if (redis->password && address->user[0])
        ask(redis, must_work,
            (const char *const[]){ "AUTH", address->user, redis->password, NULL });
    else if (redis->password)
        ask(redis, must_work, (const char *const[]){ "AUTH", redis->password, NULL });
    if (address->db)
        ask(redis, must_work, (const char *const[]){ "SELECT", db, NULL });
    if (redis->name[0])
        ask(redis, NULL, (const char *const[]){ "CLIENT", "SETNAME", redis->name, NULL });
    ask(redis, take_id, (const char *const[]){ "CLIENT", "ID", NULL });
    if (redis->turns.count)
        ask(redis, take_role, (const char *const[]){ "ROLE", NULL });
    if (redis->protocol[0])
        ask(redis, take_protocol, (const char *const[]){ "GET", redis->protocol, NULL });
    ask(redis, take_ping, (const char *const[]){ "PING", NULL });
}

/* The same at a Sentinel: the one question, or for who stays there, a PING. */
static void ask_sentinel(struct later_conn *redis)
{
    struct later_command cmd = { 0 };

    redis->why[0] = '\0';
    if (redis->options.sentinel) {
        ask(redis, take_ping, (const char *const[]){ "PING", NULL });
        return;
    }
    later_sentinel_ask(&cmd, redis->options.address.master);
    enqueue(redis, &cmd, LATER_NO_SCRIPT, LATER_SENTINEL_SECONDS, take_named, redis);
}

/* Begins to connect to the next of the host's addresses that was not tried yet. */
static int dial(struct later_conn *redis, struct later_error *err)
{
    int fd = -1;

    while (fd < 0 && redis->tried < redis->addresses)
        fd = later_address_connect(&redis->at, redis->which + redis->tried++, &redis->addresses,
                                   err);
    return fd;
}

/* Of another host: from its first address on. */
static int dial_host(struct later_conn *redis, struct later_error *err)
{
    redis->which = redis->tried = 0;
    redis->addresses = 1;
    return dial(redis, err);
}

/* Begins with the Sentinel whose turn it is, or one behind it. Returns its socket, or -1. */
static int dial_sentinel(struct later_conn *redis, struct later_error *err)
{
    int fd;

    redis->asking = true;
    redis->named = false;
    do {
        later_address_host(&redis->options.address, later_turns_now(&redis->turns), &redis->at);
        fd = dial_host(redis, err);
    } while (fd < 0 && later_turns_next(&redis->turns));
    return fd;
}

/* Puts another socket in the place of the present one, whose answers nobody waits for any more. The
 * new one is there before the old one goes, so that the owner's loop sees another number. */
static bool move_to(struct later_conn *redis, int fd, double seconds)
{
    redisReader *reader = fd < 0 ? NULL : redisReaderCreate();

    if (!reader) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    reader->maxbuf = redis->reader->maxbuf;
    redisReaderFree(redis->reader);
    redis->reader = reader;
    while (redis->first)
        pending_free(pop(redis));
    close(redis->fd);
    redis->fd = fd;
    redis->broken = 0;
    redis->why[0] = '\0';
    redis->state = CONNECTING;
    redis->connect_deadline = later_clock() + seconds;
    return true;
}

static bool ask_next(struct later_conn *redis)
{
    struct later_error err;

    return later_turns_next(&redis->turns) &&
           move_to(redis, dial_sentinel(redis, &err), LATER_SENTINEL_SECONDS);
}

/* From the Sentinel to the Redis that it named. */
static void follow(struct later_conn *redis)
{
    struct later_error err = { .text = "no memory" };

    redis->asking = redis->named = false;
    redis->named_at = later_clock();
    later_sentinel_peer(&redis->at, redis->peer);
    if (!move_to(redis, dial_host(redis, &err), redis->options.connect_timeout))
        fail(redis, err.text);
}

int later_conn_connect(struct later_conn *redis, struct later_error *err)
{
    if (redis->state != DOWN)
        return 0;
    redis->reader = redisReaderCreate();
    if (!redis->reader)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    redis->reader->maxbuf = 256 * 1024; /* what it may keep when it is empty */
    redis->which += redis->tried;       /* the last ones did not answer: begin behind them */
    redis->tried = 0;
    redis->addresses = 1;
    later_turns_begin(&redis->turns);
    redis->fd = redis->turns.count ? dial_sentinel(redis, err) : dial(redis, err);
    if (redis->fd < 0) {
        redis->asking = false;
        redisReaderFree(redis->reader);
        redis->reader = NULL;
        return -1;
    }
    redis->state = CONNECTING;
    redis->connect_deadline =
        later_clock() + (redis->asking ? LATER_SENTINEL_SECONDS : redis->options.connect_timeout);
    return 0;
}

/* This address refused: on to the next, or it is over. The new socket is there before the old one
 * goes, so that the owner's loop sees another number. */
static void dial_on(struct later_conn *redis, int why)
{
    struct later_error err;
    int fd = dial(redis, &err);

    if (fd < 0) {
        errno = why;
        fail_errno(redis, "connect");
        return;
    }
    close(redis->fd);
    redis->fd = fd;
}

/* Returns true once the socket is connected and the handshake queued. */
static bool finish_connect(struct later_conn *redis)
{
    struct pollfd poller = { .fd = redis->fd, .events = POLLOUT };
    socklen_t len = sizeof(int);
    int why = 0;

    if (poll(&poller, 1, 0) <= 0)
        return false;
    if (getsockopt(redis->fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0 || why) {
        dial_on(redis, why ? why : errno);
        return false;
    }
    redis->state = HANDSHAKE;
    if (redis->asking)
        ask_sentinel(redis);
    else
        shake_hands(redis);
    return true;
}

/* --- writing --- */

static size_t gather(const struct later_conn *redis, struct iovec *pieces)
{
    size_t count = 0;

    for (struct pending *p = redis->unsent; p && count < WRITE_PIECES; p = p->next) {
        pieces[count].iov_base = p->cmd.data + p->sent;
        pieces[count++].iov_len = p->cmd.len - p->sent;
    }
    return count;
}

static void note_sent(struct later_conn *redis, size_t bytes)
{
    while (bytes > 0) {
        struct pending *p = redis->unsent;
        size_t left = p->cmd.len - p->sent;

        if (bytes < left) {
            p->sent += bytes;
            return;
        }
        p->sent = p->cmd.len;
        p->deadline = later_clock() + p->timeout;
        bytes -= left;
        redis->unsent = p->next;
    }
}

/* A write that fails breaks nothing yet: answers that came before are still to be read, and an
 * owner that flushes from inside an answer would be answered inside out. handle() ends it. */
void later_conn_flush(struct later_conn *redis)
{
    while (redis->state >= HANDSHAKE && redis->unsent && !redis->broken) {
        struct iovec pieces[WRITE_PIECES];
        struct msghdr message = { .msg_iov = pieces, .msg_iovlen = gather(redis, pieces) };
        ssize_t sent = sendmsg(redis->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                redis->broken = errno;
            return;
        }
        note_sent(redis, (size_t)sent);
    }
}

/* --- reading --- */

static void note_load(void *arg, struct later_answer *told)
{
    struct later_conn *redis = arg;

    if (told->outcome == LATER_REFUSED)
        snprintf(redis->load_why, sizeof redis->load_why, "%s", told->text);
}

/* NOSCRIPT: nothing has run. Loads the script and sends the same bytes again. */
static bool load_and_repeat(struct later_conn *redis, struct pending *pending)
{
    struct later_command load = { 0 };

    if (pending->script == LATER_NO_SCRIPT || pending->reloaded)
        return false;
    later_script_load(&load, (enum later_script)pending->script);
    redis->load_why[0] = '\0';
    if (enqueue(redis, &load, LATER_NO_SCRIPT, pending->timeout, note_load, redis) < 0)
        return false;
    pending->reloaded = true;
    pending->sent = 0;
    pending->deadline = later_clock() + pending->timeout;
    append(redis, pending);
    return true;
}

static bool is_message(const struct later_conn *redis, const struct later_reply *reply)
{
    return redis->options.message && later_reply_count(reply) == 3 &&
           strcmp(later_reply_text(later_reply_at(reply, 0), NULL), "message") == 0;
}

static void deliver(struct later_conn *redis, redisReply *raw)
{
    struct later_reply *reply = (struct later_reply *)(void *)raw;
    struct pending *pending;
    const char *text;
    enum later_remedy remedy;
    bool leave;

    if (is_message(redis, reply)) {
        redis->options.message(redis->options.arg, later_reply_text(later_reply_at(reply, 1), NULL),
                               later_reply_text(later_reply_at(reply, 2), NULL));
        later_reply_free(reply);
        return;
    }
    if (!redis->first || redis->first == redis->unsent) { /* an answer to nothing we sent */
        snprintf(redis->why, sizeof redis->why, "unasked answer: %.100s",
                 later_reply_text(reply, NULL));
        later_reply_free(reply);
        return;
    }
    pending = pop(redis);
    if (!later_reply_is_error(reply)) {
        answer(pending, LATER_ANSWERED, LATER_REMEDY_ABANDON, raw, "");
        return;
    }
    text = later_reply_text(reply, NULL);
    remedy = later_reply_remedy(text, NULL);
    if (remedy == LATER_REMEDY_LOAD && load_and_repeat(redis, pending)) {
        later_reply_free(reply);
        return;
    }
    if (remedy == LATER_REMEDY_LOAD && pending->reloaded && redis->load_why[0]) {
        text = redis->load_why; /* the reason, not what follows from it */
        remedy = later_reply_remedy(text, NULL);
    }
    leave =
        redis->turns.count && redis->first == redis->unsent && strncmp(text, "READONLY", 8) == 0;
    answer(pending, LATER_REFUSED, remedy, raw, text);
    if (leave && redis->state == UP)
        snprintf(redis->why, sizeof redis->why, "%.200s is not the master any more (READONLY)",
                 redis->peer);
}

/* A master that stood still (SIGSTOP, a frozen machine) and wakes does not know yet that another
 * was chosen meanwhile, and takes writes until its next cron: so what a Sentinel said must be
 * fresh. */
static bool is_late(struct later_conn *redis)
{
    if (!redis->turns.count || redis->options.sentinel)
        return false;
    if (later_clock() - redis->named_at <= redis->patience) {
        redis->patience = PATIENCE;
        return false;
    }
    redis->patience *= 2;
    return true;
}

static void ask_again(struct later_conn *redis)
{
    struct later_error err = { .text = "no memory" };

    later_turns_begin(&redis->turns);
    redis->state = HANDSHAKE;
    redis->peer[0] = '\0';
    if (!move_to(redis, dial_sentinel(redis, &err), LATER_SENTINEL_SECONDS))
        end(redis, err.text);
}

static void announce_up(struct later_conn *redis)
{
    redis->since = later_clock();
    redis->which += redis->tried - 1; /* this address is the one to begin with next time */
    redis->tried = 0;
    if (redis->turns.count)
        later_turns_right(&redis->turns);
    if (redis->options.up)
        redis->options.up(redis->options.arg);
}

/* Answers all complete replies. Returns false when the connection broke. */
static bool deliver_all(struct later_conn *redis)
{
    for (;;) {
        void *reply = NULL;
        bool was_up = redis->state == UP;

        if (redisReaderGetReply(redis->reader, &reply) != REDIS_OK) {
            fail(redis, redis->reader->errstr);
            return false;
        }
        if (!reply)
            return true;
        deliver(redis, reply);
        if (redis->state == DOWN)
            return false;
        if (redis->named && redis->asking) {
            follow(redis);
            return false;
        }
        if (redis->why[0]) {
            fail(redis, redis->why);
            return false;
        }
        if (!was_up && redis->state == UP && is_late(redis)) {
            ask_again(redis);
            return false;
        }
        if (!was_up && redis->state == UP)
            announce_up(redis);
        if (redis->state == DOWN)
            return false;
    }
}

static void read_some(struct later_conn *redis)
{
    static const int rounds = 16; /* then others get their turn */
    char bytes[READ_SIZE];

    for (int i = 0; i < rounds && redis->state >= HANDSHAKE; i++) {
        ssize_t got = recv(redis->fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got < 0) {
            fail_errno(redis, "read");
            return;
        }
        if (got == 0) {
            fail(redis, "Redis closed the connection");
            return;
        }
        if (redisReaderFeed(redis->reader, bytes, (size_t)got) != REDIS_OK) {
            fail(redis, redis->reader->errstr);
            return;
        }
        if (!deliver_all(redis) || (size_t)got < sizeof bytes)
            return;
    }
}

void later_conn_handle(struct later_conn *redis)
{
    if (redis->state == CONNECTING && !finish_connect(redis))
        return;
    later_conn_flush(redis);
    if (redis->state >= HANDSHAKE)
        read_some(redis);
    later_conn_flush(redis);
    if (redis->state >= HANDSHAKE && redis->broken) {
        errno = redis->broken;
        fail_errno(redis, "write");
    }
}

/* --- for the owner's loop --- */

int later_conn_fd(const struct later_conn *redis)
{
    return redis->fd;
}

bool later_conn_wants_write(const struct later_conn *redis)
{
    return redis->state == CONNECTING || (redis->unsent && !redis->broken);
}

double later_conn_deadline(const struct later_conn *redis)
{
    double deadline = INFINITY;

    if (redis->broken)
        return 0; /* at once */
    for (const struct pending *p = redis->first; p; p = p->next) {
        if (p->deadline < deadline)
            deadline = p->deadline;
    }
    if ((redis->state == CONNECTING || redis->state == HANDSHAKE) &&
        redis->connect_deadline < deadline)
        deadline = redis->connect_deadline;
    return redis->state == DOWN ? INFINITY : deadline;
}

void later_conn_tick(struct later_conn *redis)
{
    if (later_clock() < later_conn_deadline(redis))
        return;
    if (redis->broken)
        later_conn_handle(redis);
    else
        fail(redis, redis->state == UP ? "no answer in time" : "no connection in time");
}
