/* test_lock.c: 200 processes compete for one lock while its owners are killed. Those who wait get
 * it in the order in which they came. Also: what waiting costs. Limits: 1,000 callers from 8
 * processes. */
#include "arena.h"
#include "tap.h"

#include "client/call.h"
#include "client/lock_wait.h"
#include "queue/queue.h"
#include "redis/script.h"
#include "queue/stock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIGHTERS   200
#define EVENTS_MAX 20000
#define OWNERS     20 /* in a round, more than that */
#define NAME       "fight"

/* What the processes of a test share: one slot each. */
struct slot {
    pid_t pid;
    volatile uint64_t owns; /* the fencing number between its B and its E line; 0 = none */
    volatile uint64_t loops, errors;
};

static struct slot *slots;
static struct server server;
static char url[160], file[160];
static int stop[2]; /* who waits gives up when its writing end is closed */

static pid_t begin_child(void)
{
    pid_t parent = getpid(), pid;

    fflush(NULL);
    pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (stop[1] >= 0)
        close(stop[1]);
    srandom((unsigned)getpid());
    return 0;
}

static struct later_client *open_client(void)
{
    struct later_error err;
    struct later_client *client =
        later_client_open_with(&(struct later_client_options){ .url = url, .timeout = 20 }, &err);

    if (!client)
        printf("# %s\n", err.text);
    return client;
}

static bool stopping(void)
{
    char byte;

    return read(stop[0], &byte, 1) == 0;
}

static bool open_stop(void)
{
    return pipe2(stop, O_NONBLOCK) == 0;
}

/* --- one owner --- */

/* Writes a line with one write: B when it begins to own the lock, E before it gives it back. And L
 * after that if by the owner's own clock the ttl was over by then: it may have stood still before
 * either line. */
static void append(int fd, char what, uint64_t fence)
{
    char line[80];
    int len =
        snprintf(line, sizeof line, "%c %llu %.6f\n", what, (unsigned long long)fence, arena_now());

    if (write(fd, line, (size_t)len) != len)
        _exit(3);
}

/* It must have been ours still, if that was answered before its end. */
static void give_back(struct later_client *client, struct slot *slot, const char *token, double end)
{
    struct later_command cmd = { 0 };
    struct later_error err;
    struct later_reply *reply;

    later_lock_free(&cmd, "later", NAME, token);
    reply = later_call(client, &cmd, 0, false, &err);
    if (!later_lock_still(reply) && arena_now() < end)
        slot->errors++;
    later_reply_free(reply);
}

static void own(struct later_client *client, int fd, struct slot *slot, const char *token,
                const struct later_locked *locked, double ttl, double hold)
{
    slot->owns = locked->fence;
    append(fd, 'B', locked->fence);
    arena_sleep(hold * (double)arena_random(1000) / 1000);
    append(fd, 'E', locked->fence);
    if (arena_now() >= locked->since + ttl * 0.9)
        append(fd, 'L', locked->fence);
    slot->owns = 0;
    give_back(client, slot, token, locked->since + ttl);
}

static void fight(struct slot *slot, double ttl, double hold)
{
    struct later_client *client = open_client();
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    char token[LATER_TOKEN_LEN + 1];
    struct later_lock_wish wish = { .name = NAME,
                                    .token = token,
                                    .owner = "a fighter",
                                    .ttl = ttl,
                                    .wait = INFINITY,
                                    .stop = stop[0] };

    while (client && fd >= 0 && !stopping()) {
        struct later_locked locked;
        struct later_error err;
        int how;

        later_token(token);
        how = later_lock_wait(client, &wish, &locked, &err);
        slot->errors += how < 0;
        if (how != LATER_LOCK_YES)
            continue;
        if (arena_now() < locked.since + ttl * 0.9)
            own(client, fd, slot, token, &locked, ttl, hold);
        slot->loops++;
    }
    later_client_close(client);
    _exit(0);
}

static void enlist(size_t i, double ttl, double hold)
{
    pid_t pid;

    slots[i].owns = 0;
    pid = begin_child();
    if (pid == 0)
        fight(&slots[i], ttl, hold);
    slots[i].pid = pid;
}

struct event {
    char what;
    uint64_t fence;
    double at;
};

static struct {
    struct event list[EVENTS_MAX]; /* B, E: from the file, in its order; K: kills */
    size_t count, kills;
    struct event killed[1000];
} seen;

/* Kills the owner, if there is one, and puts another in its place. */
static void kill_owner(double ttl, double hold)
{
    for (size_t i = 0; i < FIGHTERS; i++) {
        double at = arena_now();

        if (!slots[i].owns)
            continue;
        kill(slots[i].pid, SIGKILL);
        waitpid(slots[i].pid, NULL, 0);
        if (slots[i].owns) /* it may have gone on until then */
            seen.killed[seen.kills++] = (struct event){ 'K', slots[i].owns, at };
        enlist(i, ttl, hold);
        return;
    }
}

static void read_events(void)
{
    FILE *in = fopen(file, "r");
    unsigned long long fence;
    struct event event;

    seen.count = 0;
    while (in && seen.count < EVENTS_MAX &&
           fscanf(in, " %c %llu %lf", &event.what, &fence, &event.at) == 3) {
        event.fence = fence;
        seen.list[seen.count++] = event;
    }
    if (in)
        fclose(in);
}

static const struct event *kill_of(uint64_t fence)
{
    for (size_t i = 0; i < seen.kills; i++) {
        if (seen.killed[i].fence == fence)
            return &seen.killed[i];
    }
    return NULL;
}

/* Did its owner notice that he was too slow? */
static bool was_late(uint64_t fence)
{
    for (size_t i = 0; i < seen.count; i++) {
        if (seen.list[i].what == 'L' && seen.list[i].fence == fence)
            return true;
    }
    return false;
}

struct outcome {
    size_t owners, overlaps, disorder, passed, late;
    double rate;   /* commands a process and second */
    double median; /* from E to the next B, seconds */
    double worst;  /* from a kill to the next B */
};

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Goes through the file: after a B comes its E, or it was killed, before the next B. Who was late
 * may have written his lines into another's time: they are left out. */
static struct outcome judge(void)
{
    static double gaps[EVENTS_MAX];
    struct outcome out = { 0 };
    const struct event *last = NULL; /* the last B or E */
    uint64_t highest = 0;

    for (size_t i = 0; i < seen.count; i++) {
        const struct event *event = &seen.list[i], *killed = last ? kill_of(last->fence) : NULL;

        if (was_late(event->fence)) {
            out.late += event->what == 'L';
            continue;
        }
        if (event->what == 'E') {
            out.overlaps += !last || last->what != 'B' || last->fence != event->fence;
        } else {
            out.owners++;
            out.disorder += event->fence <= highest;
            highest = event->fence;
            if (last && last->what == 'E' && !killed)
                gaps[out.passed++] = event->at - last->at;
            else if (killed && killed->at <= event->at)
                out.worst = fmax(out.worst, event->at - killed->at);
            else
                out.overlaps += last != NULL;
        }
        last = event;
    }
    qsort(gaps, out.passed, sizeof *gaps, by_number);
    out.median = out.passed ? gaps[out.passed / 2] : INFINITY;
    return out;
}

/* Commands that clients sent; INFO counts those of scripts under other names. */
static double sent_commands(redisContext *redis)
{
    static const char *const names[] = { "evalsha",        "blpop",          "client|id",  "ping",
                                         "client|setname", "client|unblock", "script|load" };
    redisReply *reply = redisCommand(redis, "INFO commandstats");
    double count = 0;

    for (size_t i = 0; reply && reply->str && i < sizeof names / sizeof *names; i++) {
        char line[64];
        const char *at;

        snprintf(line, sizeof line, "cmdstat_%s:calls=", names[i]);
        at = strstr(reply->str, line);
        count += at ? strtod(at + strlen(line), NULL) : 0;
    }
    freeReplyObject(reply);
    return count;
}

/* Waits for their ends. Returns how many had to be killed or failed. */
static size_t dismiss(size_t count)
{
    double until = arena_until(30);
    size_t failed = 0;

    close(stop[1]);
    stop[1] = -1;
    for (size_t i = 0; i < count; i++) {
        int status = -1;

        while (waitpid(slots[i].pid, &status, WNOHANG) == 0 && arena_now() < until)
            arena_sleep(0.005);
        if (status == -1) {
            kill(slots[i].pid, SIGKILL);
            waitpid(slots[i].pid, NULL, 0);
        }
        failed += status != 0 || slots[i].errors > 0;
    }
    close(stop[0]);
    return failed;
}

static size_t count_owners(void)
{
    size_t count = 0;

    read_events();
    for (size_t i = 0; i < seen.count; i++)
        count += seen.list[i].what == 'B';
    return count;
}

static struct outcome fight_round(double seconds, double ttl, double hold)
{
    redisContext *redis = server_connect(&server);
    double begun, before, rate, quiet, until = arena_until(30);
    struct outcome out = { .median = INFINITY, .worst = INFINITY, .rate = INFINITY };
    size_t failed;

    unlink(file);
    memset(slots, 0, FIGHTERS * sizeof *slots);
    seen.kills = 0;
    if (!redis || !open_stop())
        return out;
    for (size_t i = 0; i < FIGHTERS; i++)
        enlist(i, ttl, hold);
    arena_sleep(0.3);
    begun = arena_now();
    before = sent_commands(redis);
    quiet = begun + seconds - ttl - 0.5;
    /* On a slow machine there are few owners by then, who would prove little. */
    while (arena_now() < quiet ||
           ((seen.kills < 2 || count_owners() <= OWNERS) && arena_now() < until)) {
        arena_sleep(0.1 + (double)arena_random(600) / 1000);
        kill_owner(ttl, hold);
    }
    arena_sleep(ttl + 0.5);
    rate = (sent_commands(redis) - before) / (arena_now() - begun) / FIGHTERS;
    failed = dismiss(FIGHTERS);
    read_events();
    out = judge();
    out.rate = rate;
    tap_ok(out.owners > OWNERS && seen.kills >= 2, "%d processes: %zu owners, %zu of them killed",
           FIGHTERS, out.owners, seen.kills);
    tap_ok(out.overlaps == 0, "never two owners at once (%zu)", out.overlaps);
    tap_ok(out.disorder == 0, "the fencing numbers only grow (%zu do not)", out.disorder);
    tap_ok(failed == 0, "all end when told, none with an error (%zu)", failed);
    redisFree(redis);
    return out;
}

/* Safety must hold in each round; how quick it is, on a busy machine, in the best of three. */
static void test_fight(void)
{
    double seconds = tap_long() ? 20 : 5, ttl = tap_long() ? 1 : 0.5;
    double median = INFINITY, worst = INFINITY, rate = INFINITY, busy = 1;

    for (int i = 0; i < 3 && (median > 0.005 * busy || worst > ttl + 0.25 * busy || rate > 2);
         i++) {
        struct outcome out = fight_round(seconds, ttl, 0.06);

        tap_note("passed on %zu times, median %.2f ms; %zu owners were too slow for the ttl",
                 out.passed, out.median * 1000, out.late);
        median = fmin(median, out.median);
        worst = fmin(worst, out.worst);
        rate = fmin(rate, out.rate);
        busy = arena_busy();
    }
    tap_ok(median <= 0.005 * busy, "a freed lock passes on within %.2f ms (median)", median * 1000);
    tap_ok(worst <= ttl + 0.25 * busy,
           "a killed owner's lock is another's after %.3f s at most (ttl %g)", worst, ttl);
    tap_ok(rate <= 2, "%.2f commands a process and second", rate);
}

/* --- who waits --- */

static long long info_number(redisContext *redis, const char *section, const char *name)
{
    redisReply *reply = redisCommand(redis, "INFO %s", section);
    const char *at = reply && reply->str ? strstr(reply->str, name) : NULL;
    long long number = at ? strtoll(at + strlen(name) + 1, NULL, 10) : -1;

    freeReplyObject(reply);
    return number;
}

static bool wait_blocked(redisContext *redis, long long count)
{
    double until = arena_until(20);

    while (info_number(redis, "clients", "blocked_clients") != count) {
        if (arena_now() > until)
            return false;
        arena_sleep(0.002);
    }
    return true;
}

/* Waits once, writes its number into the pipe when it owns the lock. */
static void queue_up(char number, int out)
{
    struct later_client *client = open_client();
    char token[LATER_TOKEN_LEN + 1];
    struct later_lock_wish wish = {
        .name = NAME, .token = token, .owner = "", .ttl = 30, .wait = INFINITY, .stop = stop[0]
    };
    struct later_locked locked;
    struct later_error err;
    struct slot slot = { 0 };

    later_token(token);
    if (later_lock_wait(client, &wish, &locked, &err) == LATER_LOCK_YES) {
        if (write(out, &number, 1) != 1)
            _exit(2);
        give_back(client, &slot, token, false);
    }
    later_client_close(client);
    _exit(0);
}

static bool take_now(struct later_client *client, char *token, double ttl)
{
    struct later_lock_wish wish = {
        .name = NAME, .token = token, .owner = "", .ttl = ttl, .stop = -1
    };
    struct later_locked locked;
    struct later_error err;

    later_token(token);
    return later_lock_wait(client, &wish, &locked, &err) == LATER_LOCK_YES;
}

/* 20 come one after the other, and keep their places through looks and time. */
static void test_order(void)
{
    redisContext *redis = server_connect(&server);
    struct later_client *client = open_client();
    char token[LATER_TOKEN_LEN + 1], got[21] = "";
    struct slot slot = { 0 };
    size_t count = 0;
    int line[2];
    double rate, start;

    redisCommand(redis, "FLUSHALL");
    if (!open_stop() || pipe(line) < 0)
        return;
    tap_ok(take_now(client, token, 30), "a free lock is to be had at once");
    for (char c = 'a'; c < 'a' + 20; c++) {
        pid_t pid = begin_child();

        if (pid == 0)
            queue_up(c, line[1]);
        slots[c - 'a'] = (struct slot){ .pid = pid };
        if (!wait_blocked(redis, c - 'a' + 1))
            break;
    }
    rate = sent_commands(redis);
    start = arena_now();
    arena_sleep(tap_long() ? 10 : 3);
    rate = (sent_commands(redis) - rate) / (arena_now() - start) / 20;
    tap_ok(rate <= 1, "%.2f commands a second of each who waits", rate);
    /* But for the moment of a look. */
    tap_ok(wait_blocked(redis, 20), "all are blocked all the time");
    give_back(client, &slot, token, false);
    while (count < 20 && read(line[0], got + count, 1) == 1)
        count++;
    tap_ok(strcmp(got, "abcdefghijklmnopqrst") == 0, "first come, first served: %s", got);
    tap_ok(dismiss(20) == 0, "and all have ended");
    tap_ok(take_now(client, token, 0.2), "and nobody has it");
    close(line[0]);
    close(line[1]);
    later_client_close(client);
    redisFree(redis);
}

/* --- limits --- */

#define CALLERS    8
#define CALLS      125
#define LIMIT_MAX  3
#define PASSES_MAX 500

struct pass {
    double sent, told; /* Redis said yes between these */
};

static struct {
    size_t count[CALLERS];
    struct pass list[CALLERS][PASSES_MAX];
} * passes[2]; /* sliding, fixed; shared */

static void call_often(int who, double per, double seconds)
{
    struct later_client *client = open_client();

    for (int i = 0; client && i < CALLS; i++) {
        for (int fixed = 0; fixed < 2; fixed++) {
            struct later_command cmd = { 0 };
            struct later_error err;
            struct later_reply *reply;
            double sent = arena_now();

            later_limit_ask(&cmd, "later", fixed ? "fixed" : "sliding", LIMIT_MAX, per, !fixed);
            reply = later_call(client, &cmd, 0, false, &err);
            if (!reply)
                _exit(1);
            if (later_limit_wait(reply) <= 0)
                passes[fixed]->list[who][passes[fixed]->count[who]++] =
                    (struct pass){ sent, arena_now() };
            later_reply_free(reply);
        }
        arena_sleep(seconds / CALLS);
    }
    later_client_close(client);
    _exit(client ? 0 : 1);
}

static int by_time(const void *a, const void *b)
{
    return by_number(&((const struct pass *)a)->told, &((const struct pass *)b)->told);
}

/* How many more than LIMIT_MAX have passed within a span, whenever each was between `sent` and
 * `told`.
 */
static size_t excess_sliding(const struct pass *all, size_t count, double per)
{
    size_t found = 0;

    for (size_t i = LIMIT_MAX; i < count; i++) {
        double first = all[i].sent;

        for (size_t n = i - LIMIT_MAX; n < i; n++)
            first = fmin(first, all[n].sent);
        found += all[i].told - first < per - 0.0015;
    }
    return found;
}

/* A window that opens with its first pass, somewhere between these. */
struct window {
    double sent, told;
    size_t passes;
};

/* Can the passes from the i-th on be explained, each at a time between its `sent` and its `told`?
 * One that was asked for in the window and told after it may have passed in it or have opened the
 * next. */
static bool windows_hold(const struct pass *all, size_t count, size_t i, struct window window,
                         double per)
{
    struct window more = { window.sent, window.told, window.passes + 1 };
    struct window next = { 0, 0, 1 };

    if (i == count)
        return true;
    next.sent = fmax(all[i].sent, window.sent + per - 0.0015);
    next.told = all[i].told;
    if (window.passes < LIMIT_MAX && all[i].sent <= window.told + per &&
        windows_hold(all, count, i + 1, more, per))
        return true;
    return all[i].told >= next.sent && windows_hold(all, count, i + 1, next, per);
}

/* Returns 0 if the limit held, for all that the callers can know. */
static size_t excess(int fixed, double per, size_t *count)
{
    static struct pass all[CALLERS * PASSES_MAX];

    *count = 0;
    for (int i = 0; i < CALLERS; i++) {
        memcpy(all + *count, passes[fixed]->list[i], passes[fixed]->count[i] * sizeof *all);
        *count += passes[fixed]->count[i];
    }
    qsort(all, *count, sizeof *all, by_time);
    if (!fixed)
        return excess_sliding(all, *count, per);
    return !windows_hold(all, *count, 0, (struct window){ -per, -per, LIMIT_MAX }, per);
}

static void test_limits(void)
{
    double per = tap_long() ? 10 : 1, seconds = per * 3.5, least = 3;
    pid_t pids[CALLERS];
    size_t count, failed = 0;
    int status;

    for (int i = 0; i < 2; i++)
        memset(passes[i], 0, sizeof *passes[i]);
    stop[1] = -1;
    for (int i = 0; i < CALLERS; i++) {
        pids[i] = begin_child();
        if (pids[i] == 0)
            call_often(i, per, seconds);
    }
    for (int i = 0; i < CALLERS; i++)
        failed += waitpid(pids[i], &status, 0) < 0 || status != 0;
    tap_ok(failed == 0, "%d callers from %d processes", CALLERS * CALLS, CALLERS);
    for (int fixed = 0; fixed < 2; fixed++) {
        size_t over = excess(fixed, per, &count);

        tap_ok(over == 0, "in no %s of %g s more than %d pass (%zu)", fixed ? "window" : "span",
               per, LIMIT_MAX, over);
        tap_ok((double)count >= least * LIMIT_MAX, "but %zu do in all", count);
    }
}

int main(void)
{
    slots = mmap(NULL, FIGHTERS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                 -1, 0);
    for (int i = 0; i < 2; i++)
        passes[i] = mmap(NULL, sizeof *passes[i], PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (slots == MAP_FAILED || passes[0] == MAP_FAILED || passes[1] == MAP_FAILED ||
        server_start(&server, NULL) < 0)
        return 99;
    srandom((unsigned)getpid());
    snprintf(url, sizeof url, "unix:%s", server.socket);
    snprintf(file, sizeof file, "%s/owners", server.folder);
    test_fight();
    test_order();
    test_limits();
    server_stop(&server);
    return tap_end();
}
