/* put_off.c: jobs that have just entered a line look for themselves later. */
#include "worker/put_off.h"

#include "queue/line.h"
#include "reservation/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORTH 60.0 /* seconds; by less it is not put off */

struct put_off_job {
    struct put_off_job *next;
    double due;
    uint32_t nth; /* that has entered its line from here */
    line_waiter waiter;
    char kind; /* of the row of its line */
    char name[];
};

struct put_off {
    struct link *link;
    const char *prefix;
    const struct backlog *backlog;
    struct put_off_job *jobs;
    size_t count, fresh; /* fresh: since something was sent */
};

struct put_off *put_off_new(struct link *link, const char *prefix, const struct backlog *backlog)
{
    struct put_off *off = malloc(sizeof *off);

    if (off)
        *off = (struct put_off){ .link = link, .prefix = prefix, .backlog = backlog };
    return off;
}

void put_off_free(struct put_off *off)
{
    struct put_off_job *next;

    for (struct put_off_job *job = off ? off->jobs : NULL; job; job = next) {
        next = job->next;
        free(job);
    }
    free(off);
}

bool put_off_enter(struct put_off *off, struct backlog_row *row, const char *waiter, double due)
{
    size_t len = strlen(row->name);
    struct put_off_job *job = off->count < PUT_OFF_MOST ? malloc(sizeof *job + len + 1) : NULL;

    row->entered++;
    if (!job)
        return true;
    *job = (struct put_off_job){
        .next = off->jobs, .due = due, .nth = row->entered, .kind = row->kind
    };
    snprintf(job->waiter, sizeof job->waiter, "%s", waiter);
    memcpy(job->name, row->name, len + 1);
    off->jobs = job;
    off->count++;
    return ++off->fresh >= PUT_OFF_MANY;
}

/* Until when the job is put off; 0: it may be one of the last; < 0: it looks when it was told. */
static double put_off_until(const struct put_off *off, const struct put_off_job *job, double now,
                            double present)
{
    struct backlog_row *row = backlog_find(off->backlog, job->kind, job->name);
    double later;

    if (!row || job->due <= present)
        return -1;
    if (row->entered - job->nth < BACKLOG_LAST)
        return 0;
    later = present + backlog_later(row, now);
    return later > job->due + WORTH ? later : -1;
}

/* What comes of it does not matter: who is not put off looks once. */
static void put_off_call(const struct put_off *off, const char *queue,
                         const struct later_put_off *jobs, size_t count)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, off->prefix, queue);
    later_line_put_off(&cmd, &keys, jobs, count);
    link_send(off->link, &cmd, LINK_TIMEOUT, NULL, NULL);
}

/* Takes one job off the list, if it is of `queue`, or queue is ""; which then becomes its queue.
 * Returns until when it is put off, 0: it stays there. The caller frees it. */
static double put_off_take(struct put_off *off, struct put_off_job **link, char *queue, double now,
                           double present)
{
    struct put_off_job *job = *link;
    size_t len = strcspn(job->waiter, " ");
    double later = put_off_until(off, job, now, present);

    if (later == 0 ||
        (later > 0 && *queue && (strlen(queue) != len || strncmp(job->waiter, queue, len) != 0)))
        return 0;
    if (later > 0)
        snprintf(queue, LATER_QUEUE_MAX + 1, "%.*s", (int)len, job->waiter);
    *link = job->next;
    off->count--;
    return later;
}

/* Puts off jobs of one queue. Returns how many. */
static size_t put_off_some(struct put_off *off, double now, double present)
{
    char queue[LATER_QUEUE_MAX + 1] = "";
    struct put_off_job *taken[PUT_OFF_MANY], *job;
    struct later_put_off said[PUT_OFF_MANY];
    size_t count = 0;

    for (struct put_off_job **link = &off->jobs; count < PUT_OFF_MANY && (job = *link);) {
        double later = put_off_take(off, link, queue, now, present);

        if (later > 0) {
            said[count] = (struct later_put_off){ strchr(job->waiter, ' ') + 1, job->due, later };
            taken[count++] = job;
        } else if (later < 0) {
            free(job);
        } else {
            link = &job->next;
        }
    }
    if (count)
        put_off_call(off, queue, said, count);
    for (size_t i = 0; i < count; i++)
        free(taken[i]);
    return count;
}

void put_off_send(struct put_off *off, double now, double present)
{
    off->fresh = 0;
    while (put_off_some(off, now, present) > 0)
        continue;
}
