/*
 * why_inner.h: what the files of why.h share.
 */
#ifndef LATER_CLI_WHY_INNER_H
#define LATER_CLI_WHY_INNER_H

#include "ahead.h"
#include "queues/laid.h"
#include "why/why.h"
#include "status/served.h"

/* One job that is looked at. All is looked at twice: in the first round questions are only sent,
 * and in the second the answers are there. */
struct why_look {
    struct why *why;
    const struct whole *whole;
    const struct later_keys *part; /* where the job is */
    const struct later_seen *seen;
    const struct later_document *doc;
    struct later_why_facts *facts;

    bool sends; /* it is the first round */
    bool away;  /* Redis did not answer: *err */
    struct ahead ahead;
    struct later_error *err;

    /* what facts borrow */
    struct later_pause pause;
    struct laid laid;          /* of its part of the queue */
    struct later_override set; /* of its line */
    char kind[24], text[1024]; /* of the last error */
    char owner[256], line[201], steps[256], flow[65];
    later_queue_name home, unserved; /* of its flow */
    char lost[80], fault[256], full[100];
    const json_t *quiet; /* one of the hosts that serve its queue, if all are */
};

/* Asks for an answer, for the caller to free. NULL: it is not there (yet), or may not be read. */
struct later_reply *why_ask(struct why_look *look, struct later_command *cmd);

/* What it waits for in a line, if it is in one; in its flows. They fill in the facts. */
void why_line_look(struct why_look *look);
void why_flow_look(struct why_look *look);

#endif
