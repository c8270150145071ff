/*
 * result.h: asks for a job's result, and waits for it. Encoders and decoders like queue.h.
 *
 * A result is a list of one element (scripts/finish.lua). To wait for it, have Redis move that
 * element from the list to the list itself. So it stays there for everybody else who waits, and
 * nobody polls.
 */
#ifndef LATER_RESULT_H
#define LATER_RESULT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stdint.h>

/* The call of scripts/result.lua, and its answer, borrowed from the reply. */
struct later_left {
    const char *state;   /* "" = no such job */
    const char *element; /* of the result; element_len 0 = none */
    size_t element_len;
    const char *error; /* of the job's record, a JSON object; error_len 0 = none */
    size_t error_len;
    uint32_t attempts; /* of its record */
    bool followed; /* by a job of this id that was pushed while this one ran, and has yet to come */
};
void later_result_ask(struct later_command *cmd, const struct later_keys *keys, const char *id);
void later_result_asked(const struct later_reply *reply, struct later_left *left);

/* `BLMOVE`: the reply is the element, or nil after this many seconds. */
void later_result_await(struct later_command *cmd, const struct later_keys *keys, const char *id,
                        double seconds);

/* `LREM`: removes just this element, which is from an earlier job of the id. */
void later_result_forget(struct later_command *cmd, const struct later_keys *keys, const char *id,
                         const char *element, size_t len);

/* An element. */
struct later_result_seen {
    bool dead;  /* false: done */
    bool again; /* there is, or was, a later job of this id */
    uint32_t attempt;
    double at;         /* when it ended, by Redis's clock */
    const char *value; /* within the element; for a dead job its error */
    size_t value_len;
};

/* Parses an element; false if it is not one of ours. */
bool later_result_read(struct later_result_seen *seen, const char *element, size_t len);

#endif
