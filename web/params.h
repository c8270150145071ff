/*
 * params.h: what a request names, from a query or from a JSON body. Pure; jansson's only door here.
 */
#ifndef LATER_WEB_PARAMS_H
#define LATER_WEB_PARAMS_H

#include <stddef.h>

#define PARAMS_MAX 24

struct params {
    size_t count;
    struct {
        char *name, *value; /* owned; no NUL inside */
    } all[PARAMS_MAX];
};

/* Zeroed where nothing was asked. Each fills *params, for the caller to params_free(). Returns 0;
 * or -1 with nothing in it: too many, a bad escape, a NUL; no object of strings and whole numbers.
 * A name that comes twice: the first counts, so that nobody is told one thing and does another. */
int params_query(struct params *params, const char *query);
int params_body(struct params *params, const char *bytes, size_t len);

void params_free(struct params *params);

/* NULL = not named. */
const char *params_get(const struct params *params, const char *name);

#endif
