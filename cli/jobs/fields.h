/*
 * fields.h: the records and documents of some jobs of one queue, by plain commands: an HMGET for
 * each hash, in one go. That costs Redis a fraction of what a script needs that looks at each.
 */
#ifndef LATER_CLI_FIELDS_H
#define LATER_CLI_FIELDS_H

#include "cli.h"

/* The fields of one hash: element i is that of id i, nil where there is none. Of done jobs
 * `documents` is what is kept, records and documents in one, and `records` is NULL. */
struct fields {
    struct later_reply *records, *documents;
};

/* ids: count of them, 1 or more, of one set. Returns 0, fields_free() is due then; or -1 with *err.
 */
int fields_read(struct fields *fields, struct cli *cli, const struct later_keys *keys,
                enum later_key set, const char *const *ids, const size_t *lens, size_t count,
                struct later_error *err);
void fields_free(struct fields *fields);

/* The bytes of all documents. */
size_t fields_bytes(const struct fields *fields);

#endif
