/*
 * left.h: what the handler of a done job that is kept gave back (doc/protocol.md, "Results"), for
 * those who look at the job.
 */
#ifndef LATER_CLI_LEFT_H
#define LATER_CLI_LEFT_H

#include "cli.h"
#include "queue/inspect.h"

struct left {
    struct later_reply *reply; /* owned */
    const char *value;         /* JSON, byte for byte; NULL: it left none, or it is not kept */
    size_t len;
};

/* Asks for what this job, in a part of a queue, has left; nothing is asked of one that is not done.
 * What is of another job of its id, or may not be read, is left out. Returns 0, or -1 with *err if
 * Redis does not answer. left_free() is due in both cases. */
int left_find(struct cli *cli, const struct later_keys *part, const struct later_seen *seen,
              struct left *left, struct later_error *err);
void left_free(struct left *left);

#endif
