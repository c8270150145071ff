/*
 * check_event.c: the type `event`. After "for" seconds of its payload, and once the file "until"
 * exists, it is done, or does its word:
 *     retry    fails
 *     twice    finishes twice
 *     signal   sends "signal" to its worker
 *     block    sleeps in its handler, so that the loop stands still
 *     now      finishes before its handler has returned
 *     deaf     is done, and ignores an earlier cancel
 *     stubborn is done, and needs no "until" any more once it is cancelled
 * A cancel, unless ignored, ends it as retry. An attempt above "upto" is done at once.
 */
#include "check.h"

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct wait {
    struct event *timer;
    json_t *what;
    const char *word;
    double start;
};

static void wait_free(struct wait *wait)
{
    if (wait->timer)
        event_free(wait->timer);
    json_decref(wait->what);
    free(wait);
}

static void finish(struct later_job *job, enum later_result result)
{
    struct wait *wait = later_job_data(job);
    bool twice = strcmp(wait->word, "twice") == 0;

    check_end(job, wait->start);
    wait_free(wait);
    later_job_finish(job, result);
    if (twice)
        later_job_finish(job, result);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct later_job *job = arg;
    struct wait *wait = later_job_data(job);
    const struct rlimit none = { 0, 0 };
    const struct timeval again = { .tv_usec = 10000 };

    (void)fd;
    (void)what;
    if (!check_may_end(wait->what) && evtimer_add(wait->timer, &again) == 0)
        return;
    if (strcmp(wait->word, "signal") == 0) {
        int number = (int)later_json_number(wait->what, "signal", SIGSEGV);

        setrlimit(RLIMIT_CORE, &none);
        signal(number, SIG_DFL);
        raise(number);
    }
    finish(job, strcmp(wait->word, "retry") == 0 ? LATER_RETRY : LATER_DONE);
}

void check_cancel(struct later_job *job)
{
    struct wait *wait = later_job_data(job);

    if (strcmp(wait->word, "stubborn") == 0)
        json_object_del(wait->what, "until");
    if (strcmp(wait->word, "deaf") == 0 || strcmp(wait->word, "stubborn") == 0)
        return;
    later_job_error(job, "cancelled");
    finish(job, LATER_RETRY);
}

enum later_result check_event(struct later_job *job)
{
    struct wait *wait = calloc(1, sizeof *wait);
    double seconds;
    struct timeval delay;

    if (!wait)
        return LATER_RETRY;
    wait->start = check_begin(job);
    wait->what = later_job_json(job, NULL);
    wait->word = later_json_string(wait->what, "do", "done");
    seconds = later_json_number(wait->what, "for", 0);
    if (later_job_attempt(job) > later_json_number(wait->what, "upto", 1e9)) {
        wait->word = "done";
        seconds = 0;
        json_object_del(wait->what, "until");
    }
    later_job_set_data(job, wait);
    if (strcmp(wait->word, "block") == 0)
        check_sleep(seconds);
    if (strcmp(wait->word, "now") == 0) {
        finish(job, LATER_DONE);
        return LATER_DEFERRED;
    }
    delay.tv_sec = (time_t)seconds;
    delay.tv_usec = (suseconds_t)((seconds - (double)delay.tv_sec) * 1e6);
    wait->timer = evtimer_new(later_event_base(), on_timer, job);
    if (!wait->timer || evtimer_add(wait->timer, &delay) < 0) {
        wait_free(wait);
        return LATER_RETRY;
    }
    return LATER_DEFERRED;
}
