/* locks.c: `later lock` without words lists the locks, permits and limits in use. */
#include "lock/lock.h"

#include "cli.h"
#include "output/jsonl.h"
#include "queue/held.h"
#include "queue/inspect.h"
#include "queue/lock.h"
#include "queues/laid.h"
#include "status/served.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAGES_MAX     1000000 /* pages of a SCAN; one that has not ended by then never will */
#define LINE_MOST     1000
#define LOCKS_WAITERS 10 /* how many are named */

/* One lock, permit or limit. It borrows from the replies. */
struct held {
    enum later_held kind;
    char name[LATER_HELD_NAME];
    int64_t count, waiting;
    double left, since; /* seconds; UNIX time; < 0 = not known */
    const char *owner;  /* "" = not known */
    uint64_t fence;     /* 0 = none */
    int64_t max;        /* how many may have it, as a laterd says that is alive; 0 = not known */
    double per, opens;  /* of a limit: seconds; seconds until it opens, 0 = now; < 0 = not known */
    double set;         /* since when these are not the configured ones; 0 = they are */
    struct later_reply *lock, *line;
    const char *waiters[LOCKS_WAITERS]; /* the first of those that wait */
    size_t named;
};

/* --- looking --- */

/* One run of the command. */
struct locks {
    struct cli *cli;
    const char *prefix;
    double now;            /* Redis's clock */
    struct served *served; /* owned */
    struct laid laid;      /* the numbers that are set */
    struct table table;
};

/* Reads a number, 0 if there is none. Returns 0, or -1 with *err. */
static int ask_number(const struct locks *locks, struct later_command *cmd, int64_t *number,
                      struct later_error *err)
{
    struct later_reply *reply = cli_call(locks->cli, cmd, err);

    *number = later_reply_int(reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

static int look_at_lock(const struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_lock_seen seen;

    later_lock_look(&cmd, locks->prefix, held->name);
    held->lock = cli_call(locks->cli, &cmd, err);
    if (!held->lock)
        return -1;
    later_lock_seen(held->lock, &seen);
    held->count = seen.held;
    held->fence = seen.fence;
    if (seen.held) {
        held->left = seen.left;
        held->since = seen.since;
        held->owner = seen.owner;
    }
    return 0;
}

static int look_at_permit(const struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };
    struct later_reply *reply;

    later_held_holders(&count, locks->prefix, held->name, locks->now);
    if (ask_number(locks, &count, &held->count, err) < 0)
        return -1;
    later_held_first_end(&first, locks->prefix, held->name, locks->now);
    reply = cli_call(locks->cli, &first, err);
    if (!reply)
        return -1;
    if (later_reply_count(reply) == 2)
        held->left = later_reply_seconds(later_reply_at(reply, 1), locks->now) - locks->now;
    later_reply_free(reply);
    return 0;
}

static int look_at_limit(const struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command used = { 0 }, left = { 0 }, oldest = { 0 };
    struct later_reply *reply;
    int64_t ms;

    later_held_used(&used, locks->prefix, held->kind, held->name);
    later_held_left(&left, locks->prefix, held->name);
    if (ask_number(locks, &used, &held->count, err) < 0 || ask_number(locks, &left, &ms, err) < 0)
        return -1;
    held->left = ms < 0 ? -1 : (double)ms / 1000;
    if (held->kind == LATER_HELD_FIXED)
        return 0;
    later_held_oldest(&oldest, locks->prefix, held->name, held->count > held->max ? held->max : 0);
    reply = cli_call(locks->cli, &oldest, err);
    if (!reply)
        return -1;
    held->since = later_reply_seconds(reply, -1);
    later_reply_free(reply);
    return 0;
}

/* Of the waiters first … end, all of one queue: which of them are still in `delayed`? Others have
 * been cancelled, kicked or buried since. */
static int look_in_delayed(const struct locks *locks, struct held *held, size_t first, size_t end,
                           struct later_error *err)
{
    const char *waiter = later_reply_text_at(held->line, first);
    char queue[LATER_QUEUE_MAX + 1];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    snprintf(queue, sizeof queue, "%.*s", (int)strcspn(waiter, " "), waiter);
    if (!waiter[strcspn(waiter, " ")] || !later_key_shard_valid(queue))
        return 0; /* another program's */
    later_keys_init(&keys, locks->prefix, queue);
    later_inspect_scores(&cmd, &keys, LATER_KEY_DELAYED, end - first);
    for (size_t i = first; i < end; i++)
        later_command_text(&cmd, strchr(later_reply_text_at(held->line, i), ' ') + 1);
    reply = cli_call(locks->cli, &cmd, err);
    for (size_t i = first; reply && i < end; i++) {
        if (!*later_reply_text_at(reply, i - first))
            continue;
        held->waiting++;
        if (held->named < LOCKS_WAITERS)
            held->waiters[held->named++] = later_reply_text_at(held->line, i);
    }
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* Where the waiters of the same queue end. */
static size_t same_queue(const struct held *held, size_t first)
{
    const char *waiter = later_reply_text_at(held->line, first);
    size_t end = first + 1, len = strcspn(waiter, " ");

    while (waiter[len] && end < later_reply_count(held->line) &&
           strncmp(later_reply_text_at(held->line, end), waiter, len + 1) == 0)
        end++;
    return end;
}

/* The first LINE_MOST of a line are looked at; those after them are taken at its word. */
static int look_at_line(const struct locks *locks, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };
    size_t looked, end;
    int64_t all;

    later_held_waiting(&count, locks->prefix, held->kind, held->name);
    later_held_waiters(&first, locks->prefix, held->kind, held->name, LINE_MOST);
    if (ask_number(locks, &count, &all, err) < 0)
        return -1;
    held->line = cli_call(locks->cli, &first, err);
    looked = later_reply_count(held->line);
    for (size_t i = 0; held->line && i < looked; i = end) {
        end = same_queue(held, i);
        if (look_in_delayed(locks, held, i, end, err) < 0)
            return -1;
    }
    held->waiting += all > (int64_t)looked ? all - (int64_t)looked : 0;
    return held->line ? 0 : -1;
}

/* Set kind and name, and max, if it is known; this fills in the rest: who has it, since when, for
 * how long, who waits. It takes several commands, and things may change in between. now: Redis's
 * clock. Returns 0, or -1 with *err. locks_forget() is due in both cases. */
static int locks_look(const struct locks *locks, struct held *held, struct later_error *err)
{
    int ok;

    held->left = held->since = held->opens = -1;
    held->owner = "";
    ok = held->kind == LATER_HELD_LOCK     ? look_at_lock(locks, held, err)
         : held->kind == LATER_HELD_PERMIT ? look_at_permit(locks, held, err)
                                           : look_at_limit(locks, held, err);
    return ok < 0 ? -1 : look_at_line(locks, held, err);
}

static void locks_forget(struct held *held)
{
    later_reply_free(held->lock);
    later_reply_free(held->line);
}

/* --- how many may have it --- */

static void locks_find_max(const struct locks *locks, struct held *held)
{
    const json_t *need = served_needs(locks->served, later_held_word(held->kind), held->name);
    enum later_line_for what = held->kind == LATER_HELD_LOCK     ? LATER_LINE_LOCK
                               : held->kind == LATER_HELD_PERMIT ? LATER_LINE_PERMIT
                                                                 : LATER_LINE_LIMIT;
    struct later_numbers numbers;
    const struct later_override *set = laid_of_line(&locks->laid, what, held->name, &numbers);

    held->max = (int64_t)text_number_member(need, "max");
    held->per = text_number_member(need, "per");
    if (!need || !set)
        return;
    held->max = numbers.max;
    held->per = numbers.per > 0 ? numbers.per : held->per;
    held->set = set->since;
}

/* A fixed window ends when its key does. A sliding one opens when its oldest time is that long ago;
 * a time to come is of a job that has not begun. */
static void locks_find_opening(const struct locks *locks, struct held *held)
{
    if (held->kind == LATER_HELD_LOCK || held->kind == LATER_HELD_PERMIT || held->max <= 0)
        return;
    if (held->count < held->max)
        held->opens = 0;
    else if (held->kind == LATER_HELD_FIXED)
        held->opens = held->left;
    else if (held->since >= 0)
        held->opens = fmax(fmin(held->since, locks->now) + held->per - locks->now, 0);
}

/* --- printing --- */

static void locks_print_json(const struct held *held)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json, "kind:%s name:%s held:%jd remaining:%f since:%f owner:%s fence:%f waiting:%jd",
              later_held_word(held->kind), held->name, held->count,
              held->left >= 0 ? held->left : NAN, held->since >= 0 ? held->since : NAN,
              text_known(held->owner), held->fence ? (double)held->fence : NAN, held->waiting);
    jsonl_texts(&json, "waiters", held->waiters, held->named);
    jsonl_add(&json, "max:%f per:%f opens:%f set:%f", held->max > 0 ? (double)held->max : NAN,
              text_known_time(held->per), held->opens >= 0 ? held->opens : NAN,
              text_known_time(held->set));
    jsonl_end(&json);
}

static void locks_add_row(struct locks *locks, const struct held *held)
{
    struct table *table = &locks->table;

    table_text(table, PLAIN, later_held_word(held->kind));
    table_text(table, PLAIN, held->name);
    table_number(table, PLAIN, (uint64_t)held->count);
    table_known_age(table, PLAIN, held->since < 0 ? -1 : fmax(locks->now - held->since, 0));
    table_known_age(table, PLAIN, held->left);
    table_number(table, held->waiting ? YELLOW : PLAIN, (uint64_t)held->waiting);
    if (held->named)
        table_text(table, PLAIN, held->waiters[0]);
    else
        table_none(table);
    table_text(table, PLAIN, text_known(held->owner));
    if (held->max > 0)
        table_number(table, PLAIN, (uint64_t)held->max);
    else
        table_none(table);
    table_known_age(table, PLAIN, held->per > 0 ? held->per : -1);
    table_known_age(table, held->opens > 0 ? YELLOW : PLAIN, held->opens);
}

/* Prints the lock, permit or limit of a key that SCAN found. What has just ended is skipped. So is
 * a line whose lock or permit is held, because that is found by its own key. */
static int locks_tell(struct locks *locks, enum later_held kind, const char *key,
                      struct later_error *err)
{
    struct held held = { .kind = kind };
    bool waits;
    int ok;

    if (!later_held_name(held.name, key, &waits))
        return 0;
    locks_find_max(locks, &held);
    ok = locks_look(locks, &held, err);
    if (ok == 0 && (waits ? held.count == 0 && held.waiting > 0 : held.count > 0)) {
        locks_find_opening(locks, &held);
        if (locks->cli->json)
            locks_print_json(&held);
        else
            locks_add_row(locks, &held);
    }
    locks_forget(&held);
    return ok;
}

/* --- all of them --- */

static int tell_kind(struct locks *locks, size_t node, enum later_held kind,
                     struct later_error *err)
{
    char cursor[32] = "0";

    for (uint64_t pages = 0; pages < PAGES_MAX; pages++) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        const struct later_reply *keys;
        int ok = 0;

        later_held_scan(&cmd, locks->prefix, kind, cursor);
        reply = cli_call_node(locks->cli, node, &cmd, err);
        if (!reply)
            return -1;
        keys = later_inspect_scanned(reply, cursor);
        for (size_t i = 0; ok == 0 && i < later_reply_count(keys); i++)
            ok = locks_tell(locks, kind, later_reply_text_at(keys, i), err);
        later_reply_free(reply);
        if (ok < 0 || strcmp(cursor, "0") == 0)
            return ok;
    }
    return later_fail(err, LATER_E_REDIS, "Redis does not finish listing its keys");
}

int locks_run(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "KIND", "NAME",  ">HELD", ">FOR", ">LEFT",  ">WAITING",
                                            "NEXT", "OWNER", ">MAX",  ">PER", ">OPENS", NULL };
    struct locks locks = { .cli = cli };
    struct later_error ignored;
    int ok = 0;

    if (!cli_client(cli, err) || cli_clock(cli, &locks.now, err) < 0)
        return -1;
    locks.served = served_read(cli, err);
    if (!locks.served)
        return -1;
    laid_read_numbers(cli, &locks.laid, &ignored); /* who may not look sees what is configured */
    locks.prefix = later_call_prefix(cli->client);
    cli_table(cli, &locks.table, headings);
    for (int kind = 0; kind < LATER_HELD_COUNT; kind++) {
        for (size_t node = 0; ok == 0 && node < cli_nodes(cli); node++)
            ok = tell_kind(&locks, node, (enum later_held)kind, err);
    }
    if (ok == 0)
        cli_instead(cli, &locks.table, "no lock, limit or max_running is in use");
    table_end(&locks.table);
    served_free(locks.served);
    return ok;
}
