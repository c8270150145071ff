/* sweep.c: does any job lie where only a former count of shards would look for it? */
#include "queues/sweep.h"

#include "log.h"
#include "queue/queue.h"
#include "queue/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum of { OF_NOTHING, OF_JOBS, OF_UNIQUE }; /* what is being read in a part */

struct sweep {
    struct link *link;
    const char *prefix;
    const struct later_keys *whole;
    char text[SWEEP_PLAN_SIZE];
    struct later_plan plan;
    later_queue_name parts[LATER_WHOLE_MAX];
    size_t count, at;
    struct later_keys keys; /* of parts[at] */
    enum of of;
    char cursor[24];
    sweep_fn *done;
    void *arg;
};

static int step(struct sweep *sweep);

void sweep_script(struct later_command *cmd, const struct later_keys *keys, const char *before,
                  const char *counts)
{
    later_script_begin(cmd, LATER_SCRIPT_RESHARD, keys, NULL, 0);
    later_command_text(cmd, before);
    later_command_text(cmd, counts);
}

/* --- at the end: drop --- */

static void on_dropped(void *arg, struct later_answer *answer)
{
    struct sweep *sweep = arg;
    struct later_plan now = later_plan_parse(later_reply_text(answer->reply, NULL));
    bool dropped = answer->outcome == LATER_ANSWERED && now.count == sweep->plan.count &&
                   now.formers + 1 == sweep->plan.formers;

    if (dropped)
        log_line(LOG_INFO, "queue %s: no job of its former %u shards is left", sweep->whole->queue,
                 (unsigned)sweep->plan.former[sweep->plan.formers - 1]);
    sweep->done(sweep->arg, dropped, 0);
}

static int sweep_drop(struct sweep *sweep)
{
    struct later_command cmd = { 0 };
    char counts[LATER_PLAN_SIZE];

    later_plan_drop(&sweep->plan, counts);
    sweep_script(&cmd, sweep->whole, sweep->text, counts);
    return link_send(sweep->link, &cmd, LINK_TIMEOUT, on_dropped, sweep);
}

/* --- one part --- */

/* A push without jobs does nothing but fence. */
static int fence(struct sweep *sweep, later_answer_fn *fn)
{
    struct later_command cmd = { 0 };

    later_queue_push(&cmd, &sweep->keys, NULL, LATER_PUSH_SEEK, sweep->plan.epoch, NULL, 0);
    return link_send(sweep->link, &cmd, LINK_TIMEOUT, fn, sweep);
}

static int ask_ids(struct sweep *sweep, later_answer_fn *fn)
{
    struct later_command cmd = { 0 };

    later_script_begin(&cmd, LATER_SCRIPT_IDS, &sweep->keys, NULL, 0);
    later_command_text(&cmd, sweep->of == OF_JOBS ? "jobs" : "unique");
    later_command_text(&cmd, sweep->cursor);
    return link_send(sweep->link, &cmd, LINK_TIMEOUT, fn, sweep);
}

static bool is_misplaced(const struct sweep *sweep, const char *id)
{
    later_queue_name part;

    later_shard_of(part, sweep->whole->queue, sweep->plan.count, id);
    return strcmp(part, sweep->keys.queue) != 0;
}

/* Reads a page; returns true if all its ids are where they belong. */
static bool sweep_read_page(struct sweep *sweep, const struct later_reply *page)
{
    for (size_t i = 1; i < later_reply_count(page); i++) {
        if (is_misplaced(sweep, later_reply_text(later_reply_at(page, i), NULL)))
            return false;
    }
    snprintf(sweep->cursor, sizeof sweep->cursor, "%s",
             later_reply_text(later_reply_at(page, 0), NULL));
    return true;
}

/* Returns the epoch of the part, if that is why it refuses the fence. */
static uint64_t newer(const struct sweep *sweep, const struct later_answer *answer)
{
    const char *words;

    if (answer->outcome != LATER_REFUSED || sweep->of != OF_NOTHING ||
        !later_shards_stale(answer->text, &words))
        return 0;
    return later_plan_parse(words).epoch;
}

/* Goes on to the next step: fence, jobs, unique, in one part after the other. */
static void sweep_go_on(struct sweep *sweep)
{
    bool last = sweep->plan.formers ? sweep->of == OF_UNIQUE : sweep->of == OF_NOTHING;

    if (strcmp(sweep->cursor, "0") != 0)
        return;
    sweep->at += last;
    sweep->of = last ? OF_NOTHING : sweep->of + 1;
}

static void sweep_on_answer(void *arg, struct later_answer *answer)
{
    struct sweep *sweep = arg;
    bool good = answer->outcome == LATER_ANSWERED &&
                (sweep->of == OF_NOTHING || sweep_read_page(sweep, answer->reply));

    if (!good) {
        sweep->done(sweep->arg, false, newer(sweep, answer));
        return;
    }
    sweep_go_on(sweep);
    if ((sweep->at == sweep->count && !sweep->plan.formers) || step(sweep) < 0)
        sweep->done(sweep->arg, false, 0);
}

static int step(struct sweep *sweep)
{
    int sent;

    if (sweep->at == sweep->count) {
        sent = sweep_drop(sweep);
    } else {
        later_keys_init(&sweep->keys, sweep->prefix, sweep->parts[sweep->at]);
        sent = sweep->of == OF_NOTHING ? fence(sweep, sweep_on_answer)
                                       : ask_ids(sweep, sweep_on_answer);
    }
    link_flush(sweep->link);
    return sent;
}

struct sweep *sweep_start(struct link *link, const char *prefix, const struct later_keys *keys,
                          const char *plan, sweep_fn *done, void *arg)
{
    struct sweep *sweep = link_is_up(link) ? calloc(1, sizeof *sweep) : NULL;
    uint32_t count;

    if (!sweep)
        return NULL;
    *sweep = (struct sweep){
        .link = link, .prefix = prefix, .whole = keys, .cursor = "0", .done = done, .arg = arg
    };
    snprintf(sweep->text, sizeof sweep->text, "%s", plan);
    sweep->plan = later_plan_parse(plan);
    count = sweep->plan.formers ? sweep->plan.former[sweep->plan.formers - 1] : sweep->plan.count;
    sweep->count = later_shards_all(keys->queue, count, sweep->parts);
    if (count > 1) /* with more than one shard the plain queue is not among them */
        memmove(sweep->parts, sweep->parts + 1, --sweep->count * sizeof *sweep->parts);
    if (step(sweep) == 0)
        return sweep;
    free(sweep);
    return NULL;
}

void sweep_free(struct sweep *sweep)
{
    free(sweep);
}
