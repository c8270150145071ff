/*
 * members.h: the members of `reserved`, `TOKEN:id`, found by the id or by the token.
 */
#ifndef LATER_CLI_MEMBERS_H
#define LATER_CLI_MEMBERS_H

#include "cli.h"

/* Calls fn for each member of `reserved` that matches the glob (NULL = all), by paged ZSCAN: a
 * member may come twice, and one that moves meanwhile may be missed. The member is NUL-terminated
 * and borrowed. Stops early where fn returns non-zero. Returns what fn returned last; -1 with *err
 * where Redis fails. */
typedef int members_fn(void *arg, const char *member, size_t len);
int members_scan(struct cli *cli, const struct later_keys *keys, enum later_key key,
                 const char *glob, members_fn *fn, void *arg, struct later_error *err);

/* Likewise for each field of a hash (jobs, records) with its value. */
typedef int members_hash_fn(void *arg, const char *field, const char *value);
int members_scan_hash(struct cli *cli, const struct later_keys *keys, enum later_key key,
                      members_hash_fn *fn, void *arg, struct later_error *err);

/* The member of an id, malloc'ed, into *member; NULL there where it is not reserved. Returns 0, or
 * -1 with *err. */
int members_of_id(struct cli *cli, const struct later_keys *keys, const char *id, char **member,
                  struct later_error *err);

/* Gives back what was reserved under a token whose answer was lost. Returns how many, or -1 with
 * *err. */
int members_return(struct cli *cli, const struct later_keys *keys, const char *token,
                   struct later_error *err);

#endif
