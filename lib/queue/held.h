/*
 * held.h: the locks, permits and limits that are in use now. Encoders like inspect.h, of plain
 * commands; read their answers with reply.h.
 *
 * All of them end by themselves, so one that was listed may be gone when you look at it.
 */
#ifndef LATER_HELD_H
#define LATER_HELD_H

#include "redis/command.h"
#include "redis/key.h"

#include <stdbool.h>
#include <stddef.h>

enum later_held {
    LATER_HELD_LOCK,    /* a hash; to look at it: lock.h */
    LATER_HELD_PERMIT,  /* a sorted set of tokens by the times at which they end */
    LATER_HELD_FIXED,   /* a limit: the count in its window */
    LATER_HELD_SLIDING, /* a limit: a list of times, the newest first */
    LATER_HELD_COUNT
};

/* "lock", "permit", "limit". Static. */
const char *later_held_word(enum later_held kind);

/* `SCAN` for the keys of a kind, of one node: one page, read by later_inspect_scanned(). */
void later_held_scan(struct later_command *cmd, const char *prefix, enum later_held kind,
                     const char *cursor);

/* Finds the name in such a key. *waits: the key is the line of jobs that wait for it, which may
 * exist while it is free. False: it is another program's key, or one that says nothing. */
#define LATER_HELD_NAME 201
bool later_held_name(char name[LATER_HELD_NAME], const char *key, bool *waits);

/* For a permit: how many are taken (ZCOUNT); when the first of them ends unless it is renewed (that
 * member with its score). now: by Redis's clock; earlier ones are over. */
void later_held_holders(struct later_command *cmd, const char *prefix, const char *name,
                        double now);
void later_held_first_end(struct later_command *cmd, const char *prefix, const char *name,
                          double now);

/* The key of its line. */
void later_held_key(char key[LATER_KEY_MAX], const char *prefix, enum later_held kind,
                    const char *name);

/* How many jobs are in its line; `QUEUE ID` of the first `limit`. Some of them may be gone: they
 * wait if they are in `delayed`. */
void later_held_waiting(struct later_command *cmd, const char *prefix, enum later_held kind,
                        const char *name);
void later_held_waiters(struct later_command *cmd, const char *prefix, enum later_held kind,
                        const char *name, size_t limit);

/* For a limit: how often it was used (GET, LLEN); the first of the last so many of those times, 0 =
 * of all (LINDEX; SLIDING only); the milliseconds until it is forgotten (PTTL). There may be more
 * times than it allows if it allowed more before. */
void later_held_used(struct later_command *cmd, const char *prefix, enum later_held kind,
                     const char *name);
void later_held_oldest(struct later_command *cmd, const char *prefix, const char *name,
                       int64_t last);
void later_held_left(struct later_command *cmd, const char *prefix, const char *name);

#endif
