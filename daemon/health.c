/* health.c: the state of the laterd on this host. */
#include "health.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_TRIES 4

/* The file is written, never mapped: a handler runs as the same user and could cut it short, and
 * then an access to the mapping would end us. */
struct page {
    int64_t pid;
    int64_t beat; /* microseconds of later_clock() */
    uint32_t redis_up, workers, busy;
    uint32_t serial; /* odd while the texts are being written */
    char fault[HEALTH_TEXT], reload[HEALTH_TEXT];
};

#define NUMBERS offsetof(struct page, serial)

struct health {
    int fd; /* holds the lock */
    struct page page;
};

static int open_file(const char *state_dir, int flags)
{
    char path[512];

    snprintf(path, sizeof path, "%s/health", state_dir);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0640);
}

/* An open file description lock (fcntl(2)) can be tested without being taken. So a reader never
 * keeps a laterd from starting. */
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

/* Writes `size` bytes of the page. What a full disk refuses is written with the next beat. */
static void health_put(const struct health *health, size_t from, size_t size)
{
    const char *page = (const char *)&health->page;

    (void)!pwrite(health->fd, page + from, size, (off_t)from);
}

struct health *health_open(const char *state_dir, struct later_error *err)
{
    struct health *health = calloc(1, sizeof *health);
    int fd = open_file(state_dir, O_RDWR | O_CREAT);
    int why = !health ? ENOMEM : fd < 0 ? errno : posix_fallocate(fd, 0, sizeof health->page);

    if (why) {
        later_fail(err, LATER_E_CONFIG, "state_dir: %s: %s; it must be a directory of laterd's own",
                   state_dir, strerror(why));
    } else if (!take_lock(fd)) {
        later_fail(err, LATER_E_LATER, "state_dir: %s is in use by another laterd", state_dir);
    } else {
        health->fd = fd;
        health->page.pid = getpid();
        (void)fchmod(fd, 0640); /* for the group laterd, whatever the umask */
        health_beat(health, false, 0, 0);
        health_put(health, NUMBERS, sizeof health->page - NUMBERS);
        return health;
    }
    if (fd >= 0)
        close(fd);
    free(health);
    return NULL;
}

void health_close(struct health *health)
{
    struct flock lock = whole(F_UNLCK);

    if (!health)
        return;
    /* A child that was forked a moment ago may still have the descriptor, and the lock with it. */
    (void)fcntl(health->fd, F_OFD_SETLK, &lock);
    close(health->fd);
    free(health);
}

void health_beat(struct health *health, bool redis_up, uint32_t workers, uint32_t busy)
{
    struct page *page = &health->page;

    page->redis_up = redis_up;
    page->workers = workers;
    page->busy = busy;
    page->beat = (int64_t)(later_clock() * 1e6);
    health_put(health, 0, NUMBERS);
}

/* A reader may copy the page at any time. The serial shows it whether the copy is of one moment. */
static void health_set_text(struct health *health, char *text, const char *why)
{
    uint32_t *serial = &health->page.serial;

    if (strncmp(text, why ? why : "", HEALTH_TEXT - 1) == 0)
        return;
    ++*serial;
    health_put(health, NUMBERS, sizeof *serial);
    snprintf(text, HEALTH_TEXT, "%s", why ? why : "");
    health_put(health, (size_t)(text - (char *)&health->page), HEALTH_TEXT);
    ++*serial;
    health_put(health, NUMBERS, sizeof *serial);
}

void health_fault(struct health *health, const char *why)
{
    health_set_text(health, health->page.fault, why);
}

void health_reload(struct health *health, const char *why)
{
    health_set_text(health, health->page.reload, why);
}

static bool health_read_page(int fd, struct page *page)
{
    memset(page, 0, sizeof *page); /* the page of an older laterd has no texts */
    return pread(fd, page, sizeof *page, 0) >= (ssize_t)NUMBERS;
}

/* A copy is whole if nothing was written between it and the next one. */
static bool copy_page(int fd, struct page *page)
{
    struct page next;

    if (!health_read_page(fd, page))
        return false;
    for (int i = 0; i < READ_TRIES; i++) {
        if (!health_read_page(fd, &next))
            return false;
        if (next.serial == page->serial && page->serial % 2 == 0)
            break;
        *page = next;
    }
    page->fault[HEALTH_TEXT - 1] = page->reload[HEALTH_TEXT - 1] = '\0';
    return true;
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
    if (!copy_page(fd, &page))
        report->running = false;
    close(fd);
    if (!report->running)
        return 0;
    report->redis_up = page.redis_up;
    report->workers = page.workers;
    report->busy = page.busy;
    report->pid = page.pid;
    memcpy(report->fault, page.fault, sizeof report->fault);
    memcpy(report->reload, page.reload, sizeof report->reload);
    report->heartbeat_age = later_clock() - (double)page.beat / 1e6;
    return 0;
}
