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
 * escape or a NUL, or if the body is not an object of strings and whole numbers. If a name comes
 * twice, the first one counts, so that what is checked is also what is done. */
int params_query(struct params *params, const char *query);
int params_body(struct params *params, const char *bytes, size_t len);

void params_free(struct params *params);

/* Returns NULL if the request does not have it. */
const char *params_get(const struct params *params, const char *name);

#endif
