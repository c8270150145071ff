/* lookers.c: asks for a post among the hosts that look. */
#include "queues/lookers.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/random.h"
#include "log.h"
#include "queue/looker.h"
#include "queues/migrator.h"
#include "queues/queues.h"
#include "queues/ticker.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POST_SECONDS  3.0
#define AGAIN_SECONDS 1.0  /* a host with a post asks again */
#define ALONE_SECONDS 5.0  /* the same while nobody waits for one: all look, and it may end */
#define LONGEST       60.0 /* the time between two questions of one without, on average */
#define ASKS_TOGETHER 10.0 /* a second, of all without */
#define BESIDE        10.0 /* one that asks so rarely does so together with announce.h */

struct lookers {
    struct timer *timer;
    char host[320];               /* HOST:PID, as in later:hosts */
    char name[LATER_DIGEST_SIZE]; /* what is served: the name of its posts; "": not known yet */
    bool stale;                   /* something else is served by now */
    double beside;                /* from when on it asks at a beat; 0: the timer is set */
    bool asked, left;
    bool apart; /* the queues are on several servers, and this may be asked of another one */
    struct fault refused;
};

/* --- what is served --- */

static int lookers_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_names(const struct config *config, FILE *out)
{
    uint32_t count = config->served.count;
    const char **names = calloc(count + 1, sizeof *names);

    for (uint32_t i = 0; names && i < count; i++)
        names[i] = ((const struct config_queue *)config->served.items[i])->name;
    if (names)
        qsort(names, count, sizeof *names, lookers_compare);
    for (uint32_t i = 0; names && i < count; i++)
        fprintf(out, "%s ", names[i]);
    free(names);
}

/* Whoever has the same name does the same when it looks: the same queues, and the same that is
 * trimmed and lapses. Without memory it is the name that others have in that case. */
static void lookers_name(const struct config *config, char name[LATER_DIGEST_SIZE])
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (out) {
        write_names(config, out);
        migrator_describe(config, out);
        fclose(out);
    }
    later_digest(text ? text : "", text ? len : 0, name);
    free(text);
}

/* --- the question --- */

static void lookers_ask(struct queues *queues);

/* A host asks at another moment than the others, whenever they began. */
static double lookers_by_chance(double seconds)
{
    uint16_t random;

    later_random(&random, sizeof random);
    return seconds * (0.5 + (double)random / UINT16_MAX);
}

static void lookers_change(struct queues *queues, bool looks)
{
    if (queues->others_look == !looks)
        return;
    queues->others_look = !looks;
    log_line(LOG_DEBUG, looks ? "this host looks after its queues"
                              : "other hosts look after the queues of this one");
    migrator_looks(queues);
}

/* Can we do what a looker does? Else others have the post, and we look beside them as far as we
 * can. */
static bool lookers_is_able(const struct queues *queues)
{
    return !queues->paused && !migrator_fault(queues) && !ticker_fault(queues);
}

/* Returns after how many seconds to ask again. */
static double lookers_heed(struct queues *queues, struct later_answer *answer)
{
    struct later_looker looker;

    if (answer->outcome != LATER_ANSWERED) {
        /* On one server the link is down, and this is asked again when it is up. */
        if (answer->outcome == LATER_REFUSED || queues->lookers->apart)
            lookers_change(queues, true);
        return AGAIN_SECONDS;
    }
    later_looker_told(answer->reply, &looker);
    migrator_clock(queues, looker.now);
    queues->others = looker.others;
    lookers_change(queues, looker.looks || !lookers_is_able(queues));
    if (looker.looks)
        return looker.others ? AGAIN_SECONDS : ALONE_SECONDS;
    return lookers_by_chance(fmin(fmax(looker.others / ASKS_TOGETHER, 1), LONGEST));
}

/* What is sent at the same moment costs Redis less. */
static void lookers_ask_in(struct queues *queues, double seconds)
{
    struct lookers *lookers = queues->lookers;

    lookers->beside = queues->others_look && seconds >= BESIDE ? later_clock() + seconds : 0;
    if (lookers->beside > 0)
        timer_stop(lookers->timer);
    else
        timer_in(lookers->timer, seconds);
}

void lookers_beat(struct queues *queues)
{
    if (queues->lookers->beside > 0 && later_clock() >= queues->lookers->beside)
        lookers_ask(queues);
}

static void lookers_on_answer(void *arg, struct later_answer *answer)
{
    struct queues *queues = arg;
    struct lookers *lookers = queues->lookers;

    lookers->asked = false;
    if (lookers->left)
        return;
    fault_judge(&lookers->refused, answer, LOG_DEBUG,
                "redis does not say who looks, so this host does: %s", answer->text);
    if (lookers->stale)
        lookers_ask(queues); /* it was about other queues */
    else
        lookers_ask_in(queues, lookers_heed(queues, answer));
    link_flush(queues->link);
}

static int lookers_send(struct queues *queues, double seconds, later_answer_fn *fn)
{
    const struct lookers *lookers = queues->lookers;
    struct later_command cmd = { 0 };

    later_looker_ask(&cmd, queues->prefix, lookers->name, lookers->host, seconds);
    return link_send(queues->link, &cmd, LINK_TIMEOUT, fn, queues);
}

/* Those that still serve what we did need not wait until our post is over. */
static void lookers_rename(struct queues *queues)
{
    struct lookers *lookers = queues->lookers;
    char name[LATER_DIGEST_SIZE];

    lookers->stale = false;
    lookers_name(queues->config, name);
    if (lookers->name[0] && strcmp(lookers->name, name) != 0)
        lookers_send(queues, 0, NULL);
    memcpy(lookers->name, name, sizeof name);
}

static void lookers_ask(struct queues *queues)
{
    struct lookers *lookers = queues->lookers;

    if (lookers->asked || lookers->left || !link_is_up(queues->link))
        return;
    if (lookers->stale)
        lookers_rename(queues);
    lookers->asked =
        lookers_send(queues, lookers_is_able(queues) ? POST_SECONDS : 0, lookers_on_answer) == 0;
    if (!lookers->asked)
        timer_in(lookers->timer, AGAIN_SECONDS);
}

static void lookers_on_timer(void *arg)
{
    struct queues *queues = arg;

    lookers_ask(queues);
    link_flush(queues->link);
}

void lookers_leave(struct queues *queues)
{
    struct lookers *lookers = queues->lookers;

    lookers->left = true;
    timer_stop(lookers->timer);
    if (lookers->name[0] && link_is_up(queues->link))
        lookers_send(queues, 0, NULL);
}

/* --- the service --- */

void lookers_link_up(struct queues *queues)
{
    queues->lookers->apart = later_redis_is_cluster(link_redis(queues->link));
    lookers_ask(queues);
}

/* Several changes of one turn of the loop are one. */
void lookers_configure(struct queues *queues)
{
    queues->lookers->stale = true;
    timer_in(queues->lookers->timer, 0);
}

static int lookers_begin(struct queue *queue)
{
    lookers_configure(queue->queues);
    return 0;
}

int lookers_new(struct queues *queues, struct later_error *err)
{
    struct lookers *lookers = calloc(1, sizeof *lookers);

    queues->lookers = lookers;
    if (!lookers || !(lookers->timer = timer_new(queues->base, lookers_on_timer, queues)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    lookers->stale = true;
    snprintf(lookers->host, sizeof lookers->host, "%.255s:%ld", queues->options.host,
             (long)getpid());
    return 0;
}

static void lookers_free(struct queues *queues)
{
    struct lookers *lookers = queues->lookers;

    if (!lookers)
        return;
    timer_free(lookers->timer);
    fault_free(&lookers->refused);
    free(lookers);
    queues->lookers = NULL;
}

const struct service lookers_service = {
    .unmake = lookers_free,
    .begin = lookers_begin,
    .configure = lookers_configure,
    .link_up = lookers_link_up,
};
