/*
 * pacer.c: pushes jobs by later_push() at random moments, for growth.py:
 *
 *     pacer URL QUEUES COUNT RATE RESULT DELAY TYPE PAYLOAD
 *
 * COUNT jobs, RATE a second in the mean, in turn into so many QUEUES, called b0 and so on, or into
 * the queue of this name. RESULT: how long their results are kept; DELAY: how long until they may
 * run, in the mean. 0: not at all.
 */
#include "measure.h"

#include <later/client.h>

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct later_error error;
    struct later_client *client;
    long queues, count;
    double rate, delay, next = now_monotonic();

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
        next -= log(1 - drand48()) / rate;
        sleep_seconds(next - now_monotonic());
        if (later_push(client, queue, &job, NULL, NULL, &error) < 0)
            errx((int)error.code, "%s", error.text);
    }
    later_client_close(client);
    return 0;
}
