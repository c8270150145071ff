/*
 * document.h: the job document: parse, check, build.
 *
 * A document's bytes are never rewritten. Parsing copies the small known members, and tells where
 * the payload's bytes are.
 */
#ifndef LATER_DOCUMENT_H
#define LATER_DOCUMENT_H

#include "base/backoff.h"
#include "job/push_item.h"
#include "redis/key.h"
#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATER_TYPE_MAX   128
#define LATER_BUCKET_MAX 64
/* clang-format off */
/* @bounds expires_room,document_max: #define {constant} {number} /@ {help} @/ */
#define LATER_DOCUMENT_MAX 1048576 /* bytes of a document, if laterd.conf does not say another limit */
#define LATER_EXPIRES_ROOM 40 /* bytes that a document grows by `expires_in`, in Redis */
/* @end */
/* clang-format on */
/* How a line ends that says that one is larger than the limit: the remedy. */
#define LATER_DOCUMENT_REMEDY "; push where the data is, or raise document.max"
#define LATER_AT_END          1e11 /* UNIX seconds in the year 5138: larger ones are milliseconds */

/* The most of each option that is a member: seconds, characters, bytes. */
/* clang-format off */
/* @answers limit.value: #define LATER_{UPPER}_MAX {most} /@ {help} @/ */
#define LATER_VALUE_MAX 65536 /* bytes of a value or a checkpoint */
/* @end */
/* @options document: #define LATER_{UPPER}_MAX {most} */
#define LATER_ID_MAX 200
#define LATER_PRIORITY_MAX 100
#define LATER_MAX_ATTEMPTS_MAX 1000000
#define LATER_RETRY_FOR_MAX 315360000
#define LATER_TIMEOUT_MAX 604800
#define LATER_BACKOFF_MAX 1e300
#define LATER_EXPIRES_AT_MAX 1e300
#define LATER_RESULT_MAX 315360000
#define LATER_LOCK_MAX 200
#define LATER_GROUP_MAX 64
#define LATER_TRACE_MAX 256
#define LATER_DESCRIPTION_MAX 200
#define LATER_ON_DEAD_MAX 193
#define LATER_ON_DONE_MAX 193
#define LATER_FLOW_MAX 64
#define LATER_STEP_MAX 64
#define LATER_AFTER_MAX 100
#define LATER_WHEN_MAX 6
/* @end */
/* clang-format on */

struct later_new_job; /* later/client.h */

struct later_document {
    const char *payload; /* within the bytes parsed, or a static "null"; never NULL */
    size_t payload_len;
    char type[LATER_TYPE_MAX + 1];
    char hook_of[201]; /* of a hook, the id of the job that has ended; "" = it is none */
    char queue[LATER_QUEUE_MAX + 1]; /* `queue`, for lines of `later push --file`; "" = none */
    bool has_backoff;
    /* The options that are members. "" and 0 = not said; of backoff, base, max and jitter < 0.
     * `after` is the JSON of its list, within the bytes parsed; NULL = not said. */
    /* @options document: {field}; */
    char id[200 + 1];
    int32_t priority;
    uint32_t max_attempts;
    double retry_for;
    double timeout;
    struct later_backoff backoff;
    double expires_at;
    double result;
    char lock[200 + 1];
    char group[64 + 1];
    char trace[256 + 1];
    char description[200 + 1];
    char on_dead[193 + 1];
    char on_done[193 + 1];
    char flow[64 + 1];
    char step[64 + 1];
    const char *after;
    char when[6 + 1];
    /* @end */
    /* Those of lines of `later push --file`; 0 = not said. */
    /* @options line: {field}; */
    double in;
    double at;
    double expires_in;
    double unique_for;
    bool again;
    double debounce;
    double max_wait;
    double throttle;
    /* @end */
};

/* Which members to read. How to push a job (queue, in, at, expires_in, unique_for, debounce,
 * max_wait, throttle, again) is read from a line of a file; a worker ignores it. */
enum later_document_use { LATER_DOCUMENT_JOB, LATER_DOCUMENT_LINE };

/* Parses `len` bytes into *doc, which borrows them (payload). max: most bytes allowed. Unknown
 * members are passed over. An integral member may be written 5 or 5.0. Returns 0; or -1 with *err,
 * and *doc undefined. LATER_E_DATA: not JSON, not an object, duplicate members (at any depth), no
 * type, a known member of wrong type or range (null is a wrong type), nested too deep, too large,
 * empty; and whatever jansson cannot hold (json.h). The text names the member, or the byte, from 1,
 * where it goes wrong; of the document itself it repeats at most the start of a name.
 * LATER_E_SYSTEM: no memory, which says nothing about the document. */
int later_document_parse(struct later_document *doc, enum later_document_use use, const char *bytes,
                         size_t len, size_t max, struct later_error *err);

struct later_json_member;

/* Reads one member that later_json_scan() found, by its name, into *doc. Returns 0, or -1 with
 * *err. */
int later_document_member(struct later_document *doc, const struct later_json_member *value,
                          struct later_error *err);

/* Is this the name of a type? */
bool later_document_is_type(const char *name);

/* Is this what a job says of its hook: a type, or TYPE@QUEUE? */
#define LATER_HOOK_MAX (LATER_TYPE_MAX + 1 + LATER_QUEUE_MAX) /* bytes of it */
bool later_document_is_hook(const char *text);

/* The value of a member of the payload as part of a name, for limits that count each value
 * separately. A string as it is, a number by its value (5 and 5.0 are one). If it is longer than
 * LATER_BUCKET_MAX bytes, has a space, a brace or other bytes than printable ASCII, or begins with
 * ~, then ~ and its SHA-1. "" if the payload is not an object, if the member is missing or neither
 * string nor number, or without memory. doc comes from later_document_parse(), and its bytes must
 * still be there. member: plain ASCII with nothing to escape. */
void later_document_bucket(const struct later_document *doc, const char *member,
                           char bucket[LATER_BUCKET_MAX + 1]);

/* Builds a document from type, payload, text, id, trace, lock, backoff, priority, max_attempts,
 * timeout, expires_at and result of a job, and parses it back, so that nothing is pushed that a
 * worker would refuse. It checks that payload and backoff are one JSON value each, so that a
 * payload from a stranger cannot add members. max: most bytes allowed. Returns malloc'ed bytes
 * (NUL-terminated beyond *len) for the caller to free; or NULL with *err, as
 * later_document_parse(). */
char *later_document_build(const struct later_new_job *job, size_t max, size_t *len,
                           struct later_error *err);

/* Writes `text` as a JSON string with its quotes. Each byte that is not UTF-8 becomes U+FFFD; text
 * beyond 1,000 bytes is cut at the end of a character. Returns a malloc'ed string, NULL without
 * memory. */
char *later_document_quote(const char *text, size_t len);

#define LATER_NEW_ID_SIZE 15 /* 14 characters and NUL */

/* Makes a new id: 14 random letters and digits, 83 bits. It is short because Redis keeps a job's id
 * twice, and up to 14 characters take 16 bytes each time, a UUID 48; and because Lua checks each
 * one. Returns 64 more random bits, for one number below: to ask the kernel twice costs a push 3 %.
 */
uint64_t later_document_id(char id[LATER_NEW_ID_SIZE]);

#define LATER_NEW_NUMBER_SIZE 19 /* 18 digits and NUL */

/* Makes a new number: 18 random digits, the first of them not 0, 59 bits. Redis keeps a set of such
 * numbers in 8 bytes each. It is made of these bits, or of new ones if they are 0. */
void later_document_chance(char number[LATER_NEW_NUMBER_SIZE], uint64_t bits);

#endif
