/*
 * bench.c: the benchmarks of laterd.
 *
 *     bench [quick] [SCENARIO...]
 *
 * Run from the build tree (make bench). One JSON object a line on standard output; words on
 * standard error. $LATERD, $LATER: the programs, if not those of the build tree; $BENCH_JOBS: the
 * folder of the plugins; $BENCH_SIDES: of base.c.
 */
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*run)(void);
    bool only_if_asked;
} scenarios[] = {
    { "push", bench_push, false },         { "drain", bench_drain, false },
    { "queues", bench_queues, false },     { "backlog", bench_backlog, false },
    { "aof", bench_aof, false },           { "latency", bench_latency, false },
    { "lateness", bench_lateness, false }, { "due", bench_due, false },
    { "events", bench_events, false },     { "slow", bench_slow, false },
    { "crowd", bench_crowd, false },       { "idle", bench_idle, false },
    { "shards", bench_shards, false },     { "tls", bench_tls, false },
    { "peer", bench_peer, true },          { "pickup", bench_pickup, true },
    { "base", bench_base, true },
};

#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

static void tell_machine(void)
{
    struct utsname name;

    uname(&name);
    row_begin("machine");
    row_text("kernel", name.release);
    row_text("arch", name.machine);
    row_number("cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
    row_text("mode", quick ? "quick" : "full");
    row_end();
}

static void run(size_t i)
{
    double start = now_monotonic();

    progress("%s ...", scenarios[i].name);
    scenarios[i].run();
    progress("%s: %.1f s", scenarios[i].name, now_monotonic() - start);
}

static int usage(void)
{
    fputs("usage: bench [quick] [SCENARIO...]\nscenarios:", stderr);
    for (size_t i = 0; i < SCENARIOS; i++)
        fprintf(stderr, " %s", scenarios[i].name);
    fputc('\n', stderr);
    return 64;
}

int main(int argc, char **argv)
{
    int first = 1;

    if (argc > 1 && strcmp(argv[1], "quick") == 0) {
        quick = true;
        first = 2;
    }
    if (getenv("BENCH_JOBS"))
        jobs_dir = getenv("BENCH_JOBS");
    for (int a = first; a < argc; a++) {
        size_t i = 0;

        while (i < SCENARIOS && strcmp(argv[a], scenarios[i].name) != 0)
            i++;
        if (i == SCENARIOS)
            return usage();
    }
    if (first == argc)
        tell_machine();
    for (size_t i = 0; first == argc && i < SCENARIOS; i++) {
        if (!scenarios[i].only_if_asked)
            run(i);
    }
    for (int a = first; a < argc; a++) {
        for (size_t i = 0; i < SCENARIOS; i++) {
            if (strcmp(argv[a], scenarios[i].name) == 0)
                run(i);
        }
    }
    return 0;
}
