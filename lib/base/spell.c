/* spell.c: texts and whole numbers into buffers. */
#include "base/spell.h"

#include <string.h>

size_t later_spell_text(char *out, size_t size, const char *text)
{
    size_t len = strnlen(text, size - 1);

    memcpy(out, text, len);
    out[len] = '\0';
    return len;
}

size_t later_spell_number(char out[LATER_SPELLED], uint64_t number)
{
    char digits[LATER_SPELLED], *first = digits + sizeof digits;
    size_t len;

    *--first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    len = (size_t)(digits + sizeof digits - 1 - first);
    memcpy(out, first, len + 1);
    return len;
}
