/* pace.c: not too fast, and not without an end. */
#include "jobs/pace.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>

#define SHARE   0.1   /* of Redis's time */
#define PINGS   5     /* the fastest counts */
#define NAP_MIN 0.002 /* seconds; shorter ones are slept together */
#define NAP_MAX 1.0   /* for one call, however long it took */

static void signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

static int ping(struct cli *cli, double *seconds, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    double from = later_clock();

    later_command_begin(&cmd, 1);
    later_command_text(&cmd, "PING");
    reply = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
    later_reply_free(reply);
    *seconds = later_clock() - from;
    return reply ? 0 : -1;
}

int pace_begin(struct pace *pace, struct cli *cli, double rate, struct later_error *err)
{
    *pace = (struct pace){ .way = INFINITY, .rate = rate };
    if (!cli_client(cli, err))
        return -1;
    for (int i = 0; i < PINGS; i++) {
        double seconds;

        if (ping(cli, &seconds, err) < 0)
            return -1;
        pace->way = fmin(pace->way, seconds);
    }
    pace_go_on(pace);
    return 0;
}

void pace_go_on(struct pace *pace)
{
    sigset_t set;

    signals(&set);
    sigprocmask(SIG_BLOCK, &set, &pace->before);
    pace->till = later_clock();
}

void pace_pause(struct pace *pace)
{
    sigprocmask(SIG_SETMASK, &pace->before, NULL);
}

/* Sleeps, unless somebody wants an end. */
static bool nap(struct pace *pace, double seconds)
{
    struct timespec time = { .tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - floor(seconds)) * 1e9) };
    sigset_t set;

    signals(&set);
    if (!pace->stopped && sigtimedwait(&set, NULL, &time) > 0)
        pace->stopped = true;
    return !pace->stopped;
}

void pace_end(struct pace *pace)
{
    nap(pace, 0); /* one that came just now must not end us behind our back */
    pace_pause(pace);
}

void pace_work(struct pace *pace)
{
    pace->from = later_clock();
    pace->debt = fmax(0, pace->debt - (pace->from - pace->till));
}

bool pace_rest(struct pace *pace)
{
    double busy;

    pace->till = later_clock();
    busy = fmax(0, pace->till - pace->from - pace->way);
    pace->debt += fmin(busy * (1 / SHARE - 1), NAP_MAX);
    return nap(pace, pace->debt < NAP_MIN ? 0 : pace->debt);
}

bool pace_count(struct pace *pace, uint64_t jobs)
{
    double now = later_clock();

    if (pace->rate <= 0)
        return nap(pace, 0);
    if (pace->count == 0)
        pace->first = now;
    while (now < pace->first + (double)pace->count / pace->rate && !pace->stopped) {
        nap(pace, fmin(1, pace->first + (double)pace->count / pace->rate - now));
        now = later_clock();
    }
    pace->count += jobs;
    return !pace->stopped;
}
