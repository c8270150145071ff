/* replies.c: hiredis's reader makes them, as it does in a program. */
#include "replies.h"

#include "redis/reply_make.h"

#include <check.h>
#include <hiredis/hiredis.h>
#include <string.h>

struct later_reply *reply_made(const char *bytes)
{
    redisReader *reader = later_reply_reader();
    void *reply = NULL;

    ck_assert_int_eq(redisReaderFeed(reader, bytes, strlen(bytes)), REDIS_OK);
    ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    redisReaderFree(reader);
    ck_assert_ptr_nonnull(reply);
    return reply;
}
