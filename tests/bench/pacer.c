/*
 * pacer.c: pushes jobs by later_push() at random moments, for growth.py:
 *
 *     pacer URL QUEUES COUNT RATE RESULT DELAY TYPE PAYLOAD
 *
 * COUNT jobs, RATE a second in the mean, in turn into so many QUEUES, called b0 and so on, or into
 * the queue of this name. RESULT: how long their results are kept; DELAY: how long until they may
 * run, in the mean. 0: not at all.
 */
#include <later/client.h>

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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
    struct later_error error;
    struct later_client *client;
    long queues, count;
    double rate, delay, next = now();

    if (argc != 9)
        errx(64, "usage: pacer URL QUEUES COUNT RATE RESULT DELAY TYPE PAYLOAD");
    queues = strtol(argv[2], NULL, 10);
    count = strtol(argv[3], NULL, 10);
    rate = strtod(argv[4], NULL);
    delay = strtod(argv[6], NULL);
    client = later_client_open(argv[1], &error);
    if (!client)
        errx((int)error.code, "%s", error.text);
    srand48((long)getpid());
    for (long i = 0; i < count; i++) {
        struct later_new_job job = { .type = argv[7],
                                     .payload = argv[8],
                                     .result = strtod(argv[5], NULL),
                                     .in = delay * (0.5 + drand48()) };
        char queue[32];

        if (queues > 0)
            snprintf(queue, sizeof queue, "b%ld", i % queues);
        else
            snprintf(queue, sizeof queue, "%s", argv[2]);
        wait_until(next -= log(1 - drand48()) / rate);
        if (later_push(client, queue, &job, NULL, NULL, &error) < 0)
            errx((int)error.code, "%s", error.text);
    }
    later_client_close(client);
    return 0;
}
