/*
 * replies.h: answers of Redis from their bytes.
 */
#ifndef REPLIES_H
#define REPLIES_H

#include "redis/reply.h"

/* Returns the one reply in these bytes, for the caller to free. */
struct later_reply *reply_made(const char *bytes);

#endif
