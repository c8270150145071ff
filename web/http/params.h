/*
 * params.h: the parameters of a request, from its query or from a JSON body. Pure. No other file
 * here uses jansson.
 */
#ifndef LATER_WEB_PARAMS_H
#define LATER_WEB_PARAMS_H

#include <stddef.h>

#define PARAMS_MAX 24

struct params {
    size_t count;
    struct {
        char *name, *value; /* owned; without NULs */
    } all[PARAMS_MAX];
};

/* Zeroed if there are no parameters. Both functions fill *params, and the caller calls
 * params_free(). They return 0; or -1 with *params empty, if there are too many, if there is a bad
 * escape or a NUL, or if the body is not an object of strings, whole numbers and lists of them. A
 * list gives its name several values, as a query does that has a name several times. */
int params_query(struct params *params, const char *query);
int params_body(struct params *params, const char *bytes, size_t len);

void params_free(struct params *params);

/* Returns its first value, so that what is checked is also what is done; NULL if the request does
 * not have it. */
const char *params_get(const struct params *params, const char *name);

/* Its value number n, from 0; NULL if there are no more. */
const char *params_nth(const struct params *params, const char *name, size_t n);

#endif
