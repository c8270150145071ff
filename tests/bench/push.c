/* push.c: how fast jobs are pushed: in bulk, one by one, from a file. */
#include "ceiling.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "job/document.h"
#include "later/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS_MAX 9
#define PAYLOAD  "{\"to\":\"a@b.c\",\"n\":12345}" /* makes a document of about 100 bytes */

/* What pushes `count` jobs, in a process of its own; never returns. */
typedef void pusher(const struct stage *stage, size_t count);

static struct later_client *open_client(const struct stage *stage)
{
    struct later_error err;
    struct later_client *client = later_client_open(stage->url, &err);

    if (!client)
        fatal("%s", err.text);
    return client;
}

static void push_many(const struct stage *stage, size_t count)
{
    static struct later_new_job jobs[10000];
    struct later_client *client = open_client(stage);
    struct later_error err;

    for (size_t i = 0; i < 10000; i++)
        jobs[i] = (struct later_new_job){ .type = "null", .payload = PAYLOAD };
    for (size_t done = 0; done < count; done += 10000) {
        size_t now = count - done < 10000 ? count - done : 10000;

        if (later_push_many(client, STAGE_QUEUE, jobs, now, NULL, &err) < 0)
            fatal("%s", err.text);
    }
    later_client_close(client);
    _exit(0);
}

static void push_each(const struct stage *stage, size_t count)
{
    struct later_new_job job = { .type = "null", .payload = PAYLOAD };
    struct later_client *client = open_client(stage);
    struct later_error err;

    for (size_t i = 0; i < count; i++) {
        if (later_push(client, STAGE_QUEUE, &job, NULL, NULL, &err) < 0)
            fatal("%s", err.text);
    }
    later_client_close(client);
    _exit(0);
}

static void file_path(const struct stage *stage, char *path, size_t room)
{
    snprintf(path, room, "%s/jobs", stage->folder);
}

static void push_file(const struct stage *stage, size_t count)
{
    const char *program = getenv("LATER") ? getenv("LATER") : "cli/later";
    char path[128];
    int null = open("/dev/null", O_RDWR);

    (void)count;
    file_path(stage, path, sizeof path);
    dup2(null, STDOUT_FILENO);
    execlp(program, program, "--redis", stage->url, "push", "--file", path, "-q", STAGE_QUEUE,
           (char *)NULL);
    _exit(127);
}

static void write_file(const struct stage *stage, size_t count)
{
    char path[128], id[LATER_NEW_ID_SIZE];
    size_t len;
    FILE *file;

    file_path(stage, path, sizeof path);
    file = fopen(path, "we");
    if (!file)
        fatal("%s: %s", path, strerror(errno));
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\n", ceiling_document(i, 100, id, &len));
    if (fclose(file) != 0)
        fatal("%s: %s", path, strerror(errno));
}

static struct speed measure(struct stage *stage, pusher *push, size_t count)
{
    double redis = cpu_of(stage->server.pid), sent = sent_commands(stage->redis);
    double start = now_monotonic();
    struct speed speed;
    struct rusage usage;
    pid_t pid = fork();
    int status;

    if (pid == 0)
        push(stage, count);
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0)
        fatal("the pushing process failed");
    speed.seconds = now_monotonic() - start;
    speed.redis = cpu_of(stage->server.pid) - redis;
    speed.sent = sent_commands(stage->redis) - sent;
    speed.client = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                   (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    if (stage_ask_number(stage, "ZCARD %s", stage->keys.name[LATER_KEY_READY]) != (double)count)
        fatal("not all jobs were pushed");
    stage_flush(stage);
    return speed;
}

static void compare(const char *bench, pusher *push, size_t count, size_t runs)
{
    double rate[RUNS_MAX], ratio[RUNS_MAX], redis[RUNS_MAX], client[RUNS_MAX], sent[RUNS_MAX];
    double ceiling[RUNS_MAX];
    struct stage stage;

    stage_open(&stage, NULL);
    write_file(&stage, count);
    for (size_t i = 0; i < runs; i++) {
        struct speed least = ceiling_push(&stage, count, 100, 0), speed;

        stage_flush(&stage);
        speed = measure(&stage, push, count);
        rate[i] = (double)count / speed.seconds;
        ratio[i] = least.seconds / speed.seconds;
        ceiling[i] = least.redis / (double)count * 1e6;
        redis[i] = speed.redis / (double)count * 1e6;
        client[i] = speed.client / (double)count * 1e6;
        sent[i] = speed.sent / (double)count;
    }
    stage_close(&stage);
    row_begin(bench);
    row_number("jobs", (double)count);
    row_number("runs", (double)runs);
    row_number("rate", median(rate, runs));
    row_number("redis_us", median(redis, runs));
    row_number("ceiling_redis_us", median(ceiling, runs));
    row_number("client_us", median(client, runs));
    row_number("sent", median(sent, runs));
    row_number("ratio", median(ratio, runs));
    row_end();
}

void bench_push(void)
{
    size_t runs = quick ? 1 : 5, many = quick ? 20000 : 200000;

    compare("push_bulk", push_many, many, runs);
    compare("push_file", push_file, many, runs);
    compare("push_one", push_each, quick ? 1000 : 10000, runs);
}
