/*
 * reply_make.h: makes replies of what hiredis's reader parses.
 *
 * hiredis by itself asks for memory twice for each text of an answer. An answer of a reserve has
 * some thousands, which cost a worker more than all else that it does for a job that does nothing.
 * Here an answer lies in a few blocks, and its elements lie side by side.
 */
#ifndef LATER_REPLY_MAKE_H
#define LATER_REPLY_MAKE_H

#include "redis/reply.h"

struct redisReader;

/* Returns a reader whose replies are struct later_reply, each for the caller to free by
 * later_reply_free(). Arrays of more than ten million elements, and more than eight in each other,
 * end in an error of the reader: their header alone would cost gigabytes, or a deep recursion. NULL
 * without memory. The caller frees it by redisReaderFree(). */
struct redisReader *later_reply_reader(void);

#endif
