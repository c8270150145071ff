/*
 * probe.c: a plugin that tells when its jobs began. Types:
 *
 *     probe.mark   payload {"at": N}: writes two doubles to the file: N, and the seconds of the
 *                  monotonic clock when the handler was called
 *     probe.wall   the same with UNIX seconds
 *     probe.block  payload {"seconds": N}: blocks the worker for so long
 *
 * plugins.config.probe.file is the file; all workers append to it.
 */
#include <later/job.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fd = -1;

static int probe_config(const char *key, const char *value, char *err, size_t n)
{
    if (strcmp(key, "file") != 0) {
        snprintf(err, n, "no such option");
        return -1;
    }
    fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0)
        return 0;
    snprintf(err, n, "%s: %s", value, strerror(errno));
    return -1;
}

/* The number in {"at": N}. */
static double number_of(const struct later_job *job)
{
    char text[64] = "";
    size_t len;
    const char *payload = later_job_payload(job, &len), *colon;

    memcpy(text, payload, len < sizeof text - 1 ? len : sizeof text - 1);
    colon = strchr(text, ':');
    return colon ? strtod(colon + 1, NULL) : 0;
}

static enum later_result note(const struct later_job *job, clockid_t clock)
{
    struct timespec now;
    double pair[2];

    clock_gettime(clock, &now);
    pair[0] = number_of(job);
    pair[1] = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    return write(fd, pair, sizeof pair) == sizeof pair ? LATER_DONE : LATER_BURY;
}

static enum later_result mark(struct later_job *job)
{
    return note(job, CLOCK_MONOTONIC);
}

static enum later_result wall(struct later_job *job)
{
    return note(job, CLOCK_REALTIME);
}

static enum later_result block(struct later_job *job)
{
    double seconds = number_of(job);
    struct timespec wait = { (time_t)seconds, 0 };

    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    while (nanosleep(&wait, &wait) < 0 && errno == EINTR) {
    }
    return LATER_DONE;
}

static const struct later_type types[] = { { .name = "probe.mark", .perform = mark },
                                           { .name = "probe.wall", .perform = wall },
                                           { .name = "probe.block", .perform = block },
                                           { 0 } };

LATER_PLUGIN(.name = "probe", .version = "1", .types = types, .config = probe_config);
