/*
 * test_cluster.c: a Redis Cluster of six under two laterds, while jobs are pushed into all queues:
 * CLUSTER FAILOVER, a slot that moves, SCRIPT FLUSH; then kill -9 of a master, SIGSTOP of one.
 *
 * There are four plain queues and one of eight shards; the second laterd has so many more, without
 * jobs, that its workers do not look at each. A shard is looked at as a queue of its own:
 * it has a producer that pushes into the whole what falls into this shard.
 *
 * A queue is touched by a fault if its slot is at the node in question. It goes on within twice the
 * node timeout and 2 s; of each other queue's jobs 90 % are done meanwhile. Both are the best of up
 * to three rounds, since other tests may have the machine; each with fewer jobs, since a machine
 * that does not do them without a fault says nothing about one. What was planned loses nothing and
 * repeats nothing, in each round. What was not may lose what no replica had yet: it is counted and
 * told.
 *
 * LATER_SOAK=N: for N minutes, a fault every 25 s.
 */
#include "arena.h"
#include "flow.h"
#include "tap.h"
#include "tests/support/cluster.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS        2
#define NODE_TIMEOUT 2.0
#define RECOVERY     (2 * NODE_TIMEOUT + 2) /* seconds, of the issue */
#define PLAIN        4
#define SHARDS       8
#define SHARDED      "events"
#define QUEUES       (PLAIN + SHARDS)
#define RATE         20.0 /* jobs a second into each plain queue */
#define SHARD_RATE   10.0 /* and into each shard */
#define ROUNDS       3
#define SLOWER       0.6 /* times as many in each further round */
#define MORE         60  /* with QUEUES more than CONFIG_WAITED */

static const char options[] =
    "workers = 3; lease = 10.0; retry = { base = 0.2; max = 1.0; };\n"
    "queues = ( { name = \"%s\"; weight = 1; }, { name = \"%s\"; weight = 1; },\n"
    "           { name = \"%s\"; weight = 1; }, { name = \"%s\"; weight = 1; },\n"
    "           { name = \"" SHARDED "\"; weight = 1; shards = 8; }%s );\n";

static struct cluster cluster;
static struct arena arena;
/* The first two are on one master at first; the shards come after them. */
static char names[QUEUES][24];
static pid_t producers[QUEUES];
static char prefixes[QUEUES][40]; /* of the ids of their producers */
static unsigned segment;
static double pace = 1; /* of the producers */

static int master_of(int queue)
{
    char key[128];

    snprintf(key, sizeof key, "later:{%.23s}:ready", names[queue]);
    return cluster_master_of_key(&cluster, key);
}

static int slot_of(int queue)
{
    char key[128];

    snprintf(key, sizeof key, "later:{%.23s}:ready", names[queue]);
    return cluster_slot(&cluster, key);
}

/* --- setting up --- */

/* Names whose queues are at masters 0, 0, 1, 2. */
static void choose_names(void)
{
    static const int wanted[PLAIN] = { 0, 0, 1, 2 };
    unsigned number = 0;

    for (int i = 0; i < PLAIN; i++) {
        do
            snprintf(names[i], sizeof names[i], "q%u", number++);
        while (master_of(i) != wanted[i]);
    }
    for (int i = PLAIN; i < QUEUES; i++)
        snprintf(names[i], sizeof names[i], SHARDED "/%d", i - PLAIN);
}

static const char *more(void)
{
    static char text[3000];
    size_t len = 0;

    for (int i = 0; i < MORE; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                ",\n{ name = \"more%d\"; weight = 1; }", i);
    return text;
}

static bool enter(void)
{
    char config[2][4000];

    if (cluster_start(&cluster, (unsigned)(NODE_TIMEOUT * 1000),
                      "appendonly yes\nappendfsync everysec\ncluster-require-full-coverage no\n") <
        0)
        return false;
    choose_names();
    for (int n = 0; n < HOSTS; n++)
        snprintf(config[n], sizeof config[n], options, names[0], names[1], names[2], names[3],
                 n ? more() : "");
    if (arena_open(&arena, NULL) < 0)
        return false;
    strcpy(arena.url, cluster.url);
    return arena_start(&arena, 0, config[0]) == 0 && arena_start(&arena, 1, config[1]) == 0;
}

/* --- a segment: jobs are pushed, things happen, all jobs end, they are counted --- */

static double rate_of(int queue)
{
    return pace * (queue < PLAIN ? RATE : SHARD_RATE);
}

static void begin_segment(void)
{
    segment++;
    for (int i = 0; i < QUEUES; i++) {
        bool plain = i < PLAIN;
        const struct produce load = { .queue = plain ? names[i] : SHARDED,
                                      .shards = plain ? 0 : SHARDS,
                                      .shard = plain ? 0 : (unsigned)(i - PLAIN),
                                      .prefix = prefixes[i],
                                      .seed = segment,
                                      .burst = 1,
                                      .slow_ms = 5,
                                      .rate = rate_of(i),
                                      .seconds = 1e6,
                                      .delayed = 3,
                                      .fail = 2 };

        snprintf(prefixes[i], sizeof prefixes[i], "%.23s.%u", names[i], segment);
        producers[i] = arena_produce(&arena, &load);
    }
    arena_sleep(1.5);
}

static void stop_producers(void)
{
    for (int i = 0; i < QUEUES; i++) {
        kill(producers[i], SIGTERM);
        arena_produced(producers[i]);
    }
}

static bool is_drained(int queue)
{
    static const char *const sets[] = { "ready", "delayed", "reserved" };
    bool empty = true;

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        redisReply *reply =
            cluster_ask(&cluster, master_of(queue), "ZCARD later:{%s}:%s", names[queue], sets[i]);

        empty = empty && reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 0;
        freeReplyObject(reply);
    }
    return empty;
}

static bool all_drained(double seconds)
{
    double until = arena_until(seconds);

    for (int i = 0; i < QUEUES; i++) {
        while (!is_drained(i)) {
            if (arena_now() > until)
                return false;
            arena_sleep(0.05);
        }
    }
    return true;
}

static bool take_tally(struct tally *tally)
{
    redisContext *at[QUEUES];
    const char *queues[QUEUES + 1] = { NULL };
    bool good = true;

    for (int i = 0; i < QUEUES; i++) {
        at[i] = cluster_connect(&cluster, master_of(i));
        queues[i] = names[i];
        good = good && at[i];
    }
    good = good && tally_take(tally, arena.pushed, arena.trace, arena.faults, at, queues) == 0;
    for (int i = 0; i < QUEUES; i++) {
        if (at[i])
            redisFree(at[i]);
    }
    return good;
}

static void forget_logs(void)
{
    if (truncate(arena.trace, 0) < 0 || truncate(arena.pushed, 0) < 0 ||
        truncate(arena.faults, 0) < 0)
        tap_ok(false, "the logs are begun anew");
}

static void end_segment(const char *what, bool planned)
{
    struct tally tally;

    stop_producers();
    tap_ok(all_drained(20), "%s: all jobs are over", what);
    if (!tap_ok(take_tally(&tally), "%s: a tally", what))
        return;
    tally_print(&tally);
    tap_ok(tally.acked > 20 && tally.unexpected == 0, "%s: %zu jobs, unexpected %zu", what,
           tally.acked, tally.unexpected);
    if (planned)
        tap_ok(tally.lost == 0 && tally.duplicated == 0, "%s: lost %zu, run twice %zu", what,
               tally.lost, tally.duplicated);
    else
        tap_ok(tally.unexplained == 0,
               "%s: lost %zu (0 expected on loopback), run twice %zu, each for the fault", what,
               tally.lost, tally.duplicated);
    tap_ok(tally.conserved, "%s: the counters add up", what);
    tally_free(&tally);
    forget_logs();
}

/* --- faults: each touches the queues of one node, and returns when it is over --- */

static void kill_master(int node)
{
    int slot = slot_of(0);

    cluster_kill(&cluster, node);
    tap_ok(cluster_await_master(&cluster, slot, node, 15) >= 0, "kill -9: another is the master");
    tap_ok(cluster_restart(&cluster, node), "kill -9: it is started again");
}

static void stop_master(int node)
{
    cluster_pause(&cluster, node);
    arena_sleep(3 * NODE_TIMEOUT + 3);
    cluster_resume(&cluster, node);
}

static void failover(int node)
{
    tap_ok(cluster_failover(&cluster, cluster_replica(&cluster, node)), "CLUSTER FAILOVER");
}

/* The first queue's goes to the master of the third, or back. */
static void move_slot(int node)
{
    int to = master_of(2) != node   ? master_of(2)
             : master_of(1) != node ? master_of(1)
                                    : master_of(3);

    tap_ok(cluster_move(&cluster, slot_of(0), to), "a slot is moved");
}

static void flush_scripts(int node)
{
    (void)node;
    for (int n = 0; n < CLUSTER_NODES; n++)
        cluster_do(&cluster, n, "SCRIPT FLUSH");
}

struct kind {
    const char *what;
    void (*make)(int node);
    bool planned, one_queue;
};

static const struct kind planned[] = {
    { "CLUSTER FAILOVER", failover, true, false },
    { "a slot that moves", move_slot, true, true },
    { "SCRIPT FLUSH", flush_scripts, true, false },
};
static const struct kind unplanned[] = {
    { "kill -9 of a master", kill_master, false, false },
    { "SIGSTOP of a master", stop_master, false, false },
};

/* From now on, with none of the former jobs left. */
static void produce_slower(void)
{
    stop_producers();
    tap_ok(all_drained(20), "what was pushed is done");
    pace *= SLOWER;
    begin_segment();
}

/* One fault at the first queue's master. The longest silence of what it touches; what is done of
 * each other queue's jobs, as a part of what is pushed meanwhile, where that is more than in best.
 */
static void make_fault(const struct kind *kind, double *gap, double best[QUEUES])
{
    int node = master_of(0);
    bool touched[QUEUES];
    double start, end;
    long from, to;

    for (int i = 0; i < QUEUES; i++)
        touched[i] = kind->one_queue ? i == 0 : master_of(i) == node;
    from = flow_mark(arena.pushed);
    start = arena_now();
    kind->make(node);
    if (!kind->planned)
        arena_fault(&arena, start, kind->what);
    arena_sleep(start + RECOVERY + 0.5 - arena_now());
    to = flow_mark(arena.pushed);
    end = arena_now();
    *gap = 0;
    for (int i = 0; i < QUEUES; i++) {
        struct flow flow;
        size_t pushed = flow_pushed(arena.pushed, prefixes[i], from, to), ended;

        flow_read(&flow, arena.trace, prefixes[i]);
        ended = flow_ended(&flow, start, end);
        tap_note("%s: queue %s %s: silent for %.2f s, %zu done of %zu pushed", kind->what, names[i],
                 touched[i] ? "touched" : "not touched", flow_gap(&flow, start, end - 0.1), ended,
                 pushed);
        if (touched[i])
            *gap = fmax(*gap, flow_gap(&flow, start, end - 0.1));
        else
            best[i] = fmax(best[i], (double)ended / (double)pushed);
        flow_free(&flow);
    }
    tap_ok(cluster_settled(&cluster, 20), "%s: the Cluster is whole again", kind->what);
}

/* Of those that were not touched each time: a fault that holds up others does so in each round. */
static double least(const double best[QUEUES])
{
    double rate = INFINITY;

    for (int i = 0; i < QUEUES; i++)
        rate = best[i] >= 0 ? fmin(rate, best[i]) : rate;
    return rate;
}

static void test_fault(const struct kind *kind)
{
    double gap = INFINITY, rate = 0, best[QUEUES];

    for (int i = 0; i < QUEUES; i++)
        best[i] = -1;
    for (int round = 0; round < ROUNDS && (gap > RECOVERY || rate < 0.9); round++) {
        double this_gap;

        if (round)
            produce_slower();
        make_fault(kind, &this_gap, best);
        gap = fmin(gap, this_gap);
        rate = least(best);
    }
    tap_ok(gap <= RECOVERY, "%s: what it touches goes on after %.2f s, at most %.1f", kind->what,
           gap, RECOVERY);
    tap_ok(rate >= 0.9, "%s: of the others' jobs %.0f %% are done meanwhile, at least 90",
           kind->what, rate * 100);
}

static void test_planned(double pause)
{
    pace = 1;
    tap_ok(cluster_set_node_timeout(&cluster, CLUSTER_QUIET), "no node is missed soon");
    begin_segment();
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++) {
        double start = arena_now();

        test_fault(&planned[i]);
        arena_sleep(start + pause - arena_now());
    }
    end_segment("planned", true);
}

static void test_unplanned(double pause)
{
    pace = 1;
    tap_ok(cluster_set_node_timeout(&cluster, NODE_TIMEOUT), "from now on they are");
    begin_segment();
    for (size_t i = 0; i < sizeof unplanned / sizeof *unplanned; i++) {
        double start = arena_now();

        test_fault(&unplanned[i]);
        arena_sleep(start + pause - arena_now());
    }
    end_segment("not planned", false);
}

/* Each laterd tells how many connections it has, to each master. */
static void check_status(void)
{
    const char *top = getenv("top_builddir");
    char command[PATH_MAX];
    double until = arena_until(15);
    bool all = false;

    for (int i = 0; i < CLUSTER_MASTERS; i++) {
        int node = master_of(i + 1);

        snprintf(command, sizeof command,
                 "%s/cli/later --redis %s status | grep -q '^127.0.0.1:%u\t[1-9]'", top ? top : ".",
                 cluster.url, cluster_port(&cluster, node));
        while (!(all = system(command) == 0) && arena_now() < until)
            arena_sleep(0.5);
        tap_ok(all, "later status counts the connections to master %d", node);
    }
}

/* One master that would throw jobs away is enough. */
static void test_unfit(void)
{
    int node = master_of(3);
    char words[60];

    snprintf(words, sizeof words, "(127.0.0.1:%u) would throw jobs away",
             cluster_port(&cluster, node));
    cluster_do(&cluster, node, "CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru");
    arena_again(&arena, 0);
    for (int i = 0; i < 1000 && arena_alive(&arena, 0); i++)
        arena_sleep(0.01);
    tap_ok(!arena.hosts[0].pid && arena_logged(&arena, 0, words) == 1,
           "laterd ends where one master evicts, and names it");
}

static void check_all(void)
{
    const char *top = getenv("top_builddir");
    char command[PATH_MAX];

    snprintf(command, sizeof command, "%s/cli/later --redis %s check >&2", top ? top : ".",
             cluster.url);
    tap_ok(system(command) == 0, "later check finds nothing");
}

int main(void)
{
    const char *soak = getenv("LATER_SOAK");
    double minutes = soak ? strtod(soak, NULL) : 0, until;

    if (!tap_ok(enter(), "a Cluster of six, two laterds")) {
        arena_close(&arena);
        cluster_stop(&cluster);
        return tap_end();
    }
    until = arena_now() + minutes * 60;
    do {
        test_planned(tap_long() ? 25 : 0);
        test_unplanned(tap_long() ? 25 : 0);
    } while (arena_now() < until);
    check_status();
    check_all();
    for (int n = 0; n < HOSTS; n++)
        tap_ok(arena_stop(&arena, n) == 0, "laterd %d stops", n);
    test_unfit();
    arena_close(&arena);
    cluster_stop(&cluster);
    return tap_end();
}
