/*
 * crowd.c: many workers with one job of 10 ms each at a time, whose jobs were pushed before.
 *
 * So many laterds would need more cores than most machines have. So one process plays the workers:
 * each has its own connection and sends what a worker sends, a reserve of one job at first and then
 * a step, which ends that job and takes the next. It parses no document and keeps no record.
 */
#include "ceiling.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "job/document.h"
#include "queue/queue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define WORKERS 1000
#define SECONDS 0.010 /* a job */
#define EVENTS  256
#define RUNS    5

struct member {
    redisContext *redis;
    struct member *next; /* whose job ends next */
    double ends;
    char token[LATER_TOKEN_LEN + 1], id[LATER_ID_MAX + 1];
};

struct crowd {
    const struct later_keys *keys;
    struct member members[WORKERS];
    struct member *first, *last; /* jobs that run; each takes as long, so they end in this order */
    size_t busy;                 /* of them, those that have a job or wait for one */
    int poll;
};

static void crowd_send(struct member *member, struct later_command *cmd)
{
    int done = 0;

    if (!later_command_ready(cmd) ||
        redisAppendFormattedCommand(member->redis, cmd->data, cmd->len) != REDIS_OK)
        fatal("cannot send");
    later_command_free(cmd);
    while (!done) {
        if (redisBufferWrite(member->redis, &done) != REDIS_OK)
            fatal("write: %s", member->redis->errstr);
    }
}

static struct later_take crowd_take(const char *token)
{
    return (struct later_take){
        .token = token, .lease = CEILING_LEASE, .limit = 1, .bytes = LATER_RESERVE_BYTES
    };
}

static void crowd_reserve(struct crowd *crowd, struct member *member)
{
    const struct later_take take = crowd_take(member->token);
    struct later_command cmd = { 0 };

    later_token(member->token);
    later_queue_reserve(&cmd, crowd->keys, &take);
    crowd_send(member, &cmd);
}

static void crowd_step(struct crowd *crowd, struct member *member)
{
    char token[sizeof member->token];
    const struct later_take take = crowd_take(token);
    const struct later_settlement done = { .token = member->token, .id = member->id };
    struct later_command cmd = { 0 };

    later_token(token);
    later_queue_step(&cmd, crowd->keys, &take, &done, 1, NULL);
    crowd_send(member, &cmd);
    memcpy(member->token, token, sizeof token);
}

/* Each whose job has run long enough takes the next. */
static void crowd_end_jobs(struct crowd *crowd)
{
    while (crowd->first && crowd->first->ends <= now_monotonic()) {
        struct member *member = crowd->first;

        crowd->first = member->next;
        crowd_step(crowd, member);
    }
}

static void crowd_begin_job(struct crowd *crowd, struct member *member, const char *id)
{
    snprintf(member->id, sizeof member->id, "%s", id);
    member->ends = now_monotonic() + SECONDS;
    member->next = NULL;
    if (crowd->first)
        crowd->last->next = member;
    else
        crowd->first = member;
    crowd->last = member;
}

/* Takes an answer, if it is whole. None has two under way. */
static void crowd_read(struct crowd *crowd, struct member *member)
{
    redisReply *reply = NULL;

    if (redisBufferRead(member->redis) != REDIS_OK ||
        redisGetReplyFromReader(member->redis, (void **)&reply) != REDIS_OK)
        fatal("read: %s", member->redis->errstr);
    if (!reply)
        return;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 1)
        fatal("redis: %s", reply->str ? reply->str : "no list");
    if (reply->elements > 1)
        crowd_begin_job(crowd, member, reply->element[1]->str);
    else
        crowd->busy--;
    freeReplyObject(reply);
}

static void crowd_run(struct crowd *crowd)
{
    struct epoll_event events[EVENTS];

    while (crowd->busy) {
        int count = epoll_wait(crowd->poll, events, EVENTS, crowd->first ? 1 : -1);

        if (count < 0 && errno != EINTR)
            fatal("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < count; i++)
            crowd_read(crowd, events[i].data.ptr);
        crowd_end_jobs(crowd);
    }
}

static void crowd_gather(struct crowd *crowd, const struct stage *stage)
{
    crowd->poll = epoll_create1(EPOLL_CLOEXEC);
    if (crowd->poll < 0)
        fatal("epoll_create1: %s", strerror(errno));
    for (size_t i = 0; i < WORKERS; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &crowd->members[i] };

        redisContext *redis = server_connect(&stage->server);
        redisReply *pong = redis ? redisCommand(redis, "PING") : NULL;

        if (!pong) /* one after the other, as Redis takes them */
            fatal("redis-server does not take connections");
        freeReplyObject(pong);
        epoll_ctl(crowd->poll, EPOLL_CTL_ADD, redis->fd, &event);
        crowd->members[i].redis = redis;
    }
}

void bench_crowd(void)
{
    static struct crowd crowd;
    size_t runs = quick ? 1 : RUNS, count = quick ? 20000 : 100000;
    double rate[RUNS], redis_us[RUNS];
    struct stage stage;

    stage_open(&stage, "maxclients 2000\n");
    crowd.keys = &stage.keys;
    crowd_gather(&crowd, &stage);
    for (size_t run = 0; run < runs; run++) {
        double start, redis;

        ceiling_push(&stage, count, 100, 0); /* which loads the scripts, too */
        redis = cpu_of(stage.server.pid);
        start = now_monotonic();
        crowd.busy = WORKERS;
        for (size_t i = 0; i < WORKERS; i++)
            crowd_reserve(&crowd, &crowd.members[i]);
        crowd_run(&crowd);
        rate[run] = (double)count / (now_monotonic() - start);
        redis_us[run] = (cpu_of(stage.server.pid) - redis) / (double)count * 1e6;
    }
    stage_close(&stage);
    row_begin("crowd");
    row_number("workers", WORKERS);
    row_number("runs", (double)runs);
    row_number("rate", median(rate, runs));
    row_number("redis_us", median(redis_us, runs));
    row_end();
}
