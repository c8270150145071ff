/*
 * walk.h: goes over all members of ready, delayed or dead of one queue, forwards or backwards, page
 * by page, while the queue is in use. A member that stays in the set is seen exactly once: a page
 * begins after the last member seen, wherever that is now, and not at a rank, which shifts when
 * members go.
 */
#ifndef LATER_CLI_WALK_H
#define LATER_CLI_WALK_H

#include "cli.h"

#define WALK_PAGE 200 /* members; one may be a whole document */

/* Set cli, keys, set and back, and zero the rest. */
struct walk {
    struct cli *cli;
    const struct later_keys *keys;
    enum later_key set;
    bool back;
    char score[64]; /* score of the last member seen, as Redis writes it */
    char *last;     /* that member; NULL = none yet */
    size_t last_len;
    uint64_t equals; /* members of this score up to it, when it was seen */
    struct later_reply *page;
    size_t from, count; /* the range of new members on the page */
    uint64_t before;    /* members of the score of the page's first one before it */
};

/* Reads the next page. Its new members are walk->from … walk->count - 1. Returns whether there are
 * any, or -1 with *err. */
int walk_next(struct walk *walk, struct later_error *err);

/* Returns a member of the page. A NUL follows its last byte. Borrowed until the next page. */
const char *walk_member(const struct walk *walk, size_t i, size_t *len);

/* Returns its score as Redis writes it. Borrowed likewise. */
const char *walk_score(const struct walk *walk, size_t i);

/* Returns how many members of its score there are up to member i, as far as is known. */
uint64_t walk_equals(const struct walk *walk, size_t i);

/* Call this before the first page to begin after this member, or, with "", before all members of
 * this score. Returns 0, or -1 with *err. */
int walk_behind(struct walk *walk, const char *score, const char *member, struct later_error *err);

/* The same, of a member that is only known by its digest, and was the equals-th of its score. If it
 * has gone, the walk begins where it was; if others of its score before it have gone, too, as many
 * are left out. */
int walk_behind_digest(struct walk *walk, const char *score, const char *digest, uint64_t equals,
                       struct later_error *err);

void walk_end(struct walk *walk);

#endif
