/*
 * walk.h: all members of ready, delayed or dead of one queue, in their order or from the last one
 * back to the first, page by page, while the queue is in use. A member that stays there meanwhile
 * is seen exactly once: a page begins behind the last member that was seen, wherever that would be
 * now, and not at a rank, which moves when others go.
 */
#ifndef LATER_CLI_WALK_H
#define LATER_CLI_WALK_H

#include "cli.h"

#define WALK_PAGE 200 /* members; one may be a whole document */

/* Zero it first, but for cli, keys, set and back. */
struct walk {
    struct cli *cli;
    const struct later_keys *keys;
    enum later_key set;
    bool back;
    char score[64]; /* of the last member that was seen, as Redis spells it */
    char *last;     /* that member; NULL = none yet */
    size_t last_len;
    uint64_t equals; /* those of this score up to it; more or fewer by now */
    struct later_reply *page;
    size_t from, count; /* the members of the page that are new */
};

/* Reads the next page: walk->from … walk->count - 1 are its new members. Returns whether there are
 * any, or -1 with *err. */
int walk_next(struct walk *walk, struct later_error *err);

/* A member of the page, NUL-terminated beyond its length; borrowed until the next page. */
const char *walk_member(const struct walk *walk, size_t i, size_t *len);

/* Its score, as Redis spells it; borrowed likewise. */
const char *walk_score(const struct walk *walk, size_t i);

/* Before the first page: as if this member had been seen last; "": as if none of this score had.
 * Returns 0, or -1 with *err. */
int walk_behind(struct walk *walk, const char *score, const char *member, struct later_error *err);

void walk_end(struct walk *walk);

#endif
