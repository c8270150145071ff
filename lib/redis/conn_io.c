/* conn_io.c: writes commands and reads answers. */
#include "redis/conn_inner.h"

#include "base/clock.h"
#include "base/uncleared.h"
#include "redis/script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#define READ_SIZE    65536
#define WRITE_PIECES 64

/* --- writing --- */

static size_t conn_io_gather(const struct later_conn *redis, struct iovec *pieces)
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

static ssize_t conn_io_send(struct later_conn *redis, struct iovec *pieces, size_t count)
{
    static const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    struct msghdr message = { .msg_iov = pieces };

    if (redis->tls)
        return later_tls_write(redis->tls, pieces, count);
    if (count == 1) /* as most often; the kernel has less to look at */
        return send(redis->base.fd, pieces->iov_base, pieces->iov_len, flags);
    message.msg_iovlen = (__typeof__(message.msg_iovlen))count; /* musl has an int there */
    return sendmsg(redis->base.fd, &message, flags);
}

/* A failed write does not disconnect yet. Answers that came before it are still to be read, and an
 * owner that flushes from a callback must not get other callbacks within it. handle() ends the
 * connection. */
void later_conn_flush(struct later_redis *base)
{
    struct later_conn *redis = (struct later_conn *)base;

    while (redis->base.state >= HANDSHAKE && redis->unsent && !redis->broken) {
        struct iovec pieces[WRITE_PIECES];
        ssize_t sent = conn_io_send(redis, pieces, conn_io_gather(redis, pieces));

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
    struct loading *loading = arg;
    struct later_conn *redis = loading->redis;

    loading->redis = NULL;
    if (told->outcome == LATER_REFUSED)
        snprintf(redis->load_why, sizeof redis->load_why, "%s", told->text);
}

/* Thousands of calls may have been sent before the first NOSCRIPT. One load is enough for all of
 * them. */
static bool conn_io_load(struct later_conn *redis, const struct later_command *of, double timeout)
{
    enum later_script script = (enum later_script)(of->script - later_script_texts);
    struct loading *loading = &redis->loading[of->told > 0][script];
    struct later_command cmd = { 0 };

    if (loading->redis)
        return true;
    later_script_load(&cmd, script, of->told > 0);
    redis->load_why[0] = '\0';
    loading->redis = redis;
    if (later_conn_enqueue(redis, &cmd, timeout, note_load, loading) == 0)
        return true;
    loading->redis = NULL;
    return false;
}

/* NOSCRIPT: nothing has run. Loads the script and sends the same bytes again. */
static bool load_and_repeat(struct later_conn *redis, struct pending *pending)
{
    if (!pending->cmd.script || pending->reloaded ||
        !conn_io_load(redis, &pending->cmd, pending->timeout))
        return false;
    pending->reloaded = true;
    pending->sent = 0;
    pending->deadline = later_clock() + pending->timeout;
    later_conn_append(redis, pending);
    return true;
}

static bool is_message(const struct later_conn *redis, const struct later_reply *reply)
{
    return redis->base.options.message && later_reply_count(reply) == 3 &&
           strcmp(later_reply_text(later_reply_at(reply, 0), NULL), "message") == 0;
}

/* What Redis says as it hangs up (too many clients) comes as the answer to whatever was sent first,
 * and some commands of the handshake heed no answer. */
static void conn_io_note_refusal(struct later_conn *redis, enum later_remedy remedy,
                                 const char *text)
{
    if (redis->base.state == HANDSHAKE && remedy == LATER_REMEDY_RECONNECT && !redis->why[0])
        snprintf(redis->why, sizeof redis->why, "%s", text);
}

/* An error is passed on as the answer; or, for NOSCRIPT, the script is loaded and the command sent
 * again. */
static void deliver_error(struct later_conn *redis, struct pending *pending,
                          struct later_reply *reply)
{
    const char *text = later_reply_text(reply, NULL);
    enum later_remedy remedy = later_reply_remedy(text);
    bool leave;

    later_reply_cut_script(reply);
    conn_io_note_refusal(redis, remedy, text);
    if (remedy == LATER_REMEDY_LOAD && load_and_repeat(redis, pending)) {
        later_reply_free(reply);
        return;
    }
    if (remedy == LATER_REMEDY_LOAD && pending->reloaded && redis->load_why[0]) {
        text = redis->load_why; /* the first error, which caused this one */
        remedy = later_reply_remedy(text);
    }
    leave =
        redis->turns.count && redis->first == redis->unsent && strncmp(text, "READONLY", 8) == 0;
    later_conn_answer(pending, LATER_REFUSED, remedy, reply, text);
    if (leave && redis->base.state == UP)
        snprintf(redis->why, sizeof redis->why, "%.200s is no longer the master (READONLY)",
                 redis->base.peer);
}

static void deliver(struct later_conn *redis, struct later_reply *reply)
{
    struct pending *pending;

    if (is_message(redis, reply)) {
        redis->base.options.message(redis->base.options.arg,
                                    later_reply_text(later_reply_at(reply, 1), NULL),
                                    later_reply_text(later_reply_at(reply, 2), NULL));
        later_reply_free(reply);
        return;
    }
    if (!redis->first || redis->first == redis->unsent) { /* an answer to nothing we sent */
        snprintf(redis->why, sizeof redis->why, "%s%.100s",
                 later_reply_is_error(reply) ? "" : "unexpected answer: ",
                 later_reply_text(reply, NULL));
        later_reply_free(reply);
        return;
    }
    pending = later_conn_pop(redis);
    if (later_reply_is_error(reply))
        deliver_error(redis, pending, reply);
    else
        later_conn_answer(pending, LATER_ANSWERED, LATER_REMEDY_ABANDON, reply, "");
}

static void announce_up(struct later_conn *redis)
{
    redis->base.since = later_clock();
    redis->which += redis->tried - 1; /* begin with this address next time */
    redis->tried = 0;
    if (redis->turns.count)
        later_turns_right(&redis->turns);
    if (redis->base.options.up)
        redis->base.options.up(redis->base.options.arg);
}

/* Answers all complete replies. Returns false when the connection broke. */
static bool deliver_all(struct later_conn *redis)
{
    for (;;) {
        void *reply = NULL;
        bool was_up = redis->base.state == UP;

        if (redisReaderGetReply(redis->reader, &reply) != REDIS_OK) {
            later_conn_fail(redis, redis->reader->errstr);
            return false;
        }
        if (!reply)
            return true;
        deliver(redis, reply);
        if (redis->base.state == DOWN)
            return false;
        if (redis->named && redis->asking) {
            later_conn_follow(redis);
            return false;
        }
        if (redis->why[0]) {
            later_conn_fail(redis, redis->why);
            return false;
        }
        if (!was_up && redis->base.state == UP && later_conn_is_late(redis)) {
            later_conn_ask_again(redis);
            return false;
        }
        if (!was_up && redis->base.state == UP)
            announce_up(redis);
        if (redis->base.state == DOWN)
            return false;
    }
}

static ssize_t conn_io_receive(struct later_conn *redis, char *bytes, size_t room)
{
    int flags = redis->waits ? 0 : MSG_DONTWAIT;

    redis->waits = false;
    return redis->tls ? later_tls_read(redis->tls, bytes, room)
                      : recv(redis->base.fd, bytes, room, flags);
}

/* hiredis's reader is at level 0 before an answer, and above that within an array. What it has read
 * of an answer without one stays in its buffer. */
static void conn_io_note_piece(struct later_conn *redis)
{
    const redisReader *reader = redis->reader;

    redis->piece = reader->ridx > 0 || reader->pos < reader->len ? later_clock() : 0;
}

/* The connection has ended, from the other side. */
static void conn_io_end(struct later_conn *redis)
{
    const char *why = redis->tls ? later_tls_why(redis->tls) : "";

    later_conn_fail(redis, *why ? why : "Redis closed the connection");
}

static void conn_io_read_some(struct later_conn *redis)
{
    static const int rounds = 16;          /* then other sockets get their turn */
    char bytes[READ_SIZE] LATER_UNCLEARED; /* what is read of it recv() has written */

    for (int i = 0; i < rounds && redis->base.state >= HANDSHAKE; i++) {
        ssize_t got = conn_io_receive(redis, bytes, sizeof bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got < 0) {
            later_conn_fail_errno(redis, "read");
            return;
        }
        if (got == 0) {
            conn_io_end(redis);
            return;
        }
        if (redisReaderFeed(redis->reader, bytes, (size_t)got) != REDIS_OK) {
            later_conn_fail(redis, redis->reader->errstr);
            return;
        }
        if (!deliver_all(redis))
            return;
        conn_io_note_piece(redis);
        if ((size_t)got < sizeof bytes)
            return;
    }
}

void later_conn_handle(struct later_redis *base)
{
    struct later_conn *redis = (struct later_conn *)base;

    if (redis->base.state == CONNECTING && !later_conn_finish(redis))
        return;
    later_conn_flush(base);
    if (redis->base.state >= HANDSHAKE)
        conn_io_read_some(redis);
    redis->more = redis->tls && later_tls_more(redis->tls);
    later_conn_flush(base);
    if (redis->base.state >= HANDSHAKE && redis->broken) {
        errno = redis->broken;
        later_conn_fail_errno(redis, "write");
    }
}

/* --- waiting --- */

/* The socket of an owner without a loop. All other calls for it say MSG_DONTWAIT, but OpenSSL's. */
static bool may_block(struct later_conn *redis)
{
    const struct timeval most = { .tv_sec = LATER_READ_SECONDS };
    int fd = redis->base.fd, flags;

    if (redis->blocks || redis->tls)
        return redis->blocks;
    flags = fcntl(fd, F_GETFL);
    redis->blocks = flags >= 0 &&
                    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0 &&
                    fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
    return redis->blocks;
}

/* One call of the kernel less than poll(2) and a read that does not wait. */
bool later_conn_read(struct later_redis *base)
{
    struct later_conn *redis = (struct later_conn *)base;

    if (base->state != UP || redis->unsent || redis->broken || !may_block(redis))
        return false;
    redis->waits = true;
    later_conn_handle(base);
    return true;
}
