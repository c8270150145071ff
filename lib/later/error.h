/*
 * later/error.h: what went wrong, in words for a person and in a number for a program.
 *
 * Every call of liblater that can fail takes a `struct later_error *` (never NULL) and fills it
 * only on failure. The codes are the exit statuses of `later` and `laterd`, so that a program on
 * top of the library need not translate. Their values follow sysexits.h (4.3BSD) where it has one.
 */
#ifndef LATER_ERROR_H
#define LATER_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum later_code {
    LATER_OK = 0,
    LATER_E_USAGE = 64,  /* the caller asked for something that makes no sense */
    LATER_E_DATA = 65,   /* bad data: a document, a payload, a number */
    LATER_E_NONE = 66,   /* no such job, queue or item */
    LATER_E_REDIS = 69,  /* Redis cannot be reached or refuses; its own words are in the text */
    LATER_E_BUG = 70,    /* a fault of ours, or an answer that cannot be */
    LATER_E_SYSTEM = 71, /* the system refused: no memory, no descriptor, no process */
    LATER_E_LATER = 75,  /* not now: sold out, paused, empty, full, locked */
    LATER_E_TOKEN = 77,  /* the token is not, or no longer, the owner; or permission denied */
    LATER_E_CONFIG = 78  /* bad configuration; the text names file and line */
};

struct later_error {
    enum later_code code;
    char text[512]; /* one line, no newline, NUL-terminated, fit for a terminal */
};

/* Fills *err. The text is cut at its size. It may carry foreign words: control characters, changes
 * of direction and bytes that are not UTF-8 become '?'. Returns -1, so that `return later_fail(err,
 * …)` reads well. */
int later_fail(struct later_error *err, enum later_code code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
