/*
 * comma.h: a locale in which a half is "0,5", made on the spot: machines need not have one.
 */
#ifndef TESTS_SUPPORT_COMMA_H
#define TESTS_SUPPORT_COMMA_H

#include <stdbool.h>

/* Makes this process write and read numbers with a comma. False if that did not work. */
bool comma_begin(void);

/* Back to the point. */
void comma_end(void);

#endif
