/* health.c: how a laterd on this host is. */
#include "health.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct page {
    _Atomic int64_t pid;
    _Atomic int64_t beat; /* microseconds of later_clock() */
    _Atomic uint32_t redis_up, workers, busy;
};

struct health {
    int fd; /* holds the lock */
    struct page *page;
};

static int open_file(const char *state_dir, int flags)
{
    char path[512];

    snprintf(path, sizeof path, "%s/health", state_dir);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0640);
}

/* The lock can be asked about without being taken (fcntl(2), "Open file description locks"): who
 * only looks must not keep a laterd from starting. */
static struct flock whole(short kind)
{
    return (struct flock){ .l_type = kind, .l_whence = SEEK_SET };
}

static bool take_lock(int fd)
{
    struct flock lock = whole(F_WRLCK);

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static bool is_locked(int fd)
{
    struct flock lock = whole(F_RDLCK);

    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

struct health *health_open(const char *state_dir, struct later_error *err)
{
    struct health *health = calloc(1, sizeof *health);
    int fd = open_file(state_dir, O_RDWR | O_CREAT);
    int why = !health ? ENOMEM : fd < 0 ? errno : posix_fallocate(fd, 0, sizeof *health->page);

    if (why) {
        later_fail(err, LATER_E_CONFIG, "state_dir: %s: %s; it must be a directory of laterd's own",
                   state_dir, strerror(why));
    } else if (!take_lock(fd)) {
        later_fail(err, LATER_E_LATER, "state_dir: %s is in use by another laterd", state_dir);
    } else {
        health->fd = fd;
        health->page = mmap(NULL, sizeof *health->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (health->page != MAP_FAILED) {
            /* A mapping keeps the lock as a descriptor does: what handlers leave behind must not
             * keep it when we are gone. */
            madvise(health->page, sizeof *health->page, MADV_DONTFORK);
            (void)fchmod(fd, 0640); /* for the group laterd, whatever the umask */
            health_beat(health, false, 0, 0);
            atomic_store(&health->page->pid, getpid());
            return health;
        }
        later_fail(err, LATER_E_SYSTEM, "%s/health: mmap: %s", state_dir, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    free(health);
    return NULL;
}

void health_close(struct health *health)
{
    if (!health)
        return;
    munmap(health->page, sizeof *health->page);
    close(health->fd);
    free(health);
}

void health_beat(struct health *health, bool redis_up, uint32_t workers, uint32_t busy)
{
    atomic_store(&health->page->redis_up, redis_up);
    atomic_store(&health->page->workers, workers);
    atomic_store(&health->page->busy, busy);
    atomic_store(&health->page->beat, (int64_t)(later_clock() * 1e6));
}

int health_read(const char *state_dir, struct health_report *report, struct later_error *err)
{
    int fd = open_file(state_dir, O_RDONLY);
    struct page page;

    *report = (struct health_report){ .running = false };
    if (fd < 0)
        return later_fail(err, errno == EACCES ? LATER_E_TOKEN : LATER_E_NONE,
                          "%s/health: %s; is laterd running, and are you in the group laterd?",
                          state_dir, strerror(errno));
    report->running = is_locked(fd);
    if (read(fd, &page, sizeof page) != (ssize_t)sizeof page)
        report->running = false;
    close(fd);
    if (!report->running)
        return 0;
    report->redis_up = page.redis_up;
    report->workers = page.workers;
    report->busy = page.busy;
    report->pid = page.pid;
    report->heartbeat_age = later_clock() - (double)page.beat / 1e6;
    return 0;
}
