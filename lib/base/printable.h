/*
 * printable.h: keeps harmful bytes from terminals. Pure.
 */
#ifndef LATER_PRINTABLE_H
#define LATER_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character at `bytes`: returns how many bytes it has, 1 … 4, and sets *number; 0 if it
 * is not UTF-8 (RFC 3629, section 4), or if len is 0. */
size_t later_character(const char *bytes, size_t len, uint32_t *number);

/* Would it change the screen, or the order in which text is read? Control characters (C0, DEL, C1),
 * line and paragraph separators, changes of direction. */
bool later_character_hidden(uint32_t number);

/* What stands for such a character: a space for tabs and ends of lines, as tracebacks have them;
 * '?' for all others, and for a byte that is not UTF-8 (size 0). */
char later_character_instead(size_t size, uint32_t number);

/* Replaces each such character, and each byte that is not UTF-8, by what stands for it. */
void later_make_printable(char *text);

#endif
