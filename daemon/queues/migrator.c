/* migrator.c: due and lapsed jobs become ready. */
#include "queues/migrator.h"

#include "base/clock.h"
#include "base/names.h"
#include "fault.h"
#include "link/calls.h"
#include "link/seek.h"
#include "log.h"
#include "timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS  0.8
#define TRIM_SECONDS  10.0
#define TOUCH_SECONDS 0.75   /* by then a keeper that was refused has tried again */
#define BACK_SECONDS  2.0    /* by then one that was cut off has a new connection (link.c) */
#define LEAST_WAIT    0.0005 /* a due time this close is waited for, not asked for again and again */

struct queue {
    struct migrator *migrator;
    struct later_keys keys;
    struct timer *timer;
    double next; /* when the timer is due */
    bool rests;  /* it had nothing: without a timer, the common look finds it; not on a Cluster */
    double lapse_from; /* INFINITY: it was refused, and not answered since */
    double sent;       /* the last call */
    double told;       /* later_clock(): the earliest due time heard of while asked; 0 = none */
    bool asked;
    double trimmed;
    struct fault refused, no_lapse;
};

struct migrator {
    struct event_base *base;
    const struct config *config;
    struct link *link; /* outlives us */
    struct calls *calls;
    struct later_names queues;
    struct timer *look; /* at the queues that rest */
    struct seek *seek;
    double look_at, trim_at; /* when it is due; from when on it looks for dead and done jobs, too */
    size_t called;           /* of those that rest: who was asked the time last */
    char *error;             /* of lapses */
    double lapse_from;
    bool met;      /* the link was up once */
    double offset; /* Redis's clock minus ours */
    bool paused;
    migrator_tick_fn *tick; /* NULL: nobody */
    void *tick_arg;
};

static void migrator_arm(struct queue *queue, double seconds)
{
    double wait = seconds > LEAST_WAIT ? seconds : LEAST_WAIT;

    queue->rests = false;
    queue->next = later_clock() + wait;
    timer_in(queue->timer, wait);
}

static double earliest(double a, double b)
{
    return b >= 0 && b < a ? b : a;
}

static void trim_dead(const struct queue *queue, const struct config *config)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_TRIM, &queue->keys, NULL, 0);
    later_command_int(&cmd, (int64_t)config->dead.max);
    later_command_seconds(&cmd, config->dead.days * 86400);
    later_command_int(&cmd, LATER_BATCH_MAX);
    link_send(queue->migrator->link, &cmd, LINK_TIMEOUT, NULL, NULL);
}

static void trim_done(const struct queue *queue, const struct config *config)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_TRIM_DONE, &queue->keys, NULL, 0);
    later_command_int(&cmd, config->keep.max);
    later_command_int(&cmd, LATER_BATCH_MAX);
    link_send(queue->migrator->link, &cmd, LINK_TIMEOUT, NULL, NULL);
}

static bool trims_dead(const struct config *config)
{
    return config->dead.max > 0 || config->dead.days > 0;
}

/* Does any type ask for it? */
static bool keeps_done(const struct config *config)
{
    for (uint32_t i = 0; i < config->type_count; i++) {
        if (config->types[i].keep > 0)
            return true;
    }
    return false;
}

static void migrator_trim(struct queue *queue)
{
    const struct config *config = queue->migrator->config;
    bool dead = trims_dead(config), done = keeps_done(config);
    double now = later_clock();

    if ((!dead && !done) || now - queue->trimmed < TRIM_SECONDS)
        return;
    queue->trimmed = now;
    if (dead)
        trim_dead(queue, config);
    if (done)
        trim_done(queue, config);
}

static void migrator_ask(struct queue *queue);

/* Leases that ran out before then are left to their keepers. */
static double lapse_from(const struct queue *queue)
{
    return fmax(queue->lapse_from, queue->migrator->lapse_from);
}

/* Longer than this nothing takes unless somebody stood still, Redis or we. Then keepers come first:
 * their leases have two thirds left at any time, so that a shorter standstill costs none. */
static double patience(const struct migrator *migrator)
{
    return migrator->config->lease / 6;
}

/* Nothing lapses until keepers have touched what they hold. */
static double keepers_first(const struct migrator *migrator, double now)
{
    return now + fmax(migrator->config->lease / 3, TOUCH_SECONDS);
}

static void leave_to_keepers(struct queue *queue, double now)
{
    queue->lapse_from = keepers_first(queue->migrator, now);
}

static void on_lapsed(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    int64_t jobs = later_reply_int(answer->reply);
    double now = later_clock();

    fault_judge(&queue->no_lapse, answer, LOG_WARN, "redis refuses to lapse leases of queue %s: %s",
                queue->keys.queue, answer->text);
    if (jobs > 0)
        log_line(LOG_WARN, "queue %s: the leases of %lld jobs ran out; they are ready again",
                 queue->keys.queue, (long long)jobs);
    else if (now - queue->sent > patience(queue->migrator))
        leave_to_keepers(queue, now);
    else /* touched meanwhile, or it cannot be: let others have their turn */
        queue->lapse_from = fmax(queue->lapse_from, now + TOUCH_SECONDS);
}

static void migrator_lapse(struct queue *queue, const struct later_reply *reply,
                           const struct later_migrated *migrated)
{
    struct migrator *migrator = queue->migrator;

    for (size_t i = 0; i < migrated->run_out; i++) {
        struct later_command cmd = { 0 };

        later_queue_lapse(&cmd, &queue->keys, later_queue_run_out(reply, i),
                          migrated->now + patience(migrator), migrator->error);
        calls_send(migrator->calls, &cmd, on_lapsed, queue);
    }
}

/* Until something of it is due. */
static double idle_seconds(const struct queue *queue, const struct later_migrated *migrated,
                           double now)
{
    double wait = earliest(LOOK_SECONDS, migrated->next_due);

    if (queue->told > 0) /* the push may have come after the call */
        wait = earliest(wait, fmax(queue->told - now, 0));
    if (migrated->next_lapse >= 0)
        wait = earliest(wait, fmax(migrated->next_lapse, lapse_from(queue) - now));
    return wait;
}

static void migrator_on_answer(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct migrator *migrator = queue->migrator;
    struct later_migrated migrated;
    double now = later_clock();

    queue->asked = false;
    fault_judge(&queue->refused, answer, LOG_WARN, "redis refuses to migrate queue %s: %s",
                queue->keys.queue, answer->text);
    if (answer->outcome != LATER_ANSWERED) {
        queue->lapse_from = INFINITY; /* touches may have been refused, too */
        migrator_arm(queue, LOOK_SECONDS);
        return;
    }
    if (isinf(queue->lapse_from) || now - queue->sent > patience(migrator))
        leave_to_keepers(queue, now);
    later_queue_migrated(answer->reply, &migrated);
    migrator->offset = migrated.now - now;
    if (migrator->tick)
        migrator->tick(migrator->tick_arg, queue->keys.queue, &migrated);
    if (now >= lapse_from(queue)) {
        migrator_lapse(queue, answer->reply, &migrated);
        link_flush(migrator->link);
    }
    if (migrated.promoted >= LATER_BATCH_MAX) {
        migrator_ask(queue);
        link_flush(migrator->link);
        return;
    }
    if (migrated.rests && queue->told <= 0 && !later_redis_is_cluster(link_redis(migrator->link))) {
        queue->rests = true;
        return;
    }
    migrator_arm(queue, idle_seconds(queue, &migrated, now));
}

static void migrator_ask(struct queue *queue)
{
    struct migrator *migrator = queue->migrator;
    struct later_command cmd = { 0 };
    double now = later_clock();

    if (queue->asked || migrator->paused || !link_is_up(migrator->link))
        return;
    later_queue_migrate(&cmd, &queue->keys, LATER_BATCH_MAX);
    queue->sent = now;
    queue->asked = calls_send(migrator->calls, &cmd, migrator_on_answer, queue) == 0;
    queue->rests = queue->rests && !queue->asked;
    queue->told = 0;
    migrator_trim(queue);
}

static void migrator_on_timer(void *arg)
{
    struct queue *queue = arg;
    double now = later_clock();

    if (now - queue->next > patience(queue->migrator))
        leave_to_keepers(queue, now);
    migrator_ask(queue);
    if (!queue->asked)
        migrator_arm(queue, LOOK_SECONDS);
    link_flush(queue->migrator->link);
}

/* --- queues that rest --- */

/* The keys that a resting queue is checked for; the last two only if something is trimmed. */
static const enum later_key stirring[] = { LATER_KEY_READY,  LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                           LATER_KEY_UNIQUE, LATER_KEY_CRON,    LATER_KEY_NEWS,
                                           LATER_KEY_AWAY,   LATER_KEY_DEAD,    LATER_KEY_DONE };
#define STIRRING (sizeof stirring / sizeof *stirring)

static struct queue *queue_at(const struct migrator *migrator, size_t i)
{
    return migrator->queues.items[i];
}

static const char *migrator_key_of(void *arg, uint32_t queue, unsigned k)
{
    return queue_at(arg, queue)->keys.name[stirring[k]];
}

static void migrator_look_again(struct migrator *migrator)
{
    migrator->look_at = later_clock() + LOOK_SECONDS;
    timer_in(migrator->look, LOOK_SECONDS);
}

/* Somebody stood still, Redis or we. */
static void leave_all_to_keepers(struct migrator *migrator, double now)
{
    migrator->lapse_from = fmax(migrator->lapse_from, keepers_first(migrator, now));
}

static void migrator_on_found(void *arg, bool ok, const uint32_t *found, size_t count)
{
    struct migrator *migrator = arg;
    double now = later_clock();

    if (ok && now - migrator->look_at > patience(migrator))
        leave_all_to_keepers(migrator, now);
    for (size_t i = 0; ok && i < count; i++)
        migrator_ask(queue_at(migrator, found[i]));
    for (size_t i = 0; !ok && i < migrator->queues.count; i++) {
        if (queue_at(migrator, i)->rests) /* rights of before, without EXISTS: each by itself */
            migrator_ask(queue_at(migrator, i));
    }
    seek_free(migrator->seek); /* and `found` */
    migrator->seek = NULL;
    migrator_look_again(migrator);
    link_flush(migrator->link);
}

static size_t list_resting(const struct migrator *migrator, uint32_t *list)
{
    size_t count = 0;

    for (size_t i = 0; i < migrator->queues.count; i++) {
        if (queue_at(migrator, i)->rests)
            list[count++] = (uint32_t)i;
    }
    return count;
}

/* One of them is asked all the same, each in turn: what Redis's clock says is needed, too. */
static void ask_the_time(struct migrator *migrator, const uint32_t *list, size_t count)
{
    size_t i = 0;

    while (i < count && list[i] <= migrator->called)
        i++;
    migrator->called = list[i < count ? i : 0];
    migrator_ask(queue_at(migrator, migrator->called));
}

/* Returns whether it is under way. */
static bool look_for_stirring(struct migrator *migrator)
{
    struct seek_options options = { .key = migrator_key_of,
                                    .keys = STIRRING - 2,
                                    .most = SIZE_MAX,
                                    .done = migrator_on_found,
                                    .arg = migrator };
    uint32_t *list = malloc((migrator->queues.count + 1) * sizeof *list);
    size_t count = list && !migrator->paused ? list_resting(migrator, list) : 0;
    double now = later_clock();

    if ((trims_dead(migrator->config) || keeps_done(migrator->config)) &&
        now >= migrator->trim_at) {
        migrator->trim_at = now + TRIM_SECONDS;
        options.keys = STIRRING;
    }
    if (count) {
        ask_the_time(migrator, list, count);
        migrator->seek = seek_new(migrator->link, &options, list, count);
    }
    free(list);
    if (!migrator->seek)
        return false;
    seek_ask(migrator->seek);
    return true;
}

static void migrator_on_look(void *arg)
{
    struct migrator *migrator = arg;
    double now = later_clock();

    if (now - migrator->look_at > patience(migrator))
        leave_all_to_keepers(migrator, now);
    migrator->look_at = now; /* from here on its answer is awaited */
    if (!look_for_stirring(migrator))
        migrator_look_again(migrator);
    link_flush(migrator->link);
}

void migrator_told(struct migrator *migrator, const char *name, double at)
{
    double wait = at - migrator_redis_now(migrator);
    struct queue *queue = later_names_find(&migrator->queues, name);

    if (!queue)
        return;
    if (queue->asked && (queue->told <= 0 || later_clock() + wait < queue->told))
        queue->told = later_clock() + wait;
    else if (!queue->asked && (queue->rests || later_clock() + wait < queue->next))
        migrator_arm(queue, wait < LOOK_SECONDS ? wait : LOOK_SECONDS);
}

void migrator_link_up(struct migrator *migrator)
{
    double wait = migrator->config->lease / 3;

    migrator->lapse_from = later_clock() + (migrator->met ? fmax(wait, BACK_SECONDS) : wait);
    migrator->met = true;
    for (size_t i = 0; i < migrator->queues.count; i++)
        migrator_arm(queue_at(migrator, i), 0);
}

void migrator_on_tick(struct migrator *migrator, migrator_tick_fn *tick, void *arg)
{
    migrator->tick = tick;
    migrator->tick_arg = arg;
}

void migrator_pause(struct migrator *migrator, bool paused)
{
    migrator->paused = paused;
}

const char *migrator_fault(const struct migrator *migrator)
{
    const char *why = NULL;

    for (size_t i = 0; i < migrator->queues.count && !why; i++)
        why = fault_text(&queue_at(migrator, i)->refused);
    return why;
}

double migrator_redis_now(const struct migrator *migrator)
{
    return migrator->offset != 0 ? later_clock() + migrator->offset : 0;
}

static void migrator_free_queue(void *item)
{
    struct queue *queue = item;

    timer_free(queue->timer);
    free(queue);
}

/* Returns 0, or -1 without memory. */
static int migrator_add(struct migrator *migrator, const char *name)
{
    struct queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return -1;
    queue->migrator = migrator;
    queue->timer = timer_new(migrator->base, migrator_on_timer, queue);
    later_keys_init(&queue->keys, migrator->config->redis.prefix, name);
    if (!queue->timer || !later_names_add(&migrator->queues, queue->keys.queue, queue)) {
        migrator_free_queue(queue);
        return -1;
    }
    migrator_arm(queue, 0);
    return 0;
}

int migrator_follow(struct migrator *migrator, const char *queue)
{
    return later_names_find(&migrator->queues, queue) ? 0 : migrator_add(migrator, queue);
}

static int migrator_add_queues(struct migrator *migrator)
{
    const struct later_names *served = &migrator->config->served;

    for (uint32_t i = 0; i < served->count; i++) {
        const struct config_queue *queue = served->items[i];

        if (migrator_add(migrator, queue->name) < 0)
            return -1;
    }
    return 0;
}

struct migrator *migrator_new(struct event_base *base, const struct config *config,
                              struct link *link, const char *host, struct later_error *err)
{
    struct migrator *migrator = calloc(1, sizeof *migrator);

    if (!migrator) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *migrator = (struct migrator){ .base = base, .config = config, .link = link };
    migrator->error =
        later_queue_error(later_endings[LATER_ENDED_LAPSED].kind, "the lease ran out", host, 0);
    migrator->calls = calls_new(link);
    migrator->look = timer_new(base, migrator_on_look, migrator);
    if (!migrator->error || !migrator->calls || !migrator->look ||
        migrator_add_queues(migrator) < 0) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        migrator_free(migrator);
        return NULL;
    }
    migrator_look_again(migrator);
    return migrator;
}

void migrator_free(struct migrator *migrator)
{
    if (!migrator)
        return;
    calls_free(migrator->calls);
    seek_free(migrator->seek);
    timer_free(migrator->look);
    later_names_free(&migrator->queues, migrator_free_queue);
    free(migrator->error);
    free(migrator);
}
