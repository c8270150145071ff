/*
 * token.h: the token that is asked for over TCP.
 */
#ifndef LATER_WEB_TOKEN_H
#define LATER_WEB_TOKEN_H

#include "later/error.h"

#define TOKEN_MIN 16
#define TOKEN_MAX 128

/* From the first line of a file, or, where file is NULL, a new one of 128 random bits. It is made
 * of letters, digits, - and _. Returns 0, or -1 with *err. */
int token_get(char token[TOKEN_MAX + 1], const char *file, struct later_error *err);

#endif
