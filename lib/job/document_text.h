/*
 * document_text.h: writing JSON: strings and numbers.
 */
#ifndef LATER_DOCUMENT_TEXT_H
#define LATER_DOCUMENT_TEXT_H

#include <stddef.h>

#define LATER_NUMBER_SIZE 32 /* the longest number and its NUL */

/* How many bytes later_document_string() writes at most. */
#define LATER_STRING_ROOM(len) (6 * (len) + 2)

/* Writes text as a JSON string with its quotes and without a NUL behind it; control bytes are
 * escaped. A byte that is no UTF-8 becomes U+FFFD; or, if bad is not NULL, writing ends there with
 * its place in *bad, from 1, which is 0 if there is none. Returns how many bytes were written. */
size_t later_document_string(char *out, const char *text, size_t len, size_t *bad);

/* Writes a finite number with as few digits as give the same double again, and with a point, in
 * whatever locale. Returns its length. */
size_t later_document_number(char out[LATER_NUMBER_SIZE], double number);

#endif
