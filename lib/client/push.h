/*
 * push.h: pushes one job, as a bulk of one, for `later`, which needs to know more about the outcome
 * than later_push() tells.
 */
#ifndef LATER_PUSH_H
#define LATER_PUSH_H

#include "job/push_item.h"
#include "later/client.h"

/* How it went. */
struct later_pushed {
    char id[LATER_ID_SIZE];
    enum later_push_result how;
    char state[16]; /* the state of a known job, else "" */
};

/* Like later_push(). */
int later_push_told(struct later_client *client, const char *queue, const struct later_new_job *job,
                    struct later_pushed *pushed, struct later_error *err);

/* The same for a job that has its id and its document, which are pushed as they are. */
int later_push_made(struct later_client *client, const char *queue,
                    const struct later_push_item *item, struct later_pushed *pushed,
                    struct later_error *err);

/* Can its times, and its options for its id, be used together? later_push_told() checks this too;
 * `later` calls it before it asks Redis anything. Returns 0, or -1 with *err. */
int later_push_goes(const struct later_new_job *job, struct later_error *err);

#endif
