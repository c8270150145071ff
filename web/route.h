/*
 * route.h: which `later` command answers a request. Pure.
 *
 * Nothing is done for the pages that is not a command of `later`, so each can be shown, and typed
 * as well. A request names parameters; each has a form, and one that has not is refused here,
 * before anybody sees it.
 */
#ifndef LATER_WEB_ROUTE_H
#define LATER_WEB_ROUTE_H

#include "params.h"

#include <stdbool.h>

#define ORDER_WORDS 48

/* A command line: its words are borrowed from the parameters and the table, or in `room`. */
struct order {
    const char *words[ORDER_WORDS + 1]; /* NULL-terminated; without "later" */
    size_t count;
    bool act;        /* it changes something */
    bool raw;        /* its lines are the answer, as they are */
    bool stream;     /* its lines are wanted one by one, as they come */
    double patience; /* seconds that it may take */
    char room[2048];
    size_t used;
};

/* The command for a path. Returns 0; or an HTTP status (404, 405, 400) with words in *why. */
int route_order(struct order *order, const char *path, bool post, const struct params *params,
                const char **why);

/* As a person would type it, "later …", without --json, --yes and --progress. malloc'ed; NULL
 * without memory.
 */
char *route_spell(const struct order *order);

#endif
