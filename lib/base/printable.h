/*
 * printable.h: what of foreign bytes may reach a terminal. Pure.
 */
#ifndef LATER_PRINTABLE_H
#define LATER_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at bytes: how many bytes it has, 1 … 4, and its number; 0 where it is no UTF-8 (RFC
 * 3629, section 4), or len is 0. */
size_t later_character(const char *bytes, size_t len, uint32_t *number);

/* Would it do something to the screen, or to the order in which text is read: control characters of
 * both kinds (C0, DEL, C1), line and paragraph separators, changes of direction? */
bool later_character_hidden(uint32_t number);

/* Puts a '?' in the place of each such character, and of each byte that is no UTF-8. */
void later_make_printable(char *text);

#endif
