/* tap.c: TAP from a C program. */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int number, failed;

__attribute__((format(printf, 1, 0))) static void put(const char *format, va_list args)
{
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
}

bool tap_ok(bool passed, const char *format, ...)
{
    va_list args;

    failed += !passed;
    printf("%sok %d - ", passed ? "" : "not ", ++number);
    va_start(args, format);
    put(format, args);
    va_end(args);
    return passed;
}

void tap_note(const char *format, ...)
{
    va_list args;

    fputs("# ", stdout);
    va_start(args, format);
    put(format, args);
    va_end(args);
}

int tap_end(void)
{
    printf("1..%d\n", number);
    return failed ? 1 : 0;
}

bool tap_long(void)
{
    const char *soak = getenv("LATER_SOAK");

    return soak && *soak;
}
