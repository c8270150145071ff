/* digest.c: SHA-1, by libmd. */
#include "base/digest.h"

#include <sha1.h>

void later_digest(const void *bytes, size_t len, char hex[LATER_DIGEST_SIZE])
{
    SHA1Data(bytes, len, hex);
}
