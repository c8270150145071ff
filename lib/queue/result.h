/*
 * result.h: asking for a job's result, and waiting for it. Encoders and decoders like queue.h.
 *
 * A result is a list of one element (scripts/finish.lua). To wait for it is to have Redis move that
 * element onto its own list: it stays there for everybody else who waits, and nobody polls.
 */
#ifndef LATER_RESULT_H
#define LATER_RESULT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stdint.h>

/* scripts/result.lua; what it answers, borrowed from the reply. */
struct later_left {
    const char *state;   /* "" = no such job */
    const char *element; /* of the result; element_len 0 = none */
    size_t element_len;
    const char *error; /* of the job's record, a JSON object; error_len 0 = none */
    size_t error_len;
    uint32_t attempts; /* of its record */
};
void later_result_ask(struct later_command *cmd, const struct later_keys *keys, const char *id);
void later_result_asked(const struct later_reply *reply, struct later_left *left);

/* `BLMOVE`: the reply is the element, nil after so many seconds. */
void later_result_await(struct later_command *cmd, const struct later_keys *keys, const char *id,
                        double seconds);

/* `LREM`: takes away just this element, of an earlier life. */
void later_result_forget(struct later_command *cmd, const struct later_keys *keys, const char *id,
                         const char *element, size_t len);

/* An element. */
struct later_result_seen {
    bool dead; /* else done */
    uint32_t attempt;
    double at;         /* Redis's time of its end */
    const char *value; /* within the element; of one that is dead its error */
    size_t value_len;
};

/* Takes an element apart; false where it is none of ours. */
bool later_result_read(struct later_result_seen *seen, const char *element, size_t len);

#endif
