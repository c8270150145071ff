/*
 * token.h: the token that is needed over TCP.
 */
#ifndef LATER_WEB_TOKEN_H
#define LATER_WEB_TOKEN_H

#include "later/error.h"

#define TOKEN_MIN 16
#define TOKEN_MAX 128

/* Reads it from the first line of a file or, if file is NULL, makes one of 128 random bits. It has
 * only letters, digits, - and _. Returns 0, or -1 with *err. */
int token_get(char token[TOKEN_MAX + 1], const char *file, struct later_error *err);

#endif
