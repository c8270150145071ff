/* migrator.c: due and lapsed jobs become ready. */
#include "queues/migrator.h"

#include "base/clock.h"
#include "fault.h"
#include "log.h"
#include "queue/queue.h"
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
    double next;       /* when the timer is due */
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
    struct link *link;
    struct queue *queues;
    size_t queue_count;
    char *error; /* of lapses */
    double lapse_from;
    bool met;      /* the link was up once */
    double offset; /* Redis's clock minus ours */
    size_t asked;  /* calls without an answer: they come through a link that outlives us */
    bool freed;    /* the last answer frees the rest */
    bool paused;
    migrator_tick_fn *tick; /* NULL: nobody */
    void *tick_arg;
};

static void arm(struct queue *queue, double seconds)
{
    double wait = seconds > LEAST_WAIT ? seconds : LEAST_WAIT;

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
    link_send(queue->migrator->link, &cmd, LATER_SCRIPT_TRIM, LINK_TIMEOUT, NULL, NULL);
}

static void trim_done(const struct queue *queue, const struct config *config)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_TRIM_DONE, &queue->keys, NULL, 0);
    later_command_int(&cmd, config->keep.max);
    later_command_int(&cmd, LATER_BATCH_MAX);
    link_send(queue->migrator->link, &cmd, LATER_SCRIPT_TRIM_DONE, LINK_TIMEOUT, NULL, NULL);
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

static void trim(struct queue *queue)
{
    const struct config *config = queue->migrator->config;
    bool dead = config->dead.max > 0 || config->dead.days > 0, done = keeps_done(config);
    double now = later_clock();

    if ((!dead && !done) || now - queue->trimmed < TRIM_SECONDS)
        return;
    queue->trimmed = now;
    if (dead)
        trim_dead(queue, config);
    if (done)
        trim_done(queue, config);
}

static void ask(struct queue *queue);

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

static void leave_to_keepers(struct queue *queue, double now)
{
    queue->lapse_from = now + fmax(queue->migrator->config->lease / 3, TOUCH_SECONDS);
}

static void destroy(struct migrator *migrator)
{
    free(migrator->queues);
    free(migrator->error);
    free(migrator);
}

/* One call less is out. Returns whether the migrator is no more. */
static bool is_over(struct migrator *migrator)
{
    bool freed = migrator->freed;

    if (--migrator->asked == 0 && freed)
        destroy(migrator);
    return freed;
}

static void on_lapsed(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    int64_t jobs = later_reply_int(answer->reply);
    double now = later_clock();

    if (is_over(queue->migrator))
        return;
    if (answer->outcome == LATER_REFUSED)
        fault_note(&queue->no_lapse, LOG_WARN, "redis refuses to lapse leases of queue %s: %s",
                   queue->keys.queue, answer->text);
    else if (answer->outcome == LATER_ANSWERED)
        fault_over(&queue->no_lapse);
    if (jobs > 0)
        log_line(LOG_WARN, "queue %s: the leases of %lld jobs ran out; they are ready again",
                 queue->keys.queue, (long long)jobs);
    else if (now - queue->sent > patience(queue->migrator))
        leave_to_keepers(queue, now);
    else /* touched meanwhile, or it cannot be: let others have their turn */
        queue->lapse_from = fmax(queue->lapse_from, now + TOUCH_SECONDS);
}

static void lapse(struct queue *queue, const struct later_reply *reply,
                  const struct later_migrated *migrated)
{
    struct migrator *migrator = queue->migrator;

    for (size_t i = 0; i < migrated->run_out; i++) {
        struct later_command cmd = { 0 };

        later_queue_lapse(&cmd, &queue->keys, later_queue_run_out(reply, i),
                          migrated->now + patience(migrator), migrator->error);
        migrator->asked += link_send(migrator->link, &cmd, LATER_SCRIPT_LAPSE, LINK_TIMEOUT,
                                     on_lapsed, queue) == 0;
    }
}

static void on_answer(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct migrator *migrator = queue->migrator;
    struct later_migrated migrated;
    double now = later_clock(), wait = LOOK_SECONDS;

    queue->asked = false;
    if (is_over(migrator))
        return;
    if (answer->outcome == LATER_REFUSED)
        fault_note(&queue->refused, LOG_WARN, "redis refuses to migrate queue %s: %s",
                   queue->keys.queue, answer->text);
    else if (answer->outcome == LATER_ANSWERED)
        fault_over(&queue->refused);
    if (answer->outcome != LATER_ANSWERED) {
        queue->lapse_from = INFINITY; /* touches may have been refused, too */
        arm(queue, wait);
        return;
    }
    if (isinf(queue->lapse_from) || now - queue->sent > patience(migrator))
        leave_to_keepers(queue, now);
    later_queue_migrated(answer->reply, &migrated);
    migrator->offset = migrated.now - now;
    if (migrator->tick)
        migrator->tick(migrator->tick_arg, queue->keys.queue, migrated.next_tick);
    if (now >= lapse_from(queue)) {
        lapse(queue, answer->reply, &migrated);
        link_flush(migrator->link);
    }
    if (migrated.promoted >= LATER_BATCH_MAX) {
        ask(queue);
        link_flush(migrator->link);
        return;
    }
    wait = earliest(wait, migrated.next_due);
    if (queue->told > 0) /* the push may have come behind the call */
        wait = earliest(wait, fmax(queue->told - now, 0));
    if (migrated.next_lapse >= 0)
        wait = earliest(wait, fmax(migrated.next_lapse, lapse_from(queue) - now));
    arm(queue, wait);
}

static void ask(struct queue *queue)
{
    struct migrator *migrator = queue->migrator;
    struct later_command cmd = { 0 };
    double now = later_clock();

    if (queue->asked || migrator->paused || !link_is_up(migrator->link))
        return;
    later_queue_migrate(&cmd, &queue->keys, LATER_BATCH_MAX);
    queue->sent = now;
    queue->asked =
        link_send(migrator->link, &cmd, LATER_SCRIPT_MIGRATE, LINK_TIMEOUT, on_answer, queue) == 0;
    migrator->asked += queue->asked;
    queue->told = 0;
    trim(queue);
}

static void on_timer(void *arg)
{
    struct queue *queue = arg;
    double now = later_clock();

    if (now - queue->next > patience(queue->migrator))
        leave_to_keepers(queue, now);
    ask(queue);
    if (!queue->asked)
        arm(queue, LOOK_SECONDS);
    link_flush(queue->migrator->link);
}

void migrator_told(struct migrator *migrator, const char *name, double at)
{
    double wait = at - migrator_redis_now(migrator);

    for (size_t i = 0; i < migrator->queue_count; i++) {
        struct queue *queue = &migrator->queues[i];

        if (strcmp(name, queue->keys.queue) != 0)
            continue;
        if (queue->asked && (queue->told <= 0 || later_clock() + wait < queue->told))
            queue->told = later_clock() + wait;
        else if (!queue->asked && later_clock() + wait < queue->next)
            arm(queue, wait);
    }
}

void migrator_link_up(struct migrator *migrator)
{
    double wait = migrator->config->lease / 3;

    migrator->lapse_from = later_clock() + (migrator->met ? fmax(wait, BACK_SECONDS) : wait);
    migrator->met = true;
    for (size_t i = 0; i < migrator->queue_count; i++)
        arm(&migrator->queues[i], 0);
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

    for (size_t i = 0; i < migrator->queue_count && !why; i++)
        why = fault_text(&migrator->queues[i].refused);
    return why;
}

double migrator_redis_now(const struct migrator *migrator)
{
    return migrator->offset ? later_clock() + migrator->offset : 0;
}

static bool known(const struct migrator *migrator, const char *name)
{
    for (size_t i = 0; i < migrator->queue_count; i++) {
        if (strcmp(migrator->queues[i].keys.queue, name) == 0)
            return true;
    }
    return false;
}

/* Every queue of every pool once. */
static int add_queues(struct migrator *migrator)
{
    const struct config *config = migrator->config;
    size_t most = 0;

    for (uint32_t p = 0; p < config->pool_count; p++)
        most += config->pools[p].queue_count;
    migrator->queues = calloc(most ? most : 1, sizeof *migrator->queues);
    if (!migrator->queues)
        return -1;
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            struct queue *queue = &migrator->queues[migrator->queue_count];

            if (known(migrator, config->pools[p].queues[q].name))
                continue;
            queue->migrator = migrator;
            later_keys_init(&queue->keys, config->redis.prefix, config->pools[p].queues[q].name);
            queue->timer = timer_new(migrator->base, on_timer, queue);
            if (!queue->timer)
                return -1;
            migrator->queue_count++;
        }
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
    migrator->error = later_queue_error("lapse", "the lease ran out", host, 0);
    if (!migrator->error || add_queues(migrator) < 0) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        migrator_free(migrator);
        return NULL;
    }
    return migrator;
}

void migrator_free(struct migrator *migrator)
{
    if (!migrator)
        return;
    for (size_t i = 0; i < migrator->queue_count; i++)
        timer_free(migrator->queues[i].timer);
    migrator->freed = true;
    if (migrator->asked == 0)
        destroy(migrator);
}
