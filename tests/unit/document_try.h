/*
 * document_try.h: parses a document in a test, from bytes of exactly its length, so that valgrind
 * and the address sanitizer notice a read past its end.
 */
#ifndef DOCUMENT_TRY_H
#define DOCUMENT_TRY_H

#include "job/document.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct tried {
    int result;
    struct later_document doc;
    struct later_error err;
    char *bytes; /* what doc.payload points into */
};

/* Parses; free with tried_free(). */
static inline struct tried try_bytes(enum later_document_use use, const char *bytes, size_t len,
                                     size_t max)
{
    struct tried tried;

    tried.bytes = malloc(len ? len : 1);
    ck_assert_ptr_nonnull(tried.bytes);
    memcpy(tried.bytes, bytes, len);
    tried.result = later_document_parse(&tried.doc, use, tried.bytes, len, max, &tried.err);
    ck_assert(tried.result == 0 || tried.result == -1);
    return tried;
}

static inline void tried_free(struct tried *tried)
{
    free(tried->bytes);
}

/* Parses a good job. Only the length of its payload is checked. */
static inline struct later_document good(const char *text)
{
    struct tried tried = try_bytes(LATER_DOCUMENT_JOB, text, strlen(text), LATER_DOCUMENT_MAX);

    ck_assert_msg(tried.result == 0, "refused: %s: %s", text, tried.err.text);
    tried_free(&tried);
    return tried.doc;
}

/* Parses what must be refused as bad data, in these words. */
static inline void refused_bytes(enum later_document_use use, const char *bytes, size_t len,
                                 const char *words)
{
    struct tried tried = try_bytes(use, bytes, len, LATER_DOCUMENT_MAX);

    ck_assert_msg(tried.result == -1, "taken, but must be refused with %s: %s", words, bytes);
    ck_assert_str_eq(tried.err.text, words);
    ck_assert_int_eq(tried.err.code, LATER_E_DATA);
    tried_free(&tried);
}

static inline void refused(const char *text, const char *words)
{
    refused_bytes(LATER_DOCUMENT_JOB, text, strlen(text), words);
}

#endif
