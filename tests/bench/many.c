/*
 * many.c: a thousand queues, by an older build and this one.
 *
 * A build that takes them all in one pool has one, with one worker. The older one, whose pools end
 * at 64 queues, has 16, of a worker each.
 */
#include "base.h"
#include "measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUEUES   1000
#define POOL     63   /* queues of a pool, where there have to be several */
#define PATIENCE 60.0 /* seconds */
#define SETTLED  3.0  /* after the start: scripts are loaded, first looks are over */

static void list_queues(FILE *file, int from, int end)
{
    for (int i = from; i < end; i++)
        fprintf(file, "%s { name = \"q%d\"; }", i > from ? "," : "(", i);
    fputs(" )", file);
}

static void list_pools(FILE *file)
{
    for (int i = 0; i < QUEUES; i += POOL) {
        fprintf(file, "%s { name = \"p%d\"; workers = 1; queues = ", i ? "," : "(", i);
        list_queues(file, i, i + POOL < QUEUES ? i + POOL : QUEUES);
        fputs("; }", file);
    }
    fputs(" )", file);
}

/* The list of queues, or of pools, in libconfig's form. */
static char *listed(bool pools)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        fatal("no memory");
    if (pools)
        list_pools(file);
    else
        list_queues(file, 0, QUEUES);
    fclose(file);
    return text;
}

/* Waits until there are so many waiting connections; false if laterd ends before that. */
static bool waits(struct stage *stage, int connections)
{
    double until = now_monotonic() + PATIENCE;

    while (stage_blocked(stage) < connections) {
        if (waitpid(stage->laterd, NULL, WNOHANG) != 0) {
            stage->laterd = 0;
            return false;
        }
        if (now_monotonic() > until)
            fatal("laterd does not wait for its queues after %.0f s", PATIENCE);
        sleep_seconds(0.01);
    }
    return true;
}

static void start(struct stage *stage)
{
    char *queues = listed(false), *pools = listed(true);

    stage_start_only(stage, 1, queues);
    if (!waits(stage, 1)) {
        stage_start_only(stage, 0, pools);
        if (!waits(stage, (QUEUES + POOL - 1) / POOL))
            fatal("laterd has ended");
    }
    sleep_seconds(SETTLED);
    free(queues);
    free(pools);
}

/* The same to each queue, in one write. */
static void tell_each(struct stage *stage, const char *format)
{
    redisReply *reply;

    for (int i = 0; i < QUEUES; i++)
        redisAppendCommand(stage->redis, format, i);
    for (int i = 0; i < QUEUES; i++) {
        if (redisGetReply(stage->redis, (void **)&reply) != REDIS_OK)
            fatal("redis-server: %s", stage->redis->errstr);
        freeReplyObject(reply);
    }
}

static void fill(struct stage *stage, struct side *side, size_t count)
{
    char path[128], null[] = "/dev/null", x[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    char *args[] = { "later", "--redis", stage->url, "push", "--file", path, NULL };
    FILE *file;

    snprintf(path, sizeof path, "%s/lines", stage->folder);
    file = fopen(path, "we");
    for (size_t i = 0; file && i < count; i++)
        fprintf(file, "{\"type\":\"null\",\"queue\":\"q%zu\",\"payload\":\"%s%s\"}\n", i % QUEUES,
                x, x + 21);
    if (!file || fclose(file) != 0)
        fatal("%s: cannot be written", path);
    side_call(side, "later", null, args);
}

/* Each of them in turn, so that few questions are asked. */
static void wait_done(struct stage *stage, size_t count)
{
    double until = now_monotonic() + PATIENCE;

    for (int i = 0; i < QUEUES; i++) {
        while (stage_ask_number(stage, "HGET later:{q%d}:stats done", i) <
               (double)(count / QUEUES)) {
            if (now_monotonic() > until)
                fatal("not all jobs are done after %.0f s", PATIENCE);
            sleep_seconds(0.01);
        }
    }
}

void many_spread(struct stage *stage, struct side *side, size_t run, size_t count)
{
    double redis, laterd;

    tell_each(stage, "SET later:{q%d}:paused 1");
    fill(stage, side, count);
    start(stage);
    redis = cpu_of(stage->server.pid);
    laterd = cpu_of_tree(stage->laterd);
    tell_each(stage, "DEL later:{q%d}:paused");
    tell_each(stage, "LPUSH later:{q%d}:wake 1");
    wait_done(stage, count);
    redis = (cpu_of(stage->server.pid) - redis) / (double)count * 1e6;
    laterd = (cpu_of_tree(stage->laterd) - laterd) / (double)count * 1e6;
    side->values[SPREAD_REDIS][run] = redis;
    side->values[SPREAD_LATERD][run] = laterd;
    side->values[SPREAD_BOTH][run] = redis + laterd;
}

static double commands_so_far(struct stage *stage)
{
    redisReply *reply = stage_ask(stage, "INFO stats");
    const char *at = strstr(reply->str, "total_commands_processed:");
    double count = at ? strtod(at + strlen("total_commands_processed:"), NULL) : 0;

    freeReplyObject(reply);
    return count;
}

void many_idle(struct stage *stage, struct side *side, size_t run)
{
    double seconds = quick ? 4 : 10, redis, commands;

    start(stage);
    redis = cpu_of(stage->server.pid);
    commands = commands_so_far(stage);
    sleep_seconds(seconds);
    side->values[IDLE_COMMANDS][run] = (commands_so_far(stage) - commands) / seconds;
    side->values[IDLE_REDIS][run] = (cpu_of(stage->server.pid) - redis) / seconds * 100;
}
