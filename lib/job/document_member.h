/*
 * document_member.h: reading the members of a job document.
 */
#ifndef LATER_DOCUMENT_MEMBER_H
#define LATER_DOCUMENT_MEMBER_H

#include "job/document.h"
#include "job/json.h"

/* Checks the bytes of a document and its known members, and puts them into *doc, which has the
 * defaults of missing members. The members that say how to push a line are not a job's. Returns 0,
 * or -1 with *err, as later_document_parse(), and *doc undefined. */
int later_document_members(struct later_document *doc, enum later_document_use use,
                           const char *bytes, size_t len, struct later_error *err);

/* Checks one member of those, which later_json_scan() found, by its name, and puts it into *doc. */
int later_document_member(struct later_document *doc, const struct later_json_member *value,
                          struct later_error *err);

#endif
