/* trouble.c: the rules of what is wrong, and their words. */
#include "trouble/trouble.h"

#include "trouble/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED      60  /* bytes of the types that a line names, */
#define TYPES_SIZE 100 /* and of a text with these */

const struct later_rule_row later_rules[LATER_RULES] = {
    [LATER_RULE_REDIS_FULL] = { "redis_full",
                                "Redis uses nine tenths of its memory, or cannot write to its disk",
                                "LaterdRedisFull", "critical" },
    [LATER_RULE_WRITES_LOST] = { "writes_lost", "Redis has lost writes that it had confirmed",
                                 "LaterdWritesLost", "critical" },
    [LATER_RULE_NO_LATERD] = { "no_laterd", "no laterd is alive", "LaterdNoDaemon", "critical" },
    [LATER_RULE_HOST_LOST] = { "host_lost", "a laterd vanished within the last hour",
                               "LaterdHostLost", "warning" },
    [LATER_RULE_HOST_FAULT] = { "host_fault", "a laterd says that something is wrong with it",
                                "LaterdHostFault", "warning" },
    [LATER_RULE_QUEUE_UNSERVED] = { "queue_unserved", "jobs wait in a queue that no laterd serves",
                                    "LaterdQueueUnserved", "critical" },
    [LATER_RULE_TYPE_UNKNOWN] = { "type_unknown",
                                  "jobs have waited ten seconds for a host that has their type",
                                  "LaterdTypeUnknown", "critical" },
    [LATER_RULE_BEHIND] = { "behind", "the oldest ready job has waited for five minutes",
                            "LaterdQueueBehind", "warning" },
    [LATER_RULE_FAILING] = { "failing",
                             "more than a twentieth of a type fails, and twice as much as usual",
                             "LaterdFailures", "warning" },
    [LATER_RULE_DEAD_GROWING] = { "dead_growing", "jobs died within ten minutes and are dead",
                                  "LaterdDeadJobs", "warning" },
    [LATER_RULE_OVER_TIME] = { "over_time",
                               "a job runs far longer than its type does, or its lease is over",
                               "LaterdOverTime", "warning" },
    [LATER_RULE_SCHEDULE_MISSED] = { "schedule_missed",
                                     "a periodic job was not pushed a minute after its time",
                                     "LaterdScheduleMissed", "warning" },
    [LATER_RULE_FLOW_BLOCKED] = { "flow_blocked", "all that is left of a flow waits for a dead job",
                                  "LaterdFlowBlocked", "warning" },
    [LATER_RULE_TYPE_ELSEWHERE] = { "type_elsewhere",
                                    "for a minute hosts without their type have taken jobs and "
                                    "given them back",
                                    "LaterdTypeElsewhere", "info" },
    [LATER_RULE_PAUSED_LONG] = { "paused_long",
                                 "jobs wait in a queue, or of a type, paused for 15 minutes",
                                 "LaterdPaused", "info" },
};

/* --- the list --- */

/* Adds a row with its text. What there is no room for goes into *spare. */
static struct later_trouble *trouble_add(struct later_troubles *troubles, enum later_rule rule,
                                         struct later_trouble *spare, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static struct later_trouble *trouble_add(struct later_troubles *troubles, enum later_rule rule,
                                         struct later_trouble *spare, const char *format, ...)
{
    struct later_trouble *row = spare;
    va_list args;

    if (troubles->count < troubles->room)
        row = &troubles->rows[troubles->count++];
    else
        troubles->more++;
    *row = (struct later_trouble){ .rule = rule };
    va_start(args, format);
    vsnprintf(row->text, sizeof row->text, format, args);
    va_end(args);
    return row;
}

static void trouble_put(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void trouble_put(char *to, size_t room, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(to, room, format, args);
    va_end(args);
}

#define TROUBLE_WHY(row, ...)     trouble_put((row)->why, sizeof(row)->why, __VA_ARGS__)
#define TROUBLE_COMMAND(row, ...) trouble_put((row)->command, sizeof(row)->command, __VA_ARGS__)

/* In which queue it is ("" = in none), since when (0 = not known), how many. */
static void trouble_in(struct later_trouble *row, const char *queue, double since, int64_t count)
{
    trouble_put(row->queue, sizeof row->queue, "%s", queue);
    row->since = since;
    row->count = count;
}

static int trouble_order(const void *a, const void *b)
{
    const struct later_trouble *one = a, *two = b;
    int by_queue;

    if (one->rule != two->rule)
        return one->rule < two->rule ? -1 : 1;
    if (one->count != two->count)
        return one->count > two->count ? -1 : 1;
    by_queue = strcmp(one->queue, two->queue);
    return by_queue ? by_queue : strcmp(one->host, two->host);
}

void later_troubles_sort(struct later_troubles *troubles)
{
    if (troubles->count > 1)
        qsort(troubles->rows, troubles->count, sizeof *troubles->rows, trouble_order);
}

/* --- Redis --- */

void later_trouble_redis(struct later_troubles *troubles, const struct later_trouble_redis *redis)
{
    struct later_trouble spare, *row;
    char count[LATER_SAY_SIZE];
    size_t from = troubles->count;

    if (redis->most > 0 && redis->used >= LATER_TROUBLE_FULL * redis->most) {
        row = trouble_add(troubles, LATER_RULE_REDIS_FULL, &spare,
                          "Redis uses %.0f %% of its memory", 100 * redis->used / redis->most);
        TROUBLE_WHY(row, "when it is full, pushes are refused and no laterd can report");
        TROUBLE_COMMAND(row, "later status --server");
        row->count = (int64_t)redis->used;
    }
    if (redis->disk) {
        row =
            trouble_add(troubles, LATER_RULE_REDIS_FULL, &spare, "Redis cannot write to its disk");
        TROUBLE_WHY(row, "%s", redis->disk);
        TROUBLE_COMMAND(row, "later status --server");
    }
    if (redis->lost) {
        row = trouble_add(troubles, LATER_RULE_WRITES_LOST, &spare,
                          "Redis has lost writes of %s queue%s, of %s last",
                          later_say_count(count, redis->lost_count),
                          redis->lost_count == 1 ? "" : "s", redis->lost);
        TROUBLE_WHY(row, "it came back with less than it had: a crash, a failover or a restore");
        TROUBLE_COMMAND(row, "later check; later check --acknowledge");
        trouble_in(row, redis->lost, redis->lost_at, redis->lost_count);
    }
    for (size_t i = from; redis->name && i < troubles->count; i++)
        trouble_put(troubles->rows[i].host, sizeof troubles->rows[i].host, "%s", redis->name);
}

/* --- daemons --- */

static bool trouble_is_late(const struct later_trouble_host *host)
{
    return host->limit > 0 && host->now - host->over_since > host->limit + LATER_TROUBLE_LONG;
}

bool later_trouble_is_over(const struct later_trouble_host *host)
{
    double runs = host->now - host->over_since;
    bool slow = host->usual > 0 && runs > LATER_TROUBLE_USUAL * host->usual;

    return host->over[0] && runs >= LATER_TROUBLE_LONG && (slow || trouble_is_late(host));
}

static void trouble_over(struct later_troubles *troubles, const struct later_trouble_host *host)
{
    double runs = host->now - host->over_since;
    char age[LATER_SAY_SIZE], usual[LATER_SAY_SIZE];
    struct later_trouble spare, *row;

    if (!later_trouble_is_over(host))
        return;
    row = trouble_add(troubles, LATER_RULE_OVER_TIME, &spare, "%.60s runs for %s on %.40s",
                      host->over, later_say_age(age, runs), host->name);
    if (trouble_is_late(host))
        TROUBLE_WHY(row, "its timeout is %s", later_say_age(usual, host->limit));
    else
        TROUBLE_WHY(row, "99 of 100 of %s end within %s", host->over_type,
                    later_say_age(usual, host->usual));
    TROUBLE_COMMAND(row, "later show %.120s", host->over);
    trouble_put(row->host, sizeof row->host, "%s", host->name);
    trouble_put(row->type, sizeof row->type, "%s", host->over_type);
    trouble_in(row, host->over_queue, host->over_since, 1);
}

static void trouble_host_fault(struct later_troubles *troubles,
                               const struct later_trouble_host *host)
{
    struct later_trouble spare, *row;

    if (!host->fault[0])
        return;
    row = trouble_add(troubles, LATER_RULE_HOST_FAULT, &spare, "the laterd of %.60s has a fault",
                      host->name);
    TROUBLE_WHY(row, "%.239s", host->fault);
    TROUBLE_COMMAND(row, "later status");
    trouble_put(row->host, sizeof row->host, "%s", host->name);
    row->count = 1;
}

void later_trouble_host(struct later_troubles *troubles, const struct later_trouble_host *host)
{
    double gone = host->now - host->seen;
    struct later_trouble spare, *row;
    char age[LATER_SAY_SIZE];

    if (gone <= LATER_TROUBLE_GONE) {
        trouble_host_fault(troubles, host);
        trouble_over(troubles, host);
        return;
    }
    if (host->back || gone > LATER_TROUBLE_LOST)
        return;
    row = trouble_add(troubles, LATER_RULE_HOST_LOST, &spare,
                      "%.60s vanished %s ago, with %" PRId64 " running job%s", host->name,
                      later_say_age(age, gone), host->running, host->running == 1 ? "" : "s");
    TROUBLE_WHY(row,
                "its laterd did not say that it stops; its jobs come back when their leases end");
    TROUBLE_COMMAND(row, "systemctl status laterd");
    trouble_put(row->host, sizeof row->host, "%s", host->name);
    row->since = host->seen;
    row->count = host->running;
}

void later_trouble_alive(struct later_troubles *troubles, const struct later_trouble_alive *alive)
{
    struct later_trouble spare, *row;
    char age[LATER_SAY_SIZE], count[LATER_SAY_SIZE];

    if (alive->alive != 0)
        return;
    row = trouble_add(troubles, LATER_RULE_NO_LATERD, &spare, "no laterd is alive, %s job%s wait%s",
                      later_say_count(count, alive->waiting), alive->waiting == 1 ? "" : "s",
                      alive->waiting == 1 ? "s" : "");
    if (alive->last_seen > 0)
        TROUBLE_WHY(row, "%.60s was the last, %s ago", alive->last,
                    later_say_age(age, alive->now - alive->last_seen));
    else
        TROUBLE_WHY(row, "each one has stopped, or none has ever started");
    TROUBLE_COMMAND(row, "systemctl start laterd");
    row->since = alive->last_seen;
    row->count = alive->waiting;
}

/* --- a queue --- */

/* Flows over several queues: what one has to tell another goes only where both are served. */
static void trouble_unmoved(struct later_troubles *troubles,
                            const struct later_trouble_queue *queue)
{
    struct later_trouble spare, *row;

    if (queue->alive <= 0 || queue->news == 0 ||
        queue->now - queue->news_since < LATER_TROUBLE_UNSERVED)
        return;
    row =
        trouble_add(troubles, LATER_RULE_QUEUE_UNSERVED, &spare,
                    "nobody serves %s, and flows in %s stand still", queue->news_for, queue->name);
    TROUBLE_WHY(
        row, "no laterd that is alive has it in `queues`: is it mistyped, or not in laterd.conf?");
    TROUBLE_COMMAND(row, "later flow; systemctl reload laterd");
    trouble_in(row, queue->name, queue->news_since, queue->news);
}

static void trouble_unserved(struct later_troubles *troubles,
                             const struct later_trouble_queue *queue)
{
    char count[LATER_SAY_SIZE];
    struct later_trouble spare, *row;

    if (queue->served != 0 || queue->alive <= 0 || queue->ready == 0 ||
        queue->oldest < LATER_TROUBLE_UNSERVED) {
        trouble_unmoved(troubles, queue);
        return;
    }
    row = trouble_add(troubles, LATER_RULE_QUEUE_UNSERVED, &spare,
                      "nobody serves %s, %s job%s ready", queue->name,
                      later_say_count(count, queue->ready), queue->ready == 1 ? " is" : "s are");
    TROUBLE_WHY(
        row, "no laterd that is alive has it in `queues`: is it mistyped, or not in laterd.conf?");
    TROUBLE_COMMAND(row, "later size %s; systemctl reload laterd", queue->name);
    trouble_in(row, queue->name, queue->now - queue->oldest, queue->ready);
}

static void trouble_behind(struct later_troubles *troubles, const struct later_trouble_queue *queue)
{
    char count[LATER_SAY_SIZE], age[LATER_SAY_SIZE], empty[LATER_SAY_SIZE];
    struct later_trouble spare, *row;

    if (queue->oldest < LATER_TROUBLE_BEHIND || queue->paused || queue->served == 0)
        return;
    row = trouble_add(troubles, LATER_RULE_BEHIND, &spare, "%s is %s behind, %s ready", queue->name,
                      later_say_age(age, queue->oldest), later_say_count(count, queue->ready));
    if (queue->rate > 0)
        TROUBLE_WHY(row, "%.1f a second run: empty in %s if nothing is added", queue->rate,
                    later_say_age(empty, (double)queue->ready / queue->rate));
    else
        TROUBLE_WHY(row, "none has run in the last minutes");
    TROUBLE_COMMAND(row, "later history %s; later top", queue->name);
    trouble_in(row, queue->name, queue->now - queue->oldest, queue->ready);
}

static void trouble_paused(struct later_troubles *troubles, const struct later_trouble_queue *queue)
{
    double pause = queue->paused_since > 0 ? queue->now - queue->paused_since : queue->oldest;
    char count[LATER_SAY_SIZE], age[LATER_SAY_SIZE];
    struct later_trouble spare, *row;

    if (!queue->paused || queue->ready == 0 || pause < LATER_TROUBLE_PAUSED)
        return;
    row = trouble_add(troubles, LATER_RULE_PAUSED_LONG, &spare, "%s is paused for %s, %s wait%s",
                      queue->name, later_say_age(age, pause), later_say_count(count, queue->ready),
                      queue->ready == 1 ? "s" : "");
    if (queue->paused_by[0])
        TROUBLE_WHY(row, "%s has paused it%s", queue->paused_by,
                    queue->paused_until > 0 ? ", for a time" : "");
    else
        TROUBLE_WHY(row, "nobody said who paused it");
    TROUBLE_COMMAND(row, "later resume %s", queue->name);
    trouble_in(row, queue->name, queue->paused_since, queue->ready);
}

static void trouble_type_paused(struct later_troubles *troubles,
                                const struct later_trouble_queue *queue)
{
    const struct later_override *pause = queue->type_pause;
    char count[LATER_SAY_SIZE], age[LATER_SAY_SIZE];
    struct later_trouble spare, *row;

    if (!pause || queue->type_kept == 0 || queue->now - pause->since < LATER_TROUBLE_PAUSED)
        return;
    row = trouble_add(troubles, LATER_RULE_PAUSED_LONG, &spare,
                      "%s: the type %s is paused for %s, %s wait%s", queue->name,
                      later_override_type(pause), later_say_age(age, queue->now - pause->since),
                      later_say_count(count, queue->type_kept), queue->type_kept == 1 ? "s" : "");
    if (pause->who[0])
        TROUBLE_WHY(row, "%s has paused it%s%s%.100s", pause->who,
                    pause->until > 0 ? ", for a time" : "", pause->words[0] ? ": " : "",
                    pause->words);
    else
        TROUBLE_WHY(row, "nobody said who paused it");
    TROUBLE_COMMAND(row, "later resume %s --type '%s'", queue->name, later_override_type(pause));
    trouble_in(row, queue->name, pause->since, queue->type_kept);
}

static void trouble_dead(struct later_troubles *troubles, const struct later_trouble_queue *queue)
{
    char count[LATER_SAY_SIZE], all[LATER_SAY_SIZE], age[LATER_SAY_SIZE];
    struct later_trouble spare, *row;

    if (queue->died == 0)
        return;
    row =
        trouble_add(troubles, LATER_RULE_DEAD_GROWING, &spare, "%s job%s died in %s",
                    later_say_count(count, queue->died), queue->died == 1 ? "" : "s", queue->name);
    TROUBLE_WHY(row, "within %s; %s %s dead there", later_say_age(age, LATER_TROUBLE_DEAD),
                later_say_count(all, queue->dead), queue->dead == 1 ? "is" : "are");
    TROUBLE_COMMAND(row, "later peek %s --state dead", queue->name);
    trouble_in(row, queue->name, queue->died_since, queue->died);
}

/* As many as have room beside the rest of the line: `a, b, …`. */
static const char *trouble_types(char out[TYPES_SIZE], const struct later_trouble_queue *queue)
{
    size_t len = 0;

    for (size_t i = 0; i < queue->unknown_type_count; i++) {
        const char *type = queue->unknown_types[i];

        if (i > 0 && len + strlen(type) > NAMED) {
            strcpy(out + len, ", …");
            break;
        }
        len += (size_t)snprintf(out + len, TYPES_SIZE - len, "%s%.60s", i ? ", " : "", type);
    }
    return out;
}

static void trouble_unknown(struct later_troubles *troubles,
                            const struct later_trouble_queue *queue)
{
    struct later_trouble spare, *row;
    char types[TYPES_SIZE] = "";

    if (queue->unknown == 0)
        return;
    row = trouble_add(troubles, LATER_RULE_TYPE_UNKNOWN, &spare, "nobody has the type%s %s of %s",
                      queue->unknown_type_count > 1 ? "s" : "", trouble_types(types, queue),
                      queue->name);
    TROUBLE_WHY(row,
                "no plugin or program of the hosts that serve it has that type: is it mistyped, "
                "or was laterd not reloaded?");
    TROUBLE_COMMAND(row, "later search -q %s --kind unknown", queue->name);
    if (queue->unknown_type_count > 0)
        trouble_put(row->type, sizeof row->type, "%s", queue->unknown_types[0]);
    trouble_in(row, queue->name, queue->unknown_since, queue->unknown);
}

static void trouble_elsewhere(struct later_troubles *troubles,
                              const struct later_trouble_queue *queue)
{
    struct later_trouble spare, *row;

    if (queue->elsewhere == 0)
        return;
    row = trouble_add(troubles, LATER_RULE_TYPE_ELSEWHERE, &spare,
                      "hosts of %s without the type %.48s hand its jobs round", queue->name,
                      queue->elsewhere_type);
    TROUBLE_WHY(row, "the host that has it is busy; each time the pause until one looks again is "
                     "longer: give types that not all hosts have a queue of their own");
    TROUBLE_COMMAND(row, "later search -q %s --kind unknown", queue->name);
    trouble_put(row->type, sizeof row->type, "%s", queue->elsewhere_type);
    trouble_in(row, queue->name, queue->elsewhere_since, queue->elsewhere);
}

static void trouble_missed(struct later_troubles *troubles, const struct later_trouble_queue *queue)
{
    struct later_trouble spare, *row;
    char age[LATER_SAY_SIZE];

    if (queue->missed == 0)
        return;
    row = trouble_add(troubles, LATER_RULE_SCHEDULE_MISSED, &spare, "%.60s of %s is %s late",
                      queue->missed_name, queue->name,
                      later_say_age(age, queue->now - queue->missed_at));
    TROUBLE_WHY(row, "a laterd that serves %s should have pushed it", queue->name);
    TROUBLE_COMMAND(row, "later cron -q %s", queue->name);
    trouble_in(row, queue->name, queue->missed_at, queue->missed);
}

static void trouble_blocked(struct later_troubles *troubles,
                            const struct later_trouble_queue *queue)
{
    struct later_trouble spare, *row;

    if (queue->blocked == 0)
        return;
    row = trouble_add(troubles, LATER_RULE_FLOW_BLOCKED, &spare, "flow %s of %s is blocked",
                      queue->blocked_name, queue->name);
    TROUBLE_WHY(row, "all that is left waits for a dead job, which a kick lets go on");
    TROUBLE_COMMAND(row, "later flow -q %s --state blocked", queue->name);
    trouble_in(row, queue->name, queue->blocked_since, queue->blocked);
}

static void trouble_overdue(struct later_troubles *troubles,
                            const struct later_trouble_queue *queue)
{
    struct later_trouble spare, *row;
    char count[LATER_SAY_SIZE];

    if (queue->overdue == 0)
        return;
    row = trouble_add(troubles, LATER_RULE_OVER_TIME, &spare, "%s reservation%s of %s %s over",
                      later_say_count(count, queue->overdue), queue->overdue == 1 ? "" : "s",
                      queue->name, queue->overdue == 1 ? "is" : "are");
    TROUBLE_WHY(row, "whoever had these jobs is gone, and no laterd has returned them");
    TROUBLE_COMMAND(row, "later size %s; later status", queue->name);
    trouble_in(row, queue->name, 0, queue->overdue);
}

void later_trouble_queue(struct later_troubles *troubles, const struct later_trouble_queue *queue)
{
    trouble_unserved(troubles, queue);
    trouble_unknown(troubles, queue);
    trouble_elsewhere(troubles, queue);
    trouble_behind(troubles, queue);
    trouble_dead(troubles, queue);
    trouble_overdue(troubles, queue);
    trouble_missed(troubles, queue);
    trouble_blocked(troubles, queue);
    trouble_paused(troubles, queue);
    trouble_type_paused(troubles, queue);
}

void later_trouble_type(struct later_troubles *troubles, const struct later_trouble_type *type)
{
    double part = type->attempts > 0 ? (double)type->failed / (double)type->attempts : 0;
    double usual =
        type->usual_attempts > 0 ? (double)type->usual_failed / (double)type->usual_attempts : 0;
    struct later_trouble spare, *row;

    if (type->attempts < LATER_TROUBLE_ATTEMPTS || part <= LATER_TROUBLE_FAILING ||
        part <= 2 * usual)
        return;
    row = trouble_add(troubles, LATER_RULE_FAILING, &spare,
                      "%.60s in %s: %.0f %% of %" PRIu64 " attempts fail", type->name, type->queue,
                      100 * part, type->attempts);
    TROUBLE_WHY(row, "usually %.1f %% of it fail", 100 * usual);
    TROUBLE_COMMAND(row, "later search -q %s --type %.80s --attempts '>0'", type->queue,
                    type->name);
    trouble_put(row->type, sizeof row->type, "%s", type->name);
    trouble_in(row, type->queue, type->since, (int64_t)type->failed);
}
