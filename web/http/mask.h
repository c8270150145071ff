/*
 * mask.h: members of JSON whose values readers do not see. Pure.
 */
#ifndef LATER_WEB_MASK_H
#define LATER_WEB_MASK_H

#include <stdbool.h>
#include <stddef.h>

#define MASK_MAX 16
#define MASKED   "***" /* what they see instead */

struct mask {
    const char *names[MASK_MAX]; /* ASCII */
    size_t count;
};

/* Is this one of the names? Case does not matter. If there are any, `document_base64`
 * and `looks_inside` are, too. */
bool mask_has(const struct mask *mask, const char *name);

/* Returns a copy of a line of valid JSON in which each member with such a name, at any depth, has
 * the value MASKED; also in JSON inside of strings, as a job's document is. malloc'ed, with its
 * length in *len; NULL without memory.
 */
char *mask_line(const struct mask *mask, const char *line, size_t *len);

#endif
