/*
 * outbox_call.h: the command that settles some slots of one token; of outbox.c.
 *
 * A worker mostly ends all jobs of a reserve before it acks the first of them. Then the token and
 * their number say as much as their ids do, and Redis takes the ids from its own set: ack_all.
 */
#ifndef LATERD_OUTBOX_CALL_H
#define LATERD_OUTBOX_CALL_H

#include "reservation/outbox.h"

struct item {
    struct slots *slots;
    struct slot *slot;
    char token[LATER_TOKEN_LEN + 1]; /* the slot's: its writer may change it meanwhile */
};

/* One call without an answer. */
struct sending {
    struct outbox *outbox;
    const char *host; /* for the error records; borrowed */
    const struct later_keys *keys;
    enum later_verb verb;
    bool whole; /* it goes by the token and the number of its jobs */
    size_t count;
    struct item items[];
};

/* May it go so: are these all the jobs that the token was ever given, and all are done? */
bool outbox_call_whole(const struct sending *sending);

/* Encodes it; returns false, with nothing in *cmd, without memory. */
bool outbox_call(const struct sending *sending, struct later_command *cmd);

#endif
