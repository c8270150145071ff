/*
 * groups.h: the groups that share a queue (doc/protocol.md, "Groups"), those with most ready jobs
 * first.
 */
#ifndef LATER_CLI_GROUPS_H
#define LATER_CLI_GROUPS_H

#include "whole.h"

#include <stdint.h>

/* A group with ready jobs. */
struct group {
    char name[LATER_GROUP_MAX + 1]; /* "" = jobs without a group */
    uint64_t ready;                 /* its ready jobs, of all priorities and shards */
    double oldest;                  /* age of the oldest in seconds, -1 = not seen */
};

struct group_list {
    struct group *groups; /* owned; those with most ready jobs first */
    size_t count, room;
};

/* Reads the groups of a queue, in pages, without any `oldest`. Zero *list first, and free it by
 * groups_free() in any case. Returns 0, or -1 with *err. */
int groups_count(struct cli *cli, const struct whole *whole, struct group_list *list,
                 struct later_error *err);

/* The same, and of each group that has one among the first 500 ready jobs the age of its oldest. */
int groups_read(struct cli *cli, const struct whole *whole, struct group_list *list,
                struct later_error *err);

void groups_free(struct group_list *list);

#endif
