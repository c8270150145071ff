/*
 * members.h: the members of a queue's sets, and reserved jobs by id or by token.
 */
#ifndef LATER_CLI_MEMBERS_H
#define LATER_CLI_MEMBERS_H

#include "cli.h"
#include "queue/queue.h"

/* Counts the members of a set or the fields of a hash. Returns -1 with *err if Redis fails. */
int64_t members_count(struct cli *cli, const struct later_keys *keys, enum later_key key,
                      struct later_error *err);

/* Calls fn for each member of ready, delayed or dead with its score, or for each field of jobs,
 * records or fair with its value, by pages of a scan. A member may come twice, and one that moves
 * meanwhile may be missed. Member and value are NUL-terminated and borrowed. If fn returns
 * non-zero, the scan stops. Returns what fn returned last, or -1 with *err if Redis fails. */
typedef int members_fn(void *arg, const char *member, size_t len, const char *value);
int members_scan(struct cli *cli, const struct later_keys *keys, enum later_key key, members_fn *fn,
                 void *arg, struct later_error *err);

/* Asks for what members_tokens() answers. */
void members_ask_tokens(struct later_command *cmd, const struct later_keys *keys);

/* members_tokens() lists the tokens that hold something, each followed by the end of its lease, in
 * that order. The caller frees the list. Returns 0, or -1 with *err and NULL. members_token()
 * returns the i-th. */
int members_tokens(struct cli *cli, const struct later_keys *keys, struct later_reply **tokens,
                   struct later_error *err);
const char *members_token(const struct later_reply *tokens, size_t i);

/* Lists the ids that a token holds, in the order that they had in ready. The caller frees the list.
 * NULL with *err. */
struct later_reply *members_held(struct cli *cli, const struct later_keys *keys, const char *token,
                                 struct later_error *err);

/* Finds the token under which an id is reserved, or "". Returns 0, or -1 with *err. */
int members_token_of(struct cli *cli, const struct later_keys *keys, const char *id,
                     char token[LATER_TOKEN_LEN + 1], struct later_error *err);

/* Gives back the jobs of a token whose reserve got no answer, if Redis can be reached. */
void members_return(struct cli *cli, const struct later_keys *keys, const char *token);

#endif
