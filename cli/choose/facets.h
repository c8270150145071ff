/*
 * facets.h: counts the jobs that were chosen by what they have in common: `--by type,kind`.
 */
#ifndef LATER_CLI_FACETS_H
#define LATER_CLI_FACETS_H

#include "choose/choose.h"

#define FACETS_MAX    8    /* names of one --by */
#define FACETS_KNOWN  1000 /* values of one name that are told apart */
#define FACETS_SHOWN  100  /* of those, the most frequent ones */
#define FACETS_LENGTH 128  /* bytes of a value; what is longer is none */

/* A row of the table of options of a command that counts by values. */
#define FACETS_OPTION                                                                              \
    {                                                                                              \
        "by", 0, "NAME,…",                                                                         \
            "count by state, queue, kind, host, or a value such as type, payload.tenant"           \
    }

/* The names of the values, and how many jobs have each. */
struct facets {
    size_t count;
    struct facet *all; /* owned, `count` of them; NULL = none */
};

/* Reads --by, which need not have been given. Returns 0, and then facets_end() is due; or -1 with
 * *err. */
int facets_begin(struct facets *facets, const struct cli *cli, struct later_error *err);

/* Does a value have to be read from the job's record or document? */
bool facets_read(const struct facets *facets);

/* Counts a job of this queue. Returns 0, or -1 with *err (no memory). */
int facets_add(struct facets *facets, const char *queue, const struct chosen *chosen,
               struct later_error *err);

/* Prints, for each name, its most frequent values, how many jobs have others, and how many have
 * none. Those that came after FACETS_KNOWN others are among the others. */
void facets_print(const struct facets *facets, const struct cli *cli);

void facets_end(struct facets *facets);

#endif
