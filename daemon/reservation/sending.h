/*
 * sending.h: one call that settles jobs: which ones go together, and how it is encoded.
 *
 * The jobs of a call are of one queue, verb and token, and at most 500. Of those that leave
 * something (a result, a value, themselves) only jobs that are done go together, if they are kept
 * in the same way and have no hook; their values are at most 256 KiB in a call. Of those that leave
 * notes (a checkpoint, a log) at most 16 go together. Whoever has a page
 * mapped may write there meanwhile, so what is read of a slot is read once.
 */
#ifndef LATERD_SENDING_H
#define LATERD_SENDING_H

#include "reservation/slots.h"

#include <stddef.h>

struct outbox;

struct sending_item {
    struct slots *slots;
    struct slot *slot;
    char token[LATER_TOKEN_LEN + 1]; /* the slot's: its writer may change it meanwhile */
    bool unknown;                    /* an earlier call may have settled it */
};

/* A call. Free it with free(). */
struct sending {
    struct outbox *outbox;         /* gets the answer */
    const struct later_keys *keys; /* borrowed, as the host is */
    enum later_verb verb;
    const char *host; /* for the error records */
    bool whole;       /* by itself it goes by the token and the number of its jobs */
    bool noted;       /* Redis has its jobs' notes */
    size_t count;
    struct sending_item items[];
};

/* Returns the verb of the call that settles a slot's job: FINISH if the job leaves something. */
enum later_verb sending_verb(const struct slot *slot);

/* Returns how many of these items go in one call with the first of them; 0 if there is none. */
size_t sending_count(enum later_verb verb, const struct sending_item *items, size_t count);

/* Returns how many may go in one call with a reserve: of acks those of sending_count(); of what
 * leaves something a single one that is done, and leaves a result or a value only. */
size_t sending_joins(enum later_verb verb, const struct sending_item *items, size_t count);

/* Returns a call for those, which it has taken out of `items`: *count are left, in their order.
 * Its outbox and host are not set yet. NULL: no memory; then all are still there. */
struct sending *sending_take(const struct later_keys *keys, enum later_verb verb,
                             struct sending_item *items, size_t *count);

/* Encodes the call that has to be answered before this one is sent, if a job of it has left a
 * checkpoint, or has logged something, that stays with it: under another token nobody could tell it
 * to Redis. Returns false, with nothing in *cmd, if there is none. */
bool sending_encode_notes(const struct sending *sending, struct later_command *cmd);

/* Encodes the call: by itself if `take` is NULL, else job by job, in one call with that reserve.
 * Returns false, with nothing in *cmd, without memory. */
bool sending_encode(const struct sending *sending, const struct later_take *take,
                    struct later_command *cmd);

#endif
