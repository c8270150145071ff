/*
 * document_text.h: writing JSON: strings and numbers.
 */
#ifndef LATER_DOCUMENT_TEXT_H
#define LATER_DOCUMENT_TEXT_H

#include <stddef.h>

#define LATER_NUMBER_SIZE 32 /* the longest number and its NUL */

/* How many bytes later_document_string() writes at most. */
#define LATER_STRING_ROOM(len) (6 * (len) + 2)

/* Writes text as a JSON string with its quotes and no NUL; control bytes are escaped. A byte that
 * is not UTF-8 becomes U+FFFD; or, if bad is not NULL, writing stops there, and *bad is its place,
 * from 1 (0: all bytes are good). Returns how many bytes were written. */
size_t later_document_string(char *out, const char *text, size_t len, size_t *bad);

/* Writes a finite number with the fewest digits that give the same double again, and with a point
 * in any locale. Returns its length. */
size_t later_document_number(char out[LATER_NUMBER_SIZE], double number);

#endif
