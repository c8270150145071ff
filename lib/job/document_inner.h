/*
 * document_inner.h: what document.c and document_line.c share, and nobody else.
 */
#ifndef LATER_DOCUMENT_INNER_H
#define LATER_DOCUMENT_INNER_H

#include "job/document.h"
#include "job/json.h"

/* Checks a member that later_json_scan() found, by its name, and puts it into *doc. Returns 0, or
 * -1 with *err. */
int later_document_member(struct later_document *doc, const struct later_json_member *value,
                          struct later_error *err);

#endif
