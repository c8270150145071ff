/* random.h: random bytes, for tokens, ids and jitter. */
#ifndef LATER_RANDOM_H
#define LATER_RANDOM_H

#include <stddef.h>

/* Fills in random bytes. If the kernel refuses them, the clock must do: then they are new, but not
 * secret. */
void later_random(void *to, size_t len);

#endif
