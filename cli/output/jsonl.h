/*
 * jsonl.h: one JSON object a line. Written as it comes, nothing is kept.
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
    bool more; /* a member stands before */
};

void jsonl_begin(struct jsonl *json, FILE *out);

/* Ends the object and the line. */
void jsonl_end(struct jsonl *json);

/* A member. Bytes become a string; those that are not UTF-8 become U+FFFD. A number has at most six
 * decimals. Raw is put in as it is: it must be JSON without a newline. */
void jsonl_bytes(struct jsonl *json, const char *name, const char *bytes, size_t len);
void jsonl_text(struct jsonl *json, const char *name, const char *text);
void jsonl_int(struct jsonl *json, const char *name, int64_t number);
void jsonl_real(struct jsonl *json, const char *name, double number);
void jsonl_bool(struct jsonl *json, const char *name, bool yes);
void jsonl_null(struct jsonl *json, const char *name);
void jsonl_raw(struct jsonl *json, const char *name, const char *value);

/* As jsonl_raw() where `bytes` is JSON, else as jsonl_bytes(): for what others stored as JSON. */
void jsonl_foreign(struct jsonl *json, const char *name, const char *bytes, size_t len);

/* A list of strings, by itself: no object, no newline. */
void jsonl_list(FILE *out, const char *const *words, size_t count);

#endif
