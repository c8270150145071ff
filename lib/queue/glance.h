/*
 * glance.h: asks for the sizes of many queues by plain commands: encoders and decoders like
 * queue.h.
 *
 * The script size shows a queue at one moment. For a thousand queues it costs Redis four times as
 * much as these commands. But these are answered one by one, so jobs that move meanwhile may be
 * counted twice, or not at all. That is good enough to look at, but not to add up.
 *
 *     for (n = 0; n < LATER_GLANCES; n++)
 *         later_glance_ask(&cmd, &keys, n, now);               … send each …
 *     later_glance_read(&glance, n, reply);                    … of each answer …
 *     if (!later_glance_done(&glance, now)) … ask the script size
 */
#ifndef LATER_GLANCE_H
#define LATER_GLANCE_H

#include "queue/inspect.h"

#define LATER_GLANCES 12

/* Zero it first. */
struct later_glance {
    struct later_sizes sizes; /* all but `jobs` */
    struct later_plan plan;   /* of shards */
    bool ready;               /* a job is ready */
    bool fair;                /* its place may go by groups */
    double first, last;       /* the lowest and the highest score in ready */
};

/* Encodes command n of them. now: Redis's clock, from a moment ago. */
void later_glance_ask(struct later_command *cmd, const struct later_keys *keys, unsigned n,
                      double now);

/* Reads the answer to it. */
void later_glance_read(struct later_glance *glance, unsigned n, const struct later_reply *reply);

/* All of them were answered: works out the rest. False: scores do not tell which ready job is the
 * oldest, since there are priorities or groups, a score of 0, or none from the last eleven days. */
bool later_glance_done(struct later_glance *glance, double now);

#endif
