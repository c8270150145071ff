/* pace.c: limits the share of Redis's time, and handles ^C. */
#include "choose/pace.h"

#include "base/clock.h"
#include "queue/inspect.h"

#include <errno.h>
#include <math.h>
#include <poll.h>

#define PINGS 5      /* the fastest of them counts */
#define LOOK  100    /* ms between two looks for a signal */
#define OURS  0.0002 /* seconds that Redis works during a pause: our INFO, and its own timer */

static void signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

int pace_begin(struct pace *pace, struct cli *cli, double rate, struct later_error *err)
{
    double way = INFINITY;

    *pace = (struct pace){ .cli = cli, .rate = rate };
    if (!cli_client(cli, err))
        return -1;
    for (int i = 0; i < PINGS; i++) {
        double from = later_clock();

        if (cli_ping(cli, err) < 0)
            return -1;
        way = fmin(way, later_clock() - from);
    }
    share_begin(&pace->share, way);
    pace_go_on(pace);
    return 0;
}

void pace_pause(struct pace *pace)
{
    sigprocmask(SIG_SETMASK, &pace->before, NULL);
}

/* Sleeps, unless INT or TERM comes. */
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

static void take_worked(void *arg, struct later_answer *answer)
{
    double *worked = arg;

    if (answer->outcome == LATER_ANSWERED)
        *worked = later_inspect_worked(answer->reply);
}

/* Asks how long Redis has worked. The answer comes with that of the next call. */
static void ask_worked(const struct pace *pace, double *worked)
{
    struct later_command cmd = { 0 };
    struct later_error err;

    *worked = -1;
    if (later_redis_is_cluster(later_call_redis(pace->cli->client)))
        return; /* each node has a count of its own */
    later_inspect_cpu(&cmd);
    later_call_begin(pace->cli->client, &cmd, take_worked, worked, &err);
}

static void reckon(struct pace *pace)
{
    pace->reckoned = later_clock();
    pace->rested = -1;
    ask_worked(pace, &pace->worked);
}

void pace_go_on(struct pace *pace)
{
    sigset_t set;

    signals(&set);
    sigprocmask(SIG_BLOCK, &set, &pace->before);
    reckon(pace);
}

bool pace_wait(struct pace *pace, int fd)
{
    struct pollfd wanted = { .fd = fd, .events = POLLIN };

    while (nap(pace, 0)) {
        int ready = poll(&wanted, 1, LOOK);

        if (ready > 0 || (ready < 0 && errno != EINTR))
            break;
    }
    reckon(pace);
    return !pace->stopped;
}

void pace_end(struct pace *pace)
{
    struct later_error err;

    later_call_drain(pace->cli->client,
                     &err); /* later, pace->worked could no longer take the answer */
    nap(pace, 0); /* a signal that came just now must not end us after the mask is restored */
    pace_pause(pace);
}

void pace_work(struct pace *pace)
{
    pace->from = later_clock();
}

/* Returns the seconds that Redis has worked since the last pause, and during the pause for our own
 * questions. Negative if Redis does not tell. */
static double worked_since(struct pace *pace)
{
    struct later_error err;
    double worked, in_pause;

    ask_worked(pace, &worked);
    later_call_drain(pace->cli->client, &err);
    if (pace->worked < 0 || worked < pace->worked)
        return -1;
    in_pause = pace->rested < 0 ? 0 : fmin(fmax(pace->worked - pace->rested, 0), OURS);
    pace->rested = worked;
    return in_pause + worked - pace->worked;
}

void pace_rest(struct pace *pace)
{
    double worked, now;

    if (pace->brisk || !share_called(&pace->share, later_clock() - pace->from)) {
        nap(pace, 0);
        return;
    }
    worked = worked_since(pace);
    now = later_clock();
    nap(pace, share_pause(&pace->share, worked, now - pace->reckoned));
    pace->reckoned = now;
    ask_worked(pace, &pace->worked);
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
