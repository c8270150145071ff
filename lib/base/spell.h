/*
 * spell.h: texts and whole numbers into buffers, where printf would be most of the cost: a push
 * writes a dozen. Pure.
 */
#ifndef LATER_SPELL_H
#define LATER_SPELL_H

#include <stddef.h>
#include <stdint.h>

#define LATER_SPELLED 21 /* the longest number and its NUL */

/* Copies a text; of a longer one, as much as fits before the NUL. Returns how many bytes that are,
 * less than `size`, which is not 0. */
size_t later_spell_text(char *out, size_t size, const char *text);

/* Writes a number in decimal, and a NUL. Returns its length. */
size_t later_spell_number(char out[LATER_SPELLED], uint64_t number);

#endif
