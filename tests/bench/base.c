/*
 * base.c: this build and an older one in turns: each figure of both, and the ratio of this one to
 * the older, the median of the runs'.
 *
 * The two may speak different protocols. So all is done by each build's own programs, and to Redis
 * itself goes only what is the same in all: a queue is paused while a key of this name exists.
 * $BENCH_SIDES (base.sh) has a folder for each: laterd, later, pusher, jobs/. $BENCH_ROUNDS: only
 * what has this in its name.
 */
#include "base.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACE 0.010 /* seconds between pushes */

static const char *const figure_names[] = { "push_redis_us", "rate",         "redis_us",
                                            "laterd_us",     "one_redis_us", "waiting_bytes",
                                            "p50_ms",        "redis_us",     "laterd_us",
                                            "both_us",       "commands",     "redis_percent" };

/* What is measured in turns. bytes: of a document; of 4 KiB and more they are records. */
static const struct round {
    const char *name;
    int workers;
    size_t bytes, count;
    enum figure from, to;
} rounds[] = {
    { "jobs of 100 B", 1, 100, 100000, FILL_REDIS, DRAIN_LATERD },
    { "jobs of 100 B", 2, 100, 100000, DRAIN_RATE, DRAIN_RATE },
    { "records of 4 KiB", 1, 4096, 20000, DRAIN_RATE, DRAIN_LATERD },
    { "records of 64 KiB", 1, 65536, 2000, DRAIN_RATE, DRAIN_LATERD },
    { "single pushes over TCP", 0, 0, 10000, SINGLE_REDIS, SINGLE_REDIS },
    { "waiting jobs of 100 B", 0, 100, 50000, BYTES, BYTES },
    { "pick-up", 1, 0, 400, PICK_UP, PICK_UP },
    { "1,000 queues, jobs of 100 B", 1, 100, 20000, SPREAD_REDIS, SPREAD_BOTH },
    { "1,000 queues, idle", 1, 0, 0, IDLE_COMMANDS, IDLE_REDIS },
};

const char *side_program(const struct side *side, const char *name)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/%s", side->folder, name);
    return path;
}

void side_call(const struct side *side, const char *name, const char *out, char *const args[])
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        dup2(fd, STDOUT_FILENO);
        execv(side_program(side, name), args);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
        fatal("%s failed", side_program(side, name));
}

/* ---- documents */

static void write_records(FILE *file, size_t bytes)
{
    static const char record[] =
        "{\"id\":4711,\"name\":\"somebody\",\"ok\":true,\"price\":19.99,\"tags\":[\"a\",\"b\"]}";
    size_t used = sizeof record;

    fprintf(file, "[%s", record);
    for (; used + sizeof record < bytes; used += sizeof record)
        fprintf(file, ",%s", record);
    fputc(']', file);
}

/* Writes as many lines as are wanted for `later push --file`, which makes the ids: those of a test,
 * counted up, would be alike in all places that Lua looks at when it hashes a string. */
static void write_lines(const char *path, size_t bytes, size_t count)
{
    static const char head[] = "{\"type\":\"null\",\"payload\":";
    FILE *file = fopen(path, "we");
    char text[1000];

    if (!file)
        fatal("%s: cannot be written", path);
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < count; i++) {
        fputs(head, file);
        if (bytes < sizeof text)
            fprintf(file, "\"%.*s\"", (int)(bytes - sizeof head - 2), text);
        else
            write_records(file, bytes - sizeof head);
        fputs("}\n", file);
    }
    if (fclose(file) != 0)
        fatal("%s: cannot be written", path);
}

/* ---- measuring */

static double memory(struct stage *stage)
{
    redisReply *reply = stage_ask(stage, "INFO memory");
    const char *at = strstr(reply->str, "used_memory:");
    double bytes = at ? strtod(at + strlen("used_memory:"), NULL) : 0;

    freeReplyObject(reply);
    return bytes;
}

/* Fills the queue, which is paused. */
static void fill(struct stage *stage, struct side *side, const struct round *round, size_t run)
{
    char path[128], null[] = "/dev/null";
    char *args[] = {
        "later", "--redis", stage->url, "push", "--file", path, "-q", STAGE_QUEUE, NULL
    };
    double redis, before;

    snprintf(path, sizeof path, "%s/lines", stage->folder);
    write_lines(path, round->bytes, round->count);
    freeReplyObject(stage_ask(stage, "SET %s 1", stage->keys.name[LATER_KEY_PAUSED]));
    redis = cpu_of(stage->server.pid);
    before = memory(stage);
    side_call(side, "later", null, args);
    side->values[BYTES][run] = (memory(stage) - before) / (double)round->count;
    side->values[FILL_REDIS][run] =
        (cpu_of(stage->server.pid) - redis) / (double)round->count * 1e6;
    if (stage_ask_number(stage, "ZCARD %s", stage->keys.name[LATER_KEY_READY]) !=
        (double)round->count)
        fatal("not all jobs were pushed");
}

static void drain(struct stage *stage, struct side *side, const struct round *round, size_t run)
{
    double redis, laterd, start, count = (double)round->count, seconds;

    stage_start(stage, round->workers, NULL);
    redis = cpu_of(stage->server.pid);
    laterd = cpu_of_tree(stage->laterd);
    start = now_monotonic();
    freeReplyObject(stage_ask(stage, "DEL %s", stage->keys.name[LATER_KEY_PAUSED]));
    freeReplyObject(stage_ask(stage, "LPUSH %s 1", stage->keys.name[LATER_KEY_WAKE]));
    seconds = stage_wait_done(stage, count) - start;
    side->values[DRAIN_RATE][run] = count / seconds;
    side->values[DRAIN_REDIS][run] = (cpu_of(stage->server.pid) - redis) / count * 1e6;
    side->values[DRAIN_LATERD][run] = (cpu_of_tree(stage->laterd) - laterd) / count * 1e6;
}

static void single(struct stage *stage, struct side *side, const struct round *round, size_t run)
{
    char count[16], null[] = "/dev/null";
    char *args[] = { "pusher", stage->url, count, NULL };
    double redis = cpu_of(stage->server.pid);

    snprintf(count, sizeof count, "%zu", round->count);
    side_call(side, "pusher", null, args);
    side->values[SINGLE_REDIS][run] =
        (cpu_of(stage->server.pid) - redis) / (double)round->count * 1e6;
}

static void pick_up(struct stage *stage, struct side *side, const struct round *round, size_t run)
{
    static double sent[1000], pairs[1000][2];
    char count[16], pace[16], out[128];
    char *args[] = { "pusher", stage->url, count, pace, NULL };
    double until = now_monotonic() + 30;
    size_t got = 0;
    FILE *file;

    snprintf(count, sizeof count, "%zu", round->count);
    snprintf(pace, sizeof pace, "%f", PACE);
    snprintf(out, sizeof out, "%s/sent", stage->folder);
    stage_start(stage, round->workers, NULL);
    side_call(side, "pusher", out, args);
    file = fopen(out, "re");
    if (!file || fread(sent, sizeof *sent, round->count, file) != round->count)
        fatal("%s: not all times are there", out);
    fclose(file);
    while ((got += stage_probed(stage, pairs + got, round->count - got)) < round->count) {
        if (now_monotonic() > until)
            fatal("%zu of %zu jobs began", got, round->count);
        sleep_seconds(0.02);
    }
    for (size_t i = 0; i < got; i++)
        sent[i] = (pairs[i][1] - sent[(size_t)pairs[i][0]]) * 1e3;
    side->values[PICK_UP][run] = median(sent, got);
}

static void measure(struct side *side, const struct round *round, size_t run)
{
    static char jobs[300];
    struct stage stage;

    snprintf(jobs, sizeof jobs, "%s/jobs", side->folder);
    jobs_dir = jobs;
    setenv("LATERD", side_program(side, "laterd"), 1);
    if (round->from == SINGLE_REDIS)
        stage_open_tcp(&stage);
    else
        stage_open(&stage, NULL);
    if (round->from == SPREAD_REDIS)
        many_spread(&stage, side, run, round->count);
    else if (round->from == IDLE_COMMANDS)
        many_idle(&stage, side, run);
    else if (round->from == PICK_UP)
        pick_up(&stage, side, round, run);
    else if (round->from == SINGLE_REDIS)
        single(&stage, side, round, run);
    else
        fill(&stage, side, round, run);
    if (round->from <= DRAIN_LATERD)
        drain(&stage, side, round, run);
    stage_close(&stage);
}

static void tell(const struct round *round, enum figure figure, struct side sides[2], size_t runs)
{
    double ratios[RUNS_MAX];

    for (size_t i = 0; i < runs; i++)
        ratios[i] = sides[1].values[figure][i] / sides[0].values[figure][i];
    row_begin("base");
    row_text("what", round->name);
    row_number("workers", round->workers);
    row_text("figure", figure_names[figure]);
    row_number("runs", (double)runs);
    row_number("base", median(sides[0].values[figure], runs));
    row_number("now", median(sides[1].values[figure], runs));
    row_number("ratio", median(ratios, runs));
    row_end();
}

void bench_base(void)
{
    const char *folder = getenv("BENCH_SIDES"), *only = getenv("BENCH_ROUNDS");
    size_t runs = quick ? 1 : 5;

    if (!folder)
        fatal("base: make bench BENCH_BASE=PREFIX, where another build is installed");
    for (size_t n = 0; n < sizeof rounds / sizeof *rounds; n++) {
        static struct side sides[2];
        struct round round = rounds[n];

        if (only && !strstr(round.name, only))
            continue;
        if (quick)
            round.count /= 10;
        for (size_t run = 0; run < runs; run++) {
            for (size_t i = 0; i < 2; i++) {
                snprintf(sides[i].folder, sizeof sides[i].folder, "%s/%s", folder,
                         i == 0 ? "base" : "now");
                measure(&sides[i], &round, run);
            }
        }
        for (int figure = (int)round.from; figure <= (int)round.to; figure++)
            tell(&round, (enum figure)figure, sides, runs);
    }
}
