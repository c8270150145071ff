/*
 * document_member.h: reading the members of a job document.
 */
#ifndef LATER_DOCUMENT_MEMBER_H
#define LATER_DOCUMENT_MEMBER_H

#include "job/document.h"

struct json_t; /* jansson's json_t; its header stays in the .c files */

/* Checks the value of a member and puts it into *doc; value is of later_document_json(). `payload`
 * and members that are none of ours are left alone, and so are those of a line if it is a job.
 * Returns 0, or -1 with *err (LATER_E_DATA) and the member's field of *doc undefined. */
int later_document_member(struct later_document *doc, enum later_document_use use, const char *name,
                          const struct json_t *value, struct later_error *err);

#endif
