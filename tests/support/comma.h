/*
 * comma.h: makes a locale in which a half is "0,5", since a machine may have none.
 */
#ifndef TESTS_SUPPORT_COMMA_H
#define TESTS_SUPPORT_COMMA_H

#include <stdbool.h>

/* Makes this process write and read numbers with a comma. Returns false if that did not work. */
bool comma_begin(void);

/* Goes back to the decimal point. */
void comma_end(void);

#endif
