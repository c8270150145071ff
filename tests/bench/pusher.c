/*
 * pusher.c: pushes one job after the other by later_push(), for base.c. It uses <later/client.h>
 * alone, so that it can be built with any laterd's.
 *
 *     pusher URL COUNT             jobs of type "null", one right after the other
 *     pusher URL COUNT SECONDS     jobs of type "probe.mark", so far apart; to standard output when
 *                                  each was sent: doubles, seconds of the monotonic clock
 */
#include <later/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void wait_until(double time)
{
    struct timespec ts = { .tv_sec = (time_t)time };

    ts.tv_nsec = (long)((time - (double)ts.tv_sec) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    double pace = argc > 3 ? strtod(argv[3], NULL) : 0, next = now();
    struct later_error err = { 0 };
    struct later_client *client = argc > 2 ? later_client_open(argv[1], &err) : NULL;

    for (long i = 0; client && i < count; i++) {
        char payload[64];
        struct later_new_job job = { .type = pace > 0 ? "probe.mark" : "null", .payload = payload };
        double sent;

        snprintf(payload, sizeof payload,
                 pace > 0 ? "{\"at\":%ld}" : "{\"to\":\"a@b.c\",\"n\":%ld}", i);
        if (pace > 0) /* to sleep until a time that is over costs a timer of the kernel */
            wait_until(next);
        next += pace;
        sent = now();
        if (later_push(client, "bench", &job, NULL, NULL, &err) < 0)
            break;
        if (pace > 0)
            fwrite(&sent, sizeof sent, 1, stdout);
    }
    later_client_close(client);
    if (!*err.text)
        return 0;
    fprintf(stderr, "pusher: %s\n", err.text);
    return 1;
}
