/*
 * digest.h: short names for long values: SHA-1 (FIPS 180-4), by libmd. Not for secrets.
 */
#ifndef LATER_DIGEST_H
#define LATER_DIGEST_H

#include <stddef.h>

#define LATER_DIGEST_SIZE 41 /* 40 hexadecimal digits and a NUL */

/* The digest of len bytes. */
void later_digest(const void *bytes, size_t len, char hex[LATER_DIGEST_SIZE]);

#endif
