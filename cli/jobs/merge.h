/*
 * merge.h: the first jobs of a state of a queue with its shards, ordered by score as if they were
 * in one sorted set. One page of each part is held at a time.
 */
#ifndef LATER_CLI_MERGE_H
#define LATER_CLI_MERGE_H

#include "queue/inspect.h"
#include "whole.h"

/* One part: its present page, and how far that is used. */
struct merge_source {
    const struct later_keys *keys;
    struct later_reply *page;
    size_t at, count;
    uint64_t offset;            /* of the next page */
    struct later_reply *tokens; /* all tokens, for reserved */
    size_t token;               /* the token whose jobs are on the page */
    bool ended;
};

struct merge {
    struct cli *cli;
    const char *state;
    bool by_token;
    uint64_t left; /* jobs still wanted */
    uint64_t over; /* of these, how many to skip */
    struct merge_source sources[LATER_WHOLE_MAX];
    size_t count;
};

/* Begins with `state`, as in later_inspect_peek(). It returns at most `most` jobs after the first
 * `offset`. All arguments are borrowed until merge_end(). */
void merge_begin(struct merge *merge, struct cli *cli, const struct whole *whole, const char *state,
                 uint64_t offset, uint64_t most);

/* Returns 1 with the next job, which is borrowed until the next call; 0 at the end; -1 with
 * *err. */
int merge_next(struct merge *merge, struct later_seen *seen, struct later_error *err);

void merge_end(struct merge *merge);

#endif
