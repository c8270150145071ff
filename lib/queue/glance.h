/*
 * glance.h: asks for the sizes of many queues by plain commands: encoders and decoders like
 * queue.h.
 *
 * The script size shows a queue at one moment. For a thousand queues it costs Redis four times as
 * much as these commands. But these are answered one by one, so jobs that move meanwhile may be
 * counted twice, or not at all. That is good enough to look at, but not to add up.
 *
 *     for (want = LATER_GLANCE_FULL; want; want = later_glance_more(&glance, NULL))
 *         for (each n that is in want) {
 *             later_glance_ask(&cmd, &keys, n, now);           … send all of them …
 *             later_glance_read(&glance, n, reply);            … with each answer …
 *         }
 *     if (!later_glance_done(&glance, now)) … ask the script size
 *
 * Who looks again and again asks less: of a queue that was looked at before, LATER_GLANCE_CHANGE
 * tells whether anything has changed, and later_glance_more() says what else is to be asked then.
 * Not seen so are leases that run out: LATER_GLANCE_OVERDUE is to be asked now and then.
 */
#ifndef LATER_GLANCE_H
#define LATER_GLANCE_H

#include "queue/inspect.h"

/* The questions. BESIDE: how many of the keys `paused` and `shards` there are. FIRST, LAST: of the
 * ready jobs. */
enum {
    LATER_GLANCE_STATS,
    LATER_GLANCE_READY,
    LATER_GLANCE_DELAYED,
    LATER_GLANCE_BESIDE,
    LATER_GLANCE_DEAD,
    LATER_GLANCE_WAITING,
    LATER_GLANCE_FIRST,
    LATER_GLANCE_LAST,
    LATER_GLANCE_FAIR,
    LATER_GLANCE_OVERDUE,
    LATER_GLANCE_PAUSED,
    LATER_GLANCE_PLAN,
    LATER_GLANCE_NEWS, /* only if somebody wants them */
    LATER_GLANCES
};

/* Questions are in sets, a bit for each. */
#define LATER_GLANCE_BIT(n) (1u << (n))
#define LATER_GLANCE_CHANGE                                                                        \
    (LATER_GLANCE_BIT(LATER_GLANCE_STATS) | LATER_GLANCE_BIT(LATER_GLANCE_READY) |                 \
     LATER_GLANCE_BIT(LATER_GLANCE_DELAYED) | LATER_GLANCE_BIT(LATER_GLANCE_BESIDE))
#define LATER_GLANCE_FULL                                                                          \
    (LATER_GLANCE_CHANGE | LATER_GLANCE_BIT(LATER_GLANCE_DEAD) |                                   \
     LATER_GLANCE_BIT(LATER_GLANCE_WAITING) | LATER_GLANCE_BIT(LATER_GLANCE_FIRST) |               \
     LATER_GLANCE_BIT(LATER_GLANCE_OVERDUE))

/* Zero it first; or, where a queue was looked at before, begin with what was seen then, and with
 * `asked` 0. */
struct later_glance {
    struct later_sizes sizes; /* all but `jobs`; `news` if they were asked for */
    struct later_plan plan;   /* of shards */
    uint32_t asked;           /* the questions that were answered */
    uint32_t beside;          /* the answer to BESIDE */
    bool ready;               /* a job is ready */
    bool fair;                /* its place may go by groups */
    double first, last;       /* the lowest and the highest score in ready */
};

/* Encodes question n. now: Redis's clock, from a moment ago. */
void later_glance_ask(struct later_command *cmd, const struct later_keys *keys, unsigned n,
                      double now);

/* Reads the answer to it. */
void later_glance_read(struct later_glance *glance, unsigned n, const struct later_reply *reply);

/* Has something changed since `before`, as far as was asked? */
bool later_glance_changed(const struct later_glance *glance, const struct later_glance *before);

/* The set of what is still to be asked. before: what was seen of it when all had been asked; NULL:
 * nothing is known. */
uint32_t later_glance_more(const struct later_glance *glance, const struct later_glance *before);

/* All of them were answered: works out the rest. False: scores do not tell which ready job is the
 * oldest, since there are priorities or groups, a score of 0, or none from the last eleven days. */
bool later_glance_done(struct later_glance *glance, double now);

#endif
