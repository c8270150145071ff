/* reply_make.c: the functions by which hiredis's reader makes a reply, and what frees it. */
#include "redis/reply_make.h"

#include "redis/reply_inner.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 10000000 /* in an array, more than any of our answers has */
#define DEPTH_MAX    8        /* arrays in arrays; the same */

#define PER_ELEMENT 64 /* bytes of text to begin with, for each of them, */
#define BLOCK_MOST                                                                                 \
    65536               /* and at most; a block after it has twice as many, and no more than this */
#define TEXT_ALONE 4096 /* from so many bytes on a text has a block of its own */

#if HIREDIS_MAJOR >= 1
typedef size_t array_size;
#else
typedef int array_size;
#endif

/* One piece of memory of an answer. */
struct block {
    struct block *next;
    char bytes[];
};

/* An answer. The reply is the first member, so that its address is that of the whole. */
struct answer {
    struct later_reply reply;
    struct block *blocks;
    size_t size;    /* of the next block */
    char *at, *end; /* what is left of the last one */
};

static struct answer *answer_of(struct later_reply *root)
{
    return (struct answer *)(void *)root;
}

/* Enters a new block. Returns its bytes, which live as long as the answer; NULL if it is NULL. */
static char *answer_add(struct answer *answer, struct block *block)
{
    if (!block)
        return NULL;
    block->next = answer->blocks;
    answer->blocks = block;
    return block->bytes;
}

/* Returns `count` cleared elements; NULL without memory. */
static struct later_reply *answer_elements(struct answer *answer, size_t count)
{
    struct block *block = calloc(1, sizeof *block + count * sizeof(struct later_reply));

    return (struct later_reply *)(void *)answer_add(answer, block);
}

static char *answer_bytes(struct answer *answer, size_t len)
{
    return answer_add(answer, malloc(sizeof(struct block) + len));
}

/* Returns room for a text. */
static char *answer_text_room(struct answer *answer, size_t len)
{
    char *text = answer->at;

    if (len >= TEXT_ALONE)
        return answer_bytes(answer, len);
    if ((size_t)(answer->end - answer->at) < len) {
        size_t size = answer->size > TEXT_ALONE ? answer->size : TEXT_ALONE;

        if (!(text = answer_bytes(answer, size)))
            return NULL;
        answer->size = size < BLOCK_MOST / 2 ? size * 2 : BLOCK_MOST;
        answer->end = text + size;
    }
    answer->at = text + len;
    return text;
}

static struct later_reply *root_of(const redisReadTask *task)
{
    while (task->parent)
        task = task->parent;
    return task->obj;
}

/* Returns a new answer with room for `room` bytes of text. */
static struct answer *answer_new(size_t room)
{
    struct answer *answer = malloc(sizeof *answer + room);

    if (!answer)
        return NULL;
    *answer = (struct answer){ .at = (char *)(answer + 1), .size = room };
    answer->end = answer->at + room;
    return answer;
}

/* Returns the empty reply of this task: an element of its array, or a new answer. */
static struct later_reply *answer_empty(const redisReadTask *task, size_t room)
{
    struct later_reply *array = task->parent ? task->parent->obj : NULL;
    struct answer *answer = array ? NULL : answer_new(room);

    return array ? &array->elements[task->idx] : answer ? &answer->reply : NULL;
}

static void *make_text(const redisReadTask *task, char *bytes, size_t len)
{
    struct later_reply *reply = answer_empty(task, len + 1);
    char *text =
        reply ? answer_text_room(answer_of(task->parent ? root_of(task) : reply), len + 1) : NULL;

    if (!text) {
        if (reply && !task->parent)
            later_reply_free(reply);
        return NULL;
    }
    memcpy(text, bytes, len);
    text[len] = '\0';
    reply->kind = task->type == REDIS_REPLY_ERROR ? LATER_REPLY_ERROR : LATER_REPLY_TEXT;
    reply->len = len;
    reply->text = text;
    return reply;
}

/* How many arrays it is in. */
static unsigned depth_of(const redisReadTask *task)
{
    unsigned depth = 0;

    for (; task->parent; task = task->parent)
        depth++;
    return depth;
}

static size_t text_room(size_t elements)
{
    return elements < BLOCK_MOST / PER_ELEMENT ? elements * PER_ELEMENT : BLOCK_MOST;
}

/* hiredis allocates at once what the header of an array promises. For `*2147483647` that is 16 GiB,
 * and freeing them takes half a minute, whatever the deadline. And since its version 1 an array may
 * be in any number of others. */
static void *make_array(const redisReadTask *task, array_size promised)
{
    size_t count = promised > 0 ? (size_t)promised : 0;
    bool fits = promised <= ELEMENTS_MAX && depth_of(task) < DEPTH_MAX;
    struct later_reply *reply = fits ? answer_empty(task, text_room(count)) : NULL,
                       *elements = NULL;

    if (reply && count)
        elements = answer_elements(answer_of(task->parent ? root_of(task) : reply), count);
    if (!reply || (count && !elements)) {
        if (reply && !task->parent)
            later_reply_free(reply);
        return NULL;
    }
    reply->kind = LATER_REPLY_ARRAY;
    reply->len = count;
    reply->elements = elements;
    return reply;
}

static void *make_integer(const redisReadTask *task, long long number)
{
    struct later_reply *reply = answer_empty(task, 0);

    if (reply) {
        reply->kind = LATER_REPLY_INTEGER;
        reply->integer = number;
    }
    return reply;
}

static void *make_nil(const redisReadTask *task)
{
    return answer_empty(task, 0); /* its kind is that already */
}

#if HIREDIS_MAJOR >= 1
/* Of RESP3, which nobody has asked for. */
static void *make_double(const redisReadTask *task, double number, char *text, size_t len)
{
    (void)number;
    return make_text(task, text, len);
}

static void *make_bool(const redisReadTask *task, int value)
{
    return make_integer(task, value);
}
#endif

static void free_root(void *reply)
{
    later_reply_free(reply);
}

struct redisReader *later_reply_reader(void)
{
    static redisReplyObjectFunctions functions = {
        .createString = make_text,
        .createArray = make_array,
        .createInteger = make_integer,
        .createNil = make_nil,
#if HIREDIS_MAJOR >= 1
        .createDouble = make_double,
        .createBool = make_bool,
#endif
        .freeObject = free_root,
    };

    return redisReaderCreateWithFunctions(&functions);
}

void later_reply_free(struct later_reply *reply)
{
    struct block *block = reply ? answer_of(reply)->blocks : NULL, *next;

    for (; block; block = next) {
        next = block->next;
        free(block);
    }
    free(reply);
}
