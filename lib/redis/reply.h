/*
 * reply.h: what Redis answered: reading the tree, and what its errors ask for.
 *
 * A reply of an unexpected shape gives "", 0 or NULL, never a crash, since what comes from the
 * network is not to be trusted. Nothing is copied: strings live as long as the reply.
 */
#ifndef LATER_REPLY_H
#define LATER_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct later_reply; /* made by reply_make.c */

/* What to do about an error reply. */
enum later_remedy {
    LATER_REMEDY_RETRY,     /* send it again after a while: Redis is loading, busy, full */
    LATER_REMEDY_RECONNECT, /* this is not the right server any more: connect again */
    LATER_REMEDY_LOAD,      /* load the script and send it again: nothing has run */
    LATER_REMEDY_REROUTE,   /* another node has the slot (MOVED, ASK): nothing has run */
    LATER_REMEDY_ABANDON    /* it would fail again */
};

/* Returns the remedy for an error, by its first word. For an unknown word it is RETRY, so
 * that a result is kept rather than dropped. Pure. */
enum later_remedy later_reply_remedy(const char *text);

/* Does this error say that nothing was done, and that it may work soon, here or at another node:
 * the Redis that we need is away? Pure. */
bool later_reply_away(const char *text);

/* Does this text have an error of Redis in it that says that our user or password is not taken? It
 * may have words before the error, as of what was being done. Pure. */
bool later_reply_denies(const char *text);

/* Does this error say that the server does not know a command, as after rename-command in its
 * redis.conf, called plainly or by a script? Pure. */
bool later_reply_lacks(const char *error);

/* Cuts what Redis 7 adds to the error of a command in a script, " script: <sum>, on
 * @user_script:31.": it says nothing to those who read it. What is no error stays as it is. */
void later_reply_cut_script(struct later_reply *reply);

bool later_reply_is_error(const struct later_reply *reply);
bool later_reply_is_nil(const struct later_reply *reply);

/* Returns the number of elements; 0 if it is not an array. */
size_t later_reply_count(const struct later_reply *reply);

/* Element i, or NULL beyond the end. */
const struct later_reply *later_reply_at(const struct later_reply *reply, size_t i);

/* The bytes of a string, status or error, NUL-terminated beyond *len; "" for anything else.
 * len may be NULL. */
const char *later_reply_text(const struct later_reply *reply, size_t *len);
/* The same of element i. */
const char *later_reply_text_at(const struct later_reply *reply, size_t i);

/* An integer, or the number a string spells; 0 otherwise. */
int64_t later_reply_int(const struct later_reply *reply);

/* Returns the number that a string spells, to nine decimals, whatever the locale; `otherwise` if it
 * spells none, or one too large for a double. */
double later_reply_seconds(const struct later_reply *reply, double otherwise);

/* Frees a reply that was kept. NULL is fine. */
void later_reply_free(struct later_reply *reply);

#endif
