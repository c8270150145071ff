/*
 * sleep.c: type "sleep", payload {"seconds": 1.5}. An example of event jobs: each is a timer on the
 * worker's libevent loop, so one worker can sleep for a thousand jobs at once.
 */
#include <later/job.h>
#include <later/job_json.h>

#include <event2/event.h>

#define SECONDS_MAX 315360000.0 /* ten years */

static void woke_up(evutil_socket_t fd, short what, void *arg)
{
    struct later_job *job = arg;

    (void)fd, (void)what;
    event_free(later_job_data(job));
    later_job_finish(job, LATER_DONE);
}

static void sleep_cancel(struct later_job *job)
{
    event_free(later_job_data(job));
    later_job_error(job, "woken before its time");
    later_job_finish(job, LATER_RETRY);
}

/* Returns the seconds to sleep, or -1 with the job's error set. */
static double sleep_read_seconds(struct later_job *job)
{
    json_t *payload = later_job_json(job, NULL);
    double seconds = later_json_number(payload, "seconds", -1);

    json_decref(payload);
    if (seconds >= 0 && seconds <= SECONDS_MAX)
        return seconds;
    later_job_error(job, "payload must be {\"seconds\": N}, N from 0 to %.0f", SECONDS_MAX);
    return -1;
}

static enum later_result sleep_perform(struct later_job *job)
{
    double seconds = sleep_read_seconds(job);
    struct timeval wait;
    struct event *timer;

    if (seconds < 0)
        return LATER_BURY;
    wait.tv_sec = (time_t)seconds;
    wait.tv_usec = (suseconds_t)((seconds - (double)wait.tv_sec) * 1e6);
    timer = evtimer_new(later_event_base(), woke_up, job);
    if (!timer || evtimer_add(timer, &wait) != 0) {
        if (timer)
            event_free(timer);
        later_job_error(job, "no memory for a timer");
        return LATER_RETRY;
    }
    later_job_set_data(job, timer);
    return LATER_DEFERRED;
}

static const struct later_type types[] = {
    { .name = "sleep", .mode = LATER_EVENT, .perform = sleep_perform, .cancel = sleep_cancel },
    { 0 }
};

LATER_PLUGIN(.name = "sleep", .version = "1", .types = types);
