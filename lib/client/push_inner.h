/*
 * push_inner.h: what push.c and push_flow.c share, and nobody else.
 */
#ifndef LATER_PUSH_INNER_H
#define LATER_PUSH_INNER_H

#include "client/push.h"
#include "job/flow_plan.h"

/* A job in the form that is sent. Its document is built here or is the caller's; its other strings
 * are copied, or are the caller's too. */
struct later_making {
    struct later_push_item item;
    char id[LATER_ID_SIZE];
    char *built;                /* the document, if it is not the caller's; owned */
    struct later_flow_tie *tie; /* owned; NULL = it is of no flow */
    const char *adder;          /* of a job with a tie; "" = none */
    const char *home;           /* the queue of its flow; NULL = its own */
};

/* Makes it. Returns 0, or -1 with *err; the caller frees it in both cases. */
int later_making_make(struct later_making *made, const struct later_client *client,
                      const struct later_new_job *job, struct later_error *err);
void later_making_free(struct later_making *made);

/* Pushes a job with a tie into its flow, which stays open. As later_push_told(). */
int later_push_tied(struct later_client *client, const char *queue, struct later_making *made,
                    struct later_pushed *pushed, struct later_error *err);

#endif
