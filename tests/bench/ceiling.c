/* ceiling.c: a bare client sends laterd's scripts and batches. */
#include "ceiling.h"

#include "job/document.h"
#include "measure.h"
#include "queue/queue.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS 2
#define BATCH_BYTES (256 * 1024)
#define TOLD        3 /* elements of reserve's answer a job */

struct line {
    redisContext *redis;
    size_t expected; /* answers */
    bool idle;       /* nothing is left for it */
    char token[LATER_TOKEN_LEN + 1];
};

/* The client's next step: takes what came on a connection and asks again. Returns false when there
 * is nothing left to ask. `reply` is NULL at first. */
typedef bool step_fn(void *arg, struct line *line, redisReply *reply);

const char *ceiling_document(size_t n, size_t bytes, char *id, size_t *len)
{
    static char *document;
    static size_t room;
    static const char head[] = "{\"type\":\"null\",\"id\":\"%s\",\"payload\":\"";
    size_t used;

    if (bytes < 80)
        bytes = 80;
    if (room < bytes + 3) {
        room = bytes + 3;
        free(document);
        document = malloc(room);
        if (!document)
            fatal("no memory");
    }
    snprintf(id, LATER_NEW_ID_SIZE, "%03x%011zx", (unsigned)getpid() & 0xfff, n);
    used = (size_t)snprintf(document, room, head, id);
    memset(document + used, 'x', bytes - used - 2);
    memcpy(document + bytes - 2, "\"}", 3);
    *len = bytes;
    return document;
}

/* ---- a client */

static void load_scripts(redisContext *redis)
{
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++) {
        struct later_command cmd = { 0 };
        redisReply *reply = NULL;

        later_script_load(&cmd, (enum later_script)i, false);
        redisAppendFormattedCommand(redis, cmd.data, cmd.len);
        later_command_free(&cmd);
        if (redisGetReply(redis, (void **)&reply) != REDIS_OK)
            fatal("SCRIPT LOAD: %s", redis->errstr);
        freeReplyObject(reply);
    }
}

static void line_send(struct line *line, struct later_command *cmd)
{
    if (!later_command_ready(cmd) ||
        redisAppendFormattedCommand(line->redis, cmd->data, cmd->len) != REDIS_OK)
        fatal("cannot send");
    later_command_free(cmd);
    line->expected++;
}

static void line_write(struct line *line)
{
    int done = 0;

    while (!done) {
        if (redisBufferWrite(line->redis, &done) != REDIS_OK)
            fatal("write: %s", line->redis->errstr);
    }
}

/* Reads; with each answer that completes what was asked takes the next step. */
static void line_read(struct line *line, step_fn *step, void *arg)
{
    redisReply *reply = NULL;

    if (redisBufferRead(line->redis) != REDIS_OK)
        fatal("read: %s", line->redis->errstr);
    while (redisGetReplyFromReader(line->redis, (void **)&reply) == REDIS_OK && reply) {
        if (reply->type == REDIS_REPLY_ERROR)
            fatal("redis: %s", reply->str);
        if (--line->expected == 0) {
            line->idle = !step(arg, line, reply);
            line_write(line);
        }
        freeReplyObject(reply);
        reply = NULL;
    }
}

static void run_client(const struct stage *stage, int gun, step_fn *step, void *arg)
{
    struct line lines[CONNECTIONS];
    struct pollfd polls[CONNECTIONS];
    size_t busy = CONNECTIONS;
    char shot;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        lines[i] = (struct line){ .redis = server_connect(&stage->server) };
        if (!lines[i].redis)
            fatal("redis-server does not take connections");
        polls[i] = (struct pollfd){ .fd = lines[i].redis->fd, .events = POLLIN };
    }
    load_scripts(lines[0].redis);
    (void)!read(gun, &shot, 1);
    for (size_t i = 0; i < CONNECTIONS; i++) {
        lines[i].idle = !step(arg, &lines[i], NULL);
        line_write(&lines[i]);
    }
    while (busy) {
        if (poll(polls, CONNECTIONS, -1) < 0 && errno != EINTR)
            fatal("poll: %s", strerror(errno));
        busy = 0;
        for (size_t i = 0; i < CONNECTIONS; i++) {
            if (polls[i].revents)
                line_read(&lines[i], step, arg);
            if (lines[i].idle)
                polls[i].fd = -1;
            busy += !lines[i].idle;
        }
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        redisFree(lines[i].redis);
}

/* Runs it in this many processes, which begin together, and measures. */
static struct speed measure(struct stage *stage, int processes, step_fn *step, void *arg)
{
    struct speed speed = { 0 };
    double start, redis, sent;
    int gun[2];

    if (pipe(gun) < 0)
        fatal("pipe: %s", strerror(errno));
    for (int i = 0; i < processes; i++) {
        pid_t pid = fork();

        if (pid < 0)
            fatal("fork: %s", strerror(errno));
        if (pid == 0) {
            close(gun[1]);
            run_client(stage, gun[0], step, arg);
            _exit(0);
        }
    }
    sleep_seconds(0.05); /* they connect and load */
    sent = sent_commands(stage->redis);
    redis = cpu_of(stage->server.pid);
    start = now_monotonic();
    close(gun[1]);
    close(gun[0]);
    for (int i = 0; i < processes; i++) {
        struct rusage usage;
        int status;

        if (wait4(-1, &status, 0, &usage) < 0 || status != 0)
            fatal("a ceiling client failed");
        speed.client += (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                        (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    }
    speed.seconds = now_monotonic() - start;
    speed.redis = cpu_of(stage->server.pid) - redis;
    speed.sent = sent_commands(stage->redis) - sent;
    return speed;
}

/* ---- push */

struct pushing {
    const struct later_keys *keys;
    size_t next, count, bytes;
    double delay;
};

static bool push_step(void *arg, struct line *line, redisReply *reply)
{
    struct pushing *push = arg;
    static struct later_push_item items[LATER_BATCH_MAX];
    static char ids[LATER_BATCH_MAX][LATER_NEW_ID_SIZE], call[LATER_NEW_ID_SIZE];
    static char *documents;
    size_t count = 0, len, per_batch = BATCH_BYTES / push->bytes;
    struct later_command cmd = { 0 };

    (void)reply;
    per_batch = per_batch < 1 ? 1 : per_batch > LATER_BATCH_MAX ? LATER_BATCH_MAX : per_batch;
    if (!documents && !(documents = malloc(per_batch * push->bytes)))
        fatal("no memory");
    for (; count < per_batch && push->next < push->count; count++) {
        char *to = documents + count * push->bytes;

        memcpy(to, ceiling_document(push->next++, push->bytes, ids[count], &len), push->bytes);
        items[count] = (struct later_push_item){
            .id = ids[count], .document = to, .document_len = push->bytes, .in = push->delay
        };
    }
    if (!count)
        return false;
    memcpy(call, ids[0], sizeof call);
    later_queue_push(&cmd, push->keys, call, 0, 0, items, count);
    line_send(line, &cmd);
    return true;
}

struct speed ceiling_push(struct stage *stage, size_t count, size_t bytes, double delay)
{
    struct pushing push = {
        .keys = &stage->keys, .count = count, .bytes = bytes < 80 ? 80 : bytes, .delay = delay
    };

    return measure(stage, 1, push_step, &push);
}

/* ---- drain */

static void send_acks(struct line *line, const struct later_keys *keys, const redisReply *reply)
{
    struct later_command cmd = { 0 };

    later_queue_ack_all(&cmd, keys, line->token, (reply->elements - 1) / TOLD);
    line_send(line, &cmd);
}

static bool drain_step(void *arg, struct line *line, redisReply *reply)
{
    const struct later_keys *keys = arg;
    struct later_command cmd = { 0 };

    if (reply && (reply->type != REDIS_REPLY_ARRAY || reply->elements < 1 + TOLD))
        return false; /* empty */
    if (reply)
        send_acks(line, keys, reply);
    later_token(line->token);
    later_queue_reserve(&cmd, keys,
                        &(struct later_take){ .token = line->token,
                                              .lease = CEILING_LEASE,
                                              .limit = LATER_BATCH_MAX,
                                              .bytes = LATER_RESERVE_BYTES });
    line_send(line, &cmd);
    return true;
}

struct speed ceiling_drain(struct stage *stage, int processes)
{
    return measure(stage, processes, drain_step, &stage->keys);
}
