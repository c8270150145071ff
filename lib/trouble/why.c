/* why.c: why a job that waits does not run. */
#include "trouble/why.h"

#include "trouble/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SOON 60.0 /* seconds: an expiry as near as that is told */

const struct later_reason_row later_reasons[LATER_WHYS] = {
    [LATER_WHY_RUNNING] = { "running", "a worker has it" },
    [LATER_WHY_DEAD] = { "dead", "it was buried, and nobody runs it until it is kicked" },
    [LATER_WHY_FLOW] = { "flow", "it waits for steps of its flow" },
    [LATER_WHY_BLOCKED] = { "flow_blocked", "a step that it waits for is dead" },
    [LATER_WHY_LOCK] = { "lock", "it waits for a lock that another holds" },
    [LATER_WHY_MAX_RUNNING] = { "max_running", "as many jobs of its type or queue run as may" },
    [LATER_WHY_LIMIT] = { "limit", "a limit of its type or queue is used up" },
    [LATER_WHY_TYPE_UNKNOWN] = { "type_unknown", "no host that serves its queue has its type" },
    [LATER_WHY_ELSEWHERE] = { "type_elsewhere",
                              "a host without its type gave it back; another one has that" },
    [LATER_WHY_RETURNED] = { "returned", "its handler gave it back" },
    [LATER_WHY_RETRY] = { "retry", "it failed, and waits for its next attempt" },
    [LATER_WHY_DUE] = { "due", "it is not due yet" },
    [LATER_WHY_EXPIRED] = { "expired", "its time is over: it is dropped, and not run" },
    [LATER_WHY_NO_LATERD] = { "no_laterd", "no laterd is alive" },
    [LATER_WHY_HOST_LOST] = { "host_lost", "the hosts that served its queue are gone" },
    [LATER_WHY_UNSERVED] = { "queue_unserved",
                             "no laterd serves its queue, or another of its flow" },
    [LATER_WHY_PAUSED] = { "paused", "its queue is paused" },
    [LATER_WHY_TYPE_PAUSED] = { "type_paused", "its type is paused" },
    [LATER_WHY_QUIET] = { "quiet", "each host that serves its queue is quiet" },
    [LATER_WHY_REDIS_FULL] = { "redis_full", "Redis has no memory left" },
    [LATER_WHY_REDIS_DISK] = { "redis_disk", "Redis cannot write to its disk" },
    [LATER_WHY_FAULT] = { "fault", "each laterd that serves its queue has a fault" },
    [LATER_WHY_AHEAD] = { "ahead", "others are ahead of it" },
    [LATER_WHY_SUSPECT] = { "suspect", "it ran beside others in a crash, and must run alone" },
    [LATER_WHY_BUSY] = { "busy", "all workers have something to do" },
    [LATER_WHY_MOVES] = { "moves", "it is due: a laterd makes it ready within a second" },
    [LATER_WHY_NEXT] = { "next", "nothing is ahead of it" },
    [LATER_WHY_EXPIRES] = { "expires", "it will soon be dropped if it has not begun" },
};

/* --- the texts --- */

struct why_list {
    const struct later_why_facts *facts;
    struct later_why *whys;
    size_t count;
};

/* Adds a reason. The caller fills in the rest; what there is no room for goes nowhere. */
static struct later_why *why_add(struct why_list *list, enum later_reason reason,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

static struct later_why *why_add(struct why_list *list, enum later_reason reason,
                                 const char *format, ...)
{
    struct later_why *why =
        &list->whys[list->count < LATER_WHYS_MAX ? list->count++ : LATER_WHYS_MAX - 1];
    va_list args;

    *why = (struct later_why){ .reason = reason, .count = -1 };
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return why;
}

static void why_name(char *to, size_t room, const char *name)
{
    snprintf(to, room, "%s", name);
}

/* Cuts an error's text for a line. */
static int why_cut(const char *text)
{
    size_t len = strcspn(text, "\n");

    return len < 200 ? (int)len : 200;
}

/* A worker's lock says HOST QUEUE ID, any other what its owner likes. */
static void why_owner(char out[LATER_WHY_SIZE - 150], const char *owner)
{
    char host[80], queue[80], id[160], more[2];

    if (sscanf(owner, "%79s %79s %159s %1s", host, queue, id, more) == 3)
        snprintf(out, LATER_WHY_SIZE - 150, "job %s on %s", id, host);
    else
        snprintf(out, LATER_WHY_SIZE - 150, "%.200s", owner);
}

/* The group whose permits it waits for (`group:QUEUE:GROUP`, laterd.conf(5)), "" for jobs without
 * one; NULL: for something else. */
static const char *why_group(const struct later_why_facts *facts)
{
    const char *name = facts->line.name;
    size_t len = strlen(facts->queue);

    if (facts->line.what != LATER_WHY_MAX_RUNNING || strncmp(name, "group:", 6) != 0)
        return NULL;
    name += 6;
    return strncmp(name, facts->queue, len) == 0 && name[len] == ':' ? name + len + 1 : NULL;
}

/* What it waits for, and who has that. */
static struct later_why *why_wait(struct why_list *list, const char *held, const char *where)
{
    const struct later_why_facts *facts = list->facts;
    const char *group = why_group(facts);

    if (group)
        return why_add(list, facts->line.what, "%s%.64s %s %" PRId64 " of %" PRId64 " running%s",
                       *group ? "its group " : "jobs without a group", group,
                       *group ? "has" : "have", facts->line.held, facts->line.max, where);
    return why_add(list, facts->line.what, "waits for %s %.100s%.280s%s",
                   facts->line.what == LATER_WHY_LOCK    ? "the lock"
                   : facts->line.what == LATER_WHY_LIMIT ? "the limit"
                                                         : "max_running of",
                   facts->line.name, held, where);
}

static void why_line(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    char where[LATER_SAY_SIZE + LATER_SAY_BY + 48] = ": it is its turn", nth[LATER_SAY_SIZE];
    const struct later_override *set = facts->line.set;
    char by[LATER_SAY_BY];
    char held[LATER_WHY_SIZE] = "", age[LATER_SAY_SIZE], owner[LATER_WHY_SIZE - 150];
    struct later_why *why;

    why_owner(owner, facts->line.owner);
    if (facts->line.nth > 0)
        snprintf(where, sizeof where, ", %s in line", later_say_nth(nth, facts->line.nth));
    if (set)
        snprintf(where + strlen(where), sizeof where - strlen(where), "; that was set%s",
                 later_say_by(by, set->who, set->since, set->until, facts->now));
    if (facts->line.what == LATER_WHY_LOCK && facts->line.owner[0])
        snprintf(held, sizeof held, ", held by %s for %s", owner,
                 later_say_age(age, fmax(facts->now - facts->line.since, 0)));
    else if (facts->line.what == LATER_WHY_MAX_RUNNING && facts->line.max > 0)
        snprintf(held, sizeof held, ": %" PRId64 " of %" PRId64 " run", facts->line.held,
                 facts->line.max);
    else if (facts->line.what == LATER_WHY_LIMIT && facts->line.opens > facts->now)
        snprintf(held, sizeof held, ", which opens in %s",
                 later_say_age(age, facts->line.opens - facts->now));
    why = why_wait(list, held, where);
    why_name(why->thing, sizeof why->thing, facts->line.name);
    why_name(why->by, sizeof why->by, facts->line.owner);
    why->since = facts->line.since;
    why->until = facts->line.opens;
    why->count = facts->line.nth;
}

static struct later_why *why_steps(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    char many[80] = "";

    if (facts->flow.all > 1)
        snprintf(many, sizeof many, "%" PRIu64 " of %" PRIu64 ": ", facts->flow.unmet,
                 facts->flow.all);
    return why_add(list, facts->flow.dead > 0 ? LATER_WHY_BLOCKED : LATER_WHY_FLOW,
                   "waits for %s%.250s%s%.64s", many, facts->flow.steps,
                   facts->flow.name[0] ? " in flow " : "other jobs", facts->flow.name);
}

/* What one queue of a flow has to tell another goes only where both are served. */
static void why_flow_unserved(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    struct later_why *why;

    if (facts->alive <= 0 || !facts->flow.unserved[0])
        return;
    why = why_add(list, LATER_WHY_UNSERVED, "no laterd serves %s, and flow %.64s needs it",
                  facts->flow.unserved, facts->flow.name);
    why_name(why->thing, sizeof why->thing, facts->flow.unserved);
}

static void why_flow(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    struct later_why *why;

    if (facts->flow.home[0] && facts->flow.all == 0)
        why = why_add(list, LATER_WHY_FLOW, "waits for flow %.64s of %s to let it run",
                      facts->flow.name, facts->flow.home);
    else
        why = why_steps(list);
    why_name(why->thing, sizeof why->thing, facts->flow.name);
    why->count = (int64_t)facts->flow.unmet;
    why_flow_unserved(list);
}

/* --- a delayed job --- */

/* It comes back again and again, so it may be ready for a moment. */
static void why_unknown(struct why_list *list, double wait)
{
    const struct later_why_facts *facts = list->facts;
    char at[LATER_SAY_SIZE], in[LATER_SAY_SIZE];
    struct later_why *why;

    later_say_age(in, fmax(wait, 0));
    if (facts->elsewhere)
        why = why_add(list, LATER_WHY_ELSEWHERE,
                      "a host without the type %s gave it back, another one has that; "
                      "asked again in %s",
                      facts->type, in);
    else
        why = why_add(list, LATER_WHY_TYPE_UNKNOWN,
                      "no host that serves %s has the type %s, since %s; asked again in %s",
                      facts->queue, facts->type,
                      later_say_since(at, facts->unknown_since, facts->now), in);
    why_name(why->thing, sizeof why->thing, facts->type);
    why->since = facts->unknown_since;
    why->until = wait > 0 ? facts->score : 0;
}

static void why_delayed(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    double wait = facts->score - facts->now;
    char in[LATER_SAY_SIZE], at[LATER_SAY_SIZE];
    struct later_why *why;

    later_say_age(in, fabs(wait));
    if (facts->line.what != LATER_WHY_RUNNING) {
        why_line(list);
        return;
    }
    if (facts->unknown_since > 0) {
        why_unknown(list, wait);
        return;
    }
    if (wait <= 0) {
        if (facts->serving != 0)
            why_add(list, LATER_WHY_MOVES, "due %s ago: a laterd makes it ready within a second",
                    in)
                ->since = facts->score;
        return;
    }
    if (strcmp(facts->error_kind, "return") == 0) {
        why = why_add(list, LATER_WHY_RETURNED, "its handler gave it back: %.*s; again in %s",
                      why_cut(facts->error_text), facts->error_text, in);
    } else if (facts->attempts > 0 && facts->error_kind[0]) {
        why = why_add(list, LATER_WHY_RETRY, "attempt %" PRIu64 " in %s, after %s: %.*s",
                      (uint64_t)facts->attempts + 1, in, facts->error_kind,
                      why_cut(facts->error_text), facts->error_text);
        why->count = (int64_t)facts->attempts;
    } else {
        why = why_add(list, LATER_WHY_DUE, "due in %s, at %s", in,
                      later_say_since(at, facts->score, facts->now));
    }
    why->until = facts->score;
}

/* --- what holds all jobs of a queue --- */

static void why_lost(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    char age[LATER_SAY_SIZE];
    struct later_why *why;

    later_say_age(age, fmax(facts->now - facts->lost_since, 0));
    if (facts->alive == 0)
        why = facts->lost[0]
                  ? why_add(list, LATER_WHY_NO_LATERD,
                            "no laterd is alive; %.100s was the last, %s ago", facts->lost, age)
                  : why_add(list, LATER_WHY_NO_LATERD, "no laterd is alive");
    else if (facts->lost[0])
        why = why_add(list, LATER_WHY_HOST_LOST,
                      "no laterd serves %s any more: %.100s was not seen for %s", facts->queue,
                      facts->lost, age);
    else
        why = why_add(list, LATER_WHY_UNSERVED, "no laterd serves %s", facts->queue);
    why_name(why->thing, sizeof why->thing, facts->lost[0] ? facts->lost : facts->queue);
    why->since = facts->lost[0] ? facts->lost_since : 0;
}

static void why_paused(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    char by[LATER_SAY_BY];
    struct later_why *why;

    why = why_add(
        list, LATER_WHY_PAUSED, "%s is paused%s", facts->queue,
        later_say_by(by, facts->paused_by, facts->paused_since, facts->paused_until, facts->now));
    why_name(why->thing, sizeof why->thing, facts->queue);
    why_name(why->by, sizeof why->by, facts->paused_by);
    why->since = facts->paused_since;
    why->until = facts->paused_until;
}

/* Jobs of its type are not begun. */
static void why_type_paused(struct why_list *list)
{
    const struct later_override *pause = list->facts->type_pause;
    char by[LATER_SAY_BY];
    struct later_why *why;

    why = why_add(list, LATER_WHY_TYPE_PAUSED, "its type is paused%s%s%.100s",
                  later_say_by(by, pause->who, pause->since, pause->until, list->facts->now),
                  pause->words[0] ? ": " : "", pause->words);
    why_name(why->thing, sizeof why->thing, later_override_type(pause));
    why_name(why->by, sizeof why->by, pause->who);
    why->since = pause->since;
    why->until = pause->until;
}

static void why_quiet(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    char by[LATER_SAY_BY];
    struct later_why *why;

    why = why_add(list, LATER_WHY_QUIET, "%s%.100s is quiet%s",
                  facts->serving > 1 ? "each host that serves it is quiet: " : "", facts->quiet,
                  later_say_by(by, facts->quiet_by, facts->quiet_since, 0, facts->now));
    why_name(why->thing, sizeof why->thing, facts->quiet);
    why_name(why->by, sizeof why->by, facts->quiet_by);
    why->since = facts->quiet_since;
}

/* Does something hold all jobs of its queue? */
static bool why_queue(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    size_t before = list->count;
    bool full = facts->full[0] || facts->disk[0];

    /* A laterd that cannot write cannot say that it is alive either. */
    if (facts->serving == 0 && !full)
        why_lost(list);
    if (facts->paused)
        why_paused(list);
    if (facts->type_pause && !facts->kept)
        why_type_paused(list);
    if (facts->serving > 0 && facts->quiet[0])
        why_quiet(list);
    if (facts->full[0])
        why_add(list, LATER_WHY_REDIS_FULL, "Redis has no memory left, %s are used", facts->full);
    else if (facts->disk[0])
        why_add(list, LATER_WHY_REDIS_DISK, "Redis refuses writes: %s", facts->disk);
    if (facts->serving > 0 && facts->fault[0])
        why_add(list, LATER_WHY_FAULT, "each laterd that serves %s has a fault: %.200s",
                facts->queue, facts->fault);
    return list->count > before;
}

/* --- a ready job --- */

static double why_turn(const struct later_why_facts *facts)
{
    return facts->ahead >= 0 && facts->rate > 0 ? (double)facts->ahead / facts->rate : -1;
}

static bool why_busy(const struct later_why_facts *facts)
{
    return facts->serving > 0 && facts->workers > 0 && facts->runs >= facts->workers;
}

static void why_ahead(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    double turn = why_turn(facts);
    char count[LATER_SAY_SIZE], age[LATER_SAY_SIZE];
    struct later_why *why;

    later_say_count(count, facts->ahead);
    if (turn >= 0)
        why = why_add(list, LATER_WHY_AHEAD, "%s ahead of it, about %s", count,
                      later_say_age(age, turn));
    else
        why = why_add(list, LATER_WHY_AHEAD, "%s ahead of it%s", count,
                      facts->rate >= 0 ? ", and none has run in the last minutes" : "");
    why->count = facts->ahead;
    why->until = turn >= 0 ? facts->now + turn : 0;
}

static void why_ready(struct why_list *list, bool held)
{
    const struct later_why_facts *facts = list->facts;

    if (facts->ahead > 0)
        why_ahead(list);
    if (held)
        return;
    if (facts->suspect)
        why_add(list, LATER_WHY_SUSPECT,
                "it ran beside others when their worker crashed, and waits until it can run alone");
    if (why_busy(facts)) {
        why_add(list, LATER_WHY_BUSY,
                "all workers are busy: %" PRId64 " of %" PRId64 " that serve %s run a job",
                facts->workers, facts->workers, facts->queue)
            ->count = facts->workers;
    } else if (facts->ahead == 0 && !facts->suspect) {
        why_add(list, LATER_WHY_NEXT, "it is next");
    }
}

/* --- all of them --- */

static void why_expires(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    double left = facts->expires_at - facts->now, turn = why_turn(facts);
    char age[LATER_SAY_SIZE];
    struct later_why *why;

    later_say_age(age, fabs(left));
    if (left <= 0)
        why = why_add(list, LATER_WHY_EXPIRED, "expired %s ago: it is dropped when its turn comes",
                      age);
    else if (left <= SOON || turn > left ||
             (strcmp(facts->state, "delayed") == 0 && facts->score > facts->expires_at))
        why = why_add(list, LATER_WHY_EXPIRES, "expires in %s", age);
    else
        return;
    why->until = facts->expires_at;
}

static void why_waits(struct why_list *list)
{
    const struct later_why_facts *facts = list->facts;
    bool held;

    if (facts->expires_at > 0 && facts->expires_at <= facts->now)
        why_expires(list);
    if (strcmp(facts->state, "waiting") == 0)
        why_flow(list);
    else if (facts->type_pause && facts->kept)
        why_type_paused(list);
    else if (strcmp(facts->state, "delayed") == 0)
        why_delayed(list);
    else if (facts->unknown_since > 0)
        why_unknown(list, 0);
    held = why_queue(list);
    if (strcmp(facts->state, "ready") == 0)
        why_ready(list, held);
    if (facts->expires_at > facts->now)
        why_expires(list);
}

size_t later_why_find(const struct later_why_facts *facts, struct later_why whys[LATER_WHYS_MAX])
{
    struct why_list list = { .facts = facts, .whys = whys };
    char at[LATER_SAY_SIZE];

    if (strcmp(facts->state, "reserved") == 0)
        why_add(&list, LATER_WHY_RUNNING, "a worker has it%s",
                facts->again ? "; it was pushed again, and runs once more after that" : "");
    else if (strcmp(facts->state, "dead") == 0)
        why_add(&list, LATER_WHY_DEAD, "dead since %s: `later kick` makes it ready",
                later_say_since(at, facts->score, facts->now))
            ->since = facts->score;
    else if (strcmp(facts->state, "done") != 0)
        why_waits(&list);
    return list.count;
}
