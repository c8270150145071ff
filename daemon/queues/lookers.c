/* lookers.c: asks for a lease to look after the queues. */
#include "queues/lookers.h"

#include "base/digest.h"
#include "base/random.h"
#include "queue/inspect.h"
#include "queue/permit.h"
#include "queues/migrator.h"
#include "queues/queues.h"
#include "queues/ticker.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKERS       3
#define LEASE_SECONDS 3.0
#define RENEW_SECONDS 1.5  /* so that one may come late */
#define SHARE_SECONDS 0.25 /* as often all those ask together that do not look */
#define MOST_SECONDS  10.0

struct lookers {
    struct queues *queues;
    struct timer *ask;
    char us[LATER_DIGEST_SIZE];  /* our token */
    char set[LATER_DIGEST_SIZE]; /* names the lease; "" = to be made */
    bool asked;
    bool left;    /* we are at the end: it was given back */
    bool anew;    /* while it was asked the set has changed, or the connection */
    double hosts; /* as of the last answer */
};

/* --- which lease --- */

static int lookers_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t lookers_list(const struct queues *queues, const char **names)
{
    size_t count = 0;

    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (queues_at(queues, i)->config)
            names[count++] = queues_at(queues, i)->keys.queue;
    }
    qsort(names, count, sizeof *names, lookers_compare);
    return count;
}

/* Hosts stand in for each other if they serve the same queues and keep as much of the dead and the
 * done. Returns false without memory. */
static bool lookers_name_set(struct lookers *lookers)
{
    const struct queues *queues = lookers->queues;
    const struct config *config = queues->config;
    const char **names = calloc(queues->names.count + 1, sizeof *names);
    size_t count = names ? lookers_list(queues, names) : 0, len;
    char *text = NULL;
    FILE *out = names ? open_memstream(&text, &len) : NULL;

    if (out) {
        fprintf(out, "%ju %f %ju", (uintmax_t)config->dead.max, config->dead.days,
                (uintmax_t)config->keep.max);
        for (size_t i = 0; i < count; i++)
            fprintf(out, " %s", names[i]);
        if (fclose(out) == 0)
            later_digest(text, len, lookers->set);
        free(text);
    }
    free(names);
    return lookers->set[0];
}

/* --- asking --- */

/* From three quarters to five quarters of it, so that they do not ask all at once. */
static double lookers_spread(double seconds)
{
    uint16_t random = 0;

    later_random(&random, sizeof random);
    return seconds * (0.75 + 0.5 * random / UINT16_MAX);
}

/* Until the next question of a host that does not look. */
static double lookers_rest(const struct lookers *lookers)
{
    double seconds = lookers->hosts * SHARE_SECONDS;

    if (seconds > MOST_SECONDS)
        seconds = MOST_SECONDS;
    return lookers_spread(seconds > RENEW_SECONDS ? seconds : RENEW_SECONDS);
}

static void lookers_on_count(void *arg, struct later_answer *answer)
{
    struct lookers *lookers = arg;

    if (answer->outcome == LATER_ANSWERED)
        lookers->hosts = (double)later_reply_int(answer->reply);
}

static void lookers_set(struct queues *queues, bool looks)
{
    bool begins = looks && queues->others_look;

    queues->others_look = !looks;
    if (begins)
        migrator_look(queues);
}

static void lookers_on_answer(void *arg, struct later_answer *answer)
{
    struct lookers *lookers = arg;
    int64_t behind;

    lookers->asked = false;
    lookers_set(lookers->queues, lookers->anew || answer->outcome != LATER_ANSWERED ||
                                     later_permit_taken(answer->reply, &behind));
    if (lookers->left)
        return;
    if (lookers->anew)
        timer_in(lookers->ask, 0);
    else
        timer_in(lookers->ask,
                 lookers->queues->others_look ? lookers_rest(lookers) : RENEW_SECONDS);
    lookers->anew = false;
}

/* Who does not look learns how many hosts there are, and Redis's clock. */
static void lookers_send_beside(struct lookers *lookers)
{
    struct queues *queues = lookers->queues;
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_hosts(key, queues->prefix);
    later_command_say(&cmd, "HLEN %s", key);
    link_send(queues->link, &cmd, LINK_TIMEOUT, lookers_on_count, lookers);
    migrator_ask_clock(queues);
}

static void lookers_send(struct lookers *lookers)
{
    struct queues *queues = lookers->queues;
    struct later_command cmd = { 0 };

    if (queues->others_look)
        lookers_send_beside(lookers);
    later_permit_look(&cmd, queues->prefix, lookers->set, lookers->us, LOOKERS, LEASE_SECONDS);
    lookers->asked = link_send(queues->link, &cmd, LINK_TIMEOUT, lookers_on_answer, lookers) == 0;
    link_flush(queues->link);
}

static bool is_faulty(const struct queues *queues)
{
    return (queues->fault && queues->fault(queues)) || ticker_is_stuck(queues);
}

static void lookers_on_timer(void *arg)
{
    struct lookers *lookers = arg;
    const struct queues *queues = lookers->queues;
    bool able = link_is_up(queues->link) && !queues->paused && !is_faulty(queues) &&
                (lookers->set[0] || lookers_name_set(lookers));

    if (able && !lookers->asked)
        lookers_send(lookers);
    if (lookers->asked)
        return;
    lookers_set(lookers->queues, true);
    timer_in(lookers->ask, RENEW_SECONDS);
}

/* --- the service --- */

/* We look, and ask at once whether that is needed. */
static void lookers_ask_anew(struct lookers *lookers)
{
    lookers_set(lookers->queues, true);
    lookers->anew = lookers->asked;
    if (!lookers->asked)
        timer_in(lookers->ask, 0);
}

/* The set of our queues has changed. */
static void lookers_change(struct queues *queues)
{
    queues->lookers->set[0] = '\0';
    lookers_ask_anew(queues->lookers);
}

int lookers_begin(struct queue *queue)
{
    lookers_change(queue->queues);
    return 0;
}

void lookers_end(struct queue *queue)
{
    lookers_change(queue->queues);
}

void lookers_configure(struct queues *queues)
{
    lookers_change(queues);
}

void lookers_link_up(struct queues *queues)
{
    lookers_ask_anew(queues->lookers);
}

void lookers_leave(struct queues *queues)
{
    struct lookers *lookers = queues->lookers;
    struct later_command cmd = { 0 };

    lookers->left = true;
    timer_stop(lookers->ask);
    if (!lookers->set[0] || !link_is_up(queues->link))
        return;
    later_permit_look_away(&cmd, queues->prefix, lookers->set, lookers->us);
    link_send(queues->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    link_flush(queues->link);
}

int lookers_new(struct queues *queues, struct later_error *err)
{
    struct lookers *lookers = calloc(1, sizeof *lookers);
    const char *identity = queues->options.identity;

    queues->lookers = lookers;
    if (!lookers || !(lookers->ask = timer_new(queues->base, lookers_on_timer, lookers)))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    lookers->queues = queues;
    later_digest(identity, strlen(identity), lookers->us);
    return 0;
}

void lookers_free(struct queues *queues)
{
    if (!queues->lookers)
        return;
    timer_free(queues->lookers->ask);
    free(queues->lookers);
    queues->lookers = NULL;
}
