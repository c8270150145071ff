/*
 * route.h: finds the `later` command that answers a request. Pure.
 *
 * Everything that the pages do is a command of `later`, so each can be shown and typed as well. A
 * request has named parameters. Each has a form, and a value that does not fit is refused here,
 * before it gets any further.
 */
#ifndef LATER_WEB_ROUTE_H
#define LATER_WEB_ROUTE_H

#include "http/params.h"
#include "http/role.h"

#include <stdbool.h>

#define ORDER_WORDS 48

/* What /metrics is for those who prefer it. */
#define ROUTE_OPENMETRICS "/metrics/openmetrics"

/* A command line. Its words are borrowed from the parameters and the table, or are in `room`. */
struct order {
    const char *name;                   /* the end of its path, as "pause"; static */
    const char *words[ORDER_WORDS + 1]; /* NULL-terminated; without "later" */
    size_t count;
    bool act;        /* it changes something */
    const char *raw; /* its lines are the answer, of this Content-Type; NULL = they are not */
    bool stream;     /* its lines are sent one by one, as they come: as events, or as a file */
    double patience; /* seconds that it may take, */
    double first;    /* and until its first line; 0 = as long */
    char room[2048];
    size_t used;
};

/* Finds the command for a path. Returns 0, or an HTTP status (404, 405, 400) with a message in
 * *why. */
int route_order(struct order *order, const char *path, bool post, const struct params *params,
                const char **why);

/* The role that a POST to this path needs. */
enum role route_needs(const char *path);

/* Returns what a person would type, "later …", without --json, --yes, --ask and --progress.
 * malloc'ed; NULL without memory. */
char *route_spell(const struct order *order);

#endif
