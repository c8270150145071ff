/* migrator.c: due and lapsed jobs become ready. */
#include "queues/migrator.h"

#include "base/clock.h"
#include "link/seek.h"
#include "log.h"
#include "queues/queues.h"
#include "timer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS  0.8
#define ALL_SECONDS   10.0   /* between two looks at what can wait, and between two trims */
#define TOUCH_SECONDS 0.75   /* by then a keeper that was refused has tried again */
#define BACK_SECONDS  2.0    /* by then one that was cut off has a new connection (link.c) */
#define LEAST_WAIT    0.0005 /* a due time this close is waited for, not asked for again and again */

struct migrator {
    struct queues *queues;
    struct timer *look; /* at the queues that rest */
    struct seek *seek;
    double look_at, all_at; /* when it is due; from when on it looks at all keys */
    uint32_t called;        /* of those that rest: who was asked the time last */
    char *error;            /* of lapses */
    double lapse_from;
    bool met;      /* the link was up once */
    double offset; /* Redis's clock minus ours */
};

static void migrator_arm(struct queue *queue, double seconds)
{
    double wait = seconds > LEAST_WAIT ? seconds : LEAST_WAIT;

    if (queue->queues->others_look)
        return;
    queue->migrate.rests = false;
    queue->migrate.next = later_clock() + wait;
    timer_in(queue->migrate.timer, wait);
}

static double earliest(double a, double b)
{
    return b >= 0 && b < a ? b : a;
}

static void trim_dead(struct queue *queue, const struct config *config)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_TRIM, &queue->keys, NULL, 0);
    later_command_int(&cmd, (int64_t)config->dead.max);
    later_command_seconds(&cmd, config->dead.days * 86400);
    later_command_int(&cmd, LATER_BATCH_MAX);
    queue_send(queue, &cmd, NULL, NULL);
}

static void trim_done(struct queue *queue, const struct config *config)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_TRIM_DONE, &queue->keys, NULL, 0);
    later_command_int(&cmd, config->keep.max);
    later_command_int(&cmd, LATER_BATCH_MAX);
    queue_send(queue, &cmd, NULL, NULL);
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
    const struct config *config = queue->queues->config;
    bool dead = trims_dead(config), done = keeps_done(config);
    double now = later_clock();

    if ((!dead && !done) || now - queue->migrate.trimmed < ALL_SECONDS)
        return;
    queue->migrate.trimmed = now;
    if (dead)
        trim_dead(queue, config);
    if (done)
        trim_done(queue, config);
}

static void migrator_ask(struct queue *queue);

/* Leases that ran out before then are left to their keepers. */
static double lapse_from(const struct queue *queue)
{
    return fmax(queue->migrate.lapse_from, queue->queues->migrator->lapse_from);
}

/* Longer than this nothing takes unless somebody stood still, Redis or we. Then keepers come first:
 * their leases have two thirds left at any time, so that a shorter standstill costs none. */
static double patience(const struct migrator *migrator)
{
    return migrator->queues->config->lease / 6;
}

/* Nothing lapses until keepers have touched what they hold. */
static double keepers_first(const struct migrator *migrator, double now)
{
    return now + fmax(migrator->queues->config->lease / 3, TOUCH_SECONDS);
}

static void leave_to_keepers(struct queue *queue, double now)
{
    queue->migrate.lapse_from = keepers_first(queue->queues->migrator, now);
}

static void on_lapsed(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    int64_t jobs = later_reply_int(answer->reply);
    double now = later_clock();

    fault_judge(&queue->migrate.no_lapse, answer, LOG_WARN,
                "redis refuses to lapse leases of queue %s: %s", queue->keys.queue, answer->text);
    if (jobs > 0)
        log_line(LOG_WARN, "queue %s: the leases of %lld jobs ran out; they are ready again",
                 queue->keys.queue, (long long)jobs);
    else if (now - queue->migrate.sent > patience(queue->queues->migrator))
        leave_to_keepers(queue, now);
    else /* touched meanwhile, or it cannot be: let others have their turn */
        queue->migrate.lapse_from = fmax(queue->migrate.lapse_from, now + TOUCH_SECONDS);
}

static void migrator_lapse(struct queue *queue, const struct later_reply *reply,
                           const struct later_migrated *migrated)
{
    struct migrator *migrator = queue->queues->migrator;

    for (size_t i = 0; i < migrated->run_out; i++) {
        struct later_command cmd = { 0 };

        later_queue_lapse(&cmd, &queue->keys, later_queue_run_out(reply, i),
                          migrated->now + patience(migrator), migrator->error);
        queue_send(queue, &cmd, on_lapsed, queue);
    }
}

/* Until something of it is due. */
static double idle_seconds(const struct queue *queue, const struct later_migrated *migrated,
                           double now)
{
    double wait = earliest(LOOK_SECONDS, migrated->next_due);

    if (queue->migrate.told > 0) /* the push may have come after the call */
        wait = earliest(wait, fmax(queue->migrate.told - now, 0));
    if (migrated->next_lapse >= 0)
        wait = earliest(wait, fmax(migrated->next_lapse, lapse_from(queue) - now));
    return wait;
}

static void migrator_on_answer(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct migrator *migrator = queue->queues->migrator;
    struct later_migrated migrated;
    double now = later_clock();

    queue->migrate.asked = false;
    if (!queue->config) /* it is not served any more */
        return;
    fault_judge(&queue->migrate.refused, answer, LOG_WARN, "redis refuses to migrate queue %s: %s",
                queue->keys.queue, answer->text);
    if (answer->outcome != LATER_ANSWERED) {
        queue->migrate.lapse_from = INFINITY; /* touches may have been refused, too */
        migrator_arm(queue, LOOK_SECONDS);
        return;
    }
    if (isinf(queue->migrate.lapse_from) || now - queue->migrate.sent > patience(migrator))
        leave_to_keepers(queue, now);
    later_queue_migrated(answer->reply, &migrated);
    migrator_clock(queue->queues, migrated.now);
    if (queue->queues->told)
        queue->queues->told(queue, &migrated);
    if (now >= lapse_from(queue)) {
        migrator_lapse(queue, answer->reply, &migrated);
        link_flush(migrator->queues->link);
    }
    if (migrated.promoted >= LATER_BATCH_MAX) {
        migrator_ask(queue);
        link_flush(migrator->queues->link);
        return;
    }
    if (migrated.rests && queue->migrate.told <= 0 &&
        !later_redis_is_cluster(link_redis(migrator->queues->link))) {
        queue->migrate.rests = true;
        return;
    }
    migrator_arm(queue, idle_seconds(queue, &migrated, now));
}

static void migrator_ask(struct queue *queue)
{
    struct migrator *migrator = queue->queues->migrator;
    struct later_command cmd = { 0 };
    double now = later_clock();

    if (queue->migrate.asked || !queue->config || migrator->queues->paused ||
        migrator->queues->others_look || !link_is_up(migrator->queues->link))
        return;
    later_queue_migrate(&cmd, &queue->keys, LATER_BATCH_MAX);
    queue->migrate.sent = now;
    queue->migrate.asked = queue_send(queue, &cmd, migrator_on_answer, queue) == 0;
    queue->migrate.rests = queue->migrate.rests && !queue->migrate.asked;
    queue->migrate.told = 0;
    migrator_trim(queue);
}

static void migrator_on_timer(void *arg)
{
    struct queue *queue = arg;
    double now = later_clock();

    if (now - queue->migrate.next > patience(queue->queues->migrator))
        leave_to_keepers(queue, now);
    migrator_ask(queue);
    if (!queue->migrate.asked)
        migrator_arm(queue, LOOK_SECONDS);
    link_flush(queue->queues->link);
}

/* --- queues that rest --- */

/* The keys that a resting queue is checked for. From `unique` on they can wait: a push asks for the
 * time itself when an id is taken, and a flow has its first turn a minute after it got a job
 * elsewhere. The last two only if something is trimmed. */
static const enum later_key stirring[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                           LATER_KEY_CRON,  LATER_KEY_NEWS,    LATER_KEY_UNIQUE,
                                           LATER_KEY_AWAY,  LATER_KEY_DEAD,    LATER_KEY_DONE };
#define STIRRING (sizeof stirring / sizeof *stirring)
#define AT_ONCE  5
#define TRIMMED  2

static const char *migrator_key_of(void *arg, uint32_t queue, unsigned k)
{
    const struct migrator *migrator = arg;

    return queues_at(migrator->queues, queue)->keys.name[stirring[k]];
}

static void migrator_look_again(struct migrator *migrator)
{
    if (migrator->queues->others_look)
        return;
    migrator->look_at = later_clock() + LOOK_SECONDS;
    timer_in(migrator->look, LOOK_SECONDS);
}

/* Somebody stood still, Redis or we. */
static void leave_all_to_keepers(struct migrator *migrator, double now)
{
    migrator->lapse_from = fmax(migrator->lapse_from, keepers_first(migrator, now));
}

static void migrator_stop_seeking(struct migrator *migrator)
{
    seek_free(migrator->seek);
    migrator->seek = NULL;
}

static void migrator_on_found(void *arg, bool ok, const uint32_t *found, size_t count)
{
    struct migrator *migrator = arg;
    double now = later_clock();

    if (ok && now - migrator->look_at > patience(migrator))
        leave_all_to_keepers(migrator, now);
    for (size_t i = 0; ok && i < count; i++)
        migrator_ask(queues_at(migrator->queues, found[i]));
    for (uint32_t i = 0; !ok && i < migrator->queues->names.count; i++) {
        if (queues_at(migrator->queues, i)
                ->migrate.rests) /* rights of before, without EXISTS: each by itself */
            migrator_ask(queues_at(migrator->queues, i));
    }
    migrator_stop_seeking(migrator); /* `found` is gone, too */
    migrator_look_again(migrator);
    link_flush(migrator->queues->link);
}

static size_t list_resting(const struct migrator *migrator, uint32_t *list)
{
    size_t count = 0;

    for (uint32_t i = 0; i < migrator->queues->names.count; i++) {
        if (queues_at(migrator->queues, i)->migrate.rests)
            list[count++] = i;
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
    migrator_ask(queues_at(migrator->queues, migrator->called));
}

/* How many of the keys this look is for. */
static unsigned keys_of_look(struct migrator *migrator, double now)
{
    const struct config *config = migrator->queues->config;

    if (now < migrator->all_at)
        return AT_ONCE;
    migrator->all_at = now + ALL_SECONDS;
    return trims_dead(config) || keeps_done(config) ? STIRRING : STIRRING - TRIMMED;
}

/* Returns whether it is under way. */
static bool look_for_stirring(struct migrator *migrator)
{
    struct seek_options options = { .key = migrator_key_of,
                                    .keys = keys_of_look(migrator, later_clock()),
                                    .most = SIZE_MAX,
                                    .done = migrator_on_found,
                                    .arg = migrator };
    uint32_t *list = malloc((migrator->queues->names.count + 1) * sizeof *list);
    size_t count = list && !migrator->queues->paused ? list_resting(migrator, list) : 0;

    if (count) {
        ask_the_time(migrator, list, count);
        migrator->seek = seek_new(migrator->queues->link, &options, list, count);
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
    link_flush(migrator->queues->link);
}

void migrator_due(struct queue *queue, double at)
{
    struct migrate *migrate = &queue->migrate;
    double wait = at - migrator_redis_now(queue->queues->migrator);

    if (!queue->config)
        return;
    if (migrate->asked && (migrate->told <= 0 || later_clock() + wait < migrate->told))
        migrate->told = later_clock() + wait;
    else if (!migrate->asked && (migrate->rests || later_clock() + wait < migrate->next))
        migrator_arm(queue, wait < LOOK_SECONDS ? wait : LOOK_SECONDS);
}

static const struct fault *migrator_fault_of(const struct queue *queue)
{
    return &queue->migrate.refused;
}

const char *migrator_fault(const struct queues *queues)
{
    return queues_fault(queues, migrator_fault_of);
}

void migrator_clock(const struct queues *queues, double redis_now)
{
    queues->migrator->offset = redis_now - later_clock();
}

double migrator_redis_now(const struct migrator *migrator)
{
    return migrator->offset != 0 ? later_clock() + migrator->offset : 0;
}

/* --- the service --- */

int migrator_begin(struct queue *queue)
{
    if (!queue->migrate.timer)
        queue->migrate.timer = timer_new(queue->queues->base, migrator_on_timer, queue);
    if (!queue->migrate.timer)
        return -1;
    migrator_arm(queue, 0);
    return 0;
}

void migrator_end(struct queue *queue)
{
    if (queue->migrate.timer)
        timer_stop(queue->migrate.timer);
    queue->migrate.rests = false;
    queue->migrate.told = 0;
    fault_over(&queue->migrate.refused);
}

static void migrator_drop(struct queue *queue)
{
    struct migrator *migrator = queue->queues->migrator;

    timer_free(queue->migrate.timer);
    fault_free(&queue->migrate.refused);
    fault_free(&queue->migrate.no_lapse);
    if (migrator->seek) { /* it has numbers of the list of queues */
        migrator_stop_seeking(migrator);
        migrator_look_again(migrator);
    }
}

static void migrator_look_at_all(struct queues *queues)
{
    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (queues_at(queues, i)->config)
            migrator_arm(queues_at(queues, i), 0);
    }
}

static void migrator_rest(struct queues *queues)
{
    migrator_stop_seeking(queues->migrator);
    timer_stop(queues->migrator->look);
    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (queues_at(queues, i)->migrate.timer)
            timer_stop(queues_at(queues, i)->migrate.timer);
    }
}

/* Of a standstill before nothing is known here. */
void migrator_looks(struct queues *queues)
{
    if (queues->others_look) {
        migrator_rest(queues);
        return;
    }
    leave_all_to_keepers(queues->migrator, later_clock());
    migrator_look_at_all(queues);
    migrator_look_again(queues->migrator);
}

void migrator_describe(const struct config *config, FILE *out)
{
    fprintf(out, "%" PRIu64 " %.3f %" PRIu64 " %d %.3f", (uint64_t)config->dead.max,
            config->dead.days, (uint64_t)config->keep.max, keeps_done(config), config->lease);
}

void migrator_link_up(struct queues *queues)
{
    struct migrator *migrator = queues->migrator;
    double wait = queues->config->lease / 3;

    migrator->lapse_from = later_clock() + (migrator->met ? fmax(wait, BACK_SECONDS) : wait);
    migrator->met = true;
    migrator_look_at_all(queues);
}

/* What may stay of dead and done jobs may have changed. */
static void migrator_configure(struct queues *queues)
{
    queues->migrator->all_at = 0;
    for (uint32_t i = 0; i < queues->names.count; i++)
        queues_at(queues, i)->migrate.trimmed = 0;
}

int migrator_new(struct queues *queues, struct later_error *err)
{
    struct migrator *migrator = calloc(1, sizeof *migrator);

    queues->migrator = migrator;
    if (migrator) {
        migrator->queues = queues;
        migrator->error = later_queue_error(later_endings[LATER_ENDED_LAPSED].kind,
                                            "the lease ran out", queues->options.host, 0);
        migrator->look = timer_new(queues->base, migrator_on_look, migrator);
    }
    if (!migrator || !migrator->error || !migrator->look)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    migrator_look_again(migrator);
    return 0;
}

static void migrator_free(struct queues *queues)
{
    struct migrator *migrator = queues->migrator;

    if (!migrator)
        return;
    seek_free(migrator->seek);
    timer_free(migrator->look);
    free(migrator->error);
    free(migrator);
    queues->migrator = NULL;
}

const struct service migrator_service = {
    .unmake = migrator_free,
    .begin = migrator_begin,
    .end = migrator_end,
    .drop = migrator_drop,
    .configure = migrator_configure,
    .link_up = migrator_link_up,
    .fault = migrator_fault,
};
