/* error.c: fill a struct later_error. */
#include "later/error.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>

int later_fail(struct later_error *err, enum later_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    later_make_printable(err->text);
    err->code = code;
    return -1;
}
