/* pickup.c: how soon a handler begins, beside peers: one later_push() every 20 ms to an idle
 * worker. */
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "later/client.h"

#include <stdio.h>
#include <stdlib.h>

#define PACE   0.020 /* seconds between pushes */
#define PUSHES 200
#define WARM   20

static void push_mark(struct later_client *client, const char *type, size_t number)
{
    char payload[32];
    struct later_new_job job = { .type = type, .payload = payload };
    struct later_error err;

    job.payload_len = (size_t)snprintf(payload, sizeof payload, "{\"at\":%zu}", number);
    if (later_push(client, STAGE_QUEUE, &job, NULL, NULL, &err) < 0)
        fatal("%s", err.text);
}

/* The seconds from each push, as it is called, to the handler's first line. */
static void pick_up(struct stage *stage, const char *type, size_t count, double *waits)
{
    static double called[PUSHES], pairs[PUSHES][2];
    struct later_error err;
    struct later_client *client = later_client_open(stage->url, &err);
    double next = now_monotonic() + PACE;

    if (!client)
        fatal("%s", err.text);
    for (size_t i = 0; i < count; i++) {
        sleep_seconds(next - now_monotonic());
        called[i] = now_monotonic();
        push_mark(client, type, i);
        next += PACE;
    }
    stage_await_probed(stage, count, pairs);
    for (size_t i = 0; i < count; i++)
        waits[i] = pairs[i][1] - called[(size_t)pairs[i][0]];
    later_client_close(client);
}

/* With $BENCH_PROGRAM a program of handlers performs the jobs. $BENCH_PEER: the row's name. */
void bench_pickup(void)
{
    const char *name = getenv("BENCH_PEER");
    const char *type = getenv("BENCH_PROGRAM") ? "mark" : "probe.mark";
    static double waits[PUSHES];
    struct stage stage;
    double server, worker;

    stage_open_tcp(&stage);
    stage_start(&stage, 1, NULL);
    pick_up(&stage, type, WARM, waits);
    server = cpu_of(stage.server.pid);
    worker = cpu_of_tree(stage.laterd);
    pick_up(&stage, type, PUSHES, waits);
    server = cpu_of(stage.server.pid) - server;
    worker = cpu_of_tree(stage.laterd) - worker;
    stage_close(&stage);
    row_begin("pickup");
    row_text("peer", name ? name : "laterd");
    row_number("p50_ms", percentile(waits, PUSHES, 0.50) * 1000);
    row_number("p90_ms", percentile(waits, PUSHES, 0.90) * 1000);
    row_number("server_us", server / PUSHES * 1e6);
    row_number("worker_us", worker / PUSHES * 1e6);
    row_end();
}
