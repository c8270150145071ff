/*
 * reply_inner.h: the body of a reply, for reply.c and reply_make.c, and nobody else.
 */
#ifndef LATER_REPLY_INNER_H
#define LATER_REPLY_INNER_H

#include "redis/reply.h"

/* What kind of answer it is. NIL is 0: an element that has not come yet. */
enum later_reply_kind {
    LATER_REPLY_NIL,
    LATER_REPLY_INTEGER,
    LATER_REPLY_TEXT,
    LATER_REPLY_ERROR,
    LATER_REPLY_ARRAY
};

struct later_reply {
    enum later_reply_kind kind;
    size_t len; /* bytes of a text, elements of an array */
    union {
        long long integer;
        char *text;                   /* NUL-terminated beyond `len` */
        struct later_reply *elements; /* side by side */
    };
};

#endif
