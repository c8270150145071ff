/*
 * members.h: the members of a queue's sets, and what is reserved: by the id or by the token.
 */
#ifndef LATER_CLI_MEMBERS_H
#define LATER_CLI_MEMBERS_H

#include "cli.h"
#include "queue/queue.h"

/* Calls fn for each member of ready, delayed or dead, by paged ZSCAN: a member may come twice, and
 * one that moves meanwhile may be missed. The member is NUL-terminated and borrowed. Stops early
 * where fn returns non-zero. Returns what fn returned last; -1 with *err where Redis fails. */
typedef int members_fn(void *arg, const char *member, size_t len);
int members_scan(struct cli *cli, const struct later_keys *keys, enum later_key key, members_fn *fn,
                 void *arg, struct later_error *err);

/* Likewise for each field of a hash (jobs, records) with its value. */
typedef int members_hash_fn(void *arg, const char *field, const char *value);
int members_scan_hash(struct cli *cli, const struct later_keys *keys, enum later_key key,
                      members_hash_fn *fn, void *arg, struct later_error *err);

/* The tokens that hold something, each with the end of its lease behind it, in this order; to be
 * freed. And the i-th of them. Returns 0, or -1 with *err and NULL. */
int members_tokens(struct cli *cli, const struct later_keys *keys, struct later_reply **tokens,
                   struct later_error *err);
const char *members_token(const struct later_reply *tokens, size_t i);

/* The ids that a token holds, in the order that they had in ready; to be freed. NULL with *err. */
struct later_reply *members_held(struct cli *cli, const struct later_keys *keys, const char *token,
                                 struct later_error *err);

/* The token under which an id is reserved; "" where it is not. Returns 0, or -1 with *err. */
int members_token_of(struct cli *cli, const struct later_keys *keys, const char *id,
                     char token[LATER_TOKEN_LEN + 1], struct later_error *err);

/* Gives back what was reserved under a token whose answer was lost. Returns how many, or -1 with
 * *err. */
int members_return(struct cli *cli, const struct later_keys *keys, const char *token,
                   struct later_error *err);

#endif
