/*
 * push.h: pushing one job, as a bulk of one, for `later`, which needs to know more of the outcome
 * than later_push() says.
 */
#ifndef LATER_PUSH_H
#define LATER_PUSH_H

#include "job/push_item.h"
#include "later/client.h"

/* How it went. */
struct later_pushed {
    char id[LATER_ID_SIZE];
    enum later_push_result how;
    char state[16]; /* of one that is known, else "" */
};

/* As later_push(). */
int later_push_told(struct later_client *client, const char *queue, const struct later_new_job *job,
                    struct later_pushed *pushed, struct later_error *err);

/* The same of one that has its id and its document, which are taken as they are. */
int later_push_made(struct later_client *client, const char *queue,
                    const struct later_push_item *item, struct later_pushed *pushed,
                    struct later_error *err);

/* Do its times, and what it asks for of its id, go together? later_push_told() asks that, too; here
 * `later` does before it asks Redis anything. Returns 0, or -1 with *err. */
int later_push_goes(const struct later_new_job *job, struct later_error *err);

#endif
