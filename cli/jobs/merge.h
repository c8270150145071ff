/*
 * merge.h: the first jobs of a state of a whole queue, in the order of their scores, as if it were
 * one sorted set. Of each part one page is held at a time.
 */
#ifndef LATER_CLI_MERGE_H
#define LATER_CLI_MERGE_H

#include "queue/inspect.h"
#include "whole.h"

/* One part: the page that is held, and how far it is used. */
struct merge_source {
    const struct later_keys *keys;
    struct later_reply *page;
    size_t at, count;
    uint64_t offset;            /* of the next page */
    struct later_reply *tokens; /* of reserved: all of them */
    size_t token;               /* whose jobs the page has */
    bool ended;
};

struct merge {
    struct cli *cli;
    const char *state;
    bool by_token;
    uint64_t left; /* jobs that are wanted still */
    uint64_t over; /* of them to be passed over */
    struct merge_source sources[LATER_WHOLE_MAX];
    size_t count;
};

/* state as later_inspect_peek(); at most `most` jobs behind the first `offset`. Borrows all of them
 * until merge_end(). */
void merge_begin(struct merge *merge, struct cli *cli, const struct whole *whole, const char *state,
                 uint64_t offset, uint64_t most);

/* The next job, which borrows until the next call. Returns 1; 0 at the end; -1 with *err. */
int merge_next(struct merge *merge, struct later_seen *seen, struct later_error *err);

void merge_end(struct merge *merge);

#endif
