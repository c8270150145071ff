/* checker.c: `checker PUSHED TRACE FAULTS REDIS_SOCKET [QUEUE...]`: prints the tally of a run. Exit
 * status 0 if nothing is lost, unexpected, unexplained, early or left over. */
#include "tally.h"

#include <stdio.h>

#define QUEUES 64

int main(int argc, char **argv)
{
    static const char *const standard[] = { "default", NULL };
    struct tally tally;
    redisContext *redis, *all[QUEUES];
    bool good;

    if (argc < 5) {
        fprintf(stderr, "usage: checker PUSHED TRACE FAULTS REDIS_SOCKET [QUEUE...]\n");
        return 64;
    }
    redis = redisConnectUnix(argv[4]);
    if (!redis || redis->err) {
        fprintf(stderr, "%s: %s\n", argv[4], redis ? redis->errstr : "no memory");
        return 69;
    }
    for (size_t i = 0; i < QUEUES; i++)
        all[i] = redis;
    if (tally_take(&tally, argv[1], argv[2], argv[3], all,
                   argc > 5 ? (const char *const *)argv + 5 : standard) < 0)
        return 66;
    tally_print(&tally);
    good = !tally.lost && !tally.unexpected && !tally.unexplained && !tally.early && !tally.left &&
           tally.conserved;
    tally_free(&tally);
    redisFree(redis);
    return good ? 0 : 1;
}
