/*
 * clock_shim.c: LD_PRELOAD: moves CLOCK_REALTIME by as many microseconds as the file $CLOCK_SHIFT
 * holds (one int64, mapped: a test changes it while the program runs). If a second one follows that
 * is not 0, it is where the clock stands still, in microseconds since 1970. With $CLOCK_COUNTS,
 * CLOCK_MONOTONIC goes on by a tenth of a millisecond each time it is read, and only then: a Redis
 * whose instructions are counted runs its timers as often on a busy machine as on an idle one.
 * server.h and lib.sh preload it to Redis, the fault tests to laterd. Debian's libfaketime does not
 * do: jemalloc asks for the time before that library is ready, and redis-server hangs at its start.
 *
 * The time itself is libc's, which the kernel's page tells without a system call: Redis asks for it
 * several times a command. Before libc's function is known, and where instructions are counted, it
 * is a system call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift; /* and shift[1]; of a shorter file it is 0 */
static bool counts;
static int64_t readings;
static int (*libc_gettime)(clockid_t clock, struct timespec *t);

__attribute__((constructor)) static void map_shift(void)
{
    const char *path = getenv("CLOCK_SHIFT");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map;

    counts = getenv("CLOCK_COUNTS");
    if (!counts)
        *(void **)&libc_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    if (fd < 0)
        return;
    map = mmap(NULL, 2 * sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED)
        shift = map;
    close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = libc_gettime ? libc_gettime(clock, t) : (int)syscall(SYS_clock_gettime, clock, t);
    int64_t ns;

    if (clock == CLOCK_MONOTONIC && counts) {
        ns = ++readings * 100000;
        t->tv_sec = 1 + (time_t)(ns / 1000000000);
        t->tv_nsec = (long)(ns % 1000000000);
    }
    if (result < 0 || clock != CLOCK_REALTIME || !shift)
        return result;
    ns = shift[1] ? shift[1] * 1000 : (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
    ns += shift[0] * 1000;
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec t;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &t) < 0)
        return -1;
    tv->tv_sec = t.tv_sec;
    tv->tv_usec = t.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}
