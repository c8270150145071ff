/*
 * jsonl.h: writes one JSON object per line, directly to the stream.
 *
 *     struct jsonl json;
 *
 *     jsonl_begin(&json, stdout);
 *     jsonl_text(&json, "queue", "mail");
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

/* Write a member. Bytes become a string; those that are not UTF-8 become U+FFFD. A text that is
 * NULL becomes null, as does a number that is not known. A number has at most six decimals. Raw
 * text is copied and must be JSON without a newline. */
void jsonl_bytes(struct jsonl *json, const char *name, const char *bytes, size_t len);
void jsonl_text(struct jsonl *json, const char *name, const char *text);
void jsonl_int(struct jsonl *json, const char *name, int64_t number);
void jsonl_real(struct jsonl *json, const char *name, double number);
void jsonl_known(struct jsonl *json, const char *name, bool known, double number);
void jsonl_bool(struct jsonl *json, const char *name, bool yes);
void jsonl_texts(struct jsonl *json, const char *name, const char *const *words, size_t count);
void jsonl_raw(struct jsonl *json, const char *name, const char *value);

/* Writes bytes that somebody else stored as JSON: as jsonl_raw() if they are JSON, otherwise as
 * jsonl_bytes(). */
void jsonl_foreign(struct jsonl *json, const char *name, const char *bytes, size_t len);

/* Writes one such string alone, with its quotes. */
void jsonl_string(FILE *out, const char *bytes, size_t len);

/* Writes such a list of strings alone: no object, no newline. */
void jsonl_list(FILE *out, const char *const *words, size_t count);

#endif
