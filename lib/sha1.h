/*
 * sha1.h: SHA-1 (FIPS 180-4, section 6.1), for short names of long things: nothing secret.
 */
#ifndef LATER_SHA1_H
#define LATER_SHA1_H

#include <stddef.h>

/* The digest of len bytes as 40 hexadecimal digits and a NUL. */
void later_sha1(const void *bytes, size_t len, char hex[41]);

#endif
