/*
 * exec_members.h: finds the members of an answer in its line, without making values of them. Pure.
 *
 * A program's answer ends a job, so what can be read of it is read, even if it is not quite JSON: a
 * number that no double holds, half a surrogate pair, NaN, a line that was cut. The bytes of a
 * member are as the program wrote them.
 */
#ifndef LATER_JOBS_EXEC_MEMBERS_H
#define LATER_JOBS_EXEC_MEMBERS_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

enum exec_member {
    /* @answers member: EXEC_{UPPER}, */
    EXEC_ID,
    EXEC_RESULT,
    EXEC_ERROR,
    EXEC_IN,
    EXEC_VALUE,
    EXEC_LAST,
    EXEC_DONE,
    EXEC_LOG,
    EXEC_TEXT,
    EXEC_PROGRESS,
    EXEC_CHECKPOINT,
    EXEC_HELLO,
    EXEC_STOPPING,
    EXEC_TYPES,
    /* @end */
    EXEC_MEMBERS
};

struct exec_members {
    struct {
        const char *bytes; /* within the line; NULL: there is none that ends */
        size_t len;
    } of[EXEC_MEMBERS];
    const char *fault; /* why it is no answer, as "that is not JSON"; NULL: nothing; static */
};

/* Reads a line up to the first fault. A member that is there twice is a fault and counts as
 * missing. Others than the above are skipped. Numbers and words are not checked. */
void exec_members_read(struct exec_members *members, const char *line);

/* Is it `true`? */
bool exec_members_is_true(const struct exec_members *members, enum exec_member which);

/* Returns a member's value, or NULL if it is missing or not JSON; the caller gives it back with
 * json_decref(). */
json_t *exec_members_json(const struct exec_members *members, enum exec_member which);

/* Returns a string member as text, which the caller frees. NUL becomes '?', and what is no
 * character stays escaped. NULL: it is missing or no string; or there is no memory. */
char *exec_members_text(const struct exec_members *members, enum exec_member which);

#endif
