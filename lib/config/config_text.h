/*
 * config_text.h: values, ranges and defaults of options as text, for messages and --print-config.
 *
 * A function with `out` writes at most `size` bytes there, with the NUL, and returns it.
 */
#ifndef LATER_CONFIG_TEXT_H
#define LATER_CONFIG_TEXT_H

#include "config/config_table.h"

/* Writes the shortest decimal text that strtod() reads back to the same double. 25 bytes are
 * enough. */
const char *config_text_real(double value, char *out, size_t size);

/* Writes what a row takes: "1 to 3600 seconds", "\"text\" or \"json\"", "a string". */
const char *config_text_range(const struct config_row *row, char *out, size_t size);

/* Writes all that the row says except its help: what it takes, its default, and how a change takes
 * effect: "number, 1 to 3600 seconds; default 30; HUP." */
const char *config_text_summary(const struct config_row *row, char *out, size_t size);

/* FILE:LINE: PATH: what is wrong; what would be right. Returns -1. */
int config_text_fault(const struct config_location *location, const char *path,
                      struct later_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Says that there was none. Returns -1. */
int config_no_memory(struct later_error *err);

/* Guesses the option that somebody who wrote `key` in `group` ("" = outside all groups) meant: one
 * in the same group with nearly the same letters, or of the same name elsewhere. Returns out, or
 * NULL. */
const char *config_text_nearest(const char *group, const char *key, char *out, size_t size);

/* Of words as in "a|b|c": the n-th, from 0; which of them `word` is, or -1. */
const char *config_text_word(const char *words, unsigned n, char *out, size_t size);
int config_text_word_index(const char *words, const char *word);

#endif
