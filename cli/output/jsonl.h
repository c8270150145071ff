/*
 * jsonl.h: writes one JSON object per line, directly to the stream.
 *
 *     jsonl_line(stdout, "queue:%s ready:%ju", "mail", ready);
 *
 *     jsonl_begin(&json, stdout);              the same, piece by piece
 *     jsonl_add(&json, "queue:%s", "mail");
 *     jsonl_int(&json, "ready", 3);
 *     jsonl_end(&json);
 */
#ifndef LATER_CLI_JSONL_H
#define LATER_CLI_JSONL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jsonl {
    FILE *out;
    bool more; /* there is a member already */
};

void jsonl_begin(struct jsonl *json, FILE *out);

/* Ends the object and the line. */
void jsonl_end(struct jsonl *json);

/* Write members in printf's form: the name of each and a colon before its conversion, a space
 * between two of them. %s: a text, NULL = null; %d, %u, %jd, %ju: a whole number; %f: a number with
 * at most six decimals, NAN = null; %c: a bool. What is no conversion is a text. jsonl_line()
 * writes the whole line. */
void jsonl_add(struct jsonl *json, const char *format, ...) __attribute__((format(printf, 2, 3)));
void jsonl_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write a member, for names that are not known before, and what has no conversion. Bytes become a
 * string; those that are not UTF-8 become U+FFFD. Raw text is copied and must be JSON without a
 * newline. name: NULL in a list. */
void jsonl_bytes(struct jsonl *json, const char *name, const char *bytes, size_t len);
void jsonl_text(struct jsonl *json, const char *name, const char *text);
void jsonl_int(struct jsonl *json, const char *name, int64_t number);
void jsonl_real(struct jsonl *json, const char *name, double number);
void jsonl_texts(struct jsonl *json, const char *name, const char *const *words, size_t count);
void jsonl_raw(struct jsonl *json, const char *name, const char *value);

/* Begin and end a member that is an object or a list: `{` and `}`, `[` and `]`. */
void jsonl_open(struct jsonl *json, const char *name, char bracket);
void jsonl_close(struct jsonl *json, char bracket);

/* Writes bytes that somebody else stored as JSON: as jsonl_raw() if they are JSON, otherwise as
 * jsonl_bytes(). */
void jsonl_foreign(struct jsonl *json, const char *name, const char *bytes, size_t len);

/* Writes one such string alone, with its quotes. */
void jsonl_string(FILE *out, const char *bytes, size_t len);

/* Writes such a list of strings alone: no object, no newline. */
void jsonl_list(FILE *out, const char *const *words, size_t count);

/* Closes a stream of open_memstream(), and returns its text, malloc'ed; NULL without memory. */
char *jsonl_written(FILE *out, char **text);

#endif
