/*
 * expression_field.h: one field of an expression (expression.h). For expression.c only. Pure.
 */
#ifndef LATER_EXPRESSION_FIELD_H
#define LATER_EXPRESSION_FIELD_H

#include "cron/expression.h"

struct field_text {
    const char *whole; /* the expression, for messages */
    const char *text;  /* the field in it */
    size_t len;
};

/* Adds a field to *expr. Returns 0, or -1 with *err. */
int expression_field_read(struct later_expression *expr, enum later_field field,
                          const struct field_text *text, struct later_error *err);

/* Calls later_fail() with the expression and the place in it, with which each message begins. */
int expression_fail(struct later_error *err, const char *whole, const char *at, const char *why);

#endif
