/* reserve.c: `later reserve`. */
#include "base/clock.h"
#include "commands.h"
#include "output/jsonl.h"
#include "queue/inspect.h"
#include "work/take.h"
#include "work/wake_listener.h"
#include "whole.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define WAIT_MIN 0.1 /* seconds: Redis ends a BLPOP only at its own tick */
#define LOOK     0.8 /* seconds between two looks for jobs that came without a wake */
#define PLAN_AGE 5.0 /* seconds after which the plan of shards is read again */

/* Number of a signal; we leave, but never while holding a wake. */
static volatile sig_atomic_t caught;

static void reserve_on_signal(int number)
{
    caught = number;
}

static void reserve_catch_signals(void)
{
    struct sigaction action = { .sa_handler = reserve_on_signal };

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* One run of the command. */
struct reserving {
    struct cli *cli;
    struct taker taker;
    struct whole whole;
    double plan_at;                /* later_clock(): when to read the plan again */
    size_t first;                  /* the part to look into first, because its wake came */
    struct wake_listener listener; /* for several parts on a Cluster; otherwise unused */
    struct table table;
    uint64_t limit;
    uint64_t count;
};

static void print_job(struct reserving *reserving, const char *token,
                      const struct later_reserved *job, double now)
{
    struct jsonl json;

    reserving->count++;
    if (!reserving->cli->json) {
        table_bytes(&reserving->table, PLAIN, job->id, job->id_len);
        table_text(&reserving->table, PLAIN, token);
        table_number(&reserving->table, PLAIN, job->attempts + 1U);
        table_bytes(&reserving->table, PLAIN, job->document, job->document_len);
        return;
    }
    jsonl_begin(&json, stdout);
    jsonl_text(&json, "queue", reserving->whole.name);
    jsonl_bytes(&json, "id", job->id, job->id_len);
    jsonl_add(&json, "token:%s attempt:%u lease_until:%f", token, job->attempts + 1,
              now + reserving->taker.lease);
    jsonl_bytes(&json, "document", job->document, job->document_len);
    jsonl_end(&json);
}

/* Prints a job if it may run. */
static int screen(void *arg, const struct later_keys *keys, const char *token,
                  const struct later_reserved *job, double now, struct later_error *err)
{
    struct reserving *reserving = arg;
    struct later_document doc;
    struct later_policy policy;
    bool runs;

    if (take_screen(&reserving->taker, keys, token, job, now, &doc, &policy, &runs, err) < 0)
        return -1;
    if (runs)
        print_job(reserving, token, job, now);
    return 0;
}

/* Goes once over the parts, until it has as many jobs as wanted. Returns as take_jobs(). */
static int reserve_take(struct reserving *reserving, struct later_error *err)
{
    const struct whole *whole = &reserving->whole;
    int sum = 0;

    for (size_t i = 0; i < whole->count && reserving->count < reserving->limit; i++) {
        size_t part = (reserving->first + i) % whole->count;
        int count =
            take_jobs(&reserving->taker, &whole->parts[part],
                      (size_t)(reserving->limit - reserving->count), screen, reserving, err);

        if (count < 0)
            return -1;
        wake_listener_follow(&reserving->listener, part);
        sum += count;
    }
    return sum;
}

/* Makes due jobs ready in all parts. *next is as for take_due(). */
static int make_due(struct reserving *reserving, double *next, struct later_error *err)
{
    *next = -1;
    for (size_t i = 0; i < reserving->whole.count; i++) {
        double one;

        if (take_due(&reserving->taker, &reserving->whole.parts[i], &one, err) < 0)
            return -1;
        if (one >= 0)
            *next = *next < 0 ? one : fmin(*next, one);
    }
    return 0;
}

/* Shards may be added while we wait. */
static int refresh(struct reserving *reserving, struct later_error *err)
{
    if (later_clock() < reserving->plan_at)
        return 0;
    reserving->plan_at = later_clock() + PLAN_AGE;
    if (whole_find(reserving->cli, reserving->cli->args.words[0], &reserving->whole, err) < 0)
        return -1;
    reserving->first %= reserving->whole.count;
    return 0;
}

/* Looks first into the part whose wake came. */
static void note_wake(struct reserving *reserving, const char *key)
{
    for (size_t i = 0; i < reserving->whole.count; i++) {
        if (strcmp(reserving->whole.parts[i].name[LATER_KEY_WAKE], key) == 0)
            reserving->first = i;
    }
}

/* Waits with one BLPOP for all parts. Returns as wait_for_wake(). */
static int wait_in_redis(struct reserving *reserving, double seconds, struct later_error *err)
{
    const struct whole *whole = &reserving->whole;
    const struct later_keys *queues[LATER_WHOLE_MAX];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int woken;

    for (size_t i = 0; i < whole->count; i++)
        queues[i] = &whole->parts[i];
    later_inspect_wait(&cmd, queues, whole->count, seconds);
    reply = later_call(reserving->cli->client, &cmd, seconds, false, err);
    if (!reply)
        return -1;
    woken = later_reply_count(reply) > 0;
    if (woken)
        note_wake(reserving, later_reply_text_at(reply, 0));
    later_reply_free(reply);
    return woken;
}

/* Waits until something arrives on a connection. Returns the part that has a wake, or the number of
 * parts. */
static size_t poll_listener(struct reserving *reserving, double seconds)
{
    struct wake_listener *listener = &reserving->listener;
    struct pollfd polled[WAKE_LISTENER_MAX];
    size_t count = wake_listener_poll(listener, polled), part = 0;

    if (poll(polled, count, (int)ceil(fmax(0, seconds) * 1000)) >= 0)
        wake_listener_handle(listener, polled);
    while (part < reserving->whole.count && !listener->each[part].woken)
        part++;
    return part;
}

/* Waits with a BLPOP for each part, each on a connection of its own. Returns as wait_for_wake(). */
static int wait_in_all(struct reserving *reserving, double seconds, struct later_error *err)
{
    struct wake_listener *listener = &reserving->listener;
    size_t count = reserving->whole.count, part = count;
    double until = later_clock() + seconds;

    while (listener->count < count) {
        if (wake_listener_add(listener, &reserving->whole.parts[listener->count], err) < 0)
            return -1;
    }
    while (part == count && later_clock() < until && !caught) {
        wake_listener_wait(listener);
        part = poll_listener(reserving, until - later_clock());
    }
    if (part == count)
        return 0;
    reserving->first = part;
    return 1;
}

/* Waits for a wake, at most until the next look is due. Returns 1 with a wake, 0 without, -1 with
 * *err. */
static int wait_for_wake(struct reserving *reserving, double seconds, struct later_error *err)
{
    bool cluster = later_redis_is_cluster(later_call_redis(reserving->cli->client));

    if (seconds < WAIT_MIN) {
        later_sleep(seconds);
        return 0;
    }
    if (cluster && reserving->whole.count > 1)
        return wait_in_all(reserving, seconds, err);
    return wait_in_redis(reserving, seconds, err);
}

/* Looks and waits until something is printed or `until` has come. */
static int take_until(struct reserving *reserving, double until, struct later_error *err)
{
    int woken = 0, taken = 0;
    double next, left;

    for (;;) {
        if (refresh(reserving, err) < 0 || make_due(reserving, &next, err) < 0 ||
            (taken = reserve_take(reserving, err)) < 0)
            break;
        woken = 0;
        left = until - later_clock();
        if (reserving->count > 0 || (taken == 0 && left <= 0))
            return 0;
        if (taken > 0) /* none of them was printed, so there may be more */
            continue;
        left = next >= 0 ? fmin(left, next) : left;
        woken = wait_for_wake(reserving, fmin(left, LOOK), err);
        if (woken < 0 || caught)
            break;
    }
    if (woken > 0)
        take_wake_back(reserving->cli, &reserving->whole.parts[reserving->first]);
    return caught ? 0 : -1;
}

static int reserve_reserve(struct reserving *reserving, double wait, struct later_error *err)
{
    static const char *const headings[] = { "ID", "TOKEN", ">ATTEMPT", "DOCUMENT", NULL };
    int ok;

    cli_table(reserving->cli, &reserving->table, headings);
    reserving->table.whole = true;
    if (wait > 0)
        reserve_catch_signals();
    ok = take_until(reserving, later_clock() + wait, err);
    wake_listener_close(&reserving->listener);
    table_end(&reserving->table);
    if (caught) {
        signal(caught, SIG_DFL);
        raise(caught);
    }
    if (ok < 0)
        return -1;
    return reserving->count > 0 ? LATER_OK : LATER_E_LATER;
}

/* Begins with another part each time, so that none is always last. */
static size_t choose_first(const struct whole *whole)
{
    uint32_t random = 0;

    if (whole->count > 1)
        (void)!getrandom(&random, sizeof random, 0);
    return random % whole->count;
}

static int reserve_run(struct cli *cli, struct later_error *err)
{
    struct reserving reserving = { .cli = cli,
                                   .listener.cli = cli,
                                   .plan_at = later_clock() + PLAN_AGE };
    double wait = 0, lease;
    int64_t limit = 1;
    int status;

    if (cli_number(cli, "number", 1, LATER_BATCH_MAX, &limit, err) < 0 ||
        cli_duration(cli, "wait", &wait, err) < 0 || take_lease(cli, &lease, err) < 0)
        return -1;
    reserving.limit = (uint64_t)limit;
    status = taker_begin(&reserving.taker, cli, lease, err);
    if (status == 0)
        status = whole_find(cli, cli->args.words[0], &reserving.whole, err);
    if (status == 0) {
        reserving.first = choose_first(&reserving.whole);
        status = reserve_reserve(&reserving, wait, err);
    }
    taker_end(&reserving.taker);
    return status;
}

static const struct args_option options[] = {
    { "number", 'n', "N", "at most N jobs, up to 500 (1)" },
    { "wait", 'w', "DURATION", "how long to wait for the first one (0)" },
    { "lease", 'l', "DURATION", "how long the reservation holds; see `later touch` (30)" },
    { 0 },
};

const struct command command_reserve = {
    .name = "reserve",
    .usage = "Q [-n N] [--wait DURATION] [--lease DURATION]",
    .brief = "Take jobs, to work on them by hand",
    .more =
        "Prints id, token, attempt and document, separated by TAB. End each job with `later ack`,\n"
        "`release` or `bury`, and its token. A line end in a document is printed as a\n"
        "space; --json gives the exact bytes. The status is 75 if the queue is empty or paused.\n",
    .example = "later reserve mail --wait 20\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = reserve_run,
};
