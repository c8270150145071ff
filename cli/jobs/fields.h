/*
 * fields.h: reads the records and documents of some jobs of one queue, with one HMGET per hash in
 * one round trip. That costs Redis a fraction of what a script would need that looks at each job.
 */
#ifndef LATER_CLI_FIELDS_H
#define LATER_CLI_FIELDS_H

#include "cli.h"

/* The fields of the hashes: element i belongs to id i, and is nil if there is none. For done jobs,
 * `documents` has record and document in one, and `records` is NULL. */
struct fields {
    struct later_reply *records, *documents;
    struct later_reply *scores; /* NULL = not needed */
};

/* ids: `count` ids, at least 1, all of one set. Returns 0, and then fields_free() is due; or -1
 * with *err. */
int fields_read(struct fields *fields, struct cli *cli, const struct later_keys *keys,
                enum later_key set, const char *const *ids, const size_t *lens, size_t count,
                struct later_error *err);
void fields_free(struct fields *fields);

/* An id without a document: is it a member that is its own document, and not the id of a job that
 * has ended meanwhile? i: its place among the ids; score: the one it was seen with. A member that
 * begins like an object is no id of a job; any other one must still be in its set. */
bool fields_has_member(const struct fields *fields, size_t i, const char *member,
                       const char *score);

/* Returns the bytes of all documents together. */
size_t fields_bytes(const struct fields *fields);

#endif
