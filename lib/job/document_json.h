/*
 * document_json.h: what document*.c share: from bytes to a JSON value, within bounds that jansson
 * does not keep, and to the place of a member's bytes, which jansson does not tell.
 */
#ifndef LATER_DOCUMENT_JSON_H
#define LATER_DOCUMENT_JSON_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t; /* jansson's json_t; its header stays in the .c files */

/* Parses one JSON value (RFC 8259) of any kind: no duplicate members, nested at most
 * LATER_DOCUMENT_DEPTH deep, and nothing behind it but white space. Every number becomes a real,
 * so that one of more than 64 bits is no fault. Returns a new reference; or NULL with *err:
 * LATER_E_DATA with the byte up to which it was read, LATER_E_SYSTEM without memory. */
struct json_t *later_document_json(const char *bytes, size_t len, struct later_error *err);

/* Finds the value of a member of the outermost object: its bytes without the white space around
 * them. name is plain ASCII without anything to escape, at most 32 bytes. The bytes must be an
 * object that later_document_json() took; of others nothing is read beyond len, but the answer
 * means nothing. Returns false if there is no such member. */
bool later_document_find(const char *bytes, size_t len, const char *name, const char **value,
                         size_t *value_len);

#endif
